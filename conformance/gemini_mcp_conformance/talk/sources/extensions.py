"""What messages may hold beside what a port has to know: a client that says more of itself, and requests with more."""

from __future__ import annotations

from collections.abc import Iterable

from gemini_mcp.spec.families import kebab
from gemini_mcp.spec.values import Json, table
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.messages import handshake
from gemini_mcp_conformance.talk.plays import hangs, session
from gemini_mcp_conformance.talk.sources import Maker, Sources
from gemini_mcp_conformance.talk.steps import Cancel, Notify, Request, Step, Until

ORDER = 45
CAPABLE: Json = {
    "roots": {"listChanged": True},
    "sampling": {},
    "elicitation": {"form": {}, "url": {}},
    "experimental": {"example.org/trial": {"since": 1}},
    "example.org/unheard-of": {"is": ["new"]},
}
"""What a client may be able to do; MCP lets it declare what it likes."""
NAMED: Json = {
    "title": "A client 서울",
    "description": "It says more than it must.",
    "websiteUrl": "https://example.org/",
    "icons": [{"src": "data:image/png;base64,AA==", "sizes": ["1x1"]}],
}
"""What a client may say of itself beside its name."""
MORE: Json = {"example.org/note": {"is": ["more", None]}, "io.modelcontextprotocol/note": {"is": "new"}}
"""Members that nobody knows; MCP keeps one of the names to itself."""


def conversations(sources: Sources) -> Iterable[Conversation]:
    """A session of such a client; then such requests."""
    made = Extensions(sources)
    if sources.spec.manifest.handshake_revisions:
        yield made.client()
    yield made.requests()


class Extensions(Maker):
    """Messages with more than they need, to a port of one specification."""

    phase, prefix = "basics", "extended-"

    def client(self) -> Conversation:
        params = table(handshake(self.spec.manifest.handshake_revisions[-1]))
        said = {
            **params,
            "capabilities": CAPABLE,
            "clientInfo": {**table(params["clientInfo"]), **NAMED},
            "_meta": MORE,
        }
        steps = (Request("initialize", said), Notify("notifications/initialized", {"_meta": MORE}))
        steps = (*steps, Request("tools/list"), self.ask(self.first, "Who asks?", self.answers("Somebody.")))
        title = "A client that says much of itself."
        return self.conversation("client", title, steps, "lifecycle:initialize", greet=False)

    def requests(self) -> Conversation:
        """Requests of every kind with a token and with members that nobody knows."""
        steps: list[Step] = []
        for method in ("tools/list", "ping") if self.spec.manifest.handshake_revisions else ("tools/list",):
            meta: Json = {"_meta": {"progressToken": f"of {method}", **table(MORE)}}
            steps += [Request(method, meta), Request(method, {**table(meta), **table(MORE)}), Request("tools/list")]
        for tool in self.names:
            name = f"the {tool} with more"
            ways: tuple[tuple[Script, Until], ...] = ((self.answers("More."), "answered"), (hangs(), "started"))
            for script, until in ways:
                words = f"The question of {name}, until {until}?"
                params: Json = {"name": tool, "arguments": self.arguments(tool, words, session=session(words))}
                meta = {"progressToken": words, **table(MORE)}
                steps.append(Request("tools/call", {**params, **table(MORE), "_meta": meta}, (script,), words, until))
            steps += [Cancel(f"The question of {name}, until started?"), Request("tools/list")]
        steps.append(Notify("notifications/no-such", {**table(MORE), "_meta": MORE}))
        shows = ("progress:token", "progress:start", "progress:end", "cancel:child")
        listed = (id for tool in self.names for id in (f"tools:{tool}", f"command:{kebab(tool)}"))
        title = "Requests with more than they need."
        return self.conversation("requests", title, (*steps, Request("tools/list")), *shows, *listed)
