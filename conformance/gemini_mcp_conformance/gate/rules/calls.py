"""Rules about calls: what cases and scenarios send is valid, what they expect is valid, and scripts play. Pure.

A rule about one call, or about the steps around it, belongs here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as Folder

from gemini_mcp_conformance.gate.findings import Finding, Rule
from gemini_mcp_conformance.gate.positions import Json, Path, is_array, is_object
from gemini_mcp_conformance.gate.rules.server import tools
from gemini_mcp_conformance.gate.spec_files import SpecFiles
from gemini_mcp_conformance.gate.validation import Validator, complaints, schema_complaint, validator
from gemini_mcp_conformance.play.fake.script import ScriptError, to_shell


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
        if is_object(case) and is_object(case.get("call")):
            yield _call(file, (), case, case.get("invocation") is not None)
    for file, path, step in steps(spec):
        if is_object(step.get("call")):
            yield _call(file, path, step, step.get("script") is not None)


def steps(spec: SpecFiles) -> Iterator[tuple[str, Path, Mapping[str, Json]]]:
    """Every step of every scenario, with its file and path."""
    for file in spec.folder("server/scenarios"):
        for index, step in enumerate(spec.entries(file, "steps")):
            if is_object(step):
                yield file, ("steps", index), step


def expanded(value: Json) -> Json:
    """`value` with every abbreviated text written out."""
    if is_object(value):
        if set(value) == {"repeat", "times"}:
            return value["repeat"] * value["times"]
        return {key: expanded(inner) for key, inner in value.items()}
    return [expanded(inner) for inner in value] if is_array(value) else value


def _call(file: str, path: Path, holder: Mapping[str, Json], starts: bool) -> Call:
    call = holder["call"]
    arguments = expanded(call.get("arguments", {}))
    return Call(file, path, str(call.get("name")), arguments, starts, expanded(holder.get("result")))


def call_tool(spec: SpecFiles) -> Iterator[Finding]:
    """A call that starts something names a tool that exists."""
    known = tools(spec)
    for call in calls(spec):
        if call.starts and call.name not in known:
            message = f"There is no tool `{call.name}`, so nothing can start."
            yield Finding("call-tool", call.file, (*call.path, "call", "name"), message, "Name a tool that exists.")


def call_arguments(spec: SpecFiles) -> Iterator[Finding]:
    """The arguments of a call that starts something are valid against the tool's schema."""
    validators = {
        name: validator(schema) for name, (_, schema) in tools(spec).items() if schema_complaint(schema) is None
    }
    for call in calls(spec):
        if not call.starts or call.name not in validators:
            continue
        for complaint in complaints(validators[call.name], call.arguments):
            path = (*call.path, "call", "arguments", *complaint.path)
            message = f"`{call.name}` does not allow this: {complaint.message}."
            yield Finding("call-arguments", call.file, path, message, "Correct the arguments, or let nothing start.")


def call_result(spec: SpecFiles) -> Iterator[Finding]:
    """A result is valid against the schema of a success or of an error."""
    validators = {name: found for name in ("success", "error") if (found := _result_validator(spec, name))}
    for call in calls(spec):
        if not is_object(call.result):
            continue
        kind = "error" if call.result.get("isError") else "success"
        for complaint in complaints(validators[kind], call.result) if kind in validators else ():
            message = f"This is no {kind}: {complaint.message}."
            path = (*call.path, "result", *complaint.path)
            yield Finding(
                "call-result", call.file, path, message, f"`server/results/{kind}.schema.json` says what it is."
            )


def _result_validator(spec: SpecFiles, name: str) -> Validator | None:
    schema = spec.documents.get(f"server/results/{name}.schema.json")
    return validator(schema) if is_object(schema) and schema_complaint(schema) is None else None


def script_exists(spec: SpecFiles) -> Iterator[Finding]:
    """A script that a scenario names is there."""
    for file, path, step in steps(spec):
        name = step.get("script")
        if isinstance(name, str) and f"server/scripts/{name}.json" not in spec.files:
            message = f"There is no script {name!r}."
            yield Finding("script-exists", file, (*path, "script"), message, "Name one of `server/scripts`.")


def script_plays(spec: SpecFiles) -> Iterator[Finding]:
    """The fake gemini can play every script, those inside scenarios included."""
    scripts = [(file, (), script) for file, script in spec.folder("server/scripts").items()]
    scripts += [(file, (*path, "script"), step["script"]) for file, path, step in steps(spec) if step.get("script")]
    for file, path, script in scripts:
        for key in ("play", "listSessions"):
            if is_object(script) and (wrong := _unplayable(script.get(key))):
                yield Finding("script-plays", file, (*path, key), wrong, "Write steps that the fake knows.")


def _unplayable(play: Json) -> str | None:
    if play is None:
        return None
    try:
        to_shell(play, Folder("files"), Folder("releases"))
    except ScriptError as error:
        return str(error)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        return f"The script cannot be played: {error}."
    return None


def step_name(spec: SpecFiles) -> Iterator[Finding]:
    """A step cancels an earlier step of the same scenario, and releases what one of its scripts waits for."""
    known: dict[str, set[str]] = {}
    for file, path, step in steps(spec):
        ids = known.setdefault(file, set())
        if isinstance(step.get("cancel"), str) and step["cancel"] not in ids:
            message = f"No earlier step is named {step['cancel']!r}."
            yield Finding("step-name", file, (*path, "cancel"), message, "Name an earlier step.")
        if isinstance(step.get("release"), str) and step["release"] not in _releases(spec, file):
            message = f"No script of this scenario waits for {step['release']!r}."
            yield Finding("step-name", file, (*path, "release"), message, "Name what a script releases.")
        if isinstance(step.get("id"), str):
            if step["id"] in ids:
                message = f"An earlier step is named {step['id']!r} already."
                yield Finding("step-name", file, (*path, "id"), message, "Give it another id.")
            ids.add(step["id"])


def _releases(spec: SpecFiles, file: str) -> set[str]:
    scenario = spec.documents[file]
    scripts = [step.get("script") for step in scenario["steps"] if is_object(step)]
    named = [spec.documents.get(f"server/scripts/{name}.json") if isinstance(name, str) else name for name in scripts]
    played = [step for script in named if is_object(script) for step in script.get("play", [])]
    return {step["release"] for step in played if is_object(step) and "release" in step}


RULES: Mapping[str, Rule] = {
    "call-tool": call_tool,
    "call-arguments": call_arguments,
    "call-result": call_result,
    "script-exists": script_exists,
    "script-plays": script_plays,
    "step-name": step_name,
}
