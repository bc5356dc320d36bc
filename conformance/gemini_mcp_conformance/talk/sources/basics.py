"""The first requests to any port: its identity, its tools, and a method that does not exist."""

from __future__ import annotations

from collections.abc import Iterable

from gemini_mcp.spec.families import kebab
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.messages import CLIENT, NO_CURSOR
from gemini_mcp_conformance.talk.sources import Sources
from gemini_mcp_conformance.talk.steps import Notify, Request, call
from gemini_mcp_conformance.talk.texts import PLAIN

ORDER = 0


def conversations(sources: Sources) -> Iterable[Conversation]:
    """In the order of what explains most."""
    tools = sources.spec.tools.values()
    yield Conversation(
        "tools",
        "The list of tools, twice.",
        (Request("tools/list", pages=True), Request("tools/list", pages=True)),
        "basics",
        (
            *("tools:schema", "tools:unique", "tools:order", "tools:removed"),
            *(f"tools:{kebab(tool.name)}" for tool in tools),
            *(f"tools:{kebab(tool.name)}:{kebab(name)}" for tool in tools for name in (*tool.properties, "required")),
        ),
    )
    cursor = (Request("tools/list", {"cursor": NO_CURSOR}),)
    yield Conversation("tools-cursor", "A page of tools that nobody named.", cursor, "basics", ("tools:cursor",))
    yield Conversation("ping", "A ping.", (Request("ping"),), "basics", ("lifecycle:ping",))
    yield Conversation(
        "unknown-method",
        "A method that no revision of the protocol knows.",
        (Request("no/such/method", {}), Notify("notifications/no-such")),
        "basics",
        ("rpc:error:method", "rpc:response:error", "rpc:notification:unanswered"),
    )
    yield _unknown_tools(sources)
    yield Conversation(
        "unknown-revision",
        "A client of a revision that does not exist.",
        (Request("initialize", {"protocolVersion": "1999-12-31", "capabilities": {}, "clientInfo": dict(CLIENT)}),),
        "basics",
        ("lifecycle:version:unsupported",),
        greet=False,
    )


def _unknown_tools(sources: Sources) -> Conversation:
    """Tools that no port offers, some with names close to those of real ones."""
    first, last = sources.spec.names[0], sources.spec.names[-1]
    known = {name.replace("_", "-") for name in sources.spec.tools}
    names = ("no-such-tool", f" {first}", f"{last} ", first.title(), last.replace("-", "_"), "")
    arguments = sources.arguments(first, PLAIN)
    steps = [
        call(name, arguments, sources.answers("Paris.")) for name in names if name not in {*known, *sources.spec.tools}
    ]
    shows = ("tools:unknown", "tools:unknown:code")
    return Conversation("unknown-tool", "A tool that nobody offers.", tuple(steps), "basics", shows)
