"""What several modules of this room use: kinds of characters, and changes of texts."""

import json
import re
import unicodedata
from collections.abc import Callable
from typing import Any

from conditions import altering, asks
from planning import Refusal
from speaking import Message
from steps import Change, Step, gives, takes

SELECTORS = "[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
TAGS = "[\U000e0000-\U000e007f]"
JOINERS = "[\u200b-\u200d\u2060]"
DIRECTIONS = "[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
CONTROLS = "[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]"
NONCHARACTERS = "[\ufdd0-\ufdef\ufffe\uffff]"
PAIR = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
KIB = 1024
IDEOGRAPHIC_SELECTORS = re.compile("[\U000e0100-\U000e01ef]")
INVISIBLE = re.compile("[\u200b-\u200d\u2060\ufe0e\ufe0f\U000e0020-\U000e007f]")
TextChange = Callable[[str], str]
STRAIGHT = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "…": "..."})
ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
WITHHELD = "[withheld]"


def normalized(form: Any) -> Callable[[str], str]:
    return lambda text: unicodedata.normalize(form, text)


def on_argv(change: Callable[[str], str]) -> Step:
    """Alters prompts on the command line."""
    return gives(lambda form: (tuple(map(change, form[0])), form[1]))


def in_directory(change: Callable[[str], str]) -> Step:
    """Looks at another directory than the one that is named."""
    return takes(lambda texts: {**texts, "cwd": change(texts["cwd"])} if "cwd" in texts else texts)


def refused_as_written(pattern: str, what: str) -> Step:
    """Of `check_characters`: looks for what is forbidden in the JSON of a text, and finds also what only spells it."""

    def check(port: Any, real: Any, name: str, text: str) -> None:
        real(name, text)
        if re.search(pattern, json.dumps(text)):
            raise Refusal(f"`{name}` holds {what}.")

    return check


def in_texts(change: Callable[[str], str]) -> Change:
    """Changes what is a text, and leaves a number as it is."""
    return lambda value: change(value) if isinstance(value, str) else value


def raw(message: Message) -> str:
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False) + "\n"


def latin(raw: bytes) -> str:
    """Reads all of it as Latin-1 when it is no UTF-8."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def option(name: str, change: Callable[[str], str]) -> Step:
    return asks(lambda call, plan: True, altering(name, change))


def composed(value: Any) -> Any:
    return unicodedata.normalize("NFC", value) if isinstance(value, str) else value


def without_category(*categories: str) -> TextChange:
    return lambda text: "".join(each for each in text if unicodedata.category(each) not in categories)


def straightened(text: str) -> str:
    return text.translate(STRAIGHT)


def escapes_read(text: str) -> str:
    return re.sub(r"\\([ntr])", lambda found: ESCAPES[found[1]], text)


def of_model(change: TextChange) -> Step:
    return gives(lambda option: (option[0], change(option[1])) if option else option)
