"""Where cases and scenarios contradict what the other files make of them. Pure.

Only what a single process shows is compared. A step whose script hangs, or that has no result, is left alone.
"""

import base64
import json
import re
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from gemini_mcp.report.positions import Path
from gemini_mcp.spec import ServerSpec, server_spec, written_out
from gemini_mcp.spec.values import Json, differing, inside, is_array, is_object, items, table
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.tools import INVOCATION, LIVE, OUTCOME
from gemini_mcp_spec.reference.answers import answered, streamed, understood, unfound

_UNREADABLE = (AttributeError, LookupError, TypeError, ValueError, RuntimeError, re.error)
_MOST = 1 << 28
"""Bytes that a step of a script may print for its outcome to be made."""

Scripts: TypeAlias = Mapping[str, Json]
"""The scripts of a specification by their names."""


@dataclass(frozen=True)
class Contradiction:
    """A place of an example that says something else than the file makes of it.

    With `is_worded`, gemini understands the same, or only the words of the server are others.
    """

    path: Path
    file: str
    said: Json
    made: Json
    is_worded: bool = False


@lru_cache(maxsize=4)
def server_of(spec: SpecFiles) -> ServerSpec | None:
    """What the server is by these files; None where they are no specification of one."""
    try:
        return server_spec(spec.documents)
    except _UNREADABLE:
        return None


def scripts_of(spec: SpecFiles) -> Scripts:
    """The scripts of these files."""
    return {file.rpartition("/")[2].removesuffix(".json"): held for file, held in spec.folder("server/scripts").items()}


def contradictions(server: ServerSpec, scripts: Scripts, example: Json) -> Sequence[Contradiction] | None:
    """Where a case, or a step of a scenario, says something else; None where it cannot be played."""
    try:
        return list(_contradictions(server, scripts, example))
    except _UNREADABLE:
        return None


def _contradictions(server: ServerSpec, scripts: Scripts, example: Mapping[str, Json]) -> Iterator[Contradiction]:
    if "call" in example:
        yield from _of_case(server, written_out(example))
    for index, step in enumerate(items(example.get("steps"))):
        if "call" in step:
            yield from _of_step(server, scripts, written_out(step), ("steps", index))


def _of_case(server: ServerSpec, case: Mapping[str, Json]) -> Iterator[Contradiction]:
    made = answered(server, case["call"], case.get("outcome"), case.get("listing"))
    said, planned = case.get("invocation"), made["invocation"]
    if said != planned:
        is_worded = None not in (said, planned) and understood(said) == understood(planned)
        file = f"server/tools/{case['call']['name']}.json" if made.get("misfit") else INVOCATION
        yield Contradiction(*_apart(("invocation",), file, said, planned), is_worded)
    elif "listing" in case and not made.get("listed"):
        file = INVOCATION if made.get("resumed") else OUTCOME
        yield Contradiction(("listing",), file, case["listing"], None)
    else:
        yield from _of_answer(server, case, made, ())


def _of_step(server: ServerSpec, scripts: Scripts, step: Mapping[str, Json], path: Path) -> Iterator[Contradiction]:
    named = step.get("script")
    script = written_out(scripts.get(named)) if isinstance(named, str) else named
    played, listed = (_played(table(script).get(key)) for key in ("play", "listSessions"))
    made = answered(server, step["call"], played, listed)
    if step.get("result", True) is None or (script is None and "cwd" in table(made["invocation"])):
        # Cancelled before it began, or refused because of a directory.
        return
    if "result" in step and any("hang" in table(one) for one in items(table(script).get("play"))):
        file = f"server/scripts/{named}.json" if isinstance(named, str) else "its script"
        yield Contradiction((*path, "result"), file, step.get("result"), None)
    elif (script is None) is not (made["invocation"] is None):
        yield Contradiction((*path, "script"), INVOCATION, step.get("script"), made["invocation"])
    elif "result" in made or "error" in made:
        yield from _of_answer(server, step, made, path)


def _of_answer(
    server: ServerSpec, said: Mapping[str, Json], made: Mapping[str, Json], path: Path
) -> Iterator[Contradiction]:
    for key in ("result", "error"):
        if said.get(key) != made.get(key) and (key != "error" or _code(said) != _code(made)):
            is_worded = _without_words(said.get(key), server) == _without_words(made.get(key), server)
            if not (is_worded and "wording" in said):
                file = OUTCOME if made["invocation"] or key == "result" else INVOCATION
                place = _apart((*path, key), file, said.get(key), made.get(key))
                yield Contradiction(*place, is_worded)


def stream_contradiction(server: ServerSpec, stream: Json) -> Contradiction | None:
    """Where a stream tells something else than the same run without one."""
    try:
        made, said = streamed(server, stream)
    except (*_UNREADABLE, AssertionError):
        return None
    return Contradiction(("plain",), LIVE, said, made) if said != made else None


def has_keys_of(server: ServerSpec, stream: Json) -> bool:
    """Whether the output without a stream has no keys but those that `outcome.json` reads."""
    try:
        printed: Json = json.loads(table(table(stream).get("plain"))["stdout"])
    except _UNREADABLE:
        return True
    asked = server.outcome.asked
    known = {*server.outcome.answer.values(), *asked[:1]}
    counted = inside(printed, *asked[:1])
    return table(printed).keys() <= known and table(counted).keys() <= set(asked[1:2])


def untold(server: ServerSpec, streams: Iterable[Json]) -> Sequence[int]:
    """The events of `live.json` whose value no stream has."""
    try:
        return unfound(server, streams)
    except _UNREADABLE:
        return ()


def _code(holder: Mapping[str, Json]) -> Json:
    return table(holder.get("error")).get("code")


def _without_words(result: Json, server: ServerSpec) -> Json:
    """An error without the words between its prefix and what gemini wrote to stderr; any other result as it is."""
    if not (is_object(result) and result.get("isError")):
        return result
    text = str(result["content"][0]["text"])
    prefix, separator = server.outcome.prefix, server.outcome.separator
    return [text.startswith(prefix), *text.partition(separator)[1:]]


def _apart(path: Path, file: str, said: Json, made: Json) -> tuple[Path, str, Json, Json]:
    """The first place inside two values where they differ."""
    if is_object(said) and is_object(made):
        key, *inner = next(differing(said, made))
        return _apart((*path, key), file, *inner)
    if is_array(said) and is_array(made) and len(said) == len(made):
        index = next(index for index, (one, other) in enumerate(zip(said, made, strict=True)) if one != other)
        return _apart((*path, index), file, said[index], made[index])
    return path, file, said, made


def _played(play: Json) -> Json:
    """The outcome of a script; None where it hangs, prints too much to be made, or there is none."""
    if play is None:
        return None
    streams = {"stdout": b"", "stderr": b""}
    outcome: dict[str, Json] = {"exit": 0}
    for step in items(play):
        match step:
            case {"stdout": str(text)} | {"stderr": str(text)}:
                streams[next(iter(step))] += text.encode("utf-8", "surrogatepass")
            case {"stdoutBase64": str(text)} | {"stderrBase64": str(text)}:
                streams[next(iter(step)).removesuffix("Base64")] += base64.b64decode(text)
            case {"fill": {"bytes": int(size)}} if size > _MOST:
                return None
            case {"fill": {"stream": str(stream), "text": str(text), "bytes": int(size)}}:
                streams[stream] += (text.encode() * (size // len(text.encode()) + 1))[:size]
            case {"exit": code}:
                outcome = {"exit": code}
                break
            case {"signal": str(name)}:
                outcome = {"signal": int(signal.Signals[f"SIG{name}"])}
                break
            case {"hang": _}:
                return None
            case _:
                continue
    return {**outcome, **{name: content.decode("utf-8", "replace") for name, content in streams.items()}}
