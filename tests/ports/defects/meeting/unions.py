"""Defects that show where two arguments of a call meet one way in which gemini ends."""

import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from answering import EXITS, Answer, Failure, Outcome
from conditions import ends, results, stdin_open
from defects.record import defect
from planning import Plan
from running import LIST, Call
from speaking import Message
from steps import Step

LONE_ESCAPE = re.compile(rb"(\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2})|\\ud[89a-f][0-9a-f]{2}", re.IGNORECASE)

Test = Callable[[Call, Plan], object]


def names(*arguments: str) -> Callable[..., bool]:
    """Whether a call gives all of these arguments."""

    def holds(call: Call, *others: object) -> bool:
        return all(call.arguments.get(name) for name in arguments)

    return holds


def is_reply(call: Call) -> bool:
    return call.tool == "chat-reply"


def is_latest(plan: Plan) -> bool:
    return plan.session == "latest"


def failing(test: Test, words: str, then: Callable[[Failure], Failure | Answer]) -> Step:
    """Of `ask`: takes a failure with these words in its sentence for another, or for an answer."""

    def ask(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
        try:
            return real(call, plan)
        except Failure as failure:
            if not test(call, plan) or words not in failure.sentence:
                raise
            changed = then(failure)
        if isinstance(changed, Failure):
            raise changed
        return changed

    return ask


def saying(sentence: str) -> Callable[[Failure], Failure]:
    return lambda failure: replace(failure, sentence=sentence)


def refuses_answer(test: Callable[[Call, Answer], object]) -> Step:
    """Of `ask`: takes such an answer for a failure."""

    def ask(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
        answer = real(call, plan)
        if test(call, answer):
            raise Failure("gemini gave no answer.", "")
        return answer

    return ask


def as_answer(text: str) -> Outcome:
    return Outcome(0, json.dumps({"response": text}).encode())


def text_of(test: Test, is_meant: Callable[[Any, str], object]) -> Step:
    """Of `run_prompt`: takes the whole of such an output for the answer."""

    def run_prompt(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
        outcome = real(call, plan)
        text = port.decode(outcome.stdout)
        is_taken = outcome.exit == 0 and text.strip() and test(call, plan) and is_meant(port, text)
        return as_answer(text) if is_taken else outcome

    return run_prompt


def is_broken_off(port: Any, text: str) -> bool:
    scan = port.scan(text)
    return scan.is_cut_short and not any("response" in value for _, value in scan.objects)


def refuses_plain_text(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    outcome = real(call, plan)
    if plan.system and outcome.exit == 0 and outcome.stdout.strip() and b"{" not in outcome.stdout:
        raise Failure("gemini printed no JSON.", port.decode(outcome.stderr))
    return outcome


def refuses_damage(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    outcome = real(call, plan)
    if is_reply(call) and "-m" in plan.argv and outcome.exit == 0:
        try:
            outcome.stdout.decode()
        except UnicodeDecodeError:
            raise Failure("gemini printed what is no UTF-8.", port.decode(outcome.stderr)) from None
    return outcome


def list_must_succeed(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    listing = real(call, plan)
    if listing is not None and listing.exit != 0 and is_latest(plan) and plan.cwd:
        raise Failure("gemini could not list its sessions.", port.decode(listing.stderr))
    return listing


def more_beside_system_prompt(port: Any, real: Any, failure: Failure) -> str:
    if failure.stderr is None or len(failure.private) < 2:
        return real(failure)
    text = port.redacted(failure.stderr, failure.private)
    return f"\nStderr: {text.encode('utf-8', 'replace')[-16384:].decode('utf-8', 'ignore')}"


def without_empty_label(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    text = result["content"][0]["text"]
    if call.arguments.get("cwd") and "failed with exit code" in text:
        return {**result, "content": port.content(text.removesuffix("\nStderr: "))}
    return result


def readable_beside_model(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    path = options["env"].get("GEMINI_SYSTEM_MD")
    if path and "-r" in argv and "-m" in argv:
        os.chmod(path, 0o644)
    return real(argv, **options)


def named_small_beside_directory(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    path = options["env"].get("GEMINI_SYSTEM_MD")
    if path and "-r" in argv and options.get("cwd"):
        other = os.path.join(os.path.dirname(path), "system.md")
        with suppress(OSError):
            os.rename(path, other)
        options = {**options, "env": {**options["env"], "GEMINI_SYSTEM_MD": other}}
    return real(argv, **options)


def untold_beside_everything(port: Any, real: Any, call: Call) -> None:
    if not (is_reply(call) and not call.arguments.get("sessionId") and names("model", "cwd", "systemPrompt")(call)):
        real(call)


def silent_of_long_prompt(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    return answer if plan.stdin is not None and plan.session is None else real(call, plan, answer)


def first_of_lines(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    """The model beside a directory with a blank."""
    return () if " " in texts.get("cwd", "") and tool == "chat-reply" else real(tool, texts)


defect(
    "session-lost-beside-directory-system-prompt-and-warnings",
    "Names no session of a call with a directory and a system prompt when gemini warns.",
    "result:session-id",
)(
    execute=results(
        lambda call, result: names("cwd", "systemPrompt")(call) and "warnings" in result.get("_meta", {}),
        lambda result: {**result, "_meta": {key: it for key, it in result["_meta"].items() if key != "sessionId"}},
    )
)
defect(
    "empty-answer-of-named-session-is-error",
    "Calls an empty answer an error in a reply by id with a directory.",
    "result:empty",
)(ask=refuses_answer(lambda call, answer: names("sessionId", "cwd")(call) and answer.text == ""))
defect(
    "plain-text-refused-beside-system-prompt",
    "Calls text without JSON an error in a call with a system prompt.",
    "result:plain-text",
)(run_prompt=refuses_plain_text)
defect("long-prompt-spares-list", "Asks for no list in a `chat` whose prompt is long.", "fallback:list-sessions")(
    with_session=silent_of_long_prompt
)
defect(
    "stdin-of-list-open", "Gives a list of sessions an open pipe as stdin and never closes it.", "process:stdin:ended"
)(spawn=stdin_open(lambda argv: LIST in argv))
defect(
    "damaged-answer-of-reply-with-model-fails",
    "Fails in a reply with a model when the output is not UTF-8.",
    "result:json:encoding",
)(run_prompt=refuses_damage)
defect(
    "notice-hides-json-beside-long-prompt",
    "Takes all of stdout for the answer to a long prompt when a notice stands first.",
    "result:json:notice-before",
)(run_prompt=text_of(lambda call, plan: plan.stdin is not None, lambda port, text: not text.lstrip().startswith("{")))
defect(
    "failed-list-fails-latest-beside-directory",
    "Fails a reply to the latest session of a directory when the list fails.",
    "fallback:failure",
)(list_sessions=list_must_succeed)
defect(
    "surrogates-of-reply-with-model-dropped",
    "Drops lone surrogates in the answer to a reply with a model.",
    "result:text:surrogate",
)(
    run_prompt=ends(
        lambda call, outcome: is_reply(call) and names("model")(call),
        lambda outcome: replace(outcome, stdout=LONE_ESCAPE.sub(lambda found: found[1] or b"", outcome.stdout)),
    )
)
defect(
    "unasked-is-empty-in-named-session-beside-model",
    "Takes an empty text for an answer though no model was asked, in a reply by id with a model.",
    "result:unasked",
)(ask=failing(names("sessionId", "model"), "asked no model", lambda failure: Answer("")))
defect(
    "exit-41-unexplained-beside-system-prompt",
    "Does not explain the exit code 41 of a call with a system prompt.",
    "error:exit:41",
)(ask=failing(names("systemPrompt"), "exit code 41", saying("gemini failed.")))
defect(
    "quota-unexplained-beside-long-prompt",
    "Speaks of no quota when the prompt was long.",
    "error:quota",
)(ask=failing(lambda call, plan: plan.stdin is not None, "quota", saying("gemini failed.")))
defect(
    "session-gone-unexplained-beside-model-and-directory",
    "Takes a session that is gone for other wrong input in a reply with a model and a directory.",
    "error:session-gone",
)(ask=failing(names("model", "cwd"), "does not know this session", saying(EXITS[42])))
defect(
    "json-on-stderr-unread-for-latest-beside-directory",
    "Does not read the JSON error on stderr in a reply to the latest session of a directory.",
    "error:json-on-stderr",
)(ask=failing(lambda call, plan: is_latest(plan) and plan.cwd, "gemini", lambda failure: replace(failure, said=None)))
defect("more-stderr-beside-system-prompt", "Quotes 16 KiB of stderr beside a system prompt.", "error:stderr:tail")(
    stderr_part=more_beside_system_prompt
)
defect(
    "empty-label-lost-for-unknown-exit-beside-directory",
    "Leaves the line for an empty stderr out when it does not know the exit code of a call with a directory.",
    "error:stderr:empty",
)(execute=without_empty_label)
defect(
    "truncated-answer-to-long-prompt-is-text",
    "Returns JSON that breaks off as text when the prompt was long.",
    "result:truncated",
)(run_prompt=text_of(lambda call, plan: plan.stdin is not None, is_broken_off))
defect(
    "error-key-of-long-reply-overlooked",
    "Takes an error in JSON for an answer in a reply with a long prompt.",
    "result:error-key",
)(
    ask=failing(
        lambda call, plan: is_reply(call) and plan.stdin is not None,
        "Gemini reported",
        lambda failure: Answer(failure.said or ""),
    )
)
defect(
    "no-output-succeeds-in-latest-beside-system-prompt",
    "Returns an empty text when gemini prints nothing to a reply to the latest session with a system prompt.",
    "result:no-output",
)(ask=failing(lambda call, plan: is_latest(plan) and plan.system, "without any output", lambda failure: Answer("")))
defect(
    "system-file-readable-beside-model-in-reply",
    "Lets everybody read the system prompt of a reply with a model.",
    "system:mode",
)(spawn=readable_beside_model)
defect(
    "system-file-lower-case-in-reply-beside-directory",
    "Names the file `system.md` in a reply with a directory.",
    "system:file-name",
)(spawn=named_small_beside_directory)
defect(
    "progress-lost-in-latest-beside-everything",
    "Tells no progress of a reply to the latest session with all other arguments.",
    "progress:start",
)(report_progress=untold_beside_everything)
defect(
    "model-lost-beside-directory-with-blank",
    "Loses the model of a reply in a directory with a blank in its path.",
    "command:chat-reply:model",
)(model_option=first_of_lines)
defect(
    "no-response-is-empty-in-chat-beside-model-and-system-prompt",
    "Takes JSON without a text for an empty answer in a `chat` with a model and a system prompt.",
    "result:no-response",
)(
    ask=failing(
        lambda call, plan: not is_reply(call) and names("model", "systemPrompt")(call),
        "without a text",
        lambda failure: Answer(""),
    )
)
