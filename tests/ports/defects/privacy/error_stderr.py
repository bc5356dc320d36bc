"""Stderr that is withheld or masked where nothing in it is private: ports that break `error:stderr`."""

import os
import re
from typing import Any

from answering import Failure
from defects.record import defect
from planning import Plan
from running import Call
from steps import Step

USER = re.compile(r"(?<=://)[^\s/@][^\s@]{5,255}(?=@)")
SHORT = 8
TWO_ENDS = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*-----END [A-Z ]*PRIVATE KEY-----")


def divided(port: Any, real: Any, failure: Failure) -> str:
    return "\nStderr: " + real(failure).rpartition("\nStderr: ")[2]


def masked_too(pattern: str) -> Step:
    """Of `masked`: masks what is no key as well."""
    return lambda port, real, text: re.sub(pattern, "[masked]", real(text))


def home_shortened(port: Any, real: Any, text: str) -> str:
    home = os.environ.get("HOME", "")
    return real(text).replace(home, "~") if len(home) > 1 else real(text)


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


def withheld_as_pattern(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    """Looks for a short text at the borders of words, with the text itself as the pattern."""
    for secret in private:
        if len(secret.strip()) >= SHORT:
            text = real(text, (secret,))
        elif secret.strip():
            text = re.sub(rf"(?<!\w){secret}(?!\w)", "[withheld]", text)
    return text


def with_users_masked(port: Any, real: Any, text: str) -> Any:
    return real(USER.sub("[masked]", text))


defect("stderr-divided-at-its-label", "Quotes what follows the last `Stderr: ` of stderr.", "error:stderr")(
    stderr_part=divided
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
    "short-prompt-is-a-pattern",
    "Takes a short prompt for a regular expression to withhold it, and loses stderr when it is none.",
    "error:stderr",
)(withheld=withheld_as_pattern)
defect(
    "package-in-address-masked",
    "Masks what stands before any at sign of an address in stderr, such as the host in those of npm packages.",
    "error:stderr",
)(masked=with_users_masked)
