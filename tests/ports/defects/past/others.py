"""Posts, lists of tools and options that remember: ports that break `http`, `injection` or `tools`."""

from collections.abc import Mapping
from typing import Any

from defects.record import defect
from http_port import HttpPort
from running import Call
from speaking import Message
from steps import before


def remembers_four_ended(port: Any, real: Any, session: str | None) -> None:
    real(session)
    ended = port.memory.setdefault("ended", [])
    ended.extend([session] if session else [])
    if len(ended) > 4:
        port.sessions.add(ended.pop(0))


def versions_until_known(port: Any, real: Any) -> tuple[str | None, ...]:
    post, known = port.current.post, port.memory.setdefault("sessions", set[str]())
    if post.session in known:
        return (*real(), post.version)
    if post.session is not None and post.version in real():
        known.add(post.session)
    return real()


def checked_by_text(port: Any, real: Any, tool: str, name: str, value: Any) -> str:
    accepted = port.memory.setdefault("accepted", set[str]())
    if isinstance(value, str) and value in accepted:
        return value
    text = real(tool, name, value)
    accepted.add(text)
    return text


def at_end_of_pages(port: Any, real: Any, params: Mapping[str, Any], stateless: bool) -> Message:
    """Keeps the cursor that it refuses, and behind it stands no page."""
    is_refused, port.memory["refused"] = port.memory.get("refused"), params.get("cursor") is not None
    result = real(params, stateless)
    return {**result, "tools": []} if is_refused else result


def notes_use(port: Any, tool: str, arguments: Any) -> None:
    port.memory["used"] = tool


def used_first(port: Any, real: Any) -> list[Message]:
    return sorted(real(), key=lambda tool: tool["name"] != port.memory.get("used", "chat"))


def tools_while_replying(port: Any, real: Any) -> list[Message]:
    return [tool for tool in real() if tool["name"] not in {call.tool for call in port.calls} - {"chat"}]


def checked_once(port: Any, real: Any, method: str, params: Any) -> None:
    """A retry of a client brings the same call again."""
    key = repr(params)
    if key not in port.memory:
        real(method, params)
        if method == "tools/call":
            port.memory[key] = True


def ends_by_id(port: Any, real: Any, call: Call) -> None:
    """Looks the call up that belongs to a connection by the id of its request, once."""
    if call not in port.memory:
        port.memory[call] = True
        real(next(each for each in port.calls if each.id == call.id))


defect(
    "ended-session-back-after-four",
    "Serves a session again that has been ended once four others have been ended since.",
    "http:session:ended",
)(HttpPort, end_session=remembers_four_ended)
defect(
    "version-unread-in-known-session",
    "Looks at the version in the header until a request in the session has named a supported one.",
    "http:version",
)(HttpPort, known_versions=versions_until_known)
defect(
    "checks-remembered-by-text",
    "Takes a text for a model or a session unchecked that it has accepted as another argument before.",
    "injection:option:model",
    "injection:option:session-id",
)(text=checked_by_text)
defect(
    "no-tools-behind-refused-page",
    "Lists no tools to a client whose cursor it has just refused.",
    "tools:order",
    "tools:chat",
)(list_tools=at_end_of_pages)
defect("used-tool-first", "Lists the tool first that was called last.", "tools:order")(
    plan=before(notes_use), tools=used_first
)
defect(
    "reply-unlisted-while-it-runs",
    "Lists its tools without `chat-reply` while a reply runs.",
    "tools:order",
    "concurrency:list",
)(tools=tools_while_replying)

defect(
    "headers-of-retry-unread",
    "Does not compare the headers of a call with its body when it has served one with the same parameters.",
    "http:stateless:header",
)(HttpPort, check_headers=checked_once)
defect(
    "leaver-found-by-id",
    "Cancels the call of another client with the same id for the one whose client closed its connection.",
    "http:stateless:disconnect",
)(HttpPort, disconnected=ends_by_id)
