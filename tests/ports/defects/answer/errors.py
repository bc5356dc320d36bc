"""Defects in saying what went wrong."""

from dataclasses import replace
from typing import Any

from answering import PREFIX, Answer, Failure
from defects.record import defect
from speaking import Message
from steps import Change, Step, adding, always, gives, only, takes, without


def failed(change: Change) -> Step:
    """Changes the results of runs that failed, not those of refusals."""

    def error(port: Any, real: Any, failure: Failure) -> Message:
        result = real(failure)
        return result if failure.stderr is None else change(result)

    return error


def worded(change: Change) -> Step:
    """Changes the text of a run that failed."""
    return failed(
        lambda result: {**result, "content": [{"type": "text", "text": change(result["content"][0]["text"])}]}
    )


def with_first_line(text: str) -> str:
    head, separator, stderr = text.partition("\nStderr: ")
    return head + separator + stderr.split("\n")[0]


def believes_signalled(port: Any, real: Any, outcome: Any) -> Answer:
    if outcome.exit >= 0:
        return real(outcome)
    try:
        return real(replace(outcome, exit=0))
    except Failure:
        return Answer(port.decode(outcome.stdout))


def missing_is_text(result: Message) -> Message:
    text = str(result["content"])
    is_missing = "was not found" in text or "could not be started" in text
    return {"content": result["content"]} if is_missing and "isError" in result else result


def silent_about(code: int) -> Step:
    return lambda port, real, exit, stderr: f"Command failed ({exit})." if exit == code else real(exit, stderr)


defect("damaged-stderr-dropped", "Quotes nothing of a stderr that is no UTF-8.", "error:stderr")(
    stderr_part=lambda port, real, failure: "\nStderr: " if "\ufffd" in (failure.stderr or "") else real(failure)
)
defect("abort-is-success", "Takes the answer of a gemini that has aborted.", "error:signal")(
    read=takes(lambda outcome: replace(outcome, exit=0) if outcome.exit == -6 else outcome)
)
defect("failure-is-success", "Returns the text of an error without isError.", "error:is-error")(
    error=failed(without("isError"))
)
defect("errors-unmarked", "Returns the text of every error and refusal without isError.", "error:is-error")(
    error=gives(without("isError"))
)
defect("is-error-is-text", "Sends isError as a string.", "error:is-error")(error=gives(adding(isError="true")))
defect("error-content-is-text", "Returns the text of an error where the array of content should be.", "error:content")(
    error=failed(lambda result: {**result, "content": result["content"][0]["text"]})
)
defect("other-prefix", "Begins an error with another word.", "error:prefix")(
    error=worded(lambda text: text.replace(PREFIX, "Gemini CLI error: ", 1))
)
defect("prefix-in-capitals", "Begins the error for death by a signal, and only that, in capitals.", "error:prefix")(
    error=worded(lambda text: text.replace(PREFIX, PREFIX.upper(), 1) if "ended by signal" in text else text)
)
defect("stderr-dropped", "Drops stderr when its own sentence says enough.", "error:stderr")(
    error=worded(lambda text: text.split("\nStderr: ")[0])
)
defect("first-line-of-stderr", "Keeps the first line of stderr.", "error:stderr")(error=worded(with_first_line))
defect("stderr-in-one-line", "Puts stderr behind the sentence without a line of its own.", "error:stderr")(
    error=worded(lambda text: text.replace("\nStderr: ", " Stderr: ", 1))
)
defect("stderr-only-when-present", "Leaves the line for stderr out when there is none.", "error:stderr:empty")(
    error=worded(lambda text: text.removesuffix("\nStderr: "))
)
defect("whole-stderr", "Returns all of stderr.", "error:stderr:tail")(tail=lambda port, real, text: text)
defect("head-of-stderr", "Keeps the first 8 KiB of stderr, where the reason rarely is.", "error:stderr:tail")(
    tail=lambda port, real, text: text.encode()[:8192].decode("utf-8", "ignore")
)
defect("error-carries-session", "Returns a session with an error.", "error:session-id")(
    execute=gives(lambda result: {**result, "_meta": {"sessionId": "unknown"}} if result.get("isError") else result)
)
defect("exit-overlooked", "Believes an answer on stdout, whatever the exit code.", "error:exit")(
    read=takes(lambda run: replace(run, exit=0) if run.exit > 0 and b'"response"' in run.stdout else run)
)
defect("unknown-exit-is-text", "Returns stderr as the answer of a run whose exit code it does not know.", "error:exit")(
    read=lambda port, real, outcome: (
        Answer(port.decode(outcome.stderr) or "done") if outcome.exit == 1 else real(outcome)
    )
)
defect("signal-overlooked", "Takes death by a signal for success, since its code is below zero.", "error:signal")(
    read=believes_signalled
)
defect("missing-gemini-is-text", "Says in a result that is no error that gemini cannot be found.", "error:not-started")(
    execute=gives(missing_is_text)
)
defect(
    "missing-gemini-unexplained", "Repeats the system's words when gemini cannot be found.", "error:not-started:remedy"
)(error=takes(lambda failure: Failure("spawn gemini ENOENT") if "was not found" in failure.sentence else failure))

for code in (41, 42, 44, 52, 53, 54, 55, 130, 144, 145, 147, 173, 244, 247):
    defect(f"exit{code}-unexplained", f"Does not explain the exit code {code}.", f"error:exit:{code}")(
        exit_sentence=silent_about(code), said=always(None)
    )

defect("quota-unexplained", "Looks for a quota in the exit code only.", "error:quota")(
    exit_sentence=takes(lambda stderr: "")
)
defect(
    "session-gone-unexplained", "Does not tell a session that is gone from other wrong input.", "error:session-gone"
)(exit_sentence=lambda port, real, exit, stderr: real(exit, "" if exit == 42 else stderr))
defect("json-on-stderr-unread", "Does not read the JSON error on stderr.", "error:json-on-stderr")(said=always(None))
defect("stderr-must-be-json", "Reads a JSON error only when stderr holds nothing else.", "error:json-on-stderr")(
    said=only(lambda stderr: stderr.startswith("{"))
)
