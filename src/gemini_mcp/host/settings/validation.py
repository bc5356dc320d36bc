"""What is wrong with a settings file by the schema of its profile, and what to do about it. Pure.

Which values are right is said by the schema; files are merged in `loading`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gemini_mcp.host.rules.javascript import stringify
from gemini_mcp.host.rules.json_schema import SchemaFault, schema_faults
from gemini_mcp.spec.values import Json, inside, table

_SECRET_KEYS = frozenset({"clientSecret", "env", "headers"})
_TYPES = {
    "array": "an array",
    "object": "an object",
    "string": "a string",
    "boolean": "true or false",
    "number": "a number",
}


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, and what to do about it; a fatal one costs its server."""

    path: tuple[str, ...]
    value: Json
    complaint: str
    fix: str
    file: str = ""
    is_fatal: bool = True

    @property
    def server(self) -> str | None:
        return self.path[1] if len(self.path) > 1 and self.path[0] == "mcpServers" else None

    @property
    def key(self) -> str:
        return ".".join(self.path[2:]) if self.server else ".".join(self.path)

    def __str__(self) -> str:
        who = f"server {self.server!r}: " if self.server else ""
        what = f"`{self.key}` is {_short(self.value, self.path)}, " if self.key else ""
        return f"{self.file}: {who}{what}{self.complaint}. {self.fix}"


def problems(settings: Json, schema: Json, file: str = "") -> tuple[Problem, ...]:
    """Everything that is wrong with the file's `mcp` and `mcpServers`, at most one problem for each setting."""
    found: dict[tuple[str, ...], Problem] = {}
    for fault in schema_faults(schema, settings):
        place, rest = _setting(fault)
        complaint, fix = _worded(fault)
        inner = "".join(f"`{step}` of it: " for step in rest)
        found.setdefault(place, Problem(place, inside(settings, *place), f"{inner}{complaint}", fix, file))
    return (*found.values(), *_unknown(settings, schema, file))


def _setting(fault: SchemaFault) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The path of the setting that a fault is in, and the way from there to the fault."""
    path = tuple(map(str, fault.path))
    if fault.keyword == "required":
        path = (*path, *_missing(fault.schema, table(fault.value)))
    # `mcp.KEY`, `mcpServers.NAME.KEY`, and one step more below `oauth`.
    depth = 2 if path[:1] == ("mcp",) else 4 if path[2:3] == ("oauth",) else 3
    return path[:depth], path[depth:]


def _missing(schema: Json, value: Json) -> tuple[str, ...]:
    """The way to what is required and not there, as deep as the schema requires something."""
    name = next((name for name in table(schema).get("required", ()) if name not in table(value)), None)
    return () if name is None else (name, *_missing(inside(schema, "properties", name), None))


def _worded(fault: SchemaFault) -> tuple[str, str]:
    """What should be, and what to do."""
    match fault.keyword:
        case "type":
            return f"it should be {_TYPES[fault.expected]}", f"Make it {_TYPES[fault.expected]}."
        case "enum":
            return f"it should be {' or '.join(fault.expected)}", "Choose one of them."
        case "minimum":
            return f"it should be at least {fault.expected}", "Give a greater number."
        case "format":
            return "it should be an http or https URL", "Write it with its scheme."
        case "required":
            return "it is needed here", "Add it."
        case "oneOf":
            names = [f"`{choice['required'][0]}`" for choice in fault.expected]
            given = [name for name in names if name.strip("`") in table(fault.value)]
            return f"it should have one of {', '.join(names)}, and has {' and '.join(given) or 'none'}", "Keep one."
        case "not":
            return f"it should have no `{fault.expected['required'][0]}`", "Remove it, or choose other credentials."
        case _:
            return "it should not be empty", "Fill it in or remove it."


def _unknown(settings: Json, schema: Json, file: str) -> Iterator[Problem]:
    for name, config in table(inside(settings, "mcpServers")).items():
        for kind, inner in (("server", ()), ("oauth", ("oauth",))):
            known = table(inside(schema, "$defs", kind, "properties"))
            for key, value in table(inside(config, *inner)).items():
                if key not in known:
                    place = ("mcpServers", name, *inner, key)
                    fix = f"Known are {', '.join(known)}."
                    yield Problem(place, value, "it is not known and has no effect", fix, file, False)


def _short(value: Json, path: Sequence[str]) -> str:
    if _SECRET_KEYS & set(path[2:]):
        return "a value not shown here"
    text = stringify(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
