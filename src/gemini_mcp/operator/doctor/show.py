"""Runs the checks and prints what they saw, as a table or as JSON. Edge.

A new check is a function that gives a `Diagnosis`, and an entry of the table. Without `--probe` none sends a prompt.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from textwrap import wrap

from gemini_mcp.operator.doctor.fix import fix
from gemini_mcp.operator.doctor.place import Diagnosis, Place
from gemini_mcp.operator.doctor.probe import PATIENCE, check_answer
from gemini_mcp.operator.doctor.program_checks import check_gemini, check_node, check_temporary
from gemini_mcp.operator.doctor.startup_checks import (
    check_clients,
    check_directory,
    check_retention,
    check_settings,
    check_sign_in,
    check_trust,
)
from gemini_mcp.operator.options import Options

Check = Callable[[Place], Diagnosis]

CHECKS: Mapping[str, Check] = {
    "gemini": check_gemini,
    "node": check_node,
    "directory": check_directory,
    "settings": check_settings,
    "sign-in": check_sign_in,
    "trust": check_trust,
    "sessions": check_retention,
    "clients": check_clients,
    "temporary files": check_temporary,
}


def show(options: Options) -> int:
    """Print the diagnoses; 0 when a call can succeed, else 1."""
    place = Place(options, os.environ)
    if options.fix:
        fix(place)
    checks = {**CHECKS, "probe": check_answer} if options.probe else CHECKS
    if options.probe:
        print(f"Asking gemini, for {min(options.timeout, PATIENCE):g} s at most.", file=sys.stderr)
    diagnoses = {name: check(place) for name, check in checks.items()}
    is_fine = all(diagnosis.is_fine for diagnosis in diagnoses.values())
    print(_as_json(diagnoses, is_fine) if options.json else _as_table(diagnoses))
    return 0 if is_fine else 1


def _as_json(diagnoses: Mapping[str, Diagnosis], is_fine: bool) -> str:
    checks = [{"name": name, **asdict(diagnosis)} for name, diagnosis in diagnoses.items()]
    return json.dumps({"ok": is_fine, "checks": checks}, indent=2, ensure_ascii=False)


def _as_table(diagnoses: Mapping[str, Diagnosis]) -> str:
    width = max(map(len, diagnoses))
    lines: list[str] = []
    for name, diagnosis in diagnoses.items():
        lines += _in_lines(f"{'✓' if diagnosis.is_fine else '✗'} {name:<{width}}  ", diagnosis.seen)
        lines += _in_lines(f"  {'':<{width}}  → ", diagnosis.action or "")
    return "\n".join(lines)


def _in_lines(before: str, text: str) -> list[str]:
    """The text behind its mark, in lines of the terminal; a path is never cut."""
    columns = max(shutil.get_terminal_size().columns, len(before) + 40)
    further = " " * len(before)
    return wrap(
        text,
        columns,
        initial_indent=before,
        subsequent_indent=further,
        break_long_words=False,
        break_on_hyphens=False,
    )
