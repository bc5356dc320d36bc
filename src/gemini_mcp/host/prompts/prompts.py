"""MCP prompts as slash commands: reads a command line, fills the arguments, reads the answer. Pure.

Everything between `/name …` and the text that is sent to the model belongs here, but not the request itself.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gemini_mcp.host.rules.javascript import stringify
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, list_of, object_of, objects_of, table

EMPTY_ANSWER = "Received an empty or invalid prompt response from the server."

_WORD = re.compile(r'"((?:\\.|[^"\\])*)"|([^ ]+)')
_ESCAPE = re.compile(r"\\(.)")
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True)
class PromptArgument:
    """An argument a prompt declares."""

    name: str
    is_required: bool = False
    description: str = ""


@dataclass(frozen=True)
class Prompt:
    """A prompt as its server offers it."""

    name: str
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()
    server: str = ""


@dataclass(frozen=True)
class Missing:
    """The required arguments a command line does not fill."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"Missing required argument(s): {', '.join(f'--{name}' for name in self.names)}"


@dataclass(frozen=True)
class Submit:
    """The text that is sent to the model."""

    content: str

    def to_json(self) -> JsonObject:
        return {"type": "submit_prompt", "content": self.content}


@dataclass(frozen=True)
class Message:
    """What is shown to the user in place of a prompt."""

    content: str
    kind: str = "error"

    def to_json(self) -> JsonObject:
        return {"type": "message", "messageType": self.kind, "content": self.content}


@dataclass(frozen=True)
class _Line:
    named: Mapping[str, str] = field(default_factory=dict[str, str])
    words: tuple[str, ...] = ()


def prompt_of(value: JsonObject, server: str = "") -> Prompt:
    """The prompt a server lists."""
    arguments = tuple(
        PromptArgument(str(item.get("name", "")), item.get("required") is True, str(item.get("description") or ""))
        for item in objects_of(value.get("arguments"))
    )
    return Prompt(str(value.get("name", "")), str(value.get("description") or ""), arguments, server)


def command_name(prompt: Prompt, rules: Rules) -> str:
    """The name of the slash command."""
    return _SPACES.sub("-", prompt.name.strip()) if rules.hyphenates_prompt_names else prompt.name


def command_description(prompt: Prompt) -> str:
    """What the list of slash commands says of the prompt."""
    return prompt.description or f"Invoke prompt {prompt.name}"


def split_command(line: str) -> tuple[str, str]:
    """The command's name and its arguments, of `/name arguments`."""
    name, _, rest = line.strip().removeprefix("/").partition(" ")
    return name, rest


def fill(line: str, declared: Sequence[PromptArgument], rules: Rules) -> dict[str, str] | Missing:
    """The arguments a command line gives to a prompt."""
    return _FILLINGS[rules.fills_prompts](_read(line, rules), declared)


def format_arguments(arguments: Mapping[str, str]) -> str:
    """The command line that gives these arguments by name; a profile that unescapes reads it back to the same."""
    escaped = {name: value.replace("\\", "\\\\").replace('"', '\\"') for name, value in arguments.items()}
    return " ".join(f'--{name}="{value}"' for name, value in escaped.items())


def help_text(prompt: Prompt) -> str:
    """What `/name help` answers."""
    if not prompt.arguments:
        return f'Prompt "{prompt.name}" has no arguments.'
    positional = ",".join('"foo"' for _ in prompt.arguments)
    named = ",".join(f'--{argument.name}="foo"' for argument in prompt.arguments)
    lines = [
        f'Arguments for "{prompt.name}":\n\n',
        'You can provide arguments by name (e.g., --argName="value") or by position.\n\n',
        f"e.g., {prompt.name} {positional} is equivalent to {prompt.name} {named}\n\n",
    ]
    for argument in prompt.arguments:
        description = f"    {argument.description}\n" if argument.description else ""
        required = "yes" if argument.is_required else "no"
        lines.append(f"  --{argument.name}\n{description}    (required: {required})\n\n")
    return "".join(lines)


def read_answer(answer: JsonObject, rules: Rules) -> Submit | Message:
    """What becomes of a `prompts/get` result: only the text of its first message counts."""
    if answer.get("error"):
        return Message(f"Error invoking prompt: {answer['error']}")
    messages = list_of(answer.get("messages")) or [None]
    content = object_of(table(messages[0]).get("content")) or {}
    text = content.get("text")
    if content.get("type") != "text" or not isinstance(text, str) or (rules.refuses_empty_prompt and not text):
        return Message(EMPTY_ANSWER)
    return Submit(stringify(text) if rules.quotes_prompt else text)


def _read(line: str, rules: Rules) -> _Line:
    named: dict[str, str] = {}
    between: list[str] = []
    end = 0
    for match in re.finditer(rules.named_argument, line):
        value = match.group(2) if match.group(2) is not None else match.group(3)
        named[match.group(1)] = _ESCAPE.sub(r"\1", value) if rules.unescapes_named_arguments else value
        between.append(line[end : match.start()])
        end = match.end()
    rest = "".join([*between, line[end:]]).strip()
    return _Line(named, tuple(map(_word, _WORD.finditer(rest))))


def _word(match: re.Match[str]) -> str:
    return _ESCAPE.sub(r"\1", match.group(1) if match.group(1) is not None else match.group(2))


def _fill_in_order(line: _Line, declared: Sequence[PromptArgument]) -> dict[str, str] | Missing:
    """Words fill what is not named, optional arguments too."""
    filled = _named(line, declared)
    unfilled = [argument for argument in declared if argument.name not in filled]
    filled.update(zip((argument.name for argument in unfilled), line.words, strict=False))
    missing = tuple(argument.name for argument in unfilled if argument.is_required and argument.name not in filled)
    return Missing(missing) if missing else filled


def _fill_required(line: _Line, declared: Sequence[PromptArgument]) -> dict[str, str] | Missing:
    """Words fill what is required and not named; when that is one argument, it gets all of them."""
    filled = _named(line, declared)
    unfilled = [argument.name for argument in declared if argument.is_required and argument.name not in filled]
    if len(unfilled) == 1:
        return {**filled, unfilled[0]: " ".join(line.words)}
    missing = tuple(unfilled[len(line.words) :])
    return Missing(missing) if missing else {**filled, **dict(zip(unfilled, line.words, strict=False))}


_FILLINGS = {"in-order": _fill_in_order, "required": _fill_required}


def _named(line: _Line, declared: Sequence[PromptArgument]) -> dict[str, str]:
    return {argument.name: line.named[argument.name] for argument in declared if line.named.get(argument.name)}


def find_prompt(prompts: Mapping[str, Prompt], name: str, rules: Rules) -> Json:
    """The prompt of that command name."""
    return next((prompt for stored, prompt in prompts.items() if name in (stored, command_name(prompt, rules))), None)
