"""Defects in the list of tools."""

from typing import Any

from defects.record import defect
from planning import PROPERTIES, TEXT
from speaking import Message, RpcError
from steps import Change, Step, adding, always, for_tool, gives, on, refuses, without


def chat(change: Change) -> Step:
    """Changes the properties of `chat`."""
    return for_tool("chat", gives(change))


def reply(change: Change) -> Step:
    """Changes the properties of `chat-reply`."""
    return for_tool("chat-reply", gives(change))


def renaming(old: str, new: str) -> Change:
    return lambda properties: {new if name == old else name: schema for name, schema in properties.items()}


def in_turn(port: Any, real: Any) -> list[Message]:
    """Turns the list at every second call."""
    port.memory["is_turned"] = not port.memory.get("is_turned", True)
    return real()[::-1] if port.memory["is_turned"] else real()


defect("chat-renamed", "Lists `chat` under another name.", "tools:chat")(tool=chat(adding(name="ask-gemini")))
defect("reply-renamed", "Lists `chat-reply` with an underscore.", "tools:chat-reply")(
    tool=reply(adding(name="chat_reply"))
)
defect("reply-unlisted", "Serves `chat-reply` but does not list it.", "tools:chat-reply")(
    tools=gives(lambda tools: tools[:1])
)
defect("chat-prompt-may-be-array", "Declares that the prompt of `chat` may be an array.", "tools:chat:prompt")(
    properties=chat(adding(prompt={"type": ["string", "array"]}))
)
defect("chat-model-untyped", "Declares `model` without a type.", "tools:chat:model")(
    properties=chat(adding(model={"description": "The model."}))
)
defect(
    "chat-system-prompt-snake-case", "Declares `system_prompt` in place of `systemPrompt`.", "tools:chat:system-prompt"
)(properties=chat(renaming("systemPrompt", "system_prompt")))
defect("chat-cwd-undeclared", "Does not declare `cwd` for `chat`.", "tools:chat:cwd")(properties=chat(without("cwd")))
defect("chat-requires-model", "Declares `model` as required by `chat`.", "tools:chat:required")(
    required=for_tool("chat", always(["prompt", "model"]))
)
defect("chat-requires-nothing", "Declares no property as required by `chat`.", "tools:chat:required")(
    required=for_tool("chat", always([]))
)
defect("reply-prompt-renamed", "Declares `message` in place of the prompt of `chat-reply`.", "tools:chat-reply:prompt")(
    properties=reply(lambda right: {**right, "message": right["prompt"], "prompt": {}})
)
defect("session-id-may-be-number", "Declares that a session may be a number.", "tools:chat-reply:session-id")(
    properties=reply(adding(sessionId={"type": ["string", "integer"]}))
)
defect("reply-model-undeclared", "Does not declare `model` for `chat-reply`.", "tools:chat-reply:model")(
    properties=reply(without("model"))
)
defect(
    "reply-system-prompt-undeclared",
    "Does not declare `systemPrompt` for `chat-reply`.",
    "tools:chat-reply:system-prompt",
)(properties=reply(without("systemPrompt")))
defect("reply-cwd-nullable", "Declares that the `cwd` of `chat-reply` may be null.", "tools:chat-reply:cwd")(
    properties=reply(adding(cwd={"anyOf": [TEXT, {"type": "null"}]}))
)
defect("reply-requires-session", "Declares `sessionId` as required.", "tools:chat-reply:required")(
    required=for_tool("chat-reply", always(["prompt", "sessionId"]))
)
defect("schema-without-type", "Leaves the type out of the schema of `chat-reply`.", "tools:schema")(
    tool=reply(lambda tool: {**tool, "inputSchema": without("type")(tool["inputSchema"])})
)
defect("schema-invalid", "Declares a minimal length that is no number.", "tools:schema")(
    properties=chat(adding(prompt={**TEXT, "minLength": "1"}))
)
defect("chat-listed-twice", "Lists `chat` twice.", "tools:unique")(tools=gives(lambda tools: [*tools, tools[0]]))
defect("order-changes", "Lists its tools in another order each time.", "tools:order")(tools=in_turn)
defect("any-cursor-starts-again", "Lists its tools from the start, whatever the cursor.", "tools:cursor")(
    list_tools=lambda port, real, params, stateless: real({}, stateless)
)
defect(
    "unknown-tool-is-chat",
    "Serves a call of an unknown tool as `chat`.",
    "arguments:refused:not-started",
    "tools:unknown",
)(
    new_call=lambda port, real, identity, params, stateless: real(
        identity, params if params.get("name") == "chat-reply" else {**params, "name": "chat"}, stateless
    )
)
defect("unknown-tool-succeeds", "Says that a tool is unknown in a result that is no error.", "tools:unknown")(
    begin_call=on(RpcError, lambda port, error: {"content": port.content(error.error["message"])})
)
defect(
    "unknown-tool-is-unknown-method", "Answers a call of an unknown tool as an unknown method.", "tools:unknown:code"
)(
    new_call=refuses(
        RpcError(-32601, "The tool is unknown."),
        lambda identity, params, stateless: params.get("name") not in PROPERTIES,
    )
)
defect("tools-in-any-case", "Finds a tool whatever the case of its name and the blanks around it.", "tools:unknown")(
    new_call=lambda port, real, identity, params, stateless: real(
        identity, {**params, "name": str(params.get("name")).strip().lower()}, stateless
    )
)
