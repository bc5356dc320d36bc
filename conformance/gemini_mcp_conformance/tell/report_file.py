"""The report as JSON: Report -> text, the same text for the same report; text -> Report, checked. Reads files on load.

Keys appear in the order of `spec/meta/report.schema.json`. A key that is added there is added in both directions here.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Protocol, cast

from jsonschema import Draft202012Validator, ValidationError

from gemini_mcp import spec
from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.tell.report import LEVELS, Command, Evidence, Identity, Judgement, Mutants, Report, Run, Url

SCHEMA_VERSION = "1.1.0"


class _Validator(Protocol):
    def iter_errors(self, instance: Json) -> Iterator[ValidationError]: ...


def dump(report: Report) -> str:
    """The JSON text of a report. A lone surrogate stays one: write the text with `backslashreplace`."""
    return json.dumps(to_json(report), indent=2, ensure_ascii=False) + "\n"


def load(path: Path) -> Report:
    """Read a report from a file; UsageError names the file and what is wrong with it."""
    try:
        return parse(path.read_bytes())
    except OSError as error:
        raise UsageError(f"The report {str(path)!r} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{str(path)!r} is not a report of this suite: {error}.") from None


def parse(text: str | bytes) -> Report:
    """A report from its JSON text; ValueError says what is wrong with it."""
    document: Json = json.loads(text)
    complaints = sorted(f"{error.json_path}: {_short(error.message)}" for error in _validator().iter_errors(document))
    if complaints:
        raise ValueError(complaints[0])
    report = _report(document)
    derived = to_json(report)
    for key in ("counts", "score"):
        if derived[key] != document[key]:
            raise ValueError(f"$.{key}: it does not agree with the verdicts")
    return report


def to_json(report: Report) -> dict[str, Json]:
    """The report as JSON values, keys in the schema's order."""
    suite: dict[str, Json] = {"version": report.suite_version}
    if report.mutants is not None:
        suite["mutants"] = {"killed": report.mutants.killed, "total": report.mutants.total}
    document: dict[str, Json] = {
        "schema": SCHEMA_VERSION,
        "spec": {"version": report.spec_version},
        "suite": suite,
        "target": _target_json(report.target),
        "port": report.port and {"name": report.port.name, "version": report.port.version},
        "profile": report.profile,
        "protocol": report.protocol,
        "seed": report.seed,
        "strict": report.strict,
        "exit": report.exit,
        "counts": {level: dict(report.counts()[level]) for level in LEVELS},
        "score": {"must": vars(report.score("MUST")), "should": vars(report.score("SHOULD"))},
        "requirements": [_judgement_json(judgement) for judgement in report.judgements],
    }
    return {**document, "notes": list(report.notes)} if report.notes else document


def _target_json(target: Command | Url) -> Json:
    match target:
        case Command(argv):
            return {"command": list(argv)}
        case Url(url):
            return {"url": url}


def _judgement_json(judgement: Judgement) -> Json:
    fields = ("id", "level", "sentence", "verdict", "message", "witness", "replay")
    entry: dict[str, Json] = {field: getattr(judgement, field) for field in fields}
    if judgement.known is not None:
        entry["known"] = judgement.known
    if judgement.evidence is not None:
        entry["evidence"] = _evidence_json(judgement.evidence)
    return entry


def _evidence_json(evidence: Evidence) -> Json:
    return {
        "did": evidence.did,
        "sent": list(evidence.sent),
        "received": list(evidence.received),
        "runs": [
            {
                "argv": list(run.argv),
                "cwd": run.cwd,
                "stdinKind": run.stdin_kind,
                "stdin": run.stdin,
                "systemFile": run.system_file,
            }
            for run in evidence.runs
        ],
    }


def _report(document: Json) -> Report:
    suite, port, mutants = document["suite"], document["port"], document["suite"].get("mutants")
    return Report(
        spec_version=document["spec"]["version"],
        suite_version=suite["version"],
        target=_target(document["target"]),
        port=port and Identity(port["name"], port["version"]),
        profile=document["profile"],
        protocol=document["protocol"],
        seed=document["seed"],
        strict=document["strict"],
        exit=document["exit"],
        judgements=tuple(_judgement(entry) for entry in document["requirements"]),
        mutants=mutants and Mutants(mutants["killed"], mutants["total"]),
        notes=tuple(document.get("notes", ())),
    )


def _target(value: Mapping[str, Json]) -> Command | Url:
    return Command(tuple(value["command"])) if "command" in value else Url(value["url"])


def _judgement(entry: Mapping[str, Json]) -> Judgement:
    evidence = entry.get("evidence")
    fields = {name: value for name, value in entry.items() if name != "evidence"}
    return Judgement(**fields, evidence=evidence and _evidence(evidence))


def _evidence(value: Json) -> Evidence:
    runs = (
        Run(tuple(run["argv"]), run["cwd"], run["stdinKind"], run["stdin"], run["systemFile"]) for run in value["runs"]
    )
    return Evidence(value["did"], tuple(value["sent"]), tuple(value["received"]), tuple(runs))


@cache
def _validator() -> _Validator:
    schema = spec.read(spec.default_root() / "meta/report.schema.json")
    return cast(_Validator, Draft202012Validator(schema))


def _short(message: str) -> str:
    return message if len(message) <= 200 else f"{message[:200]}…"
