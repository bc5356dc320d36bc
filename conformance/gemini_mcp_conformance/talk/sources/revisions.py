"""A short conversation in each revision that a port may speak: a fault may hide in one of them."""

from __future__ import annotations

from collections.abc import Iterable

from gemini_mcp.spec import load_manifest
from gemini_mcp.spec.values import table
from gemini_mcp_conformance.play.session import CLIENT
from gemini_mcp_conformance.talk.conversation import (
    Await,
    Cancel,
    Conversation,
    Json,
    Notify,
    Release,
    Request,
    Step,
    call,
)
from gemini_mcp_conformance.talk.plays import SESSION, answers, fails, hangs, session
from gemini_mcp_conformance.talk.sources import Sources

ORDER = 50
PHASE = "revisions"
META = "io.modelcontextprotocol/"
UNKNOWN = ("2099-01-01",)
LIFECYCLE = ("lifecycle:initialize", "lifecycle:version:supported", "lifecycle:capabilities:tools")
STATELESS = ("discover", "no-handshake", "result-type", "server-info", "caching", "cancelled")
TOOLS = ("chat", "chat-reply")


def conversations(sources: Sources) -> Iterable[Conversation]:
    """Every revision of the specification; a port that does not speak one declines it."""
    manifest = load_manifest(sources.spec)
    for revision in manifest.handshake_revisions:
        steps = (Request("ping"), *_steps(), Request("ping"))
        yield _conversation(revision, f"The revision {revision}.", steps, *LIFECYCLE, "lifecycle:ping")
    for version in UNKNOWN:
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": dict(CLIENT)}
        yield Conversation(
            f"revision-unknown-{version}",
            "A client of a revision that does not exist.",
            (Request("initialize", params),),
            PHASE,
            ("lifecycle:version:unsupported",),
            greet=False,
        )
    for revision in manifest.stateless_revisions:
        shows = tuple(f"stateless:{name}" for name in STATELESS)
        steps = (Request("server/discover"), *_steps(), *_cancelled())
        yield _conversation(revision, f"The revision {revision}.", steps, *shows)
        steps, shows = tuple(_incomplete(revision)), ("stateless:meta", "stateless:version")
        yield _conversation(revision, "Requests that lack what they need.", steps, *shows, also="-incomplete")


def _conversation(revision: str, title: str, steps: Iterable[Step], *shows: str, also: str = "") -> Conversation:
    return Conversation(f"revision-{revision}{also}", title, tuple(steps), PHASE, shows, revision=revision)


def _steps() -> Iterable[Step]:
    """Both tools, what they refuse and how they fail, ids, progress, a call beside another, and a cancellation."""
    yield from (Request("tools/list"), Notify("notifications/no-such"), Request("no/such/method", {}, id="unknown"))
    for tool in TOOLS:
        more: Json = {"sessionId": SESSION, "model": "gemini-2.5-pro"} if tool == "chat-reply" else {}
        asked = {"prompt": f"The {tool}'s question?", **more}
        meta = {"progressToken": f"of {tool}"}
        params = {"name": tool, "arguments": {"prompt": f"The {tool}'s progress", **more}, "_meta": meta}
        yield call(tool, asked, answers(f"The {tool}'s answer.", session(tool)))
        yield call(tool, {"prompt": f"The failing {tool}", **more}, fails(1))
        yield call(tool, {"prompt": 7}, id=f"refused {tool}")
        yield call(tool, {"prompt": f"After a failed {tool}", **more}, answers("질문 🙂\n"), id=f"text {tool}")
        yield Request("tools/call", params, (answers("Progress."),))
    yield from (Request("tools/list", id=""), Request("tools/list", id=0))
    yield call("no-such-tool", {"prompt": "x"}, answers("x"))
    yield Request("tools/call", {"name": "chat", "arguments": ["prompt"]})
    yield from _beside()


def _beside() -> Iterable[Step]:
    """A reply is held, a chat is cancelled and another served; then the reply is answered."""
    asked = {"prompt": "The held question", "sessionId": SESSION}
    yield call("chat-reply", asked, answers("Held.", session("held"), "held"), name="held", until="started")
    yield call("chat", {"prompt": "The cancelled question"}, hangs(True), name="cancelled", id="c", until="started")
    yield from (Cancel("cancelled"), Request("tools/list"))
    yield call("chat", {"prompt": "The quick question"}, answers("Quick.", session("quick")))
    yield from (Release("held"), Await("held"))


def _cancelled() -> Iterable[Step]:
    """Calls of both tools that asked for progress and are cancelled."""
    for tool in TOOLS:
        arguments = {"prompt": f"Cancelled progress of {tool}"}
        params = {"name": tool, "arguments": arguments, "_meta": {"progressToken": tool}}
        yield Request("tools/call", params, (hangs(),), f"progress {tool}", "started")
        yield from (Cancel(f"progress {tool}"), call(tool, {"prompt": f"After the cancelled {tool}"}, answers("Yes.")))


def _incomplete(revision: str) -> Iterable[Step]:
    """Requests that name a version and no capabilities, or a version that does not exist."""
    capabilities = {f"{META}clientCapabilities": {}, f"{META}clientInfo": dict(CLIENT)}
    for method, params in (("tools/list", None), ("server/discover", None), *_calls()):
        lacking = {**table(params), "_meta": {f"{META}protocolVersion": revision, f"{META}clientInfo": dict(CLIENT)}}
        unknown = {**table(params), "_meta": {**capabilities, f"{META}protocolVersion": "2099-01-01"}}
        yield from (Request(method, lacking, bare=True), Request(method, unknown, bare=True))
    yield Request("tools/list")


def _calls() -> Iterable[tuple[str, Json]]:
    for tool in TOOLS:
        yield "tools/call", {"name": tool, "arguments": {"prompt": f"An incomplete {tool}"}}
