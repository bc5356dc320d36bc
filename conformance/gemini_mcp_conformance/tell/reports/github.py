"""GitHub annotations: workflow commands that point at a line of the specification. Pure."""

from gemini_mcp_conformance.tell.report import Judgement, Report, Severity
from gemini_mcp_conformance.tell.reports.context import REQUIREMENTS, Context
from gemini_mcp_conformance.tell.reports.printable import printable

COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}


def render(report: Report, context: Context) -> str:
    judgements = report.with_verdict("fail", "could-not-run", "harness-error")
    commands = [_command(report, judgement, context) for judgement in judgements]
    commands += [f"::warning title=gemini-mcp-conformance::{_data(note)}" for note in report.notes]
    return "".join(f"{command}\n" for command in commands)


def _command(report: Report, judgement: Judgement, context: Context) -> str:
    properties = {
        "file": REQUIREMENTS,
        "line": str(context.line(judgement.id)),
        "title": f"{judgement.id} ({judgement.level}): {judgement.verdict}",
    }
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    replay = judgement.replay and f"Replay: {judgement.replay}"
    known = judgement.known and f"Known: {judgement.known}"
    message = "\n".join(filter(None, (judgement.sentence, judgement.message, known, replay)))
    return f"::{COMMANDS[report.severity(judgement)]} {listed}::{_data(message)}"


def _data(text: str) -> str:
    return printable(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
