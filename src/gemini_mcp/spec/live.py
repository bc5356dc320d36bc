"""The variant of `live.json` as frozen records, and what it makes of the templates: JSON in, records out. Pure.

It says how gemini is run so that it tells what it does. Only what `live.json` can say belongs here; `stream.py` reads
by it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gemini_mcp.spec.templates import Element, InvocationSpec
from gemini_mcp.spec.values import Json


@dataclass(frozen=True)
class EventRule:
    """What a line means that holds an object like `when`."""

    kind: str
    when: Mapping[str, Json]
    value: str | None


@dataclass(frozen=True)
class LiveSpec:
    """The whole of `live.json`. `said_session` and `said_text` are added to the sentence about a timeout."""

    replaced: tuple[str, ...]
    by: tuple[str, ...]
    rules: tuple[EventRule, ...]
    stripped: str
    max_characters: int
    seconds: float
    session: str
    tool: str
    said_session: str
    said_text: str


def live_spec(document: Json) -> LiveSpec:
    """Read the content of `live.json`; `KeyError` or `TypeError` when it is not one."""
    argv, progress, timed_out = document["argv"], document["progress"], document["timedOut"]
    return LiveSpec(
        replaced=tuple(argv["replace"]),
        by=tuple(argv["by"]),
        rules=tuple(EventRule(rule["is"], rule["when"], rule.get("value")) for rule in document["events"]),
        stripped=document["stripped"],
        max_characters=progress["maxCharacters"],
        seconds=float(progress["seconds"]),
        session=progress["session"],
        tool=progress["tool"],
        said_session=timed_out["session"],
        said_text=timed_out["text"],
    )


def offered(live: LiveSpec | None, invocation: InvocationSpec) -> LiveSpec | None:
    """The variant, where every tool is run with what it replaces; where one is not, the specification offers none."""
    is_fit = live is not None and all(_replaced(each.argv, live) != each.argv for each in invocation.tools.values())
    return live if is_fit else None


def told_live(invocation: InvocationSpec, live: LiveSpec) -> InvocationSpec:
    """The templates by which gemini tells what it does."""
    tools = {
        name: replace(template, argv=_replaced(template.argv, live)) for name, template in invocation.tools.items()
    }
    return replace(invocation, tools=tools)


def _replaced(argv: tuple[Element, ...], live: LiveSpec) -> tuple[Element, ...]:
    size = len(live.replaced)
    starts = (start for start in range(len(argv)) if argv[start : start + size] == live.replaced)
    start = next(starts, None)
    return argv if start is None else (*argv[:start], *live.by, *argv[start + size :])
