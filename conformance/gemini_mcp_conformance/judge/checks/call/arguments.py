"""Arguments that are refused, and those that count as absent."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from gemini_mcp.spec.families import Subject
from gemini_mcp.spec.templates import Refusal
from gemini_mcp.spec.values import inside, texts_in
from gemini_mcp_conformance.judge.check import Complaints, CouldNotRun
from gemini_mcp_conformance.judge.checks.call.command import altered
from gemini_mcp_conformance.judge.expectation import (
    declared,
    fate,
    faults,
    is_call,
    is_object,
    required,
    schema_faults,
    settled,
    specified,
    text_of,
)
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.judge.selectors import is_unforced, refused, was_due
from gemini_mcp_conformance.see.memo import remembered
from gemini_mcp_conformance.see.observation import Exchange, Run
from gemini_mcp_conformance.see.witness import argv_shown, bytes_shown, reply, shown
from gemini_mcp_conformance.spec.interpreter import is_absent, refusals, size
from gemini_mcp_conformance.spec.specification import SHORT_ENOUGH


def has_fault(*kinds: str) -> Callable[[Exchange, Subject], bool]:
    """Calls whose argument the schema forbids for that reason."""
    return lambda exchange, subject: is_object(exchange) and schema_faults(exchange).get(subject["argument"]) in kinds


def optional_faults(exchange: Exchange) -> list[str]:
    """Why the schema forbids the optional arguments of a call."""
    return [fault for name, fault in schema_faults(exchange).items() if name not in required(exchange)]


def has_null_option(exchange: Exchange) -> bool:
    return fate(exchange) == "either" and "null" in optional_faults(exchange)


@remembered
def broken_rules(exchange: Exchange) -> frozenset[Refusal]:
    """The rules that forbid a call, if nothing else does."""
    if not is_call(exchange) or fate(exchange) != "either" or exchange.gemini != "present":
        return frozenset()
    given = [(name, exchange.arguments[name]) for name in declared(exchange) if name in exchange.arguments]
    return frozenset(rule for name, value in given for rule in refusals(name, value, exchange.spec.invocation))


def breaks_rule(exchange: Exchange, subject: Subject) -> bool:
    """Calls that the subject's rule forbids, and nothing else."""
    return any(rule.name == subject["refusal"] for rule in broken_rules(exchange))


def has_control_character(exchange: Exchange, subject: Subject) -> bool:
    """Calls with a control character other than NUL, which another requirement is about."""
    return breaks_rule(exchange, subject) and not any("\0" in text for text in texts_in(exchange.arguments))


def is_refused(exchange: Exchange) -> Complaints:
    """A call that cannot be served is answered with an error, and gemini does not run."""
    asked = shown(exchange.arguments)
    if exchange.runs:
        yield f"The port ran gemini {argv_shown(exchange.runs[0])} for {asked}, and should refuse the call."
    elif not was_due(exchange):
        raise CouldNotRun("The call was cancelled, or the port ended, before the port had to answer.")
    elif not exchange.is_error:
        yield f"{reply(exchange, asked)}, and should refuse the call."


@check("arguments:{argument}:missing", judges=has_fault("missing"))
@check("arguments:{argument}:null", judges=has_fault("null"))
@check("arguments:{argument}:type", judges=has_fault("type"))
@check("arguments:{argument}:value", judges=has_fault("value"))
def forbidden_argument_is_refused(exchange: Exchange) -> Complaints:
    return is_refused(exchange)


check("arguments:optional:type", judges=lambda exchange: "type" in optional_faults(exchange))(is_refused)
check("arguments:optional:null", judges=has_null_option)(is_refused)


@check("arguments:control", judges=has_control_character)
@check("arguments:surrogate", "prompt:empty", "prompt:over-limit", "arguments:refused:{refusal}", judges=breaks_rule)
def forbidden_text_is_refused(exchange: Exchange) -> Complaints:
    return is_refused(exchange)


def is_refused_call(exchange: Exchange) -> bool:
    """Calls that must not reach gemini; one of an unknown tool that succeeds is no refused call."""
    return refused(exchange) and (is_call(exchange) or not exchange.is_success)


@check("arguments:refused:not-started", judges=is_refused_call, any_outcome=True, about="served")
def refused_call_starts_nothing(exchange: Exchange) -> Complaints:
    for run in exchange.all_runs:
        yield f"The port started gemini {argv_shown(run)} for {shown(exchange.arguments)}, and should not."


def is_refused_for_argument(exchange: Exchange) -> bool:
    """Calls that were answered with an error, as their arguments demand, or for characters that ports may refuse."""
    if not (is_call(exchange) and is_object(exchange) and exchange.is_error):
        return False
    is_told = exchange.result is not None and not exchange.all_runs
    return bool(faults(exchange)) or (is_told and any(rule.pattern is not None for rule in broken_rules(exchange)))


def error_text(exchange: Exchange) -> str:
    """The text of an error, be it a result or a JSON-RPC error."""
    return exchange.text or str(inside(exchange.error, "message") or "")


@check("arguments:refused:is-error", judges=is_refused_for_argument, about="reason")
def refusal_names_the_argument(exchange: Exchange) -> Complaints:
    doubtful = [name for name in declared(exchange) if name in exchange.arguments and name not in settled(exchange)]
    # Of several faults a port may name any, also one for which another port would not refuse the call.
    culprits, text = dict.fromkeys((*faults(exchange), *doubtful)), exchange.text or ""
    if exchange.result is None:
        yield f"The port answered {shown(exchange.answer)}, and should answer with `isError`."
    elif must_name_argument(exchange) and not any(name in text for name in culprits):
        yield f"The port says {shown(text)}, and should name {' or '.join(f'`{name}`' for name in culprits)}."


def must_name_argument(exchange: Exchange) -> bool:
    """Whether the specification names the argument in the error; its sentence for a directory may not.

    A port may find first that no command line can hold an argument.
    """
    if is_too_long(exchange):
        return False
    if faults(exchange) != (exchange.spec.directory(exchange.tool),):
        return True
    said = [each.text for each in exchange.spec.outcome.sentences if "{cwd}" in each.text]
    return all("{argument}" in text or faults(exchange)[0] in text for text in said)


def is_too_long(exchange: Exchange) -> bool:
    """Whether an argument other than the prompt is longer than one of a command line can be on some systems."""
    spoken = {*exchange.spec.spoken(exchange.tool)} - {exchange.spec.prompt(exchange.tool)}
    return any(size(text) > SHORT_ENOUGH for name in spoken for text in texts_in(exchange.arguments.get(name)))


@check("arguments:refused:prefix", judges=is_refused_for_argument, about="prefix")
def refusal_begins_as_every_error(exchange: Exchange) -> Complaints:
    text, prefix = error_text(exchange), exchange.spec.outcome.prefix
    if not text.startswith(prefix):
        yield f"The port's error reads {shown(text)}, and should begin with {shown(prefix)}."


def unknown(exchange: Exchange) -> list[str]:
    """The arguments that the tool does not declare."""
    return [name for name in exchange.arguments if name not in declared(exchange)]


def is_unforced_by_unknown(exchange: Exchange) -> bool:
    """Calls that a port may refuse only because of undeclared arguments: all others have ordinary short texts."""
    names = [name for name in declared(exchange) if name != exchange.spec.directory(exchange.tool)]
    known = [exchange.arguments[name] for name in names if name in exchange.arguments]
    plain = all(re.fullmatch(r"\w[^\x00-\x1f\x7f-\uffff]{0,200}", text) for text in texts_in(known))
    others = exchange.arguments.keys() - unknown(exchange)
    return is_unforced(exchange) and plain and bool(unknown(exchange)) and settled(exchange).issuperset(others)


@check("arguments:unknown", judges=is_unforced_by_unknown, about="command")
def unknown_argument_is_ignored(exchange: Exchange) -> Complaints:
    return served_without(exchange, unknown(exchange))


def served_without(exchange: Exchange, names: Collection[str]) -> Complaints:
    """What shows that the call was not served as if these arguments had not been given."""
    if not exchange.runs:
        given = ", ".join(f"`{name}`" for name in names)
        yield f"{reply(exchange, f'a call with {given}')}, and should serve the call as if without."
    for run in exchange.runs:
        yield from altered(exchange, run)


def is_empty(exchange: Exchange, subject: Subject) -> bool:
    """Calls in which only this argument lets a port choose, because its value counts as absent."""
    name, spec = subject["argument"], exchange.spec.invocation
    text = text_of(exchange, name) if name in declared(exchange) else None
    if text is None or not is_absent(name, text, spec) or refusals(name, text, spec):
        return False
    others = {key: value for key, value in exchange.arguments.items() if key != name}
    usual = all(text.strip() for text in texts_in(others)) and settled(exchange).issuperset(others)
    return usual and not schema_faults(exchange) and is_unforced(exchange)


@check("arguments:empty:{argument}", judges=is_empty, about="command")
def empty_argument_is_none(exchange: Exchange, subject: Subject) -> Complaints:
    return served_without(exchange, [subject["argument"]])


def is_empty_directory(exchange: Exchange, subject: Subject) -> bool:
    return subject["argument"] == exchange.spec.directory(exchange.tool) and is_empty(exchange, subject)


@check("arguments:empty:{argument}", judges=is_empty_directory, about="directory")
def empty_directory_is_the_ports(exchange: Exchange, subject: Subject) -> Complaints:
    work = exchange.place.work
    for run in exchange.runs:
        if run.call.cwd != work:
            asked = f"an empty `{subject['argument']}`"
            yield f"The port ran gemini in {run.call.cwd!r} for {asked}, and should run it in {work!r}."


def is_empty_file(exchange: Exchange, subject: Subject) -> bool:
    return subject["argument"] in exchange.spec.files(exchange.tool) and is_empty(exchange, subject)


@check("arguments:empty:{argument}", judges=is_empty_file, about="file")
def empty_file_is_none(exchange: Exchange, subject: Subject) -> Complaints:
    variable = exchange.spec.files(exchange.tool)[subject["argument"]]
    for run in exchange.runs:
        if variable in run.call.given:
            path = run.call.given[variable].path
            asked = f"an empty `{subject['argument']}`"
            yield f"The port gave gemini the file {path!r} for {asked}, and should give it none."


def has_nul(exchange: Exchange) -> bool:
    known = [exchange.arguments[name] for name in declared(exchange) if name in exchange.arguments]
    return fate(exchange) == "either" and was_due(exchange) and any("\0" in text for text in texts_in(known))


@check("arguments:nul", judges=has_nul, about="command")
def nul_is_kept_or_refused(exchange: Exchange) -> Complaints:
    if not exchange.runs and not exchange.is_error:
        yield f"{reply(exchange, 'a NUL')}, and should keep it or refuse the call."
    for run in exchange.runs[:1]:
        yield from altered_by_nul(exchange, run)


def altered_by_nul(exchange: Exchange, run: Run) -> Complaints:
    """What gemini was given otherwise than it should be: files, the directory, and the command line."""
    call = specified(exchange)
    assert call is not None
    for variable, text in call.files.items():
        found = run.call.given[variable].content if variable in run.call.given else None
        if found != text.encode("utf-8", "replace"):
            held = "nothing" if found is None else bytes_shown(found)
            yield f"The port gave gemini {held} in the file that {variable} names, and should give it {shown(text)}."
    if call.cwd is not None and "\0" in call.cwd:
        yield f"The port ran gemini in {run.call.cwd!r} for {shown(call.cwd)}, and should not run it at all."
    yield from altered(exchange, run)
