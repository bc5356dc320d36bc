"""The steps of `action.yml`: inputs from the environment in, one command each out. Effects: it runs these commands.

No input reaches a shell: each is one argument of a command, and `cmd` is split by the rules of a shell, not by one.
"""

import io
import json
import os
import shlex
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping
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
    spec, old, reports = given("SPEC"), given("SPEC_OLD"), folder_of_reports()
    strict = ["--strict"] if given("STRICT") == "true" else []
    impact = [f"--impact={report}" for line in given("IMPACT").splitlines() if (report := line.strip())]
    lint = written(reports, "lint", {"markdown": "md", "json": "json", "sarif": "sarif"})
    diff = written(reports, "diff", {"markdown": "md", "json": "json", "sarif": "sarif", "comment": "comment.md"})
    linted = subprocess.run(["gemini-mcp-spec", "lint", "--format=github", *lint, "--", spec], check=False)
    words = ["--format=github", *diff, *strict, *impact, "--", old, spec]
    compared = subprocess.run(["gemini-mcp-spec", "diff", *words], check=False)
    for page in ("lint.md", "diff.md"):
        append("GITHUB_STEP_SUMMARY", read(reports / page) + "\n")
    hand_on_changes(reports)
    return max(linted.returncode, compared.returncode)


def written(reports: Path, name: str, formats: Mapping[str, str]) -> list[str]:
    """The options that write a report in each format, with its ending."""
    return [f"--report={form}={reports / name}.{ending}" for form, ending in formats.items()]


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def hand_on_changes(reports: Path) -> None:
    """Give the breaks, the version that is needed and the file of the comment to later steps."""
    try:
        found = json.loads(read(reports / "diff.json"))
        breaks = [one for one in found["changes"] if one["verdict"].startswith("breaking") and not one["approved"]]
    except (KeyError, ValueError):
        return
    comment = reports / "diff.comment.md"
    append("GITHUB_OUTPUT", f"breaking={len(breaks)}\nneeded={found['needed']}\ncomment={comment}\n")


def impact() -> int:
    """Run the suite of both specifications on every port, and name the ones that the change breaks."""
    reports = folder_of_reports()
    page = reports / "impact.md"
    strict = ["--strict"] if given("STRICT") == "true" else []
    options = [f"--report=markdown={page}", f"--report=html={reports / 'impact.html'}", *strict]
    with tempfile.TemporaryDirectory() as folder:
        try:
            specs = [directory(given(name), Path(folder) / name) for name in ("SPEC_OLD", "SPEC")]
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            print(f"A specification cannot be read: {error}.", file=sys.stderr)
            return 2
        words = [*options, *map(os.path.abspath, (*specs, given("PORTS")))]
        ended = subprocess.run(["gemini-mcp-conformance", "impact", *words], check=False)
    if page.exists():
        append("GITHUB_STEP_SUMMARY", page.read_text(encoding="utf-8"))
    return ended.returncode


def directory(name: str, into: Path) -> Path:
    """Where the specification of a directory lies; that of a wheel or a git ref is written `into` a directory first."""
    path = Path(name)
    if path.is_dir():
        return path if (path / "manifest.json").exists() else path / "spec"
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            wheel.extractall(into)
        return into / "gemini_mcp/_spec"
    tree = git("rev-parse", "--verify", "--quiet", "--end-of-options", name if ":" in name else f"{name}:spec")
    with tarfile.open(fileobj=io.BytesIO(git("archive", "--format=tar", tree.decode().strip()))) as tar:
        tar.extractall(into, filter="data")
    return into


def git(*words: str) -> bytes:
    """What git says at the top of the repository, of which `archive` gives the whole only there."""
    top = subprocess.run(["git", "rev-parse", "--show-cdup"], check=True, stdout=subprocess.PIPE, encoding="utf-8")
    return subprocess.run(["git", *words], check=True, stdout=subprocess.PIPE, cwd=top.stdout.strip() or None).stdout


def folder_of_reports() -> Path:
    reports = Path(given("REPORT_DIR") or "gemini-mcp-report")
    reports.mkdir(parents=True, exist_ok=True)
    return reports


def run() -> int:
    """Run the suite and hand its score on."""
    reports = folder_of_reports()
    kinds = {"json": "report.json", "junit": "report.xml", "sarif": "report.sarif", "html": "report.html"}
    options = [f"--report={kind}={reports / name}" for kind, name in kinds.items()]
    options += [f"--report=markdown={reports / 'report.md'}", "--report=github=-"]
    options += [f"--{name}={value}" for name in ("baseline", "source", "url", "fake") if (value := given(name.upper()))]
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
    sys.exit({"gate": gate, "impact": impact, "run": run}[sys.argv[1]]())
