"""Streams: a script's answer as gemini prints it when it is asked to tell what it does; steps in, steps out; pure.

Only an answer that is one JSON object becomes a stream. What fails, is damaged or has company is played as it stands.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from gemini_mcp.spec.live import LiveSpec
from gemini_mcp.spec.values import Json, inside, is_array, is_object
from gemini_mcp.spec.wording import OutcomeSpec

STDOUT = ("stdout", "stdoutBase64")
"""The steps whose output may be an answer."""


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
        places = [index for index, step in enumerate(steps) if step.keys() & set(STDOUT)]
        is_plain = all("fill" not in step and not step.get("exit") and "signal" not in step for step in steps)
        lines = self._lines(_answer_in(steps, places)) if places and is_plain else []
        if not lines:
            return steps
        printed = {index: {"stdout": ""} for index in places}
        printed[places[0]] = {"stdout": lines[0]}
        printed[places[-1]] = {"stdout": "".join(lines if len(places) == 1 else lines[1:])}
        return [printed.get(index, step) for index, step in enumerate(steps)]

    def _lines(self, answer: Mapping[str, Json]) -> list[str]:
        """The lines of a stream; none for what cannot be one."""
        keys = self.outcome.answer
        text, session, warnings = (answer.get(keys[name]) for name in ("text", "session", "warnings"))
        if not isinstance(text, str) or re.search(self.live.stripped, text) or answer.get(keys["error"]) is not None:
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


def _answer_in(steps: Sequence[Mapping[str, Json]], places: Sequence[int]) -> Mapping[str, Json]:
    """The one object that the steps print; an empty one where they print anything else."""
    try:
        found: Json = json.loads(b"".join(_bytes(steps[index]) for index in places))
    except (ValueError, RecursionError):
        return {}
    return found if is_object(found) else {}


def _bytes(step: Mapping[str, Json]) -> bytes:
    if "stdoutBase64" in step:
        return base64.b64decode(step["stdoutBase64"])
    text = step["stdout"]
    return (text["repeat"] * text["times"] if is_object(text) else str(text)).encode()
