"""Defects that show a prompt as something else: a name, a dump, a wrong value, the rest of what was withheld."""

import json
import re
from collections.abc import Iterator
from typing import Any

from defects.privacy.disguises import sparing
from defects.privacy.privacy import log
from defects.record import defect
from planning import PROPERTIES, Plan, Refusal
from running import Call
from steps import before, takes

ROW = 16
WITHHELD = 256


def logs_slug(port: Any, call: Call, plan: Plan) -> None:
    words = re.findall(r"\w+", call.arguments["prompt"].lower())
    log(f"serves {'-'.join(words)}")


def logs_dump(port: Any, call: Call, plan: Plan) -> None:
    log("\n".join(rows(call.arguments["prompt"].encode("utf-8", "replace"))))


def rows(data: bytes) -> Iterator[str]:
    """As `xxd` shows it."""
    for at in range(0, len(data), ROW):
        row = data[at : at + ROW]
        text = "".join(chr(each) if 32 <= each < 127 else "." for each in row)
        yield f"{at:08x}: {row.hex(' ', 2):39}  {text}"


def logs_undeclared(port: Any, tool: str, arguments: Any) -> None:
    if set(arguments) - set(PROPERTIES[tool]):
        log(f"undeclared: {json.dumps(dict(arguments))}")


def quotes_wrong(port: Any, tool: str, name: str, value: Any) -> None:
    if isinstance(value, list | dict):
        raise Refusal(f"`{name}` is {json.dumps(value)}, but should be a string.")


def is_of_other_scheme(key: re.Match[str]) -> bool:
    before = key.string[: key.start()]
    return before.endswith("://") and not before.endswith(("http://", "https://"))


def shortened(private: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(text[:WITHHELD] for text in private)


defect("prompt-logged-as-slug", "Logs the words of a prompt, joined by hyphens.", "stdio:stderr:private")(
    ask=before(logs_slug)
)
defect("prompt-logged-as-dump", "Logs a dump of a prompt, sixteen bytes a line.", "stdio:stderr:private")(
    ask=before(logs_dump)
)
defect(
    "arguments-logged-beside-undeclared",
    "Logs the arguments of a call when the tool does not declare one of them.",
    "stdio:stderr:private",
)(texts=before(logs_undeclared))
defect("wrong-prompt-quoted", "Quotes a prompt that is an array or an object.", "error:prompt")(
    text=before(quotes_wrong)
)
defect(
    "users-of-other-schemes-shown",
    "Masks the user in an address of http and https alone.",
    "error:secrets",
)(masked=sparing(is_of_other_scheme))
defect("rest-of-long-prompt-shown", "Withholds the first 256 characters of a prompt.", "error:prompt")(
    withheld=takes(shortened)
)
