"""Defects that show when two or three things meet that are harmless alone: arguments, forms of the prompt, tokens."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from answering import Outcome
from conditions import asks, ends, is_flagged, is_named, lacking
from defects.meeting.combinations import is_long, unflagged, without_directory
from defects.record import defect
from planning import RISKY, Plan, Refusal
from running import Call
from steps import Step


def has(*names: str) -> Callable[[Call], bool]:
    """Tests whether a call names all these arguments, whatever they are."""
    return lambda call: set(names) <= call.arguments.keys()


def is_digits(call: Call) -> bool:
    return str(call.arguments.get("prompt")).isdecimal()


def without_system(plan: Plan) -> Plan:
    return replace(plan, system=None)


def forgives(test: Callable[[str, Mapping[str, Any]], bool], name: str) -> Step:
    """Of `texts`: drops an argument of the wrong type from calls of which `test` holds."""

    def texts(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Any:
        is_dropped = test(tool, arguments) and name in arguments and not isinstance(arguments[name], str)
        return real(tool, {key: value for key, value in arguments.items() if not is_dropped or key != name})

    return texts


def refuses_unknown_in_replies(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Any:
    known = {"prompt", "model", "systemPrompt", "cwd", "sessionId"}
    if tool == "chat-reply" and {"sessionId", "systemPrompt"} <= arguments.keys():
        for name in arguments.keys() - known:
            raise Refusal(f"`{name}` is unknown.")
    return real(tool, arguments)


def new_session_for_two_empties(port: Any, real: Any, texts: Mapping[str, str]) -> tuple[str, ...]:
    return () if port.memory.get("empties") else real(texts)


def notes_empties(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Any:
    port.memory["empties"] = arguments.get("model") == "" and arguments.get("sessionId") == ""
    return real(tool, arguments)


def unread_beyond_chat(port: Any, real: Any, tool: str, prompt: str) -> None:
    if tool == "chat" or not prompt or "\n" not in prompt[:1000]:
        real(tool, prompt)


def token_unless_long(port: Any, real: Any, identity: Any, params: Any, stateless: bool) -> Call:
    call = real(identity, params, stateless)
    if is_long(call) and call.tool == "chat-reply":
        call.token = None
    return call


def uncancelled(test: Callable[[Call], bool]) -> Step:
    def cancel(port: Any, real: Any, call: Call) -> None:
        if not test(call):
            real(call)

    return cancel


def failed_run_is_success(call: Call, outcome: Outcome) -> bool:
    return outcome.exit == 1 and is_long(call) and b'"response"' in outcome.stdout


defect(
    "model-lost-beside-digits-and-directory",
    "Loses the model of a `chat` with a directory whose prompt is a number.",
    "command:chat:model",
)(ask=asks(lambda call, plan: call.tool == "chat" and is_digits(call) and plan.cwd is not None, lacking("-m")))
defect(
    "risky-prompt-positional-beside-both",
    "Passes a risky prompt as it is in a call with a system prompt and a directory.",
    "injection:option:prompt",
    "prompt:verbatim:dash",
)(ask=asks(lambda call, plan: is_flagged(plan) and plan.system is not None and plan.cwd is not None, unflagged))
defect(
    "system-prompt-lost-on-stdin-beside-directory",
    "Hands no system prompt over in a `chat` with a directory and a long prompt.",
    "system:content",
)(ask=asks(lambda call, plan: call.tool == "chat" and plan.stdin is not None and plan.cwd is not None, without_system))
defect(
    "two-empties-begin-anew",
    "Starts a new session for a reply whose model and session are both empty.",
    "command:chat-reply:latest",
    "arguments:empty:session-id",
)(texts=notes_empties, resume_option=new_session_for_two_empties)
defect(
    "directory-lost-beside-empty-model",
    "Runs a call in its own directory when its model is empty.",
    "cwd:used",
)(ask=asks(lambda call, plan: call.arguments.get("model") == "", without_directory))
defect(
    "model-lost-beside-blank-system-prompt",
    "Loses the model of a reply whose system prompt is blank.",
    "command:chat-reply:model",
)(
    ask=asks(
        lambda call, plan: call.tool == "chat-reply" and plan.system is None and has("systemPrompt")(call),
        lacking("-m"),
    )
)
defect(
    "wrong-system-prompt-forgiven-beside-directory",
    "Ignores a system prompt that is no text in a call with a directory.",
    "arguments:optional:type",
)(texts=forgives(lambda tool, arguments: "cwd" in arguments and tool == "chat", "systemPrompt"))
defect(
    "wrong-directory-forgiven-beside-session-and-model",
    "Ignores a directory that is no text in a reply by id with a model.",
    "arguments:optional:type",
)(texts=forgives(lambda tool, arguments: {"sessionId", "model"} <= arguments.keys(), "cwd"))
defect(
    "unknown-argument-refused-in-session",
    "Refuses an unknown argument in a reply by id with a system prompt.",
    "arguments:unknown",
)(texts=refuses_unknown_in_replies)
defect(
    "over-limit-accepted-in-replies-of-lines",
    "Passes on a prompt of several lines that is longer than gemini reads, in replies.",
    "prompt:over-limit",
)(check_prompt=unread_beyond_chat)
defect(
    "progress-lost-for-long-replies",
    "Tells no progress of a reply whose prompt goes to stdin.",
    "progress:start",
)(new_call=token_unless_long)
defect(
    "long-prompts-in-directory-uncancellable",
    "Does not cancel a call with a directory whose prompt goes to stdin.",
    "cancel:child",
)(cancel=uncancelled(lambda call: is_long(call) and "cwd" in call.arguments))
defect(
    "stateless-uncancellable-beside-system-prompt",
    "Does not cancel a call of the stateless era that has a system prompt.",
    "cancel:child",
)(cancel=uncancelled(lambda call: call.stateless and "systemPrompt" in call.arguments))
defect(
    "exit-1-swallowed-behind-answer-to-long-prompt",
    "Takes the answer to a long prompt for a success although gemini exits with 1.",
    "error:is-error",
    "error:exit",
)(run_prompt=ends(failed_run_is_success, lambda outcome: replace(outcome, exit=0)))
defect(
    "list-spared-in-latest-beside-model-and-system-prompt",
    "Asks for no list in a reply to the latest session with a model and a system prompt.",
    "fallback:latest",
)(
    with_session=lambda port, real, call, plan, answer: (
        answer if plan.session == "latest" and has("model", "systemPrompt")(call) else real(call, plan, answer)
    )
)
defect(
    "hexadecimal-positional-in-named-session-beside-directory",
    "Passes a hexadecimal prompt as it is in a reply by id with a directory.",
    "prompt:verbatim:number",
)(
    ask=asks(
        lambda call, plan: (
            is_named(plan)
            and plan.cwd is not None
            and str(call.arguments["prompt"])[:2].lower() == "0x"
            and RISKY.fullmatch(str(call.arguments["prompt"])) is not None
        ),
        unflagged,
    )
)
