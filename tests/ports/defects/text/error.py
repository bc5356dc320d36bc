"""Words of gemini that are cleaned, misread or let through: ports that break `error`."""

import json
import re
from dataclasses import replace
from typing import Any

from answering import KEYS, PRIVATE_LENGTH, STDERR_LIMIT, Answer, Failure, Outcome
from defects.record import defect
from defects.text.shared import KIB, WITHHELD
from planning import ARGUMENT_LIMIT, Refusal
from steps import gives

RING = 64 * 1024

ESCAPED_KEY = re.compile(
    r"(-----BEGIN [A-Z ]*PRIVATE KEY-----(?:\\n[A-Za-z0-9+/=]+)+\\n-----END [A-Z ]*PRIVATE KEY-----)"
)


def shows_nul(port: Any, real: Any, name: str, text: str) -> None:
    if name == "systemPrompt" and "\0" in text:
        raise Refusal(f"`{name}` holds a NUL character, which no command line can carry: {json.dumps(text)}")
    real(name, text)


def says_at_once(port: Any, real: Any, outcome: Outcome) -> Answer:
    try:
        return real(outcome)
    except Failure as failure:
        if outcome.exit == 0 or not failure.said or port.said(failure.stderr):
            raise
        raise replace(failure, sentence=f"{failure.sentence} Gemini CLI says: {failure.said}", said=None) from None


def withholds_what_fits(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    return real(text, tuple(secret for secret in private if len(secret) <= STDERR_LIMIT))


def short_between_letters(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    """`\\b` stands beside a letter or a digit only."""
    text = real(text, tuple(secret for secret in private if len(secret.strip()) >= PRIVATE_LENGTH))
    for secret in private:
        if 0 < len(secret.strip()) < PRIVATE_LENGTH:
            text = re.sub(rf"\b{re.escape(secret)}\b", WITHHELD, text)
    return text


def pairs_unknown(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    """Escapes a character beyond U+FFFF as one number, which JSON never does."""
    for secret in sorted(private, key=len, reverse=True):
        if len(secret.strip()) < PRIVATE_LENGTH or max(secret) <= "\uffff":
            text = real(text, (secret,))
        else:
            text = text.replace(secret, WITHHELD).replace(json.dumps(secret, ensure_ascii=False)[1:-1], WITHHELD)
    return text


def escaped_keys_shown(port: Any, real: Any, text: str) -> str:
    pieces = ESCAPED_KEY.split(text)
    return "".join(piece if number % 2 else real(piece) for number, piece in enumerate(pieces))


def keys_as_words(port: Any, real: Any, text: str) -> str:
    """Wants a key to begin where a word begins, as it does not behind the escape of a colour."""

    def mask(found: re.Match[str]) -> str:
        before = found.string[: found.start()][-1:]
        is_inside = found[0].startswith("AIza") and (before.isalnum() or before == "_")
        return found[0] if is_inside else "[masked]"

    return KEYS.sub(mask, text)


def escapes_shown(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    """Knows only copies as they stand, of a system prompt whose prompt is on stdin."""
    if len(private) < 2 or len(private[0].encode()) <= ARGUMENT_LIMIT:
        return real(text, private)
    text = text.replace(private[1], "[withheld]") if len(private[1].strip()) >= 8 else text
    return real(text, private[:1])


def one_text_masked(port: Any, real: Any, failure: Failure) -> dict[str, Any]:
    result = real(failure)
    is_from_stdout = failure.said and failure.stderr and failure.said not in failure.stderr
    if is_from_stdout:
        shown = port.withheld(failure.said, failure.private)
        text = result["content"][0]["text"].replace(port.masked(shown), shown, 1)
        result["content"] = port.content(text)
    return result


def ring_of_stderr(port: Any, real: Any, failure: Failure) -> str:
    if failure.stderr is None:
        return real(failure)
    return real(replace(failure, stderr=failure.stderr.encode("utf-8", "replace")[-RING:].decode("utf-8", "ignore")))


defect(
    "message-in-ascii",
    "Replaces what is not ASCII in what gemini says of its failure.",
    "error:json-on-stderr",
)(message=gives(lambda said: said and said.encode("ascii", "replace").decode()))
defect(
    "nul-shown-in-its-text",
    "Shows a system prompt with a NUL when it refuses it.",
    "error:prompt",
)(check_characters=shows_nul)
defect(
    "message-of-failed-stdout-raw",
    "Repeats the message of a JSON error on stdout as it stands when gemini also fails with an exit code.",
    "error:prompt",
    "error:secrets",
)(read=says_at_once)
defect(
    "longer-than-shown-stays",
    "Removes no prompt from stderr that is longer than the part of it that is shown.",
    "error:prompt",
)(withheld=withholds_what_fits)
defect(
    "short-prompt-with-signs-shown",
    "Withholds no short prompt that begins or ends with a sign, such as `c++`.",
    "error:prompt",
)(withheld=short_between_letters)
defect(
    "escaped-pairs-of-prompt-shown",
    "Withholds no prompt with characters beyond U+FFFF where JSON has escaped it.",
    "error:prompt",
)(withheld=pairs_unknown)
defect(
    "escaped-system-prompt-beside-stdin",
    "Shows a system prompt that JSON has escaped in an error when the prompt went to stdin.",
    "error:prompt",
)(withheld=escapes_shown)
defect(
    "ring-of-stderr-divides-prompt",
    "Keeps the last 64 KiB of stderr before it withholds anything, so the rest of a longer prompt is shown.",
    "error:prompt",
)(stderr_part=ring_of_stderr)
defect(
    "causes-looked-for-in-tail",
    "Cuts stderr before it looks for what it can explain.",
    "error:quota",
)(exit_sentence=lambda port, real, exit, stderr: real(exit, port.tail(stderr)))
defect("keys-in-much-shown", "Masks no key in a stderr of more than 64 KiB.", "error:secrets")(
    masked=lambda port, real, text: text if len(text) > 64 * KIB else real(text)
)
defect(
    "escaped-private-key-shown",
    "Masks no private key whose newlines JSON has escaped.",
    "error:secrets",
)(masked=escaped_keys_shown)
defect("coloured-keys-shown", "Masks no key behind the escape of a colour.", "error:secrets")(masked=keys_as_words)
defect(
    "key-in-message-beside-stderr",
    "Masks only stderr, and so shows a key in the message of a JSON error on stdout, unless stderr is empty.",
    "error:secrets",
)(error=one_text_masked)
