"""Rules about calls: what cases and scenarios send is valid, what they expect is valid, and scripts play. Pure.

A rule about one call, or about the steps around it, belongs here.
"""

import base64
from collections.abc import Iterator, Mapping

from gemini_mcp.spec.values import Json, inside, is_object, items, table
from gemini_mcp_spec.files.examples import calls, steps
from gemini_mcp_spec.files.positions import Path
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.tools import tools
from gemini_mcp_spec.lint.complaint import Complaint, Rule
from gemini_mcp_spec.schema.validation import Validator, schema_violation, validator, violations


def call_tool(spec: SpecFiles) -> Iterator[Complaint]:
    """A call that starts something names a tool that exists."""
    known = tools(spec)
    for call in calls(spec):
        if call.starts and call.name not in known:
            message = f"There is no tool `{call.name}`, so nothing can start."
            yield Complaint(call.file, (*call.path, "call", "name"), message, "Name a tool that exists.")


def call_arguments(spec: SpecFiles) -> Iterator[Complaint]:
    """The arguments of a call that starts something are valid against the tool's schema."""
    validators = {name: _validator(schema) for name, (_, schema) in tools(spec).items()}
    for call in calls(spec):
        known = validators.get(call.name) if call.starts else None
        for violation in violations(known, call.arguments) if known else ():
            path = (*call.path, "call", "arguments", *violation.path)
            message = f"`{call.name}` does not allow this: {violation.message}."
            yield Complaint(call.file, path, message, "Correct the arguments, or let nothing start.")


def call_result(spec: SpecFiles) -> Iterator[Complaint]:
    """A result is valid against the schema of a success or of an error."""
    files = {kind: f"server/results/{kind}.schema.json" for kind in ("success", "error")}
    validators = {kind: _validator(spec.documents.get(file)) for kind, file in files.items()}
    for call in calls(spec):
        kind = "error" if table(call.result).get("isError") else "success"
        known = validators[kind] if is_object(call.result) else None
        for violation in violations(known, call.result) if known else ():
            path = (*call.path, "result", *violation.path)
            message = f"This is no {kind}: {violation.message}."
            yield Complaint(call.file, path, message, f"`{files[kind]}` says what it is.")


def _validator(schema: Json) -> Validator | None:
    return validator(schema) if is_object(schema) and schema_violation(schema) is None else None


def case_outcome(spec: SpecFiles) -> Iterator[Complaint]:
    """A case has an outcome when it has an invocation, and a listing only after exit code 0."""
    for file, case in spec.folder("server/cases").items():
        outcome = table(case).get("outcome")
        if (outcome is None) != (table(case).get("invocation") is None):
            message = "A case has either an invocation and an outcome, or neither."
            yield Complaint(file, ("outcome",), message, "Add what is missing, or remove the other.")
        elif "listing" in case and inside(outcome, "exit") != 0:
            message = "The sessions are listed after a gemini that did not exit with 0."
            yield Complaint(file, ("listing",), message, "Remove the listing, or correct the outcome.")


def script_exists(spec: SpecFiles) -> Iterator[Complaint]:
    """A script that a scenario names is there."""
    for file, path, step in steps(spec):
        name = step.get("script")
        if isinstance(name, str) and f"server/scripts/{name}.json" not in spec.files:
            yield Complaint(file, (*path, "script"), f"There is no script {name!r}.", "Name one of `server/scripts`.")


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
        message = f"The step {step!r} should have exactly one key of {', '.join(kinds)}."
        yield Complaint(file, path, message, "Write steps that the fake knows.")
    for kind, value in step.items():
        if inside(kinds, kind, "contentEncoding") == "base64" and not _is_base64(value):
            yield Complaint(file, (*path, kind), f"{value!r} is no Base64.", "Encode the bytes again.")


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
            message = f"No earlier step is named {step['cancel']!r}."
            yield Complaint(file, (*path, "cancel"), message, "Name an earlier step.")
        if isinstance(step.get("release"), str) and step["release"] not in releases:
            message = f"No earlier script of this scenario waits for {step['release']!r}."
            yield Complaint(file, (*path, "release"), message, "Name what a script releases.")
        if isinstance(step.get("id"), str):
            if step["id"] in ids:
                message = f"An earlier step is named {step['id']!r} already."
                yield Complaint(file, (*path, "id"), message, "Give it another id.")
            ids.add(step["id"])
        releases |= _releases(spec, step.get("script"))


def _releases(spec: SpecFiles, script: Json) -> set[str]:
    """The names that a script, or the script of that name, waits for."""
    script = spec.documents.get(f"server/scripts/{script}.json") if isinstance(script, str) else script
    return {step["release"] for step in items(inside(script, "play")) if "release" in table(step)}


RULES: Mapping[str, Rule] = {
    "call-tool": call_tool,
    "call-arguments": call_arguments,
    "call-result": call_result,
    "case-outcome": case_outcome,
    "script-exists": script_exists,
    "script-plays": script_plays,
    "step-name": step_name,
}
