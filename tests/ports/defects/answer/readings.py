"""Defects in reading what gemini has done and said, each for one kind of outcome."""

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from signal import SIGSEGV
from typing import Any

from answering import PREFIX, Answer, Failure, Outcome, Scan
from conditions import REVISION, asks, ends, speaks
from defects.protocol.stateless import without_server
from defects.record import defect
from planning import Plan
from running import Call
from speaking import Message
from steps import Step, gives, takes

SHORT = 8


def knows_127(port: Any, real: Any, outcome: Outcome) -> Answer:
    if outcome.exit == 127:
        raise Failure("gemini was not found on PATH. Install it: `npm install -g @google/gemini-cli`.")
    return real(outcome)


def without_false(scan: Scan) -> Scan:
    return Scan(
        [
            (begins, {name: part for name, part in value.items() if name != "error" or part is not False})
            for begins, value in scan.objects
        ],
        scan.is_cut_short,
    )


def answered(change: Callable[[Any, Plan, Answer], Answer]) -> Step:
    """Of `ask`: changes the answer, knowing the port and the plan."""
    return lambda port, real, call, plan: change(port, plan, real(call, plan))


def with_blank(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan, text = real(tool, arguments), arguments.get("systemPrompt")
    return replace(plan, private=(*plan.private, text)) if text and not text.strip() else plan


def withholds_blanks(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    for secret in private:
        text = text if secret.strip() else text.replace(secret, "[withheld]")
    return real(text, private)


def withholds_within_words(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    for secret in private:
        text = text.replace(secret, "[withheld]") if 0 < len(secret.strip()) < SHORT else text
    return real(text, private)


def withholds_everywhere(port: Any, real: Any, failure: Failure) -> Message:
    result = real(failure)
    return {**result, "content": port.content(port.withheld(result["content"][0]["text"], failure.private))}


def used_despite(exits: Callable[[int], bool]) -> Step:
    """Of `newest`: uses a list that ended in this way."""
    return takes(lambda listing: replace(listing, exit=0) if exits(listing.exit) else listing)


def logs(text: Any) -> None:
    print(text, file=sys.stderr, flush=True)


def logs_in_ascii(port: Any, real: Any, answer: Answer) -> Message:
    if not answer.text.isascii():
        logs(json.dumps(answer.text))
    return real(answer)


def logs_cancelled(port: Any, real: Any, call: Call, exit: int, out: Any, err: Any) -> Outcome:
    if call.is_cancelled and not port.is_ending:
        out.seek(0)
        logs(out.read().decode("utf-8", "replace"))
    return real(call, exit, out, err)


def open_about(words: str) -> Step:
    """Of `error`: withholds nothing in the error for one kind of outcome."""
    return takes(lambda failure: replace(failure, private=()) if words in failure.sentence else failure)


def unmasked_without_output(port: Any, real: Any, failure: Failure) -> Message:
    if "without any output" not in failure.sentence:
        return real(failure)
    stderr = port.tail(port.withheld(failure.stderr, failure.private))
    return {"content": port.content(f"{PREFIX}{failure.sentence}\nStderr: {stderr}"), "isError": True}


def logs_beside_warnings(port: Any, plan: Plan, answer: Answer) -> Answer:
    if answer.warnings:
        logs(plan.private[0])
    return answer


def logs_when_session_changes(port: Any, plan: Plan, answer: Answer) -> Answer:
    if plan.session not in (None, "latest", answer.session):
        logs(f"The session has changed: {plan.private[0]}")
    return answer


defect("exit-127-without-stderr", "Takes exit code 127 for a gemini that is not there.", "error:stderr")(read=knows_127)
defect("crash-is-success", "Takes the answer of a gemini that died of SIGSEGV.", "error:signal")(
    run_prompt=ends(lambda call, outcome: outcome.exit == -SIGSEGV, lambda outcome: replace(outcome, exit=0))
)
defect("false-error-ignored", "Takes an error that is false for none.", "result:error-key")(scan=gives(without_false))
defect(
    "bracket-hides-json",
    "Looks for no JSON when the output begins with a bracket, as notices do.",
    "result:json:notice-before",
)(scan=lambda port, real, text: Scan() if text.startswith("[") else real(text))
defect("session-of-answer-trimmed", "Takes blanks off the session that gemini names.", "result:session-id")(
    read=gives(lambda answer: replace(answer, session=answer.session and answer.session.strip()))
)
defect("answer-cut-at-stderr-label", "Cuts an answer at a line that begins with `Stderr: `.", "result:text")(
    success=takes(lambda answer: replace(answer, text=answer.text.split("\nStderr: ")[0]))
)
defect("prompt-withheld-in-answer", "Withholds the prompt in an answer that repeats it.", "result:text")(
    ask=answered(lambda port, plan, answer: replace(answer, text=port.withheld(answer.text, plan.private)))
)
defect("keys-masked-in-answer", "Masks what looks like a key in an answer.", "result:text")(
    ask=answered(lambda port, plan, answer: replace(answer, text=port.masked(answer.text)))
)
defect("blank-system-prompt-withheld", "Withholds in stderr the blanks of a blank system prompt.", "error:stderr")(
    plan=with_blank, withheld=withholds_blanks
)
defect("short-prompt-withheld-in-words", "Withholds a short prompt within words of stderr.", "error:stderr")(
    withheld=withholds_within_words
)
defect("own-words-withheld", "Withholds the words of a prompt in all of its error.", "error:prefix")(
    error=withholds_everywhere
)
defect("failed-list-used", "Uses what a list of sessions has said that failed.", "fallback:none")(
    newest=used_despite(lambda exit: exit > 0)
)
defect("killed-list-used", "Uses what a list of sessions has said that died of a signal.", "fallback:none")(
    newest=used_despite(lambda exit: exit < 0)
)
defect("last-entry-taken", "Takes the last entry of the list for the newest.", "fallback:last")(
    newest_entry=lambda port, real, entries: entries[-1]
)
defect(
    "every-second-entry-overlooked",
    "Overlooks every second entry of the list, as a pattern that remembers its place does.",
    "fallback:last",
)(newest_entry=takes(lambda entries: entries[::2]))
defect("cancel-unheard-in-2025-06-18", "Ignores the cancellations of clients of 2025-06-18.", "cancel:child")(
    initialize=REVISION,
    cancel=lambda port, real, call: None if speaks(port, "2025-06-18") and not call.stateless else real(call),
)
defect("session-unnamed-in-2025-03-26", "Names no session for clients of 2025-03-26.", "result:session-id")(
    initialize=REVISION,
    success=lambda port, real, answer: real(replace(answer, session=None) if speaks(port, "2025-03-26") else answer),
)
defect(
    "stateless-system-prompt-lost", "Hands no system prompt over in a `chat` without a handshake.", "system:content"
)(ask=asks(lambda call, plan: call.stateless and call.tool == "chat", lambda plan: replace(plan, system=None)))
defect("server-unnamed-in-errors", "Leaves its name out of results that are errors.", "stateless:server-info")(
    finished=lambda port, real, result, stateless: (
        without_server(real(result, stateless)) if stateless and result.get("isError") else real(result, stateless)
    )
)
defect("answer-logged-in-ascii", "Logs an answer that is not ASCII, in escapes.", "stdio:stderr:private")(
    success=logs_in_ascii
)
defect("output-of-cancelled-logged", "Logs what a cancelled gemini has printed.", "stdio:stderr:private")(
    outcome=logs_cancelled
)
defect("prompt-of-signal-shown", "Withholds no prompt when gemini has died of a signal.", "error:prompt")(
    error=open_about("by signal")
)
defect("prompt-of-truncated-shown", "Withholds no prompt when the answer breaks off.", "error:prompt")(
    error=open_about("in the middle")
)
defect("keys-of-silence-shown", "Masks no keys when gemini has printed nothing.", "error:secrets")(
    error=unmasked_without_output
)
defect("prompt-logged-beside-warnings", "Logs a prompt to whose answer there are warnings.", "stdio:stderr:private")(
    ask=answered(logs_beside_warnings)
)
defect(
    "prompt-logged-when-session-changes",
    "Logs the prompt of a reply whose session gemini has changed.",
    "stdio:stderr:private",
)(ask=answered(logs_when_session_changes))
