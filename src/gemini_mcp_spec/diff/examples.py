"""Cases, scripts, scenarios and vectors compared. Pure.

What they expect is binding, what they say of themselves is not. An example that another call or another output shows is
asked of the old files: where these make the same of it, it demands nothing new. A new kind is one line in `_FREE`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from gemini_mcp.spec.values import ABSENT, Json, differing, is_array, is_object, items, table
from gemini_mcp_spec.diff.change import Change, change, one_sided
from gemini_mcp_spec.files.examples import vectors
from gemini_mcp_spec.files.requirements import Placed, requirements
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.reference.expectation import contradictions, scripts_of, server_of

Demand: TypeAlias = Callable[[str, Mapping[str, Json], Mapping[str, Json]], bool]
"""Whether the new one of two examples of a kind demands something that the old files do not."""

_FREE: Mapping[str, frozenset[str]] = {
    "server/cases": frozenset({"title", "requirements"}),
    "server/scripts": frozenset({"description", "observed"}),
    "server/scenarios": frozenset({"title", "requirements"}),
    "host/scenarios": frozenset({"title", "requirements", "source", "executed", "note"}),
    "host/vectors": frozenset({"title", "requirements", "source", "executed", "note"}),
}
"""What each kind of example may change without binding anybody otherwise."""

_BINDING = ("expected", "profile", "exception", "observed")
"""The keys of an example of hosts that say what is demanded, and of whom; all others say what the host is given."""
_PLAYED = ("call", "invocation", "outcome", "listing", "result", "error", "script")
"""What the files decide of a case or of a step."""
_WAITS = ("wait", "seconds")
_LIMIT = "withinSeconds"
"""What a scenario of hosts may take; more of it leaves those right that were."""


def example_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """Examples that came, went, expect something else or say something else."""
    levels = {entry["id"]: entry.get("level") for spec in (old, new) for _, _, entry in requirements(spec)}
    demands = _demand(old, new)
    for folder, free in _FREE.items():
        kind = folder.rpartition("/")[2].removesuffix("s")
        for _, before, after in differing(_examples(old, folder), _examples(new, folder)):
            named = tuple(items((after or before)[2].get("requirements"))) or tuple(_shown(new, (after or before)[0]))
            # An example that names no requirement binds like a MUST.
            binds = "changed" if any(levels.get(name, "MUST") == "MUST" for name in named or ("",)) else "recommended"
            for one in _changes(kind, folder, free, before, after, demands, binds):
                yield replace(one, requirements=named)


def _examples(spec: SpecFiles, folder: str) -> Mapping[str, Placed]:
    """Every example of a folder with its file and path, by a name that it keeps when others come or go."""
    if folder == "host/vectors":
        return {f"{file} {entry.get('id')}": (file, path, entry) for file, path, entry in vectors(spec)}
    return {file: (file, (), table(document)) for file, document in spec.folder(folder).items()}


def _changes(
    kind: str,
    folder: str,
    free: frozenset[str],
    old: Json,
    new: Json,
    demands: Demand,
    binds: str,
) -> Iterator[Change]:
    file, path, entry = new or old
    name = entry.get("id")
    if ABSENT in (old, new):
        yield one_sided(kind, file, path, old and entry, new and entry, name=name)
        return
    changed = [key for key, *_ in differing(_patient(old[2], entry), entry) if key not in free]
    if not changed:
        rule = "same"
    elif folder.startswith("host/"):
        rule = binds if any(key in _BINDING for key in changed) else "given"
    else:
        rule = binds if demands(file, old[2], entry) else "same"
    for key, *values in differing(old[2], entry):
        yield change(f"{kind}-{'described' if key in free else rule}", file, (*path, key), *values, name=name)


def _patient(old: Json, new: Json) -> Json:
    """The old value, with the limits of time of the new one where these are longer."""
    if not (is_object(old) and is_object(new)):
        return old
    return {key: _limit(key, value, new.get(key)) for key, value in old.items()}


def _limit(key: str, old: Json, new: Json) -> Json:
    is_longer = key == _LIMIT and isinstance(old, int | float) and isinstance(new, int | float) and new > old
    return new if is_longer else _patient(old, new)


def _demand(old: SpecFiles, new: SpecFiles) -> Demand:
    """What asks the old files of both examples."""
    server = server_of(old)
    scripts = {False: scripts_of(old), True: scripts_of(new)}

    def is_kept(example: Json, is_new: bool) -> bool:
        """Whether the old files make of an example what it says, whatever the words."""
        found = None if server is None else contradictions(server, scripts[is_new], example)
        return found is not None and all(one.is_worded for one in found)

    def demanded(file: str, was: Mapping[str, Json], becomes: Mapping[str, Json]) -> bool:
        if file.startswith("server/scripts/"):
            if _without_waits(was) == _without_waits(becomes):
                return False
            players = [(spec.documents[name], spec is new) for spec in (old, new) for name in _players(spec, file)]
            # A script that nobody plays, or that hangs, cannot be tried: so its change counts.
            return not players or _hangs(was) or _hangs(becomes) or not all(is_kept(*player) for player in players)
        # Without `wording` the words of an error bind, which they did not.
        if "wording" in was and "wording" not in becomes:
            return True
        is_same_shape = _shape(was, scripts[False]) == _shape(becomes, scripts[True])
        return not (is_same_shape and is_kept(was, False) and is_kept(becomes, True))

    return demanded


def _players(spec: SpecFiles, file: str) -> list[str]:
    """The scenarios that play a script."""
    name = file.rpartition("/")[2].removesuffix(".json")
    return [
        scenario
        for scenario in spec.folder("server/scenarios")
        if any(table(step).get("script") == name for step in spec.entries(scenario, "steps"))
    ]


def _shown(spec: SpecFiles, file: str) -> Iterator[str]:
    """The requirements of the scenarios that play a script."""
    for player in _players(spec, file) if file.startswith("server/scripts/") else ():
        yield from map(str, spec.entries(player, "requirements"))


def _shape(example: Mapping[str, Json], scripts: Mapping[str, Json]) -> Json:
    """What the old files cannot be asked: how steps follow each other, and those that do not end by themselves."""
    steps = [_shape_of_step(table(step), scripts) for step in items(example.get("steps"))]
    return [steps, "invocation" in example and example["invocation"] is None]


def _shape_of_step(step: Mapping[str, Json], scripts: Mapping[str, Json]) -> Json:
    script = step.get("script")
    played = scripts.get(script) if isinstance(script, str) else script
    if step.get("result", True) is None or _hangs(played):
        return [_without_waits(step), _without_waits(played)]
    return {key: value for key, value in step.items() if key not in _PLAYED}


def _hangs(script: Json) -> bool:
    plays = [*items(table(script).get("play")), *items(table(script).get("listSessions"))]
    return any("hang" in table(one) for one in plays)


def _without_waits(value: Json) -> Json:
    """A script without the seconds that it waits, and without what it says of itself."""
    if is_object(value):
        free = {*_FREE["server/scripts"], *_WAITS}
        return {key: _without_waits(inner) for key, inner in value.items() if key not in free}
    return [held for inner in value if (held := _without_waits(inner)) != {}] if is_array(value) else value
