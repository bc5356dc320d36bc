"""GitHub annotations: a workflow command for each cause, at a file of the port's repository if one is known. Pure."""

from gemini_mcp_conformance.tell import causes
from gemini_mcp_conformance.tell.causes import Group
from gemini_mcp_conformance.tell.report import Report, Severity
from gemini_mcp_conformance.tell.reports.context import Context, counted
from gemini_mcp_conformance.tell.reports.printable import printable

COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}


def render(report: Report, context: Context) -> str:
    commands = [_command(report, group, context) for group in causes.groups(report)]
    for judgement in causes.known(report):
        commands.append(f"::notice {_properties(context, judgement.id)}::{_data(f'Known: {judgement.known}')}")
    commands += [f"::warning title=gemini-mcp-conformance::{_data(note)}" for note in report.notes]
    return "".join(f"{command}\n" for command in commands)


def _command(report: Report, group: Group, context: Context) -> str:
    head = group.head
    fails = f"Fails: {', '.join(each.id for each in group.broken)}" if len(group.broken) > 1 else None
    unjudged = f"Not judged for it: {counted(group.unjudged)}" if group.broken and group.unjudged else None
    replay = head.replay and f"Replay: {head.replay}"
    message = "\n".join(filter(None, dict.fromkeys((group.advice, head.message, fails, unjudged, replay))))
    properties = _properties(context, f"{head.id} ({group.level}): {head.verdict}")
    return f"::{COMMANDS[report.severity(head)]} {properties}::{_data(message)}"


def _properties(context: Context, title: str) -> str:
    place = {} if context.source is None else {"file": context.source, "line": "1"}
    return ",".join(f"{name}={_property(value)}" for name, value in {**place, "title": title}.items())


def _data(text: str) -> str:
    # A workflow command ends with its line, and decodes these escapes.
    return printable(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
