"""Causes: groups what needs attention in a report by its cause, the first to mend first; pure.

Every format shows these groups. A rule by which failures have one cause is added to `_keys`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from gemini_mcp_conformance.judge.judgement import DIED, FOREIGN, LEVELS, LONG_LINE, SILENT, UNSEEN, Judgement, Level
from gemini_mcp_conformance.tell.report import Report

ADVICE: Mapping[str, str] = {
    DIED: "Keep the port running: it ended although nobody had asked it to.",
    SILENT: "Answer every request: the port let some wait until the suite gave up.",
    LONG_LINE: "Read lines of any length: the port fails where a message is long.",
}
OUR_FAULT = "Report this: a check of the suite failed, which is no fault of the port."
LATER = "Mend the rest first: nothing that was observed shows these requirements."


@dataclass(frozen=True)
class Group:
    """Judgements with one cause: those that fail, and those that could not be judged for it. One of both may be empty.

    `head` is the one to look at, and the first; `advice` says what to do.
    """

    head: Judgement
    advice: str
    broken: tuple[Judgement, ...] = ()
    unjudged: tuple[Judgement, ...] = ()

    @cached_property
    def all(self) -> tuple[Judgement, ...]:
        return (*self.broken, *self.unjudged)

    @property
    def level(self) -> Level:
        """The strongest level of what fails, or of what could not be judged."""
        return self.head.level

    @property
    def anchor(self) -> str:
        """A name that no other group of the report has."""
        return f"cause-{self.head.id}"


def groups(report: Report) -> tuple[Group, ...]:
    """What needs attention and is not known, first what to mend first; each judgement is in one group.

    Nothing is told twice: what could not be judged for a reason that a note gives is left out.
    """
    shown = [each for each in report.with_verdict("harness-error", "fail", "could-not-run") if each.known is None]
    unjudged = [each for each in shown if each.verdict == "could-not-run" and each.message not in report.notes]
    together = _together([each for each in shown if each.verdict != "could-not-run"])
    found = [*_with_causes(together, unjudged, {each.id: each for each in shown})]
    return tuple(sorted(found, key=_urgency))


def known(report: Report) -> tuple[Judgement, ...]:
    """The failures that the baseline lists."""
    return tuple(judgement for judgement in report.judgements if judgement.known is not None)


def _with_causes(
    together: Sequence[Sequence[Judgement]], unjudged: Iterable[Judgement], by_id: Mapping[str, Judgement]
) -> Iterator[Group]:
    """The groups of what fails, each with what it explains; then those of the rest, by their reasons."""
    place = {key: number for number, broken in enumerate(together) for each in broken for key in _keys(each)}
    # What a port of something else cannot show has that as its cause.
    stranger = place.get(FOREIGN)
    explained: list[list[Judgement]] = [[] for _ in together]
    rest: dict[str, list[Judgement]] = {}
    for judgement in unjudged:
        number = place.get(_root(judgement, by_id), stranger)
        (rest.setdefault(judgement.message or "", []) if number is None else explained[number]).append(judgement)
    for broken, others in zip(together, explained, strict=True):
        head = _head(broken, others)
        yield Group(head, _advice(head), (head, *(each for each in broken if each is not head)), tuple(others))
    for message, others in rest.items():
        is_later = bool(together) and message == UNSEEN
        yield Group(_head(others, ()), LATER if is_later else message, (), tuple(others))


def _together(broken: Iterable[Judgement]) -> list[list[Judgement]]:
    """The failures in groups: two that share a key have one cause."""
    place: dict[str, list[Judgement]] = {}
    for judgement in broken:
        met = {id(group): group for key in _keys(judgement) if (group := place.get(key)) is not None}
        joined = [*(each for group in met.values() for each in group), judgement]
        place |= {key: joined for each in joined for key in _keys(each)}
    return list({id(group): group for group in place.values()}.values())


def _keys(judgement: Judgement) -> tuple[str, ...]:
    """What a failure shares with others of one cause: its cause, what the port did, or the feature that it is about."""
    if judgement.verdict == "harness-error":
        return ("harness-error", judgement.id)
    cause = judgement.cause or judgement.id
    if cause in (*ADVICE, FOREIGN):
        return (cause, judgement.id)
    area, feature, *_ = judgement.id.split(":")
    # Complaints read "The port …, and should …": the first half says what the port did.
    did = (judgement.message or "").partition(", and should")[0]
    return (judgement.id, cause, f"{area}: {did}", f"{area}:{feature}:")


def _root(judgement: Judgement, by_id: Mapping[str, Judgement]) -> str:
    """The cause behind the cause, as far as the report names it."""
    seen: set[str] = set()
    cause = judgement.cause or ""
    while cause in by_id and cause not in seen and by_id[cause].verdict == "could-not-run":
        seen.add(cause)
        cause = by_id[cause].cause or ""
    return cause


def _head(broken: Sequence[Judgement], explained: Sequence[Judgement]) -> Judgement:
    """Of the strongest level the failure that explains most, and whose conversation shows most."""
    causes, replays = [each.cause for each in explained], [each.replay for each in broken]
    return min(
        broken,
        key=lambda each: (LEVELS.index(each.level), -causes.count(each.id), -replays.count(each.replay)),
    )


def _advice(head: Judgement) -> str:
    if head.verdict == "harness-error":
        return OUR_FAULT
    if head.cause == FOREIGN:
        return head.message or ""
    return ADVICE.get(head.cause or "", head.sentence)


def _urgency(group: Group) -> tuple[bool, bool, int, int]:
    is_ours = group.head.verdict == "harness-error"
    return not is_ours, not group.broken, LEVELS.index(group.level), -len(group.all)
