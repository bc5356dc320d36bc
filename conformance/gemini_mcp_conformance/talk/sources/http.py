"""What only HTTP can show: requests of other origins, other addresses, wrong headers, and sessions that end."""

from __future__ import annotations

from collections.abc import Iterable

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.messages import CLIENT, stateless_params
from gemini_mcp_conformance.talk.plays import hangs
from gemini_mcp_conformance.talk.sources import Sources
from gemini_mcp_conformance.talk.steps import Cancel, Http, Notify, Request, Step

ORDER = 20
PHASE = "http"
STRANGERS = ("http://evil.example", "https://localhost.evil.example", "http://127.0.0.1.evil.example:80",
             "http://127.0.0.1:1.evil.example")  # fmt: skip
EVENTS = {"accept": "text/event-stream"}
LIST: Json = {"jsonrpc": "2.0", "id": "over HTTP", "method": "tools/list", "params": {}}


def conversations(sources: Sources) -> Iterable[Conversation]:
    """Both eras; the last one ends its session."""
    shows = ("origin", "bind", "notification", "content-type", "get", "version")
    strangers = _strangers(sources.spec.manifest.handshake_revisions[-1])
    yield _conversation("requests", "Requests over HTTP.", (*strangers, *_others()), *shows)
    ended: list[Step] = [Request("tools/list"), Http("DELETE"), Http(message=LIST), Http(message=LIST)]
    yield _conversation("ended", "A session that has been ended.", ended, "session:ended", aside=True)
    for revision in sources.spec.manifest.stateless_revisions:
        steps = (Request("tools/list"), *_contradictions(sources, revision), Request("tools/list"))
        shows = ("stateless:header", "stateless:version", "stateless:method")
        yield _conversation("headers", "Headers of the stateless era.", steps, *shows, revision=revision)
        left = "A client that closes its connection."
        yield _conversation(
            "disconnect", left, _disconnected(sources, revision), "stateless:disconnect", revision=revision
        )


def _conversation(id: str, title: str, steps: Iterable[Step], *shows: str, **more: Json) -> Conversation:
    return Conversation(f"http-{id}", title, tuple(steps), PHASE, tuple(f"http:{name}" for name in shows), **more)


def _strangers(revision: str) -> Iterable[Step]:
    """A page of another origin may neither begin a session nor use one."""
    params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": dict(CLIENT)}
    first = {"jsonrpc": "2.0", "id": "stranger", "method": "initialize", "params": params}
    for origin in STRANGERS:
        yield from (Http(message=first, headers={"origin": origin}), Http(message=LIST, headers={"origin": origin}))
    yield Http("GET", headers={"origin": STRANGERS[0], **EVENTS})
    yield Request("tools/list")


def _others() -> Iterable[Step]:
    yield from (Http("GET", headers=EVENTS), Http("GET", elsewhere=True), Notify("notifications/no-such"))
    for version in ("1999-12-31", "2099-01-01", "latest"):
        yield Http(message=LIST, headers={"mcp-protocol-version": version})
    yield from (Request("tools/list"), Request("ping"))


def _contradictions(sources: Sources, revision: str) -> Iterable[Step]:
    """Each header missing, and each with something else than the body says; then a method that nobody knows."""
    called = {"name": "no-such-tool", "arguments": sources.arguments(sources.first, "x")}
    older = sources.spec.manifest.handshake_revisions[0]
    others = (("mcp-protocol-version", older), ("mcp-method", "tools/call"), ("mcp-name", sources.first))
    for header, other in others:
        message = _message(revision, "tools/call", called) if header == "mcp-name" else _message(revision, "tools/list")
        yield from (Http(message=message, headers={header: value}) for value in (None, other))
    yield Http(message=_message(revision, "no/such/method"))


def _disconnected(sources: Sources, revision: str) -> Iterable[Step]:
    asked = "The abandoned question"
    yield sources.ask(sources.first, asked, hangs(), name="abandoned", until="started")
    yield from (Cancel("abandoned"), Http(message=_message(revision, "tools/list")))


def _message(revision: str, method: str, params: Json = None) -> Json:
    whole = stateless_params(params, revision)
    return {"jsonrpc": "2.0", "id": f"over HTTP: {method}", "method": method, "params": whole}
