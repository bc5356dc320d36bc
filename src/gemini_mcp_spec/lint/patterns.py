"""A rule about patterns, wherever they stand: Python and JavaScript read them alike. Pure.

Which values are patterns, the schemas in `meta/` say by their `format`. Only rules about patterns belong here.
"""

import re
from collections.abc import Iterator

from gemini_mcp.report.positions import Path
from gemini_mcp.report.values import shown
from gemini_mcp.schema.patterns import Unreadable, examples
from gemini_mcp.spec.values import Json, inside, is_object, items, table
from gemini_mcp_spec.files.kinds import SCHEMA, kind_of
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.lint.complaint import Complaint

_DEPTH = 40


def pattern_readable(spec: SpecFiles) -> Iterator[Complaint]:
    """A pattern is one that Python's `re` and JavaScript with the flag `u` read alike."""
    for file, document in spec.documents.items():
        schema = spec.documents.get(f"meta/{kind_of(file)}.schema.json")
        found = [*_marked(document, schema, schema, ())]
        if kind_of(file) in (SCHEMA, "tool"):
            found += _keywords(document, ())
        for path, pattern in dict(found).items():
            if wrong := _wrong(pattern):
                yield Complaint(file, path, f"The pattern {shown(pattern)} cannot be read everywhere: {wrong}.")


def _wrong(pattern: str) -> str | None:
    try:
        re.compile(pattern)
        examples(pattern)
    except re.error as error:
        return f"Python says {error}"
    except Unreadable as error:
        return f"to JavaScript, {error}"
    return None


def _marked(value: Json, schema: Json, root: Json, path: Path) -> Iterator[tuple[Path, str]]:
    """The texts that a schema gives the format of a pattern."""
    if not is_object(schema) or len(path) > _DEPTH:
        return
    if schema.get("format") == "regex" and isinstance(value, str):
        yield path, value
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        yield from _marked(value, inside(root, *reference[2:].split("/")), root, (*path,))
    for branch in (one for key in ("oneOf", "anyOf", "allOf") for one in items(schema.get(key))):
        yield from _marked(value, branch, root, path)
    for key, inner in table(value).items():
        known = table(schema.get("properties"))
        yield from _marked(inner, known.get(key, schema.get("additionalProperties")), root, (*path, key))
    for index, inner in enumerate(items(value)):
        yield from _marked(inner, schema.get("items"), root, (*path, index))


def _keywords(value: Json, path: Path) -> Iterator[tuple[Path, str]]:
    """The patterns that a JSON Schema holds as a keyword."""
    for key, inner in [*table(value).items(), *enumerate(items(value))]:
        if key == "pattern" and isinstance(inner, str):
            yield (*path, key), inner
        elif len(path) < _DEPTH:
            yield from _keywords(inner, (*path, key))
