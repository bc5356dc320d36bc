"""The subcommands that test one port: `run`, `smoke`, `replay` and `baseline update`. Edge."""

from __future__ import annotations

import argparse
import math
import os
import sys
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from gemini_mcp.spec import load_requirements
from gemini_mcp_conformance.command import options, places
from gemini_mcp_conformance.command.telling import tell
from gemini_mcp_conformance.command.words import (
    Commands,
    choice_options,
    end_options,
    output_options,
    port_options,
    subcommand,
    wait_option,
)
from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.host import run as host_run
from gemini_mcp_conformance.run import selection
from gemini_mcp_conformance.run.ending import Interrupted
from gemini_mcp_conformance.run.plan import gather
from gemini_mcp_conformance.run.progress import Progress
from gemini_mcp_conformance.run.run import run
from gemini_mcp_conformance.see.observation import Observation
from gemini_mcp_conformance.tell import baseline, replays, report, report_file
from gemini_mcp_conformance.tell.baseline import Baseline
from gemini_mcp_conformance.tell.report import Report
from gemini_mcp_conformance.tell.reports import Destination, destination, put
from gemini_mcp_conformance.tell.transcript import transcript

FIRST = ("tools", "case-chat", "case-tool-spec-chat")
"""The conversations that `smoke` plays."""

RUN = """Test a port and say which requirements it meets.

Without a command, the reference in the same environment is tested. With --url, --fake and a command, the
port at that address is tested, and its results are compared with those of the command.

exit codes:
  0 conforms     1 does not conform     2 wrong usage     3 incomplete
  4 the port never answered     5 the suite itself failed     130 interrupted

examples:
  gemini-mcp-conformance run -- node dist/server.js
  gemini-mcp-conformance run --only 'result:*' --report html=report.html -- ./my-port
  gemini-mcp-conformance run --url http://127.0.0.1:8000/mcp --fake /tmp/fake-gemini
  gemini-mcp-conformance run --url http://127.0.0.1:8000/mcp --fake /tmp/fake-gemini -- ./my-port
  gemini-mcp-conformance run --direction host -- node adapter.mjs
"""
SMOKE = """See whether a port starts, answers, lists the tools and serves a call.

Do this first. It takes a few seconds, and a port that fails here fails everywhere.

example:
  gemini-mcp-conformance smoke -- node dist/server.js
"""
REPLAY = """Play one conversation again, byte for byte, and judge it. With -v, show all that was said and played.

A run keeps every conversation that shows a failure, and prints the command that replays it. A run of
everything removes what earlier runs on the same port kept. If this port has no conversation of that name,
the newest one of another port is played. With --only, it is judged by these requirements alone.

examples:
  gemini-mcp-conformance replay case-chat -- node dist/server.js
  gemini-mcp-conformance replay case-chat --only command:chat -- node dist/server.js
"""
UPDATE = """List what a port does not meet yet. `run --baseline FILE` then ignores these failures, and no others.

The port is tested first, unless --from names a report. Reasons that are in FILE already are kept. Add
yours like this:

  {"known": [{"id": "lifecycle:ping", "reason": "The next release mends it."}]}

examples:
  gemini-mcp-conformance baseline update gemini-mcp-baseline.json -- node dist/server.js
  gemini-mcp-conformance baseline update gemini-mcp-baseline.json --from report.json
"""


def add(commands: Commands) -> None:
    """Their parsers."""
    full = subcommand(commands, "run", "run [OPTIONS] [-- CMD ARGS...]", RUN, _run)
    smoke = subcommand(commands, "smoke", "smoke [OPTIONS] [-- CMD ARGS...]", SMOKE, _smoke)
    replay = subcommand(commands, "replay", "replay [OPTIONS] NAME [-- CMD ARGS...]", REPLAY, _replay)
    replay.add_argument("name", metavar="NAME", help="the name of a kept conversation, or a file")
    known = commands.add_parser("baseline", help="Keep the list of known failures of a port: `baseline update`.")
    updates = known.add_subparsers(required=True, metavar="update")
    usage = "baseline update [OPTIONS] FILE [-- CMD ARGS...]"
    update = subcommand(updates, "update", usage, UPDATE, _update)
    update.add_argument("file", type=Path, metavar="FILE", help="the baseline; it is created if it does not exist")
    update.add_argument("--from", dest="found", type=Path, metavar="REPORT", help="a JSON report of `run`")
    for parser in (full, smoke, replay, update):
        parser.set_defaults(**options.DEFAULTS)
        port_options(parser)
    for parser in (full, smoke, replay):
        wait_option(parser)
    for parser in (full, update):
        choice_options(parser)
    replay.add_argument("--only", action="append", default=[], metavar="GLOB", help="judge these requirements only")
    end_options(full)
    for parser in (full, smoke, replay, update):
        output_options(parser)


def _run(given: argparse.Namespace, command: tuple[str, ...]) -> int:
    source = places.source(given.source, os.environ)
    destinations = [destination(text) for text in given.report]
    known = baseline.load(given.baseline) if given.baseline else Baseline("")
    ids = {requirement.id for requirement in load_requirements(given.spec)}
    try:
        found = _found(given, command, known)
    except Interrupted as interrupt:
        tell(baseline.apply(interrupt.report, known, ids), given, destinations, source=source)
        raise
    return tell(baseline.apply(found, known, ids), given, destinations, source=source)


def _smoke(given: argparse.Namespace, command: tuple[str, ...]) -> int:
    with _progress(given) as progress:
        asked = options.server(given, command, progress)
        found = run(asked, [conversation for conversation in gather(asked)[0] if conversation.id in FIRST])
    return tell(found, given, conforms="The port starts and answers. Now `run`.")


def _replay(given: argparse.Namespace, command: tuple[str, ...]) -> int:
    seen: list[Observation] = []
    with _progress(given) as progress:
        asked = replace(options.server(given, command, progress), on_played=seen.append)
        found = run(asked, [replays.load(given.name, asked.target)])
    code = tell(found, given, details=True)
    if given.verbose and not given.quiet:
        put("".join(f"\n{transcript(each)}" for each in seen), Destination("terminal", None))
    return code


def _update(given: argparse.Namespace, command: tuple[str, ...]) -> int:
    known = baseline.load(given.file) if given.file.exists() else Baseline(str(given.file))
    if given.found and (command or given.url):
        raise UsageError("Both --from and a port are given. Name one of them.")
    found = report_file.load(given.found) if given.found else _found(given, command, Baseline(""))
    updated = baseline.update(found, known)
    try:
        given.file.write_text(baseline.dump(updated), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"The baseline {str(given.file)!r} cannot be written: {error.strerror}.") from None
    if not given.quiet:
        count = len(updated.entries)
        print(f"{str(given.file)!r} lists {count} requirement{'' if count == 1 else 's'}.")
    return report.CONFORMS


def _found(given: argparse.Namespace, command: tuple[str, ...], known: Baseline) -> Report:
    ids = [entry.id for entry in known.entries]
    with _progress(given) as progress:
        is_host = given.direction == "host"
        asked = (options.host if is_host else options.server)(given, command, progress, ids)
        selection.check(asked.selection)
        return host_run.run(asked) if is_host else run(asked)


def _progress(given: argparse.Namespace) -> AbstractContextManager[Progress]:
    return Progress(sys.stderr, not given.quiet, getattr(given, "budget", math.inf)).beating()
