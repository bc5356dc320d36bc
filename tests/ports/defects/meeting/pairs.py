"""Defects that need two things at once: a kind of value in a kind of call, or two calls of a kind."""

import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from answering import EXITS, NO_NODE, QUOTA, Scan
from conditions import failed
from defects.record import defect
from planning import Plan, Refusal
from running import Call
from speaking import Message
from steps import Step, gives

LATER_SECONDS = 1.0
models: dict[str, threading.Lock] = {}
tokens = threading.Lock()


def blank_kept(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan = real(tool, arguments)
    blank = arguments.get("systemPrompt")
    is_meant = tool == "chat-reply" and "-m" in plan.argv and plan.system is None and isinstance(blank, str)
    return replace(plan, system=blank) if is_meant else plan


def ending_at_nul(port: Any, real: Any, tool: str, name: str, value: Any) -> str:
    is_meant = tool == "chat-reply" and name == "cwd" and isinstance(value, str)
    return real(tool, name, value.split("\0")[0] if is_meant else value)


def replacing_surrogates(port: Any, real: Any, tool: str, name: str, value: Any) -> str:
    is_meant = tool == "chat-reply" and name == "systemPrompt" and isinstance(value, str)
    return real(tool, name, port.whole(value) if is_meant else value)


def passing(name: str, test: Callable[[str], bool]) -> Step:
    """Of `check_word`: overlooks such characters in this argument."""

    def check_word(port: Any, real: Any, named: str, text: str) -> None:
        real(named, "".join(each for each in text if not test(each)) if named == name else text)

    return check_word


def without_quota(port: Any, real: Any, exit: int, stderr: str) -> str:
    return real(exit, QUOTA.sub("", stderr) if exit in EXITS else stderr)


def knowing_only(pattern: re.Pattern[str], word: str) -> Step:
    """Of `exit_sentence`: knows one spelling of several."""

    def exit_sentence(port: Any, real: Any, exit: int, stderr: str) -> str:
        return real(exit, pattern.sub(lambda found: found[0] if word in found[0] else "", stderr))

    return exit_sentence


def one_a_model(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    model = call.arguments.get("model")
    if not isinstance(model, str) or not model:
        return real(call, plan)
    with models.setdefault(model, threading.Lock()):
        return real(call, plan)


def one_token(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    if call.token is None:
        return real(call, plan)
    with tokens:
        return real(call, plan)


def behind_chats(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    """A `chat` that runs will have the latest session."""
    earlier = [each for each in list(port.calls) if each.tool == "chat" and each is not call]
    while plan.session == "latest" and not call.is_cancelled and any(each in port.calls for each in earlier):
        time.sleep(0.02)
    return real(call, plan)


def told_once(port: Any, real: Any, call: Call) -> None:
    if call.token != 0 or call.progress == 0:
        real(call)
    else:
        call.next_progress = time.monotonic() + LATER_SECONDS


def at_line_starts(port: Any, real: Any, text: str) -> Scan:
    scan = real(text)
    return Scan([each for each in scan.objects if each[0]], scan.is_cut_short)


def named_though_failed(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    return {**result, "_meta": {"sessionId": call.arguments["sessionId"]}} if names_failed(call, result) else result


def names_failed(call: Call, result: Message) -> bool:
    return failed(call, result) and isinstance(call.arguments.get("sessionId"), str) and "model" in call.arguments


def not_beside_system_prompt(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    texts = real(tool, arguments)
    if "cwd" in texts and texts["cwd"] == "." and "systemPrompt" in texts:
        raise Refusal("`cwd` is no directory of its own.")
    return texts


defect(
    "blank-system-prompt-written-beside-model",
    "Hands over a blank system prompt in a reply with a model.",
    "arguments:empty:system-prompt",
)(plan=blank_kept)
defect("nul-ends-directory-of-reply", "Cuts the directory of a reply at its first NUL.", "arguments:nul")(
    text=ending_at_nul
)
defect(
    "surrogates-of-system-prompt-replaced",
    "Replaces lone surrogates in the system prompt of a reply.",
    "arguments:surrogate",
)(text=replacing_surrogates)
defect("c1-controls-passed", "Passes a model with control characters of the second block.", "arguments:control")(
    check_word=passing("model", lambda each: "\x80" <= each <= "\x9f")
)
defect("delete-passed-in-session", "Passes a session with U+007F.", "arguments:control")(
    check_word=passing("sessionId", lambda each: each == "\x7f")
)
defect(
    "quota-of-known-exits-unexplained",
    "Looks for a quota in stderr when it does not know the exit code.",
    "error:quota",
)(exit_sentence=without_quota)
defect("capacity-is-no-quota", "Knows an exhausted quota by `RESOURCE_EXHAUSTED` alone.", "error:quota")(
    exit_sentence=knowing_only(QUOTA, "RESOURCE_EXHAUSTED")
)
defect("node-missed-in-one-shell", "Knows a missing Node by the words of `env` alone.", "error:saying:no-node")(
    exit_sentence=knowing_only(NO_NODE, "env")
)
defect("one-call-per-model", "Serves one call after the other that names the same model.", "concurrency:calls")(
    run_prompt=one_a_model
)
defect("one-call-with-progress", "Serves one call after the other that asks for progress.", "concurrency:calls")(
    run_prompt=one_token
)
defect(
    "latest-waits-for-chats",
    "Lets a reply to the latest session wait until no earlier `chat` runs.",
    "concurrency:calls",
)(run_prompt=behind_chats)
defect(
    "zero-token-told-once", "Tells progress to the token 0 when the call starts, and then no more.", "progress:interval"
)(report_progress=told_once)
defect("empty-token-overlooked", "Takes an empty progress token for none.", "progress:start")(
    token=gives(lambda token: None if token == "" else token)
)
defect("digit-tokens-as-numbers", "Makes a number of a progress token in digits.", "progress:token")(
    token=gives(lambda token: int(token) if isinstance(token, str) and token.isdecimal() else token)
)
defect(
    "json-behind-text-of-its-line-overlooked",
    "Looks for JSON at the beginnings of lines.",
    "result:json:notice-before",
    "result:text",
)(scan=at_line_starts)
defect(
    "failed-session-named-beside-model",
    "Names the session of a reply by id with a model that failed.",
    "error:session-id",
)(execute=named_though_failed)
defect(
    "point-refused-beside-system-prompt",
    "Refuses the directory `.` in a call with a system prompt.",
    "cwd:relative",
)(texts=not_beside_system_prompt)
