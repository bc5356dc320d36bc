"""Answers that repeat or lack something because of earlier ones: ports that break `result`."""

import re
import time
from collections.abc import Mapping
from dataclasses import replace
from threading import Timer
from typing import Any

from answering import Answer, Outcome
from conditions import from_time, is_named, marks, since
from defects.record import defect
from planning import Plan
from running import LISTING_TIMEOUT, Call
from speaking import Message
from steps import Step, before, gives, without

HALF = re.compile(rb"(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})\Z")
BUFFER = 4096
DEPTH = 1024 * 1024


def half_kept(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    """One decoder reads all outputs, and waits for the rest of a character."""
    outcome = real(call, plan)
    stdout = port.memory.pop("half", b"") + outcome.stdout
    if half := HALF.search(stdout):
        port.memory["half"] = half[0]
        stdout = stdout[: half.start()]
    return replace(outcome, stdout=stdout)


def stdout_over_the_one_before(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    """Short outputs are read into one buffer."""
    outcome = real(call, plan)
    if len(outcome.stdout) > BUFFER:
        return outcome
    kept = port.memory.get("stdout", b"")
    port.memory["stdout"] = outcome.stdout + kept[len(outcome.stdout) :]
    return replace(outcome, stdout=port.memory["stdout"])


def sessionless_behind_large(port: Any, real: Any, outcome: Outcome) -> Answer:
    was_large, port.memory["large"] = port.memory.get("large"), len(outcome.stdout) > DEPTH
    answer = real(outcome)
    return Answer(answer.text, None, answer.warnings) if was_large and not port.memory["large"] else answer


def warned(call: Call, result: Message) -> bool:
    return bool(result.get("_meta", {}).get("warnings"))


def told_once(key: str) -> Step:
    """Of `success`: leaves out of `_meta` what was told before."""

    def success(port: Any, real: Any, answer: Answer) -> Message:
        result = real(answer)
        meta, told = dict(result.get("_meta", {})), port.memory.setdefault("told", list[Any]())
        if key in meta and meta[key] in told:
            del meta[key]
        elif key in meta:
            told.append(meta[key])
        return {**result, "_meta": meta}

    return success


def plain_for_good(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    return port.plain_text(stdout) if port.memory.get("plain") and stdout.strip() else real(stdout, stderr)


def notes_plain(port: Any, stdout: str) -> None:
    port.memory["plain"] = True


def leaves_timer(port: Any, call: Call, plan: Plan) -> None:
    def fire() -> None:
        running = [each for each in list(port.calls) if each.process is not None]
        if running and call not in port.calls:
            port.stop(running[-1])

    timer = Timer(LISTING_TIMEOUT, fire)
    timer.daemon = True
    timer.start()


def same_answer_spared(port: Any, real: Any, answer: Answer) -> Message:
    text, port.memory["text"] = port.memory.get("text"), answer.text
    return real(replace(answer, text="(as before)") if text == answer.text and text else answer)


def keeps_warnings_of_error(port: Any, real: Any, value: Mapping[str, Any], stderr: str) -> Answer:
    if value.get("error") is not None and value.get("warnings"):
        port.memory["warnings"] = value["warnings"]
    answer = real(value, stderr)
    return replace(answer, warnings=answer.warnings or port.memory.pop("warnings", None))


def all_warnings(port: Any, real: Any, answer: Answer) -> Message:
    """Adds to the warnings of an answer those of all answers before."""
    warnings: Any = answer.warnings
    if not isinstance(warnings, list):
        return real(answer)
    port.memory["warnings"] = [*port.memory.get("warnings", []), *warnings]
    return real(replace(answer, warnings=port.memory["warnings"]))


def warned_meanwhile(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    """Takes the warnings from a place that all calls share."""
    began = time.monotonic()
    answer = real(call, plan)
    at, warnings = port.memory.get("warnings", (0.0, None))
    if answer.warnings:
        port.memory["warnings"] = (time.monotonic(), answer.warnings)
    return replace(answer, warnings=warnings) if at > began and not answer.warnings else answer


def warned_once_more(port: Any, real: Any, answer: Answer) -> Message:
    """What a session has warned of stays with it."""
    warned = port.memory.setdefault("warned", {})
    if answer.warnings:
        warned[answer.session] = answer.warnings
    return real(replace(answer, warnings=answer.warnings or warned.get(answer.session)))


def warns_once(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    answer = real(call, plan)
    if answer.warnings is None or not is_named(plan):
        return answer
    told = port.memory.setdefault(("told", plan.session), [])
    if answer.warnings in told:
        return replace(answer, warnings=None)
    told.append(answer.warnings)
    return answer


defect(
    "half-character-kept-for-next-output",
    "Keeps the half of a character at the end of an output, and puts it before the next one.",
    "result:plain-text",
)(run_prompt=half_kept)
defect(
    "output-keeps-end-of-longer-one",
    "Reads a short stdout over the one before, whose end stays when it was longer.",
    "result:plain-text",
)(run_prompt=stdout_over_the_one_before)
defect(
    "session-forgotten-from-fiftieth-success",
    "Names no session any more from the fiftieth answer on.",
    "result:session-id",
)(success=from_time(50, gives(without("_meta"))))
defect(
    "sessionless-behind-large-answer",
    "Names no session for the answer behind one of more than a megabyte.",
    "result:session-id",
)(read=sessionless_behind_large)
defect(
    "session-unnamed-behind-warnings",
    "Names no session any more once gemini has warned of something.",
    "result:session-id",
)(
    execute=marks("warned", warned),
    success=since("warned", lambda port, real, answer: real(Answer(answer.text, None, answer.warnings))),
)
defect("session-told-once", "Names no session that it has named before.", "result:session-id:chat-reply")(
    success=told_once("sessionId")
)
defect(
    "plain-text-for-good",
    "Takes every output for plain text once gemini has answered without JSON.",
    "result:text",
)(read_stdout=plain_for_good, plain_text=before(notes_plain))
defect(
    "timer-of-list-ends-later-call",
    "Ends the call that runs when the time of an earlier list of sessions would have been over.",
    "result:text",
)(list_sessions=before(leaves_timer))
defect("same-answer-spared", "Says `as before` when an answer is the same.", "result:text")(success=same_answer_spared)
defect("warnings-left-by-error", "Reports the warnings of an error with the next answer.", "result:warnings")(
    read_json=keeps_warnings_of_error
)
defect(
    "warnings-pile-up",
    "Reports with each warning all earlier ones too.",
    "result:warnings",
)(success=all_warnings)
defect("warnings-told-once", "Reports no warnings that it has reported before.", "result:warnings")(
    success=told_once("warnings")
)
defect(
    "warnings-crossed",
    "Reports the warnings of a call that has ended meanwhile with an answer that has none.",
    "result:warnings",
)(ask=warned_meanwhile)
defect("warnings-stay-in-session", "Repeats the warnings of a session when it warns no more.", "result:warnings")(
    success=warned_once_more
)
defect(
    "warnings-told-once-in-session",
    "Leaves warnings out that an earlier reply in the same session has had.",
    "result:warnings",
)(ask=warns_once)
