"""Attribution: which run of gemini, which answer and which notification belongs to which request; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from gemini_mcp.spec.values import Json, inside, table
from gemini_mcp_conformance.see.observation import Directory, Exchange, Line, Run, Silence
from gemini_mcp_conformance.spec.specification import Specification
from gemini_mcp_conformance.talk.conversation import Raw, Request


@dataclass(eq=False)
class Open:
    """A request that the player has sent, while it is played. `mark` and `last` are numbers of the fake's journal.

    `is_page` says that it asks for a further page of a step's list.
    """

    spec: Specification
    step_number: int
    step: Request | Raw
    message: Mapping[str, Json]
    mark: int
    last: int | None = None
    sent: Line | None = None
    answers: tuple[Line, ...] = ()
    silence: Silence = ""
    leftovers: tuple[str, ...] = ()
    canaries: tuple[str, ...] = ()
    cwd: Directory = "none"
    is_page: bool = False

    @property
    def id(self) -> Json:
        return self.message["id"]

    @property
    def is_pending(self) -> bool:
        return self.last is None

    @property
    def tool(self) -> str | None:
        """The specified tool that it calls."""
        name = inside(self.message, "params", "name")
        return name if isinstance(name, str) and name in self.spec.names else None

    @property
    def arguments(self) -> Mapping[str, Json]:
        return table(inside(self.message, "params", "arguments"))

    @property
    def token(self) -> str | None:
        """The prompt, by which a concurrent run is known."""
        name = self.spec.prompt(self.tool) if self.tool else None
        prompt = self.arguments.get(name or "")
        return prompt if isinstance(prompt, str) and prompt.strip() else None

    @property
    def has_file(self) -> bool:
        """Whether an argument is handed over in a file."""
        return self.tool is not None and not self.spec.files(self.tool).keys().isdisjoint(self.arguments)

    @property
    def has_canary(self) -> bool:
        return any("canary" in str(value) for value in self.arguments.values())

    def is_answered_by(self, line: Line) -> bool:
        return same_id(line.table.get("id"), self.id)


def same_id(one: Json, other: Json) -> bool:
    """Whether two ids are equal in value and in type, as JSON has types."""
    return one == other and _kind(one) == _kind(other)


def _kind(id: Json) -> str:
    """JSON has one type of number."""
    return type(id).__name__.replace("int", "float")


def claimed(opens: Sequence[Open], runs: Sequence[Run]) -> tuple[Mapping[int, tuple[Run, ...]], tuple[Run, ...]]:
    """The runs of each request by its step, and those that belong to none."""
    by_step: dict[int, tuple[Run, ...]] = {}
    unclaimed: list[Run] = []
    for run in runs:
        owner = _owner(opens, run)
        if owner is None:
            unclaimed.append(run)
        else:
            by_step[owner.step_number] = (*by_step.get(owner.step_number, ()), run)
    return by_step, tuple(unclaimed)


def exchange(
    open: Open, opens: Sequence[Open], runs: Mapping[int, tuple[Run, ...]], lines: Sequence[Line], frame: Json
) -> Exchange:
    """The record of a request that has been played."""
    assert open.sent is not None
    own = runs.get(open.step_number, ())
    answers = [line for line in lines if line.is_response and not line.sent and open.is_answered_by(line)]
    return Exchange(
        spec=open.spec,
        step=open.step_number,
        request=open.message,
        scripts=open.step.scripts,
        sent=open.sent,
        answers=tuple(answers) or open.answers,
        progress=tuple(line for line in lines if _is_progress(line, open)),
        runs=tuple(run for run in own if run.call.kind == "call"),
        listings=tuple(run for run in own if run.call.kind == "list"),
        leftovers=open.leftovers,
        canaries=open.canaries,
        cwd=open.cwd,
        alone=not any(_overlap(open, other) for other in opens if other is not open),
        silence=open.silence,
        expected=getattr(open.step, "expected", None),
        **frame,
    )


def taken(
    open: Open, opens: Iterable[Open], responses: Sequence[Line], cancelled: Sequence[Json], after_noise: bool
) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """The responses since a request was sent that are its own, and those that can belong to nothing else.

    `after_noise`: a line that was no request has been sent, and a response without an id can be about it.
    """
    assert open.sent is not None
    sent, others = open.sent.order, [other for other in opens if other is not open]
    since = tuple(takewhile(lambda line: line.order > sent, reversed(responses)))
    own = tuple(line for line in since if open.is_answered_by(line))
    known = [line.order for line in since if _is_theirs(line, others) or is_late(line, cancelled, others)]
    loose = [line.order for line in since if after_noise and line.table.get("id") is None]
    return own, tuple(line for line in since if line.order not in (*known, *loose))


def _is_theirs(line: Line, opens: Iterable[Open]) -> bool:
    return any(open.is_answered_by(line) for open in opens)


def is_late(line: Line, cancelled: Iterable[Json], opens: Iterable[Open]) -> bool:
    """Whether a line answers a request that an earlier conversation has cancelled, and is about nothing in this one."""
    if not line.is_response or _is_theirs(line, opens):
        return False
    return any(same_id(line.table.get("id"), id) for id in cancelled)


def _owner(opens: Sequence[Open], run: Run) -> Open | None:
    number = run.call.number
    before = [open for open in opens if open.mark < number]
    during = [open for open in before if open.last is None or number <= open.last]
    candidates = during or before[-1:]
    if len(candidates) < 2:
        return candidates[0] if candidates else None
    given = b"\0".join((*run.call.argv, run.call.stdin or b""))
    tokens = [(open, open.token) for open in candidates]
    matches = [(open, token) for open, token in tokens if token and token.encode("utf-8", "replace") in given]
    return max(matches, key=lambda match: len(match[1]))[0] if matches else None


def _overlap(one: Open, other: Open) -> bool:
    assert one.sent is not None
    if other.sent is None:
        return False
    first, second = sorted((one, other), key=lambda open: open.sent.order if open.sent else 0)
    assert second.sent is not None
    ends = [line.order for line in first.answers]
    return not ends or second.sent.order < ends[0]


def _is_progress(line: Line, open: Open) -> bool:
    if line.sent or line.table.get("method") != "notifications/progress":
        return False
    meta = table(inside(open.message, "params", "_meta"))
    token = inside(line.table, "params", "progressToken")
    return "progressToken" in meta and same_id(token, meta["progressToken"])
