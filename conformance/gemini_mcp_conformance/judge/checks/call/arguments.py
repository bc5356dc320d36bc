"""Arguments that are refused, and those that count as absent."""

from __future__ import annotations

import re
from collections.abc import Callable

from gemini_mcp.spec.families import Subject
from gemini_mcp.spec.values import Json, inside, texts_in
from gemini_mcp_conformance.judge.checks.call.command import misheard
from gemini_mcp_conformance.judge.expectation import (
    declared,
    fate,
    faults,
    is_call,
    is_object,
    schema_faults,
    settled,
    specified,
)
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.judge.selectors import is_unforced, refused
from gemini_mcp_conformance.see.observation import Exchange, Run
from gemini_mcp_conformance.spec.interpreter import is_absent, refusals
from gemini_mcp_conformance.tell.witness import argv_shown, bytes_shown, shown

ABSENT = object()


def given(exchange: Exchange, name: str) -> Json:
    """The argument of that name, None when it is null."""
    return exchange.arguments.get(name, ABSENT)


def fault_of(exchange: Exchange, name: str) -> str | None:
    """Why the schema forbids an argument."""
    return schema_faults(exchange).get(name) if is_object(exchange) else None


def with_fault(*kinds: str) -> Callable[[Exchange, Subject], bool]:
    """Calls whose argument the schema forbids for that reason."""
    return lambda exchange, subject: fault_of(exchange, subject["argument"]) in kinds


def is_refused(exchange: Exchange) -> list[str]:
    """A call that cannot be served is answered with an error, and gemini does not run."""
    asked = shown(exchange.arguments)
    if exchange.runs:
        return [f"For {asked} the port ran gemini {argv_shown(exchange.runs[0])}, and should refuse the call."]
    if exchange.is_error:
        return []
    return [f"The port answered {asked} with {shown(exchange.result)}, and should refuse the call."]


def optional_faults(exchange: Exchange) -> list[str]:
    """Why the schema forbids the optional arguments of a call that has the required ones as it should."""
    if not is_call(exchange) or not is_object(exchange):
        return []
    required = exchange.spec.tools[exchange.tool or ""].required
    return [fault for name, fault in schema_faults(exchange).items() if name not in required]


def has_null_option(exchange: Exchange) -> bool:
    return fate(exchange) == "either" and "null" in optional_faults(exchange)


@check("arguments:{argument}:missing", judges=with_fault("missing"))
@check("arguments:{argument}:null", judges=with_fault("null"))
@check("arguments:{argument}:type", judges=with_fault("type"))
@check("arguments:{argument}:value", judges=with_fault("value"))
def forbidden_argument_is_refused(exchange: Exchange, subject: Subject) -> list[str]:
    return is_refused(exchange)


check("arguments:optional:type", judges=lambda exchange: "type" in optional_faults(exchange))(is_refused)
check("arguments:optional:null", judges=has_null_option)(is_refused)


def breaks_rule(exchange: Exchange, rule: str) -> bool:
    """Calls that a rule forbids, and no other reason."""
    if not is_call(exchange) or not is_object(exchange) or fate(exchange) != "either" or exchange.gemini != "present":
        return False
    found = {name: refusals(name, value, exchange.spec.invocation) for name, value in exchange.arguments.items()}
    named = [refusal.name for name, rules in found.items() if name in declared(exchange) for refusal in rules]
    return rule in named


@check("arguments:surrogate", judges=lambda exchange, subject: breaks_rule(exchange, subject["refusal"]))
@check("arguments:control", judges=lambda exchange, subject: _is_control(exchange, subject["refusal"]))
@check("prompt:empty", judges=lambda exchange, subject: breaks_rule(exchange, subject["refusal"]))
@check("prompt:over-limit", judges=lambda exchange, subject: breaks_rule(exchange, subject["refusal"]))
@check("arguments:refused:{refusal}", judges=lambda exchange, subject: breaks_rule(exchange, subject["refusal"]))
def forbidden_text_is_refused(exchange: Exchange, subject: Subject) -> list[str]:
    return is_refused(exchange)


def _is_control(exchange: Exchange, rule: str) -> bool:
    """Calls with a control character other than NUL, which another requirement is about."""
    return breaks_rule(exchange, rule) and not any("\0" in text for text in texts_in(exchange.arguments))


@check("arguments:refused:not-started", judges=refused, anyway=True)
def refused_call_starts_nothing(exchange: Exchange) -> list[str]:
    runs = (*exchange.runs, *exchange.listings)
    return [
        f"The port started gemini {argv_shown(run)} for {shown(exchange.arguments)}, and should not."
        for run in runs[:1]
    ]


def names_culprit(exchange: Exchange) -> bool:
    known = is_call(exchange) and is_object(exchange)
    return known and bool(faults(exchange)) and exchange.is_error


def said(exchange: Exchange) -> str:
    """The text of an error, whichever way it is told."""
    return exchange.text or str(inside(exchange.error, "message") or "")


@check("arguments:refused:is-error", judges=names_culprit)
def refusal_names_the_argument(exchange: Exchange) -> list[str]:
    doubtful = [name for name in declared(exchange) if name in exchange.arguments and name not in settled(exchange)]
    culprits, text = dict.fromkeys((*faults(exchange), *doubtful)), exchange.text or ""
    if exchange.result is None:
        return [f"The port answered {shown(exchange.answer)}, and should answer with `isError`."]
    if any(name in text for name in culprits) or not specified_to_name(exchange):
        return []
    return [f"The port says {shown(text)}, and should name {' or '.join(f'`{name}`' for name in culprits)}."]


def specified_to_name(exchange: Exchange) -> bool:
    """Whether what the specification says of a refused directory names the argument."""
    if faults(exchange) != (exchange.spec.directory(exchange.tool or ""),):
        return True
    said = [each.text for each in exchange.spec.outcome.sentences if "{cwd}" in each.text]
    return all("{argument}" in text or faults(exchange)[0] in text for text in said)


@check("arguments:refused:prefix", judges=names_culprit)
def refusal_begins_as_every_error(exchange: Exchange) -> list[str]:
    text, prefix = said(exchange), exchange.spec.outcome.prefix
    return [] if text.startswith(prefix) else [f"The port's error is {shown(text)}, and should begin with {prefix!r}."]


def has_unknown(exchange: Exchange) -> bool:
    """Whether nothing but an undeclared argument lets a port choose."""
    known = declared(exchange)
    texts = [text for name in known if name in exchange.arguments for text in texts_in(exchange.arguments[name])]
    plain = all(re.fullmatch(r"\w[^\x00-\x1f\x7f-\uffff]{0,200}", text) for text in texts)
    return is_unforced(exchange) and plain and not exchange.arguments.keys() <= set(known)


@check("arguments:unknown", judges=has_unknown, about="options")
def unknown_argument_is_ignored(exchange: Exchange) -> list[str]:
    return served_without(exchange, [name for name in exchange.arguments if name not in declared(exchange)])


def served_without(exchange: Exchange, names: list[str]) -> list[str]:
    if not exchange.runs:
        called = ", ".join(f"`{name}`" for name in names)
        answered = shown(exchange.answer)
        return [f"The port answered {answered} because of {called}, and should serve the call as if without."]
    return [complaint for run in exchange.runs[:1] for complaint in misheard(exchange, run)]


def is_empty(exchange: Exchange, subject: Subject) -> bool:
    """Calls of which this argument alone lets a port choose, because it counts as absent."""
    name = subject["argument"]
    if (
        not is_call(exchange)
        or name not in declared(exchange)
        or not is_absent(name, given(exchange, name), exchange.spec.invocation)
    ):
        return False
    others = [value for key, value in exchange.arguments.items() if key != name]
    usual = all(text.strip() for value in others for text in texts_in(value))
    allowed = isinstance(given(exchange, name), str) and not schema_faults(exchange)
    return allowed and usual and not _is_refused_empty(exchange, name) and is_unforced(exchange)


def _is_refused_empty(exchange: Exchange, name: str) -> bool:
    return bool(refusals(name, given(exchange, name), exchange.spec.invocation))


@check("arguments:empty:{argument}", judges=is_empty)
def empty_argument_is_none(exchange: Exchange, subject: Subject) -> list[str]:
    name, tool = subject["argument"], exchange.tool or ""
    elsewhere = [run.call.cwd for run in exchange.runs if run.call.cwd != exchange.place.work]
    files = [run.call.given[variable].path for run in exchange.runs for variable in _variables(exchange, name, run)]
    return [
        *served_without(exchange, [name]),
        *(
            f"With an empty `{name}` gemini runs in {cwd!r}, and should run in {exchange.place.work!r}."
            for cwd in elsewhere
            if name == exchange.spec.directory(tool)
        ),
        *(f"With an empty `{name}` gemini is given the file {path!r}, and should be given none." for path in files),
    ][:1]


def _variables(exchange: Exchange, name: str, run: Run) -> list[str]:
    variable = exchange.spec.files(exchange.tool or "").get(name)
    return [variable] if variable is not None and variable in run.call.given else []


@check("arguments:nul", judges=lambda exchange: is_call(exchange) and has_nul(exchange))
def nul_is_kept_or_refused(exchange: Exchange) -> list[str]:
    if not exchange.runs:
        return [] if exchange.is_error else [f"The port answered a NUL with {shown(exchange.answer)}."]
    return [complaint for run in exchange.runs[:1] for complaint in altered(exchange, run)]


def has_nul(exchange: Exchange) -> bool:
    known = [exchange.arguments[name] for name in declared(exchange) if name in exchange.arguments]
    return fate(exchange) == "either" and any("\0" in text for text in texts_in(known))


def altered(exchange: Exchange, run: Run) -> list[str]:
    call = specified(exchange)
    assert call is not None
    for variable, text in call.files.items():
        found = run.call.given[variable].content if variable in run.call.given else None
        if found != text.encode("utf-8", "replace"):
            held = "missing" if found is None else bytes_shown(found)
            return [f"The file that {variable} names is {held}, and should be {shown(text)}."]
    if call.cwd is not None and "\0" in call.cwd:
        return [f"gemini runs in {run.call.cwd!r}, and should not run at all for {shown(call.cwd)}."]
    return misheard(exchange, run)
