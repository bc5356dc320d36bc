"""Defects in what a port learns once and takes for a custom: how gemini prints, which session is the latest."""

from collections.abc import Mapping
from typing import Any

from answering import Answer, Outcome
from conditions import failed
from defects.record import defect
from running import Call
from speaking import INVALID_REQUEST, Message, RpcError, as_object
from steps import before, notes

GONE = "does not know this session"


def plain_for_good(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    return port.plain_text(stdout) if port.memory.get("plain") and stdout.strip() else real(stdout, stderr)


def notes_plain(port: Any, stdout: str) -> None:
    port.memory["plain"] = True


def stream_of_first_list(port: Any, real: Any, listing: Outcome) -> str:
    """Old gemini list on stderr, and one that did is taken for old."""
    text, stderr = real(listing), port.decode(listing.stderr)
    entry = port.entry_pattern()
    if not any(map(entry.fullmatch, port.decode(listing.stdout).split("\n"))):
        port.memory["old"] = port.memory.get("old") or any(map(entry.fullmatch, stderr.split("\n")))
    return stderr if port.memory.get("old") else text


def gone_for_good(port: Any, real: Any, call: Call) -> Message:
    gone, session = port.memory.setdefault("gone", {}), call.arguments.get("sessionId")
    if repr(session) in gone:
        return gone[repr(session)]
    result = real(call)
    if session and failed(call, result) and GONE in result["content"][0]["text"]:
        gone[repr(session)] = result
    return result


def shortened_to_latest(port: Any, real: Any, texts: Mapping[str, str]) -> tuple[str, ...]:
    return ("-r", "latest") if port.resumed(texts) == port.memory.get("served") else real(texts)


def last_named_if_empty(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    """A form sends an empty field for one that was left as it is."""
    texts = real(tool, arguments)
    if "sessionId" in texts:
        port.memory["named"] = texts["sessionId"]
    if tool == "chat-reply" and arguments.get("sessionId") == "" and "named" in port.memory:
        return {**texts, "sessionId": port.memory["named"]}
    return texts


def notes_asked(port: Any, call: Call) -> None:
    port.memory.setdefault("sessions", {})[repr(call.id)] = call.arguments.get("sessionId")


def ends_by_session(port: Any, real: Any, method: str, params: Any) -> None:
    """Keeps the processes by their sessions."""
    wanted = repr((as_object(params) or {}).get("requestId"))
    session = port.memory.get("sessions", {}).get(wanted) if method == "notifications/cancelled" else None
    is_late = all(repr(each.id) != wanted for each in port.calls)
    for call in list(port.calls):
        if session and is_late and call.arguments.get("sessionId") == session:
            port.cancel(call)
    real(method, params)


def refuses_second(port: Any) -> None:
    if port.memory.get("discovered"):
        raise RpcError(INVALID_REQUEST, "The server has been discovered.")
    port.memory["discovered"] = True


def at_end_of_pages(port: Any, real: Any, params: Mapping[str, Any], stateless: bool) -> Message:
    """Keeps the cursor that it refuses, and behind it stands no page."""
    is_refused, port.memory["refused"] = port.memory.get("refused"), params.get("cursor") is not None
    result = real(params, stateless)
    return {**result, "tools": []} if is_refused else result


defect(
    "plain-text-for-good",
    "Takes every output for plain text once gemini has answered without JSON.",
    "result:text",
)(read_stdout=plain_for_good, plain_text=before(notes_plain))
defect(
    "lists-on-stderr-for-good",
    "Reads every list of sessions from stderr alone once one has come there.",
    "fallback:list-sessions",
)(list_text=stream_of_first_list)
defect(
    "gone-session-remembered",
    "Fails every later reply in a session that gemini did not know once.",
    "command:once",
    "concurrency:after-failure",
)(execute=gone_for_good)
defect(
    "session-served-last-is-latest",
    "Resumes `latest` in the place of the session that it has served last.",
    "command:chat-reply:session-id",
)(
    execute=notes("served", lambda result: result.get("_meta", {}).get("sessionId")),
    resume_option=shortened_to_latest,
)
defect(
    "empty-session-is-last-named",
    "Resumes the session that was named last when a reply names an empty one.",
    "arguments:empty:session-id",
)(texts=last_named_if_empty)
defect(
    "late-cancel-ends-session",
    "Ends the reply that runs when an answered one of its session is cancelled.",
    "cancel:others",
)(execute=before(notes_asked), notified=ends_by_session)
defect(
    "discovered-once",
    "Answers `server/discover` once, as if it were a handshake.",
    "stateless:discover",
)(discover=before(refuses_second))
defect(
    "no-tools-behind-refused-page",
    "Lists no tools to a client whose cursor it has just refused.",
    "tools:order",
    "tools:chat",
)(list_tools=at_end_of_pages)
