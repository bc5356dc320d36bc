"""Filters: the controls of a page that choose rows by level, verdict and words. Pure.

They appear when the script of the page runs; without it every row is shown. The script reads `data-level` and
`data-verdict` of every element with `data-row`.
"""

from collections.abc import Iterable

from gemini_mcp_conformance.judge.judgement import LEVELS, VERDICTS
from gemini_mcp_conformance.tell.reports.markup import Markup, element


def controls(levels: Iterable[str], verdicts: Iterable[str]) -> Markup:
    """A search field and a box for each level and verdict that occurs."""
    occurring_levels, occurring_verdicts = set(levels), set(verdicts)
    return element(
        "form",
        element("label", "Search ", element("input", type="search", id="search", autocomplete="off")),
        _boxes("Level", "level", (level for level in LEVELS if level in occurring_levels)),
        _boxes("Verdict", "verdict", (verdict for verdict in VERDICTS if verdict in occurring_verdicts)),
        element("output", id="shown", role="status"),
        id="filters",
        role="search",
        hidden=True,
    )


def row_attributes(level: str, verdicts: Iterable[str]) -> dict[str, str | bool]:
    """What makes an element a row that the controls show or hide."""
    return {"data_row": True, "data_level": level, "data_verdict": " ".join(verdicts)}


def _boxes(legend: str, name: str, values: Iterable[str]) -> Markup:
    boxes = (
        element("label", element("input", type="checkbox", name=name, value=value, checked=True), value)
        for value in values
    )
    return element("fieldset", element("legend", legend), *boxes)
