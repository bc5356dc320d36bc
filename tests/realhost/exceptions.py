"""The scenarios that the program cannot play headless, each with the reason."""

from collections.abc import Mapping

_ANSWERS = "A person answers at a terminal; headless, the CLI refuses every tool or allows every tool."

EXCEPTIONS: Mapping[str, str] = dict.fromkeys(
    ("allow-server", "allow-tool", "cancel", "no-terminal", "proceed-once"), _ANSWERS
)
