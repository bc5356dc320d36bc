"""A `chat-reply` that declares itself wrongly: ports that break `tools:chat-reply`."""

from collections.abc import Mapping
from typing import Any

from conditions import REVISION, speaks
from defects.protocol.shared import reply, stateless
from defects.record import defect
from planning import TEXT
from speaking import INVALID_PARAMS, Message, RpcError
from steps import adding, always, for_tool, gives, without


def undeclared(port: Any, real: Any, name: str) -> Message:
    properties = real(name)
    return without("cwd")(properties) if name == "chat-reply" and speaks(port, "2024-11-05") else properties


def pages_once(port: Any, real: Any, params: Mapping[str, Any], stateless: bool) -> Message:
    """One tool a page; the cursor of the second is good for one request."""
    (first, *others), cursor = (whole := real({}, stateless))["tools"], params.get("cursor")
    if cursor is None:
        port.memory["cursor"] = "the second page"
        return {**whole, "tools": [first], "nextCursor": port.memory["cursor"]}
    if cursor != port.memory.pop("cursor", None):
        raise RpcError(INVALID_PARAMS, "The cursor is not one of this server.")
    return {**whole, "tools": others}


defect(
    "cursor-good-once",
    "Forgets a cursor once used, so that the second of two walks through the pages misses a tool.",
    "tools:chat-reply",
)(list_tools=pages_once)
defect("stateless-list-short", "Lists `chat` alone in this era.", "tools:chat-reply")(
    list_tools=stateless(lambda result: {**result, "tools": result["tools"][:1]})
)
defect("reply-renamed", "Lists `chat-reply` with an underscore.", "tools:chat-reply")(
    tool=reply(adding(name="chat_reply"))
)
defect("reply-unlisted", "Serves `chat-reply` but does not list it.", "tools:chat-reply")(
    tools=gives(lambda tools: tools[:1])
)
defect("cwd-undeclared-in-2024-11-05", "Declares no `cwd` to clients of 2024-11-05.", "tools:chat-reply:cwd")(
    initialize=REVISION, properties=undeclared
)
defect("reply-cwd-nullable", "Declares that the `cwd` of `chat-reply` may be null.", "tools:chat-reply:cwd")(
    properties=reply(adding(cwd={"anyOf": [TEXT, {"type": "null"}]}))
)
defect("reply-model-undeclared", "Does not declare `model` for `chat-reply`.", "tools:chat-reply:model")(
    properties=reply(without("model"))
)
defect("reply-prompt-renamed", "Declares `message` in place of the prompt of `chat-reply`.", "tools:chat-reply:prompt")(
    properties=reply(lambda right: {**right, "message": right["prompt"], "prompt": {}})
)
defect("reply-requires-session", "Declares `sessionId` as required.", "tools:chat-reply:required")(
    required=for_tool("chat-reply", always(["prompt", "sessionId"]))
)
defect("session-id-may-be-number", "Declares that a session may be a number.", "tools:chat-reply:session-id")(
    properties=reply(adding(sessionId={"type": ["string", "integer"]}))
)
defect(
    "reply-system-prompt-undeclared",
    "Does not declare `systemPrompt` for `chat-reply`.",
    "tools:chat-reply:system-prompt",
)(properties=reply(without("systemPrompt")))
