"""What the reference makes of a call and of an exit code: documents of a specification in, JSON out. Pure.

The one module of the gate that asks the reference. What a template or a sentence means is decided there, not here.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from gemini_mcp.call.invocation import plan
from gemini_mcp.call.outcome import Completed, Failure, failure_result, newest_session
from gemini_mcp.call.redaction import Secrets
from gemini_mcp.errors import CallerError
from gemini_mcp.spec import ToolSpec
from gemini_mcp.spec.templates import invocation_spec
from gemini_mcp.spec.values import Json
from gemini_mcp.spec.wording import outcome_spec

Planner: TypeAlias = Callable[[str, Json, Mapping[str, Json]], Json]


def planner(invocation: Json) -> Planner:
    """What `invocation.json` makes of a tool's name, its schema and the arguments of a call.

    The command line with its files, environment and stdin; the name of a refusal; or None for a call that is not valid.
    """
    spec = invocation_spec(invocation)
    refusals = {entry["sentence"]: name for name, entry in invocation["refusals"].items()}

    def planned(tool: str, schema: Json, arguments: Mapping[str, Json]) -> Json:
        try:
            made = plan(ToolSpec(tool, {"inputSchema": schema}), arguments, spec)
        except CallerError as error:
            return {"refused": refusals[error.sentence]} if error.sentence in refusals else None
        held = {"stdin": made.stdin, "files": {**made.files}, "env": {**made.env}, "cwd": made.cwd}
        return {"argv": [spec.program, *made.argv], **{key: value for key, value in held.items() if value}}

    return planned


def listed_session(entry: str, listing: str) -> str | None:
    """The session that a list of sessions names as the newest, by the pattern of its entries."""
    return newest_session(Completed(0, listing, ""), entry)


def masked(masks: Sequence[Json], text: str) -> str:
    """A text behind masks."""
    for mask in masks:
        text = re.sub(str(mask), "*", text)
    return text


def sentences_by_exit(outcome: Json, stderr: str = "") -> Mapping[int | None, str | None]:
    """The id of the sentence that `outcome.json` chooses for each exit code of a gemini that wrote just this."""
    spec = outcome_spec(outcome)
    named = tuple(replace(sentence, text=sentence.id) for sentence in spec.sentences)
    spec = replace(spec, prefix="", separator="\n", sentences=named)

    def said(code: int) -> str | None:
        try:
            failure = Failure("exit", stderr=stderr, exit=code)
            return failure_result(failure, spec, Secrets())["content"][0]["text"].partition("\n")[0]
        except StopIteration:
            return None

    return {code: said(code) for code in range(1, 256)}
