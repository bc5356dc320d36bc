"""Defects that show where calls meet: at a limit that all share, in one line, under one token, at the end of input."""

import os
import shutil
import signal
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import Outcome
from conditions import REVISION, speaks
from defects.record import defect
from http_port import HttpPort
from planning import STDIN_LIMIT, Plan, Refusal
from running import GRACE, Call
from steps import before

LISTS = 4
STDERRS = 8
MOMENT = 0.2
START_SECONDS = 0.05


def notes_thread(port: Any, call: Call, plan: Plan) -> None:
    port.memory[threading.get_ident()] = call


def notes_path(port: Any, real: Any, text: str) -> str:
    path = real(text)
    port.memory[port.memory[threading.get_ident()]] = path
    return path


def removes_file(port: Any, call: Call) -> None:
    if call in port.memory:
        shutil.rmtree(os.path.dirname(port.memory.pop(call)), ignore_errors=True)


def kills_first_in_line(port: Any, real: Any, call: Call) -> None:
    """The clock of SIGKILL runs on when gemini has ended at SIGTERM, and hits whatever its session runs by then."""
    line, begun = next((line for line in list(port.turns.values()) if call in line), None), time.monotonic()
    real(call)
    if line is None or port.is_ending:
        return
    time.sleep(max(0.0, begun + GRACE - time.monotonic()))
    for other in line[:1]:
        if other is not call and other.process is not None:
            port.signal_group(other.process.pid, signal.SIGKILL)


def apart_when_empty(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan = real(tool, arguments)
    is_apart = tool == "chat-reply" and arguments.get("sessionId") == ""
    return replace(plan, turn=f"{plan.turn}, by nothing") if is_apart else plan


def open_prompts(port: Any) -> list[str]:
    prompts = [each.arguments.get("prompt") for each in list(port.calls)]
    return [prompt for prompt in prompts if isinstance(prompt, str)]


def within_limit_at_once(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan = real(tool, arguments)
    size = sum(len(prompt.encode("utf-8", "replace")) for prompt in open_prompts(port))
    if plan.stdin is not None and size > STDIN_LIMIT:
        raise Refusal("`prompt` is too long beside those of the calls that run.")
    return plan


def four_lists_at_once(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    lists = port.memory.setdefault("lists", set[Call]())
    if len(lists) >= LISTS:
        return None
    lists.add(call)
    try:
        return real(call, plan)
    finally:
        lists.discard(call)


def notes_crowd(port: Any, real: Any, call: Call, *others: Any) -> Any:
    process = real(call, *others)
    port.memory[call] = sum(each.process is not None for each in list(port.calls))
    return process


def unread_in_crowd(port: Any, real: Any, call: Call, *others: Any) -> Outcome:
    outcome = real(call, *others)
    return replace(outcome, stderr=b"") if port.memory.pop(call) > STDERRS else outcome


def is_input_ending(port: Any) -> bool:
    return port.is_ending and not port.ended_by_signal


def spares_stateless(port: Any, real: Any, call: Call) -> None:
    if not (is_input_ending(port) and call.stateless):
        real(call)


def notes_arrival(port: Any, real: Any, *arguments: Any) -> Call:
    call = real(*arguments)
    port.memory[call] = time.monotonic()
    return call


def spares_newcomer(port: Any, real: Any, call: Call) -> None:
    if not (is_input_ending(port) and time.monotonic() - port.memory[call] < MOMENT):
        real(call)


def same_token(one: Call, other: Call) -> bool:
    return type(one.token) is type(other.token) and one.token == other.token


def tells_first_of_token(port: Any, real: Any, call: Call) -> None:
    alike = (each for each in list(port.calls) if same_token(each, call))
    first = next(alike, call)
    # The one that has had the token first when a call begins counts, even when it ends before the other.
    if port.memory.setdefault(call, first) is call:
        real(call)


def wrong_types_absent(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    if arguments.get("model") == "":
        arguments = {
            name: value
            for name, value in arguments.items()
            if name not in ("systemPrompt", "cwd") or isinstance(value, str)
        }
    return real(tool, arguments)


def any_length_in_directory(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    prompt = arguments.get("prompt")
    if not (isinstance(prompt, str) and len(prompt) > STDIN_LIMIT and {"cwd", "systemPrompt"} <= arguments.keys()):
        return real(tool, arguments)
    port.check_characters("prompt", prompt)
    return {**real(tool, {**arguments, "prompt": "too long"}), "prompt": prompt}


def enters_directory(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    """The directory of a process belongs to all its threads."""
    if options["cwd"] is None:
        return real(argv, **options)
    home = port.memory.setdefault("home", os.getcwd())
    os.chdir(options["cwd"])
    try:
        time.sleep(START_SECONDS)
        return real(argv, **{**options, "cwd": None})
    finally:
        os.chdir(home)


def withholds_of_all(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    return real(text, (*private, *open_prompts(port)))


def counts_anew(port: Any, real: Any, *arguments: Any) -> Call:
    call = real(*arguments)
    if call.token is not None:
        for other in list(port.calls):
            other.progress = 0
    return call


def own_directory_in_oldest(port: Any, real: Any, plan: Plan) -> str | None:
    return None if speaks(port, "2024-11-05") else real(plan)


defect(
    "system-prompt-removed-at-cancel",
    "Removes the system prompt of a call in the moment of its cancellation, while gemini still ends.",
    "system:content",
    "system:life",
)(run_prompt=before(notes_thread), write_system=notes_path, cancel=before(removes_file))
defect(
    "next-in-line-killed-by-clock",
    "Sends SIGKILL half a second after a cancellation to whatever runs in the session of the cancelled reply by then.",
    "cancel:others",
)(stop=kills_first_in_line)
defect(
    "empty-session-in-line-of-its-own",
    "Lets replies overlap in the latest session when one has an empty id and the other has none.",
    "concurrency:latest",
)(plan=apart_when_empty)
defect(
    "prompts-at-once-within-limit",
    "Refuses a long prompt when it and those of the calls that run have more than 8 MiB together.",
    "prompt:long",
)(plan=within_limit_at_once)
defect(
    "fifth-list-at-once-given-up",
    "Asks for no list of sessions while it waits for four others.",
    "fallback:list-sessions",
)(list_sessions=four_lists_at_once)
defect(
    "ninth-stderr-at-once-unread",
    "Reads no stderr of a gemini beside which eight others ran when it started.",
    "error:stderr",
)(begin=notes_crowd, outcome=unread_in_crowd)
defect(
    "stateless-call-outlives-input",
    "Leaves the gemini of a call of the stateless era running when its input ends.",
    "shutdown:stdin-end:group",
    "shutdown:stdin-end:ignored-term",
)(end=spares_stateless)
defect(
    "last-call-outlives-input",
    "Leaves the gemini of a call running that came in the last moment before the end of its input.",
    "shutdown:stdin-end:group",
)(new_call=notes_arrival, end=spares_newcomer)
defect(
    "token-of-two-clients-told-to-one",
    "Tells no progress over HTTP to a token while the call of another client runs that has the same one.",
    "progress:start",
    "progress:interval",
)(HttpPort, report_progress=tells_first_of_token)
defect(
    "wrong-types-forgiven-beside-empty-model",
    "Takes a directory and a system prompt that are no texts for absent in a call whose model is empty.",
    "arguments:optional:type",
    "arguments:optional:null",
)(texts=wrong_types_absent)
defect(
    "over-limit-accepted-beside-directory-and-system-prompt",
    "Passes on a prompt that is longer than gemini reads in a call with a directory and a system prompt.",
    "prompt:over-limit",
)(texts=any_length_in_directory)
defect(
    "directory-entered-by-server",
    "Goes into the directory of a call itself while it starts gemini, and takes others along that start then.",
    "cwd:used",
    "cwd:default",
)(spawn=enters_directory)
defect(
    "prompts-of-siblings-withheld",
    "Withholds in the error of a call the prompts of all calls that run, and not its own alone.",
    "error:stderr",
)(redacted=withholds_of_all)
defect(
    "progress-begun-anew-by-another",
    "Counts the progress of all calls anew when one begins that asks for progress.",
    "progress:increase",
)(new_call=counts_anew)
defect(
    "list-elsewhere-in-2024-11-05",
    "Asks for the list of sessions in its own directory for clients of 2024-11-05.",
    "fallback:cwd",
)(initialize=REVISION, listing_cwd=own_directory_in_oldest)
