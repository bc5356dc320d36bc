"""The first things that anybody asks a port: who it is, what it offers, and a request that nobody understands."""

from __future__ import annotations

from collections.abc import Iterable

from gemini_mcp.spec import load_server
from gemini_mcp_conformance.judge.checks.tools import NO_CURSOR
from gemini_mcp_conformance.talk.conversation import Conversation, Notify, Request, call
from gemini_mcp_conformance.talk.plays import answers
from gemini_mcp_conformance.talk.sources import Sources

ORDER = 0


def conversations(sources: Sources) -> Iterable[Conversation]:
    """In the order of what explains most."""
    yield Conversation(
        "tools",
        "The list of tools, twice.",
        (Request("tools/list", pages=True), Request("tools/list", pages=True)),
        "basics",
        (
            "tools:schema",
            "tools:unique",
            "tools:order",
            *(f"tools:{tool.name}" for tool in load_server(sources.spec).tools),
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
    yield Conversation(
        "unknown-tool",
        "A tool that nobody offers.",
        tuple(
            call(name, {"prompt": "What is the capital of France?"}, answers("Paris."))
            for name in ("no-such-tool", " chat", "chat-reply ", "Chat", "chat_reply", "")
        ),
        "basics",
        ("tools:unknown", "tools:unknown:code"),
    )
    yield Conversation(
        "unknown-revision",
        "A client of a revision that does not exist.",
        (Request("initialize", {"protocolVersion": "1999-12-31", "capabilities": {}, "clientInfo": CLIENT}),),
        "basics",
        ("lifecycle:version:unsupported",),
        greet=False,
    )


CLIENT = {"name": "gemini-mcp-conformance", "version": "1.0.0"}
