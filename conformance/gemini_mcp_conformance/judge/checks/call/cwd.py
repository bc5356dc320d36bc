"""Where gemini runs."""

from __future__ import annotations

import json
import re
from functools import reduce
from urllib.parse import quote

from gemini_mcp.spec.values import texts_in
from gemini_mcp_conformance.judge.check import Complaints
from gemini_mcp_conformance.judge.checks.call.arguments import error_text, is_refused
from gemini_mcp_conformance.judge.expectation import all_settled, fate, faults, heard, is_call, schema_faults
from gemini_mcp_conformance.judge.registry import check, check_all
from gemini_mcp_conformance.judge.selectors import Predicate, gives, is_played, reaches, was_due
from gemini_mcp_conformance.see.observation import Exchange, Observation
from gemini_mcp_conformance.see.witness import shown
from gemini_mcp_conformance.spec.specification import Heard

PLAIN = re.compile(r"[\w ./$&%{}-]+")
"""Paths that are written the same in any quotes, letters beyond ASCII aside."""


def argument(exchange: Exchange) -> str:
    """The argument that names the directory, for a tool that has one."""
    return exchange.spec.directory(exchange.tool) or ""


def path_of(exchange: Exchange) -> str:
    return str(exchange.arguments[argument(exchange)])


def runs_in(exchange: Exchange, expected: str) -> Complaints:
    """A complaint about a run in another directory."""
    asked = exchange.arguments.get(argument(exchange))
    what = "a call without a directory" if asked is None else f"the directory {shown(asked)}"
    if not exchange.runs:
        yield f"The port did not run gemini for {what}, and should run it in {expected!r}."
    for run in exchange.runs:
        if run.call.cwd != expected:
            yield f"The port ran gemini in {run.call.cwd!r} for {what}, and should run it in {expected!r}."


def names(*kinds: str) -> Predicate:
    """Calls whose directory is of one of these kinds."""
    return lambda exchange: is_call(exchange) and exchange.cwd in kinds


def names_existing(exchange: Exchange) -> bool:
    """Calls that reach gemini and name an existing directory by an absolute path."""
    return names("absolute")(exchange) and reaches(exchange, argument(exchange))


@check("cwd:used", "cwd:{tool}", judges=names_existing, about="directory")
def gemini_runs_in_the_named_directory(exchange: Exchange) -> Complaints:
    return runs_in(exchange, exchange.directory)


def names_none(exchange: Exchange) -> bool:
    return is_call(exchange) and not gives(exchange, argument(exchange)) and reaches(exchange)


@check("cwd:default", judges=names_none, about="directory")
def gemini_runs_where_the_port_does(exchange: Exchange) -> Complaints:
    return runs_in(exchange, exchange.place.work)


def may_run(exchange: Exchange) -> bool:
    """Calls with a relative path that have run, or that nothing else lets a port refuse."""
    if not names("relative")(exchange):
        return False
    is_chosen = is_played(exchange) and exchange.gemini == "present" and fate(exchange) == "either"
    is_plain = all(text.isprintable() and text.strip() for text in texts_in(list(exchange.arguments.values())))
    is_served = is_plain and all_settled(exchange) and isinstance(heard(exchange), Heard)
    return is_chosen and was_due(exchange) and (is_served or bool(exchange.runs))


@check("cwd:relative", judges=may_run, about="directory")
def relative_directory_is_below_the_ports(exchange: Exchange) -> Complaints:
    return runs_in(exchange, exchange.directory)


check("cwd:missing", judges=names("missing", "nowhere"))(is_refused)
check("cwd:file", judges=names("file"))(is_refused)


def is_plainly_refused(exchange: Exchange) -> bool:
    """Calls that were answered with an error, and for no other reason than their directory."""
    wrong = exchange.cwd in ("missing", "file") and faults(exchange) == (argument(exchange),) and exchange.is_error
    is_alone = not schema_faults(exchange) and all_settled(exchange)
    return wrong and is_alone and bool(PLAIN.fullmatch(path_of(exchange)))


@check("cwd:reason", judges=is_plainly_refused, about="reason")
def error_names_the_path(exchange: Exchange) -> Complaints:
    if without_path(exchange) == error_text(exchange):
        yield f"The port says {shown(error_text(exchange))}, and should name the path {path_of(exchange)!r}."


def without_path(exchange: Exchange) -> str:
    """What the port said, the path itself left out: as it is, in the ASCII of JSON, or as in an address."""
    path = path_of(exchange)
    forms = (path, json.dumps(path)[1:-1], quote(path))
    return reduce(lambda text, form: text.replace(form, ""), forms, error_text(exchange))


def reasons(observation: Observation, kind: str) -> set[str]:
    """What the port said of such a directory, the path itself left out."""
    wrong = [exchange for exchange in observation.calls if exchange.cwd == kind and is_plainly_refused(exchange)]
    return {without_path(exchange) for exchange in wrong}


@check_all("cwd:reason", judges=lambda seen: bool(reasons(seen, "missing") and reasons(seen, "file")), about="reason")
def error_tells_missing_from_no_directory(observation: Observation) -> Complaints:
    for text in sorted(reasons(observation, "missing") & reasons(observation, "file")):
        yield f"The port says {shown(text)} of a missing path and of a file, and should say what is wrong with each."
