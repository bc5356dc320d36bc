"""Optional arguments of a wrong type or null, taken for something: ports that break `arguments:optional`."""

from collections.abc import Callable, Mapping
from typing import Any

from defects.call.shared import values
from defects.record import defect
from steps import Step, for_tool, takes


def kept(test: Callable[[str, Any], bool]) -> Step:
    """Ignores the arguments of which `test` does not hold."""
    return takes(lambda arguments: {name: value for name, value in arguments.items() if test(name, value)})


def objects_forgotten(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name == "prompt" or value != {}}


def fraction_is_text(name: str, value: Any) -> Any:
    return str(value) if isinstance(value, float) and name != "prompt" else value


def directory_of_list(name: str, value: Any) -> Any:
    match name, value:
        case "cwd", [str(directory)]:
            return directory
        case _:
            return value


def empty_array_as_blank(port: Any, real: Any, tool: str, name: str, value: Any) -> str:
    return real(tool, name, "" if name == "systemPrompt" and value == [] else value)


def unchecked_behind_empty_model(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    """The search for faults ends at the empty text; what is no text is then not taken either."""
    unseen = ("systemPrompt", "cwd") if arguments.get("model") == "" else ()
    return real(
        tool,
        {name: value for name, value in arguments.items() if name not in unseen or isinstance(value, str)},
    )


def empty_list_absent(port: Any, real: Any, tool: str, name: str, value: Any) -> str:
    return "" if value == [] and name != "prompt" else real(tool, name, value)


defect("null-is-absent", "Takes an optional argument that is null for an absent one.", "arguments:optional:null")(
    texts=kept(lambda name, value: name == "prompt" or value is not None)
)
defect(
    "empty-object-counts-as-absent",
    "Takes an optional argument that is an empty object for absent.",
    "arguments:optional:type",
)(texts=takes(objects_forgotten))
defect("numbers-are-text", "Makes text of a number in an optional argument.", "arguments:optional:type")(
    text=values(lambda name, value: str(value) if name != "prompt" and isinstance(value, int | float) else value)
)
defect("wrong-optional-ignored", "Ignores an optional argument of the wrong type.", "arguments:optional:type")(
    texts=kept(lambda name, value: name == "prompt" or isinstance(value, str | None))
)
defect("reply-cwd-unchecked", "Ignores a `cwd` of `chat-reply` that is no text.", "arguments:optional:type")(
    texts=for_tool("chat-reply", kept(lambda name, value: name != "cwd" or isinstance(value, str | None)))
)
defect(
    "fractions-are-text",
    "Makes text of a number in an optional argument when it is a fraction.",
    "arguments:optional:type",
)(text=values(fraction_is_text))
defect(
    "directory-in-list-taken",
    "Takes the directory out of an array that holds nothing else.",
    "arguments:optional:type",
)(text=values(directory_of_list))
defect(
    "empty-array-is-blank",
    "Takes an empty array for a blank system prompt.",
    "arguments:optional:type",
)(text=empty_array_as_blank)
defect(
    "types-behind-empty-model",
    "Checks no type of a system prompt or a directory when the model is an empty text.",
    "arguments:optional:type",
    "arguments:refused:not-started",
)(texts=unchecked_behind_empty_model)
defect(
    "empty-lists-absent", "Takes an optional argument that is an empty array for absent.", "arguments:optional:type"
)(text=empty_list_absent)
