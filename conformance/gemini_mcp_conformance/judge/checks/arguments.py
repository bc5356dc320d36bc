"""Arguments that are refused, and those that count as absent."""

from __future__ import annotations

import re
from collections.abc import Callable

from gemini_mcp.spec.values import Json, inside, is_unicode
from gemini_mcp_conformance.judge.checks.command import called, understood, what
from gemini_mcp_conformance.judge.expectation import (
    CONTROL,
    Wanted,
    declared,
    fate,
    faults,
    is_object,
    is_settled,
    wanted,
)
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.judge.selectors import Predicate, calls, is_played, refused
from gemini_mcp_conformance.see.observation import Exchange, Run
from gemini_mcp_conformance.tell.witness import argv_shown, bytes_shown, shown

PREFIX = "Error executing gemini: "
ABSENT = object()


def given(exchange: Exchange, name: str) -> Json:
    """The argument of that name, None when it is null."""
    return exchange.arguments.get(name, ABSENT)


def refused_for(fits: Callable[[Exchange], bool]) -> Predicate:
    """Calls of a known tool, with arguments as the protocol has them, that are refused for that reason."""
    called = calls()
    return lambda exchange: called(exchange) and is_object(exchange) and fits(exchange)


def is_refused(exchange: Exchange) -> list[str]:
    """A call that cannot be served is answered with an error, and gemini does not run."""
    asked = shown(exchange.arguments)
    if exchange.runs:
        return [f"For {asked} the port ran gemini {argv_shown(exchange.runs[0])}, and should refuse the call."]
    if exchange.is_error:
        return []
    return [f"The port answered {asked} with {shown(exchange.result)}, and should refuse the call."]


def has_wrong_option(exchange: Exchange) -> bool:
    values = [given(exchange, name) for name in declared(exchange) if name != "prompt"]
    return any(value is not ABSENT and value is not None and not isinstance(value, str) for value in values)


def has_null_option(exchange: Exchange) -> bool:
    return fate(exchange) == "either" and any(given(exchange, name) is None for name in declared(exchange))


def has_surrogate(exchange: Exchange) -> bool:
    texts = [value for name in declared(exchange) if isinstance(value := given(exchange, name), str)]
    return fate(exchange) == "either" and not all(is_unicode(text) for text in texts)


def has_control(exchange: Exchange) -> bool:
    words = [given(exchange, name) for name in declared(exchange) if name in ("model", "sessionId")]
    texts = [word for word in words if isinstance(word, str) and "\0" not in word]
    return fate(exchange) == "either" and any(CONTROL.search(text) for text in texts)


check("arguments:prompt:missing", judges=refused_for(lambda exchange: "prompt" not in exchange.arguments))(is_refused)
check("arguments:prompt:null", judges=refused_for(lambda exchange: given(exchange, "prompt") is None))(is_refused)
check(
    "arguments:prompt:type",
    judges=refused_for(lambda exchange: not isinstance(exchange.arguments.get("prompt", ""), str | None)),
)(is_refused)
check("arguments:optional:type", judges=refused_for(has_wrong_option))(is_refused)
check("arguments:optional:null", judges=refused_for(has_null_option))(is_refused)
check("arguments:surrogate", judges=refused_for(has_surrogate))(is_refused)
check("arguments:control", judges=refused_for(has_control))(is_refused)


@check("arguments:refused:not-started", judges=refused)
def refused_call_starts_nothing(exchange: Exchange) -> list[str]:
    runs = (*exchange.runs, *exchange.listings)
    return [
        f"The port started gemini {argv_shown(run)} for {shown(exchange.arguments)}, and should not."
        for run in runs[:1]
    ]


def names_culprit(exchange: Exchange) -> bool:
    known = calls()(exchange) and is_object(exchange)
    return known and bool(faults(exchange)) and exchange.answer is not None


def said(exchange: Exchange) -> str:
    """The text of an error, whichever way it is told."""
    return exchange.text or str(inside(exchange.error, "message") or "")


@check("arguments:refused:is-error", judges=names_culprit)
def refusal_names_the_argument(exchange: Exchange) -> list[str]:
    doubtful = [name for name in declared(exchange) if not is_settled(name, exchange.arguments.get(name, "x"))]
    culprits, text = dict.fromkeys((*faults(exchange), *doubtful)), exchange.text or ""
    if exchange.result is None or not exchange.is_error:
        return [f"The port answered {shown(exchange.answer)}, and should answer with `isError`."]
    if any(name in text for name in culprits):
        return []
    return [f"The port says {shown(text)}, and should name {' or '.join(f'`{name}`' for name in culprits)}."]


@check("arguments:refused:prefix", judges=lambda exchange: names_culprit(exchange) and exchange.is_error)
def refusal_begins_as_every_error(exchange: Exchange) -> list[str]:
    text = said(exchange)
    return [] if text.startswith(PREFIX) else [f"The port's error is {shown(text)}, and should begin with {PREFIX!r}."]


def has_unknown(exchange: Exchange) -> bool:
    """Whether nothing but an undeclared argument lets a port choose."""
    known = declared(exchange)
    texts = [value for name in known if (value := given(exchange, name)) is not ABSENT]
    plain = all(isinstance(text, str) and re.fullmatch(r"\w[^\x00-\x1f\x7f-\uffff]{0,200}", text) for text in texts)
    return is_unforced(exchange) and plain and not exchange.arguments.keys() <= set(known)


def is_unforced(exchange: Exchange) -> bool:
    played = is_played(exchange) and exchange.gemini == "present" and exchange.cwd in ("none", "absolute")
    return played and calls()(exchange) and fate(exchange) == "either"


def misunderstood(run: Run, needed: Wanted) -> list[str]:
    """What gemini was given otherwise than it should be."""
    for field in ("prompt", "model", "resume"):
        expected = getattr(needed, field)
        if understood(run, field) != expected:
            return [f"{what(run, field)}, and should understand {called(field, expected)}."]
    return []


@check("arguments:unknown", judges=has_unknown)
def unknown_argument_is_ignored(exchange: Exchange) -> list[str]:
    return served_without(exchange, [name for name in exchange.arguments if name not in declared(exchange)])


def served_without(exchange: Exchange, names: list[str]) -> list[str]:
    needed = wanted(exchange)
    if needed is None or not exchange.runs or exchange.is_error:
        called = ", ".join(f"`{name}`" for name in names)
        answered = shown(exchange.answer)
        return [f"The port answered {answered} because of {called}, and should serve the call as if without."]
    return [complaint for run in exchange.runs[:1] for complaint in misunderstood(run, needed)]


def is_empty(name: str) -> Predicate:
    """Calls of which this argument alone lets a port choose, because it is empty."""

    def accepts(exchange: Exchange) -> bool:
        text = given(exchange, name)
        empty = isinstance(text, str) and not (text.strip() if name == "systemPrompt" else text)
        others = [value for key, value in exchange.arguments.items() if key != name]
        usual = all(isinstance(value, str) and value.strip() for value in others)
        return empty and name in declared(exchange) and usual and is_unforced(exchange)

    return accepts


@check("arguments:empty:model", judges=is_empty("model"))
def empty_model_is_none(exchange: Exchange) -> list[str]:
    return served_without(exchange, ["model"])


@check("arguments:empty:session-id", judges=is_empty("sessionId"))
def empty_session_is_the_latest(exchange: Exchange) -> list[str]:
    return served_without(exchange, ["sessionId"])


@check("arguments:empty:cwd", judges=is_empty("cwd"))
def empty_directory_is_the_own(exchange: Exchange) -> list[str]:
    elsewhere = [run.call.cwd for run in exchange.runs if run.call.cwd != exchange.place.work]
    expected = exchange.place.work
    return served_without(exchange, ["cwd"]) or [
        f"With an empty `cwd` gemini runs in {cwd!r}, and should run in {expected!r}." for cwd in elsewhere[:1]
    ]


@check("arguments:empty:system-prompt", judges=is_empty("systemPrompt"))
def blank_system_prompt_is_none(exchange: Exchange) -> list[str]:
    paths = [run.call.system_md_path for run in exchange.runs if run.call.system_md_path is not None]
    return served_without(exchange, ["systemPrompt"]) or [
        f"With a blank `systemPrompt` GEMINI_SYSTEM_MD is {path!r}, and should not be set." for path in paths[:1]
    ]


@check("arguments:nul", judges=lambda exchange: calls()(exchange) and has_nul(exchange))
def nul_is_kept_or_refused(exchange: Exchange) -> list[str]:
    needed = wanted(exchange)
    if needed is None or not exchange.runs:
        return [] if exchange.is_error else [f"The port answered a NUL with {shown(exchange.answer)}."]
    return [complaint for run in exchange.runs[:1] for complaint in altered(run, needed)]


def has_nul(exchange: Exchange) -> bool:
    texts = [value for name in declared(exchange) if isinstance(value := given(exchange, name), str)]
    return fate(exchange) == "either" and any("\0" in text for text in texts)


def altered(run: Run, needed: Wanted) -> list[str]:
    system = None if needed.system is None else needed.system.encode("utf-8", "replace")
    if system is not None and run.call.system_md != system:
        found = "missing" if run.call.system_md is None else bytes_shown(run.call.system_md)
        return [f"gemini's system prompt is {found}, and should be {bytes_shown(system)}."]
    if needed.cwd is not None and "\0" in needed.cwd:
        return [f"gemini runs in {run.call.cwd!r}, and should not run at all for {shown(needed.cwd)}."]
    return misunderstood(run, needed)
