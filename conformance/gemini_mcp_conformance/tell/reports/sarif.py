"""SARIF 2.1.0: a result for every failure, at a file of the port's repository if one is known. Pure.

The verdicts could-not-run, undecided and harness-error are notifications about the run, not results.
"""

import json
from collections.abc import Mapping
from urllib.parse import quote

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.judge.judgement import Judgement, Level
from gemini_mcp_conformance.tell import causes
from gemini_mcp_conformance.tell.report import COULD_BE_JUDGED, Report
from gemini_mcp_conformance.tell.reports.context import Context
from gemini_mcp_conformance.tell.reports.printable import printable

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS: Mapping[Level, str] = {"MUST": "error", "SHOULD": "warning", "MAY": "note"}


def render(report: Report, context: Context) -> str:
    advice = {judgement.id: group.advice for group in causes.groups(report) for judgement in group.broken}
    failures = [each for id in advice for each in report.with_verdict("fail") if each.id == id]
    failures += [each for each in causes.known(report) if each.verdict == "fail"]
    run = {
        "tool": {"driver": _driver(report)},
        "invocations": [_invocation(report)],
        "columnKind": "unicodeCodePoints",
        "results": [_result(report, each, advice.get(each.id), context) for each in failures],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False) + "\n"


def _driver(report: Report) -> Json:
    return {
        "name": "gemini-mcp-conformance",
        "semanticVersion": report.suite_version,
        "rules": [_rule(judgement) for judgement in report.judgements],
    }


def _rule(judgement: Judgement) -> Json:
    return {
        "id": judgement.id,
        "shortDescription": {"text": judgement.sentence},
        "defaultConfiguration": {"level": LEVELS[judgement.level]},
    }


def _invocation(report: Report) -> Json:
    unjudged = report.with_verdict("could-not-run", "undecided", "harness-error")
    return {
        "executionSuccessful": report.exit in COULD_BE_JUDGED,
        "exitCode": report.exit,
        "toolExecutionNotifications": [
            *({"level": "note", "message": {"text": printable(note)}} for note in report.notes),
            *(_notification(report, judgement) for judgement in unjudged),
        ],
    }


def _notification(report: Report, judgement: Judgement) -> Json:
    return {
        "associatedRule": {"id": judgement.id},
        "level": report.severity(judgement),
        "message": {"text": printable(judgement.message or judgement.verdict)},
    }


def _result(report: Report, judgement: Judgement, advice: str | None, context: Context) -> Json:
    replay = judgement.replay and f"Replay: {judgement.replay}"
    text = "\n".join(filter(None, dict.fromkeys((advice, judgement.message, replay))))
    result: dict[str, Json] = {
        "ruleId": judgement.id,
        "ruleIndex": report.judgements.index(judgement),
        "level": report.severity(judgement),
        "message": {"text": printable(text)},
        **({} if context.source is None else {"locations": [_location(context.source)]}),
        "partialFingerprints": {"requirement/v1": judgement.id},
    }
    if judgement.known is not None:
        result["suppressions"] = [{"kind": "external", "justification": printable(judgement.known)}]
    return result


def _location(source: str) -> Json:
    return {"physicalLocation": {"artifactLocation": {"uri": quote(source)}, "region": {"startLine": 1}}}
