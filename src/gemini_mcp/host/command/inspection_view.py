"""An inspection as text for a terminal, and as a page of HTML. Pure."""

import html
from collections.abc import Iterable, Sequence

from gemini_mcp.host.command.inspection import Inspection
from gemini_mcp.host.command.remark import Remark

_STYLE = (
    "body{font:15px/1.5 system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}"
    "table{border-collapse:collapse}td,th{border:1px solid #bbb;padding:.2rem .6rem;text-align:left}"
    "pre{background:#f4f4f4;padding:.6rem;overflow:auto}.lost{color:#a00;font-weight:600}"
)


SHOWN_SUBJECTS = 4
"""Tools that the text names in a remark; the page and the JSON name all."""


def text(inspections: Sequence[Inspection], is_verbose: bool = False) -> str:
    """The inspections as text; the changes of schemas only where they are asked for."""
    return "\n".join(line for inspection in inspections for line in _text(inspection, is_verbose)) + "\n"


def page(inspections: Sequence[Inspection]) -> str:
    """The inspections as HTML."""
    title = html.escape(f"{inspections[0].server} as Gemini CLI sees it")
    body = "".join(_section(inspection) for inspection in inspections)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{_STYLE}</style></head><body><h1>{title}</h1>{body}</body></html>\n"
    )


def _text(inspection: Inspection, is_verbose: bool) -> Iterable[str]:
    head = f"{inspection.server} in the {inspection.profile} profile: {inspection.status}"
    yield f"{head}, {len(inspection.tools)} tool{'' if len(inspection.tools) == 1 else 's'}"
    for tool in inspection.tools:
        spent = f"  ({tool.cost})" if is_verbose else ""
        yield f"  {tool.original} → {tool.registered or '(lost)'}{spent}"
        if is_verbose:
            yield from (f"      {line}" for line in tool.diff.splitlines()[2:])
    for remark in inspection.remarks:
        yield f"  {'✗' if remark.is_loss else '!'} {remark.kind}: {_about(remark)}: {remark.sentence}"
    if not inspection.remarks:
        yield "  nothing to report"
    if inspection.tools:
        yield f"  every request carries {inspection.cost} of it; of all servers {inspection.all_costs}"
    yield ""


def _about(remark: Remark) -> str:
    """What a remark is about, the first few by name."""
    more = len(remark.subjects) - SHOWN_SUBJECTS
    return ", ".join(remark.subjects[:SHOWN_SUBJECTS]) + (f" and {more} more" if more > 0 else "")


def _section(inspection: Inspection) -> str:
    rows = "".join(
        f"<tr><td><code>{html.escape(tool.original)}</code></td>"
        f"<td><code>{html.escape(tool.registered or '(lost)')}</code></td></tr>"
        for tool in inspection.tools
    )
    remarks = "".join(
        f'<li class="{"lost" if remark.is_loss else "noted"}"><b>{html.escape(remark.kind)}</b> '
        f"<code>{html.escape(', '.join(remark.subjects))}</code>: {html.escape(remark.sentence)}</li>"
        for remark in inspection.remarks
    )
    diffs = "".join(
        f"<details><summary><code>{html.escape(tool.original)}</code></summary><pre>{html.escape(tool.diff)}</pre></details>"
        for tool in inspection.tools
        if tool.diff
    )
    return (
        f"<h2>{inspection.profile} profile: {inspection.status}</h2>"
        f"<table><tr><th>offered</th><th>registered</th></tr>{rows}</table>"
        f"<h3>Findings</h3><ul>{remarks or '<li>nothing to report</li>'}</ul>"
        f"<h3>Schemas</h3>{diffs or '<p>unchanged</p>'}"
    )
