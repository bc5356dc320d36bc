"""Checks whether a call can succeed, and prints a table. Edge.

A new check is a function that gives a `Diagnosis`, and an entry of the table. No check sends a prompt.
"""

import asyncio
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from gemini_mcp.call import temporary
from gemini_mcp.call.outcome import Completed, NotStarted
from gemini_mcp.call.paths import find_program
from gemini_mcp.call.process import Command, Limits, run
from gemini_mcp.host.settings import jsonc
from gemini_mcp.operator.options import Options
from gemini_mcp.spec import load_server
from gemini_mcp.spec.values import Json, inside, table

PATIENCE = 20.0
"""Seconds that a program may take to tell its version."""

OLDEST_NODE = 20
TRUST_SINCE = (0, 41)
"""The first version of gemini that refuses to work in a directory that is not trusted."""

RETENTION_SINCE = (0, 33)
"""The first version of gemini that deletes old sessions."""

KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA")


@dataclass(frozen=True)
class Diagnosis:
    """What one check saw, and what to do about it; something fine can have an `action` too, which is then advice."""

    is_fine: bool
    seen: str
    action: str | None = None


@dataclass(frozen=True)
class Surroundings:
    """What the checks look at, each read once."""

    options: Options
    environ: Mapping[str, str]

    @cached_property
    def gemini(self) -> str | NotStarted:
        return find_program(self.options.gemini or load_server().invocation.program, self.environ)

    @cached_property
    def version_text(self) -> str | None:
        return None if isinstance(self.gemini, NotStarted) else _version(self.gemini, self.environ)

    @property
    def home(self) -> Path:
        return Path(self.environ.get("GEMINI_CLI_HOME") or self.environ.get("HOME") or "/") / ".gemini"

    @cached_property
    def settings(self) -> Json:
        """The user's settings of gemini: an object, empty without a file; or the reason why they cannot be read."""
        return _settings(self.home / "settings.json")

    @property
    def version(self) -> tuple[int, ...]:
        """The version of gemini as numbers; above all others when it is unknown."""
        return tuple(int(number) for number in re.findall(r"\d+", self.version_text or "")[:3]) or (sys.maxsize,)

    def setting(self, path: str) -> Json:
        """One setting, such as `general.sessionRetention.enabled`; None when it is not set."""
        return inside(self.settings, *path.split("."))


def show(options: Options) -> int:
    """Print the diagnoses; 0 when a call can succeed, else 1."""
    place = Surroundings(options, options.environment(os.environ))
    diagnoses = {name: check(place) for name, check in CHECKS.items()}
    is_fine = all(diagnosis.is_fine for diagnosis in diagnoses.values())
    print(_as_json(diagnoses, is_fine) if options.json else _as_table(diagnoses))
    return 0 if is_fine else 1


def check_gemini(place: Surroundings) -> Diagnosis:
    """Is gemini there, and which version?"""
    if isinstance(place.gemini, NotStarted):
        where = place.gemini.fields.get("where") or place.gemini.fields["program"]
        action = "Install it with `npm install -g @google/gemini-cli`, or pass --gemini PATH."
        return Diagnosis(False, f"{place.gemini.condition} {where}", action)
    if place.version_text is None:
        action = "Run `gemini --version` and see what it says."
        return Diagnosis(False, f"{place.gemini} does not tell its version", action)
    return Diagnosis(True, f"{place.version_text} at {place.gemini}")


def check_node(place: Surroundings) -> Diagnosis:
    """Is there a Node that gemini can run on?"""
    program = find_program("node", place.environ)
    version = None if isinstance(program, NotStarted) else _version(program, place.environ)
    number = re.match(r"v?(\d+)", version or "")
    is_fine = number is not None and int(number[1]) >= OLDEST_NODE
    action = None if is_fine else f"Install Node {OLDEST_NODE} or newer."
    return Diagnosis(is_fine, version or "not found on PATH", action)


def check_settings(place: Surroundings) -> Diagnosis:
    """Can the user's settings be read?"""
    path = place.home / "settings.json"
    if isinstance(place.settings, str):
        return Diagnosis(False, f"{path}: {place.settings}", "Correct the file; gemini ends with exit code 52.")
    return Diagnosis(True, str(path) if place.settings else "none, which is fine")


def check_sign_in(place: Surroundings) -> Diagnosis:
    """Has the user chosen how to sign in?"""
    chosen = place.setting("security.auth.selectedType")
    named = [key for key in KEYS if place.environ.get(key)]
    if named or chosen or (place.home / "oauth_creds.json").is_file():
        return Diagnosis(True, ", ".join(named) or str(chosen or "an earlier sign-in"))
    return Diagnosis(False, "nothing", "Set GEMINI_API_KEY, or run `gemini` once in a terminal and sign in.")


def check_trust(place: Surroundings) -> Diagnosis:
    """Will gemini work in this directory?"""
    directory = os.getcwd()
    if place.environ.get("GEMINI_CLI_TRUST_WORKSPACE") == "true":
        action = "Its settings and .env act; leave it off for strangers' code."
        return Diagnosis(True, "every directory is trusted", action)
    if place.setting("security.folderTrust.enabled") is False:
        return Diagnosis(True, "folder trust is switched off")
    path = place.environ.get("GEMINI_CLI_TRUSTED_FOLDERS_PATH") or place.home / "trustedFolders.json"
    if any(directory == folder or directory.startswith(f"{folder}/") for folder in _trusted(_settings(Path(path)))):
        return Diagnosis(True, f"{directory} is trusted")
    if place.version < TRUST_SINCE:
        return Diagnosis(True, "this version of gemini works in any directory")
    action = "Run `gemini` here once and trust it, or start the server with --trust-workspace (exit code 55)."
    return Diagnosis(False, f"{directory} is not trusted", action)


def check_retention(place: Surroundings) -> Diagnosis:
    """Will sessions still be there when they are resumed?"""
    if place.setting("general.sessionRetention.enabled") is False:
        return Diagnosis(True, "kept")
    if place.version < RETENTION_SINCE:
        return Diagnosis(True, "kept by this version of gemini")
    setting = '{"general": {"sessionRetention": {"enabled": false}}}'
    action = f"gemini may delete a session after it was resumed. To keep them, put {setting} into its settings."
    return Diagnosis(True, "retention is on", action)


def check_temporary(place: Surroundings) -> Diagnosis:
    """Can the file of a system prompt be written?"""
    try:
        with temporary.files({"test": ""}, load_server().invocation.temporary):
            return Diagnosis(True, tempfile.gettempdir())
    except OSError as error:
        return Diagnosis(False, error.strerror or str(error), "Set TMPDIR to a directory you may write.")


CHECKS: Mapping[str, Callable[[Surroundings], Diagnosis]] = {
    "gemini": check_gemini,
    "node": check_node,
    "settings": check_settings,
    "sign-in": check_sign_in,
    "trust": check_trust,
    "sessions": check_retention,
    "temporary files": check_temporary,
}


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
    return [folder.rstrip("/") for folder, level in table(folders).items() if level == "TRUST_FOLDER"]


def _as_json(diagnoses: Mapping[str, Diagnosis], is_fine: bool) -> str:
    checks = [{"name": name, **asdict(diagnosis)} for name, diagnosis in diagnoses.items()]
    return json.dumps({"ok": is_fine, "checks": checks}, indent=2, ensure_ascii=False)


def _as_table(diagnoses: Mapping[str, Diagnosis]) -> str:
    width = max(map(len, diagnoses))
    lines: list[str] = []
    for name, diagnosis in diagnoses.items():
        lines.append(f"{'✓' if diagnosis.is_fine else '✗'} {name:<{width}}  {diagnosis.seen}")
        lines += [f"  {'':<{width}}  → {diagnosis.action}"] if diagnosis.action else []
    return "\n".join(lines)
