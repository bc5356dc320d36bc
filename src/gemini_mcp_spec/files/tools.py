"""The tools of a specification: their argument schemas, by name. Pure.

Only what several rules or areas ask about tools belongs here.
"""

from collections.abc import Mapping

from gemini_mcp.spec.values import Json, inside, is_object, items
from gemini_mcp_spec.files.spec_files import SpecFiles

INVOCATION = "server/invocation.json"
OUTCOME = "server/outcome.json"
LIVE = "server/live.json"
_LONGEST = 1 << 24
"""No rule of `invocation.json` lets a longer text through."""


def tools(spec: SpecFiles) -> Mapping[str, tuple[str, Json]]:
    """The schema of each tool's arguments with its file, by the tool's name."""
    return {
        document["name"]: (file, document["inputSchema"])
        for file, document in spec.folder("server/tools").items()
        if is_object(document) and "name" in document and is_object(inside(document, "inputSchema"))
    }


def type_of(schema: Json) -> str:
    """The type of a property's values beside null; empty where it names none."""
    named = inside(schema, "type")
    return next((str(each) for each in (items(named) or [named]) if each not in (None, "null")), "")


def is_length(value: Json) -> bool:
    """Whether it is a length of texts that can be made, to try a rule with them."""
    return isinstance(value, int) and 0 <= value <= _LONGEST
