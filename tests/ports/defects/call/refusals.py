"""Defects in checking arguments."""

import json
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from answering import PREFIX, Failure
from defects.record import defect
from planning import PROPERTIES, Refusal
from running import Call
from steps import Change, Step, for_tool, gives, on, refuses, takes


def values(change: Callable[[str, Any], Any]) -> Step:
    """Takes the value of an argument for another one."""
    return lambda port, real, tool, name, value: real(tool, name, change(name, value))


def texts(change: Change) -> Step:
    """Takes an argument that is a text for another text."""
    return values(lambda name, value: change(value) if isinstance(value, str) else value)


def kept(test: Callable[[str, Any], bool]) -> Step:
    """Ignores the arguments of which `test` does not hold."""
    return takes(lambda arguments: {name: value for name, value in arguments.items() if test(name, value)})


def spelt_out(name: str, value: Any) -> Any:
    return json.dumps(value) if name == "prompt" and not isinstance(value, str | None) else value


def parts_joined(name: str, value: Any) -> Any:
    match value:
        case [*parts] if parts:
            return " ".join(map(str, parts))
        case _:
            return value


def starts_first(port: Any, real: Any, call: Call) -> None:
    prompt = call.arguments.get("prompt")
    try:
        port.plan(call.tool, call.arguments)
    except Refusal:
        if isinstance(prompt, str) and "\0" not in prompt:
            with suppress(Failure, Refusal, UnicodeEncodeError):
                port.run_prompt(call, port.plan("chat", {"prompt": prompt}))
    real(call)


def without_prefix(part: Any) -> Any:
    return {**part, "text": part["text"].removeprefix(PREFIX)}


def without_nul(name: str, value: Any) -> Any:
    is_long = name == "prompt" and isinstance(value, str) and len(value) > 1
    return value.replace("\0", "") if is_long else value


def beside_file(texts: Any) -> Any:
    cwd = texts.get("cwd", "")
    return {**texts, "cwd": os.path.dirname(cwd) or "."} if os.path.isfile(cwd) else texts


def refuses_empty(argument: str) -> Step:
    """Refuses this argument when it is empty."""

    def is_absent(port: Any, real: Any, name: str, text: str) -> bool:
        absent = real(name, text)
        if absent and name == argument:
            raise Refusal(f"`{name}` is empty.")
        return absent

    return is_absent


defect(
    "missing-prompt-is-undefined", "Sends the word `undefined` when the prompt is missing.", "arguments:prompt:missing"
)(texts=takes(lambda arguments: {"prompt": "undefined", **arguments}))
defect("reply-needs-no-prompt", "Sends a prompt of its own in a reply without one.", "arguments:prompt:missing")(
    texts=for_tool("chat-reply", takes(lambda arguments: {"prompt": "Please continue.", **arguments}))
)
defect("null-prompt-is-text", "Sends a null prompt as the word `null`.", "arguments:prompt:null")(
    text=values(lambda name, value: "null" if name == "prompt" and value is None else value)
)
defect("prompt-spelt-out", "Makes text of a prompt that is none.", "arguments:prompt:type")(text=values(spelt_out))
defect("prompt-parts-joined", "Joins a prompt that is a list of texts.", "arguments:prompt:type")(
    text=values(parts_joined)
)
defect("numbers-are-text", "Makes text of a number in an optional argument.", "arguments:optional:type")(
    text=values(lambda name, value: str(value) if name != "prompt" and isinstance(value, int | float) else value)
)
defect("wrong-optional-ignored", "Ignores an optional argument of the wrong type.", "arguments:optional:type")(
    texts=kept(lambda name, value: name == "prompt" or isinstance(value, str | None))
)
defect("reply-cwd-unchecked", "Ignores a `cwd` of `chat-reply` that is no text.", "arguments:optional:type")(
    texts=for_tool("chat-reply", kept(lambda name, value: name != "cwd" or isinstance(value, str | None)))
)
defect("null-is-absent", "Takes an optional argument that is null for an absent one.", "arguments:optional:null")(
    texts=kept(lambda name, value: name == "prompt" or value is not None)
)
defect(
    "starts-before-checking",
    "Runs gemini with the prompt before it looks at the other arguments.",
    "arguments:refused:not-started",
)(serve_call=starts_first)
defect("refusal-names-nothing", "Refuses an argument without naming it.", "arguments:refused:is-error")(
    refused=takes(lambda sentence: "The arguments are not valid.")
)
defect("refusal-without-prefix", "Leaves the prefix out when it refuses an argument.", "arguments:refused:prefix")(
    refused=gives(lambda result: {**result, "content": [without_prefix(*result["content"])]})
)
defect("unknown-argument-refused", "Refuses an argument that the tool does not declare.", "arguments:unknown")(
    texts=refuses(Refusal("An argument is unknown."), lambda tool, given: set(given) - set(PROPERTIES[tool]))
)
defect("nul-ends-text", "Cuts a text at its first NUL.", "arguments:nul")(text=texts(lambda text: text.split("\0")[0]))
defect("nul-dropped", "Drops the NULs of a long prompt, and only there.", "arguments:nul")(text=values(without_nul))
defect("surrogates-replaced", "Replaces half a character by a question mark.", "arguments:surrogate")(
    text=texts(lambda text: text.encode("utf-8", "replace").decode())
)
defect("control-characters-passed", "Passes a model with control characters.", "arguments:control")(
    check_word=takes(lambda text: "".join(filter(str.isprintable, text)))
)
defect("empty-model-refused", "Refuses an empty model.", "arguments:empty:model")(is_absent=refuses_empty("model"))
defect("empty-session-id-refused", "Refuses an empty session.", "arguments:empty:session-id")(
    is_absent=refuses_empty("sessionId")
)
defect("empty-cwd-refused", "Refuses an empty working directory.", "arguments:empty:cwd")(
    is_absent=refuses_empty("cwd")
)
defect(
    "blank-system-prompt-written",
    "Hands over a system prompt that is blank, which takes gemini's own away.",
    "arguments:empty:system-prompt",
    "system:absent",
)(is_absent=lambda port, real, name, text: name != "systemPrompt" and real(name, text))
defect("missing-cwd-ignored", "Runs in its own directory when `cwd` does not exist.", "cwd:missing")(
    cwd=on(Refusal, lambda port, error: None if "does not exist" in str(error) else error)
)
defect("file-is-its-directory", "Runs beside the file that `cwd` names.", "cwd:file")(cwd=takes(beside_file))
defect("cwd-reason-vague", "Refuses a directory without saying which or why.", "cwd:reason")(
    check_cwd=on(Refusal, lambda port, error: Refusal("`cwd` is not valid."))
)
defect("nul-refused-anywhere", "Refuses a NUL also where no argument is declared.", "arguments:unknown")(
    texts=refuses(Refusal("`arguments` holds a NUL."), lambda tool, arguments: "\\u0000" in json.dumps(arguments))
)
defect("path-in-escapes", "Names a directory that does not exist with escapes for what is not ASCII.", "cwd:reason")(
    check_cwd=on(Refusal, lambda port, error: Refusal(ascii(str(error))))
)
