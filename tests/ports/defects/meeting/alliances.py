"""Defects that show where an argument, an era or a size meets one that seems to have nothing to do with it."""

import os
import re
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import Answer, Failure, Outcome
from conditions import REVISION, asks, ends, lacking, results, speaks
from defects.life.cancelling import spares_group
from defects.meeting.unions import is_latest, is_reply, names
from defects.record import defect
from http_port import HttpPort
from planning import PROPERTIES, Plan, Refusal
from running import Call
from speaking import Message
from steps import Step, before, gives, without

MEGABYTE = 1024 * 1024


def cut_large(outcome: Outcome) -> Outcome:
    middle = len(outcome.stdout) // 2
    return replace(outcome, stdout=outcome.stdout[:middle] + outcome.stdout[middle + 1 :])


def has_large(call: Call, outcome: Outcome) -> bool:
    return bool(call.arguments.get("model")) and len(outcome.stdout) > MEGABYTE


def listed_on_stdout_with_model(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    listing = real(call, plan)
    return replace(listing, stderr=b"") if listing is not None and "-m" in plan.argv else listing


def first_entry_with_system_prompt(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    listing = real(call, plan)
    if listing is None or plan.system is None:
        return listing
    lines = [line for line in listing.stdout.split(b"\n") if re.match(rb"\s*[0-9]+\.", line)]
    return replace(listing, stdout=lines[0] + b"\n") if lines else listing


def waits_for_holders(port: Any, real: Any, call: Call, process: Any) -> int:
    exit = real(call, process)
    if call.tool == "chat-reply" and call.arguments.get("cwd"):
        end = time.monotonic() + 30
        while time.monotonic() < end:
            try:
                os.killpg(process.pid, 0)
            except OSError:
                break
            time.sleep(0.05)
    return exit


def replaced_in_model(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Any:
    model = arguments.get("model")
    if isinstance(model, str) and arguments.get("systemPrompt"):
        arguments = {**arguments, "model": re.sub("[\ud800-\udfff]", "\ufffd", model)}
    return real(tool, arguments)


def refuses_empty_directory(port: Any, tool: str, arguments: Mapping[str, Any]) -> None:
    if arguments.get("cwd") == "" and arguments.get("sessionId"):
        raise Refusal("`cwd` is empty, but should be a directory.")


def only_leader(port: Any, real: Any, call: Call) -> None:
    if not call.arguments.get("systemPrompt") or port.is_ending:
        real(call)
        return
    process = call.process
    if process is not None:
        port.memory.setdefault("spared", set[int]()).add(process.pid)
        process.kill()


def spares_told(port: Any, real: Any, call: Call) -> None:
    if not (port.is_ending and call.token is not None and not port.ended_by_signal):
        real(call)


def without_prefix_of_directory(port: Any, real: Any, sentence: str) -> Message:
    return {"content": port.content(sentence), "isError": True} if sentence.startswith("`cwd`") else real(sentence)


def masked_but_in(revision: str) -> Step:
    return lambda port, real, text: text if speaks(port, revision) else real(text)


def kept_in(revision: str) -> Step:
    def remove_system(port: Any, real: Any, *arguments: Any) -> None:
        if not speaks(port, revision):
            real(*arguments)

    return remove_system


def refuses_unknown_in(revision: str) -> Step:
    def texts(port: Any, tool: str, arguments: Mapping[str, Any]) -> None:
        if speaks(port, revision) and arguments.keys() - PROPERTIES[tool].keys():
            raise Refusal("The call holds arguments that the tool does not declare.")

    return before(texts)


def overlapping_in(revision: str) -> Step:
    return lambda port, real, tool, texts: None if speaks(port, revision) else real(tool, texts)


def warnings_lost_in(revision: str) -> Step:
    return lambda port, real, answer: real(replace(answer, warnings=None) if speaks(port, revision) else answer)


def listless_in(revision: str) -> Step:
    return lambda port, real, call, plan: None if speaks(port, revision) else real(call, plan)


def typeless_with_token(port: Any, real: Any, call: Call, result: Message) -> None:
    if call.stateless and call.token is not None and not result.get("isError"):
        call.stateless = False
    real(call, result)


def nameless_reply(port: Any, real: Any, call: Call, result: Message) -> None:
    if call.stateless and call.tool == "chat-reply":
        with port.output:
            if not call.is_cancelled:
                call.is_answered = True
                port.write({"jsonrpc": "2.0", "id": call.id, "result": {**result, "resultType": "complete"}})
        return
    real(call, result)


def head_of_stderr(port: Any, real: Any, failure: Failure) -> str:
    is_long = any(len(text) > 128_000 for text in failure.private)
    if failure.stderr is None or not is_long:
        return real(failure)
    return f"\nStderr: {port.redacted(failure.stderr, failure.private)[:8192]}"


def warns_by_directory(call: Call, result: Message) -> bool:
    return is_reply(call) and bool(call.arguments.get("sessionId")) and bool(call.arguments.get("cwd"))


def without_warnings(result: Message) -> Message:
    return {**result, **({"_meta": without("warnings")(result["_meta"])} if "_meta" in result else {})}


def pretty_unread(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    if plan.system is None or plan.session is None:
        return real(call, plan)
    outcome = port.run_prompt(call, plan)
    if outcome.exit == 0 and re.match(rb"\s*\{\r?\n", outcome.stdout):
        raise Failure("gemini printed no JSON.", port.decode(outcome.stderr))
    answer = port.read(outcome)
    return answer if answer.session else port.with_session(call, plan, answer)


def two_kinds_of_arguments(call: Call, plan: Plan) -> bool:
    return call.token is not None and plan.system is not None and "-m" in plan.argv


defect(
    "large-answer-cut-beside-model",
    "Loses a character of an answer of more than a megabyte in a call with a model.",
    "result:large-stdout",
)(run_prompt=ends(has_large, cut_large))
defect(
    "stderr-of-list-unread-beside-model",
    "Reads the list of sessions from stdout alone when the call names a model.",
    "fallback:stderr",
)(list_sessions=listed_on_stdout_with_model)
defect(
    "first-entry-beside-system-prompt",
    "Takes the first entry of a list for the newest when the call has a system prompt.",
    "fallback:last",
)(list_sessions=first_entry_with_system_prompt)
defect(
    "held-output-of-reply-in-directory",
    "Waits for what gemini has left in the background in a reply with a directory.",
    "process:held-output",
)(wait=waits_for_holders)
defect(
    "surrogates-of-model-replaced-beside-system-prompt",
    "Replaces lone surrogates in the model of a call with a system prompt.",
    "arguments:surrogate",
)(texts=replaced_in_model)
defect(
    "empty-directory-refused-beside-session",
    "Refuses an empty directory in a reply by id.",
    "arguments:empty:cwd",
)(texts=before(refuses_empty_directory))
defect(
    "group-spared-beside-system-prompt",
    "Ends gemini but not what it has started when a call with a system prompt is cancelled.",
    "cancel:group",
)(stop=only_leader, signal_group=spares_group)
defect(
    "told-call-outlives-input",
    "Leaves the gemini of a call with a progress token running when its input ends.",
    "shutdown:stdin-end:group",
)(end=spares_told)
defect("prefix-lost-for-directory", "Leaves the prefix out when it refuses a directory.", "arguments:refused:prefix")(
    refused=without_prefix_of_directory
)
defect("keys-unmasked-in-2024-11-05", "Masks no keys for clients of 2024-11-05.", "error:secrets")(
    initialize=REVISION, masked=masked_but_in("2024-11-05")
)
defect(
    "system-prompt-kept-in-2025-03-26", "Keeps the system prompts of clients of 2025-03-26.", "system:removed:success"
)(initialize=REVISION, remove_system=kept_in("2025-03-26"))
defect(
    "unknown-argument-refused-in-2025-06-18",
    "Refuses an argument that the tool does not declare for clients of 2025-06-18.",
    "arguments:unknown",
)(initialize=REVISION, texts=refuses_unknown_in("2025-06-18"))
defect(
    "replies-overlap-in-2024-11-05",
    "Lets replies in the same session overlap for clients of 2024-11-05.",
    "concurrency:same-session",
)(initialize=REVISION, turn=overlapping_in("2024-11-05"))
defect("warnings-lost-in-2025-06-18", "Loses warnings for clients of 2025-06-18.", "result:warnings")(
    initialize=REVISION, success=warnings_lost_in("2025-06-18")
)
defect("listless-in-2025-06-18", "Asks for no list of sessions for clients of 2025-06-18.", "fallback:list-sessions")(
    initialize=REVISION, list_sessions=listless_in("2025-06-18")
)
defect(
    "typeless-beside-token",
    "Leaves the type out of the result of a call that asks for progress.",
    "stateless:result-type",
)(answer=typeless_with_token)
defect("nameless-in-replies", "Leaves its name out of the result of a reply.", "stateless:server-info")(
    answer=nameless_reply
)
defect(
    "head-of-stderr-beside-long-prompt",
    "Keeps the first 8 KiB of stderr in place of the last when the prompt is long.",
    "error:stderr:tail",
)(stderr_part=head_of_stderr)
defect(
    "warnings-lost-of-reply-in-directory",
    "Loses the warnings of a reply by id with a directory.",
    "result:warnings",
)(execute=results(warns_by_directory, without_warnings))
defect(
    "pretty-json-unread-beside-system-prompt",
    "Reads no JSON over several lines in a reply with a system prompt.",
    "result:json:pretty",
)(ask=pretty_unread)
defect(
    "model-lost-beside-token-and-system-prompt",
    "Loses the model of a call with a system prompt that asks for progress.",
    "command:chat:model",
)(ask=asks(two_kinds_of_arguments, lacking("-m")))
defect(
    "http-model-lost-beside-directory",
    "Loses the model of a call with a directory over HTTP.",
    "command:chat:model",
)(HttpPort, ask=asks(names("model", "cwd"), lacking("-m")))
defect(
    "http-reply-by-id-is-latest",
    "Resumes the latest session over HTTP when a reply has a system prompt.",
    "command:chat-reply:session-id",
)(
    HttpPort,
    ask=asks(
        lambda call, plan: is_reply(call) and plan.system is not None and not is_latest(plan),
        lambda plan: replace(plan, argv=("gemini", "-r", "latest", *plan.argv[3:])),
    ),
)
defect(
    "http-list-in-own-directory",
    "Asks for the list of sessions in its own directory over HTTP.",
    "fallback:cwd",
)(HttpPort, listing_cwd=gives(lambda cwd: None))
