"""Models and prompts of a chat that lose or change a character, or are refused: ports that break `command:chat`."""

import unicodedata
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote

from conditions import altering, asks, replacing
from defects.record import defect
from defects.text.shared import CONTROLS, INVISIBLE, normalized, of_model, on_argv, option, refused_as_written
from planning import Refusal
from steps import Step, gives

HALF_A_PAIR = r"\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f])"


def in_model(change: Callable[[str], str]) -> Step:
    return asks(lambda call, plan: True, altering("-m", change))


def checked_by_category(port: Any, real: Any, name: str, text: str) -> None:
    """Refuses all that a pattern calls `\\p{C}`."""
    real(name, text)
    if any(unicodedata.category(each).startswith("C") for each in text):
        raise Refusal(f"`{name}` holds a control character.")


def invisible_lost(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(INVISIBLE.sub("", word) for word in real(tool, texts))


defect("controls-of-prompt-lost", "Drops control characters of a prompt.", "command:chat")(
    prompt_form=on_argv(replacing(CONTROLS))
)
defect("model-composed", "Composes the characters of a model.", "command:chat:model")(ask=in_model(normalized("NFC")))
defect("model-trimmed", "Takes blanks off both ends of a model.", "command:chat:model")(
    ask=in_model(lambda model: model.strip(" ") or model)
)
defect(
    "formats-are-control-characters",
    "Refuses a model or a session that holds a character for formatting or for private use.",
    "command:chat:model",
    "command:chat-reply:model",
    "command:chat-reply:session-id",
)(check_word=checked_by_category)
defect("model-ends-at-colon", "Cuts a model at a colon.", "command:chat:model")(
    ask=option("-m", lambda model: model.split(":")[0] or model)
)
defect("model-ends-at-at-sign", "Cuts a model at an at sign.", "command:chat:model")(
    ask=option("-m", lambda model: model.split("@")[0] or model)
)
defect("first-of-models-taken", "Passes the first of several models between commas.", "command:chat:model")(
    ask=option("-m", lambda model: model.split(",")[0] or model)
)
defect("model-in-quotes-bared", "Takes the quotes off a model.", "command:chat:model")(
    ask=option("-m", lambda model: model.strip("\"'") or model)
)
defect("invisibles-of-model-lost", "Drops joiners, selectors and tags of a model.", "command:chat:model")(
    model_option=invisible_lost
)
defect("spaces-of-model-are-dashes", "Makes dashes of the blanks in a model.", "command:chat:model")(
    model_option=of_model(replacing("(?<=\\S) +(?=\\S)", "-"))
)
defect("escapes-of-model-read", "Reads `%2F` in a model as a slash.", "command:chat:model", "command:chat-reply:model")(
    model_option=gives(lambda option: tuple(map(unquote, option)))
)
defect(
    "escapes-taken-for-surrogates",
    "Takes half a surrogate pair that a prompt spells with a backslash for one that it holds, and refuses the call.",
    "command:chat",
)(check_characters=refused_as_written(HALF_A_PAIR, "a lone surrogate, which UTF-8 cannot encode"))
