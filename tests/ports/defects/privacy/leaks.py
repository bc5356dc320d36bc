"""Defects that repeat a prompt, a system prompt or a key under one condition, or in one place."""

import json
import re
from dataclasses import replace
from typing import Any

from answering import KEYS, STDERR_LIMIT, Failure
from conditions import failed, refused
from defects.privacy.privacy import log
from defects.record import defect
from planning import Refusal
from running import Call
from speaking import Message
from steps import Step, after, before, takes


def withholds(port: Any, text: str, private: tuple[str, ...]) -> str:
    for secret in private:
        if len(secret.strip()) >= 8:
            text = text.replace(secret, "[withheld]")
    return text


def one_each(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    """Takes out the first copy only."""
    for secret in private:
        for copy in (secret, json.dumps(secret)[1:-1]):
            if len(copy.strip()) >= 8:
                text = text.replace(copy, "[withheld]", 1)
    return text


def by_pattern(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    """Reads the prompt as a pattern."""
    for secret in private:
        try:
            text = re.sub(secret, "[withheld]", text) if len(secret.strip()) >= 8 else text
        except re.error:
            continue
    return text


def masks_first(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    return port.withheld(port.masked(text), private)


def cuts_first(port: Any, real: Any, failure: Failure) -> str:
    if failure.stderr is None:
        return ""
    return f"\nStderr: {port.tail(port.redacted(port.tail(failure.stderr), failure.private))}"


def shares_private(port: Any, real: Any, tool: str, arguments: Any) -> Any:
    plan = real(tool, arguments)
    port.memory["private"] = plan.private
    return plan


def without_masks(*words: str) -> Step:
    """Does not know the masks of keys in which one of these words stands."""
    pattern = "|".join(mask for mask in masks() if not any(word in mask for word in words))
    return lambda port, real, text: re.sub(pattern, "[masked]", text)


def masks() -> list[str]:
    return re.split(r"\|(?=AIza|ya29|\\b|\(\?<=|-----BEGIN)", KEYS.pattern)


def said_openly(port: Any, real: Any, failure: Failure) -> Message:
    """Puts gemini's own message into the sentence, where no prompt is taken out."""
    said = f" Gemini CLI says: {port.masked(failure.said)}" if failure.said else ""
    return real(replace(failure, sentence=failure.sentence + said, said=None))


def quotes_output(port: Any, real: Any, stdout: str, stderr: str) -> Any:
    try:
        return real(stdout, stderr)
    except Failure as failure:
        raise replace(failure, sentence=f"{failure.sentence} It printed: {stdout[:400]!r}.") from None


def quotes_command(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    try:
        return real(argv, **options)
    except Failure as failure:
        raise replace(failure, sentence=f"{failure.sentence} The command was {argv!r}.") from None


def quotes_arguments(port: Any, real: Any, tool: str, arguments: Any) -> Any:
    try:
        return real(tool, arguments)
    except Refusal as refusal:
        raise Refusal(f"{refusal} The arguments were {dict(arguments)!r}.") from None


def logs_prompt(port: Any, call: Call, *others: Any) -> None:
    log(f"{call.tool}: {call.arguments.get('prompt')}")


def logs_when(test: Any) -> Step:
    """Of `execute`: logs the prompt of the calls that have a result of which `test` holds."""

    def execute(port: Any, real: Any, call: Call) -> Message:
        result = real(call)
        if test(call, result):
            logs_prompt(port, call)
        return result

    return execute


def logs_system_prompt(port: Any, text: str) -> None:
    log(f"system prompt: {text[:200]}")


def logs_long_answer(port: Any, answer: Any) -> None:
    if len(answer.text) > 10_000:
        log(f"long answer: {answer.text[:500]}")


def logs_empty_session(port: Any, call: Call, plan: Any) -> None:
    log(f"no session for {plan.argv!r}")


def shortest_first(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    return withholds(port, text, tuple(sorted(private, key=len)))


defect("escaped-prompt-shown", "Leaves a copy of the prompt in stderr that JSON has escaped.", "error:prompt")(
    withheld=lambda port, real, text, private: withholds(port, text, private)
)
defect("second-copy-of-prompt-shown", "Takes one copy of the prompt out of stderr.", "error:prompt")(withheld=one_each)
defect("prompt-read-as-pattern", "Looks for the prompt in stderr as if it were a pattern.", "error:prompt")(
    withheld=by_pattern
)
defect("long-prompt-shown", "Leaves a copy of a prompt of more than 4 KiB in stderr.", "error:prompt")(
    withheld=takes(lambda private: tuple(text for text in private if len(text) <= 4096))
)
defect("short-prompt-shown", "Leaves a copy of a prompt of fewer than 16 characters in stderr.", "error:prompt")(
    withheld=takes(lambda private: tuple(text for text in private if len(text) >= 16))
)
defect("prompt-of-lines-shown", "Leaves a copy of a prompt of several lines in stderr.", "error:prompt")(
    withheld=takes(lambda private: tuple(text for text in private if "\n" not in text.strip()))
)
defect("system-prompt-shown-beside-prompt", "Withholds the prompt, but not the system prompt.", "error:prompt")(
    withheld=takes(lambda private: private[:1])
)
defect("prompt-beyond-ascii-shown", "Leaves a copy of a prompt in stderr that is not ASCII.", "error:prompt")(
    withheld=takes(lambda private: tuple(text for text in private if text.isascii()))
)
defect("prompt-with-key-shown", "Masks keys first, and then does not find a prompt that held one.", "error:prompt")(
    redacted=masks_first
)
defect(
    "prompt-at-cut-shown", "Cuts stderr before it looks for the prompt, and so shows the end of one.", "error:prompt"
)(stderr_part=cuts_first)
defect("prompt-behind-64-kib-shown", "Looks for the prompt in the first 64 KiB of stderr.", "error:prompt")(
    withheld=lambda port, real, text, private: real(text[: 1 << 16], private) + text[1 << 16 :]
)
defect(
    "prompt-of-other-call-withheld", "Withholds the prompt of the call that came last, whichever fails.", "error:prompt"
)(
    plan=shares_private,
    withheld=lambda port, real, text, private: real(text, port.memory.get("private", private)),
)
defect("prompt-in-message-shown", "Leaves the prompt in the message of a JSON error.", "error:prompt")(
    error=said_openly
)
defect("output-quoted", "Quotes what gemini printed when there is no answer in it.", "error:prompt", "error:secrets")(
    read_stdout=quotes_output
)
defect("command-quoted", "Quotes the command line when gemini could not be started.", "error:prompt")(
    start=quotes_command
)
defect("arguments-quoted", "Quotes all arguments when it refuses one.", "error:prompt")(plan=quotes_arguments)
defect("bearer-shown", "Masks no token behind the word Bearer.", "error:secrets")(masked=without_masks("earer"))
defect("private-key-shown", "Masks no private key.", "error:secrets")(masked=without_masks("PRIVATE"))
defect("web-tokens-shown", "Masks no JSON web token.", "error:secrets")(masked=without_masks("eyJ"))
defect("access-tokens-shown", "Masks no access token of an account.", "error:secrets")(masked=without_masks("ya29"))
defect("users-of-addresses-shown", "Masks no user in an address.", "error:secrets")(masked=without_masks("://"))
defect("keys-of-addresses-shown", "Masks no key in an address.", "error:secrets")(masked=without_masks("[Kk][Ee][Yy]"))
defect("keys-of-others-shown", "Masks keys of Google alone.", "error:secrets")(
    masked=without_masks("sk-", "gh[", "github", "xox", "AKIA")
)
defect("second-key-shown", "Masks one key and no other.", "error:secrets")(
    masked=lambda port, real, text: KEYS.sub("[masked]", text, count=1)
)
defect("prompt-logged-on-failure", "Logs the prompt of a call that fails.", "stdio:stderr:private")(
    execute=logs_when(failed)
)
defect("prompt-logged-on-refusal", "Logs the prompt of a call that it refuses.", "stdio:stderr:private")(
    execute=logs_when(refused)
)
defect("prompt-logged-on-cancel", "Logs the prompt of a call that is cancelled.", "stdio:stderr:private")(
    cancel=before(logs_prompt)
)
defect("system-prompt-logged", "Logs the system prompt.", "stdio:stderr:private")(
    write_system=after(logs_system_prompt)
)
defect("long-answer-logged", "Logs the beginning of a long answer.", "stdio:stderr:private")(
    success=before(logs_long_answer)
)
defect("command-logged-before-list", "Logs the command line when it asks for the list.", "stdio:stderr:private")(
    list_sessions=before(logs_empty_session)
)
defect("cut-before-masked", "Cuts stderr before it masks keys, so that half a key is none.", "error:secrets")(
    stderr_part=takes(lambda failure: replace(failure, stderr=failure.stderr and failure.stderr[-STDERR_LIMIT:]))
)
defect(
    "rest-of-longer-text-shown",
    "Withholds the shortest text first, and so leaves the rest of one that holds it.",
    "error:prompt",
)(withheld=shortest_first)
