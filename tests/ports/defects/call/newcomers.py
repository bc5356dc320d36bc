"""Defects that show when two arguments meet, and in what a call makes of a run that ended in an unusual way."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import PREFIX, QUOTA, SESSION_GONE, Answer, Failure, Outcome
from conditions import REVISION, altering, asks, is_named, refused, results, speaks
from defects.record import defect
from planning import Plan, Refusal
from running import Call
from speaking import Message
from steps import gives


def without_long(plan: Plan) -> Plan:
    """Holds for private what stands on the command line alone."""
    return replace(plan, private=tuple(text for text in plan.private if text != plan.stdin))


def gone_in_first_line(port: Any, real: Any, exit: int, stderr: str) -> str:
    first, end, rest = stderr.partition("\n")
    return real(exit, first + end + SESSION_GONE.sub("", rest))


def completed(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    whole = stdout.rstrip() + "}"
    scan = port.scan(stdout)
    is_one_short = scan.is_cut_short and not scan.objects and not port.scan(whole).is_cut_short
    return real(whole if is_one_short else stdout, stderr)


def listed_for_number(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    """gemini takes a number for an index of its list."""
    is_index = re.fullmatch("[0-9]+", plan.session or "")
    return real(call, replace(plan, session="latest") if is_index else plan, answer)


def model_left_over(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    left = {} if (model := port.memory.pop("model", None)) is None else {"model": model}
    try:
        return real(tool, {**left, **arguments})
    except Refusal:
        model = arguments.get("model")
        if isinstance(model, str) and re.fullmatch(r"\w[\w.-]*", model):
            port.memory["model"] = model
        raise


def blames_directory(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    """The system says of both that there is no such file or directory."""
    try:
        return real(argv, **options)
    except Failure as failure:
        if options["cwd"] and "not found" in failure.sentence:
            raise Failure(f"The directory {options['cwd']!r} does not exist.") from None
        raise


def listed_apart(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    """Runs the list for a call of its own, of which the client knows nothing."""
    apart = Call(object(), call.tool, call.arguments)
    port.calls.append(apart)
    try:
        return real(apart, plan)
    finally:
        port.calls.remove(apart)


def quota_before_plain_text(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    answer = real(stdout, stderr)
    if answer.text == stdout and QUOTA.search(stderr):
        raise Failure("The quota of the Gemini API is used up (exit code 0).", stderr)
    return answer


def is_newly_refused(call: Call, result: Message) -> bool:
    return call.stateless and refused(call, result) and result["content"][0]["text"].endswith("should be a string.")


def without_prefix(result: Message) -> Message:
    return {**result, "content": [{"type": "text", "text": result["content"][0]["text"].removeprefix(PREFIX)}]}


defect(
    "long-reply-resumes-latest",
    "Resumes the latest session instead of the one that is named when the prompt goes to stdin.",
    "command:chat-reply:session-id",
)(ask=asks(lambda call, plan: plan.stdin is not None and is_named(plan), altering("-r", lambda session: "latest")))
defect(
    "empty-text-without-content-in-first-revision",
    "Gives an empty list as the content of an empty text to a client of 2024-11-05.",
    "result:empty",
)(
    initialize=REVISION,
    content=lambda port, real, text: real(text) if text or not speaks(port, "2024-11-05") else [],
)
defect(
    "long-prompt-not-withheld",
    "Repeats what gemini says of a prompt that it was given on stdin.",
    "error:prompt",
)(plan=gives(without_long))
defect(
    "session-gone-in-first-line-only",
    "Says that a session is gone only when gemini says so in the first line of its stderr.",
    "error:session-gone",
)(exit_sentence=gone_in_first_line)
defect(
    "last-brace-supplied",
    "Supplies the last brace of a JSON that breaks off just before it.",
    "result:truncated",
)(read_stdout=completed)
defect(
    "list-for-number-as-session",
    "Asks for the list after a reply by an id that is a number, and reports the newest session.",
    "fallback:by-id",
)(with_session=listed_for_number)
defect(
    "model-left-by-refused-call",
    "Uses the model of a refused call for the next one that names none.",
    "command:chat:no-model",
    "command:chat-reply:no-model",
)(plan=model_left_over)
defect(
    "directory-blamed-for-absent-gemini",
    "Says that the working directory is missing when it is gemini that cannot be found.",
    "error:not-started:remedy",
)(start=blames_directory)
defect(
    "list-survives-cancellation",
    "Lets the list of sessions run on when its call is cancelled.",
    "cancel:child",
    "cancel:group",
)(list_sessions=listed_apart)
defect(
    "quota-on-stderr-beside-plain-text",
    "Takes plain text for a failure when stderr speaks of the quota.",
    "result:plain-text",
)(read_stdout=quota_before_plain_text)
defect(
    "nul-in-system-prompt-laid-to-prompt",
    "Names the prompt when it is the system prompt that holds a NUL or a lone surrogate.",
    "arguments:refused:is-error",
)(
    check_characters=lambda port, real, name, text: real("prompt" if name == "systemPrompt" else name, text),
)
defect(
    "type-refused-without-prefix-in-new-revision",
    "Leaves out the prefix when it refuses an argument of a wrong type in 2026-07-28.",
    "arguments:refused:prefix",
)(execute=results(is_newly_refused, without_prefix))
