"""Defects that are habits of other languages and their libraries, where they change what is said."""

import glob
import json
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from answering import Scan
from conditions import without_variables
from defects.record import defect
from planning import PROPERTIES, Refusal
from steps import Step, always, gives, on

IN_HTML = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&"}
LARGEST_INT = 2**31 - 1
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
DEPTH = 20


def whatever_case(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    names = {name.lower(): name for name in PROPERTIES[tool]}
    return real(tool, {names.get(name.lower(), name): value for name, value in arguments.items()})


def with_prototype(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    """What `Object.assign({}, arguments)` makes of this key."""
    prototype = arguments.get("__proto__")
    return real(tool, {**prototype, **arguments} if isinstance(prototype, dict) else arguments)


def at_character_only(port: Any, real: Any, text: str) -> str:
    """A slice of text panics in the middle of a character."""
    kept = text.encode("utf-8", "replace")[-8192:]
    if kept and 0x80 <= kept[0] < 0xC0:
        raise IndexError("byte index is not a char boundary")
    return real(text)


def falsy_is_absent(port: Any, real: Any, tool: str, name: str, value: Any) -> str:
    is_falsy = value is False or (type(value) in (int, float) and value == 0)
    return "" if is_falsy and name != "prompt" else real(tool, name, value)


def reading_no(test: Callable[[Mapping[str, Any]], bool]) -> Step:
    """Of `scan`: passes over objects of which `test` holds."""
    return gives(lambda scan: Scan([each for each in scan.objects if not test(each[1])], scan.is_cut_short))


def has_large_number(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(has_large_number, value.values()))  # pyright: ignore[reportUnknownArgumentType,reportUnknownMemberType]
    return type(value) is int and value > LARGEST_INT


def has_surrogate_elsewhere(value: Mapping[str, Any]) -> bool:
    rest = json.dumps({name: part for name, part in value.items() if name != "response"}, ensure_ascii=False)
    return re.search("[\ud800-\udfff]", rest) is not None


def filled_in(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    cwd = texts.get("cwd", "")
    found = [] if os.path.exists(cwd) else sorted(glob.glob(cwd))
    return real(tool, {**texts, "cwd": found[0]} if found else texts)


def first_line(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    return real(tool, {**texts, "cwd": texts["cwd"].split("\n")[0]} if "cwd" in texts else texts)


def last_part(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(word.rsplit("/", 1)[-1] or word for word in real(tool, texts))


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


def knows_depth(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    for name, value in arguments.items():
        if depth(value) > DEPTH:
            raise Refusal(f"`{name}` is nested too deep.")
    return real(tool, arguments)


def depth(value: Any) -> int:
    parts: list[Any] = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []  # pyright: ignore
    return 1 + max(map(depth, parts), default=0)


defect(
    "path-escaped-for-html",
    "Names a refused directory with escapes for what HTML reads.",
    "cwd:reason",
)(check_cwd=on(Refusal, lambda port, refusal: Refusal(str(refusal).translate(IN_HTML))))
defect("arguments-in-any-case", "Takes `PROMPT` and `Model` for arguments that it declares.", "arguments:unknown")(
    texts=whatever_case
)
defect(
    "arguments-inherited",
    "Takes what stands under `__proto__` for arguments that are not given.",
    "arguments:unknown",
)(texts=with_prototype)
defect(
    "percents-of-message-halved",
    "Makes one percent sign of two in what gemini says of its failure.",
    "error:json-on-stderr",
)(message=gives(lambda said: said and said.replace("%%", "%")))
defect("empty-objects-as-arrays", "Writes an empty object as an empty array.", "lifecycle:ping")(
    ping=always([]), capabilities=always({"tools": []})
)
defect(
    "cut-inside-character-fails",
    "Fails without gemini's stderr when its cut falls into a character.",
    "error:stderr:tail",
)(tail=at_character_only)
defect(
    "digits-of-other-scripts-counted",
    "Takes a line for an entry of the list whose number is in digits of another script.",
    "fallback:last",
)(entry_pattern=always(re.compile(r"\s*(\d+)\.\s.*\[([^\[\]\s]+)\][^\[\]]*")))
defect(
    "falsy-optionals-absent",
    "Takes `false` and 0 for an optional argument that is not given.",
    "arguments:optional:type",
)(text=falsy_is_absent)
defect(
    "large-number-hides-answer",
    "Does not read an answer beside a whole number beyond 32 bits.",
    "result:text",
)(scan=reading_no(has_large_number))
defect(
    "surrogate-elsewhere-hides-answer",
    "Does not read an answer beside a text with a lone surrogate.",
    "result:text",
)(scan=reading_no(has_surrogate_elsewhere))
defect(
    "latest-in-any-case",
    "Resumes the latest session when the id is `LATEST`.",
    "command:chat-reply:session-id",
)(resumed=gives(lambda session: "latest" if session.lower() == "latest" else session))
defect("control-z-ends-system-prompt", "Cuts a system prompt at its first U+001A.", "system:content")(
    system_bytes=gives(lambda text: text.split(b"\x1a")[0])
)
defect(
    "lower-case-variables-lost",
    "Hands no variable on whose name is in lower case.",
    "process:environment",
)(environment=without_variables(lambda name, value: name.islower()))
defect(
    "variables-of-odd-names-lost",
    "Hands no variable on whose name a shell could not write.",
    "process:environment",
)(environment=without_variables(lambda name, value: not NAME.fullmatch(name)))
defect(
    "pattern-of-directory-filled",
    "Takes a directory that does not exist for a pattern, and runs in the first that it matches.",
    "cwd:missing",
    "injection:shell:cwd",
)(cwd=filled_in)
defect("directory-ends-at-newline", "Reads the first line of a directory.", "cwd:used")(cwd=first_line)
defect("model-by-its-last-part", "Passes what follows the last slash of a model.", "command:chat:model")(
    model_option=last_part
)
defect("mark-hides-json", "Finds no JSON behind a byte order mark.", "result:text")(
    scan=lambda port, real, text: Scan() if text.startswith("\ufeff") else real(text)
)
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
