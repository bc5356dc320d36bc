"""What the author of a server should know, as remarks; and those about its texts and what they cost. Pure.

Remarks about lists, tools and names are in `inspection`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from gemini_mcp.host.servers.discovery import Found
from gemini_mcp.host.tools import hidden, limits
from gemini_mcp.host.tools.budget import Cost
from gemini_mcp.host.tools.likeness import likenesses
from gemini_mcp.host.tools.limits import NEAR, Limit
from gemini_mcp.host.tools.registry import OfferedTool
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
    """What is too much for a request, or for the budget."""
    declarations, most = spent.declarations + builtins, limits.DECLARATIONS.most
    if declarations > most:
        sentence = f"all servers make {declarations} declarations, and a request takes {most}."
        yield Remark("too-many", (server,), sentence, is_loss=True)
    elif limits.DECLARATIONS.is_near(declarations):
        yield Remark("near-limit", (server,), f"all servers make {declarations} of {most} declarations.")
    if budget is not None and spent.tokens > budget:
        sentence = f"the tools of all servers take {spent}, and the budget is {budget}."
        yield Remark("budget", (server,), sentence, is_loss=True)


def limit_remarks(server: str, tools: Sequence[tuple[str, str, Json]], rules: Rules) -> Iterator[Remark]:
    """Names, enumerations and arrays near their limits; the tools by own name, registered name and declared schema."""
    for name, registered, _ in tools:
        if NEAR * rules.name_limit <= len(registered) <= rules.name_limit:
            sentence = f"the registered name has {len(registered)} of {rules.name_limit} characters."
            yield Remark("near-limit", (name,), sentence)
    sizes = {name: limits.enum_sizes(schema) for name, _, schema in tools}
    for name, found in sizes.items():
        if found and limits.ENUM_VALUES.is_near(max(found)):
            sentence = f"an enumeration has {max(found)} values; {_measured(limits.ENUM_VALUES)}."
            yield Remark("near-limit", (name,), sentence)
    total = sum(map(sum, sizes.values()))
    if limits.ALL_ENUM_VALUES.is_near(total):
        sentence = f"its enumerations have {total} values together; {_measured(limits.ALL_ENUM_VALUES)}."
        yield Remark("near-limit", (server,), sentence)
    for name, _, schema in tools:
        if limits.ARRAY_ITEMS.is_near(sum_of_items := limits.array_items(schema)):
            sentence = f"its `maxItems` are {sum_of_items} together; {_measured(limits.ARRAY_ITEMS)}."
            yield Remark("near-limit", (name,), sentence)


def _measured(limit: Limit) -> str:
    return f"the API names no limit, and was seen to refuse more than {limit.most} ({limit.source})"


def likeness_remarks(own: Sequence[OfferedTool], others: Sequence[OfferedTool]) -> Iterator[Remark]:
    """Tools that a model may take for each other."""
    for found in likenesses(own, others):
        other = found.other
        named = f"{other.name!r}" + (f" of server {other.server!r}" if other.server != found.one.server else "")
        if found.is_by_name:
            yield Remark("alike", (found.one.name,), f"the name differs from {named} in its spelling only.")
        else:
            sentence = f"it seems to do what {named} does: they share {found.share:.0%} of their words (an estimate)."
            yield Remark("alike", (found.one.name,), sentence)
