"""Listing: the tools that a port has listed in a conversation, page by page; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gemini_mcp.spec.values import Json, inside, items, table
from gemini_mcp_conformance.see.memo import remembered
from gemini_mcp_conformance.see.observation import Exchange, Observation


@remembered
def lists(observation: Observation) -> list[list[Exchange]]:
    """Each list that was asked for, as its pages."""
    found: list[list[Exchange]] = []
    for exchange in observation.exchanges:
        if exchange.method != "tools/list":
            continue
        cursor = exchange.params.get("cursor")
        if cursor is None:
            found.append([exchange])
        elif (begun := next((pages for pages in found if _next(pages) == cursor), None)) is not None:
            begun.append(exchange)
    return found


@remembered
def whole_lists(observation: Observation) -> list[list[Mapping[str, Json]]]:
    """The tools of each list of which all pages were answered."""
    whole = [pages for pages in lists(observation) if pages[-1].result is not None and _next(pages) is None]
    return [tools_on(pages) for pages in whole]


def tools_on(pages: Iterable[Exchange]) -> list[Mapping[str, Json]]:
    return [table(tool) for page in pages for tool in items(inside(page.result, "tools"))]


def lists_all(observation: Observation) -> bool:
    """Whether it is known what the port offers: all pages of a list were answered, or no list was answered at all."""
    found = lists(observation)
    # A port that answers no list offers no tools. One whose later page is lost may offer more than was seen.
    return bool(whole_lists(observation)) or (bool(found) and all(pages[0].result is None for pages in found))


def tools(observation: Observation) -> list[Mapping[str, Json]]:
    found = whole_lists(observation)
    return found[0] if found else []


def _next(pages: list[Exchange]) -> Json:
    return inside(pages[-1].result, "nextCursor")


def tool(observation: Observation, name: str) -> Mapping[str, Json] | None:
    return next((tool for tool in tools(observation) if tool.get("name") == name), None)


def is_foreign(observation: Observation) -> bool:
    """Whether the port offers tools, and none of those that the specification names."""
    names = {str(tool.get("name")) for tool in tools(observation)}
    return bool(names) and names.isdisjoint(observation.spec.tools)
