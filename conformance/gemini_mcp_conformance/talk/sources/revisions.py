"""A short conversation in each revision of the protocol, because a defect may show in only one of them."""

from __future__ import annotations

from collections.abc import Iterable

from gemini_mcp.spec.values import Json, table
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.messages import CLIENT
from gemini_mcp_conformance.talk.plays import SESSION, fails, hangs, session
from gemini_mcp_conformance.talk.sources import Sources
from gemini_mcp_conformance.talk.steps import Await, Cancel, Notify, Release, Request, Step, call

ORDER = 50
PHASE = "revisions"
META = "io.modelcontextprotocol/"
UNKNOWN = ("2099-01-01",)
LIFECYCLE = ("lifecycle:initialize", "lifecycle:version:supported", "lifecycle:capabilities:tools")
STATELESS = ("discover", "no-handshake", "result-type", "server-info", "caching", "cancelled")


def conversations(sources: Sources) -> Iterable[Conversation]:
    """Every revision of the specification; a port that does not speak one declines it."""
    manifest = sources.spec.manifest
    for revision in manifest.handshake_revisions:
        steps = (Request("ping"), *_steps(sources), Request("ping"))
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
        steps = (Request("server/discover"), *_steps(sources), *_cancelled(sources))
        yield _conversation(revision, f"The revision {revision}.", steps, *shows)
        steps, shows = tuple(_incomplete(sources, revision)), ("stateless:meta", "stateless:version")
        yield _conversation(revision, "Requests that lack what they need.", steps, *shows, also="-incomplete")


def _conversation(revision: str, title: str, steps: Iterable[Step], *shows: str, also: str = "") -> Conversation:
    return Conversation(f"revision-{revision}{also}", title, tuple(steps), PHASE, shows, revision=revision)


def _steps(sources: Sources) -> Iterable[Step]:
    """Every tool, what it refuses and how it fails, ids, progress, a call beside another, and a cancellation."""
    ask, answers = sources.ask, sources.answers
    yield from (Request("tools/list"), Notify("notifications/no-such"), Request("no/such/method", {}, id="unknown"))
    for tool in sources.spec.names:
        more: Json = {"session": SESSION, "option": "another-model"} if sources.spec.session(tool) else {}
        meta = {"progressToken": f"of {tool}"}
        arguments = sources.arguments(tool, f"The {tool}'s progress", **more)
        yield ask(tool, f"The {tool}'s question?", answers(f"The {tool}'s answer.", session(tool)), **more)
        yield ask(tool, f"The failing {tool}", fails(1), **more)
        yield _refused(sources, tool)
        yield ask(tool, f"After a failed {tool}", answers("질문 🙂\n"), id=f"text {tool}", **more)
        params = {"name": tool, "arguments": arguments, "_meta": meta}
        yield Request("tools/call", params, (answers("Progress."),))
    yield from (Request("tools/list", id=""), Request("tools/list", id=0))
    yield call("no-such-tool", sources.arguments(sources.first, "x"), answers("x"))
    yield Request("tools/call", {"name": sources.first, "arguments": ["prompt"]})
    yield from _beside(sources)


def _refused(sources: Sources, tool: str) -> Request:
    """A call that lacks what it requires, or has a value that no schema allows."""
    required = sources.spec.tools[tool].required
    names = required or tuple(sources.spec.tools[tool].properties)[:1]
    given = {**sources.spec.required(tool), **{name: {"not": "allowed"} for name in names}}
    return call(tool, given, id=f"refused {tool}")


def _beside(sources: Sources) -> Iterable[Step]:
    """A call is held, another is cancelled and a third served; then the first is answered."""
    ask, answers = sources.ask, sources.answers
    holding, first = sources.spec.resumes or sources.first, sources.first
    held = answers("Held.", session("held"), "held")
    yield ask(holding, "The held question", held, session=SESSION, name="held", until="started")
    yield ask(first, "The cancelled question", hangs(True), name="cancelled", id="c", until="started")
    yield from (Cancel("cancelled"), Request("tools/list"))
    yield ask(first, "The quick question", answers("Quick.", session("quick")))
    yield from (Release("held"), Await("held"))


def _cancelled(sources: Sources) -> Iterable[Step]:
    """Calls of every tool that asked for progress and are cancelled."""
    for tool in sources.spec.names:
        arguments = sources.arguments(tool, f"Cancelled progress of {tool}")
        params = {"name": tool, "arguments": arguments, "_meta": {"progressToken": tool}}
        yield Request("tools/call", params, (hangs(),), f"progress {tool}", "started")
        after = sources.ask(tool, f"After the cancelled {tool}", sources.answers("Yes."))
        yield from (Cancel(f"progress {tool}"), after)


def _incomplete(sources: Sources, revision: str) -> Iterable[Step]:
    """Requests that name a version and no capabilities, or a version that does not exist."""
    capabilities = {f"{META}clientCapabilities": {}, f"{META}clientInfo": dict(CLIENT)}
    for method, params in (("tools/list", None), ("server/discover", None), *_calls(sources)):
        lacking = {**table(params), "_meta": {f"{META}protocolVersion": revision, f"{META}clientInfo": dict(CLIENT)}}
        unknown = {**table(params), "_meta": {**capabilities, f"{META}protocolVersion": "2099-01-01"}}
        yield from (Request(method, lacking, bare=True), Request(method, unknown, bare=True))
    yield Request("tools/list")


def _calls(sources: Sources) -> Iterable[tuple[str, Json]]:
    for tool in sources.spec.names:
        yield "tools/call", {"name": tool, "arguments": sources.arguments(tool, f"An incomplete {tool}")}
