"""The fast start of the stdio server leaves nothing changed behind, and is only ever a help."""

import subprocess
import sys

SERVES = "assert module.serve.__module__ == 'gemini_mcp.transport.stdio'"


def run(*lines: str) -> None:
    """Run a script in an interpreter of its own, since what is imported stays."""
    program = "\n".join(("import sys", "from gemini_mcp.operator import fast_start", *lines))
    subprocess.run((sys.executable, "-c", program), check=True, timeout=60)


def test_the_fast_start_gives_the_server_without_the_packages_that_stdio_does_not_need() -> None:
    run("module = fast_start.import_stdio()", SERVES, "assert 'mcp.client' not in sys.modules")


def test_a_release_that_the_shells_break_is_imported_in_full() -> None:
    broken = "fast_start.PACKAGES = ('mcp', 'mcp.server', 'mcp.shared', 'mcp.shared.exceptions')"
    run(broken, "module = fast_start.import_stdio()", SERVES, "assert 'mcp.client' in sys.modules")


def test_models_of_others_are_built_at_once_as_ever() -> None:
    run(
        "fast_start.import_stdio()",
        "from pydantic import BaseModel",
        "class Other(BaseModel): pass",
        "assert Other.__pydantic_complete__",
        "import gc",
        "assert gc.isenabled()",
    )
