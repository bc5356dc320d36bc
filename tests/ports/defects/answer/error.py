"""Wrong words about a run that went wrong: ports that break `error`."""

import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from signal import SIGSEGV
from typing import Any

from answering import PREFIX, Answer, Failure, Outcome
from conditions import ends
from defects.answer.shared import failed, worded
from defects.record import defect
from planning import Plan
from running import Call, Cancelled
from speaking import Message
from steps import Step, adding, always, gives, only, takes, without

NODE_IS_MISSING = 127


def silent_about(code: int) -> Step:
    return lambda port, real, exit, stderr: f"Command failed ({exit})." if exit == code else real(exit, stderr)


def exits_well(*exits: int) -> Step:
    """Of `run_prompt`: takes such an exit for a success beside an answer."""

    def is_meant(call: Call, outcome: Outcome) -> bool:
        return outcome.exit in exits and b'"response"' in outcome.stdout

    return ends(is_meant, lambda outcome: replace(outcome, exit=0))


def answer_first(test: Callable[[Outcome], bool]) -> Step:
    """Of `read`: looks for an answer before it looks at how gemini ended, where `test` holds."""

    def read(port: Any, real: Any, outcome: Outcome) -> Answer:
        with suppress(Failure):
            return real(replace(outcome, exit=0) if test(outcome) else outcome)
        return real(outcome)

    return read


def silent_of_what_is_shown(failure: Failure) -> Failure:
    """What stands in stderr, and nothing else does, needs not be said twice."""
    stderr = (failure.stderr or "").strip()
    return replace(failure, said=None) if stderr.startswith("{") and stderr.endswith("}") else failure


def missing_is_text(result: Message) -> Message:
    text = str(result["content"])
    is_missing = "was not found" in text or "could not be started" in text
    return {"content": result["content"]} if is_missing and "isError" in result else result


def withholds_everywhere(port: Any, real: Any, failure: Failure) -> Message:
    result = real(failure)
    return {**result, "content": port.content(port.withheld(result["content"][0]["text"], failure.private))}


def open_about(words: str) -> Step:
    """Of `error`: withholds nothing in the error for one kind of outcome."""
    return takes(lambda failure: replace(failure, private=()) if words in failure.sentence else failure)


def node_by_exit(port: Any, real: Any, exit: int, stderr: str) -> str:
    sentence = real(exit, stderr)
    is_doubted = "needs node" in sentence and exit != NODE_IS_MISSING
    return f"gemini failed with exit code {exit}." if is_doubted else sentence


def unmasked_without_output(port: Any, real: Any, failure: Failure) -> Message:
    if "without any output" not in failure.sentence:
        return real(failure)
    stderr = port.tail(port.withheld(failure.stderr, failure.private))
    return {"content": port.content(f"{PREFIX}{failure.sentence}\nStderr: {stderr}"), "isError": True}


def believes_signalled(port: Any, real: Any, outcome: Any) -> Answer:
    if outcome.exit >= 0:
        return real(outcome)
    try:
        return real(replace(outcome, exit=0))
    except Failure:
        return Answer(port.decode(outcome.stdout))


def interrupted_is_cancelled(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    outcome = real(call, plan)
    if outcome.exit == -signal.SIGINT:
        raise Cancelled
    return outcome


defect("error-content-is-text", "Returns the text of an error where the array of content should be.", "error:content")(
    error=failed(lambda result: {**result, "content": result["content"][0]["text"]})
)
defect("exit-overlooked", "Believes an answer on stdout, whatever the exit code.", "error:exit")(
    read=takes(lambda run: replace(run, exit=0) if run.exit > 0 and b'"response"' in run.stdout else run)
)
defect("unknown-exit-is-text", "Returns stderr as the answer of a run whose exit code it does not know.", "error:exit")(
    read=lambda port, real, outcome: (
        Answer(port.decode(outcome.stderr) or "done") if outcome.exit == 1 else real(outcome)
    )
)

for code in (41, 42, 44, 52, 53, 54, 55, 130, 144, 145, 147, 173, 244, 247):
    defect(f"exit{code}-unexplained", f"Does not explain the exit code {code}.", f"error:exit:{code}")(
        exit_sentence=silent_about(code), said=always(None)
    )

defect("exit-13-beside-answer", "Takes exit code 13 beside an answer for a success.", "error:exit")(
    run_prompt=exits_well(13)
)
defect("failure-is-success", "Returns the text of an error without isError.", "error:is-error")(
    error=failed(without("isError"))
)
defect("errors-unmarked", "Returns the text of every error and refusal without isError.", "error:is-error")(
    error=gives(without("isError"))
)
defect("is-error-is-text", "Sends isError as a string.", "error:is-error")(error=gives(adding(isError="true")))
defect(
    "answer-outweighs-silent-exit-1",
    "Takes an answer for a success although gemini exits with 1, if nothing is on stderr.",
    "error:is-error",
)(read=answer_first(lambda outcome: outcome.exit == 1 and not outcome.stderr.strip()))
defect(
    "answer-outweighs-exit-53",
    "Takes an answer for a success although gemini has used up its turns.",
    "error:is-error",
)(read=answer_first(lambda outcome: outcome.exit == 53))
defect(
    "first-line-of-message-shown",
    "Tells the first line of what gemini says of its failure.",
    "error:json-on-stderr",
)(message=gives(lambda message: message and message.split("\n")[0]))
defect("json-on-stderr-unread", "Does not read the JSON error on stderr.", "error:json-on-stderr")(said=always(None))
defect("stderr-must-be-json", "Reads a JSON error only when stderr holds nothing else.", "error:json-on-stderr")(
    said=only(lambda stderr: stderr.startswith("{"))
)
defect("message-looked-for-in-tail", "Looks for JSON in the last 8 KiB of stderr.", "error:json-on-stderr")(
    said=takes(lambda stderr: stderr[-8192:])
)
defect(
    "message-left-out-beside-bare-json",
    "Leaves the message of a JSON error out when stderr holds nothing else.",
    "error:json-on-stderr",
)(error=takes(silent_of_what_is_shown))
defect("missing-gemini-is-text", "Says in a result that is no error that gemini cannot be found.", "error:not-started")(
    execute=gives(missing_is_text)
)
defect(
    "missing-gemini-unexplained", "Repeats the system's words when gemini cannot be found.", "error:not-started:remedy"
)(error=takes(lambda failure: Failure("spawn gemini ENOENT") if "was not found" in failure.sentence else failure))
defect("other-prefix", "Begins an error with another word.", "error:prefix")(
    error=worded(lambda text: text.replace(PREFIX, "Gemini CLI error: ", 1))
)
defect("prefix-in-capitals", "Begins the error for death by a signal, and only that, in capitals.", "error:prefix")(
    error=worded(lambda text: text.replace(PREFIX, PREFIX.upper(), 1) if "ended by signal" in text else text)
)
defect("own-words-withheld", "Withholds the words of a prompt in all of its error.", "error:prefix")(
    error=withholds_everywhere
)
defect("prompt-of-signal-shown", "Withholds no prompt when gemini has died of a signal.", "error:prompt")(
    error=open_about("by signal")
)
defect("prompt-of-truncated-shown", "Withholds no prompt when the answer breaks off.", "error:prompt")(
    error=open_about("in the middle")
)
defect("quota-unexplained", "Looks for a quota in the exit code only.", "error:quota")(
    exit_sentence=takes(lambda stderr: "")
)
defect("cause-looked-for-in-32-kib", "Looks for causes in the last 32 KiB of stderr.", "error:quota")(
    exit_sentence=takes(lambda stderr: stderr[-32768:])
)
defect(
    "node-missing-by-exit-alone",
    "Explains that Node is missing when gemini exits with 127, and with no other exit code.",
    "error:saying:no-node",
)(exit_sentence=node_by_exit)
defect("keys-of-silence-shown", "Masks no keys when gemini has printed nothing.", "error:secrets")(
    error=unmasked_without_output
)
defect(
    "session-gone-unexplained", "Does not tell a session that is gone from other wrong input.", "error:session-gone"
)(exit_sentence=lambda port, real, exit, stderr: real(exit, "" if exit == 42 else stderr))
defect("error-carries-session", "Returns a session with an error.", "error:session-id")(
    execute=gives(lambda result: {**result, "_meta": {"sessionId": "unknown"}} if result.get("isError") else result)
)
defect("abort-is-success", "Takes the answer of a gemini that has aborted.", "error:signal")(
    read=takes(lambda outcome: replace(outcome, exit=0) if outcome.exit == -6 else outcome)
)
defect("signal-overlooked", "Takes death by a signal for success, since its code is below zero.", "error:signal")(
    read=believes_signalled
)
defect("crash-is-success", "Takes the answer of a gemini that died of SIGSEGV.", "error:signal")(
    run_prompt=ends(lambda call, outcome: outcome.exit == -SIGSEGV, lambda outcome: replace(outcome, exit=0))
)
defect(
    "interrupted-gemini-unanswered",
    "Answers nothing when somebody else interrupts gemini.",
    "error:signal",
)(run_prompt=interrupted_is_cancelled)
