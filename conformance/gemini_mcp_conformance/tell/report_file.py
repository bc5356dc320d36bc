"""The report as JSON: writes a Report as text, always the same, and reads it back, checked. Reads files.

Keys are in the order of `spec/meta/report.schema.json`. A key that is added there is written and read here.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Protocol, cast

from jsonschema import Draft202012Validator, ValidationError

from gemini_mcp import spec
from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.judge.judgement import LEVELS, Evidence, Judgement, Run
from gemini_mcp_conformance.talk.covering import Coverage, Share
from gemini_mcp_conformance.tell.report import Command, Identity, Mutants, Report, Url

SCHEMA_VERSION = "1.1.0"

OPTIONAL = ("known", "cause", "evidence")


class _Validator(Protocol):
    def iter_errors(self, instance: Json) -> Iterator[ValidationError]: ...


def dump(report: Report) -> str:
    """The JSON text of a report. It can hold lone surrogates: write it with `backslashreplace`."""
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
    mutants = {} if report.mutants is None else {"mutants": asdict(report.mutants)}
    document: dict[str, Json] = {
        "schema": SCHEMA_VERSION,
        "spec": {"version": report.spec_version},
        "suite": {"version": report.suite_version, **mutants},
        "target": {"url": report.target.url} if isinstance(report.target, Url) else {"command": report.target.argv},
        "port": report.port and asdict(report.port),
        "profile": report.profile,
        "protocol": report.protocol,
        "seed": report.seed,
        "strict": report.strict,
        "exit": report.exit,
        "counts": {level: dict(report.counts()[level]) for level in LEVELS},
        "score": {"must": asdict(report.score("MUST")), "should": asdict(report.score("SHOULD"))},
        "requirements": [_judgement_json(judgement) for judgement in report.judgements],
    }
    more = {"notes": report.notes, "coverage": [asdict(each) for each in report.coverage]}
    return {**document, **{name: value for name, value in more.items() if value}}


def _judgement_json(judgement: Judgement) -> dict[str, Json]:
    """The fields in their order, but for `seconds`; those of OPTIONAL only where they are known."""
    entry = asdict(judgement, dict_factory=_camel)
    del entry["seconds"]
    return {key: value for key, value in entry.items() if value is not None or key not in OPTIONAL}


def _camel(fields: list[tuple[str, Json]]) -> dict[str, Json]:
    return {re.sub("_(.)", lambda match: match[1].upper(), name): value for name, value in fields}


def _report(document: Json) -> Report:
    suite, port, mutants = document["suite"], document["port"], document["suite"].get("mutants")
    target = document["target"]
    return Report(
        spec_version=document["spec"]["version"],
        suite_version=suite["version"],
        target=Url(target["url"]) if "url" in target else Command(tuple(target["command"])),
        port=port and Identity(**port),
        profile=document["profile"],
        protocol=document["protocol"],
        seed=document["seed"],
        strict=document["strict"],
        exit=document["exit"],
        judgements=tuple(_judgement(entry) for entry in document["requirements"]),
        mutants=mutants and Mutants(**mutants),
        notes=tuple(document.get("notes", ())),
        coverage=tuple(_coverage(entry) for entry in document.get("coverage", ())),
    )


def _coverage(entry: Mapping[str, Json]) -> Coverage:
    pairs, core, triples = (Share(**entry[name]) for name in ("pairs", "core", "triples"))
    return Coverage(entry["tool"], entry["calls"], entry["dimensions"], pairs, core, triples, tuple(entry["never"]))


def _judgement(entry: Mapping[str, Json]) -> Judgement:
    evidence = entry.get("evidence")
    fields = {name: value for name, value in entry.items() if name != "evidence"}
    return Judgement(**fields, evidence=evidence and _evidence(evidence))


def _evidence(value: Json) -> Evidence:
    runs = (
        Run(tuple(run["argv"]), run["cwd"], run["stdinKind"], run["stdin"], run["systemFile"]) for run in value["runs"]
    )
    return Evidence(
        value["did"], tuple(value["sent"]), tuple(value["received"]), tuple(runs), tuple(value.get("asked", ()))
    )


@cache
def _validator() -> _Validator:
    schema = spec.read(spec.default_root() / "meta/report.schema.json")
    return cast(_Validator, Draft202012Validator(schema))


def _short(message: str) -> str:
    return message if len(message) <= 200 else f"{message[:200]}…"
