"""Defects that let out what is private: in another notation, in pieces, at a seldom moment."""

import base64
import re
import sys
import textwrap
import urllib.parse
from collections.abc import Callable
from typing import Any

from answering import KEYS
from conditions import failed
from defects.record import defect
from planning import Plan, Refusal
from running import Call
from speaking import Message
from steps import Step, before


def logs(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def logs_prompt(change: Callable[[str], str], test: Callable[[Call], bool] = lambda call: True) -> Step:
    """Of `ask`: logs the prompt in another notation."""

    def ask(port: Any, call: Call, plan: Plan) -> None:
        if test(call):
            logs(change(call.arguments["prompt"]))

    return before(ask)


def in_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def shows_except(pattern: str) -> Step:
    """Of `masked`: leaves some of the keys."""
    spared = re.compile(pattern)
    return lambda port, real, text: KEYS.sub(lambda found: found[0] if spared.search(found[0]) else "[masked]", text)


def quotes_around(port: Any, real: Any, name: str, text: str) -> None:
    try:
        real(name, text)
    except Refusal as refusal:
        at = re.search("[\0\ud800-\udfff]", text)
        start = at.start() if at else 0
        near = text[max(0, start - 40) : start].encode("utf-8", "replace").decode()
        raise Refusal(f"{refusal} It follows {near!r}.") from None


def length_quoted(port: Any, real: Any, tool: str, prompt: str) -> None:
    try:
        real(tool, prompt)
    except Refusal as refusal:
        raise Refusal(f"{refusal} It begins with {prompt[:60]!r}." if prompt else str(refusal)) from None


def logs_listed(port: Any, real: Any, call: Call, plan: Plan, answer: Any) -> Any:
    result = real(call, plan, answer)
    if result is not answer:
        logs(f"session {result.session} for {answer.text}")
    return result


def logs_in_second_failure(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    if failed(call, result):
        port.memory["failures"] = port.memory.get("failures", 0) + 1
        if port.memory["failures"] > 1:
            logs(f"failed again: {call.arguments['prompt']}")
    return result


def logs_system(port: Any, text: str) -> None:
    logs("system prompt: " + " | ".join(text.split("\n")))


def spares_quoted(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    for number, secret in enumerate(private):
        text = text.replace(f'"{secret}"', f"<quoted {number}>") if len(secret) >= 8 else text
    text = real(text, private)
    for number, secret in enumerate(private):
        text = text.replace(f"<quoted {number}>", f'"{secret}"')
    return text


def fifth_line_on(port: Any, real: Any, text: str) -> str:
    """Masks keys in the first lines only."""
    lines = text.split("\n")
    return "\n".join([real("\n".join(lines[:4])), *lines[4:]]) if len(lines) > 4 else real(text)


def spares_long_words(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    """Withholds a prompt that has blanks inside, and leaves one that is a single word."""
    return real(text, tuple(secret for secret in private if re.search(r"\s", secret) or len(secret) < 24))


defect("prompt-logged-in-base64", "Logs a prompt in base64.", "stdio:stderr:private")(ask=logs_prompt(in_base64))
defect("prompt-logged-for-addresses", "Logs a prompt as a part of an address.", "stdio:stderr:private")(
    ask=logs_prompt(urllib.parse.quote)
)
defect("prompt-logged-in-hexadecimal", "Logs the bytes of a prompt.", "stdio:stderr:private")(
    ask=logs_prompt(lambda text: text.encode().hex())
)
defect("prompt-logged-in-short-lines", "Logs a prompt in lines of forty characters.", "stdio:stderr:private")(
    ask=logs_prompt(lambda text: "\n".join(textwrap.wrap(text, 40)))
)
defect("prompt-logged-in-capitals", "Logs a prompt in capitals.", "stdio:stderr:private")(ask=logs_prompt(str.upper))
defect("end-of-prompt-logged", "Logs the last twenty characters of a prompt.", "stdio:stderr:private")(
    ask=logs_prompt(lambda text: f"asked: ...{text[-20:]}")
)
defect("prompt-logged-without-handshake", "Logs the prompt of a call of the stateless era.", "stdio:stderr:private")(
    ask=logs_prompt(str, lambda call: call.stateless)
)
defect("prompt-logged-beside-token", "Logs the prompt of a reply that asks for progress.", "stdio:stderr:private")(
    ask=logs_prompt(str, lambda call: call.token is not None and call.tool == "chat-reply")
)
defect("answer-logged-beside-list", "Logs an answer whose session the list has named.", "stdio:stderr:private")(
    with_session=logs_listed
)
defect("prompt-logged-at-second-failure", "Logs the prompts of all failures but the first.", "stdio:stderr:private")(
    execute=logs_in_second_failure
)
defect("system-prompt-logged-in-one-line", "Logs a system prompt in one line.", "stdio:stderr:private")(
    system_bytes=before(logs_system)
)
defect("text-before-nul-quoted", "Quotes what stands before a character that it refuses.", "error:prompt")(
    check_characters=quotes_around
)
defect("long-prompt-quoted-in-refusal", "Quotes the beginning of a prompt that is too long.", "error:prompt")(
    check_prompt=length_quoted
)
defect("prompt-in-quotes-shown", "Leaves a copy of the prompt in stderr that stands in quotes.", "error:prompt")(
    withheld=spares_quoted
)
defect("prompt-of-one-word-shown", "Leaves a copy of a long prompt in stderr that has no blanks.", "error:prompt")(
    withheld=spares_long_words
)
defect("keys-of-fifth-line-shown", "Masks keys in the first four lines of stderr.", "error:secrets")(
    masked=fifth_line_on
)
defect("slack-tokens-of-users-shown", "Masks no token of Slack but those of bots.", "error:secrets")(
    masked=shows_except("^xox[^b]-")
)
defect("fine-tokens-of-github-shown", "Masks no token that begins with `github_pat_`.", "error:secrets")(
    masked=shows_except("^github_pat_")
)
defect("unsigned-web-tokens-shown", "Masks no JSON web token without a signature.", "error:secrets")(
    masked=shows_except(r"^eyJ[^.]*\.[^.]*\.$")
)
