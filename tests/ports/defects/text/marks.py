"""Defects with characters that few texts hold: at the end of a long prompt, in an id, in an answer, in a path."""

import re
from typing import Any

from conditions import stdin_changed
from defects.record import defect
from planning import Refusal
from speaking import Message
from steps import before, gives, takes

TAGS = re.compile("[\U000e0000-\U000e007f]")
SEPARATORS = re.compile("[\u0085\u2028\u2029]")


def id_ends_at_nul(port: Any, real: Any, message: Message) -> bytes:
    identity = message.get("id")
    return real({**message, "id": identity.split("\0")[0]} if isinstance(identity, str) else message)


def refuses_double_slash(port: Any, cwd: str) -> None:
    if "//" in cwd:
        raise Refusal(f"`cwd` {cwd!r} does not exist.")


def without_last_newline(text: str) -> str:
    return text.removesuffix("\n")


def without_mark(text: str) -> str:
    return text.removeprefix("\ufeff")


def doubled_before_quotes(prompt: str) -> str:
    """As a command line of Windows is written; here nobody reads it like that."""
    return re.sub(r'(\\+)(?="|$)', r"\1\1", prompt) if " " in prompt else prompt


defect("tags-of-answer-lost", "Drops tag characters of an answer.", "result:text:unicode")(
    whole=gives(lambda text: TAGS.sub("", text))
)
defect("nul-ends-id", "Cuts an id at its first NUL.", "rpc:response:id")(encoded=id_ends_at_nul)
defect("double-slash-refused", "Refuses a directory with two slashes in a row.", "cwd:used")(
    check_cwd=before(refuses_double_slash)
)
defect("last-newline-of-long-prompt-lost", "Takes a newline off the end of a prompt on stdin.", "prompt:long:whole")(
    prompt_form=stdin_changed(without_last_newline)
)
defect("mark-of-long-prompt-lost", "Drops a byte order mark before a prompt on stdin.", "prompt:long")(
    prompt_form=stdin_changed(without_mark)
)
defect(
    "backslashes-before-quotes-doubled",
    "Doubles the backslashes before a double quote or the end of a prompt with blanks.",
    "prompt:verbatim:quotes",
)(prompt_form=takes(doubled_before_quotes))
defect("separators-of-system-prompt-are-newlines", "Makes newlines of U+0085, U+2028 and U+2029.", "system:content")(
    system_bytes=takes(lambda text: SEPARATORS.sub("\n", text))
)
