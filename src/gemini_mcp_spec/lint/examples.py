"""Rules about cases and scenarios: they say what the other files make of their calls. Pure.

A rule that plays an example belongs here; one that only reads it is in `calls`.
"""

from collections.abc import Iterator, Mapping

from gemini_mcp.report.positions import Path
from gemini_mcp.report.values import shown, shown_beside
from gemini_mcp.schema.inline import canonical
from gemini_mcp.spec import expanded_requirements
from gemini_mcp.spec.families import Subject
from gemini_mcp.spec.values import ABSENT, Json, inside, items, table, texts_in
from gemini_mcp_spec.files.requirements import Placed, written
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.tools import INVOCATION, LIVE, OUTCOME
from gemini_mcp_spec.lint.complaint import Complaint
from gemini_mcp_spec.reference.expectation import (
    contradictions,
    has_keys_of,
    scripts_of,
    server_of,
    stream_contradiction,
    untold,
)

_FOLDERS = ("server/cases", "server/scenarios")
_LONGEST = 160


def example_contradicts(spec: SpecFiles) -> Iterator[Complaint]:
    """A case or a scenario says what `invocation.json` and `outcome.json` make of its calls."""
    server, scripts = server_of(spec), scripts_of(spec)
    for file, example in _examples(spec) if server else ():
        for found in (server and contradictions(server, scripts, example)) or ():
            made, said = _short(found.made, found.said), _short(found.said, found.made)
            message = f"{_place(spec, found.file, found.made)} makes {made} of it, and not {said}."
            yield Complaint(file, found.path, message)


def stream_contradicts(spec: SpecFiles) -> Iterator[Complaint]:
    """A stream becomes what the same run becomes without one, and streams hold what the events are told with."""
    server, streams = server_of(spec), spec.folder("server/streams")
    if server is None:
        return
    for file, stream in streams.items():
        if not has_keys_of(server, stream):
            # Gemini printed it before it had the keys that `outcome.json` reads now.
            continue
        if found := stream_contradiction(server, stream):
            made, said = _short(found.made, found.said), _short(found.said, found.made)
            yield Complaint(file, found.path, f"`{LIVE}` makes {made} of the stream, and {said} becomes of this.")
    for index in untold(server, streams.values()):
        message = "No line of a stream that tells this event has this key."
        yield Complaint(LIVE, ("events", index, "value"), message)


def _examples(spec: SpecFiles) -> Iterator[tuple[str, Mapping[str, Json]]]:
    for folder in _FOLDERS:
        yield from ((file, table(example)) for file, example in spec.folder(folder).items())


def _short(value: Json, other: Json) -> str:
    is_nothing = value is ABSENT or (value is None and other is not ABSENT)
    return "nothing" if is_nothing else shown_beside(value, other, _LONGEST)


def _place(spec: SpecFiles, file: str, made: Json) -> str:
    """The file that decides, with the line of the sentence where it is one that is said."""
    said = " ".join(texts_in(made))
    sentences: list[tuple[str, Path, Json]] = [
        *((INVOCATION, ("refusals", name), one) for name, one in spec.objects(INVOCATION, "refusals").items()),
        *((OUTCOME, ("sentences", index), one) for index, one in enumerate(spec.entries(OUTCOME, "sentences"))),
    ]
    for other, path, entry in sentences:
        # The longest piece between fields: fields are filled in what is said.
        longest = max(str(entry.get("sentence")).replace("}", "{").split("{")[::2], key=len)
        if longest in said and len(longest) > 1:
            return f"`{other}`, line {spec.position(other, (*path, 'sentence')).line},"
    return f"`{file}`"


def example_twice(spec: SpecFiles) -> Iterator[Complaint]:
    """No two cases say different things of the same call and outcome."""
    first: dict[str, tuple[str, str]] = {}
    for file, case in spec.folder(_FOLDERS[0]).items():
        if "wording" in table(case) or not table(case).get("call"):
            continue
        given, said = (
            canonical([table(case).get(key) for key in keys])
            for keys in (("call", "outcome", "listing"), ("invocation", "result", "error"))
        )
        other, known = first.setdefault(given, (file, said))
        if said != known:
            yield Complaint(file, (), f"`{other}` says something else of the same call.")


def example_requirement(spec: SpecFiles) -> Iterator[Complaint]:
    """A case or a scenario shows requirements on the tools that it calls and the exit codes that it gives."""
    subjects = _subjects(spec)
    for file, example in _examples(spec):
        steps = [example, *map(table, items(example.get("steps")))]
        called = {str(inside(step, "call", "name")) for step in steps if "call" in step}
        exits = {str(inside(step, "outcome", "exit")) for step in steps} | set(_exits(spec, steps))
        for index, name in enumerate(items(example.get("requirements"))):
            if name not in subjects:
                continue
            entry, subject = subjects[name]
            tool, code = subject.get("tool", ""), subject.get("exit", "")
            wrong = f"the tool `{tool}`" if tool and "`" not in tool and tool not in called else ""
            wrong = f"the exit code {code}" if code and "`" not in code and code not in exits else wrong
            if wrong:
                line = spec.position(*entry[:2]).line
                message = (
                    f"`{entry[0]}`, line {line}, speaks of {wrong} in {shown(name)}, which this example does not show."
                )
                yield Complaint(file, ("requirements", index), message)


def _subjects(spec: SpecFiles) -> Mapping[str, tuple[Placed, Subject]]:
    """Every requirement of a family with what it is about."""
    entries, server = written(spec), server_of(spec)
    if server is None:
        return {}
    try:
        expanded = expanded_requirements([entry for _, _, entry in entries], server)
        return {entry["id"]: (entries[number], subject) for number, entry, subject in expanded}
    except (AttributeError, LookupError, TypeError, ValueError):
        return {}


def _exits(spec: SpecFiles, steps: list[Mapping[str, Json]]) -> Iterator[str]:
    """The exit codes of the scripts of some steps."""
    scripts = scripts_of(spec)
    for step in steps:
        script = step.get("script")
        script = scripts.get(script) if isinstance(script, str) else script
        yield from (str(table(one)["exit"]) for one in items(table(script).get("play")) if "exit" in table(one))
