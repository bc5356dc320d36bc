"""Asks gemini itself, with one short prompt in the way that every call takes, and bounded. Effect: runs gemini."""

import asyncio
from dataclasses import replace
from time import monotonic

from gemini_mcp.call.calls import Calls
from gemini_mcp.call.progress import Progress
from gemini_mcp.operator.doctor.place import Diagnosis, Place
from gemini_mcp.spec.values import inside, items

PROMPT = "Answer with the single word OK."
PATIENCE = 60.0
"""Seconds that gemini gets at most."""


def check_answer(place: Place) -> Diagnosis:
    """Does gemini answer? It begins a session, which stays in the list of gemini's sessions."""
    options = replace(place.options, timeout=min(place.options.timeout, PATIENCE), expose_session="meta")
    templates = place.spec.invocation.tools
    tool = next((tool for tool in place.spec.tools if templates[tool.name].resumes is None), None)
    if tool is None:
        return Diagnosis(False, "no tool of this specification begins a session")
    arguments = dict.fromkeys(items(inside(tool.definition, "inputSchema", "required")), PROMPT)
    calls, began = Calls(place.spec, options, place.inherited), monotonic()
    result = asyncio.run(calls.call(tool.name, arguments, Progress(None)))
    said = str(inside(items(inside(result, "content"))[0], "text"))
    if inside(result, "isError"):
        sentence, _, stderr = said.partition(place.spec.outcome.separator)
        return Diagnosis(False, sentence.removeprefix(place.spec.outcome.prefix), _last_line(stderr))
    return Diagnosis(True, f"gemini answered {said.strip()[:40]!r} after {monotonic() - began:.1f} s")


def _last_line(stderr: str) -> str | None:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    return f"Its last words were: {lines[-1][:200]}" if lines else None
