"""Rules about calls: what cases and scenarios send is valid, what they expect is valid, and scripts play. Pure.

A rule about one call, or about the steps around it, belongs here.
"""

import base64
from collections.abc import Iterator, Mapping

from gemini_mcp.report.positions import Path
from gemini_mcp.report.values import shown
from gemini_mcp.schema.validation import Validator, schema_violation, validator, violations
from gemini_mcp.spec.values import Json, inside, is_object, items, table
from gemini_mcp_spec.files.examples import calls, steps
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.tools import tools
from gemini_mcp_spec.lint.complaint import Complaint, unknown


def call_tool(spec: SpecFiles) -> Iterator[Complaint]:
    """A call that starts something names a tool that exists."""
    named = ((call.file, (*call.path, "call", "name"), call.name) for call in calls(spec) if call.starts)
    return unknown(named, tools(spec), "There is no tool `{}`, so nothing can start.")


def call_arguments(spec: SpecFiles) -> Iterator[Complaint]:
    """The arguments of a call that starts something are valid against the tool's schema."""
    validators = {name: _validator(schema) for name, (_, schema) in tools(spec).items()}
    for call in calls(spec):
        known = validators.get(call.name) if call.starts else None
        for violation in violations(known, call.arguments) if known else ():
            path = (*call.path, "call", "arguments", *violation.path)
            yield Complaint(call.file, path, f"`{call.name}` does not allow this: {violation.message}.")


def call_result(spec: SpecFiles) -> Iterator[Complaint]:
    """A result is valid against the schema of a success or of an error."""
    files = {kind: f"server/results/{kind}.schema.json" for kind in ("success", "error")}
    validators = {kind: _validator(spec.documents.get(file)) for kind, file in files.items()}
    for call in calls(spec):
        kind = "error" if table(call.result).get("isError") else "success"
        known = validators[kind] if is_object(call.result) else None
        for violation in violations(known, call.result) if known else ():
            path = (*call.path, "result", *violation.path)
            yield Complaint(call.file, path, f"This is no {kind}: {violation.message}.")


def _validator(schema: Json) -> Validator | None:
    return validator(schema) if is_object(schema) and schema_violation(schema) is None else None


def case_outcome(spec: SpecFiles) -> Iterator[Complaint]:
    """A case has an outcome when it has an invocation, and a listing only after exit code 0."""
    for file, case in spec.folder("server/cases").items():
        outcome = table(case).get("outcome")
        if (outcome is None) != (table(case).get("invocation") is None):
            yield Complaint(file, ("outcome",), "A case has either an invocation and an outcome, or neither.")
        elif "listing" in case and inside(outcome, "exit") != 0:
            message = "The sessions are listed after a gemini that did not exit with 0."
            yield Complaint(file, ("listing",), message, "Remove the listing, or correct the outcome.")


def script_exists(spec: SpecFiles) -> Iterator[Complaint]:
    """A script that a scenario names is there."""
    named = ((file, (*path, "script"), step.get("script")) for file, path, step in steps(spec))
    scripts = (one for one in named if isinstance(one[2], str))
    known = {file.rpartition("/")[2].removesuffix(".json") for file in spec.files if file.startswith("server/scripts/")}
    return unknown(scripts, known, "There is no script `{}`.")


def script_plays(spec: SpecFiles) -> Iterator[Complaint]:
    """Every step of a script, those inside scenarios included, is one that the script's schema lists."""
    branches = items(inside(spec.documents.get("meta/script.schema.json"), "$defs", "step", "oneOf"))
    kinds = {name: inner for branch in branches for name, inner in branch["properties"].items()}
    scripts = [(file, (), script) for file, script in spec.folder("server/scripts").items()]
    scripts += [(file, (*path, "script"), step["script"]) for file, path, step in steps(spec) if step.get("script")]
    for file, path, script in scripts:
        for key in ("play", "listSessions"):
            for index, step in enumerate(items(inside(script, key))):
                yield from _unplayable(file, (*path, key, index), table(step), kinds)


def _unplayable(file: str, path: Path, step: Mapping[str, Json], kinds: Mapping[str, Json]) -> Iterator[Complaint]:
    if len(step) != 1 or not step.keys() <= kinds.keys():
        message = f"The step {shown(step)} should have exactly one key of {', '.join(kinds)}."
        yield Complaint(file, path, message)
    for kind, value in step.items():
        if inside(kinds, kind, "contentEncoding") == "base64" and not _is_base64(value):
            yield Complaint(file, (*path, kind), f"{shown(value)} is no Base64.", "Encode the bytes again.")


def _is_base64(value: Json) -> bool:
    try:
        base64.b64decode(value, validate=True)
    except (TypeError, ValueError):
        return False
    return True


def step_name(spec: SpecFiles) -> Iterator[Complaint]:
    """A step cancels an earlier step of the same scenario, and releases what an earlier script waits for."""
    known: dict[str, set[str]] = {}
    waited: dict[str, set[str]] = {}
    for file, path, step in steps(spec):
        ids, releases = known.setdefault(file, set()), waited.setdefault(file, set())
        if isinstance(step.get("cancel"), str) and step["cancel"] not in ids:
            yield Complaint(file, (*path, "cancel"), f"No earlier step is named {shown(step['cancel'])}.")
        if isinstance(step.get("release"), str) and step["release"] not in releases:
            message = f"No earlier script of this scenario waits for {shown(step['release'])}."
            yield Complaint(file, (*path, "release"), message)
        if isinstance(step.get("id"), str):
            if step["id"] in ids:
                message = f"An earlier step is named {shown(step['id'])} already."
                yield Complaint(file, (*path, "id"), message, "Give it another id.")
            ids.add(step["id"])
        releases |= _releases(spec, step.get("script"))


def _releases(spec: SpecFiles, script: Json) -> set[str]:
    """The names that a script, or the script of that name, waits for."""
    script = spec.documents.get(f"server/scripts/{script}.json") if isinstance(script, str) else script
    return {step["release"] for step in items(inside(script, "play")) if "release" in table(step)}
