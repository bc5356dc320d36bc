"""Puts every vector to the published Gemini CLI: each answer is the expected one, or the observed one. Effect.

usage: check_real_host.py FOLDER      packages are installed below FOLDER once (Node 20, about 600 MB) and kept

Exit 0 when every answer agrees, 1 when one does not, 3 when the packages cannot be installed.
"""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gemini_mcp.spec import load_documents
from gemini_mcp_conformance.host import vectors
from gemini_mcp_conformance.host.asking import Adapter
from gemini_mcp_conformance.host.questions import Questions, findings, together
from gemini_mcp_conformance.judge.finding import Finding

HERE = Path(__file__).resolve().parent
CORE = "@google/gemini-cli-core"
CLI = "@google/gemini-cli"
PACKAGES: dict[str, dict[str, Any]] = {
    "documented": {
        "dependencies": {CORE: "0.1.18", CLI: "0.1.19"},
        "overrides": {"@modelcontextprotocol/sdk": "1.15.1", "shell-quote": "1.8.3"},
    },
    "current": {
        "dependencies": {CORE: "0.61.0", CLI: "0.61.0"},
        "overrides": {"@modelcontextprotocol/sdk": "1.23.0"},
    },
}

PROGRAMS = ("bundle/gemini.js", "dist/index.js")
"""Where a version of the CLI has its program."""


def main(arguments: Sequence[str]) -> int:
    """Check both profiles."""
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(arguments[0]).resolve()
    codes = [check(profile, folder / profile) for profile in PACKAGES]
    return max(codes)


def check(profile: str, folder: Path) -> int:
    """Check one profile on the packages in its folder."""
    if not installed(profile, folder):
        print(f"{profile}: the packages could not be installed into {folder}", file=sys.stderr)
        return 3
    with adapter_environment(folder):
        checks = vectors.checks(load_documents("host/vectors"), allow_observed=True)
        with Adapter(["node", str(HERE / "gemini-cli-core.mjs")]) as adapter:
            questions = Questions(adapter.ask, profile)
            found = [findings(alike, questions)[0] for alike in together(checks, questions)]
    return report(profile, found)


def installed(profile: str, folder: Path) -> bool:
    """Install the packages unless they are there."""
    if all((folder / "node_modules" / name / "package.json").exists() for name in (CORE, CLI)):
        return True
    if shutil.which("npm") is None:
        return False
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text(json.dumps({"private": True, **PACKAGES[profile]}), encoding="utf-8")
    command = ["npm", "install", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund"]
    return subprocess.run(command, cwd=folder, check=False, timeout=900).returncode == 0


@contextmanager
def adapter_environment(folder: Path) -> Generator[None]:
    """The environment in which the adapter finds the packages."""
    modules = folder / "node_modules"
    program = next(file for name in PROGRAMS if (file := modules / CLI / name).exists())
    named = {"CORE": str(modules / CORE), "GEMINI": str(program)}
    before = {name: os.environ.get(name) for name in named}
    os.environ.update(named)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def report(profile: str, found: Sequence[Finding]) -> int:
    """Say what agrees and what does not."""
    counts = Counter(finding.outcome for finding in found)
    print(f"{profile}: {counts['pass']} agree, {counts['fail']} differ, {counts['could-not-run']} not supported")
    for finding in found:
        if finding.outcome == "fail":
            print(f"  {finding.check}: {finding.message}")
    return 1 if counts["fail"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
