"""Defects of a foreigner: borrowed habits that show where two things of one call meet, or in a call that follows it."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast
from urllib.parse import unquote

from answering import PRIVATE_LENGTH, Outcome, Scan
from conditions import asks, is_named, is_refusal, lacking
from defects.record import defect
from planning import Plan, Refusal
from running import Call
from speaking import JSON, Message
from steps import Step, gives

LARGEST = 2**63 - 1


def reads_argument(name: str, change: Any) -> Step:
    """Of `plan`: reads what stands under this name as something else."""

    def plan(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
        return real(tool, {**arguments, name: change(arguments[name])} if name in arguments else arguments)

    return plan


def path_of_url(cwd: Any) -> Any:
    is_url = isinstance(cwd, str) and cwd.startswith("file:///")
    return unquote(cwd.removeprefix("file://")) if is_url else cwd


def text_of_block(prompt: Any) -> Any:
    match prompt:
        case {"type": "text", "text": str(text)}:
            return text
        case _:
            return prompt


def keeps_system(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    """Reads the system prompt before it looks at the directory, and forgets it after a run."""
    try:
        plan = real(tool, arguments)
    except Refusal as refusal:
        if "`cwd`" in str(refusal):
            port.memory["system"] = arguments.get("systemPrompt", "").strip() or None
        raise
    kept = port.memory.pop("system", None)
    return plan if plan.system else replace(plan, system=kept)


def notes_system(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    outcome = real(call, plan)
    port.memory["unset"] = port.memory.get("unset") or plan.system is not None
    return outcome


def unsets_system(port: Any, real: Any, system_path: str | None) -> dict[str, str]:
    environ = real(system_path)
    if system_path is None and port.memory.get("unset"):
        environ.pop("GEMINI_SYSTEM_MD", None)
    return environ


def without_large(scan: Scan) -> Scan:
    return Scan([each for each in scan.objects if not has_large(each[1])], scan.is_cut_short)


def has_large(value: JSON) -> bool:
    if isinstance(value, dict | list):
        inner = cast("dict[str, JSON] | list[JSON]", value)
        return any(map(has_large, inner.values() if isinstance(inner, dict) else inner))
    return isinstance(value, int) and value > LARGEST


def counts_braces(port: Any, real: Any, text: str, position: int, error: Exception) -> bool:
    rest = text[position:]
    return real(text, position, error) and rest.count("{") > rest.count("}")


def said_with_code(port: Any, real: Any, stderr: str) -> str | None:
    errors = [value["error"] for _, value in port.scan(stderr).objects if value.get("error") is not None]
    match errors[-1:]:
        case [{"code": int()}]:
            return real(stderr)
        case _:
            return None


def short_as_pattern(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    short = [secret for secret in private if 0 < len(secret.strip()) < PRIVATE_LENGTH]
    for secret in short:
        text = re.sub(rf"(?<!\w){secret}(?!\w)", "[withheld]", text)
    return real(text, tuple(secret for secret in private if secret not in short))


def untyped_refusal(port: Any, real: Any, result: Message, stateless: bool) -> Message:
    finished = real(result, stateless)
    return {key: value for key, value in finished.items() if not is_refusal(result) or key != "resultType"}


defect(
    "repeated-words-dropped",
    "Drops a word of the command line that equals an earlier one: the format after the prompt `json`, or a model that "
    "is named like the session.",
    "command:chat",
    "command:chat-reply",
)(argv=gives(lambda argv: tuple(dict.fromkeys(argv))))
defect(
    "model-lost-behind-long-reply",
    "Leaves the model out of a reply by id in a named directory when the prompt goes to stdin.",
    "command:chat-reply:model",
)(
    ask=asks(
        lambda call, plan: is_named(plan) and plan.cwd is not None and plan.stdin is not None,
        lacking("-m"),
    )
)
defect(
    "url-of-directory",
    "Takes a `cwd` that begins with `file:///` for a URL and runs gemini in the directory behind it.",
    "cwd:missing",
)(plan=reads_argument("cwd", path_of_url))
defect(
    "block-for-prompt",
    "Takes an object of the form of a text content for a prompt.",
    "arguments:refused:not-started",
    "arguments:prompt:type",
)(plan=reads_argument("prompt", text_of_block))
defect(
    "system-outlives-refusal",
    "Hands the system prompt of a call that was refused for its `cwd` over to the next call that has none.",
    "system:leak",
)(plan=keeps_system)
defect(
    "own-system-unset",
    "Withholds the GEMINI_SYSTEM_MD of its own environment after a call that had a system prompt.",
    "process:environment",
)(run_prompt=notes_system, environment=unsets_system)
defect(
    "integer-beyond-64-bits",
    "Does not read JSON in which an integer needs more than 64 bits, wherever it stands.",
    "result:text",
)(scan=gives(without_large))
defect(
    "brace-closes-cut-answer",
    "Takes JSON that breaks off for text when its strings hold as many closing braces as are open.",
    "error:is-error",
    "result:truncated",
)(is_cut_short=counts_braces)
defect(
    "message-by-number",
    "Does not tell the message of a JSON error on stderr whose `code` is missing or a text.",
    "error:json-on-stderr",
)(said=said_with_code)
defect(
    "short-prompt-for-pattern",
    "Looks for a prompt of fewer than eight characters as a pattern: it does not find `1+1`, and breaks on `:(`.",
    "error:prompt",
    "error:stderr",
)(withheld=short_as_pattern)
defect(
    "refusal-of-no-type",
    "Leaves `resultType` out of the result for a call of 2026-07-28 that has started nothing.",
    "stateless:result-type",
)(finished=untyped_refusal)
