"""Compares servers side by side in one run: a rival's command in, a table out. Edge.

`python benchmarks/compare.py [--rival 'CMD' [--rival-call JSON]] [--runs N] [--json]`
"""

import argparse
import json
import os
import shlex
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.play.fake.fake import Fake
from measures import PLAIN, Bench, Subject
from table import medians, table

CHAT: Json = {"name": "chat", "arguments": {"prompt": "hello"}}
BARE = Path(__file__).with_name("bare_server.py")


def main() -> None:
    """Measure what the arguments ask for, and show it."""
    arguments = _parser().parse_args()
    subjects = _subjects(arguments.rival, arguments.rival_call)
    with tempfile.TemporaryDirectory() as folder, Fake.create(Path(folder)) as fake:
        samples = Bench(subjects, fake, _environ(), arguments.runs).measure()
    names = [subjects[0].name, subjects[1].name, PLAIN, *(subject.name for subject in subjects[2:])]
    print(json.dumps(medians(samples), indent=2) if arguments.json else table(samples, names))


def _environ() -> Mapping[str, str]:
    """An installed package has its bytecode; a checkout shall not be compiled anew at each start."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Compare the server with others, in one run.")
    parser.add_argument("--rival", metavar="CMD", help="the command of another server on stdio")
    parser.add_argument(
        "--rival-call",
        metavar="JSON",
        type=json.loads,
        default=CHAT,
        help='what it is asked: {"name": …, "arguments": …}',
    )
    parser.add_argument("--runs", metavar="N", type=int, default=5, help="samples of each row but the calls' 50")
    parser.add_argument("--json", action="store_true", help="print medians as JSON")
    return parser


def _subjects(rival: str | None, rival_call: Json) -> Sequence[Subject]:
    subjects = [Subject("ours", ours(), CHAT), Subject("bare", (sys.executable, str(BARE)), CHAT)]
    return [*subjects, Subject("rival", shlex.split(rival), rival_call)] if rival else subjects


def ours() -> Sequence[str]:
    """The command of our server."""
    script = Path(sys.executable).with_name("gemini-mcp-server")
    return (str(script),) if script.exists() else (sys.executable, "-m", "gemini_mcp.cli")


if __name__ == "__main__":
    main()
