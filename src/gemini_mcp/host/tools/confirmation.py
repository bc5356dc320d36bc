"""Whether a call must be confirmed, what is asked, and what the answer allows from then on. Pure.

The list of what is allowed is a value: an answer gives a new one.
"""

import enum
from dataclasses import dataclass

from gemini_mcp.host.tools.registry import RegisteredTool
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject

TITLE = "Confirm MCP Tool Execution"


class Outcome(enum.Enum):
    """What a user can answer, by the names Gemini CLI gives the answers."""

    PROCEED_ONCE = "proceed_once"
    PROCEED_ALWAYS = "proceed_always"
    PROCEED_ALWAYS_AND_SAVE = "proceed_always_and_save"
    PROCEED_ALWAYS_SERVER = "proceed_always_server"
    PROCEED_ALWAYS_TOOL = "proceed_always_tool"
    MODIFY_WITH_EDITOR = "modify_with_editor"
    CANCEL = "cancel"


@dataclass(frozen=True)
class AllowList:
    """Servers, as `server`, and tools, as `server.tool`, that need no confirmation any more."""

    keys: frozenset[str] = frozenset()

    def allows(self, server: str, tool: str) -> bool:
        # As in Gemini CLI, `a.b` is the tool `b` of `a` and also the server `a.b`.
        return server in self.keys or f"{server}.{tool}" in self.keys

    def after(self, answer: str, server: str, tool: str, rules: Rules) -> "AllowList":
        """The list once the user has answered; an answer that is unknown allows nothing."""
        key = {"server": server, "tool": f"{server}.{tool}"}.get(rules.allowed_by.get(answer, ""))
        return self if key is None else AllowList(self.keys | {key})


@dataclass(frozen=True)
class Question:
    """What the user is asked before a call."""

    server: str
    tool: str
    display_name: str
    arguments: Json = None
    description: str = ""
    schema: Json = None

    def to_json(self, rules: Rules) -> JsonObject:
        """The details as Gemini CLI hands them to its dialog."""
        details: JsonObject = {
            "type": "mcp",
            "title": TITLE,
            "serverName": self.server,
            "toolName": self.tool,
            "toolDisplayName": self.display_name,
            "toolArgs": self.arguments,
            "toolDescription": self.description,
            "toolParameterSchema": self.schema,
        }
        return {name: details[name] for name in rules.question_fields}

    def choices(self) -> tuple[tuple[Outcome, str], ...]:
        """The answers offered, with their labels."""
        return (
            (Outcome.PROCEED_ONCE, "Yes, allow once"),
            (Outcome.PROCEED_ALWAYS_TOOL, f'Yes, always allow tool "{self.tool}" from server "{self.server}"'),
            (Outcome.PROCEED_ALWAYS_SERVER, f'Yes, always allow all tools from server "{self.server}"'),
            (Outcome.CANCEL, "No, suggest changes (esc)"),
        )


def question(
    tool: RegisteredTool,
    arguments: Json,
    allowed: AllowList,
    rules: Rules,
    is_trusted: bool = False,
    is_folder_trusted: bool = True,
) -> Question | None:
    """What to ask before calling the tool, or nothing when the call may proceed."""
    if tool.offer is None:
        return None
    if is_trusted and (is_folder_trusted or not rules.trust_needs_folder):
        return None
    server, name = tool.offer.server, tool.offer.name
    if allowed.allows(server, name):
        return None
    shown = rules.question_name.format(registered=tool.name, tool=name, server=server)
    return Question(server, name, shown, arguments, tool.offer.description, tool.offer.schema)
