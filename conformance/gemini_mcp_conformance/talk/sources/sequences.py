"""Sequences: calls one after another, with failures and refusals between them; no call may affect a later one.

They are the same in every run; `journeys.py` makes others by chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from gemini_mcp.spec.families import kebab
from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.plays import does, fails, hangs
from gemini_mcp_conformance.talk.sources import Sources
from gemini_mcp_conformance.talk.steps import Arrange, Await, Cancel, Release, Request, Step, call, path

ORDER = 40
PHASE = "sequences"

OPTIONS = ("option", "file", "directory")
"""What a call can be given in addition to its prompt and its session."""
FAILED, CANCELLED, UNKNOWN, LISTED = "failed", "cancelled", "unknown tool", "listed"
ANSWERED = ("success", "changed")
"""Outcomes that name a session: the one that is resumed, or another."""
HAPPENINGS = (FAILED, CANCELLED, "refused", UNKNOWN, LISTED)
UNSERVED = 17
"""How often every call is made while gemini is gone: more often together than a port has places for calls."""
FILES = {f"turn-{number}": None for number in range(3)}


@dataclass(frozen=True)
class Move:
    """One call. `session` counts back through the sessions so far; with None the call names no session."""

    tool: str
    options: frozenset[str] = frozenset()
    session: int | None = None
    outcome: str = "success"


def conversations(sources: Sources) -> Iterable[Conversation]:
    """For each pair of tools, options that are given, left out, given another value, and left out after a failure."""
    every, names = frozenset(OPTIONS), sources.spec.names
    for first, second in product(names, names):
        sequence = [
            Move(first, every),
            Move(second),
            Move(first, every, 0),
            Move(second, every, 0),
            Move(second, session=0),
            Move(first, every, outcome=FAILED),
            Move(second),
            Move(second, every, outcome="refused"),
            Move(first),
        ]
        yield conversation(sequence, sources, f"sequence-{first}-{second}")
    begins, resumes = sources.spec.begins or names[0], sources.spec.resumes or names[-1]
    sessions = [Move(begins), Move(begins), *(Move(resumes, session=back) for back in (0, 1, 0, 1, 2, 1))]
    yield conversation([*sessions, Move(resumes), Move(begins)], sources, "sequence-sessions")
    yield from (_moving(tool, sources) for tool in names if sources.spec.directory(tool) is not None)
    yield _without_gemini(sources)
    failing = [Move(tool, outcome=outcome) for outcome in _failures(sources) for tool in names]
    yield conversation([*failing, Move(begins), Move(resumes)], sources, "sequence-failures")
    for number, tool in enumerate(names):
        yield conversation([*_tour(tool, number)], sources, f"sequence-tour-{tool}")


def _tour(tool: str, shift: int) -> Iterator[Move]:
    """Any two of what is no success, one of them three times in a row, and a call behind them; one side is given all.

    The tool with the next `shift` has it the other way round.
    """
    every, nothing = frozenset(OPTIONS), frozenset[str]()
    for number, (first, second) in enumerate(product(HAPPENINGS, HAPPENINGS), shift):
        given, asked = (every, nothing) if number % 2 else (nothing, every)
        happening = (first, second) if first != second else (first, first, first)
        yield from (Move(tool, given, 0, outcome) for outcome in happening)
        yield Move(tool, asked, None if number % 4 < 2 else 1)


def _without_gemini(sources: Sources) -> Conversation:
    """Gemini goes while it runs, and comes back; many calls come meanwhile."""
    every, nothing = frozenset(OPTIONS), frozenset[str]()
    moves = [Move(tool, options, 0) for options in (every, nothing) for tool in sources.spec.names]
    served = [step for step in _steps(moves, sources) if isinstance(step, Request)]
    unserved = [replace(step, scripts=()) for step in served] * UNSERVED
    name, tool = "left", sources.spec.begins or sources.spec.names[0]
    unlisted = sources.unnamed("No list can name it.", {"exit": 1}, id="unlisted").behind({"release": name})
    left = sources.ask(tool, "What is left of gemini?", unlisted, name=name, until="started")
    goes = (left, Arrange(gemini="absent"), Release(name), Await(name))
    # In another order, so that a call with nothing comes first behind those with everything that did not run.
    steps = (*served, *goes, *unserved, Arrange(gemini="present"), *reversed(served))
    id, title = "sequence-without-gemini", "Gemini goes and comes back."
    shown = (*shows(sources), "error:not-started", "error:not-started:remedy", "system:removed:failure")
    shown = (*shown, "fallback:failure", "fallback:none")
    return Conversation(id, title, steps, PHASE, shown, files=FILES, gemini="only")


def _moving(tool: str, sources: Sources) -> Conversation:
    """A directory that is not there, is made, becomes a file, is a directory again, and goes."""
    name, steps = f"moving-{tool}", list[Step]()
    for number, files in enumerate(({}, {name: None}, {name: "A file."}, {name: None}, {}), 1):
        answer = sources.answers(f"The answer to turn {number}.")
        asked = sources.ask(tool, f"This is turn {number}.", answer, directory=path(name))
        steps += [Arrange(files, gone=(name,)), asked]
    refused = ("cwd:missing", "cwd:file", "cwd:reason", "arguments:refused:not-started", "arguments:refused:is-error")
    shown = (*refused, "cwd:used", f"cwd:{kebab(tool)}")
    return Conversation(f"sequence-moving-{tool}", "A directory comes and goes.", tuple(steps), PHASE, shown)


def conversation(moves: Sequence[Move], sources: Sources, id: str) -> Conversation:
    """The calls that the moves stand for."""
    steps = tuple(_steps(moves, sources))
    title = "Calls in turn, each of which is alone."
    return Conversation(id, title, steps, PHASE, shows(sources), files=FILES)


def _failures(sources: Sources) -> tuple[str, ...]:
    """Some scripts that fail in different ways, by their names."""
    quick = [name for name, script in sources.scripts.items() if _fails(script)]
    return (FAILED, *quick[:: max(1, len(quick) // 6)])


def _fails(script: Script) -> bool:
    ends = [step for step in script.play if step.get("exit") or "signal" in step]
    return bool(ends) and not does(script, {"hang", "wait", "release", "child", "fill"})


def shows(sources: Sources) -> tuple[str, ...]:
    """What calls show behind other calls."""
    ids = [f"command:{kebab(tool)}" for tool in sources.spec.names]
    return (
        *(f"{id}:{what}" for id in ids for what in ("new-session", "latest")),
        *(
            f"command:{kebab(tool)}:no-{kebab(name)}"
            for tool in sources.spec.names
            for name in sources.spec.options(tool)
        ),
        *("system:leak", "system:absent", "cwd:default", "cwd:used", "concurrency:after-failure", "command:once"),
        "cancel:child",
    )


def _steps(moves: Sequence[Move], sources: Sources) -> Iterator[Step]:
    sessions: list[str] = []
    for number, move in enumerate(moves, 1):
        own = f"00000000-0000-4000-8000-{number:012}"
        is_reply = sources.spec.session(move.tool) is not None
        resumed = sessions[-1 - move.session % len(sessions)] if sessions and move.session is not None else None
        meant: dict[str, Json] = {**_options(move, number), "session": resumed}
        # Gemini CLI keeps the id of a session that it resumes.
        stays = is_reply and move.outcome != "changed" and resumed is not None
        session = resumed if stays and resumed is not None else own
        arguments = sources.arguments(move.tool, f"This is turn {number}.", **meant)
        if move.outcome == "refused":
            arguments |= dict.fromkeys(sources.spec.tools[move.tool].required)
        elif move.outcome in ANSWERED:
            sessions.append(session)
        match move.outcome:
            case "cancelled":
                name = f"turn {number}"
                yield from (call(move.tool, arguments, hangs(), name=name, until="started"), Cancel(name))
            case "unknown tool":
                yield call("no-such-tool", arguments)
            case "listed":
                yield from (Request("tools/list"), Request("ping"))
            case _:
                yield call(move.tool, arguments, _script(move, number, session, sources))


def _options(move: Move, number: int) -> dict[str, Json]:
    values: dict[str, Json] = {
        "option": f"model-{number}",
        "file": f"You are number {number}.",
        "directory": path(f"turn-{number % 3}"),
    }
    return {name: values[name] for name in OPTIONS if name in move.options}


def _script(move: Move, number: int, session: str, sources: Sources) -> Script:
    if move.outcome == FAILED:
        return fails(stderr="It failed.\n")
    # The specification has a script `success` too, in which every session is the same.
    answer = sources.answers(f"The answer to turn {number}.", session)
    return answer if move.outcome in ANSWERED else sources.scripts.get(move.outcome, answer)
