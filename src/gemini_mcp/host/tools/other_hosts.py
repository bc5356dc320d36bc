"""What the model gets of each kind of result, here and in other hosts, from `other_hosts.json`. Reads files, once.

Gemini CLI's part comes from the rules of the profile, which the vectors compare with the program. What is said of
another host has its source and a date: that of the measurement, or of the day on which the source was read. What is
null has not been measured.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from gemini_mcp.host.rules.javascript import stringify
from gemini_mcp.host.tools import content
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, is_array

UNKNOWN = "unknown"


@dataclass(frozen=True)
class Cell:
    """What another host gives its model, who says so, and when."""

    says: str
    source: str
    date: str

    def to_json(self) -> JsonObject:
        return {"says": self.says, "source": self.source, "date": self.date}


@dataclass(frozen=True)
class Kind:
    """One kind of result: an example, and what each host makes of it."""

    name: str
    example: JsonObject
    cells: Mapping[str, Cell | None]

    def parts(self, rules: Rules) -> Json:
        """What Gemini CLI gives the model of the example."""
        rendered = content.render("tool", {}, self.example, rules)
        return content.model_parts("mcp_server_tool", "call-1", rendered, rules, is_nesting=True)


@cache
def kinds() -> Sequence[Kind]:
    """Every kind, in the order of the table."""
    file = resources.files("gemini_mcp.host.tools").joinpath("other_hosts.json")
    return tuple(_kind(one) for one in json.loads(file.read_bytes())["kinds"])


def _kind(one: Json) -> Kind:
    return Kind(one["kind"], one["result"], {host: cell and Cell(**cell) for host, cell in one["hosts"].items()})


def table(rules: Rules) -> Iterator[str]:
    """The table in Markdown; the sources stand below it, numbered."""
    hosts = list(kinds()[0].cells)
    sources: dict[str, int] = {}
    yield f"| result | Gemini CLI | {' | '.join(hosts)} |"
    yield "|---" * (len(hosts) + 2) + "|"
    for kind in kinds():
        told = [_told(cell, sources) for cell in kind.cells.values()]
        yield f"| {kind.name} | `{stringify(_response(kind.parts(rules)))}` | {' | '.join(told)} |"
    yield ""
    yield from (f"{number}. {source}" for source, number in sources.items())


def _told(cell: Cell | None, sources: dict[str, int]) -> str:
    if cell is None:
        return UNKNOWN
    number = sources.setdefault(f"{cell.date}: {cell.source}", len(sources) + 1)
    return f"{cell.says} [{number}]"


def _response(parts: Json) -> Json:
    """The parts without what is the same in all of them."""
    return [
        {key: value for key, value in part["functionResponse"].items() if key not in ("id", "name")}
        if "functionResponse" in part
        else part
        for part in (parts if is_array(parts) else [parts])
    ]
