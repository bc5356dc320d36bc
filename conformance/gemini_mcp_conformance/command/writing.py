"""The subcommands that write files: `fake` and `init`. Edge."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from gemini_mcp_conformance.command import init
from gemini_mcp_conformance.command.installing import installed, release
from gemini_mcp_conformance.command.words import Commands, subcommand
from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.play.fake.fake import Fake
from gemini_mcp_conformance.play.target import INHERITED, Target
from gemini_mcp_conformance.play.workplace import FAKE, PORT, environment, make_place
from gemini_mcp_conformance.tell import report
from gemini_mcp_conformance.version import suite_version

FAKE_TEXT = """Write a fake gemini for a port that you start yourself, and print the environment for that port.

Start the port in a shell that has read the printed lines, and leave it running. Then test it with --url
and --fake DIR.

example:
  gemini-mcp-conformance fake /tmp/fake-gemini > environment
  (. ./environment && exec /path/to/my-port --http 8000) &
  gemini-mcp-conformance run --url http://127.0.0.1:8000/mcp --fake /tmp/fake-gemini
"""
INIT = """Write a GitHub workflow that tests a port on every change, and an empty baseline.

example:
  gemini-mcp-conformance init -- node dist/server.js
"""
EXPORTED = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", *INHERITED)


def add(commands: Commands) -> None:
    """Their parsers."""
    fake = subcommand(commands, "fake", "fake DIR", FAKE_TEXT, _fake)
    fake.add_argument(
        "folder", type=Path, metavar="DIR", help="a directory for the fake; it is created if it does not exist"
    )
    begin = subcommand(commands, "init", "init [OPTIONS] -- CMD ARGS...", INIT, _init)
    begin.add_argument("--into", type=Path, default=Path(), metavar="DIR", help="the port's repository (default: .)")
    begin.add_argument(
        "--install", metavar="REQUIREMENT", help="what pip installs there (default: what this suite was installed from)"
    )
    begin.add_argument("--force", action="store_true", help="overwrite existing files")


def _fake(given: argparse.Namespace, command: tuple[str, ...]) -> int:
    try:
        place = make_place(given.folder / PORT)
        fake = Fake.create(given.folder / FAKE)
    except OSError as error:
        raise UsageError(f"The fake cannot be written into {str(given.folder)!r}: {error.strerror}.") from None
    changed = environment(Target(), place, fake)
    for name in EXPORTED:
        print(f"export {name}={shlex.quote(changed[name])}")
    print(f"cd {shlex.quote(place.work)}")
    return report.CONFORMS


def _init(given: argparse.Namespace, command: tuple[str, ...]) -> int:
    found = given.install or installed(suite_version())
    for path in init.write(given.into, init.files(command, found or release(suite_version())), given.force):
        print(path)
    if found is None:
        print("This suite was installed from a directory that the workflow does not have.")
        print(f"Unless the release {suite_version()} exists, name what it should install:")
        print("  --install REQUIREMENT --force")
    print("Commit both files. To list the failures that you know in the baseline, run:")
    known = given.into / init.BASELINE
    print(f"  gemini-mcp-conformance baseline update {shlex.quote(str(known))} -- {shlex.join(command)}")
    return report.CONFORMS
