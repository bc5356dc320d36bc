"""Attribution: which run of gemini, which answer and which notification belongs to which request; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

from gemini_mcp.spec.values import Json, inside, table
from gemini_mcp_conformance.see.observation import Directory, Exchange, Line, Run, Silence
from gemini_mcp_conformance.spec.specification import Specification
from gemini_mcp_conformance.talk.steps import Raw, Request

WORD = re.compile(r"\w+")
MOST = 0.5
"""The share of a prompt's words by which a damaged prompt is told."""


@dataclass(eq=False)
class Pending:
    """A request that the player has sent, while the conversation is played.

    `mark` is the number of the last run in the journal when it was sent, `last` that when it was finished. `is_page`
    says that it asks for a further page of a list. `gemini` is what is on PATH meanwhile.
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
    waited: float = 0.0
    leftovers: tuple[str, ...] = ()
    canaries: tuple[str, ...] = ()
    cwd: Directory = "none"
    directory: str = ""
    is_page: bool = False
    gemini: str = "present"

    @property
    def id(self) -> Json:
        return self.message["id"]

    @property
    def is_unfinished(self) -> bool:
        """Whether it has neither been answered nor cancelled."""
        return self.last is None

    @cached_property
    def tool(self) -> str | None:
        """The specified tool that it calls."""
        name = inside(self.message, "params", "name")
        return name if isinstance(name, str) and name in self.spec.names else None

    @cached_property
    def arguments(self) -> Mapping[str, Json]:
        return table(inside(self.message, "params", "arguments"))

    @cached_property
    def prompt(self) -> str | None:
        # A port may take a tool that it does not know for another.
        prompt = self.arguments.get(self.spec.prompt(self.tool or next(iter(self.spec.names), "")) or "")
        return prompt if isinstance(prompt, str) else None

    @cached_property
    def token(self) -> str | None:
        """A prompt that tells the runs of concurrent calls apart."""
        # A prompt of blanks would be found in every command line.
        return self.prompt if self.prompt and self.prompt.strip() else None

    @cached_property
    def token_bytes(self) -> bytes:
        return (self.token or "").encode("utf-8", "replace")

    @property
    def has_file(self) -> bool:
        """Whether an argument is handed over in a file."""
        return not self.spec.files(self.tool or "").keys().isdisjoint(self.arguments)

    @property
    def has_canary(self) -> bool:
        return any("canary" in str(value) for value in self.arguments.values())

    def is_answered_by(self, line: Line) -> bool:
        return same_id(line.table.get("id"), self.id)


def same_id(one: Json, other: Json) -> bool:
    """Whether two ids are equal in value and in JSON type; integers and other numbers are of one type."""
    return one == other and _kind(one) == _kind(other)


def _kind(id: Json) -> str:
    # JSON has one type of numbers, so 1 and 1.0 are one id.
    return type(id).__name__.replace("int", "float")


def claimed(requests: Sequence[Pending], runs: Sequence[Run]) -> tuple[Mapping[int, tuple[Run, ...]], tuple[Run, ...]]:
    """The runs of each request by its step, and those that belong to no request."""
    owners: list[Pending | None] = []
    for run in runs:
        owners.append(_owner(requests, run, owners))
    owned = list(zip(owners, runs, strict=True))
    steps = {owner.step_number for owner, _ in owned if owner}
    by_step = {step: tuple(run for owner, run in owned if owner and owner.step_number == step) for step in steps}
    return by_step, tuple(run for owner, run in owned if owner is None)


def exchange(
    pending: Pending,
    requests: Sequence[Pending],
    runs: Mapping[int, tuple[Run, ...]],
    responses: Sequence[Line],
    told: Mapping[int, tuple[Line, ...]],
    frame: Json,
) -> Exchange:
    """The record of a request that has been played; `told` is the progress of each, `responses` are those to all."""
    assert pending.sent is not None
    own = runs.get(pending.step_number, ())
    answers = [line for line in responses if pending.is_answered_by(line)]
    return Exchange(
        spec=pending.spec,
        step=pending.step_number,
        request=pending.message,
        scripts=pending.step.scripts,
        sent=pending.sent,
        # The player may have taken a response with a wrong id for the answer; by its id it belongs to nobody.
        answers=tuple(answers) or pending.answers,
        progress=told.get(pending.step_number, ()),
        runs=tuple(run for run in own if run.call.kind == "call"),
        listings=tuple(run for run in own if run.call.kind == "list"),
        leftovers=pending.leftovers,
        canaries=pending.canaries,
        cwd=pending.cwd,
        directory=pending.directory,
        gemini=pending.gemini,
        alone=not any(_overlap(pending, other) for other in requests if other is not pending),
        silence=pending.silence,
        waited=pending.waited,
        expected=getattr(pending.step, "expected", None),
        **frame,
    )


def own_responses(pending: Pending, responses: Sequence[Line]) -> tuple[Line, ...]:
    """The responses with the id of a request since it was sent."""
    return tuple(line for line in _since(pending, responses) if pending.is_answered_by(line))


def strays(
    pending: Pending,
    requests: Iterable[Pending],
    responses: Sequence[Line],
    cancelled: Sequence[Json],
    noise: Sequence[Json],
) -> tuple[Line, ...]:
    """The responses since a request was sent that answer no other request.

    `noise` are the ids, or None, in lines that were sent and are no requests. A response may answer one of them.
    """
    others = [other for other in requests if other is not pending]
    since = _since(pending, responses)
    known = [line.order for line in since if _is_theirs(line, others) or is_late(line, cancelled, others)]
    # JSON-RPC answers what cannot be read with an error whose id is null.
    loose = [line.order for line in since if noise and any(same_id(line.table.get("id"), id) for id in (None, *noise))]
    return tuple(line for line in since if line.order not in (*known, *loose))


def _since(pending: Pending, responses: Sequence[Line]) -> tuple[Line, ...]:
    assert pending.sent is not None
    sent = pending.sent.order
    return tuple(takewhile(lambda line: line.order > sent, reversed(responses)))


def _is_theirs(line: Line, requests: Iterable[Pending]) -> bool:
    return any(pending.is_answered_by(line) for pending in requests)


def is_late(line: Line, cancelled: Iterable[Json], requests: Iterable[Pending]) -> bool:
    """Whether a line answers a request that an earlier conversation has cancelled, and none of this conversation."""
    if not line.is_response or _is_theirs(line, requests):
        return False
    return any(same_id(line.table.get("id"), id) for id in cancelled)


def is_overdue(line: Line, running: Iterable[Mapping[str, Json]], requests: Iterable[Pending]) -> bool:
    """Whether a line tells the progress of a request that an earlier conversation has cancelled in vain."""
    told = inside(line.table, "params", "progressToken")
    is_of_earlier = _tells_progress(line) and any(_asks_for(request, told) for request in running)
    return is_of_earlier and not any(_asks_for(pending.message, told) for pending in requests)


def _owner(requests: Sequence[Pending], run: Run, owners: Sequence[Pending | None]) -> Pending | None:
    """The request that a run belongs to: the only one that was open, or the one whose prompt the run was given.

    If several have that prompt, it is the one that owns the fewest earlier runs, whose owners are given.
    The gemini of a call that was cancelled or given up may start when another call is open. That of a cancelled one may
    be ended before it has read anything, or all.
    """
    number = run.call.number
    before = [pending for pending in requests if pending.mark < number]
    during = [pending for pending in before if pending.last is None or number <= pending.last]
    # A run that began when nothing was open any more can only come of the latest request.
    candidates = during or before[-1:]
    former = [pending for pending in before if pending not in candidates]
    cancelled = [pending for pending in former if pending.silence == "cancelled"]
    late = [pending for pending in former if pending.silence == "timeout"]
    # gemini joins the words of a prompt that a port hands over one by one.
    joined = (run.prompt or "").encode("utf-8", "replace")
    given = b"\0".join((*run.call.argv, run.call.stdin or b"", joined))
    known = (*candidates, *cancelled, *late)
    if len(known) > 1 and (named := _named(known, given, (*cancelled, *owners))):
        return named
    begun = [each for each in known if run.prompt and each.token and each.token.startswith(run.prompt)]
    if len(begun) == 1 and run.call.ended is None:
        return begun[0]
    blank = [each for each in candidates if each.prompt is not None and each.prompt == run.prompt]
    if len(blank) == 1:
        return blank[0]
    own_end = any(each.silence == "cancelled" or (_dies_unasked(each) and each not in owners) for each in candidates)
    was_ended = run.call.ended is None and not own_end
    unseen = [each for each in cancelled if was_ended and each not in owners]
    # What has read no prompt may have arguments that the prompt of another call resembles.
    if not joined and (unread := unseen or _ended_unread(candidates, run, owners)):
        return unread[-1]
    if len(known) > 1 and (alike := _most_alike(known, given)):
        return alike
    if unseen:
        return unseen[-1]
    # A run without any known prompt: of several open calls it belongs to the only one that has none.
    likely = candidates if len(candidates) == 1 else [each for each in candidates if each.token is None]
    return likely[0] if len(likely) == 1 else None


def _ended_unread(candidates: Sequence[Pending], run: Run, owners: Sequence[Pending | None]) -> Sequence[Pending]:
    """The only open request, if it was cancelled before its gemini had read its prompt."""
    is_it = len(candidates) == 1 and candidates[0].silence == "cancelled" and run.call.ended is None
    return candidates if is_it and candidates[0] not in owners else ()


def _dies_unasked(pending: Pending) -> bool:
    """Whether the gemini of a call without a prompt is ended by a signal of its own."""
    return pending.token is None and any("signal" in step for script in pending.step.scripts for step in script.play)


def _named(requests: Sequence[Pending], given: bytes, others: Sequence[Pending | None]) -> Pending | None:
    """The request whose prompt the run was given; the longest, since one may hold another.

    Of equal ones it is the one that stands among `others` the fewest times.
    """
    matches = [each for each in requests if each.token_bytes and each.token_bytes in given]
    return max(matches, key=lambda each: (len(each.token or ""), -others.count(each)), default=None)


def _most_alike(requests: Sequence[Pending], given: bytes) -> Pending | None:
    """The only request of whose prompt the run was given most: a port may have damaged it on the way."""
    shares = [_share_of_words(pending.token or "", given) for pending in requests]
    best = max(shares)
    return requests[shares.index(best)] if best >= MOST and shares.count(best) == 1 else None


def _share_of_words(text: str, given: bytes) -> float:
    words = {word.encode("utf-8", "replace") for word in WORD.findall(text)}
    return sum(word in given for word in words) / len(words) if words else 0


def _overlap(one: Pending, other: Pending) -> bool:
    assert one.sent is not None
    if other.sent is None:
        return False
    is_first = one.sent.order < other.sent.order
    first, second = (one, other.sent) if is_first else (other, one.sent)
    return not first.answers or second.order < first.answers[0].order


def progress(requests: Sequence[Pending], lines: Sequence[Line]) -> Mapping[int, tuple[Line, ...]]:
    """The lines that tell of the progress of each request, by its step."""
    found: dict[int, tuple[Line, ...]] = {}
    for line in lines:
        if not _tells_progress(line):
            continue
        token = inside(line.table, "params", "progressToken")
        before = [each for each in requests if each.sent and each.sent.order < line.order]
        asked = [each for each in before if _asks_for(each.message, token)]
        if asked:
            # MCP asks for unique tokens only among the requests that are open, so an earlier request may have had it.
            step = asked[-1].step_number
            found[step] = (*found.get(step, ()), line)
    return found


def _tells_progress(line: Line) -> bool:
    return not line.sent and line.table.get("method") == "notifications/progress"


def _asks_for(request: Mapping[str, Json], told: Json) -> bool:
    meta = table(inside(request, "params", "_meta"))
    return "progressToken" in meta and same_id(told, meta["progressToken"])
