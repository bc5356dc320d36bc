"""Arguments that are taken or refused wrongly: ports that break `arguments`."""

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from answering import PREFIX, Failure
from conditions import refused, results
from defects.call.shared import changed_directory, reads_argument, values
from defects.record import defect
from planning import PROPERTIES, Refusal
from running import LIST, LISTING_TIMEOUT, Call
from speaking import Message
from steps import Change, Step, after, for_tool, gives, refuses, takes

SNAKE = {"system_prompt": "systemPrompt", "session_id": "sessionId"}


def before_last_newline(port: Any, real: Any, name: str, text: str) -> None:
    """`$` of a pattern stands before a newline at the end, too."""
    real(name, text.removesuffix("\n") if name == "model" else text)


def tabs_are_blanks(port: Any, real: Any, name: str, text: str) -> None:
    real(name, text.replace("\t", " ") if name == "sessionId" else text)


def refuses_empty(argument: str) -> Step:
    """Refuses this argument when it is empty."""

    def is_absent(port: Any, real: Any, name: str, text: str) -> bool:
        absent = real(name, text)
        if absent and name == argument:
            raise Refusal(f"`{name}` is empty.")
        return absent

    return is_absent


def empty_model_repeated(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    texts = real(tool, arguments)
    if tool == "chat-reply" and arguments.get("model") == "" and "model" in port.memory:
        texts["model"] = port.memory["model"]
    if "model" in texts:
        port.memory["model"] = texts["model"]
    return texts


def texts(change: Change) -> Step:
    """Takes an argument that is a text for another text."""
    return values(lambda name, value: change(value) if isinstance(value, str) else value)


def without_nul(name: str, value: Any) -> Any:
    is_long = name == "prompt" and isinstance(value, str) and len(value) > 1
    return value.replace("\0", "") if is_long else value


def spelt_out(name: str, value: Any) -> Any:
    return json.dumps(value) if name == "prompt" and not isinstance(value, str | None) else value


def parts_joined(name: str, value: Any) -> Any:
    match value:
        case [*parts] if parts:
            return " ".join(map(str, parts))
        case _:
            return value


def text_of_object(port: Any, real: Any, tool: str, name: str, value: Any) -> str:
    return real(
        tool, name, value["text"] if name == "prompt" and isinstance(value, dict) and "text" in value else value
    )


def text_of_block(prompt: Any) -> Any:
    match prompt:
        case {"type": "text", "text": str(text)}:
            return text
        case _:
            return prompt


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


def is_newly_refused(call: Call, result: Message) -> bool:
    return call.stateless and refused(call, result) and result["content"][0]["text"].endswith("should be a string.")


def result_without_prefix(result: Message) -> Message:
    return {**result, "content": [{"type": "text", "text": result["content"][0]["text"].removeprefix(PREFIX)}]}


def surrogates_counted(port: Any, real: Any, tool: str, name: str, value: Any) -> str:
    if isinstance(value, str) and len(re.findall("[\ud800-\udbff]", value)) == len(
        re.findall("[\udc00-\udfff]", value)
    ):
        value = port.whole(value)
    return real(tool, name, value)


def checks_session_of_chat(port: Any, tool: str, arguments: Mapping[str, Any]) -> None:
    if tool == "chat" and "sessionId" in arguments:
        port.text(tool, "sessionId", arguments["sessionId"])


def from_snake_case(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    return real(tool, {**{SNAKE[name]: value for name, value in arguments.items() if name in SNAKE}, **arguments})


def with_hint(port: Any, real: Any, sentence: str) -> Any:
    """Says which session there is when it refuses one."""
    if not sentence.startswith("`sessionId`"):
        return real(sentence)
    call = Call(None, "chat-reply", {})
    port.calls.append(call)
    try:
        outcome = port.run(call, ("gemini", LIST), None, port.environment(None), None, LISTING_TIMEOUT)
        newest = port.newest(outcome)
    except Failure:
        newest = None
    finally:
        port.calls.remove(call)
    return real(f"{sentence} The newest session is {newest}." if newest else sentence)


defect("control-characters-passed", "Passes a model with control characters.", "arguments:control")(
    check_word=takes(lambda text: "".join(filter(str.isprintable, text)))
)
defect(
    "last-newline-of-model-passed",
    "Passes a model that ends with a newline.",
    "arguments:control",
)(check_word=before_last_newline)
defect("tab-in-session-passed", "Passes a session with a tab.", "arguments:control")(check_word=tabs_are_blanks)
defect("empty-cwd-refused", "Refuses an empty working directory.", "arguments:empty:cwd")(
    is_absent=refuses_empty("cwd")
)
defect("empty-model-refused", "Refuses an empty model.", "arguments:empty:model")(is_absent=refuses_empty("model"))
defect(
    "empty-model-of-reply-as-before",
    "Takes an empty model of a reply for the one that a call named last.",
    "arguments:empty:model",
    "command:chat-reply:no-model",
)(texts=empty_model_repeated)
defect("empty-session-id-refused", "Refuses an empty session.", "arguments:empty:session-id")(
    is_absent=refuses_empty("sessionId")
)
defect(
    "blank-system-prompt-written",
    "Hands over a system prompt that is blank, which takes gemini's own away.",
    "arguments:empty:system-prompt",
    "system:absent",
)(is_absent=lambda port, real, name, text: name != "systemPrompt" and real(name, text))
defect("nul-ends-text", "Cuts a text at its first NUL.", "arguments:nul")(text=texts(lambda text: text.split("\0")[0]))
defect("nul-dropped", "Drops the NULs of a long prompt, and only there.", "arguments:nul")(text=values(without_nul))
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
defect("prompt-in-object-taken", "Takes the `text` of a prompt that is an object.", "arguments:prompt:type")(
    text=text_of_object
)
defect("refusal-names-nothing", "Refuses an argument without naming it.", "arguments:refused:is-error")(
    refused=takes(lambda sentence: "The arguments are not valid.")
)
defect(
    "nul-in-system-prompt-laid-to-prompt",
    "Names the prompt when it is the system prompt that holds a NUL or a lone surrogate.",
    "arguments:refused:is-error",
)(
    check_characters=lambda port, real, name, text: real("prompt" if name == "systemPrompt" else name, text),
)
defect(
    "block-for-prompt",
    "Takes an object of the form of a text content for a prompt.",
    "arguments:refused:not-started",
    "arguments:prompt:type",
)(plan=reads_argument("prompt", text_of_block))
defect(
    "starts-before-checking",
    "Runs gemini with the prompt before it looks at the other arguments.",
    "arguments:refused:not-started",
)(serve_call=starts_first)
defect("refusal-without-prefix", "Leaves the prefix out when it refuses an argument.", "arguments:refused:prefix")(
    refused=gives(lambda result: {**result, "content": [without_prefix(*result["content"])]})
)
defect(
    "type-refused-without-prefix-in-new-revision",
    "Leaves out the prefix when it refuses an argument of a wrong type in 2026-07-28.",
    "arguments:refused:prefix",
)(execute=results(is_newly_refused, result_without_prefix))
defect("surrogates-replaced", "Replaces half a character by a question mark.", "arguments:surrogate")(
    text=texts(lambda text: text.encode("utf-8", "replace").decode())
)
defect(
    "surrogates-counted",
    "Takes text with as many low surrogates as high ones for valid, also when none of them is a pair.",
    "arguments:surrogate",
)(text=surrogates_counted)
defect("unknown-argument-refused", "Refuses an argument that the tool does not declare.", "arguments:unknown")(
    texts=refuses(Refusal("An argument is unknown."), lambda tool, given: set(given) - set(PROPERTIES[tool]))
)
defect("nul-refused-anywhere", "Refuses a NUL also where no argument is declared.", "arguments:unknown")(
    texts=refuses(Refusal("`arguments` holds a NUL."), lambda tool, arguments: "\\u0000" in json.dumps(arguments))
)
defect(
    "chat-checks-session-id",
    "Refuses a chat with a session id that a reply could not have.",
    "arguments:unknown",
)(texts=after(checks_session_of_chat))
defect("arguments-in-snake-case", "Reads `system_prompt` and `session_id` as well.", "arguments:unknown")(
    texts=from_snake_case
)
defect(
    "refused-session-listed",
    "Asks gemini for the list of sessions when it refuses a `sessionId`, so as to name one in the error.",
    "arguments:refused:not-started",
)(refused=with_hint)
defect(
    "directory-above-a-file",
    "Resolves a directory before it looks at it, so a file, or what is missing, may stand before `/..`.",
    "arguments:refused:not-started",
    "cwd:missing",
    "cwd:file",
)(cwd=changed_directory(os.path.realpath))
