"""The wording of `outcome.json` as frozen records: JSON in, records out. Pure.

It says how an ended gemini is read and what is said of it. Only what `outcome.json` can say belongs here;
`outcome.py` applies it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from gemini_mcp.spec.values import Json


@dataclass(frozen=True)
class Sentence:
    """What the server says of one kind of failure.

    `cause` is what a port should name in words of its own, and `names` a pattern that such words match.
    """

    id: str
    when: str
    text: str
    exits: tuple[int, ...]
    stderr: str | None
    cause: str | None
    names: str | None


@dataclass(frozen=True)
class OutcomeSpec:
    """The whole of `outcome.json`: how an ended gemini becomes a result."""

    prefix: str
    separator: str
    answer: Mapping[str, str]
    meta: Mapping[str, str]
    notices: Mapping[str, str]
    asked: tuple[str, ...]
    no_session: str | None
    stdout_bytes: int | None
    stderr_bytes: int
    private: str
    masked: str
    masks: tuple[str, ...]
    secret_names: str
    said: str
    sentences: tuple[Sentence, ...]


def outcome_spec(document: Json) -> OutcomeSpec:
    """Read the content of `outcome.json`; `KeyError` or `TypeError` when it is not one."""
    stderr = document["stderr"]
    return OutcomeSpec(
        prefix=document["prefix"],
        separator=document["separator"],
        answer=document["answer"],
        meta=document["meta"],
        notices=document["notices"],
        asked=tuple(document.get("asked", ())),
        no_session=document.get("noSession"),
        stdout_bytes=document.get("stdout", {}).get("maxBytes"),
        stderr_bytes=stderr["maxBytes"],
        private=stderr["private"],
        masked=stderr["masked"],
        masks=tuple(stderr["masks"]),
        secret_names=stderr["secretNames"],
        said=document["said"],
        sentences=tuple(_sentence(entry) for entry in document["sentences"]),
    )


def _sentence(entry: Json) -> Sentence:
    return Sentence(
        id=entry["id"],
        when=entry["when"],
        text=entry["sentence"],
        exits=tuple(entry.get("exit", ())),
        stderr=entry.get("stderr"),
        cause=entry.get("cause"),
        names=entry.get("names"),
    )
