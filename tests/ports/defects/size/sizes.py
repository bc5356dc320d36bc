"""Defects that show with the size or the layout of one text: of a list, a name, a variable, a warning, a key."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import KEYS, Outcome
from defects.record import defect
from planning import Refusal
from steps import before, gives, refuses, takes

LINE = 4096
LINES = 4096
MIB = 1 << 20
NAME = 128
PATH = 1024
UNITS = 16 * 1024
WARNING = 1000
KEY = 100


def in_short_lines(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if len(line) <= LINE)


def without_returns(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if "\r" not in line)


def ended_lines(listing: Outcome) -> Outcome:
    return replace(listing, stdout=listing.stdout[: listing.stdout.rfind(b"\n") + 1])


def refuses_long_system(port: Any, tool: str, name: str, value: Any) -> None:
    if name == "systemPrompt" and isinstance(value, str) and len(value.encode("utf-8", "replace")) > 8 * MIB:
        raise Refusal("`systemPrompt` is longer than 8388608 bytes.")


def refuses_long_session(port: Any, tool: str, name: str, value: Any) -> None:
    if name == "sessionId" and isinstance(value, str) and len(value) > NAME:
        raise Refusal("`sessionId` is longer than 128 characters.")


def refuses_long_path(port: Any, cwd: str) -> None:
    if len(cwd.encode()) > PATH:
        raise Refusal(f"`cwd` {cwd!r} does not exist.")


def by_units(port: Any, real: Any, text: str) -> bytes:
    units = text.encode("utf-16-le")
    pieces = (units[at : at + 2 * UNITS] for at in range(0, len(units), 2 * UNITS))
    return b"".join(piece.decode("utf-16-le", "replace").encode() for piece in pieces)


def cut_variables(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value[:LINE] for name, value in variables.items()}


def short_warnings(answer: Any) -> Any:
    cut = [each[:WARNING] if isinstance(each, str) else each for each in answer.warnings or ()]
    return replace(answer, warnings=cut or answer.warnings)


def masked_at_beginning(port: Any, real: Any, text: str) -> str:
    return KEYS.sub(lambda key: "[masked]" + key[0][KEY:], text)


defect("long-titles-hide-sessions", "Reads no line of a list over 4 KiB.", "fallback:list-sessions")(
    list_text=gives(in_short_lines)
)
defect("unended-entry-overlooked", "Overlooks an entry of the list without a newline behind it.", "fallback:last")(
    newest=takes(ended_lines)
)
defect("returns-hide-sessions", "Reads no entry of a list whose lines end in CRLF.", "fallback:list-sessions")(
    list_text=gives(without_returns)
)
defect("system-prompt-over-8-mib-refused", "Refuses a system prompt as long as no prompt may be.", "system:chat-reply")(
    text=before(refuses_long_system)
)
defect("long-session-refused", "Refuses a session of more than 128 characters.", "command:chat-reply:session-id")(
    text=before(refuses_long_session)
)
defect("path-over-1-kib-refused", "Refuses a directory whose path has more than 1,024 bytes.", "cwd:used")(
    check_cwd=before(refuses_long_path)
)
defect("pairs-of-system-prompt-divided", "Writes a system prompt in pieces of 16,384 units.", "system:content")(
    system_bytes=by_units
)
defect("variables-cut-at-4-kib", "Hands on the first 4 KiB of a variable.", "process:environment")(
    environment=gives(cut_variables)
)
defect("long-warnings-cut", "Cuts a warning after 1,000 characters.", "result:warnings")(
    read_json=gives(short_warnings)
)
defect("lines-of-answer-over-4096-lost", "Returns no more than 4,096 lines of an answer.", "result:text:blanks")(
    response=gives(lambda text: "\n".join(text.split("\n")[:LINES]) if isinstance(text, str) else text)
)
defect("long-keys-shown-in-part", "Shows what follows the first hundred characters of a key.", "error:secrets")(
    masked=masked_at_beginning
)
defect(
    "lines-over-16-mib-refused",
    "Takes no line of more than 16 MiB, though a prompt of 8 MiB can need more in escapes.",
    "prompt:long",
)(parse=refuses(ValueError("The line is too long."), lambda line: len(line) > 16 * MIB))
