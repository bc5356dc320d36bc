"""Defects in texts that are seldom met: words that are equal, spellings that mean something elsewhere, rare echoes."""

import glob
import json
import re
import sys
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from answering import PRIVATE_LENGTH, Answer, Outcome
from conditions import altering, asks, is_named, stdin_changed
from defects.record import defect
from planning import Plan
from running import Call
from steps import gives, takes

UNITS = 65536
WITHHELD = "[withheld]"
LONE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])")
ESCAPED_KEY = re.compile(
    r"(-----BEGIN [A-Z ]*PRIVATE KEY-----(?:\\n[A-Za-z0-9+/=]+)+\\n-----END [A-Z ]*PRIVATE KEY-----)"
)


def without_equal_words(plan: Plan) -> Plan:
    return replace(plan, argv=(plan.argv[0], *dict.fromkeys(plan.argv[1:])))


def in_units(text: str) -> str:
    """Converts each 65,536 units of UTF-16 by themselves."""
    units = text.encode("utf-16-le")
    pieces = (units[start : start + 2 * UNITS] for start in range(0, len(units), 2 * UNITS))
    return "".join(piece.decode("utf-16-le", "replace") for piece in pieces)


def canonical(session: str) -> str:
    with suppress(ValueError):
        return str(uuid.UUID(session))
    return session


def as_pattern(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    found = sorted(glob.glob(texts["cwd"])) if glob.has_magic(texts.get("cwd", "")) else []
    return real(tool, {**texts, "cwd": found[0]} if found else texts)


def lone_escapes_replaced(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    """A backslash may itself be escaped, and then begins nothing."""
    return real(LONE.sub(r"\\ufffd", stdout), stderr)


def system_withheld(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    answer = real(call, plan)
    if plan.system is None or len(plan.system) < PRIVATE_LENGTH:
        return answer
    return replace(answer, text=answer.text.replace(plan.system, WITHHELD))


def without_warnings(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    found = real(call, plan, answer)
    return replace(found, warnings=None) if is_named(plan) else found


def latin_unless_valid(outcome: Outcome) -> Outcome:
    try:
        outcome.stderr.decode()
    except UnicodeDecodeError:
        return replace(outcome, stderr=outcome.stderr.decode("latin-1").encode())
    return outcome


def short_between_letters(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    """`\\b` stands beside a letter or a digit only."""
    text = real(text, tuple(secret for secret in private if len(secret.strip()) >= PRIVATE_LENGTH))
    for secret in private:
        if 0 < len(secret.strip()) < PRIVATE_LENGTH:
            text = re.sub(rf"\b{re.escape(secret)}\b", WITHHELD, text)
    return text


def pairs_unknown(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    """Escapes a character beyond U+FFFF as one number, which JSON never does."""
    for secret in sorted(private, key=len, reverse=True):
        if len(secret.strip()) < PRIVATE_LENGTH or max(secret) <= "\uffff":
            text = real(text, (secret,))
        else:
            text = text.replace(secret, WITHHELD).replace(json.dumps(secret, ensure_ascii=False)[1:-1], WITHHELD)
    return text


def escaped_keys_shown(port: Any, real: Any, text: str) -> str:
    pieces = ESCAPED_KEY.split(text)
    return "".join(piece if number % 2 else real(piece) for number, piece in enumerate(pieces))


def tells_who_waits(port: Any, real: Any, call: Call, turn: str | None) -> None:
    if turn is not None and port.turns.get(turn):
        print(f"{call.id!r} waits for its turn: {call.arguments['prompt'][:32]!r}", file=sys.stderr, flush=True)
    real(call, turn)


defect(
    "equal-words-passed-once",
    "Passes a word once that stands twice on the command line, such as a prompt that equals the model.",
    "command:chat-reply",
    "command:chat:model",
)(ask=asks(lambda call, plan: True, without_equal_words))
defect(
    "pair-at-unit-65536-of-stdin-parted",
    "Parts a character of a long prompt that lies across the 65,536th unit of UTF-16.",
    "prompt:long",
)(prompt_form=stdin_changed(in_units))
defect(
    "session-written-as-uuid",
    "Writes a session id that can be read as a UUID in lower case and with hyphens.",
    "command:chat-reply:session-id",
)(ask=asks(lambda call, plan: True, altering("-r", canonical)))
defect(
    "doubled-dollars-of-system-prompt-single",
    "Writes one dollar sign for two of a system prompt.",
    "system:content",
)(system_bytes=takes(lambda text: text.replace("$$", "$")))
defect(
    "directory-is-a-glob",
    "Takes the first directory that a `cwd` with brackets, stars or question marks matches as a pattern.",
    "cwd:used",
)(cwd=as_pattern)
defect(
    "written-escapes-of-answer-replaced",
    "Takes the letters of an escape of which an answer speaks for a lone surrogate.",
    "result:text",
)(read_stdout=lone_escapes_replaced)
defect(
    "system-prompt-withheld-from-answer",
    "Withholds a system prompt that an answer quotes.",
    "result:text",
)(ask=system_withheld)
defect(
    "warnings-of-unnamed-reply-lost",
    "Drops the warnings of a reply by id when gemini does not name the session.",
    "result:warnings",
)(with_session=without_warnings)
defect(
    "list-parted-at-every-line-end",
    "Ends an entry of the list at U+0085, U+2028, a form feed or whatever else ends a line in Unicode.",
    "fallback:list-sessions",
    "fallback:last",
)(list_text=gives(lambda text: "\n".join(text.splitlines())))
defect(
    "stderr-with-bad-byte-is-latin",
    "Reads the whole stderr of a failure as Latin-1 when one byte of it is no UTF-8.",
    "error:stderr",
)(read=takes(latin_unless_valid))
defect(
    "short-prompt-with-signs-shown",
    "Withholds no short prompt that begins or ends with a sign, such as `c++`.",
    "error:prompt",
)(withheld=short_between_letters)
defect(
    "escaped-pairs-of-prompt-shown",
    "Withholds no prompt with characters beyond U+FFFF where JSON has escaped it.",
    "error:prompt",
)(withheld=pairs_unknown)
defect(
    "escaped-private-key-shown",
    "Masks no private key whose newlines JSON has escaped.",
    "error:secrets",
)(masked=escaped_keys_shown)
defect(
    "prompt-of-waiting-reply-logged",
    "Logs the beginning of the prompt of a reply that has to wait for its session.",
    "stdio:stderr:private",
)(take_turn=tells_who_waits)
