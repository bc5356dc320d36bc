"""Lists and schemas that are wrong as a whole: ports that break `tools`, but for what one tool says of itself."""

from collections.abc import Mapping
from typing import Any

from defects.protocol.shared import chat, reply
from defects.record import defect
from planning import TEXT
from speaking import Message
from steps import adding, gives, without


def numeric_cursor_is_page(port: Any, real: Any, params: Mapping[str, Any], stateless: bool) -> Message:
    cursor = params.get("cursor")
    if isinstance(cursor, str) and cursor.isdigit():
        return {**real({}, stateless), "tools": port.tools()[int(cursor) :]}
    return real(params, stateless)


def in_turn(port: Any, real: Any) -> list[Message]:
    """Turns the list at every second call."""
    port.memory["is_turned"] = not port.memory.get("is_turned", True)
    return real()[::-1] if port.memory["is_turned"] else real()


def list_cut_after_notification(port: Any, real: Any, method: str, params: Any) -> None:
    if method not in ("notifications/initialized", "notifications/cancelled"):
        port.memory["odd"] = True
    real(method, params)


def tools_after_notification(port: Any, real: Any) -> list[Message]:
    return real()[:1] if port.memory.get("odd") else real()


defect("digits-are-cursor", "Takes a cursor of digits for the number of a tool.", "tools:cursor")(
    list_tools=numeric_cursor_is_page
)
defect("any-cursor-starts-again", "Lists its tools from the start, whatever the cursor.", "tools:cursor")(
    list_tools=lambda port, real, params, stateless: real({}, stateless)
)
defect("order-changes", "Lists its tools in another order each time.", "tools:order")(tools=in_turn)
defect(
    "list-short-after-notification", "Lists one tool once a notification has come that it does not know.", "tools:order"
)(notified=list_cut_after_notification, tools=tools_after_notification)
defect("schema-without-type", "Leaves the type out of the schema of `chat-reply`.", "tools:schema")(
    tool=reply(lambda tool: {**tool, "inputSchema": without("type")(tool["inputSchema"])})
)
defect("schema-invalid", "Declares a minimal length that is no number.", "tools:schema")(
    properties=chat(adding(prompt={**TEXT, "minLength": "1"}))
)
defect("chat-listed-twice", "Lists `chat` twice.", "tools:unique")(tools=gives(lambda tools: [*tools, tools[0]]))
