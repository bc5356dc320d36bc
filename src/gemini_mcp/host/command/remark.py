"""What the author of a server should know, as remarks; and those about its texts and what they cost. Pure.

Remarks about lists, tools and names are in `inspection`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from gemini_mcp.host.servers.discovery import Found
from gemini_mcp.host.tools import hidden
from gemini_mcp.host.tools.budget import MOST_DECLARATIONS, Cost
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject


@dataclass(frozen=True)
class Remark:
    """One thing the author should know, and the tools or the server that it is about."""

    kind: str
    subjects: tuple[str, ...]
    sentence: str
    is_loss: bool = False

    def to_json(self) -> JsonObject:
        return {
            "kind": self.kind,
            "subjects": list(self.subjects),
            "sentence": self.sentence,
            "isLoss": self.is_loss,
        }


def merged(remarks: Iterable[Remark]) -> tuple[Remark, ...]:
    """The remarks, with what is said of several tools said once."""
    found: dict[tuple[str, str, bool], Remark] = {}
    for remark in remarks:
        key = (remark.kind, remark.sentence, remark.is_loss)
        before = found[key].subjects if key in found else ()
        found[key] = replace(remark, subjects=(*before, *remark.subjects))
    return tuple(found.values())


def hidden_remarks(server: str, instructions: str, found: Found, rules: Rules) -> Iterator[Remark]:
    """Text that its reader should look at: what is not seen, and what orders a model about."""
    own = {tool.name for tool in found.tools}
    foreign = frozenset(rules.builtin_tools) - own
    seen: list[tuple[str, Json]] = [
        (tool.name, {"name": tool.name, "description": tool.description, "inputSchema": tool.schema})
        for tool in found.tools
    ]
    seen += [(prompt.name, {"description": prompt.description}) for prompt in found.prompts]
    seen += [(server, {"instructions": instructions})]
    for about, value in seen:
        for place, text in hidden.texts(value):
            points = hidden.invisible(text)
            if points:
                yield Remark(
                    "hidden-text", (about,), f"`{place}` has characters that nobody sees: {', '.join(points)}."
                )
            order = hidden.orders(text, foreign)
            if order is not None:
                yield Remark("order", (about,), f"`{place}` tells the model what to do beyond this tool: {order!r}.")


def budget_remarks(server: str, spent: Cost, builtins: int, budget: int | None) -> Iterator[Remark]:
    declarations = spent.declarations + builtins
    if declarations > MOST_DECLARATIONS:
        sentence = f"all servers make {declarations} declarations, and a request takes {MOST_DECLARATIONS}."
        yield Remark("too-many", (server,), sentence, is_loss=True)
    if budget is not None and spent.tokens > budget:
        sentence = f"the tools of all servers take {spent}, and the budget is {budget}."
        yield Remark("budget", (server,), sentence, is_loss=True)
