"""Defects of a foreigner: limits that belong to something else, and pieces that part what belongs together."""

from typing import Any

from answering import KEYS
from conditions import stdin_changed
from defects.record import defect
from planning import Refusal
from steps import gives

PIECE = 8192
LONGEST_LINE = 256
LONGEST_PATH = 260
"""What Windows calls MAX_PATH."""
MOST_MASKS = 8
"""What `re.MULTILINE` is as a number, and so as a count."""


def joined_line_ends(text: str) -> str:
    """Puts `\\n` in the place of a `\\r\\n` that the end of a piece divides."""
    pieces = [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
    pairs = zip(pieces, [*pieces[1:], ""], strict=True)
    return "".join(piece[:-1] if piece[-1] == "\r" and then[:1] == "\n" else piece for piece, then in pairs)


def short_path(port: Any, real: Any, cwd: str) -> None:
    real(cwd)
    if len(cwd) >= LONGEST_PATH:
        raise Refusal(f"`cwd` {cwd!r} does not exist.")


def first_masked(port: Any, real: Any, text: str) -> str:
    return KEYS.sub("[masked]", text, count=MOST_MASKS)


defect(
    "line-end-parted",
    "Makes a line end of two characters into one where a piece of 8192 characters of a long prompt ends within it.",
    "prompt:long:whole",
)(prompt_form=stdin_changed(joined_line_ends))
defect(
    "entry-of-long-line-cut",
    "Reads 256 characters of each line of the list, so an entry whose id stands behind them does not count.",
    "fallback:list-sessions",
    "fallback:last",
)(list_text=gives(lambda text: "\n".join(line[:LONGEST_LINE] for line in text.split("\n"))))
defect(
    "path-of-windows",
    "Says of a directory that it does not exist when its path has 260 characters or more.",
    "cwd:used",
)(check_cwd=short_path)
defect(
    "ninth-key-shown",
    "Masks eight keys of a text at most.",
    "error:secrets",
)(masked=first_masked)
