"""Ids that lose or change a character: ports that break `rpc`."""

import re
from collections.abc import Callable
from typing import Any

from conditions import replacing
from defects.record import defect
from defects.shared import with_id
from defects.text.shared import in_texts, normalized
from speaking import Message
from steps import takes


def number_of_text(message: Any) -> Any:
    is_meant = "error" in message and re.fullmatch("[0-9]{1,15}", str(message["id"]))
    return {**message, "id": int(message["id"])} if is_meant else message


def of_id(change: Callable[[str], str]) -> Callable[[Message], Message]:
    """Answers under another id where it is a text."""
    return lambda message: {
        **message,
        **({"id": change(message["id"])} if isinstance(message.get("id"), str) else {}),
    }


def id_ends_at_nul(port: Any, real: Any, message: Message) -> bytes:
    identity = message.get("id")
    return real({**message, "id": identity.split("\0")[0]} if isinstance(identity, str) else message)


defect("ids-composed", "Composes the characters of an id.", "rpc:response:id")(
    write=with_id(in_texts(normalized("NFC")))
)
defect("ids-trimmed", "Takes blanks off both ends of an id.", "rpc:response:id")(write=with_id(in_texts(str.strip)))
defect("pairs-of-ids-damaged", "Replaces characters of an id beyond the basic plane.", "rpc:response:id")(
    write=with_id(in_texts(replacing("[\U00010000-\U0010ffff]", "\ufffd")))
)
defect("ids-of-errors-are-numbers", "Makes a number of a text id in JSON-RPC errors.", "rpc:response:id")(
    write=takes(number_of_text)
)
defect(
    "controls-of-ids-lost",
    "Drops the control characters of an id.",
    "rpc:response:id",
)(write=takes(of_id(lambda text: re.sub(r"[\x01-\x1f\x7f]", "", text))))
defect("nul-ends-id", "Cuts an id at its first NUL.", "rpc:response:id")(encoded=id_ends_at_nul)
