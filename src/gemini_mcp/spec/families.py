"""Families of requirements: one entry becomes a requirement for every tool, argument or exit code it is about. Pure.

`subjects.py` says what families can be about. What a requirement means, the checks decide.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from gemini_mcp.spec.values import Json

Subject: TypeAlias = Mapping[str, str]
"""The values of the placeholders of one requirement."""

Subjects: TypeAlias = Mapping[str, Sequence[Subject]]
"""The sets that a family can be expanded over, by the name that its `for` gives."""

PLACEHOLDER = re.compile(r"\{([a-zA-Z-]+)\}")
OTHER = "other-"
"""What stands before the name of a set for those of its members that no other entry speaks of."""
FAMILY = ("for", "where", "refusal")
"""The keys of an entry that its requirements do not get."""


def expanded(entries: Iterable[Json], subjects: Subjects, words: Subject) -> Iterator[tuple[int, Json, Subject]]:
    """The requirements, their placeholders filled, each with the number of its entry. Of equal ids, the first stays."""
    seen = set[str]()
    for number, entry, subject in members(entries, subjects, words):
        if entry["id"] not in seen:
            seen.add(entry["id"])
            yield number, entry, subject


def members(entries: Iterable[Json], subjects: Subjects, words: Subject) -> Iterator[tuple[int, Json, Subject]]:
    """What every entry becomes, each with the number of its entry."""
    entries = list(entries)
    claims = [claim for entry in entries if (claim := entry.get("refusal") or entry.get("where"))]
    for number, entry in enumerate(entries):
        for subject in _subjects_of(entry, subjects, claims):
            id = PLACEHOLDER.sub(lambda match, subject=subject: kebab(subject[match[1]]), entry["id"])
            sentence = _filled(entry["sentence"], {**words, **subject})
            own = {key: value for key, value in entry.items() if key not in FAMILY}
            yield number, {**own, "id": id, "sentence": sentence}, subject


def is_member(id: str, family: str) -> bool:
    """Whether an id is one that the id of a family can become."""
    parts = PLACEHOLDER.split(family)[::2]
    return re.fullmatch("[a-z0-9-]+".join(map(re.escape, parts)), id) is not None


def kebab(name: str) -> str:
    """A name as a part of an id: `sessionId` is `session-id`, and `prüfe` is `pr-fc-fe`."""
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"[A-Z]|[^\x00-\x7f]", _spelled, name)).strip("-")


def _spelled(letter: re.Match[str]) -> str:
    return f"-{letter[0].lower()}" if letter[0].isascii() else f"-{ord(letter[0]):x}-"


def _subjects_of(entry: Json, subjects: Subjects, claims: Sequence[Subject]) -> Iterable[Subject]:
    if "for" not in entry:
        return ({},)
    kind = entry["for"].removeprefix(OTHER)
    rows = [row for row in subjects[kind] if _has(row, entry.get("where", {}))]
    if kind != entry["for"]:
        named = [claim for claim in claims if kind in claim]
        rows = [row for row in rows if not any(_has(row, claim) for claim in named)]
    return rows if not rows or PLACEHOLDER.search(entry["id"]) else (_joined(rows),)


def _has(row: Subject, wanted: Subject) -> bool:
    return wanted.items() <= row.items()


def _filled(sentence: str, values: Subject) -> str:
    return PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), sentence)


def _joined(rows: Sequence[Subject]) -> Subject:
    """One subject of all, for a sentence that is said once: its names are joined."""
    names = {name: None for row in rows for name in row}
    return {name: "` and `".join(dict.fromkeys(row[name] for row in rows if name in row)) for name in names}
