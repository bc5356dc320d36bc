"""Defects in what is hidden, what is not, and what is hidden although it should be shown."""

import json
import os
import re
import sys
from collections.abc import Callable
from typing import Any

from answering import KEYS, Failure
from defects.record import defect
from planning import Plan
from running import Call
from steps import Step, before

TWO_ENDS = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*-----END [A-Z ]*PRIVATE KEY-----")


def masked_but(mended: Callable[[re.Match[str]], str]) -> Step:
    """Of `masked`: puts something else in the place of a key."""
    return lambda port, real, text: KEYS.sub(mended, text)


def up_to(marks: str) -> Callable[[re.Match[str]], str]:
    """Masks a key up to the first of these characters, from its fifth character on."""
    return lambda key: re.sub(
        rf"\A(.{{4}}[^{marks}]*)(?:[{marks}][\s\S]*)?\Z", lambda found: "[masked]" + key[0][len(found[1]) :], key[0]
    )


def masked_too(pattern: str) -> Step:
    """Of `masked`: masks what is no key as well."""
    return lambda port, real, text: re.sub(pattern, "[masked]", real(text))


def withheld_where(test: Callable[[str, str], object]) -> Step:
    """Of `withheld`: leaves the texts in place of which `test` does not hold."""

    def withheld(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
        return real(text, tuple(each for each in private if test(each, text)))

    return withheld


def word_of_its_own(secret: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(secret)}(?!\w)", text) is not None or secret not in text


def private_too(name: str) -> Step:
    """Of `ask`: withholds another argument as well."""

    def ask(port: Any, real: Any, call: Call, plan: Plan) -> Any:
        try:
            return real(call, plan)
        except Failure as failure:
            value = call.arguments.get(name)
            if failure.stderr is not None and isinstance(value, str) and len(value) >= 4:
                failure.stderr = failure.stderr.replace(value, "[withheld]")
            raise

    return ask


def last_copy_left(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    for secret in private:
        if len(secret) >= 8 and text.rstrip("\n").endswith(secret):
            body = text.rstrip("\n").removesuffix(secret)
            return real(body, private) + secret
    return real(text, private)


def logs_command(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    try:
        return real(argv, **options)
    except Failure:
        print("failed:", argv, file=sys.stderr, flush=True)
        raise


def logs_waiting(port: Any, call: Call, turn: str | None) -> None:
    if turn is not None and port.turns.get(turn):
        print("waits:", call.arguments["prompt"], file=sys.stderr, flush=True)


def home_shortened(port: Any, real: Any, text: str) -> str:
    home = os.environ.get("HOME", "")
    return real(text).replace(home, "~") if len(home) > 1 else real(text)


def logs_doubly_escaped(port: Any, call: Call, plan: Plan) -> None:
    print(json.dumps(json.dumps({"argv": plan.argv})), file=sys.stderr, flush=True)


defect("key-shown-behind-underscore", "Masks a key up to its first underscore.", "error:secrets")(
    masked=masked_but(up_to("_"))
)
defect("bearer-shown-behind-slash", "Masks a key up to its first slash, plus or equals sign.", "error:secrets")(
    masked=masked_but(up_to("/+="))
)
defect("user-with-password-shown", "Masks no user with a password in an address.", "error:secrets")(
    masked=masked_but(lambda key: key[0] if key.string[: key.start()].endswith("://") and ":" in key[0] else "[masked]")
)
defect(
    "text-between-private-keys-masked",
    "Masks all from the beginning of a private key to the end of the last.",
    "error:stderr",
)(masked=lambda port, real, text: real(TWO_ENDS.sub("[masked]", text)))
defect("long-words-masked", "Masks each word of stderr with 32 letters and digits or more.", "error:stderr")(
    masked=masked_too(r"\b[A-Za-z0-9]{32,}\b")
)
defect("uuids-masked", "Masks what looks like a UUID in stderr.", "error:stderr")(
    masked=masked_too(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b")
)
defect("mail-addresses-masked", "Masks addresses of mail in stderr.", "error:stderr")(
    masked=masked_too(r"\b[\w.+-]+@[\w-]+\.[\w.-]+\b")
)
defect("numbers-masked", "Masks numbers of ten digits or more in stderr.", "error:stderr")(
    masked=masked_too(r"\b[0-9]{10,}\b")
)
defect("home-of-stderr-shortened", "Writes a tilde for the home directory in stderr.", "error:stderr")(
    masked=home_shortened
)
defect("model-withheld", "Withholds the model in stderr.", "error:stderr")(ask=private_too("model"))
defect("session-withheld", "Withholds the session of a reply in stderr.", "error:stderr")(ask=private_too("sessionId"))
defect("directory-withheld", "Withholds the directory of a call in stderr.", "error:stderr")(ask=private_too("cwd"))
defect(
    "prompt-withheld-as-word",
    "Withholds a prompt only where it is a word of its own.",
    "error:prompt",
)(withheld=withheld_where(word_of_its_own))
defect("copy-at-end-of-stderr-left", "Leaves a copy of a prompt that ends stderr.", "error:prompt")(
    withheld=last_copy_left
)
defect(
    "command-logged-unless-started",
    "Logs the command line when gemini cannot be started.",
    "stdio:stderr:private",
)(start=logs_command)
defect("waiting-prompt-logged", "Logs the prompt of a reply that waits for another.", "stdio:stderr:private")(
    take_turn=before(logs_waiting)
)
defect("escaped-twice-logged", "Logs the command line as a text of JSON within JSON.", "stdio:stderr:private")(
    ask=before(logs_doubly_escaped)
)
