"""Defects in what is kept from others: copies and keys of certain kinds, and logs of certain calls."""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from answering import KEYS, PRIVATE_LENGTH, Answer, Failure, Outcome
from defects.privacy.privacy import log
from defects.record import defect
from planning import Plan
from running import Call
from speaking import Message
from steps import Step, after

LONG, SHOWN = 1024, 24
SLOW_SECONDS = 2.0


def once_a_line(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    """Looks for the first copy in each line."""
    if any("\n" in secret for secret in private):
        return real(text, private)
    return "\n".join(first_only(real, line, private) for line in text.split("\n"))


def first_only(real: Any, line: str, private: tuple[str, ...]) -> str:
    found = [line.find(secret) + len(secret) for secret in private if secret and secret in line]
    end = min(found, default=len(line))
    return real(line[:end], private) + line[end:]


def masks_ended(port: Any, real: Any, text: str) -> str:
    return KEYS.sub(lambda key: key[0] if is_unended(key[0]) else "[masked]", text)


def is_unended(key: str) -> bool:
    return key.startswith("-----BEGIN") and "-----END" not in key


def masks_no_amazon(port: Any, real: Any, text: str) -> str:
    return KEYS.sub(lambda key: key[0] if key[0].startswith("AKIA") else "[masked]", text)


def masks_capital_bearer(port: Any, real: Any, text: str) -> str:
    return KEYS.sub(lambda key: key[0] if text[: key.start()].endswith("bearer ") else "[masked]", text)


def keys_kept(port: Any, failure: Failure) -> str:
    return port.withheld(failure.said, failure.private)


def copies_kept(port: Any, failure: Failure) -> str:
    return port.masked(failure.said)


def of_report(change: Callable[[Any, Failure], str]) -> Step:
    """Of `error`: shows what gemini has reported in JSON beside the exit code 0 in a way of its own."""

    def error(port: Any, real: Any, failure: Failure) -> Message:
        result = real(failure)
        if not failure.said or "reported" not in failure.sentence:
            return result
        right, shown = port.redacted(failure.said, failure.private), change(port, failure)
        text = result["content"][0]["text"].replace(f"says: {right}", f"says: {shown}", 1)
        return {**result, "content": port.content(text)}

    return error


def logs_beyond_ascii(port: Any, tool: str, arguments: Mapping[str, Any]) -> None:
    prompt = arguments.get("prompt")
    if isinstance(prompt, str) and not prompt.isascii():
        log(f"{tool}: {json.dumps(prompt)}")


def logs_beginning(port: Any, tool: str, arguments: Mapping[str, Any]) -> None:
    prompt = arguments.get("prompt")
    if isinstance(prompt, str) and len(prompt) > LONG:
        log(f"{tool}: {prompt[:SHOWN]!r}... ({len(prompt)} characters)")


def logs_slow(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    begun = time.monotonic()
    answer = real(call, plan)
    if time.monotonic() - begun > SLOW_SECONDS:
        log(f"slow: {' '.join(plan.argv)}")
    return answer


def logs_failed(port: Any, real: Any, outcome: Outcome) -> Answer:
    if outcome.exit and outcome.stdout:
        log(f"exit code {outcome.exit}: {outcome.stdout.decode('utf-8', 'replace')}")
    return real(outcome)


def logs_unwritten(port: Any, real: Any, text: str) -> str:
    try:
        return real(text)
    except OSError:
        log(f"cannot write {text!r}")
        raise


def shows_words(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    return real(text, tuple(each for each in private if len(each) >= PRIVATE_LENGTH))


defect("second-copy-in-line-shown", "Withholds one copy of a prompt in each line.", "error:prompt")(
    withheld=once_a_line
)
defect("unended-private-key-shown", "Masks no private key whose end is missing.", "error:secrets")(masked=masks_ended)
defect("amazon-keys-shown", "Masks no key of Amazon.", "error:secrets")(masked=masks_no_amazon)
defect("small-bearer-shown", "Masks no token behind the word `bearer` in small letters.", "error:secrets")(
    masked=masks_capital_bearer
)
defect(
    "keys-of-report-shown",
    "Masks no key in an error that gemini reports with exit code 0.",
    "error:secrets",
)(error=of_report(keys_kept))
defect(
    "prompt-of-report-shown",
    "Withholds no prompt in an error that gemini reports with exit code 0.",
    "error:prompt",
)(error=of_report(copies_kept))
defect("short-words-shown", "Leaves a prompt of fewer than eight characters in stderr.", "error:prompt")(
    withheld=shows_words
)
defect("prompt-logged-in-ascii", "Logs a prompt that is not ASCII, in escapes.", "stdio:stderr:private")(
    plan=after(logs_beyond_ascii)
)
defect("beginning-of-prompt-logged", "Logs the beginning of a prompt of more than 1 KiB.", "stdio:stderr:private")(
    plan=after(logs_beginning)
)
defect("slow-prompt-logged", "Logs the prompt of a call that takes two seconds.", "stdio:stderr:private")(ask=logs_slow)
defect("answer-of-failure-logged", "Logs what a gemini that failed has printed.", "stdio:stderr:private")(
    read=logs_failed
)
defect("unwritten-system-prompt-logged", "Logs a system prompt that it cannot write.", "stdio:stderr:private")(
    write_system=logs_unwritten
)
