"""The steps of `action.yml`: inputs from the environment in, one command each out. Effects: it runs these commands.

No input reaches a shell: each is one argument of a command, and `cmd` is split by the rules of a shell, not by one.
"""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path


def given(name: str) -> str:
    return os.environ.get(name, "").strip()


def append(variable: str, text: str) -> None:
    """Add to one of the files that GitHub reads; on other machines there is none."""
    if path := os.environ.get(variable):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)


def gate() -> int:
    """Lint the specification and compare it with the old one; the worse exit code counts."""
    spec, old = given("SPEC"), given("SPEC_OLD")
    strict = ["--strict"] if given("STRICT") == "true" else []
    impact = [f"--impact={report}" for line in given("IMPACT").splitlines() if (report := line.strip())]
    linted = subprocess.run(["gemini-mcp-spec", "lint", "--format=github", "--", spec], check=False)
    compared = subprocess.run(
        ["gemini-mcp-spec", "diff", "--format=github", *strict, *impact, "--", old, spec], check=False
    )
    page = subprocess.run(
        ["gemini-mcp-spec", "diff", "--format=markdown", *impact, "--", old, spec],
        check=False,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    append("GITHUB_STEP_SUMMARY", page.stdout)
    return max(linted.returncode, compared.returncode)


def run() -> int:
    """Run the suite and hand its score on."""
    reports = Path(given("REPORT_DIR") or "gemini-mcp-report")
    reports.mkdir(parents=True, exist_ok=True)
    kinds = {"json": "report.json", "junit": "report.xml", "sarif": "report.sarif", "html": "report.html"}
    options = [f"--report={kind}={reports / name}" for kind, name in kinds.items()]
    options += [f"--report=markdown={reports / 'report.md'}", "--report=github=-"]
    options += [f"--{name}={value}" for name in ("baseline", "url", "fake") if (value := given(name.upper()))]
    options += ["--strict"] if given("STRICT") == "true" else []
    command = shlex.split(given("CMD"))
    ended = subprocess.run(
        ["gemini-mcp-conformance", "run", *options, *(["--", *command] if command else [])], check=False
    )
    hand_on(reports)
    return ended.returncode


def hand_on(reports: Path) -> None:
    """Give the score and the failed ids to later steps, and the page to the summary."""
    try:
        report = json.loads((reports / "report.json").read_text(encoding="utf-8"))
        append("GITHUB_STEP_SUMMARY", (reports / "report.md").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    must = report["score"]["must"]
    failed = " ".join(entry["id"] for entry in report["requirements"] if entry["verdict"] == "fail")
    append("GITHUB_OUTPUT", f"score={must['passed']}/{must['applicable']}\nfailed={failed}\n")


if __name__ == "__main__":
    sys.exit({"gate": gate, "run": run}[sys.argv[1]]())
