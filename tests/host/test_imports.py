"""Which modules of the host are pure: they reach no clock, no network, no process and no thread."""

import ast
from pathlib import Path

import pytest

import gemini_mcp.host

ROOT = Path(str(gemini_mcp.host.__file__)).parent
FORBIDDEN = {"anyio", "asyncio", "httpx2", "mcp", "os", "socket", "subprocess", "tempfile", "threading", "time"}
EFFECTS = {
    "authorization",
    "bearer",
    "callback",
    "cli",
    "connection",
    "execution",
    "files",
    "google",
    "session",
    "stdio",
    "tokens",
}
MODULES = {
    ".".join(file.relative_to(ROOT).with_suffix("").parts): file
    for file in ROOT.rglob("*.py")
    if file.stem != "__init__"
}


def imported(name: str, seen: set[str]) -> set[str]:
    """Everything a module imports, through the host's own modules too."""
    found: set[str] = set()
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    own = {whole.removeprefix("gemini_mcp.host.") for whole in found if whole.startswith("gemini_mcp.host.")}
    for inner in (own & set(MODULES)) - seen:
        found |= imported(inner, seen | own)
    return found


PURE = [name for name in MODULES if name not in EFFECTS and not name.startswith("command.")]


@pytest.mark.parametrize("name", [name for name in PURE if name not in ("adapter.__main__", "adapter.scenario")])
def test_a_pure_module_reaches_no_effect(name: str) -> None:
    reached = {whole.split(".")[0] for whole in imported(name, {name})}
    assert reached & FORBIDDEN == set()


def test_every_module_says_whether_it_is_pure() -> None:
    for name, file in MODULES.items():
        docstring = (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").split("\n\n")[0]
        assert "pure" in docstring or "Effect" in docstring or name.startswith("adapter"), name
        assert not ("Effect" in docstring and name in PURE and not name.startswith("adapter")), name


def test_no_module_is_long() -> None:
    assert {name: lines for name, file in MODULES.items() if (lines := len(file.read_text().splitlines())) > 330} == {}
