"""Plan: the requirements, checks and conversations of a run, and what does not bind it. Reads the specification."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gemini_mcp.spec import Requirement, SpecError
from gemini_mcp_conformance.judge.check import Check
from gemini_mcp_conformance.judge.registry import checks_for
from gemini_mcp_conformance.play.target import Target, can_play, has_gemini
from gemini_mcp_conformance.run.options import Options
from gemini_mcp_conformance.run.selection import select, unasked
from gemini_mcp_conformance.talk import sources as conversations
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.exploration import Exploration
from gemini_mcp_conformance.talk.sources.revisions import Revisions

GREETED = frozenset({"identity:name", "identity:version"})
"""Requirements that every greeting shows, so that no conversation names them."""
EQUIVALENCE = "http:equivalence"
ANYWHERE = frozenset(
    {
        *("rpc:batch", "rpc:jsonrpc", "rpc:response:either", "stdio:framing", "stdio:stderr:private", "stdio:stdout"),
        EQUIVALENCE,
    }
)
"""Requirements that every conversation shows, so that it names one only where there is more to see than elsewhere."""


@dataclass(frozen=True)
class Plan:
    """What a run plays and judges. Of `every` conversation that can show something, the target can play some.

    `is_chosen` says that somebody has named the conversations, as for a replay.
    """

    selected: tuple[Requirement, ...]
    checks: tuple[Check, ...]
    every: tuple[Conversation, ...]
    playable: tuple[Conversation, ...]
    explorations: tuple[Exploration, ...]
    is_chosen: bool

    @property
    def ids(self) -> frozenset[str]:
        """The requirements that are judged."""
        return frozenset(requirement.id for requirement in self.selected)

    @property
    def decided(self) -> frozenset[str]:
        """The requirements that have a check."""
        return frozenset(check.requirement for check in self.checks)


def planned(options: Options, chosen: Sequence[Conversation] | None) -> Plan:
    """A run of the chosen conversations, or of those of all sources that can show what is selected."""
    selected = select(options.selection, "server")
    checks = checks_for((*selected, *unasked(options.selection)))
    if chosen is not None:
        return Plan(selected, checks, tuple(chosen), _playable(options.target, chosen), (), True)
    offered, explorable = gather(options)
    every = useful(offered, options, {check.requirement for check in checks})
    ids = {requirement.id for requirement in selected}
    explorations = tuple(each for each in explorable if _is_useful(each, ids) and has_gemini(options.target))
    return Plan(selected, checks, every, _playable(options.target, every), explorations, False)


def _playable(target: Target, every: Sequence[Conversation]) -> tuple[Conversation, ...]:
    return tuple(conversation for conversation in every if can_play(target, conversation))


def gather(options: Options) -> tuple[tuple[Conversation, ...], tuple[Exploration, ...]]:
    """The conversations of all sources; SpecError when the operator's specification does not allow to make them."""
    try:
        return conversations.offered(options.selection.spec, options.examples, options.seed, options.thorough)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        if options.selection.spec is None:
            raise
        raise SpecError(str(options.selection.spec), f"conversations cannot be made of it: {error!r}") from error


def useful(every: Sequence[Conversation], options: Options, ids: set[str]) -> tuple[Conversation, ...]:
    """The conversations that can show these requirements, or every conversation if a requirement is named by none.

    The conversations of the revisions are always played. Whatever is played shows whether transports are equivalent.
    """
    named = {id for conversation in every for id in conversation.requirements}
    if not options.selection.only or not ids <= named | GREETED | ANYWHERE:
        return tuple(every)
    sampled = (ids if ids == {EQUIVALENCE} else ids - {EQUIVALENCE}) & ANYWHERE
    samples = {each.id for each in sample(every)} if sampled else set[str]()
    return tuple(
        each
        for each in every
        if (each.phase == Revisions.phase and each.revision is not None)
        or each.id in samples
        or ids.intersection(each.requirements)
    )


def sample(every: Iterable[Conversation]) -> Iterator[Conversation]:
    """A few conversations of all kinds: each shows a kind of requirement that none before it shows."""
    seen = set[str]()
    for each in every:
        kinds = {":".join(id.split(":")[:2]) for id in each.requirements}
        if not each.alone and not kinds <= seen:
            seen |= kinds
            yield each


def _is_useful(exploration: Exploration, ids: set[str]) -> bool:
    return any(id.startswith(exploration.requirements) for id in ids)


def absent(target: Target, every: Sequence[Conversation]) -> dict[str, str]:
    """Why areas or single requirements do not bind this run, such as those of another transport."""
    if target.url is None:
        return {"http": "The port was tested over stdio."}
    shown = {id for conversation in every if not conversation.needs_stdio for id in conversation.requirements}
    piped = {id for conversation in every if conversation.needs_stdio for id in conversation.requirements}
    reasons = {"stdio": "The port was tested over HTTP.", "shutdown": "The suite did not start the port."}
    reasons["stateless:cancelled"] = "It is about stdio."
    reasons |= dict.fromkeys(
        sorted(id for id in piped - shown if not id.startswith("shutdown:")),
        "Only a port that the suite starts can show it.",
    )
    return reasons if target.command else {**reasons, EQUIVALENCE: "The port was tested over HTTP alone."}
