"""What a server's answer to `initialize` means: its capabilities and instructions, or why the connection ends. Pure.

What is asked afterwards is in `discovery`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gemini_mcp.host.servers import failure
from gemini_mcp.host.servers.discovery import Refusal, read
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject

UNSUPPORTED = "Server's protocol version is not supported: {version}"
"""What the MCP SDK of Gemini CLI says before it closes the connection."""


@dataclass(frozen=True)
class Greeting:
    """How a server introduced itself."""

    capabilities: JsonObject
    protocol_version: str
    instructions: str | None = None
    server: JsonObject = field(default_factory=dict[str, Json])


def greeting(answer: Json, rules: Rules) -> Greeting:
    """Read the answer to `initialize`; raises Refusal when the host hangs up."""
    introduced = read("initialize", answer, rules)
    version = introduced["protocolVersion"]
    if version not in rules.protocol_versions:
        known = failure.unsupported_version(version, rules.protocol_versions)
        raise Refusal(UNSUPPORTED.format(version=version), why=known)
    return Greeting(introduced["capabilities"], version, introduced.get("instructions"), introduced["serverInfo"])


def context(instructions: Mapping[str, str], rules: Rules) -> str:
    """What the model is told of the servers, by the instructions of each; nothing where the profile passes none on."""
    if rules.instructions is None:
        return ""
    told = (rules.instructions.format(server=name, instructions=text) for name, text in instructions.items() if text)
    return "\n\n".join(told)
