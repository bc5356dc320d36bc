"""Logs of what a call has said, always or on one occasion: ports that break `stdio:stderr`."""

import json
import sys
import time
from collections.abc import Mapping
from typing import Any

from answering import Answer, Failure
from conditions import STDERR, failed, from_time, refused
from defects.privacy.shared import logs_prompt
from defects.record import defect
from defects.shared import log, log_bare
from planning import PROPERTIES, Plan
from running import Call
from speaking import Message, as_object
from steps import Step, after, before

SLOW_SECONDS = 2.0
CROWD = 8
GONE = "does not know this session"


def logs_in_second_failure(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    if failed(call, result):
        port.memory["failures"] = port.memory.get("failures", 0) + 1
        if port.memory["failures"] > 1:
            log_bare(f"failed again: {call.arguments['prompt']}")
    return result


def logs_slow(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    begun = time.monotonic()
    answer = real(call, plan)
    if time.monotonic() - begun > SLOW_SECONDS:
        log(f"slow: {' '.join(plan.argv)}")
    return answer


def logs_unwritten(port: Any, real: Any, text: str) -> str:
    try:
        return real(text)
    except OSError:
        log(f"cannot write {text!r}")
        raise


def logs_whole_prompt(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    log_bare(call.arguments["prompt"])
    return real(call, plan)


def keeps_prompt(port: Any, call: Call, plan: Plan) -> None:
    port.memory[call.id] = call.arguments["prompt"]


def logs_late_cancel(port: Any, method: str, params: Any) -> None:
    wanted = (as_object(params) or {}).get("requestId")
    if method == "notifications/cancelled" and wanted not in [call.id for call in port.calls]:
        log_bare(f"too late: {port.memory.get(wanted)}")


def logs_wrong_arguments(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Any:
    if as_object(params.get("arguments", {})) is None:
        log_bare(params)
    return real(identity, params, stateless)


def logs_hung_list(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    listing = real(call, plan)
    if listing is None:
        log_bare(f"no list in time for {dict(call.arguments)}")
    return listing


def logs_flagged(port: Any, real: Any, prompt: str) -> Any:
    form, stdin = real(prompt)
    if form and form[0].startswith("--prompt="):
        log_bare(f"needs a flag: {form[0]}")
    return form, stdin


def logs_in_crowd(port: Any, call: Call, plan: Plan) -> None:
    if len(port.calls) > CROWD:
        log_bare(f"{len(port.calls)} calls at once, the latest is {plan.argv}")


def logs_undeclared(port: Any, tool: str, arguments: Any) -> None:
    if set(arguments) - set(PROPERTIES[tool]):
        log(f"undeclared: {json.dumps(dict(arguments))}")


def logs_tool_and_prompt(port: Any, call: Call, *others: Any) -> None:
    log(f"{call.tool}: {call.arguments.get('prompt')}")


def logs_when(test: Any) -> Step:
    """Of `execute`: logs the prompt of the calls that have a result of which `test` holds."""

    def execute(port: Any, real: Any, call: Call) -> Message:
        result = real(call)
        if test(call, result):
            logs_tool_and_prompt(port, call)
        return result

    return execute


def logs_system_prompt(port: Any, text: str) -> None:
    log(f"system prompt: {text[:200]}")


def logs_empty_session(port: Any, call: Call, plan: Any) -> None:
    log(f"no session for {plan.argv!r}")


def logs_command(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    try:
        return real(argv, **options)
    except Failure:
        print("failed:", argv, file=sys.stderr, flush=True)
        raise


def logs_waiting(port: Any, call: Call, turn: str | None) -> None:
    if turn is not None and port.turns.get(turn):
        print("waits:", call.arguments["prompt"], file=sys.stderr, flush=True)


def logs_gone(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    text = result["content"][0]["text"] if result.get("isError") else ""
    if GONE in text.partition(STDERR)[0]:
        log_bare(f"session is gone, lost: {call.arguments.get('systemPrompt') or call.arguments['prompt']}")
    return result


defect("prompt-logged-without-handshake", "Logs the prompt of a call of the stateless era.", "stdio:stderr:private")(
    ask=logs_prompt(str, lambda call: call.stateless)
)
defect("prompt-logged-beside-token", "Logs the prompt of a reply that asks for progress.", "stdio:stderr:private")(
    ask=logs_prompt(str, lambda call: call.token is not None and call.tool == "chat-reply")
)
defect("prompt-logged-at-second-failure", "Logs the prompts of all failures but the first.", "stdio:stderr:private")(
    execute=logs_in_second_failure
)
defect("prompt-logged", "Logs the prompt to stderr.", "stdio:stderr:private")(
    plan=after(lambda port, tool, arguments: log(f"{tool}: {arguments['prompt']}"))
)
defect("slow-prompt-logged", "Logs the prompt of a call that takes two seconds.", "stdio:stderr:private")(ask=logs_slow)
defect("unwritten-system-prompt-logged", "Logs a system prompt that it cannot write.", "stdio:stderr:private")(
    write_system=logs_unwritten
)
defect("prompt-logged-from-tenth-call", "Logs prompts from the tenth call on.", "stdio:stderr:private")(
    ask=from_time(10, logs_whole_prompt)
)
defect(
    "prompt-logged-on-late-cancel",
    "Logs the prompt of an answered call that is cancelled.",
    "stdio:stderr:private",
)(ask=before(keeps_prompt), notified=before(logs_late_cancel))
defect("wrong-arguments-logged", "Logs arguments that are no object.", "stdio:stderr:private")(
    new_call=logs_wrong_arguments
)
defect(
    "call-logged-at-hung-list",
    "Logs the arguments of a call whose list of sessions hangs.",
    "stdio:stderr:private",
)(list_sessions=logs_hung_list)
defect(
    "flagged-prompt-logged",
    "Logs a prompt that gemini would take for an option, a command or a number.",
    "stdio:stderr:private",
)(prompt_form=logs_flagged)
defect(
    "prompt-logged-in-crowd",
    "Logs the command line of a call when more than eight run at once.",
    "stdio:stderr:private",
)(ask=before(logs_in_crowd))
defect(
    "arguments-logged-beside-undeclared",
    "Logs the arguments of a call when the tool does not declare one of them.",
    "stdio:stderr:private",
)(texts=before(logs_undeclared))
defect("prompt-logged-on-failure", "Logs the prompt of a call that fails.", "stdio:stderr:private")(
    execute=logs_when(failed)
)
defect("prompt-logged-on-refusal", "Logs the prompt of a call that it refuses.", "stdio:stderr:private")(
    execute=logs_when(refused)
)
defect("prompt-logged-on-cancel", "Logs the prompt of a call that is cancelled.", "stdio:stderr:private")(
    cancel=before(logs_tool_and_prompt)
)
defect("system-prompt-logged", "Logs the system prompt.", "stdio:stderr:private")(
    write_system=after(logs_system_prompt)
)
defect("command-logged-before-list", "Logs the command line when it asks for the list.", "stdio:stderr:private")(
    list_sessions=before(logs_empty_session)
)
defect(
    "command-logged-unless-started",
    "Logs the command line when gemini cannot be started.",
    "stdio:stderr:private",
)(start=logs_command)
defect("waiting-prompt-logged", "Logs the prompt of a reply that waits for another.", "stdio:stderr:private")(
    take_turn=before(logs_waiting)
)
defect(
    "prompt-logged-when-session-is-gone",
    "Logs what a reply has said whose session gemini does not know.",
    "stdio:stderr:private",
)(execute=logs_gone)
