"""The name that a tool is registered under: normalised, qualified, and read back. Pure.

Rules about one name belong here; what happens when two names meet is in `registry`.
"""

import re

from gemini_mcp.host.rules.javascript import length
from gemini_mcp.spec import Rules


def normalise(name: str, rules: Rules) -> str:
    """The name with what the Gemini API refuses replaced, cut in the middle when it is too long."""
    prefixed = name if name.startswith(rules.name_prefix) else rules.name_prefix + name
    # JavaScript replaces each UTF-16 code unit, so an emoji becomes two underscores.
    valid = re.sub(rules.name_invalid, lambda match: "_" * length(match.group()), prefixed)
    if len(valid) <= rules.name_limit:
        return valid
    return valid[: rules.name_head] + rules.name_marker + valid[-rules.name_tail :]


def registered_name(server: str, tool: str, rules: Rules) -> str:
    """The name of a tool as long as no other tool has it."""
    return normalise(rules.tool_name.format(server=server, tool=tool), rules)


def parse(name: str, rules: Rules) -> tuple[str, str] | None:
    """The server and tool that a registered name seems to mean, where the profile reads names back."""
    # The split is at the first `_`, so a server whose name has one is read back wrongly.
    match = re.fullmatch(rules.name_read_back, name) if rules.name_read_back else None
    return (match[1], match[2]) if match else None
