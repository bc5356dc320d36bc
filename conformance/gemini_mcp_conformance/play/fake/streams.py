"""Streams: turns the steps of a script into those of a gemini that was asked for a stream. Pure.

Only an answer that is one JSON object becomes a stream. A failure, a damaged answer, or one beside other text is played
as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from gemini_mcp.spec.live import LiveSpec
from gemini_mcp.spec.values import Json, inside, is_array, is_object
from gemini_mcp.spec.wording import OutcomeSpec
from gemini_mcp_conformance.spec.script import written


@dataclass(frozen=True)
class Streams:
    """What a specification says of streams and answers."""

    live: LiveSpec
    outcome: OutcomeSpec

    @property
    def argument(self) -> str:
        """What asks gemini for a stream: the first element that stands in place of another."""
        return next(new for old, new in zip(self.live.replaced, self.live.by, strict=False) if old != new)

    def steps(self, steps: Sequence[Mapping[str, Json]]) -> Sequence[Mapping[str, Json]]:
        """The steps of a gemini that was asked for a stream; the same ones where it prints no other output."""
        if any("fill" in step or step.get("exit") or "signal" in step for step in steps):
            return steps
        outputs = enumerate(map(written, steps))
        printed = {index: output[1] for index, output in outputs if output is not None and output[0] == "stdout"}
        lines = self._lines(_object_in(b"".join(printed.values())))
        if not lines:
            return steps
        first, last = min(printed), max(printed)
        rest = lines if first == last else lines[1:]
        # The stream begins where the script first prints and ends where it last prints, so the waits between stay.
        streamed = {**dict.fromkeys(printed, ""), first: lines[0], last: "".join(rest)}
        return [{"stdout": streamed[index]} if index in streamed else step for index, step in enumerate(steps)]

    def _lines(self, answer: Mapping[str, Json]) -> list[str]:
        """The lines of a stream; none for what cannot be one."""
        keys = self.outcome.answer
        text, session, warnings = (answer.get(keys[name]) for name in ("text", "session", "warnings"))
        if not isinstance(text, str) or _holds(self.live.stripped, text) or answer.get(keys["error"]) is not None:
            return []
        told = cast("list[Json]", []) if warnings is None else warnings
        if not is_array(told) or not all(isinstance(warning, str) for warning in told):
            return []
        is_unasked = bool(self.outcome.asked) and inside(answer, *self.outcome.asked) == {} and not text
        half = len(text) // 2
        events = [
            *([("session", session)] if isinstance(session, str) and session else []),
            *(("text", part) for part in (text[:half], text[half:])),
            *(("warning", warning) for warning in told),
            ("unasked" if is_unasked else "end", None),
        ]
        return [json.dumps(event) + "\n" for kind, value in events for event in self._event(kind, value)]

    def _event(self, kind: str, value: Json) -> Iterator[Json]:
        rule = next((rule for rule in self.live.rules if rule.kind == kind), None)
        if rule is not None:
            yield {**rule.when, **({rule.value: value} if rule.value else {})}


@lru_cache(maxsize=64)
def _holds(pattern: str, text: str) -> bool:
    """Whether the pattern is found; a script is loaded again for every call beside its own."""
    return re.search(pattern, text) is not None


def _object_in(printed: bytes) -> Mapping[str, Json]:
    """The one object that is printed; an empty one where anything else is."""
    try:
        found: Json = json.loads(printed)
    except (ValueError, RecursionError):
        return {}
    return found if is_object(found) else {}
