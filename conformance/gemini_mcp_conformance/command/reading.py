"""The subcommands that show the specification: `list`, `explain` and `coverage`. Edge."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import fill, wrap

from gemini_mcp.spec import Requirement, load_requirements
from gemini_mcp_conformance.command.words import Commands, subcommand
from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.host import run as host_run
from gemini_mcp_conformance.judge import checks
from gemini_mcp_conformance.judge.check import Check
from gemini_mcp_conformance.judge.registry import checks_for
from gemini_mcp_conformance.run.selection import LISTED, meant
from gemini_mcp_conformance.talk import sources as conversations
from gemini_mcp_conformance.talk.sources import combinations
from gemini_mcp_conformance.tell import coverage_page, mutants, report
from gemini_mcp_conformance.tell.reports.terminal import WIDTH

LIST = """Show every requirement, its level and the checks that decide it.

examples:
  gemini-mcp-conformance list
  gemini-mcp-conformance list --sentences
  gemini-mcp-conformance list --direction host
"""
EXPLAIN = """Explain one requirement: its sentence, source, checks and examples, and the defects that only it finds.

example:
  gemini-mcp-conformance explain tools:schema
"""
COVERAGE = """Show what the calls of a run cover: in what they differ, and how much of what can meet does meet.
Then how many ports with one fault each are found; the page counts them by requirement.

examples:
  gemini-mcp-conformance coverage
  gemini-mcp-conformance coverage --thorough --markdown
"""
INDENT = 4
"""Blanks before the names of checks that do not fit beside their requirement."""
SHOWN = 3
"""How many checks and examples of a requirement are shown."""


def add(commands: Commands) -> None:
    """Their parsers."""
    listing = subcommand(commands, "list", "list [OPTIONS]", LIST, _list)
    listing.add_argument("-v", "--sentences", action="store_true", help="also show the sentence of each")
    listing.add_argument("--direction", choices=("server", "host"), default="server", help="whose requirements")
    explain = subcommand(commands, "explain", "explain [OPTIONS] ID", EXPLAIN, _explain)
    explain.add_argument("id", metavar="ID", help="a requirement's id, as `list` shows it")
    covering = subcommand(commands, "coverage", "coverage [OPTIONS]", COVERAGE, _coverage)
    covering.add_argument("--thorough", action="store_true", help="what a thorough run covers")
    covering.add_argument("--markdown", action="store_true", help="as a page, with every value")
    for parser in (listing, explain, covering):
        parser.add_argument("--spec", type=Path, metavar="DIR", help="another specification than the shipped one")


def _list(given: argparse.Namespace, command: tuple[str, ...]) -> int:
    chosen = [each for each in load_requirements(given.spec) if each.profile == given.direction]
    found = _checks(given.direction, given.spec)
    for requirement in chosen:
        names = tuple(dict.fromkeys(check.name for check in found.get(requirement.id, ())))
        print(_row(f"{requirement.id:36} {requirement.level:6}", _few(names)))
        if given.sentences:
            print(
                fill(requirement.sentence, WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
            )
    return report.CONFORMS


def _row(head: str, names: str) -> str:
    """One line, or the names below it where they would not fit."""
    below = " " * INDENT
    if len(line := f"{head} {names}") <= WIDTH:
        return line
    return "\n".join([head.rstrip(), fill(names, WIDTH, initial_indent=below, subsequent_indent=below)])


def _explain(given: argparse.Namespace, command: tuple[str, ...]) -> int:
    found = [each for each in load_requirements(given.spec) if each.id == given.id]
    if not found:
        known = [each.id for each in load_requirements(given.spec)]
        raise UsageError(f"There is no requirement {given.id!r}.{meant(given.id, known)} {LISTED}")
    (requirement,) = found
    source = ", ".join(requirement.source[key] for key in requirement.source if key != "kind")
    print(f"{requirement.id}  {requirement.level}, since {requirement.since}\n{_wrapped(requirement.sentence, '  ')}")
    print(_wrapped(f"source   {source}"))
    if requirement.excluded:
        print(_wrapped(f"excluded {requirement.excluded}"))
    for line in _lines(requirement, given.spec):
        print(_wrapped(line))
    return report.CONFORMS


def _wrapped(text: str, further: str = " " * 11) -> str:
    return fill(text, WIDTH, initial_indent="  ", subsequent_indent=further, break_on_hyphens=False)


def _coverage(given: argparse.Namespace, command: tuple[str, ...]) -> int:
    sources = conversations.read(given.spec, thorough=given.thorough)
    coverage = combinations.coverage(sources)
    if given.markdown:
        asked = [each for each in load_requirements(given.spec) if each.profile == "server"]
        dimensions = combinations.dimensions_of_tools(sources)
        print(coverage_page.page(dimensions, coverage, asked, mutants.mutants()), end="")
        return report.CONFORMS
    for covered in coverage:
        print("\n".join(wrap(str(covered), WIDTH, subsequent_indent="  ", break_on_hyphens=False)))
        print("\n".join(f"  never: {reason}" for reason in covered.never))
    score = mutants.score()
    print(f"faults: {score.killed:,} of {score.total:,} ports with one fault each are found")
    return report.CONFORMS


def _lines(requirement: Requirement, spec: Path | None) -> Iterable[str]:
    found = _checks(requirement.profile, spec).get(requirement.id, ())
    yield from (f"check    {check.name}: {check.sentence}" for check in found[:SHOWN])
    if len(found) > SHOWN:
        yield f"         and {len(found) - SHOWN} more"
    if requirement.profile == "host":
        return
    every = conversations.gather(conversations.read(spec))
    shown = [conversation for conversation in every if requirement.id in conversation.requirements]
    for conversation in shown[:SHOWN]:
        yield f"example  {conversation.id}: {conversation.title}"
    for mutant in mutants.killed_only_by(requirement.id):
        yield f"only it  {mutant.name}: {mutant.sentence}"


def _checks(profile: str, spec: Path | None) -> Mapping[str, Sequence[Check]]:
    """The checks of servers or of hosts, by requirement."""
    checks.load()
    found: dict[str, list[Check]] = {}
    for check in host_run.checks(spec) if profile == "host" else checks_for(load_requirements(spec)):
        found.setdefault(check.requirement, []).append(check)
    return found


def _few(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return (", ".join(names[:SHOWN]) or "-") + more
