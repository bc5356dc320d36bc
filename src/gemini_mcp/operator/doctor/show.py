"""Runs the checks and prints what they saw, as a table or as JSON. Edge.

A new check is a function that gives a `Diagnosis`, and an entry of the table. Without `--probe` none sends a prompt.
"""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict

from gemini_mcp.operator.doctor.fix import fix
from gemini_mcp.operator.doctor.place import Diagnosis, Place
from gemini_mcp.operator.doctor.probe import check_answer
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
        lines.append(f"{'✓' if diagnosis.is_fine else '✗'} {name:<{width}}  {diagnosis.seen}")
        lines += [f"  {'':<{width}}  → {diagnosis.action}"] if diagnosis.action else []
    return "\n".join(lines)
