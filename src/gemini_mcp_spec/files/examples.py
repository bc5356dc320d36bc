"""The examples of a specification: their calls, steps and vectors. Pure.

Only what finds the parts of an example belongs here; what is demanded of them is a rule.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from gemini_mcp.report.positions import Path
from gemini_mcp.spec import written_out
from gemini_mcp.spec.values import Json, items, table
from gemini_mcp_spec.files.requirements import Entry, Placed
from gemini_mcp_spec.files.spec_files import SpecFiles


@dataclass(frozen=True)
class Call:
    """One call of a case or a scenario, whether it may start something, and what answers it."""

    file: str
    path: Path
    name: str
    arguments: Json
    starts: bool
    result: Json


def calls(spec: SpecFiles) -> Iterator[Call]:
    """Every call that cases and scenarios make."""
    for file, case in spec.folder("server/cases").items():
        if table(case).get("call"):
            yield _call(file, (), case, case.get("invocation") is not None)
    for file, path, step in steps(spec):
        if "call" in step:
            yield _call(file, path, step, step.get("script") is not None)


def steps(spec: SpecFiles) -> Iterator[Placed]:
    """Every step of every scenario, with its file and path."""
    for file in spec.folder("server/scenarios"):
        for index, step in enumerate(spec.entries(file, "steps")):
            yield file, ("steps", index), table(step)


def vectors(spec: SpecFiles) -> Iterator[Placed]:
    """Every vector of the host profile with its file and path."""
    for file, document in spec.folder("host/vectors").items():
        for index, entry in enumerate(items(document)):
            if entry := table(entry):
                yield file, (index,), entry


def _call(file: str, path: Path, holder: Entry, starts: bool) -> Call:
    call = table(holder["call"])
    arguments = written_out(call.get("arguments", {}))
    return Call(file, path, str(call.get("name")), arguments, starts, written_out(holder.get("result")))
