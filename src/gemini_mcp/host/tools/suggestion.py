"""What the model is told of a tool that is not there: the names nearest to it. Pure."""

from collections.abc import Sequence

MOST = 3


def suggestion(unknown: str, known: Sequence[str]) -> str:
    """The sentence with the nearest names, or nothing when there is none; of equal ones, the first registered count."""
    nearest = sorted(known, key=lambda name: distance(unknown, name))[:MOST]
    quoted = ", ".join(f'"{name}"' for name in nearest)
    return f" Did you mean {'one of: ' if len(nearest) > 1 else ''}{quoted}?" if nearest else ""


def distance(one: str, other: str) -> int:
    """The Levenshtein distance, by which Gemini CLI finds the nearest names."""
    row = list(range(len(other) + 1))
    for index, letter in enumerate(one, 1):
        diagonal, row[0] = row[0], index
        for place, theirs in enumerate(other, 1):
            changed = diagonal + (letter != theirs)
            diagonal = row[place]
            row[place] = min(changed, row[place] + 1, row[place - 1] + 1)
    return row[-1]
