"""The first requests to any port: its identity, its tools, and a method that does not exist."""

from __future__ import annotations

from collections.abc import Iterable

from gemini_mcp.spec.families import kebab
from gemini_mcp.spec.values import Json, table
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.messages import CLIENT, NO_CURSORS, handshake
from gemini_mcp_conformance.talk.sources import Maker, Sources
from gemini_mcp_conformance.talk.steps import Notify, Request, Step, call
from gemini_mcp_conformance.talk.texts import NAMES_OF_OBJECTS, PLAIN, SURROGATE

ORDER = 0
METHODS = ("ping", "tools/list", "tools/call")
"""Methods with names that others could be taken for."""


def conversations(sources: Sources) -> Iterable[Conversation]:
    """Those that explain most come first."""
    made = Basics(sources)
    yield made.lists()
    pages = [Request("tools/list", {"cursor": cursor}) for cursor in NO_CURSORS]
    listed = (Request("tools/list"), *pages, Request("tools/list"), *pages)
    shows = ("tools:cursor", "tools:order")
    yield made.conversation("tools-cursor", "Pages of tools that nobody named.", listed, *shows)
    pings = (Request("ping"), Request("ping", {}), Request("ping", {"_meta": {"example.org/note": 1}}))
    yield made.conversation("ping", "Pings with parameters and without.", pings, "lifecycle:ping")
    for revision in (None, *sources.spec.manifest.stateless_revisions):
        yield made.unknown_methods(revision)
        yield made.unknown_tools(revision)
    nobody: Json = {**table(handshake("1999-12-31")), "clientInfo": {**CLIENT, "name": f"half a {SURROGATE}"}}
    title = "A client of a revision that does not exist."
    shows = ("lifecycle:version:unsupported", "rpc:alive:surrogate")
    yield made.conversation("unknown-revision", title, [Request("initialize", nobody)], *shows, greet=False)


class Basics(Maker):
    """What every client asks, and what it gets wrong."""

    phase, prefix = "basics", ""

    def lists(self) -> Conversation:
        steps = (Request("tools/list", walks=1), Request("tools/list", walks=2))
        tools = self.spec.tools.values()
        listed = (f"tools:{kebab(tool.name)}" for tool in tools)
        declared = (
            f"tools:{kebab(tool.name)}:{kebab(name)}" for tool in tools for name in (*tool.properties, "required")
        )
        shows = ("tools:schema", "tools:unique", "tools:order", "tools:removed", *listed, *declared)
        return self.conversation("tools", "The list of tools, again and again.", steps, *shows)

    def unknown_methods(self, revision: str | None) -> Conversation:
        near = (each for name in METHODS for each in (name.upper(), name[:-1], f"{name}s", f"{name}/more"))
        names = ("", "no/such/method", "notifications/no-such", *near, *NAMES_OF_OBJECTS)
        unknown = [Request(name, {}) for name in names]
        # Twice: what was refused once is no better known.
        steps = (*unknown, *unknown, Notify("notifications/no-such"))
        shows = ("rpc:error:method", "rpc:response:error", "rpc:notification:unanswered")
        title = "Methods that no revision of the protocol knows."
        return self._of("unknown-method", title, revision, steps, *shows)

    def unknown_tools(self, revision: str | None) -> Conversation:
        """Tools that no port offers, some with names close to those of real ones."""
        first, last, tools = self.names[0], self.names[-1], self.spec.tools
        known = {*tools, *(name.replace("_", "-") for name in tools)}
        near = (f" {first}", f"{last} ", first.title(), last.upper(), last.replace("-", "_"), f"{first}s", last[:-1])
        behind = (f"{mark}{tool}" for mark, tool in zip(("mcp__x__", "x.", "x/", "x:"), (first, last) * 2, strict=True))
        names = ("no-such-tool", *near, *behind, "", *NAMES_OF_OBJECTS)
        arguments = self.arguments(first, PLAIN)
        # A port may offer more tools than the specification has; its list tells which.
        calls = [call(name, arguments, self.answers("Paris.")) for name in names if name not in known]
        steps = (Request("tools/list", walks=1), *calls, *calls)
        shows = ("tools:unknown", "tools:unknown:code")
        return self._of("unknown-tool", "A tool that nobody offers.", revision, steps, *shows)

    def _of(self, id: str, title: str, revision: str | None, steps: Iterable[Step], *shows: str) -> Conversation:
        """One in the era with a handshake, or in a revision of the other."""
        id = f"{id}-{revision}" if revision else id
        return self.conversation(id, title, steps, *shows, revision=revision)
