"""Sessions and models of a reply that lose or change a character: ports that break `command:chat-reply`."""

import base64
import re
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from conditions import altering, asks, has_model, replacing
from defects.record import defect
from defects.text.shared import TextChange, of_model, option, without_category
from planning import Plan
from steps import Step, for_tool, gives

LABEL = re.compile(r"\s+\([^()]*\)$")


def without_equal_words(plan: Plan) -> Plan:
    return replace(plan, argv=(plan.argv[0], *dict.fromkeys(plan.argv[1:])))


def in_session(change: Callable[[str], str]) -> Step:
    return asks(lambda call, plan: True, altering("-r", change))


def padded(text: str) -> str:
    """Decodes base64 where a text looks like it."""
    if re.fullmatch(r"(?:[A-Za-z0-9+/]{4}){4,}", text):
        try:
            return base64.b64decode(text, validate=True).decode("utf-8")
        except ValueError:
            return text
    return text


def of_session(change: TextChange) -> Step:
    return gives(lambda session: change(session) or session)


def session_of_nothing_latest(port: Any, real: Any, texts: Mapping[str, str]) -> str:
    session = real(texts)
    return session if re.sub("[\u200b-\u200f\u2060\ufeff]", "", session) else "latest"


def canonical(session: str) -> str:
    with suppress(ValueError):
        return str(uuid.UUID(session))
    return session


def without_extension(session: str) -> str:
    """gemini keeps a session in a file that ends in `.json`."""
    return re.sub(r"(?<=.)\.[^.]*$", "", session)


def without_tag(plan: Plan) -> Plan:
    at = plan.argv.index("-m") + 1
    return replace(plan, argv=(*plan.argv[:at], plan.argv[at].removesuffix(":latest"), *plan.argv[at + 1 :]))


defect(
    "equal-words-passed-once",
    "Passes a word once that stands twice on the command line, such as a prompt that equals the model.",
    "command:chat-reply",
    "command:chat:model",
)(ask=asks(lambda call, plan: True, without_equal_words))
defect(
    "label-behind-model",
    "Drops what stands in parentheses at the end of the model of a reply.",
    "command:chat-reply:model",
)(model_option=for_tool("chat-reply", gives(lambda words: tuple(LABEL.sub("", word) for word in words))))
defect("date-of-model-lost", "Takes a date off the end of a model.", "command:chat-reply:model")(
    model_option=of_model(replacing("-[0-9]{2}-[0-9]{4}$"))
)
defect(
    "latest-tag-off-model",
    "Takes `:latest` off the end of the model of a reply.",
    "command:chat-reply:model",
)(ask=asks(lambda call, plan: call.tool == "chat-reply" and has_model(plan), without_tag))
defect("session-in-lower-case", "Resumes a session by its id in lower case.", "command:chat-reply:session-id")(
    ask=in_session(str.lower)
)
defect("session-unquoted", "Reads %20 in the id of a session as a blank.", "command:chat-reply:session-id")(
    ask=in_session(unquote)
)
defect(
    "zeros-of-session-lost",
    "Takes a session id of digits for a number, and loses the zeros at its beginning.",
    "command:chat-reply:session-id",
)(ask=in_session(lambda id: str(int(id)) if id.isascii() and id.isdigit() else id))
defect("plus-of-session-is-blank", "Reads a plus in the id of a session as a blank.", "command:chat-reply:session-id")(
    ask=option("-r", lambda id: id.replace("+", " "))
)
defect("session-with-equals-cut", "Cuts the id of a session at an equals sign.", "command:chat-reply:session-id")(
    ask=option("-r", lambda id: id.split("=")[0] or id)
)
defect("session-in-base64-decoded", "Decodes a session id that looks like base64.", "command:chat-reply:session-id")(
    ask=option("-r", padded)
)
defect("invisibles-of-session-lost", "Drops joiners and marks of a session.", "command:chat-reply:session-id")(
    resumed=of_session(without_category("Cf"))
)
defect(
    "session-without-width-is-latest",
    "Resumes the latest session when the id is of characters without width.",
    "command:chat-reply:session-id",
)(resumed=session_of_nothing_latest)
defect("session-ends-at-comma", "Cuts a session at a comma or a semicolon.", "command:chat-reply:session-id")(
    resumed=of_session(replacing("[;,].*"))
)
defect("backslashes-of-session-turned", "Makes slashes of backslashes in a session.", "command:chat-reply:session-id")(
    resumed=of_session(replacing(r"\\", "/"))
)
defect(
    "session-written-as-uuid",
    "Writes a session id that can be read as a UUID in lower case and with hyphens.",
    "command:chat-reply:session-id",
)(ask=asks(lambda call, plan: True, altering("-r", canonical)))
defect("session-without-extension", "Cuts a session at its last point.", "command:chat-reply:session-id")(
    resumed=gives(without_extension)
)
