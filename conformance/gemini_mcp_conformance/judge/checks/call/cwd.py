"""Where gemini runs."""

from __future__ import annotations

import os
import re

from gemini_mcp.spec.families import Subject
from gemini_mcp.spec.values import texts_in
from gemini_mcp_conformance.judge.checks.call.arguments import is_refused, said
from gemini_mcp_conformance.judge.expectation import fate, faults, is_call, settled
from gemini_mcp_conformance.judge.registry import check, check_all
from gemini_mcp_conformance.judge.selectors import Predicate, gives, is_played, of_tool, reaches
from gemini_mcp_conformance.see.observation import Exchange, Observation
from gemini_mcp_conformance.tell.witness import shown

PLAIN = re.compile(r"[\w./-]+", re.ASCII)
"""Paths that are written the same in any quotes."""


def argument(exchange: Exchange) -> str:
    """The argument that names the directory, for a tool that has one."""
    return exchange.spec.directory(exchange.tool or "") or ""


def path_of(exchange: Exchange) -> str:
    return str(exchange.arguments[argument(exchange)])


def runs_in(exchange: Exchange, expected: str) -> list[str]:
    """A complaint about a run in another directory."""
    asked = shown(exchange.arguments.get(argument(exchange)))
    found = [run.call.cwd for run in exchange.runs if run.call.cwd != expected]
    if not exchange.runs:
        return [f"The port did not run gemini for the directory {asked}, and should run it there."]
    return [f"For the directory {asked} gemini runs in {cwd!r}, and should run in {expected!r}." for cwd in found[:1]]


def names(kind: str) -> Predicate:
    """Calls whose directory is of that kind."""
    return lambda exchange: is_call(exchange) and exchange.cwd == kind


def goes(exchange: Exchange) -> bool:
    """Calls that reach gemini and name an existing directory by an absolute path."""
    return names("absolute")(exchange) and reaches(exchange, argument(exchange))


@check("cwd:used", judges=goes, about="directory")
def gemini_runs_in_the_named_directory(exchange: Exchange) -> list[str]:
    return runs_in(exchange, os.path.normpath(path_of(exchange)))


@check("cwd:{tool}", judges=lambda exchange, subject: of_tool(exchange, subject) and goes(exchange), about="directory")
def resuming_gemini_runs_in_the_named_directory(exchange: Exchange, subject: Subject) -> list[str]:
    return gemini_runs_in_the_named_directory(exchange)


def has_none(exchange: Exchange) -> bool:
    return is_call(exchange) and not gives(exchange, argument(exchange)) and reaches(exchange)


@check("cwd:default", judges=has_none, about="directory")
def gemini_runs_where_the_port_does(exchange: Exchange) -> list[str]:
    return runs_in(exchange, exchange.place.work)


@check("cwd:relative", judges=lambda exchange: names("relative")(exchange) and may_run(exchange), about="directory")
def relative_directory_is_below_the_ports(exchange: Exchange) -> list[str]:
    return runs_in(exchange, os.path.normpath(os.path.join(exchange.place.work, path_of(exchange))))


def may_run(exchange: Exchange) -> bool:
    """Whether nothing else than its directory lets a port refuse the call."""
    plain = all(text.isprintable() and text.strip() for text in texts_in(list(exchange.arguments.values())))
    is_free = settled(exchange).issuperset(exchange.arguments.keys() - {argument(exchange)})
    return plain and is_free and is_played(exchange) and exchange.gemini == "present" and fate(exchange) == "either"


check("cwd:missing", judges=names("missing"))(is_refused)
check("cwd:file", judges=names("file"))(is_refused)


def is_plainly_refused(exchange: Exchange) -> bool:
    wrong = exchange.cwd in ("missing", "file") and faults(exchange) == (argument(exchange),) and exchange.is_error
    return wrong and settled(exchange).issuperset(exchange.arguments) and bool(PLAIN.fullmatch(path_of(exchange)))


@check("cwd:reason", judges=is_plainly_refused)
def error_names_the_path(exchange: Exchange) -> list[str]:
    cwd, text = path_of(exchange), said(exchange)
    return [] if cwd in text else [f"The port says {shown(text)}, and should name the path {cwd!r}."]


def refusals(observation: Observation, kind: str) -> list[str]:
    """What the port said of such a directory, the path itself left out."""
    wrong = [exchange for exchange in observation.calls if exchange.cwd == kind and is_plainly_refused(exchange)]
    return [said(exchange).replace(path_of(exchange), "") for exchange in wrong]


@check_all("cwd:reason", judges=lambda seen: bool(refusals(seen, "missing") and refusals(seen, "file")))
def error_tells_missing_from_no_directory(observation: Observation) -> list[str]:
    same = set(refusals(observation, "missing")) & set(refusals(observation, "file"))
    return [
        f"The port says {shown(text)} of a path that does not exist and of a file, and should differ." for text in same
    ]
