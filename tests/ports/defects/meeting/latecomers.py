"""Defects that show where two or three rare things of one call meet: arguments, sizes, outputs and lists."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from answering import EXITS, KEYS, Answer, Failure
from conditions import asks, has_model
from defects.record import defect
from planning import ARGUMENT_LIMIT, Plan
from running import Call
from steps import for_tool, gives, takes


def words_once(plan: Plan) -> Plan:
    """Leaves the model out where its word is on the command line already."""
    at = plan.argv.index("-m")
    return replace(plan, argv=plan.argv[:at]) if plan.argv[at + 1] in plan.argv[:at] else plan


def lines_for_stdin(plan: Plan) -> Plan:
    return replace(plan, system=plan.system.replace("\r\n", "\n") if plan.system else plan.system)


def chomped(cwd: str | None) -> str | None:
    """Takes the last newline for the end of a line, if that gives a directory."""
    return cwd[:-1] if cwd and cwd.endswith("\n") and Path(cwd[:-1]).is_dir() else cwd


def said_in_order(port: Any, real: Any, failure: Failure) -> Any:
    """Withholds in what gemini says the texts in the order of the arguments."""
    said = failure.said
    for secret in failure.private if said and all(len(text) >= 8 for text in failure.private) else ():
        said = said.replace(secret, "[withheld]") if said else said
    return real(replace(failure, said=said))


def server_fault_first(port: Any, real: Any, exit: int, stderr: str) -> str:
    return EXITS[exit] if exit in (244, 247) else real(exit, stderr)


def without_list(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    found = real(call, plan, answer)
    return found if found.session else Answer(answer.text)


def one_item(port: Any, real: Any, tool: str, name: str, value: Any) -> str:
    match value:
        case [str(item)] if name == "model":
            return real(tool, name, item)
        case _:
            return real(tool, name, value)


defect(
    "reply-model-named-like-session",
    "Passes no model in a reply whose model is the same word as something before it on the command line.",
    "command:chat-reply:model",
)(ask=asks(lambda call, plan: call.tool == "chat-reply" and has_model(plan), words_once))
defect(
    "system-lines-beside-stdin",
    "Turns CR LF in a system prompt into LF when the prompt goes to stdin.",
    "system:content",
)(ask=asks(lambda call, plan: plan.stdin is not None and len(plan.stdin) > ARGUMENT_LIMIT, lines_for_stdin))
defect(
    "cwd-newline-chomped",
    "Runs in another directory when the name of the directory ends with a newline and the name without it exists.",
    "cwd:used",
)(cwd=gives(chomped))
defect(
    "said-withheld-in-order",
    "Leaves the rest of a system prompt that holds the prompt in the message that it takes from a JSON error.",
    "error:prompt",
)(error=said_in_order)
defect(
    "quota-behind-server-fault",
    "Does not name the quota of which stderr speaks when the exit code is 244 or 247.",
    "error:quota",
)(exit_sentence=server_fault_first)
defect(
    "warnings-without-list",
    "Loses the warnings of an answer without a session when the list gives none either.",
    "result:warnings",
)(with_session=without_list)
defect(
    "seventeenth-key",
    "Masks no more than 16 keys in a text.",
    "error:secrets",
)(masked=lambda port, real, text: KEYS.sub("[masked]", text, count=int(re.DOTALL)))
defect(
    "plain-text-to-sub",
    "Takes the character U+001A in plain text for the end of the file.",
    "result:plain-text",
)(plain_text=takes(lambda stdout: stdout.split("\x1a")[0]))
defect(
    "reply-model-of-one-item",
    "Takes an array of one text for the model of a reply.",
    "arguments:optional:type",
)(text=for_tool("chat-reply", one_item))
