"""Stateless posts: their headers, their methods, and clients that leave: ports that break `http:stateless`."""

import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from answering import Failure
from defects.protocol.shared import is_gone, notes_gone
from defects.record import defect
from defects.shared import in_latest_era, only_asks, spares_group, stops_leader, unless_noted
from http_port import HttpPort, answers_handshake
from planning import Plan
from port import Port
from posting import ENCODED, STREAM
from running import LIST, Call
from speaking import INVALID_REQUEST, JSON, Message, RpcError, as_object
from steps import Step, always, before, gives, notes, on, only

LISTING_SECONDS = 8.0
EARLY = 0.5


def first_gone_only(port: Any, real: Any, call: Call) -> None:
    if port.memory.setdefault("first", call) is call:
        real(call)


def lists_unheard(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    """Waits for the list as long as it may, and notices nothing meanwhile."""
    port.memory[call] = "listing"
    arguments = (plan.argv[0], LIST)
    with suppress(Failure):
        return port.run(call, arguments, port.listing_cwd(plan), port.environment(None), None, LISTING_SECONDS)
    return None


def once_while_running(port: Any, real: Any, call: Call) -> None:
    missed = port.memory.setdefault("missed", [])
    if call.process is None:
        missed.append(call)
    elif call not in missed:
        real(call)


def notes_waiting(port: Any, real: Any, call: Call, turn: str | None) -> None:
    if turn in port.turns:
        port.memory[call] = turn
    real(call, turn)


def forgets_waiting(port: Any, real: Any, call: Call, now: float) -> None:
    if call in port.memory:
        Port.check_deadline(port, call, now)
    else:
        real(call, now)


def unless_stream(port: Any, real: Any, call: Call) -> None:
    if not port.posts[call].is_stream:
        real(call)


def gone_while_waiting(port: Any, real: Any, call: Call) -> None:
    """A connection's end is told once."""
    if call.process is None or call in port.memory:
        port.memory[call] = "gone"
    else:
        real(call)


def notes_begin(port: Any, call: Call) -> None:
    port.memory[call] = time.monotonic()


def looks_later(port: Any, real: Any, call: Call) -> None:
    """Takes a connection that half is closed at once for a habit of the client."""
    begun = port.memory.get(call)
    if begun is None or time.monotonic() - begun < EARLY:
        port.memory[call] = None
    else:
        real(call)


def name_of_reply_unread(port: Any, real: Any, method: str, params: Mapping[str, Any]) -> None:
    if method == "tools/call" and params.get("name") == "chat-reply":
        params = {**params, "name": port.current.post.header("Mcp-Name")}
    real(method, params)


def headers_of_discover_unread(port: Any, real: Any, method: str, params: Mapping[str, Any]) -> None:
    if method != "server/discover":
        real(method, params)


def until_right(port: Any, real: Any, method: str, params: Mapping[str, Any]) -> None:
    """A client whose headers were right once is trusted."""
    if not port.memory.get("is_trusted"):
        real(method, params)
        port.memory["is_trusted"] = True


def ignores_case(port: Any, real: Any, method: str, params: Mapping[str, JSON]) -> None:
    name, sent = params.get("name"), port.current.post.header("Mcp-Name")
    if isinstance(name, str) and sent is not None and sent.lower() == name.lower():
        params = {**params, "name": sent}
    real(method, params)


def has_no_token(method: str, params: Mapping[str, Any]) -> bool:
    return "progressToken" not in (as_object(params.get("_meta")) or {})


def without_case(port: Any, real: Any, method: str, params: Mapping[str, Any]) -> None:
    named, name = port.current.post.header("Mcp-Name"), params.get("name")
    is_alike = isinstance(name, str) and named is not None and named.lower() == name.lower()
    real(method, {**params, "name": named} if is_alike else params)


def unread_for_list(port: Any, real: Any, method: str, params: Mapping[str, Any]) -> None:
    if method != "tools/list":
        real(method, params)


def in_any_case(port: Any, real: Any, method: str, params: Any) -> None:
    if method != "tools/list" or (port.current.post.header("Mcp-Method") or "").lower() != method:
        real(method, params)


def by_beginning(port: Any, real: Any, method: str, params: Mapping[str, Any]) -> None:
    header, name = port.current.post.header("Mcp-Name"), params.get("name")
    is_beginning = bool(header) and isinstance(name, str) and name.startswith(header)
    real(method, {**params, "name": header} if is_beginning else params)


def names_by_beginning(port: Any, real: Any, method: str, params: Any) -> None:
    name = port.current.post.header("Mcp-Name") or ""
    if name and method == "tools/call" and str(params.get("name")).startswith(name):
        params = {**params, "name": name}
    real(method, params)


def name_by_beginning(port: Any, real: Any, method: str, params: Mapping[str, Any]) -> None:
    named, name = port.current.post.header("Mcp-Name"), params.get("name")
    if named and isinstance(name, str) and name.startswith(named):
        params = {**params, "name": named}
    real(method, params)


def streams_as_preferred(port: Any, real: Any, message: Message) -> None:
    post = port.current.post
    is_preferred = post.headers.get("Accept", "").startswith(STREAM)
    if is_preferred and not answers_handshake(message):
        with suppress(OSError):
            post.event(port.encoded(message))
    else:
        real(message)


def notes_method(port: Any, request: Message) -> None:
    """In the post at hand, since several are read at the same time."""
    port.current.method = request["method"]


def found_below_tools(port: Any, real: Any, message: Message) -> int:
    status = real(message)
    return 200 if status == 404 and port.current.method.startswith("tools/") else status


def unread_of(method: str) -> Step:
    """Of `check_version`: does not look at the version of this method."""
    return lambda port, real, params: None if port.current.method == method else real(params)


def opens_told_stream(
    port: Any, real: Any, request: Message, params: Mapping[str, JSON], stateless: bool
) -> Message | None:
    if stateless and port.token(params) is not None:
        port.current.post.begin_stream()
    return real(request, params, stateless)


def disconnected_once(port: Any, real: Any, call: Call) -> None:
    """The watch comes by again and again; an id that is known has been dealt with."""
    known = port.memory.setdefault("disconnected", [])
    if call.id not in known:
        known.append(call.id)
        real(call)


def passes_encoded(port: Any, real: Any, method: str, params: Any) -> Any:
    try:
        return real(method, params)
    except RpcError:
        post = port.current.post
        expected = {"Mcp-Method": method, **({"Mcp-Name": params.get("name")} if method == "tools/call" else {})}
        for name, value in expected.items():
            text = post.headers.get(name)
            is_encoded = text is not None and text.startswith(ENCODED[0]) and text.endswith(ENCODED[1])
            if post.header(name) != value and not is_encoded:
                raise


defect(
    "disconnection-spares-group",
    "Ends gemini but not what it has started when a client closes its connection.",
    "http:stateless:disconnect",
)(HttpPort, disconnected=before(notes_gone), stop=stops_leader(is_gone), signal_group=spares_group)
defect(
    "disconnection-only-asks",
    "Sends SIGTERM when a client closes its connection, and leaves it at that.",
    "http:stateless:disconnect",
)(HttpPort, disconnected=before(notes_gone), stop=only_asks(is_gone))
defect(
    "second-disconnection-unheard",
    "Notices the first client that closes its connection, and no other.",
    "http:stateless:disconnect",
)(HttpPort, disconnected=first_gone_only)
defect(
    "disconnected-call-runs",
    "Lets gemini run on for a client that has closed its connection.",
    "http:stateless:disconnect",
)(HttpPort, disconnected=always(None))
defect(
    "list-outlives-disconnection",
    "Does not notice a client that leaves while gemini lists the sessions.",
    "http:stateless:disconnect",
)(HttpPort, list_sessions=lists_unheard, disconnected=unless_noted)
defect(
    "waiting-reply-outlives-disconnection",
    "Overlooks that a client leaves while its reply waits for another.",
    "http:stateless:disconnect",
)(HttpPort, disconnected=once_while_running)
defect(
    "http-gone-waiter-served",
    "Does not notice that the client of a stateless reply has left when the reply has had to wait for its turn.",
    "http:stateless:disconnect",
)(HttpPort, take_turn=notes_waiting, check_deadline=forgets_waiting)
defect(
    "stream-outlives-client",
    "Goes on with a request whose connection has ended when it has told progress.",
    "http:stateless:disconnect",
)(HttpPort, disconnected=unless_stream)
defect(
    "disconnect-noticed-in-streams",
    "Notices that a client has gone only when the call asks for progress.",
    "http:stateless:disconnect",
)(HttpPort, disconnected=only(lambda call: call.token is not None))
defect(
    "departure-while-waiting-forgotten",
    "Runs a reply of 2026-07-28 whose client has left while it waited for its turn.",
    "http:stateless:disconnect",
)(HttpPort, disconnected=gone_while_waiting)
defect(
    "early-leave-unnoticed",
    "Does not notice a client that leaves in the first half second.",
    "http:stateless:disconnect",
)(HttpPort, execute=before(notes_begin), disconnected=looks_later)
defect(
    "names-of-replies-unread",
    "Does not compare `Mcp-Name` with the body of a reply.",
    "http:stateless:header",
)(HttpPort, check_headers=name_of_reply_unread)
defect(
    "headers-of-discover-unread",
    "Does not read the headers of `server/discover`.",
    "http:stateless:header",
)(HttpPort, check_headers=headers_of_discover_unread)
defect(
    "headers-checked-until-right",
    "Compares headers with their body until they were right once.",
    "http:stateless:header",
)(HttpPort, check_headers=until_right)
defect(
    "http-name-in-any-case",
    "Accepts an `Mcp-Name` that differs from the body in case alone.",
    "http:stateless:header",
)(HttpPort, check_headers=ignores_case)
defect(
    "headers-unread-beside-token",
    "Does not compare the headers of a request that asks for progress with its body.",
    "http:stateless:header",
)(HttpPort, check_headers=only(has_no_token))
defect("names-compared-without-case", "Compares `Mcp-Name` without case.", "http:stateless:header")(
    HttpPort, check_headers=without_case
)
defect("headers-of-list-unread", "Does not read the headers of `tools/list`.", "http:stateless:header")(
    HttpPort, check_headers=unread_for_list
)
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
    "method-header-in-any-case", "Compares the method of a list in its header in any case.", "http:stateless:header"
)(HttpPort, check_headers=in_any_case)
defect(
    "name-header-by-beginning",
    "Takes an `Mcp-Name` for that of its body when the name in the body begins with it.",
    "http:stateless:header",
)(HttpPort, check_headers=by_beginning)
defect(
    "names-compared-by-beginning",
    "Serves a call whose `Mcp-Name` is the beginning of the tool's name.",
    "http:stateless:header",
)(HttpPort, check_headers=names_by_beginning)
defect(
    "names-compared-by-their-beginning",
    "Accepts `chat` as the `Mcp-Name` of `chat-reply`, since it begins so, and runs what the body says.",
    "http:stateless:header",
)(HttpPort, check_headers=name_by_beginning)
defect(
    "errors-streamed-as-preferred",
    "Answers every request with status 200 and a stream when its client names events before JSON.",
    "http:stateless:method",
    "http:version",
)(HttpPort, write=streams_as_preferred)
defect(
    "stream-begins-before-the-method-is-known",
    "Begins a stream for a progress token before it knows whether there is such a method.",
    "http:stateless:method",
)(HttpPort, result=opens_told_stream)
defect("unknown-method-found", "Answers an unknown method with status 200.", "http:stateless:method")(
    HttpPort, status=gives(lambda status: 200 if status == 404 else status)
)
defect(
    "unknown-methods-of-tools-found",
    "Answers an unknown method that begins with `tools/` with status 200.",
    "http:stateless:method",
)(HttpPort, requested=before(notes_method), status=found_below_tools)
defect(
    "version-header-unread",
    "Serves a request whose header names another version than its body.",
    "http:stateless:version",
)(HttpPort, check_version=always(None))
defect(
    "version-of-list-unread",
    "Lists its tools whatever version the header names.",
    "http:stateless:version",
)(HttpPort, requested=before(notes_method), check_version=unread_of("tools/list"))
defect(
    "version-of-discovery-unread",
    "Answers `server/discover` whatever version the header names.",
    "http:stateless:version",
)(HttpPort, requested=before(notes_method), check_version=unread_of("server/discover"))
defect(
    "second-disconnect-of-id-overlooked",
    "Does not cancel a disconnected request whose id another disconnected request had before.",
    "http:stateless:disconnect",
)(HttpPort, disconnected=disconnected_once)
defect(
    "encoded-header-uncompared",
    "Does not compare a header with the body when its value comes in base64.",
    "http:stateless:header",
)(HttpPort, check_headers=passes_encoded)
defect(
    "http-era-of-latest-request",
    "Answers a call in the era of the latest request of any client.",
    "stateless:result-type",
)(HttpPort, is_stateless=notes("era"), finished=in_latest_era)
