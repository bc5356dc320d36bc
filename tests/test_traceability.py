"""Every requirement of the server profile is proven of the reference: by a marked test, a case or a scenario."""

import ast
from collections.abc import Iterator
from pathlib import Path

from gemini_mcp.spec import load_documents, load_requirements

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


def test_every_requirement_of_the_server_is_proven() -> None:
    demanded = {
        requirement.id
        for requirement in load_requirements()
        if requirement.profile == "server" and requirement.excluded is None
    }
    assert sorted(demanded - {*marked(), *played()}) == []


def test_no_marker_names_a_requirement_that_does_not_exist() -> None:
    assert sorted({*marked()} - {requirement.id for requirement in load_requirements()}) == []
