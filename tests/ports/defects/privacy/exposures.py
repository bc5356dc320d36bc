"""Defects that log or show a private text on the occasion of something else: a repair, a notice, a list, a crowd."""

import re
from typing import Any

from answering import KEYS, PRIVATE_LENGTH, Answer, Failure, Outcome
from defects.privacy.guises import log, sparing
from defects.record import defect
from planning import Plan
from running import Call
from speaking import Message
from steps import before

CROWD = 8
REPORT = "Gemini reported an error"


def mixed_case_shown(port: Any, real: Any, text: str) -> str:
    def shown(key: re.Match[str]) -> str:
        name = text[max(0, key.start() - 4) : key.start()]
        return key[0] if name.lower() == "key=" and name not in ("key=", "KEY=") else "[masked]"

    return KEYS.sub(shown, text)


def logs_hung_list(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    listing = real(call, plan)
    if listing is None:
        log(f"no list in time for {dict(call.arguments)}")
    return listing


def logs_repaired(port: Any, real: Any, text: str) -> str:
    whole = real(text)
    if whole != text:
        log(f"repaired: {whole}")
    return whole


def logs_noise(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    if not stdout.lstrip().startswith("{") and port.scan(stdout).objects:
        log(f"unexpected output: {stdout}")
    return real(stdout, stderr)


def logs_flagged(port: Any, real: Any, prompt: str) -> Any:
    form, stdin = real(prompt)
    if form and form[0].startswith("--prompt="):
        log(f"needs a flag: {form[0]}")
    return form, stdin


def logs_beside_stderr(port: Any, real: Any, outcome: Outcome) -> Answer:
    answer = real(outcome)
    if outcome.stderr.strip():
        log(f"gemini wrote to stderr beside {answer!r}")
    return answer


def message_of_stdout_shown(port: Any, real: Any, failure: Failure) -> Message:
    """What gemini says on stderr is cleaned with it, and what it says on stdout is shown as it is."""
    is_meant = failure.said and failure.stderr and not port.said(failure.stderr)
    if not is_meant or failure.sentence.startswith(REPORT):
        return real(failure)
    return real(Failure(f"{failure.sentence} Gemini CLI says: {failure.said}", failure.stderr, None, failure.private))


def short_system_shown(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    return real(text, (*private[:1], *(each for each in private[1:] if len(each) >= PRIVATE_LENGTH)))


def logs_in_crowd(port: Any, call: Call, plan: Plan) -> None:
    if len(port.calls) > CROWD:
        log(f"{len(port.calls)} calls at once, the latest is {plan.argv}")


defect(
    "keys-of-mixed-parameters-shown",
    "Masks `key=` and `KEY=`, but not `apiKey=`.",
    "error:secrets",
)(masked=mixed_case_shown)
defect(
    "keys-with-dashes-shown",
    "Masks no key that begins with `sk-` and has another dash.",
    "error:secrets",
)(masked=sparing(lambda key: key[0].startswith("sk-") and "-" in key[0][3:]))
defect(
    "call-logged-at-hung-list",
    "Logs the arguments of a call whose list of sessions hangs.",
    "stdio:stderr:private",
)(list_sessions=logs_hung_list)
defect(
    "repaired-answer-logged",
    "Logs an answer in which it has replaced a lone surrogate.",
    "stdio:stderr:private",
)(whole=logs_repaired)
defect(
    "noisy-output-logged",
    "Logs what gemini has printed when a notice stands before the JSON.",
    "stdio:stderr:private",
)(read_stdout=logs_noise)
defect(
    "flagged-prompt-logged",
    "Logs a prompt that gemini would take for an option, a command or a number.",
    "stdio:stderr:private",
)(prompt_form=logs_flagged)
defect(
    "answer-logged-beside-stderr",
    "Logs an answer when gemini has written to stderr, too.",
    "stdio:stderr:private",
)(read=logs_beside_stderr)
defect(
    "message-of-stdout-shown",
    "Leaves the prompt in what a gemini that failed says on stdout.",
    "error:prompt",
)(error=message_of_stdout_shown)
defect(
    "short-system-prompt-shown",
    "Leaves a copy of a system prompt of fewer than eight characters in stderr.",
    "error:prompt",
)(redacted=short_system_shown)
defect(
    "prompt-logged-in-crowd",
    "Logs the command line of a call when more than eight run at once.",
    "stdio:stderr:private",
)(ask=before(logs_in_crowd))
