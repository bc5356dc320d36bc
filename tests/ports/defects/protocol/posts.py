"""Defects in what a port over HTTP answers to a single post: its headers, its status, its body and its events."""

from typing import Any

from conditions import is_refusal, results
from defects.meeting.unions import names
from defects.protocol.http import turns_away
from defects.record import defect
from http_port import HttpPort
from running import Call
from speaking import Message, as_object
from steps import before, without

LARGE = 4 * 1024 * 1024
BEGINNING = len("2025-06")
KNOWN_NOTIFICATIONS = ("notifications/initialized", "notifications/cancelled")


def notes_method(port: Any, request: Message) -> None:
    """In the post at hand, since several are read at the same time."""
    port.current.method = request["method"]


def without_end(port: Any, real: Any, message: Message) -> None:
    """An event ends with an empty line, or it is none."""
    post = port.current.post
    if post.is_stream and "id" in message:
        post.wfile.write(b"data: " + port.encoded(message))
    else:
        real(message)


def with_beginnings(port: Any, real: Any) -> tuple[str | None, ...]:
    known, version = real(), port.current.post.version or ""
    is_alike = len(version) >= BEGINNING and any(each and version.startswith(each[:BEGINNING]) for each in known)
    return (*known, version) if is_alike else known


def notes_notification(port: Any, method: str, params: Any) -> None:
    port.current.is_known = method in KNOWN_NOTIFICATIONS


def in_words(port: Any, real: Any, post: Any) -> None:
    """Express says in the body what the status means."""
    if getattr(port.current, "is_known", True):
        real(post)
    else:
        post.reply(202, b"Accepted", {"Content-Type": "text/plain"})


def names_by_beginning(port: Any, real: Any, method: str, params: Any) -> None:
    name = port.current.post.header("Mcp-Name") or ""
    if name and method == "tools/call" and str(params.get("name")).startswith(name):
        params = {**params, "name": name}
    real(method, params)


def found_below_tools(port: Any, real: Any, message: Message) -> int:
    status = real(message)
    return 200 if status == 404 and port.current.method.startswith("tools/") else status


def version_of_list_unread(port: Any, real: Any, params: Any) -> None:
    if port.current.method != "tools/list":
        real(params)


def unprocessable(port: Any, real: Any, message: Message) -> int:
    result = as_object(message.get("result")) or {}
    return 422 if is_refusal(result) else real(message)


def warns_in_stream(call: Call, result: Message) -> bool:
    return call.token is not None and "warnings" in result.get("_meta", {})


def without_warnings(result: Message) -> Message:
    return {**result, "_meta": without("warnings")(result["_meta"])}


def lost_beside_long_prompt(port: Any, real: Any, tool: str, texts: Any) -> str | None:
    return None if port.prompt_form(texts["prompt"])[1] is not None else real(tool, texts)


defect("last-event-unended", "Ends the last event of a stream without an empty line.", "http:equivalence")(
    HttpPort, write=without_end
)
defect("versions-by-beginning", "Knows a version by its year and month.", "http:version")(
    HttpPort, known_versions=with_beginnings
)
defect("get-conflicts-while-busy", "Answers a GET with status 409 while a call runs.", "http:get")(
    HttpPort, got=turns_away(409, lambda port, post, body: port.calls)
)
defect(
    "accepted-in-words",
    "Accepts a notification that it does not know with a word in the body.",
    "http:notification",
)(HttpPort, notified=before(notes_notification), accept=in_words)
defect(
    "names-compared-by-beginning",
    "Serves a call whose `Mcp-Name` is the beginning of the tool's name.",
    "http:stateless:header",
)(HttpPort, check_headers=names_by_beginning)
defect(
    "unknown-methods-of-tools-found",
    "Answers an unknown method that begins with `tools/` with status 200.",
    "http:stateless:method",
)(HttpPort, requested=before(notes_method), status=found_below_tools)
defect(
    "version-of-list-unread",
    "Lists its tools whatever version the header names.",
    "http:stateless:version",
)(HttpPort, requested=before(notes_method), check_version=version_of_list_unread)
defect("bodies-over-4-mib-refused", "Refuses a body of more than 4 MiB.", "http:equivalence", "prompt:long")(
    HttpPort, posted=turns_away(413, lambda port, post, body: len(body) > LARGE)
)
defect("refusals-are-unprocessable", "Answers a refused argument with status 422.", "http:equivalence")(
    HttpPort, status=unprocessable
)
defect(
    "warnings-lost-in-streams",
    "Reports no warnings over HTTP in a call that asks for progress.",
    "result:warnings",
)(HttpPort, execute=results(warns_in_stream, without_warnings))
defect(
    "posted-system-prompt-lost-beside-long-prompt",
    "Hands no system prompt over in a call over HTTP whose prompt is long.",
    "system:content",
)(HttpPort, system=lost_beside_long_prompt)
defect(
    "streamed-session-lost-beside-directory-and-model",
    "Names no session of a call over HTTP with a directory and a model that asks for progress.",
    "result:session-id",
)(
    HttpPort,
    execute=results(
        lambda call, result: call.token is not None and names("cwd", "model")(call) and "_meta" in result,
        without("_meta"),
    ),
)
