"""Arguments that are judged by what came before: ports that break `arguments`."""

import json
import re
from collections.abc import Mapping
from typing import Any

from conditions import refused
from defects.past.shared import found_from_last, in_a_row, leaves
from defects.record import defect
from planning import Refusal
from running import Call
from speaking import Message

CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def checks_controls_from_last(port: Any, real: Any, name: str, text: str) -> None:
    if found_from_last(port, CONTROLS, text):
        raise Refusal(f"`{name}` holds a control character.")
    real(name, CONTROLS.sub("", text) or "x")


def last_named_if_empty(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    """A form sends an empty field for one that was left as it is."""
    texts = real(tool, arguments)
    if "sessionId" in texts:
        port.memory["named"] = texts["sessionId"]
    if tool == "chat-reply" and arguments.get("sessionId") == "" and "named" in port.memory:
        return {**texts, "sessionId": port.memory["named"]}
    return texts


def trusts_checked(port: Any, real: Any, tool: str, name: str, value: Any) -> str:
    """Looks at the type of an argument until it has been right once."""
    checked = port.memory.setdefault("checked", set[tuple[str, str]]())
    if (tool, name) in checked and isinstance(value, bool | int | float):
        return json.dumps(value)
    text = real(tool, name, value)
    checked.add((tool, name))
    return text


def succeeded(call: Call, result: Message) -> bool:
    return "isError" not in result


defect(
    "controls-looked-for-from-last",
    "Looks for control characters behind the place where it has found the last one.",
    "arguments:control",
)(check_word=checks_controls_from_last)
defect(
    "empty-session-is-last-named",
    "Resumes the session that was named last when a reply names an empty one.",
    "arguments:empty:session-id",
)(texts=last_named_if_empty)
defect(
    "types-checked-until-right",
    "Makes text of a number where an earlier call has had a text.",
    "arguments:optional:type",
)(text=trusts_checked)
defect("prompt-of-before", "Runs the prompt of the call before when a call has none.", "arguments:prompt:missing")(
    execute=leaves("prompt", succeeded),
    texts=lambda port, real, tool, arguments: real(
        tool, {**({"prompt": port.memory["prompt"]} if "prompt" in port.memory else {}), **arguments}
    ),
)
defect(
    "fourth-refusal-in-row-runs-dry",
    "Answers the fourth refusal in a row with an empty success.",
    "arguments:prompt:type",
    "arguments:optional:type",
)(execute=in_a_row(refused, 4, lambda result: {"content": []}))
