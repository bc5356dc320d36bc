"""Run: options in, a Report out, by way of pytest on the conversations. Effects; what lies about is kept out.

The steps of a run are here in their order; each is a module of its own.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from gemini_mcp.spec import Requirement, load_manifest, load_requirements
from gemini_mcp_conformance import cases, checks, conversations, report, session_tests
from gemini_mcp_conformance.bench import Bench
from gemini_mcp_conformance.conversation import Conversation
from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.judging import Finding, judge_death
from gemini_mcp_conformance.observation import Exchange
from gemini_mcp_conformance.plugin import Gathering, Plugin, Told
from gemini_mcp_conformance.registry import checks as registered
from gemini_mcp_conformance.report import Command, Identity, Judgement, Report, Url
from gemini_mcp_conformance.target import Target
from gemini_mcp_conformance.values import inside
from gemini_mcp_conformance.verdict import Circumstances, decide

ABSENT = {
    "stdio": {"http": "The port was tested over stdio."},
    "http": {"stdio": "The port was tested over HTTP.", "shutdown": "The suite did not start the port."},
}


@dataclass(frozen=True)
class Options:
    """What a run is asked for."""

    target: Target
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    strict: bool = False
    fail_fast: bool = False
    examples: int = 100
    seed: int | None = None
    budget: float | None = None
    jobs: int = 4
    spec: Path | None = None
    told: Told = field(default=lambda conversation, number, count: None)


def run(options: Options, chosen: Sequence[Conversation] | None = None) -> Report:
    """Play the conversations, those of every source unless some are given, and judge."""
    checks.load()
    selected = select(load_requirements(options.spec), options)
    ids = {requirement.id for requirement in selected}
    every = chosen
    if every is None:
        sources = conversations.read(options.spec, options.examples, options.seed)
        every = useful(conversations.gather(sources), options, ids)
    levels = {requirement.id: requirement.level for requirement in selected}
    with Bench(options.target, load_manifest(options.spec).stateless_revisions) as bench:
        gathering = Gathering(
            bench=bench,
            conversations=every,
            checks=[check for check in registered() if check.requirement in ids],
            jobs=options.jobs,
            budget=options.budget,
            fatal=lambda finding: _is_fatal(finding, levels, options.strict),
            told=options.told,
        )
        code = pytest_run(gathering, options.fail_fast)
    if code == pytest.ExitCode.INTERRUPTED and gathering.unreachable is None and gathering.cut is None:
        raise KeyboardInterrupt
    for conversation, how in bench.deaths:
        gathering.findings += [finding for finding in judge_death(conversation, how) if finding.requirement in ids]
    for conversation in {finding.conversation for finding in gathering.findings if finding.outcome == "fail"}:
        cases.store(gathering.observations[conversation])
    return to_report(options, selected, gathering, early=options.fail_fast and code != 0)


def select(requirements: Sequence[Requirement], options: Options) -> tuple[Requirement, ...]:
    """The requirements that the run is about; UsageError when there are none."""
    chosen = tuple(
        requirement
        for requirement in requirements
        if requirement.profile == "server"
        and (not options.only or _fits(requirement.id, options.only))
        and not _fits(requirement.id, options.skip)
    )
    if not chosen:
        raise UsageError("No requirement is selected. `gemini-mcp-conformance list` shows their ids.")
    return chosen


def useful(every: Sequence[Conversation], options: Options, ids: set[str]) -> tuple[Conversation, ...]:
    """The conversations that can show a selected requirement; all of them when some requirement names none."""
    if not options.only:
        return tuple(every)
    shown = {id for conversation in every for id in conversation.requirements}
    if not ids <= shown:
        return tuple(every)
    return tuple(conversation for conversation in every if ids.intersection(conversation.requirements))


def pytest_run(gathering: Gathering, fail_fast: bool) -> int:
    """Run pytest on the gathering and on nothing else; its exit code."""
    package = Path(session_tests.__file__)
    arguments = [str(package), "-c", os.devnull, "--rootdir", str(package.parent), "--noconftest", "-s"]
    arguments += ["--import-mode=importlib", "--assert=plain", "-o", "asyncio_default_fixture_loop_scope=session"]
    for name in ("no:cacheprovider", "no:terminal", "no:warnings", "no:logging", "pytest_asyncio.plugin"):
        arguments += ["-p", name]
    with isolated():
        return int(pytest.main([*arguments, *(["-x"] if fail_fast else [])], plugins=[Plugin(gathering)]))


@contextlib.contextmanager
def isolated() -> Generator[None]:
    """Without the variables by which a directory or a user could change what pytest does."""
    hostile = {name: os.environ.pop(name) for name in tuple(os.environ) if name.startswith(("PYTEST_", "PY_COLORS"))}
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    try:
        yield
    finally:
        del os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]
        os.environ.update(hostile)


def to_report(options: Options, selected: Sequence[Requirement], gathering: Gathering, early: bool) -> Report:
    """What the gathering has found, as a report."""
    transport = options.target.transport
    checked = frozenset(check.requirement for check in registered())
    cut = gathering.unreachable or gathering.cut or ("The run ended at the first failure." if early else None)
    circumstances = Circumstances(options.target, checked, ABSENT[transport], cut)
    judgements = decide(selected, gathering.findings, circumstances)
    return Report(
        spec_version=load_manifest(options.spec).version,
        suite_version=suite_version(),
        target=Url(options.target.url) if options.target.url else Command(options.target.command),
        port=_identity(gathering.greeting),
        profile="server",
        protocol=_protocol(gathering.greeting),
        seed=options.seed,
        strict=options.strict,
        exit=exit_code(judgements, gathering, options.strict),
        judgements=judgements,
        notes=tuple(f"The suite failed in {fault}" for fault in gathering.faults),
    )


def exit_code(judgements: Sequence[Judgement], gathering: Gathering, strict: bool) -> int:
    """Of all that applies, the first of: our own fault, no answer, does not conform, incomplete."""
    code = report.exit_code(judgements, strict)
    if gathering.faults or code == report.OUR_FAULT:
        return report.OUR_FAULT
    if gathering.unreachable is not None:
        return report.NO_ANSWER
    return report.INCOMPLETE if code == report.CONFORMS and gathering.cut is not None else code


def suite_version() -> str:
    """The version of the distribution, or of a checkout that is not installed."""
    try:
        return version("gemini-mcp-server")
    except PackageNotFoundError:
        return "1.0.0"


def _fits(id: str, globs: Sequence[str]) -> bool:
    return any(fnmatchcase(id, glob) for glob in globs)


def _is_fatal(finding: Finding, levels: dict[str, str], strict: bool) -> bool:
    return finding.outcome == "fail" and (strict or levels[finding.requirement] == "MUST")


def _identity(greeting: Exchange | None) -> Identity | None:
    result = greeting.result if greeting else None
    info = inside(result, "serverInfo") or inside(result, "_meta", "io.modelcontextprotocol/serverInfo")
    name, number = inside(info, "name"), inside(info, "version")
    return Identity(name, number) if isinstance(name, str) and isinstance(number, str) else None


def _protocol(greeting: Exchange | None) -> str | None:
    spoken = inside(greeting.result if greeting else None, "protocolVersion")
    return spoken if isinstance(spoken, str) else greeting.revision if greeting else None
