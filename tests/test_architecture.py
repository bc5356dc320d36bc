"""Which module may import what, read from the sources: our modules in, what is wrong with them out."""

import ast
import re
import sys
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = (ROOT / "src", ROOT / "conformance")
SUITE, GATE, SPEC = "gemini_mcp_conformance", "gemini_mcp_spec", "gemini_mcp.spec"
GEMINI = "gemini_mcp.gemini_cli"
"""What is known of Google's program. The suite and the gate judge by it, so the reference must not use it."""
ROOMS = ("spec", "talk", "see", "play", "judge", "tell", "run", "host", "command")
"""The rooms of the suite: each imports only those before it, so that a reader goes down once."""
PURE_ROOMS = ("spec", "talk", "see", "judge")
STREAMS = "gemini_mcp.standard_streams"
"""What every command does where its output cannot be written."""
SHARED = ("gemini_mcp.schema", "gemini_mcp.report")
"""What the gate and the host both judge changes with."""
HOST = "gemini_mcp.host"
ASKS = f"{GATE}.reference.answers"
"""The module of the gate that asks the reference what a call becomes."""
WALL_CLOCKS = {"time", "time_ns", "datetime", "st_mtime", "st_mtime_ns", "localtime"}
EFFECTS = {"anyio", "asyncio", "httpx2", "mcp", "socket", "subprocess", "tempfile", "threading", "time", "uvicorn"}


def _name(folder: Path, file: Path) -> str:
    return ".".join(file.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")


@cache
def trees() -> Mapping[str, ast.Module]:
    """The modules. They are read when a test first asks: each process that runs tests collects all of them."""
    return {
        _name(folder, file): ast.parse(file.read_text(encoding="utf-8"))
        for folder in FOLDERS
        for package in folder.glob("gemini_mcp*")
        for file in sorted(package.rglob("*.py"))
    }


def claim(name: str) -> str:
    """What a module says of itself before the first blank line."""
    return (ast.get_docstring(trees()[name]) or "").split("\n\n")[0]


def is_pure(name: str) -> bool:
    return claim(name).lower().rstrip(".").endswith("pure") or "; pure." in claim(name)


@cache
def pure_modules() -> list[str]:
    return [name for name in trees() if is_pure(name)]


@cache
def imported(name: str) -> frozenset[str]:
    """The modules that a module names; for `from a import b` that is `a.b` where it is one of ours, or else `a`."""
    found: set[str] = set()
    for node in ast.walk(trees()[name]):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {one if one in trees() else node.module for one in inner}
    return frozenset(found)


@cache
def reached(name: str) -> frozenset[str]:
    """Everything that a module imports, through ours too."""
    seen: set[str] = set()
    waiting = {name}
    while waiting:
        one = waiting.pop()
        seen.add(one)
        waiting |= (imported(one) if one in trees() else frozenset[str]()) - seen
    return frozenset(seen)


def effects(name: str) -> set[str]:
    """The effects that a module reaches."""
    return {other.split(".")[0] for other in reached(name)} & EFFECTS


def ours(name: str, but: tuple[str, ...]) -> list[str]:
    """The modules of ours that a module imports, but for those whose names begin like this."""
    return [other for other in imported(name) if other in trees() and not other.startswith(but)]


def told_of(names: Iterable[str], wrong: Callable[[str], Collection[str]]) -> dict[str, Collection[str]]:
    """What is wrong with each of these modules, where something is."""
    return {name: found for name in names if (found := wrong(name))}


def test_no_module_imports_itself_through_others() -> None:
    graph = {name: [other for other in imported(name) if other in trees()] for name in trees()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a cycle: {' <- '.join(error.args[1])}")


def test_a_server_on_stdio_starts_without_what_is_slow_to_import() -> None:
    found = {other.split(".")[0] for other in reached("gemini_mcp.transport.stdio")}
    assert found & {"anyio", "mcp", "uvicorn"} == set()


def test_every_module_of_the_reference_says_whether_it_is_pure() -> None:
    words = ("pure", "effect", "edge", "reads files")
    silent = [
        name
        for name in trees()
        if not name.startswith((SUITE, GATE)) and not any(w in claim(name).lower() for w in words)
    ]
    assert silent == ["gemini_mcp"]


def test_a_pure_module_reaches_no_effect() -> None:
    assert told_of(pure_modules(), effects) == {}


@pytest.mark.parametrize(
    "name",
    [
        *("spec.templates", "spec.wording", "errors", "operator.options"),
        *("call.arguments", "call.invocation", "call.outcome", "host.adapter.tools"),
    ],
)
def test_the_core_claims_to_be_pure(name: str) -> None:
    assert f"gemini_mcp.{name}" in pure_modules()


def test_the_reference_and_the_gate_do_not_know_the_suite() -> None:
    others = [name for name in trees() if not name.startswith(SUITE)]
    assert told_of(others, lambda name: [one for one in reached(name) if one.startswith(SUITE)]) == {}


def test_nobody_needs_the_gate() -> None:
    others = [name for name in trees() if not name.startswith(GATE)]
    assert told_of(others, lambda name: [one for one in imported(name) if one.startswith(GATE)]) == {}


def test_one_module_of_the_gate_asks_the_reference_and_the_others_only_read_the_specification() -> None:
    known = ("gemini_mcp_", SPEC, GEMINI, STREAMS, *SHARED)
    gate = [name for name in trees() if name.startswith(GATE) and name != ASKS]
    assert told_of(gate, lambda name: ours(name, known)) == {}


def test_what_the_gate_and_the_host_share_knows_neither_of_them() -> None:
    shared = [name for name in trees() if name.startswith(SHARED)]
    assert told_of(shared, lambda name: ours(name, (f"{SPEC}.values", *SHARED))) == {}


def test_only_the_gate_and_the_host_judge_changes_of_schemas() -> None:
    others = [name for name in trees() if not name.startswith((GATE, HOST, *SHARED))]
    assert told_of(others, lambda name: [one for one in imported(name) if one.startswith(SHARED)]) == {}


def test_the_suite_knows_nothing_of_the_reference_but_the_specification() -> None:
    suite = [name for name in trees() if name.startswith(SUITE)]
    assert told_of(suite, lambda name: {*ours(name, (SUITE, SPEC, GEMINI, STREAMS))} - {"gemini_mcp"}) == {}


def room(name: str) -> str:
    """The room of a module of the suite."""
    return name.removeprefix(f"{SUITE}.").split(".")[0]


@pytest.mark.parametrize("place", range(len(ROOMS)), ids=ROOMS)
def test_a_room_of_the_suite_imports_only_those_before_it(place: int) -> None:
    behind = ROOMS[place + 1 :]
    modules = [name for name in trees() if name.startswith(SUITE) and room(name) == ROOMS[place]]
    others = {name: [one for one in imported(name) if one.startswith(SUITE)] for name in modules}
    assert told_of(modules, lambda name: [one for one in others[name] if room(one) in behind]) == {}


def test_a_room_that_claims_to_be_pure_reaches_no_effect() -> None:
    pure = [name for name in trees() if name.startswith(SUITE) and room(name) in PURE_ROOMS]
    assert told_of(pure, effects) == {}


def test_the_reference_does_not_know_what_it_is_judged_by() -> None:
    reference = [name for name in trees() if not name.startswith((SUITE, GATE, GEMINI))]
    assert told_of(reference, lambda name: [one for one in imported(name) if one.startswith(GEMINI)]) == {}


def test_only_its_reader_and_the_gate_open_the_specification() -> None:
    codes = {name: ast.unparse(tree) for name, tree in trees().items() if not name.startswith((SPEC, GATE))}
    given_to_the_reader = r"\bspec\.\w+\((?:spec\.)?default_root\(\)"
    opened = [name for name, code in codes.items() if "default_root(" in re.sub(given_to_the_reader, "", code)]
    assert opened == []
    assert [name for name, code in codes.items() if "'_spec'" in code] == []


def names(requirements: Sequence[str]) -> set[str]:
    """The distributions that requirements name."""
    return {re.split(r"[^\w.-]", one)[0].lower().replace("_", "-") for one in requirements}


def foreign(name: str, owners: Mapping[str, Sequence[str]]) -> set[str]:
    """The distributions of others that a module imports by itself."""
    tops = {other.split(".")[0] for other in imported(name)} - sys.stdlib_module_names
    return {
        owner.lower().replace("_", "-") for top in tops if not top.startswith("gemini_mcp") for owner in owners[top]
    }


def clocks(name: str) -> set[str]:
    """The clocks that can be set which a module reads."""
    nodes = [*ast.walk(trees()[name])]
    taken = {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    return WALL_CLOCKS & (taken | {node.attr for node in nodes if isinstance(node, ast.Attribute)})


def test_the_server_reads_no_clock_that_can_be_set() -> None:
    """Every wait of the server is by `monotonic`, so a change of the machine's time cannot make it longer."""
    assert told_of([name for name in trees() if not name.startswith((SUITE, GATE, HOST))], clocks) == {}


def test_every_distribution_that_is_imported_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    always = names(project["dependencies"])
    allowed = {"gemini_mcp": always}
    more = always | names(project["optional-dependencies"]["conformance"])
    owners = packages_distributions()
    undeclared = {name: foreign(name, owners) - allowed.get(name.split(".")[0], more) for name in trees()}
    assert {name: missing for name, missing in undeclared.items() if missing} == {}
    assert [one for one in project["dependencies"] if not re.search(r">=[\d.]+,<\d", one)] == []
