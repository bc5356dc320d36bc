"""The subcommands that tell of the specification: `list` and `explain`. Edge."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from pathlib import Path

from gemini_mcp.spec import Requirement, load_requirements
from gemini_mcp_conformance import host
from gemini_mcp_conformance.command.words import Commands, subcommand
from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.judge import checks, registry
from gemini_mcp_conformance.talk import sources as conversations
from gemini_mcp_conformance.tell import mutants, report

LIST = """Show every requirement, its level and the checks that decide it.

examples:
  gemini-mcp-conformance list
  gemini-mcp-conformance list --direction host
"""
EXPLAIN = """Show all about one requirement: its sentence, source, checks, examples, and faults that only it finds.

example:
  gemini-mcp-conformance explain tools:schema
"""
SHOWN = 3
"""Examples of a requirement."""


def add(commands: Commands) -> None:
    """Their parsers."""
    listing = subcommand(commands, "list", "list [OPTIONS]", LIST, _list)
    listing.add_argument("--direction", choices=("server", "host"), default="server", help="whose requirements")
    explain = subcommand(commands, "explain", "explain [OPTIONS] ID", EXPLAIN, _explain)
    explain.add_argument("id", metavar="ID", help="a requirement's id, as `list` shows it")
    for parser in (listing, explain):
        parser.add_argument("--spec", type=Path, metavar="DIR", help="another specification than the shipped one")


def _list(given: argparse.Namespace, command: tuple[str, ...]) -> int:
    chosen = [each for each in load_requirements(given.spec) if each.profile == given.direction]
    names = _host_checks(given.spec) if given.direction == "host" else _server_checks(chosen)
    for requirement in chosen:
        print(f"{requirement.id:36} {requirement.level:6} {_few(names.get(requirement.id, ()))}")
    return report.CONFORMS


def _explain(given: argparse.Namespace, command: tuple[str, ...]) -> int:
    found = [each for each in load_requirements(given.spec) if each.id == given.id]
    if not found:
        raise UsageError(f"There is no requirement {given.id!r}. `gemini-mcp-conformance list` shows their ids.")
    (requirement,) = found
    source = ", ".join(requirement.source[key] for key in requirement.source if key != "kind")
    print(f"{requirement.id}  {requirement.level}, since {requirement.since}\n  {requirement.sentence}")
    print(f"  source   {source}")
    if requirement.excluded:
        print(f"  excluded {requirement.excluded}")
    for line in (
        _host_lines(requirement, given.spec) if requirement.profile == "host" else _lines(requirement, given.spec)
    ):
        print(f"  {line}")
    return report.CONFORMS


def _lines(requirement: Requirement, spec: Path | None) -> Iterable[str]:
    checks.load()
    for check in registry.checks_of(requirement.id):
        yield f"check    {check.name}: {check.sentence}"
    every = conversations.gather(conversations.read(spec))
    shown = [conversation for conversation in every if requirement.id in conversation.requirements]
    for conversation in shown[:SHOWN]:
        yield f"example  {conversation.id}: {conversation.title}"
    for mutant in mutants.killed_only_by(requirement.id):
        yield f"only it  {mutant.name}: {mutant.sentence}"


def _host_lines(requirement: Requirement, spec: Path | None) -> Iterable[str]:
    names = _host_checks(spec).get(requirement.id, ())
    yield from (f"check    {name}" for name in names[:SHOWN])
    if len(names) > SHOWN:
        yield f"         and {len(names) - SHOWN} more"


def _server_checks(chosen: Iterable[Requirement]) -> Mapping[str, tuple[str, ...]]:
    checks.load()
    return {each.id: tuple(check.name for check in registry.checks_of(each.id)) for each in chosen}


def _host_checks(spec: Path | None) -> Mapping[str, tuple[str, ...]]:
    """The checks of either profile."""
    specification = host.load(spec)
    found: dict[str, dict[str, None]] = {}
    for profile in host.PROFILES:
        for check in host.checks(specification, profile, host.Options()):
            for requirement in check.requirements:
                found.setdefault(requirement, {})[check.name] = None
    return {requirement: tuple(names) for requirement, names in found.items()}


def _few(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return (", ".join(names[:SHOWN]) or "-") + more
