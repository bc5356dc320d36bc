"""Checks that a call can succeed: options in, a table on stdout and an exit code out. Edge.

Another thing that goes wrong for people is another check: a function that gives a `Finding`. None of them sends a
prompt.
"""

import asyncio
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import reduce
from pathlib import Path

from gemini_mcp.call import temporary
from gemini_mcp.call.outcome import Completed, NotStarted
from gemini_mcp.call.paths import find_program
from gemini_mcp.call.process import Command, Limits, run
from gemini_mcp.host import jsonc
from gemini_mcp.operator.options import Options
from gemini_mcp.spec import load_server
from gemini_mcp.spec.values import Json

PATIENCE = 20.0
"""Seconds that a program may take to tell its version."""

OLDEST_NODE = 20
TRUST_SINCE = (0, 41)
RETENTION_SINCE = (0, 33)

KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA")


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at; `action` is what to do about it, also where a warning is all there is."""

    name: str
    is_fine: bool
    seen: str
    action: str | None = None


@dataclass(frozen=True)
class Surroundings:
    """What the checks look at."""

    options: Options
    environ: Mapping[str, str]
    settings: Json
    """The user's settings of gemini; an empty object when there are none, the reason as a text when they are broken."""

    gemini: str | NotStarted
    version_text: str | None

    @property
    def home(self) -> Path:
        return Path(self.environ.get("GEMINI_CLI_HOME") or self.environ.get("HOME") or "/") / ".gemini"

    @property
    def version(self) -> tuple[int, ...]:
        """The version of gemini, to compare with; the newest there can be when it is not known."""
        return tuple(int(number) for number in re.findall(r"\d+", self.version_text or "")[:3]) or (sys.maxsize,)

    def setting(self, path: str) -> Json:
        """One setting, such as `general.sessionRetention.enabled`; None when it is not set."""
        return reduce(_member, path.split("."), self.settings)


def show(options: Options) -> int:
    """Print what was found; 0 when a call can succeed, else 1."""
    environ = options.environment(os.environ)
    gemini = find_program(options.gemini or load_server().invocation.program, environ)
    version = None if isinstance(gemini, NotStarted) else _version(gemini, environ)
    place = Surroundings(options, environ, {}, gemini, version)
    place = replace(place, settings=_settings(place.home / "settings.json"))
    findings = [check(place) for check in CHECKS]
    is_fine = all(finding.is_fine for finding in findings)
    print(_as_json(findings, is_fine) if options.json else _as_table(findings))
    return 0 if is_fine else 1


def check_gemini(place: Surroundings) -> Finding:
    """Is gemini there, and which?"""
    if isinstance(place.gemini, NotStarted):
        where = place.gemini.fields.get("where") or place.gemini.fields["program"]
        action = "Install it with `npm install -g @google/gemini-cli`, or pass --gemini PATH."
        return Finding("gemini", False, f"{place.gemini.condition} {where}", action)
    if place.version_text is None:
        action = "Run `gemini --version` and see what it says."
        return Finding("gemini", False, f"{place.gemini} does not tell its version", action)
    return Finding("gemini", True, f"{place.version_text} at {place.gemini}")


def check_node(place: Surroundings) -> Finding:
    """Is there a Node that gemini can run on?"""
    program = find_program("node", place.environ)
    version = None if isinstance(program, NotStarted) else _version(program, place.environ)
    number = re.match(r"v?(\d+)", version or "")
    is_fine = number is not None and int(number[1]) >= OLDEST_NODE
    return Finding(
        "node", is_fine, version or "not found on PATH", None if is_fine else f"Install Node {OLDEST_NODE} or newer."
    )


def check_settings(place: Surroundings) -> Finding:
    """Can the user's settings be read?"""
    path = place.home / "settings.json"
    if isinstance(place.settings, str):
        return Finding(
            "settings", False, f"{path}: {place.settings}", "Correct the file; gemini ends with exit code 52."
        )
    return Finding("settings", True, str(path) if place.settings else "none, which is fine")


def check_sign_in(place: Surroundings) -> Finding:
    """Has the user chosen how to sign in?"""
    chosen = place.setting("security.auth.selectedType")
    named = [key for key in KEYS if place.environ.get(key)]
    if named or chosen or (place.home / "oauth_creds.json").is_file():
        return Finding("sign-in", True, ", ".join(named) or str(chosen or "an earlier sign-in"))
    return Finding("sign-in", False, "nothing", "Set GEMINI_API_KEY, or run `gemini` once in a terminal and sign in.")


def check_trust(place: Surroundings) -> Finding:
    """Will gemini work in this directory?"""
    directory = os.getcwd()
    if place.environ.get("GEMINI_CLI_TRUST_WORKSPACE") == "true":
        return Finding(
            "trust", True, "every directory is trusted", "Its settings and .env act; leave it off for strangers' code."
        )
    if place.setting("security.folderTrust.enabled") is False:
        return Finding("trust", True, "folder trust is switched off")
    path = place.environ.get("GEMINI_CLI_TRUSTED_FOLDERS_PATH") or place.home / "trustedFolders.json"
    if any(directory == folder or directory.startswith(f"{folder}/") for folder in _trusted(_settings(Path(path)))):
        return Finding("trust", True, f"{directory} is trusted")
    if place.version < TRUST_SINCE:
        return Finding("trust", True, "this version of gemini works in any directory")
    action = "Run `gemini` here once and trust it, or start the server with --trust-workspace (exit code 55)."
    return Finding("trust", False, f"{directory} is not trusted", action)


def check_retention(place: Surroundings) -> Finding:
    """Will sessions still be there when they are resumed?"""
    if place.setting("general.sessionRetention.enabled") is False:
        return Finding("sessions", True, "kept")
    if place.version < RETENTION_SINCE:
        return Finding("sessions", True, "kept by this version of gemini")
    setting = '{"general": {"sessionRetention": {"enabled": false}}}'
    action = f"gemini may delete a session after it was resumed. To keep them, put {setting} into its settings."
    return Finding("sessions", True, "retention is on", action)


def check_temporary(place: Surroundings) -> Finding:
    """Can a system prompt be handed over?"""
    try:
        with temporary.files({"test": ""}, load_server().invocation.temporary):
            return Finding("temporary files", True, tempfile.gettempdir())
    except OSError as error:
        return Finding(
            "temporary files", False, error.strerror or str(error), "Set TMPDIR to a directory you may write."
        )


CHECKS: tuple[Callable[[Surroundings], Finding], ...] = (
    check_gemini,
    check_node,
    check_settings,
    check_sign_in,
    check_trust,
    check_retention,
    check_temporary,
)


def _version(program: str, environ: Mapping[str, str]) -> str | None:
    command = Command((program, "--version"), os.getcwd(), environ)
    outcome = asyncio.run(run(command, Limits(PATIENCE, lambda: 1.0)))
    return outcome.stdout.strip() or None if isinstance(outcome, Completed) and outcome.exit == 0 else None


def _settings(path: Path) -> Json:
    try:
        return jsonc.read(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        return str(error)


def _trusted(folders: Json) -> list[str]:
    levels: Mapping[str, Json] = folders if _is_object(folders) else {}
    return [folder.rstrip("/") for folder, level in levels.items() if level == "TRUST_FOLDER"]


def _member(value: Json, key: str) -> Json:
    return value.get(key) if _is_object(value) else None


def _is_object(value: Json) -> bool:
    return isinstance(value, dict)


def _as_json(findings: list[Finding], is_fine: bool) -> str:
    return json.dumps(
        {"ok": is_fine, "checks": [asdict(finding) for finding in findings]}, indent=2, ensure_ascii=False
    )


def _as_table(findings: list[Finding]) -> str:
    width = max(len(finding.name) for finding in findings)
    lines: list[str] = []
    for finding in findings:
        lines.append(f"{'✓' if finding.is_fine else '✗'} {finding.name:<{width}}  {finding.seen}")
        lines += [f"  {'':<{width}}  → {finding.action}"] if finding.action else []
    return "\n".join(lines)
