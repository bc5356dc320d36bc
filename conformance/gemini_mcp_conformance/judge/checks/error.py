"""What a call is answered with when gemini fails."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from gemini_mcp.spec.values import Json, inside, items
from gemini_mcp_conformance.judge.checks.result import says
from gemini_mcp_conformance.judge.expectation import end_of, reading
from gemini_mcp_conformance.judge.registry import Spared, check
from gemini_mcp_conformance.judge.selectors import Predicate, calls
from gemini_mcp_conformance.see.memo import remembered
from gemini_mcp_conformance.see.observation import Exchange
from gemini_mcp_conformance.see.reading import message_of
from gemini_mcp_conformance.tell.witness import shown

PREFIX = "Error executing gemini: "
STDERR = re.compile(r"^Stderr: ?", re.MULTILINE)
TAIL = 8192

MARGIN = 256
"""Bytes that a port may spend on saying that something was cut."""

SECRETS = re.compile(r"AIza[0-9A-Za-z_-]{20,}|ya29\.[0-9A-Za-z_.-]{10,}")

CAUSES: Mapping[int, str] = {
    41: r"sign|auth|log ?in|credential|API.?key",
    42: r"input|prompt|argument|session",
    44: r"sandbox",
    52: r"setting|config",
    53: r"turn|limit",
    54: r"tool",
    55: r"trust",
    130: r"interrupt|cancel|SIGINT|Ctrl",
    144: r"400",
    145: r"401",
    147: r"403",
    173: r"429",
    244: r"500",
    247: r"503",
}
"""By exit code, what a sentence that names the cause has in it."""

QUOTA = (
    "RESOURCE_EXHAUSTED",
    "Quota exceeded",
    "quota exceeded",
    "exhausted your capacity",
    "exhausted your quota",
)

DAMAGE = "\ufffd"
"""What stands for bytes that are no UTF-8; how a port shows them is its affair."""

FOREIGN = re.compile(r"[^\W\d_a-zA-Z]")
"""A letter that English does without."""

SECRET_WORDS = re.compile(r"(?i)AIza|ya29|key|bearer|token|secret|password")


def failed(exchange: Exchange) -> bool:
    """Whether gemini ran and failed by itself."""
    found = reading(exchange)
    return found is not None and found.kind == "error" and bool(exchange.runs)


def exits_with(code: int) -> Predicate:
    return lambda exchange: failed(exchange) and end_of(exchange).exit == code


def is_signalled(exchange: Exchange) -> bool:
    return failed(exchange) and end_of(exchange).signal is not None


def exits_badly(exchange: Exchange) -> bool:
    return failed(exchange) and end_of(exchange).exit not in (0, None)


def cannot_start(exchange: Exchange) -> bool:
    return calls()(exchange) and exchange.gemini != "present" and isinstance(exchange.arguments.get("prompt"), str)


def stderr_of(exchange: Exchange) -> str:
    return end_of(exchange).stderr.decode("utf-8", "replace")


def sentence(exchange: Exchange) -> str:
    """What the port itself says of the failure."""
    return STDERR.split(exchange.text or "", maxsplit=1)[0]


def quoted(exchange: Exchange) -> str | None:
    """What stands behind `Stderr: `."""
    parts = STDERR.split(exchange.text or "", maxsplit=1)
    return parts[1] if len(parts) > 1 else None


@check("error:is-error", judges=failed)
@check("error:exit", judges=exits_badly)
@check("error:signal", judges=is_signalled)
@check("error:not-started", judges=cannot_start)
def failure_is_an_error(exchange: Exchange) -> list[str]:
    if exchange.result is not None and exchange.is_error:
        return []
    return [f"The port answered {says(exchange)}, and should answer with a result with `isError: true`."]


def shows_error(exchange: Exchange) -> bool:
    return failed(exchange) and exchange.result is not None and exchange.is_error


@check("error:content", judges=lambda exchange: failed(exchange) and exchange.result is not None)
def content_is_texts(exchange: Exchange) -> list[str]:
    content = items(inside(exchange.result, "content"))
    if content and all(inside(item, "type") == "text" and isinstance(inside(item, "text"), str) for item in content):
        return []
    return [f"The port answered {says(exchange)}, and should answer with a `content` of texts."]


@check("error:prefix", judges=shows_error)
def text_begins_with_the_prefix(exchange: Exchange) -> list[str]:
    if (exchange.text or "").startswith(PREFIX):
        return []
    return [f"The port's error reads {shown(exchange.text)}, and should begin with {shown(PREFIX)}."]


def is_plain_stderr(exchange: Exchange) -> bool:
    """Whether nothing may be left out of stderr: it is short, and holds no key and nothing that the client sent."""
    if not shows_error(exchange):
        return False
    text = stderr_of(exchange)
    fits = len(end_of(exchange).stderr) <= TAIL
    sent = [form for value in exchange.arguments.values() for form in _forms(value)]
    return fits and not SECRET_WORDS.search(text) and not any(form in text for form in sent)


def _forms(value: Json) -> list[str]:
    """A text as it is, and as JSON writes it."""
    text = str(value).strip()
    return [text, *(json.dumps(text, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False))] if text else []


@check("error:stderr", judges=lambda exchange: is_plain_stderr(exchange) and bool(stderr_of(exchange).strip()))
def stderr_is_quoted(exchange: Exchange) -> list[str]:
    found = quoted(exchange)
    if found is not None and all(part.strip() in found for part in stderr_of(exchange).split(DAMAGE)):
        return []
    return [f"The port quotes the stderr {shown(found)}, and should quote {shown(stderr_of(exchange))}."]


@check("error:stderr:empty", judges=lambda exchange: shows_error(exchange) and not stderr_of(exchange))
def empty_stderr_is_told(exchange: Exchange) -> list[str]:
    if quoted(exchange) is not None:
        return []
    return [f"The port's error reads {shown(exchange.text)}, and should hold a line that begins with `Stderr: `."]


@check(
    "error:stderr:tail", judges=lambda exchange: shows_error(exchange) and len(end_of(exchange).stderr) > TAIL + MARGIN
)
def long_stderr_is_cut(exchange: Exchange) -> list[str]:
    found = quoted(exchange) or ""
    size, last = len(found.encode("utf-8", "replace")), stderr_of(exchange).rstrip()[-64:]
    if size > TAIL + MARGIN:
        return [f"The port quotes {size} bytes of stderr, and should quote the last {TAIL}."]
    return [] if last in found else [f"The port quotes a stderr without its end {shown(last)}."]


@check("error:session-id", judges=shows_error)
def no_session_is_reported(exchange: Exchange) -> list[str]:
    if "sessionId" not in exchange.meta:
        return []
    return [f"The port reports the session {shown(exchange.meta['sessionId'])} with an error, and should report none."]


@check("error:not-started:remedy", judges=lambda exchange: cannot_start(exchange) and exchange.gemini == "absent")
def remedy_is_named(exchange: Exchange) -> list[str]:
    if exchange.result is not None and re.search(r"PATH|install", exchange.text or ""):
        return []
    return [f"The port's error reads {shown(exchange.text)}, and should name PATH or the way to install gemini."]


def _names(pattern: str, what: str) -> Callable[[Exchange], list[str]]:
    def cause_is_named(exchange: Exchange) -> list[str]:
        if re.search(pattern, sentence(exchange), re.IGNORECASE):
            return []
        if FOREIGN.search(sentence(exchange)):
            raise Spared("The port's error is in a language that the suite cannot read.")
        return [f"The port's error reads {shown(sentence(exchange))}, and should name {what}."]

    return cause_is_named


def _says(exchange: Exchange, *sayings: str) -> bool:
    """Whether gemini's stderr says one of these; a copy of the prompt says nothing."""
    said = stderr_of(exchange).replace(exchange.arguments["prompt"], "")
    return any(saying in said for saying in sayings)


@remembered
def _speaks_of_quota(exchange: Exchange) -> bool:
    return exits_badly(exchange) and shows_error(exchange) and _says(exchange, *QUOTA)


def _is_that_exit(code: int) -> Predicate:
    """Whether gemini exits with that code for a reason of its own: an exhausted quota may be named in its place."""
    return lambda exchange: (
        exits_with(code)(exchange) and shows_error(exchange) and (code == 173 or not _speaks_of_quota(exchange))
    )


for _code, _pattern in CAUSES.items():
    _what = _pattern if _code > 130 else f"the cause of exit {_code} (one of {_pattern.replace('|', ', ')})"
    check(f"error:exit:{_code}", judges=_is_that_exit(_code))(_names(_pattern, _what))


check("error:quota", judges=_speaks_of_quota)(_names(r"quota|429|rate|limit", "the quota"))


def _session_is_gone(exchange: Exchange) -> bool:
    said = ("Invalid session identifier", "No previous sessions found")
    return shows_error(exchange) and exits_with(42)(exchange) and _says(exchange, *said)


check("error:session-gone", judges=_session_is_gone)(_names(r"session", "the session"))


def _holds_json_error(exchange: Exchange) -> bool:
    if not (exits_badly(exchange) and shows_error(exchange)):
        return False
    message = message_of(stderr_of(exchange))
    return message is not None and not SECRETS.search(message) and exchange.arguments["prompt"] not in message


@check("error:json-on-stderr", judges=_holds_json_error)
def message_is_told_first(exchange: Exchange) -> list[str]:
    message = message_of(stderr_of(exchange)) or ""
    if message[:200] in sentence(exchange):
        return []
    return [f"The port's error reads {shown(sentence(exchange))}, and should hold {shown(message)}."]


def _echoes_prompt(exchange: Exchange) -> bool:
    if not shows_error(exchange):
        return False
    prompt = exchange.arguments["prompt"]
    return len(prompt) >= 16 and prompt in stderr_of(exchange)[-TAIL:]


@check("error:prompt", judges=_echoes_prompt)
def prompt_is_not_repeated(exchange: Exchange) -> list[str]:
    if exchange.arguments["prompt"] not in (exchange.text or ""):
        return []
    return [f"The port's error reads {shown(exchange.text)}, and should not repeat the prompt."]


@check(
    "error:secrets", judges=lambda exchange: shows_error(exchange) and bool(SECRETS.search(stderr_of(exchange)[-TAIL:]))
)
def keys_are_masked(exchange: Exchange) -> list[str]:
    told = SECRETS.search(exchange.text or "")
    return [f"The port's error holds {told[0]!r}, which looks like a key, and should mask it."] if told else []
