"""Live lines: translates the options of a live run back to the specified ones, so that both can be compared. Pure.

Only the options that `live.json` replaces are translated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from gemini_mcp.gemini_cli.understanding import Other, Understood, UsageError, understand
from gemini_mcp.gemini_cli.yargs import Value
from gemini_mcp.spec.live import LiveSpec


def without_live(understood: Understood | UsageError | Other, live: LiveSpec | None) -> Understood | UsageError | Other:
    """What gemini would have understood if it were not to tell what it does."""
    if live is None or not isinstance(understood, Understood):
        return understood
    said, specified = _values(live.by), _values(live.replaced)
    is_live = [name for name, value in said.items() if name in specified and understood.values.get(name) == value]
    if not is_live:
        return understood
    return replace(understood, values={**understood.values, **{name: specified[name] for name in is_live}})


@cache
def _values(line: tuple[str, ...]) -> Mapping[str, Value]:
    understood = understand(line)
    return understood.values if isinstance(understood, Understood) else {}
