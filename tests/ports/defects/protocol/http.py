"""Defects of a port over HTTP."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from answering import Failure
from defects.record import defect
from http_port import HttpPort
from planning import Plan
from running import LIST, Call
from speaking import INVALID_REQUEST, RpcError
from steps import Step, always, gives, on, without

LISTING_SECONDS = 8.0


def replies(status: int, body: bytes = b"", kind: str | None = None) -> Step:
    """Answers a request in this way, without looking at it."""

    def step(port: Any, real: Any, post: Any, *body_of_request: Any) -> None:
        post.reply(status, body, {"Content-Type": kind} if kind else {})

    return step


def turns_away(status: int, test: Callable[[Any, Any, bytes], object]) -> Step:
    """Answers with this status where `test` holds of the port, the post and its body."""

    def step(port: Any, real: Any, post: Any, body: bytes) -> None:
        if test(port, post, body):
            post.reply(status)
        else:
            real(post, body)

    return step


def in_any_case(port: Any, real: Any, method: str, params: Any) -> None:
    if method != "tools/list" or (port.current.post.header("Mcp-Method") or "").lower() != method:
        real(method, params)


def lists_unheard(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    """Waits for the list as long as it may, and notices nothing meanwhile."""
    port.memory[call] = "listing"
    arguments = (plan.argv[0], LIST)
    with suppress(Failure):
        return port.run(call, arguments, port.listing_cwd(plan), port.environment(None), None, LISTING_SECONDS)
    return None


def unless_listing(port: Any, real: Any, call: Call) -> None:
    if call not in port.memory:
        real(call)


def once_while_running(port: Any, real: Any, call: Call) -> None:
    missed = port.memory.setdefault("missed", [])
    if call.process is None:
        missed.append(call)
    elif call not in missed:
        real(call)


def takes_unanswered(port: Any, real: Any, post: Any, body: bytes) -> None:
    is_over = post.session is not None and post.session not in port.sessions
    if is_over and b'"id"' not in body:
        port.accept(post)
    else:
        real(post, body)


defect("every-origin-allowed", "Lets the pages of every origin in.", "http:origin")(HttpPort, is_allowed=always(True))
defect("origin-by-its-beginning", "Lets in every origin that begins like its own.", "http:origin")(
    HttpPort,
    is_allowed=lambda port, real, origin: real(origin) or (origin or "").startswith("http://127.0.0.1"),
)
defect("notification-answered", "Answers a notification with an empty result.", "http:notification")(
    HttpPort, accept=replies(200, b"{}", "application/json")
)
defect("notification-okay", "Answers a notification with status 200 where 202 should be.", "http:notification")(
    HttpPort, accept=replies(200)
)
defect("answer-as-text", "Answers a request as plain text.", "http:content-type")(
    HttpPort, headers=gives(lambda headers: {**headers, "Content-Type": "text/plain"})
)
defect("get-not-found", "Answers a GET as if there were nothing at its address.", "http:get")(
    HttpPort, got=replies(404)
)
defect("get-greets", "Answers a GET with a page for people.", "http:get")(
    HttpPort, got=replies(200, b"<p>A server of Gemini.</p>", "text/html")
)
defect("any-version-in-the-header", "Serves requests of a version that it does not support.", "http:version")(
    HttpPort, known_versions=lambda port, real: (*real(), port.current.post.version)
)
defect("session-without-end", "Serves a session that its client has ended.", "http:session:ended")(
    HttpPort, end_session=always(None)
)
defect(
    "ended-session-as-bad-request",
    "Refuses an ended session with status 400 where 404 should be.",
    "http:session:ended",
)(HttpPort, unknown_session=always(400))
defect("headers-unread", "Does not compare the headers of a request with its body.", "http:stateless:header")(
    HttpPort, check_headers=always(None)
)
defect(
    "missing-headers-forgiven",
    "Serves a request without the headers that name its method and its tool.",
    "http:stateless:header",
)(
    HttpPort,
    check_headers=lambda port, real, method, params: (
        real(method, params) if all(map(port.current.post.header, ("Mcp-Method", "Mcp-Name"))) else None
    ),
)
defect(
    "header-mismatch-without-its-code",
    "Refuses headers that differ from the body as parameters that are invalid.",
    "http:stateless:header",
)(HttpPort, check_headers=on(RpcError, lambda port, error: RpcError(INVALID_REQUEST, error.error["message"])))
defect(
    "version-header-unread",
    "Serves a request whose header names another version than its body.",
    "http:stateless:version",
)(HttpPort, check_version=always(None))
defect("unknown-method-found", "Answers an unknown method with status 200.", "http:stateless:method")(
    HttpPort, status=gives(lambda status: 200 if status == 404 else status)
)
defect(
    "disconnected-call-runs",
    "Lets gemini run on for a client that has closed its connection.",
    "http:stateless:disconnect",
)(HttpPort, disconnected=always(None))
defect(
    "text-stripped-over-http",
    "Strips the text of an answer, which the port over stdio does not.",
    "http:equivalence",
    "result:text",
)(HttpPort, whole=gives(str.strip))
defect(
    "session-unnamed-over-http",
    "Does not name the session of a call, which the port over stdio does.",
    "http:equivalence",
    "result:session-id",
)(HttpPort, success=gives(without("_meta")))
defect(
    "method-header-in-any-case", "Compares the method of a list in its header in any case.", "http:stateless:header"
)(HttpPort, check_headers=in_any_case)
defect("version-of-ping-unread", "Does not look at the version of a ping.", "http:version")(
    HttpPort, params=lambda port, real, request: {} if request["method"] == "ping" else real(request)
)
defect(
    "list-outlives-disconnection",
    "Does not notice a client that leaves while gemini lists the sessions.",
    "http:stateless:disconnect",
)(HttpPort, list_sessions=lists_unheard, disconnected=unless_listing)
defect(
    "waiting-reply-outlives-disconnection",
    "Overlooks that a client leaves while its reply waits for another.",
    "http:stateless:disconnect",
)(HttpPort, disconnected=once_while_running)
defect(
    "notifications-outlive-session",
    "Accepts notifications in a session that has been ended.",
    "http:session:ended",
)(HttpPort, posted=takes_unanswered)
