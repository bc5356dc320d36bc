"""Impact: compares the reports of one port by two specifications, and says which verdicts flip; pure.

A new kind of flip is added to Direction, in the order of the pages, and to `_direction`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from gemini_mcp_conformance.judge.judgement import LEVELS, Judgement, must_hold
from gemini_mcp_conformance.tell.matrix.ports import Failure, Port
from gemini_mcp_conformance.tell.report import CONFORMS, DOES_NOT, INCOMPLETE, NO_ANSWER, OUR_FAULT, Report, first_of

Direction: TypeAlias = Literal["broken", "newly demanded", "unclear", "no longer demanded", "mended"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)


@dataclass(frozen=True)
class Flip:
    """One requirement whose verdict differs; None where a specification does not have it."""

    direction: Direction
    old: Judgement | None
    new: Judgement | None
    is_break: bool = False

    @property
    def judgement(self) -> Judgement:
        """The new judgement, or the old one where there is no new one."""
        found = self.new or self.old
        assert found is not None
        return found

    @property
    def why(self) -> str | None:
        """The message of the failure, new or old, or of the judgement that makes the flip unclear."""
        failing = (each for each in (self.new, self.old) if each is not None and each.verdict == "fail")
        told = self.judgement if self.direction == "unclear" else next(failing, self.judgement)
        return told.message


@dataclass(frozen=True)
class Impact:
    """One port, its result by each specification, and the flips; those that break it come first."""

    port: Port
    old: Report | Failure
    new: Report | Failure
    flips: tuple[Flip, ...]

    @property
    def is_compared(self) -> bool:
        """Whether both runs could test the port."""
        return all(isinstance(each, Report) and each.exit != NO_ANSWER for each in (self.old, self.new))

    @property
    def breaks(self) -> bool:
        """Whether the change breaks the port."""
        return any(flip.is_break for flip in self.flips)

    def codes(self) -> Iterator[int]:
        """The exit codes that apply to it."""
        yield DOES_NOT if self.breaks else CONFORMS
        yield from (_ending(result) for result in (self.old, self.new))


def impact(port: Port, old: Report | Failure, new: Report | Failure, strict: bool = False) -> Impact:
    """What changes for the port."""
    found = Impact(port, old, new, ())
    if not found.is_compared:
        return found
    was, now = (each.judgements if isinstance(each, Report) else () for each in (old, new))
    return replace(found, flips=tuple(sorted(_flips(was, now, strict), key=_rank)))


def exit_code(impacts: Iterable[Impact]) -> int:
    """The exit code of them all."""
    return first_of(code for each in impacts for code in each.codes())


def _ending(result: Report | Failure) -> int:
    match result:
        case Report(exit=exit) if exit in (OUR_FAULT, NO_ANSWER):
            return exit
        case Report() if not result.with_verdict("could-not-run"):
            return CONFORMS
        case _:
            return INCOMPLETE


def _flips(old: Sequence[Judgement], new: Sequence[Judgement], strict: bool) -> Iterator[Flip]:
    was, now = ({judgement.id: judgement for judgement in judgements} for judgements in (old, new))
    for id in dict.fromkeys((*now, *was)):
        before, after = was.get(id), now.get(id)
        direction = _direction(before, after)
        if direction is not None:
            fails = after is not None and after.verdict == "fail" and must_hold(after.level, strict)
            yield Flip(direction, before, after, fails and direction in ("broken", "newly demanded"))


def _direction(old: Judgement | None, new: Judgement | None) -> Direction | None:
    """How two judgements of a requirement differ; a failure of a higher level is worse. None when they agree."""
    if not _is_demanded(old) or not _is_demanded(new):
        if _is_demanded(old) == _is_demanded(new):
            return None
        return "no longer demanded" if _is_demanded(old) else "newly demanded"
    assert old is not None
    assert new is not None
    if _weight(old) != _weight(new) and {old.verdict, new.verdict} <= {"pass", "fail"}:
        return "broken" if _weight(new) > _weight(old) else "mended"
    if old.verdict == new.verdict:
        return None
    return "broken" if new.verdict == "fail" else "unclear"


def _is_demanded(judgement: Judgement | None) -> bool:
    return judgement is not None and judgement.verdict != "not-applicable"


def _weight(judgement: Judgement) -> int:
    return len(LEVELS) - LEVELS.index(judgement.level) if judgement.verdict == "fail" else 0


def _rank(flip: Flip) -> tuple[bool, int]:
    return not flip.is_break, DIRECTIONS.index(flip.direction)
