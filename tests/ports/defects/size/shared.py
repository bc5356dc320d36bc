"""What several modules of this room use: texts, numbers and pieces that end too early."""

from typing import Any

from steps import Change, Step

BUFFER = 65536
LINE = 4096
MIB = 1 << 20
LARGEST = 1 << 53


def prompt_shortened_at(*sizes: int) -> Step:
    def prompt_form(port: Any, real: Any, prompt: str) -> Any:
        return real(prompt[:-1] if len(prompt.encode()) in sizes else prompt)

    return prompt_form


def in_32_bits(identity: Any) -> bool:
    return isinstance(identity, str) or abs(identity) < 2**31


def rounded(number: Any) -> Any:
    """What a number becomes that is kept as a double."""
    is_large = isinstance(number, int) and not isinstance(number, bool) and abs(number) > LARGEST
    return int(float(number)) if is_large else number


def cut_text(length: int) -> Change:
    return lambda value: value[:length] if isinstance(value, str) else value


def last_full_piece_lost(size: int) -> Change:
    """Loses the last piece of output when it is full."""
    return lambda raw: raw[:-size] if raw and len(raw) % size == 0 else raw


def is_negative(value: Any) -> bool:
    return isinstance(value, int | float) and value < 0
