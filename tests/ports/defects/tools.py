"""Defects in the list of tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from defects.record import breaks, variant
from planning import TEXT
from port import Port
from running import Call
from speaking import JSON, Message, RpcError


def renamed(properties: Message, old: str, new: str) -> Message:
    return {new if name == old else name: schema for name, schema in properties.items()}


def without(properties: Message, lost: str) -> Message:
    return {name: schema for name, schema in properties.items() if name != lost}


def lists(name: str, sentence: str, *kills: str, by: Callable[[Message], Message], tool: str = "chat") -> None:
    """Register a port that makes such properties of the right ones of one tool."""

    def properties(port: Port, listed: str) -> Message:
        right = Port.properties(port, listed)
        return by(right) if listed == tool else right

    variant(Port, name, sentence, kills, properties=properties)


@breaks("tools:chat")
class ChatRenamed(Port):
    """Lists `chat` under another name."""

    def tool(self, name: str) -> Message:
        return {**super().tool(name), "name": {"chat": "ask-gemini"}.get(name, name)}


@breaks("tools:chat-reply")
class ReplyRenamed(Port):
    """Lists `chat-reply` with an underscore."""

    def tool(self, name: str) -> Message:
        return {**super().tool(name), "name": name.replace("-", "_")}


@breaks("tools:chat-reply")
class ReplyUnlisted(Port):
    """Serves `chat-reply` but does not list it."""

    def tools(self) -> list[Message]:
        return super().tools()[:1]


lists(
    "chat-prompt-may-be-array",
    "Declares that the prompt of `chat` may be an array.",
    "tools:chat:prompt",
    by=lambda right: {**right, "prompt": {"type": ["string", "array"]}},
)
lists(
    "chat-model-untyped",
    "Declares `model` without a type.",
    "tools:chat:model",
    by=lambda right: {**right, "model": {"description": "The model."}},
)
lists(
    "chat-system-prompt-snake-case",
    "Declares `system_prompt` in place of `systemPrompt`.",
    "tools:chat:system-prompt",
    by=lambda right: renamed(right, "systemPrompt", "system_prompt"),
)
lists(
    "chat-cwd-undeclared",
    "Does not declare `cwd` for `chat`.",
    "tools:chat:cwd",
    by=lambda right: without(right, "cwd"),
)


@breaks("tools:chat:required")
class ChatRequiresModel(Port):
    """Declares `model` as required by `chat`."""

    def required(self, name: str) -> list[str]:
        return ["prompt", "model"] if name == "chat" else ["prompt"]


@breaks("tools:chat:required")
class ChatRequiresNothing(Port):
    """Declares no property as required by `chat`."""

    def required(self, name: str) -> list[str]:
        return [] if name == "chat" else ["prompt"]


lists(
    "reply-prompt-renamed",
    "Declares `message` in place of the prompt of `chat-reply`.",
    "tools:chat-reply:prompt",
    tool="chat-reply",
    by=lambda right: {**renamed(right, "prompt", "message"), "prompt": {}},
)
lists(
    "session-id-may-be-number",
    "Declares that a session may be a number.",
    "tools:chat-reply:session-id",
    tool="chat-reply",
    by=lambda right: {**right, "sessionId": {"type": ["string", "integer"]}},
)
lists(
    "reply-model-undeclared",
    "Does not declare `model` for `chat-reply`.",
    "tools:chat-reply:model",
    tool="chat-reply",
    by=lambda right: without(right, "model"),
)
lists(
    "reply-system-prompt-undeclared",
    "Does not declare `systemPrompt` for `chat-reply`.",
    "tools:chat-reply:system-prompt",
    tool="chat-reply",
    by=lambda right: without(right, "systemPrompt"),
)
lists(
    "reply-cwd-nullable",
    "Declares that the `cwd` of `chat-reply` may be null.",
    "tools:chat-reply:cwd",
    tool="chat-reply",
    by=lambda right: {**right, "cwd": {"anyOf": [TEXT, {"type": "null"}]}},
)


@breaks("tools:chat-reply:required")
class ReplyRequiresSession(Port):
    """Declares `sessionId` as required."""

    def required(self, name: str) -> list[str]:
        return ["prompt", "sessionId"] if name == "chat-reply" else ["prompt"]


@breaks("tools:schema")
class SchemaWithoutType(Port):
    """Leaves the type out of the schema of `chat-reply`."""

    def tool(self, name: str) -> Message:
        tool = super().tool(name)
        return tool if name == "chat" else {**tool, "inputSchema": without(tool["inputSchema"], "type")}


lists(
    "schema-invalid",
    "Declares a minimal length that is no number.",
    "tools:schema",
    by=lambda right: {**right, "prompt": {**TEXT, "minLength": "1"}},
)


@breaks("tools:unique")
class ChatListedTwice(Port):
    """Lists `chat` twice."""

    def tools(self) -> list[Message]:
        return [*super().tools(), super().tools()[0]]


@breaks("tools:order")
class OrderChanges(Port):
    """Lists its tools in another order each time."""

    turned = False

    def tools(self) -> list[Message]:
        self.turned = not self.turned
        return super().tools() if self.turned else super().tools()[::-1]


@breaks("tools:cursor")
class AnyCursorStartsAgain(Port):
    """Lists its tools from the start, whatever the cursor."""

    def list_tools(self, params: Mapping[str, JSON], stateless: bool) -> Message:
        return super().list_tools({}, stateless)


@breaks("tools:unknown")
class UnknownToolIsChat(Port):
    """Serves a call of an unknown tool as `chat`."""

    def new_call(self, identity: JSON, params: Mapping[str, JSON], stateless: bool) -> Call:
        name = params.get("name")
        return super().new_call(identity, {**params, "name": name if name == "chat-reply" else "chat"}, stateless)


@breaks("tools:unknown")
class UnknownToolSucceeds(Port):
    """Says that a tool is unknown in a result that is no error."""

    def begin_call(self, identity: JSON, params: Mapping[str, JSON], stateless: bool) -> Message | None:
        try:
            return super().begin_call(identity, params, stateless)
        except RpcError as error:
            return {"content": self.content(error.error["message"])}


@breaks("tools:unknown:code")
class UnknownToolIsUnknownMethod(Port):
    """Answers a call of an unknown tool as an unknown method."""

    def new_call(self, identity: JSON, params: Mapping[str, JSON], stateless: bool) -> Call:
        if params.get("name") not in ("chat", "chat-reply"):
            raise RpcError(-32601, "The tool is unknown.")
        return super().new_call(identity, params, stateless)
