"""No fact of the specification stands in the code of the suite: no tool, argument, flag, key, limit or exit code."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gemini_mcp.spec.values import Json, items, table

ROOT = Path(__file__).parents[2]
SERVER = ROOT / "spec/server"
SUITE = ROOT / "conformance/gemini_mcp_conformance"
SOURCES = {path.relative_to(SUITE).as_posix(): path for path in SUITE.rglob("*.py") if "host" not in path.parts}
SMALL = 31
"""Numbers below are too ordinary to be a fact."""


def document(name: str) -> Json:
    return json.loads((SERVER / name).read_text(encoding="utf-8"))


INVOCATION, OUTCOME = document("invocation.json"), document("outcome.json")
TOOLS = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((SERVER / "tools").glob("*.json"))]


def texts(value: Json) -> Iterator[str]:
    """Every text of a JSON value, keys apart."""
    if isinstance(value, str):
        yield value
    for inner in (*items(value), *table(value).values()):
        yield from texts(inner)


def numbers(value: Json) -> Iterator[int]:
    """Every whole number of a JSON value."""
    if isinstance(value, int) and not isinstance(value, bool):
        yield value
    for inner in (*items(value), *table(value).values()):
        yield from numbers(inner)


def words() -> set[str]:
    """What only the specification may say."""
    command_lines = [element for tool in INVOCATION["tools"].values() for element in texts(tool["argv"])]
    roles = [tool.get("resumes", {}).get("default", "") for tool in INVOCATION["tools"].values()]
    handed = [name for tool in INVOCATION["tools"].values() for key in ("files", "env") for name in tool.get(key, {})]
    places = [OUTCOME["prefix"], OUTCOME["separator"], INVOCATION["temporary"]["directory"], *INVOCATION["refusals"]]
    names = [name for tool in TOOLS for name in (tool["name"], *tool["inputSchema"]["properties"])]
    keys = [*texts(OUTCOME["answer"]), *texts(OUTCOME["meta"])]
    listing = [*INVOCATION["listing"]["argv"], INVOCATION["listing"]["entry"]]
    return {word for word in (*command_lines, *roles, *handed, *places, *names, *keys, *listing) if word}


WORDS = words()
NUMBERS = {number for number in (*numbers(INVOCATION), *numbers(OUTCOME)) if number >= SMALL}

TELLING = {word for word in WORDS if len(word) > 2 and not (word.isalpha() and word.islower())}
"""Words that no sentence has by chance, so that they are looked for inside literals as well."""

OPTION = "a text that tries to become an option"
SAMPLE = "the name of an odd text, or such a text"
ORDINARY: dict[str | int, str] = {
    "--list-sessions": OPTION,
    "--output-format": OPTION,
    "-m": f"{OPTION}; how Python starts a module, and a flag of pytest",
    "cwd": "a field of a run in a report",
    "empty": SAMPLE,
    "error": "a member of JSON-RPC, a kind of answer, and a severity",
    "json": f"{SAMPLE}, and a format of reports",
    "latest": f"{SAMPLE}, and a relation of two calls",
    "lone-surrogate": SAMPLE,
    "notice": "a severity of GitHub's annotations",
    "nul": SAMPLE,
    "prompt": "what a complaint is about, and a value of a wrong type",
    "session_id": "an argument that no tool declares",
    "too-long": SAMPLE,
    "warnings": "a field of what was read",
    42: "a sample number, and an exit code among many",
    53: "the bits of a safe integer, and an exit code among many",
    130: "the exit code of a program that SIGINT ended",
}
"""Facts that mean something else in the suite as well, and what."""


def literals(path: Path) -> Iterator[tuple[int, object]]:
    """The literals of a module with their lines; what documents it is none."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    spoken = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in spoken:
            yield node.lineno, node.value


def said(path: Path) -> Iterator[tuple[int, str | int]]:
    """The facts that a module says, with their lines."""
    for line, value in literals(path):
        if isinstance(value, str):
            yield from ((line, word) for word in WORDS if word == value or (word in TELLING and word in value))
        elif type(value) is int and value in NUMBERS:
            yield line, value


@pytest.mark.parametrize("name", SOURCES)
def test_a_module_says_no_fact(name: str) -> None:
    found = [f"{name}:{line}: {fact!r}" for line, fact in said(SOURCES[name]) if fact not in ORDINARY]
    assert found == [], "The specification says this: read it."


def test_no_allowance_is_left_over() -> None:
    needed = {fact for path in SOURCES.values() for _, fact in said(path)}
    assert ORDINARY.keys() - needed == set()
