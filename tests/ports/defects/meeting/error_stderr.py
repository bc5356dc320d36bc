"""Stderr that is lost or cut where something else went wrong, too: ports that break `error:stderr`."""

from dataclasses import replace
from typing import Any

from answering import STDERR_LIMIT, Answer, Failure, Outcome
from conditions import failed, results
from defects.meeting.shared import open_prompts
from defects.record import defect
from defects.shared import without_stderr
from planning import Plan
from running import Call
from speaking import Message

STDERRS = 8


def notes_crowd(port: Any, real: Any, call: Call, *others: Any) -> Any:
    process = real(call, *others)
    port.memory[call] = sum(each.process is not None for each in list(port.calls))
    return process


def unread_in_crowd(port: Any, real: Any, call: Call, *others: Any) -> Outcome:
    outcome = real(call, *others)
    return replace(outcome, stderr=b"") if port.memory.pop(call) > STDERRS else outcome


def withholds_of_all(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    return real(text, (*private, *open_prompts(port)))


def quiet_success(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    """Looks at stderr when the exit code is not 0."""
    return real(stdout, "")


def named_failed_with_token(call: Call, result: Message) -> bool:
    return call.token is not None and bool(call.arguments.get("sessionId")) and failed(call, result)


def without_empty_label(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    text = result["content"][0]["text"]
    if call.arguments.get("cwd") and "failed with exit code" in text:
        return {**result, "content": port.content(text.removesuffix("\nStderr: "))}
    return result


def more_beside_system_prompt(port: Any, real: Any, failure: Failure) -> str:
    if failure.stderr is None or len(failure.private) < 2:
        return real(failure)
    text = port.redacted(failure.stderr, failure.private)
    return f"\nStderr: {text.encode('utf-8', 'replace')[-16384:].decode('utf-8', 'ignore')}"


def head_of_stderr(port: Any, real: Any, failure: Failure) -> str:
    is_long = any(len(text) > 128_000 for text in failure.private)
    if failure.stderr is None or not is_long:
        return real(failure)
    return f"\nStderr: {port.redacted(failure.stderr, failure.private)[:8192]}"


def damaged_stderr_of_reply(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    outcome = real(call, plan)
    if call.tool == "chat-reply" and outcome.exit != 0 and len(outcome.stderr) > STDERR_LIMIT:
        return replace(outcome, stderr=outcome.stderr.replace(b"\n", b" "))
    return outcome


defect(
    "ninth-stderr-at-once-unread",
    "Reads no stderr of a gemini beside which eight others ran when it started.",
    "error:stderr",
)(begin=notes_crowd, outcome=unread_in_crowd)
defect(
    "prompts-of-siblings-withheld",
    "Withholds in the error of a call the prompts of all calls that run, and not its own alone.",
    "error:stderr",
)(redacted=withholds_of_all)
defect(
    "stderr-unquoted-of-exit-0",
    "Quotes no stderr when gemini exits with 0 and gives no answer.",
    "error:stderr",
)(read_stdout=quiet_success)
defect(
    "stderr-lost-beside-token-in-named-session",
    "Quotes no stderr of a reply by id that asks for progress.",
    "error:stderr",
)(execute=results(named_failed_with_token, without_stderr))
defect(
    "empty-label-lost-for-unknown-exit-beside-directory",
    "Leaves the line for an empty stderr out when it does not know the exit code of a call with a directory.",
    "error:stderr:empty",
)(execute=without_empty_label)
defect("more-stderr-beside-system-prompt", "Quotes 16 KiB of stderr beside a system prompt.", "error:stderr:tail")(
    stderr_part=more_beside_system_prompt
)
defect(
    "head-of-stderr-beside-long-prompt",
    "Keeps the first 8 KiB of stderr in place of the last when the prompt is long.",
    "error:stderr:tail",
)(stderr_part=head_of_stderr)
defect(
    "lines-of-long-stderr-joined-in-replies",
    "Makes one line of the stderr of a reply when it has to be cut.",
    "error:stderr:tail",
)(run_prompt=damaged_stderr_of_reply)
