"""Defects in the list of tools."""

from __future__ import annotations

from collections.abc import Mapping

from defects.record import breaks
from planning import TEXT
from port import Port
from running import Call
from speaking import JSON, Message, RpcError


def renamed(properties: Message, old: str, new: str) -> Message:
    return {new if name == old else name: schema for name, schema in properties.items()}


def without(properties: Message, lost: str) -> Message:
    return {name: schema for name, schema in properties.items() if name != lost}


class Listed(Port):
    """A port whose list of properties is changed for one tool."""

    tool_changed = "chat"

    def properties(self, name: str) -> Message:
        properties = super().properties(name)
        return self.changed(properties) if name == self.tool_changed else properties

    def changed(self, properties: Message) -> Message:
        return properties


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


@breaks("tools:chat:prompt")
class ChatPromptMayBeArray(Listed):
    """Declares that the prompt of `chat` may be an array."""

    def changed(self, properties: Message) -> Message:
        return {**properties, "prompt": {"type": ["string", "array"]}}


@breaks("tools:chat:model")
class ChatModelUntyped(Listed):
    """Declares `model` without a type."""

    def changed(self, properties: Message) -> Message:
        return {**properties, "model": {"description": "The model."}}


@breaks("tools:chat:system-prompt")
class ChatSystemPromptSnakeCase(Listed):
    """Declares `system_prompt` in place of `systemPrompt`."""

    def changed(self, properties: Message) -> Message:
        return renamed(properties, "systemPrompt", "system_prompt")


@breaks("tools:chat:cwd")
class ChatCwdUndeclared(Listed):
    """Does not declare `cwd` for `chat`."""

    def changed(self, properties: Message) -> Message:
        return without(properties, "cwd")


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


@breaks("tools:chat-reply:prompt")
class ReplyPromptRenamed(Listed):
    """Declares `message` in place of the prompt of `chat-reply`."""

    tool_changed = "chat-reply"

    def changed(self, properties: Message) -> Message:
        return {**renamed(properties, "prompt", "message"), "prompt": {}}


@breaks("tools:chat-reply:session-id")
class SessionIdMayBeNumber(Listed):
    """Declares that a session may be a number."""

    tool_changed = "chat-reply"

    def changed(self, properties: Message) -> Message:
        return {**properties, "sessionId": {"type": ["string", "integer"]}}


@breaks("tools:chat-reply:model")
class ReplyModelUndeclared(Listed):
    """Does not declare `model` for `chat-reply`."""

    tool_changed = "chat-reply"

    def changed(self, properties: Message) -> Message:
        return without(properties, "model")


@breaks("tools:chat-reply:system-prompt")
class ReplySystemPromptUndeclared(Listed):
    """Does not declare `systemPrompt` for `chat-reply`."""

    tool_changed = "chat-reply"

    def changed(self, properties: Message) -> Message:
        return without(properties, "systemPrompt")


@breaks("tools:chat-reply:cwd")
class ReplyCwdNullable(Listed):
    """Declares that the `cwd` of `chat-reply` may be null."""

    tool_changed = "chat-reply"

    def changed(self, properties: Message) -> Message:
        return {**properties, "cwd": {"anyOf": [TEXT, {"type": "null"}]}}


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


@breaks("tools:schema")
class SchemaInvalid(Listed):
    """Declares a minimal length that is no number."""

    def changed(self, properties: Message) -> Message:
        return {**properties, "prompt": {**TEXT, "minLength": "1"}}


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
