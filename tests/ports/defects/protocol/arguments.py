"""Arguments that a client's JSON or an era makes look different: ports that break `arguments`."""

import json
import re
from collections.abc import Mapping
from typing import Any

from conditions import REVISION, refused
from defects.record import defect
from planning import PROPERTIES, Refusal
from running import Call
from speaking import INVALID_PARAMS, Message
from steps import without

ASCII_BLANKS = " \t\n\r\v\f"
BEFORE_LAST = ("2024-11-05", "2025-03-26", "2025-06-18")
BITS = 64
DEPTH = 20


def blank_in_ascii(port: Any, real: Any, name: str, text: str) -> bool:
    return not text.strip(ASCII_BLANKS) if name == "systemPrompt" else real(name, text)


def stateless_null_absent(port: Any, real: Any, call: Call) -> Message:
    if call.stateless:
        kept = {name: value for name, value in call.arguments.items() if value is not None or name == "prompt"}
        call.arguments = kept
    return real(call)


def falsy_is_absent(port: Any, real: Any, tool: str, name: str, value: Any) -> str:
    is_falsy = value is False or (type(value) in (int, float) and value == 0)
    return "" if is_falsy and name != "prompt" else real(tool, name, value)


def unmarked(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    return without("isError")(result) if call.stateless and refused(call, result) else result


def objects_to_arguments(port: Any, real: Any, call: Call, result: Message) -> None:
    """Older revisions let a server answer wrong arguments so."""
    if call.stateless or not refused(call, result) or port.memory.get("revision") not in BEFORE_LAST:
        real(call, result)
    elif not call.is_cancelled:
        port.send_error(call.id, INVALID_PARAMS, result["content"][0]["text"])
        call.is_answered = True


def whole_number(digits: str) -> int:
    number = int(digits)
    if number.bit_length() > BITS:
        raise ValueError(f"{digits} has more than {BITS} bits.")
    return number


def parse_64_bits(port: Any, real: Any, line: bytes) -> Any:
    json.loads(line.decode("utf-8", "surrogatepass"), parse_int=whole_number)
    return real(line)


def whatever_case(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    names = {name.lower(): name for name in PROPERTIES[tool]}
    return real(tool, {names.get(name.lower(), name): value for name, value in arguments.items()})


def with_prototype(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    """What `Object.assign({}, arguments)` makes of this key."""
    prototype = arguments.get("__proto__")
    return real(tool, {**prototype, **arguments} if isinstance(prototype, dict) else arguments)


def knows_null(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    for name, value in arguments.items():
        if value is None:
            raise Refusal(f"`{name}` is null, but should be a string.")
    return real(tool, arguments)


def knows_surrogates(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    for name, value in arguments.items():
        if re.search("[\ud800-\udfff]", json.dumps(value, ensure_ascii=False)):
            raise Refusal(f"`{name}` holds a lone surrogate, which UTF-8 cannot encode.")
    return real(tool, arguments)


def depth(value: Any) -> int:
    parts: list[Any] = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []  # pyright: ignore
    return 1 + max(map(depth, parts), default=0)


def knows_depth(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    for name, value in arguments.items():
        if depth(value) > DEPTH:
            raise Refusal(f"`{name}` is nested too deep.")
    return real(tool, arguments)


def name_first(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Call:
    names = [name for name in params if name in ("name", "arguments")]
    return real(identity, {**params, "arguments": {}} if names == ["arguments", "name"] else params, stateless)


def checks_session_of_chat(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    if "sessionId" in arguments:
        port.text(tool, "sessionId", arguments["sessionId"])
    return real(tool, arguments)


def validated_shape(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    """Remembers by the names of the arguments alone that they are valid."""
    shape = (tool, *sorted(arguments))
    if shape in port.memory and isinstance(arguments.get("model"), int | float):
        return real(tool, {**arguments, "model": json.dumps(arguments["model"])})
    texts = real(tool, arguments)
    port.memory[shape] = True
    return texts


defect(
    "wide-blanks-are-a-system-prompt",
    "Hands over a system prompt of blanks beyond ASCII.",
    "arguments:empty:system-prompt",
)(is_absent=blank_in_ascii)
defect(
    "stateless-null-is-absent",
    "Takes an optional argument that is null for an absent one in the stateless era.",
    "arguments:optional:null",
)(execute=stateless_null_absent)
defect(
    "falsy-optionals-absent",
    "Takes `false` and 0 for an optional argument that is not given.",
    "arguments:optional:type",
)(text=falsy_is_absent)
defect(
    "validated-by-names",
    "Takes a number or a boolean for the model once a call with the same names of arguments was valid.",
    "arguments:refused:not-started",
    "arguments:optional:type",
)(texts=validated_shape)
defect(
    "stateless-refusal-unmarked",
    "Answers a refused argument without isError in this era.",
    "arguments:prompt:type",
    "arguments:refused:is-error",
)(execute=unmarked)
defect(
    "refusals-are-errors-in-older-revisions",
    "Answers a refused argument with a JSON-RPC error for clients of a revision before 2025-11-25.",
    "arguments:refused:is-error",
)(initialize=REVISION, answer=objects_to_arguments)
defect(
    "unknown-tool-is-chat",
    "Serves a call of an unknown tool as `chat`.",
    "arguments:refused:not-started",
    "tools:unknown",
)(
    new_call=lambda port, real, identity, params, stateless: real(
        identity, params if params.get("name") == "chat-reply" else {**params, "name": "chat"}, stateless
    )
)
defect(
    "number-beyond-64-bits-is-no-json",
    "Takes a line for no JSON that holds a whole number beyond 64 bits.",
    "arguments:unknown",
)(parse=parse_64_bits)
defect("arguments-in-any-case", "Takes `PROMPT` and `Model` for arguments that it declares.", "arguments:unknown")(
    texts=whatever_case
)
defect(
    "arguments-inherited",
    "Takes what stands under `__proto__` for arguments that are not given.",
    "arguments:unknown",
)(texts=with_prototype)
defect("unknown-null-refused", "Refuses a null under a name that the tool does not declare.", "arguments:unknown")(
    texts=knows_null
)
defect(
    "surrogate-refused-anywhere",
    "Refuses a lone surrogate also where no argument is declared.",
    "arguments:unknown",
)(texts=knows_surrogates)
defect(
    "depth-refused-anywhere",
    "Refuses a value that is nested 20 levels deep, also where none is declared.",
    "arguments:unknown",
)(texts=knows_depth)
defect(
    "arguments-before-name-lost",
    "Reads no arguments that come before the name of the tool.",
    "arguments:unknown",
    "command:chat",
)(new_call=name_first)
defect(
    "session-checked-where-undeclared",
    "Refuses a `chat` whose `sessionId`, which it does not declare, would be refused of a reply.",
    "arguments:unknown",
)(texts=checks_session_of_chat)
