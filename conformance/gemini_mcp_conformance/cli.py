"""The command `gemini-mcp-conformance`: arguments in, an exit code out. Edge."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from gemini_mcp import spec
from gemini_mcp_conformance import cases, checks, conversations, registry, report
from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.fake import Fake
from gemini_mcp_conformance.progress import Progress
from gemini_mcp_conformance.reports import Context, Destination, destination, write
from gemini_mcp_conformance.run import Options, run
from gemini_mcp_conformance.target import Target, environment, make_place

REFERENCE = (sys.executable, "-m", "gemini_mcp.cli")
INTERRUPTED = 130


def main() -> None:
    """Run the command and leave with its exit code."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    sys.exit(start(sys.argv[1:]))


def start(arguments: Sequence[str]) -> int:
    """Do what the arguments say."""
    own, command = _split(arguments)
    given = _parser().parse_args(own)
    try:
        return COMMANDS[given.command](given, command)
    except UsageError as error:
        print(f"gemini-mcp-conformance: {error}", file=sys.stderr)
        return report.USAGE
    except spec.SpecError as error:
        print(f"gemini-mcp-conformance: {error}", file=sys.stderr)
        return report.USAGE if getattr(given, "spec", None) else report.OUR_FAULT
    except KeyboardInterrupt:
        return INTERRUPTED


def _split(arguments: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """What is ours, and the port's command behind `--`."""
    words = list(arguments)
    at = words.index("--") if "--" in words else len(words)
    return words[:at], tuple(words[at + 1 :])


def _run(given: argparse.Namespace, command: tuple[str, ...]) -> int:
    destinations = [destination(text) for text in given.report]
    options = _options(given, command)
    found = run(options)
    return _told(found, options, given, destinations)


def _smoke(given: argparse.Namespace, command: tuple[str, ...]) -> int:
    options = _options(given, command)
    every = conversations.gather(conversations.read(options.spec))
    found = run(options, [each for each in every if each.id in ("tools", "case-chat", "case-tool-spec-chat")])
    judged = tuple(judgement for judgement in found.judgements if judgement.verdict != "could-not-run")
    return _told(report.narrowed(found, judged), options, given, [])


def _replay(given: argparse.Namespace, command: tuple[str, ...]) -> int:
    options = _options(given, command)
    found = run(options, [cases.load(given.case)])
    judged = tuple(judgement for judgement in found.judgements if judgement.verdict != "could-not-run")
    return _told(report.narrowed(found, judged), options, given, [])


def _list(given: argparse.Namespace, command: tuple[str, ...]) -> int:
    checks.load()
    for requirement in spec.load_requirements(given.spec):
        names = ", ".join(check.name for check in registry.checks_of(requirement.id)) or "-"
        if requirement.profile == "server":
            print(f"{requirement.id:36} {requirement.level:6} {names}")
    return report.CONFORMS


def _explain(given: argparse.Namespace, command: tuple[str, ...]) -> int:
    checks.load()
    found = [each for each in spec.load_requirements(given.spec) if each.id == given.id]
    if not found:
        raise UsageError(f"There is no requirement {given.id!r}. `gemini-mcp-conformance list` shows their ids.")
    requirement = found[0]
    every = conversations.gather(conversations.read(given.spec))
    shown = [each.title for each in every if requirement.id in each.requirements]
    source = ", ".join(requirement.source[key] for key in requirement.source if key != "kind")
    print(f"{requirement.id}  {requirement.level}, since {requirement.since}\n  {requirement.sentence}")
    print(f"  source   {source}")
    for check in registry.checks_of(requirement.id):
        print(f"  check    {check.name}: {check.sentence}")
    for title in shown[:3]:
        print(f"  example  {title}")
    return report.CONFORMS


def _fake(given: argparse.Namespace, command: tuple[str, ...]) -> int:
    """The environment in which a server must run that the suite does not start."""
    folder = Path(given.folder)
    place = make_place(folder / "port")
    fake = Fake.create(folder / "fake")
    changed = environment(Target(), place, fake)
    for name in ("PATH", "HOME", "TMPDIR"):
        print(f"export {name}='{changed[name]}'")
    print(f"cd '{place.work}'")
    return report.CONFORMS


def _told(found: report.Report, options: Options, given: argparse.Namespace, to: Sequence[Destination]) -> int:
    """Write every report, and the terminal's unless it shall be quiet."""
    requirements = (options.spec or spec.default_root()) / "requirements.json"
    color = given.color == "always" or (given.color == "auto" and sys.stdout.isatty() and "NO_COLOR" not in os.environ)
    context = Context(requirements.read_text(encoding="utf-8"), color, given.verbose)
    for each in ([] if given.quiet else [Destination("terminal", None)]) + list(to):
        write(found, context, each)
    return found.exit


def _options(given: argparse.Namespace, command: tuple[str, ...]) -> Options:
    if given.url and command:
        raise UsageError("Both --url and a command are given. Name one port.")
    target = Target(
        command=() if given.url else command or REFERENCE,
        url=given.url,
        fake=given.fake,
        env=_variables(given.env),
        keep_home=given.keep_home,
        revision=None if given.protocol == "auto" else given.protocol,
    )
    return Options(
        target=target,
        only=tuple(given.only),
        skip=tuple(given.skip),
        strict=given.strict,
        fail_fast=given.fail_fast,
        examples=given.examples,
        seed=given.seed,
        budget=given.budget,
        jobs=given.jobs,
        spec=given.spec,
        told=Progress(sys.stderr, not given.quiet),
    )


def _variables(given: Sequence[str]) -> Mapping[str, str]:
    pairs = [text.partition("=") for text in given]
    wrong = [name for name, equals, _ in pairs if not name or not equals]
    if wrong:
        raise UsageError(f"--env {wrong[0]} has no value. Write --env NAME=VALUE.")
    return {name: value for name, _, value in pairs}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gemini-mcp-conformance", description="Tells any port, in any language, whether it conforms."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, purpose in (("run", "test a port"), ("smoke", "see whether a port starts and answers")):
        _port_options(commands.add_parser(name, help=purpose))
    replay = commands.add_parser("replay", help="play one recorded conversation again")
    replay.add_argument("case", metavar="CASE")
    _port_options(replay)
    listing = commands.add_parser("list", help="show the requirements and their checks")
    explain = commands.add_parser("explain", help="show all about one requirement")
    explain.add_argument("id", metavar="ID")
    for sub in (listing, explain):
        sub.add_argument("--spec", type=Path)
    fake = commands.add_parser("fake", help="write the fake gemini for a server that the suite does not start")
    fake.add_argument("folder", metavar="DIR")
    return parser


def _port_options(parser: argparse.ArgumentParser) -> None:
    parser.usage = f"{parser.prog} [OPTIONS] -- CMD ARGS…"
    revisions = spec.load_manifest()
    protocols = ("auto", *revisions.handshake_revisions, *revisions.stateless_revisions)
    parser.add_argument("--url")
    parser.add_argument("--fake", type=Path, metavar="DIR")
    parser.add_argument("--only", action="append", default=[], metavar="GLOB")
    parser.add_argument("--skip", action="append", default=[], metavar="GLOB")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--fail-fast", action="store_true")
    parser.add_argument("--examples", type=int, default=100, metavar="N")
    parser.add_argument("--seed", type=int, metavar="N")
    parser.add_argument("--budget", type=float, metavar="SECONDS")
    parser.add_argument("--report", action="append", default=[], metavar="FORMAT=PATH")
    parser.add_argument("--env", action="append", default=[], metavar="K=V")
    parser.add_argument("--protocol", choices=protocols, default="auto")
    parser.add_argument("--jobs", type=int, default=4, metavar="N")
    parser.add_argument("--keep-home", action="store_true")
    parser.add_argument("--spec", type=Path, metavar="DIR")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--verbose", action="store_true")


COMMANDS: Mapping[str, Callable[[argparse.Namespace, tuple[str, ...]], int]] = {
    "run": _run,
    "smoke": _smoke,
    "replay": _replay,
    "list": _list,
    "explain": _explain,
    "fake": _fake,
}

if __name__ == "__main__":
    main()
