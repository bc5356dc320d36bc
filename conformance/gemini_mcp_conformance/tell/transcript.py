"""Transcript: all that was said in a conversation, with each run of gemini and what the fake played in it; pure.

Unlike evidence it is whole, and for one reader: nothing is cut, and directories are named as they were.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.see.observation import Exchange, Observation, Run
from gemini_mcp_conformance.tell.reports.printable import printable


def transcript(seen: Observation) -> str:
    """Lines sent (`>`) and received (`<`) in their order; the runs of a request follow its line."""
    return "".join(f"{line}\n" for line in _lines(seen))


def _lines(seen: Observation) -> Iterator[str]:
    yield f"{seen.conversation.id}: {seen.conversation.title}"
    by_order = {exchange.sent.order: exchange for exchange in seen.exchanges}
    for line in seen.lines:
        yield from _marked(">" if line.sent else "<", _text(line.data))
        if line.sent and line.order in by_order:
            yield from _runs_of(by_order[line.order])
    for run in seen.unclaimed:
        yield from _run(run, ())
    for line in _text(seen.stderr).splitlines():
        yield from _marked("port's stderr:", line)
    if seen.died is not None:
        yield f"The port {seen.died}."
    if seen.exit is not None:
        yield f"After {seen.exit.asked} the port ended with {seen.exit.code}."


def _runs_of(exchange: Exchange) -> Iterator[str]:
    """The runs of gemini for a request; the scripts are played in their order."""
    for number, run in enumerate(exchange.runs):
        yield from _run(run, exchange.scripts[number].play if number < len(exchange.scripts) else ())
    listed = next((each.list_sessions for each in reversed(exchange.scripts) if each.list_sessions is not None), ())
    for run in exchange.listings:
        yield from _run(run, listed)
    if exchange.silence:
        yield f"  no answer: {exchange.silence}"


def _run(run: Run, played: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    call = run.call
    yield from _marked("  $", shlex.join(["gemini", *map(_text, call.argv)]))
    yield from _marked("    in", call.cwd)
    yield from _marked(f"    stdin ({call.stdin_kind}):", "" if call.stdin is None else _text(call.stdin))
    for variable, given in call.given.items():
        yield from _marked(f"    {variable}:", "no file" if given.content is None else _text(given.content))
    for step in played:
        yield from _marked("    plays", json.dumps(step, ensure_ascii=False))


def _marked(mark: str, text: str) -> Iterator[str]:
    """The text behind a mark; each further line of it is marked too, so that it cannot pass for a line of ours."""
    first, *rest = printable(text).split("\n")
    yield f"{mark} {first}".rstrip()
    yield from (f"{' ' * len(mark)}| {line}" for line in rest)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
