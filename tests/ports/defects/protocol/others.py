"""Names of the port, and system prompts that a client or a transport changes: `identity` and `system`."""

from typing import Any

from defects.record import defect
from http_port import HttpPort
from steps import adding, gives


def system_of_other_session(port: Any, real: Any, tool: str, texts: Any) -> str | None:
    system = real(tool, texts)
    if system is not None:
        port.memory["system"] = (port.current.post.session, system)
    owner, kept = port.memory.get("system", (None, None))
    return system or (kept if owner != port.current.post.session else None)


def lost_beside_long_prompt(port: Any, real: Any, tool: str, texts: Any) -> str | None:
    return None if port.prompt_form(texts["prompt"])[1] is not None else real(tool, texts)


defect("other-name", "Reports the name of its package as the name of the server.", "identity:name")(
    server_info=gives(adding(name="gemini-mcp"))
)
defect("other-version", "Reports a version of its own.", "identity:version")(server_info=gives(adding(version="0.3.1")))
defect("system-prompt-crosses-sessions", "Hands the system prompt of one session over in another.", "system:absent")(
    HttpPort, system=system_of_other_session
)
defect("control-z-ends-system-prompt", "Cuts a system prompt at its first U+001A.", "system:content")(
    system_bytes=gives(lambda text: text.split(b"\x1a")[0])
)
defect(
    "posted-system-prompt-lost-beside-long-prompt",
    "Hands no system prompt over in a call over HTTP whose prompt is long.",
    "system:content",
)(HttpPort, system=lost_beside_long_prompt)
