"""Where gemini runs."""

from __future__ import annotations

import os
import re

from gemini_mcp_conformance.judge.checks.arguments import is_refused, said
from gemini_mcp_conformance.judge.expectation import fate, faults, is_settled
from gemini_mcp_conformance.judge.registry import check, check_all
from gemini_mcp_conformance.judge.selectors import Predicate, calls, is_played, reaching
from gemini_mcp_conformance.see.observation import Exchange, Observation
from gemini_mcp_conformance.tell.witness import shown

PLAIN = re.compile(r"[\w./-]+", re.ASCII)
"""Paths that are written the same in any quotes."""


def runs_in(exchange: Exchange, expected: str) -> list[str]:
    """A complaint about a run in another directory."""
    asked = shown(exchange.arguments.get("cwd"))
    found = [run.call.cwd for run in exchange.runs if run.call.cwd != expected]
    if not exchange.runs:
        return [f"The port did not run gemini for the `cwd` {asked}, and should run it there."]
    return [f"For the `cwd` {asked} gemini runs in {cwd!r}, and should run in {expected!r}." for cwd in found[:1]]


def names(tool: str | None, kind: str) -> Predicate:
    called = calls(tool)
    return lambda exchange: called(exchange) and exchange.cwd == kind


def goes(tool: str | None) -> Predicate:
    """Calls that reach gemini and name an existing directory by an absolute path."""
    named, reached = names(tool, "absolute"), reaching(tool, "cwd")
    return lambda exchange: named(exchange) and reached(exchange)


@check("cwd:used", judges=goes(None))
@check("cwd:chat-reply", judges=goes("chat-reply"))
def gemini_runs_in_the_named_directory(exchange: Exchange) -> list[str]:
    return runs_in(exchange, os.path.normpath(exchange.arguments["cwd"]))


@check("cwd:default", judges=reaching(without=("cwd",)))
def gemini_runs_where_the_port_does(exchange: Exchange) -> list[str]:
    return runs_in(exchange, exchange.place.work)


@check("cwd:relative", judges=lambda exchange: names(None, "relative")(exchange) and may_run(exchange))
def relative_directory_is_below_the_ports(exchange: Exchange) -> list[str]:
    return runs_in(exchange, os.path.normpath(os.path.join(exchange.place.work, exchange.arguments["cwd"])))


def may_run(exchange: Exchange) -> bool:
    """Whether nothing else than its directory lets a port refuse the call."""
    plain = all(
        isinstance(value, str) and value.isprintable() and value.strip() for value in exchange.arguments.values()
    )
    return plain and is_played(exchange) and exchange.gemini == "present" and fate(exchange) == "either"


@check("cwd:missing", judges=names(None, "missing"))
@check("cwd:file", judges=names(None, "file"))
def wrong_directory_is_refused(exchange: Exchange) -> list[str]:
    return is_refused(exchange)


def is_plainly_refused(exchange: Exchange) -> bool:
    wrong = calls()(exchange) and faults(exchange) == ("cwd",) and exchange.is_error
    usual = all(is_settled(name, value) for name, value in exchange.arguments.items())
    return wrong and usual and PLAIN.fullmatch(exchange.arguments["cwd"]) is not None


@check("cwd:reason", judges=is_plainly_refused)
def error_names_the_path(exchange: Exchange) -> list[str]:
    cwd, text = exchange.arguments["cwd"], said(exchange)
    return [] if cwd in text else [f"The port says {shown(text)}, and should name the path {cwd!r}."]


def refusals(observation: Observation, kind: str) -> list[str]:
    """What the port said of such a directory, the path itself left out."""
    wrong = [exchange for exchange in observation.calls if exchange.cwd == kind and is_plainly_refused(exchange)]
    return [said(exchange).replace(exchange.arguments["cwd"], "") for exchange in wrong]


@check_all("cwd:reason", judges=lambda seen: bool(refusals(seen, "missing") and refusals(seen, "file")))
def error_tells_missing_from_no_directory(observation: Observation) -> list[str]:
    same = set(refusals(observation, "missing")) & set(refusals(observation, "file"))
    return [
        f"The port says {shown(text)} of a path that does not exist and of a file, and should differ." for text in same
    ]
