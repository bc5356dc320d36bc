"""Rules about every file: that it can be read, has a kind, and is what the schema of its kind says. Pure.

Whatever can be said for all files belongs here; what needs to know one kind belongs to that kind's module.
"""

from collections.abc import Iterator, Mapping

from gemini_mcp.report.positions import Path
from gemini_mcp.report.values import shown
from gemini_mcp.schema.validation import Violation, beside, by_id, by_kind, schema_violation, violations
from gemini_mcp.spec.values import table
from gemini_mcp_spec.files.kinds import NEEDED, SCHEMA, kind_of, named_by
from gemini_mcp_spec.files.requirements import FILE, documents
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.lint.complaint import Complaint, unknown

_FIXES: Mapping[str, str] = {
    "required": "Add the key.",
    "additionalProperties": "Remove the key, or correct its name.",
    "enum": "Write one of these.",
    "const": "Write this value.",
    "type": "Write a value of this type.",
    "pattern": "Write it in this form.",
    "format": "Correct it.",
    "minItems": "Add an entry.",
    "uniqueItems": "Remove the repetition.",
    "minLength": "Write a text.",
}


def text(spec: SpecFiles) -> Iterator[Complaint]:
    """A file is UTF-8 without a byte order mark, tabs and carriage returns, and ends with one newline."""
    yield from _unreadable(spec, "text")
    for file in spec.documents:
        content = spec.files[file]
        if b"\t" in content or b"\r" in content:
            yield Complaint(file, (), "The file holds a tab or a carriage return.")
        if not content.endswith(b"\n") or content.endswith(b"\n\n"):
            yield Complaint(file, (), "The file does not end with one newline.")


def json_syntax(spec: SpecFiles) -> Iterator[Complaint]:
    """A file is JSON, an array or an object as its kind asks, and no object of it names a key twice."""
    return _unreadable(spec, "json")


def _unreadable(spec: SpecFiles, rule: str) -> Iterator[Complaint]:
    for file, fault in spec.unreadable.items():
        if fault.rule == rule:
            yield Complaint(file, (), fault.message, position=fault.position)


def file_missing(spec: SpecFiles) -> Iterator[Complaint]:
    """The files that every specification needs are there."""
    yield from unknown(((file, (), file) for file in NEEDED), spec.files, "`{}` does not exist.")
    if not documents(spec) and FILE not in spec.files:
        yield Complaint(FILE, (), f"There are no requirements in `{FILE}`.")
    if not spec.folder("server/tools"):
        yield Complaint("server/tools", (), "`server/tools` holds no tool.")


def file_kind(spec: SpecFiles) -> Iterator[Complaint]:
    """Every file has a kind, and every kind that is used has a schema in `meta/`."""
    for file in spec.files:
        kind = kind_of(file)
        if kind is None:
            yield Complaint(file, (), "This file is of no kind that the specification has.")
        elif kind != SCHEMA and f"meta/{kind}.schema.json" not in spec.files:
            message = f"Files of the kind {shown(kind)} have no schema."
            yield Complaint(file, (), message, f"Write `meta/{kind}.schema.json`.")


def file_name(spec: SpecFiles) -> Iterator[Complaint]:
    """A file is named as its content says, and the `$id` of a schema is its path."""
    for file, document in spec.documents.items():
        key, expected = named_by(file)
        name = table(document).get(key)
        if isinstance(name, str) and name != expected:
            stem = file.rpartition("/")[2].removesuffix(".json")
            yield Complaint(file, (key,), f"The file is named {shown(stem)}, but its `{key}` is {shown(name)}.")


def manifest_files(spec: SpecFiles) -> Iterator[Complaint]:
    """`files` of the manifest, where there is one, lists every file and no other."""
    listed = spec.entries("manifest.json", "files")
    for names, known, message in (
        (spec.files, listed, "`{}` is not listed."),
        (listed, spec.files, "`{}` does not exist."),
    ):
        yield from unknown((("manifest.json", ("files",), name) for name in names if listed), known, message)


def schema_valid(spec: SpecFiles) -> Iterator[Complaint]:
    """A schema, that of a tool's arguments included, is a JSON Schema of 2020-12 of a size that can be judged."""
    for file, path, violation in _unusable(spec):
        if violation.keyword != "$ref":
            yield Complaint(file, path, f"This is no JSON Schema that can be judged: {violation.message}.")


def schema_reference(spec: SpecFiles) -> Iterator[Complaint]:
    """Every reference of a schema leads to a schema of the specification, and none back to itself."""
    for file, path, violation in _unusable(spec):
        if violation.keyword == "$ref":
            yield Complaint(file, path, f"{violation.message}.")


def _unusable(spec: SpecFiles) -> Iterator[tuple[str, Path, Violation]]:
    """Every schema that cannot be used, with the place of the reason."""
    of_meta = beside(by_id(spec.folder("meta")))
    schemas = [(file, (), document) for file, document in spec.documents.items() if kind_of(file) == SCHEMA]
    tools = spec.folder("server/tools").items()
    arguments = [(file, ("inputSchema",), tool.get("inputSchema", {})) for file, tool in tools]
    for file, path, schema in (*schemas, *arguments):
        if violation := schema_violation(schema) if path else of_meta(schema):
            yield file, (*path, *violation.path), violation


def meta_schema(spec: SpecFiles) -> Iterator[Complaint]:
    """A file is valid against the schema of its kind."""
    validators = by_kind(spec.folder("meta"))
    for file, document in spec.documents.items():
        kind = kind_of(file) or ""
        if kind not in validators:
            continue
        for violation in violations(validators[kind], document):
            fix = _FIXES.get(violation.keyword, f"`meta/{kind}.schema.json` says what it should be.")
            yield Complaint(file, violation.path, f"{violation.message}.", fix)
