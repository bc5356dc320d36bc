"""Checks of the programs that a call needs, and of the temporary directory. Effect: asks programs, writes a file.

Each makes a `Diagnosis` of the place.
"""

import re
import tempfile

from gemini_mcp.call import temporary
from gemini_mcp.call.outcome import NotStarted
from gemini_mcp.call.paths import find_program
from gemini_mcp.operator.discovery import Found, discover
from gemini_mcp.operator.doctor.place import Diagnosis, Place, version_of

OLDEST_NODE = 20


def check_gemini(place: Place) -> Diagnosis:
    """Is gemini there, and which version?"""
    if isinstance(place.gemini, NotStarted):
        where = place.gemini.fields.get("where") or place.gemini.fields["program"]
        if place.options.gemini is None and (found := discover(place.spec.invocation.program, place.environ)):
            return _elsewhere(found, ", or pass --gemini PATH")
        action = "Install it with `npm install -g @google/gemini-cli`, or pass --gemini PATH."
        if place.options.gemini is not None:
            action = "Correct --gemini, or leave it out: then gemini is looked for on PATH."
        return Diagnosis(False, f"{place.gemini.condition.replace('-', ' ')} {where}", action)
    if place.version_text is None:
        action = "Run `gemini --version` and see what it says."
        return Diagnosis(False, f"{place.gemini} does not tell its version", action)
    return Diagnosis(True, f"{place.version_text} at {place.gemini}")


def check_node(place: Place) -> Diagnosis:
    """Is there a Node that gemini can run on?"""
    program = find_program("node", place.environ)
    if isinstance(program, NotStarted) and (found := discover("node", place.environ)):
        return _elsewhere(found)
    version = None if isinstance(program, NotStarted) else version_of(program, place.environ)
    number = re.match(r"v?(\d+)", version or "")
    is_fine = number is not None and int(number[1]) >= OLDEST_NODE
    action = None if is_fine else f"Install Node {OLDEST_NODE} or newer."
    return Diagnosis(is_fine, version or "not found on PATH", action)


def _elsewhere(found: Found, more: str = "") -> Diagnosis:
    seen = f"not found on PATH, but {found.installer} has it"
    return Diagnosis(False, seen, f"Put {found.directory} on PATH{more}; `--print-config` does so in the client.")


def check_temporary(place: Place) -> Diagnosis:
    """Can the file of a system prompt be written?"""
    try:
        with temporary.files({"test": ""}, place.spec.invocation.temporary):
            return Diagnosis(True, tempfile.gettempdir())
    except OSError as error:
        return Diagnosis(False, error.strerror or str(error), "Set TMPDIR to a directory you may write.")
