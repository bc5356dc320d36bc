"""Every requirement of the server profile is proven of the reference, checked of a port, and shown by a mutant.

The reference proves it by a marked test, a case or a scenario.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from gemini_mcp.spec import default_root, load_documents, load_requirements, read
from gemini_mcp_conformance.judge import checks, registry

TESTS = Path(__file__).parent / "server"


def marked() -> Iterator[str]:
    """The ids in the markers of the tests of the server."""
    for path in TESTS.glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requirement":
                yield from (str(ast.literal_eval(argument)) for argument in node.args)


def played() -> Iterator[str]:
    """The ids in the cases and scenarios."""
    for folder in ("server/cases", "server/scenarios"):
        for document in load_documents(folder).values():
            yield from document["requirements"]


def demanded() -> set[str]:
    """The requirements of the server that anything can show."""
    every = load_requirements()
    return {each.id for each in every if each.profile == "server" and each.excluded is None}


def written() -> set[str]:
    """The ids of the server in the file, families as they stand, those without a member included."""
    every = read(default_root() / "requirements.json")["requirements"]
    return {each["id"] for each in every if each["profile"] == "server" and "excluded" not in each}


def test_every_requirement_of_the_server_is_proven() -> None:
    assert sorted(demanded() - {*marked(), *played()}) == []


def test_every_requirement_of_the_server_has_a_check_and_every_check_a_requirement() -> None:
    checks.load()
    checked = {check.requirement for check in registry.checks_for(load_requirements())}
    assert sorted(demanded() ^ checked) == []
    assert sorted(written() ^ registry.families()) == []


def test_no_marker_names_a_requirement_that_does_not_exist() -> None:
    assert sorted({*marked()} - {requirement.id for requirement in load_requirements()}) == []
