"""Reads `spec/` into frozen records; nothing else opens its files. Reads files, once.

Add a loader for another kind of file here. What the content means is decided by the module that uses it.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from gemini_mcp.errors import OperatorError, SpecError
from gemini_mcp.spec.families import Subject, Subjects, expanded, members
from gemini_mcp.spec.live import LiveSpec, live_spec, offered
from gemini_mcp.spec.subjects import subjects_of, words_of
from gemini_mcp.spec.templates import InvocationSpec, invocation_spec
from gemini_mcp.spec.tools import ToolSpec
from gemini_mcp.spec.values import Json
from gemini_mcp.spec.wording import OutcomeSpec, outcome_spec

if TYPE_CHECKING:
    from gemini_mcp.spec.host_rules import Rules

Record = TypeVar("Record")


@dataclass(frozen=True)
class Manifest:
    """Which specification this is, and which server and protocol revisions it speaks of."""

    version: str
    server_name: str
    server_version: str
    handshake_revisions: tuple[str, ...]
    stateless_revisions: tuple[str, ...]
    instructions: str | None = None


@dataclass(frozen=True)
class Requirement:
    """One normative sentence, and where it comes from.

    `family` is its id before placeholders were filled, and `subject` what they were filled with.
    """

    id: str
    profile: str
    level: str
    sentence: str
    source: Mapping[str, str]
    since: str
    excluded: str | None
    family: str = ""
    subject: Subject = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class ServerSpec:
    """Everything the server direction needs at run time; `live` is None where the specification does not offer it."""

    manifest: Manifest
    tools: tuple[ToolSpec, ...]
    invocation: InvocationSpec
    outcome: OutcomeSpec
    live: LiveSpec | None = None


def default_root() -> Path:
    """The specification that belongs to this code: inside an installed package, or beside `src/` in a checkout."""
    packaged = Path(__file__).parents[1] / "_spec"
    return packaged if packaged.is_dir() else Path(__file__).parents[3] / "spec"


def directory() -> str:
    """The name of that directory, for a program that reads the specification itself."""
    return str(default_root())


def load_manifest(root: Path | None = None) -> Manifest:
    """Read which specification lies at `root`."""
    return _record((root or default_root()) / "manifest.json", _manifest)


def load_requirements(root: Path | None = None) -> tuple[Requirement, ...]:
    """Read every requirement of both profiles, in the order of the file, the families expanded."""
    root = root or default_root()
    server = load_server(root)
    return _record(root / "requirements.json", lambda document: _requirements(document["requirements"], server))


def load_released(version: str, root: Path | None = None) -> tuple[Requirement, ...]:
    """Read the requirements as that version of the specification had them."""
    path = _chosen("released version", (root or default_root()) / "released", version)
    return _record(path, lambda document: _requirements(document["requirements"], None))


def load_former_ids(root: Path | None = None) -> frozenset[str]:
    """Read which ids requirements of released versions had, and have no more."""
    versions = (path.stem for path in _sorted((root or default_root()) / "released"))
    released = {each.id for version in versions for each in load_released(version, root)}
    return frozenset(released - {each.id for each in load_requirements(root)})


def requirements_text(root: Path | None = None) -> str:
    """The text of the list of requirements, for whoever points at its lines."""
    path = (root or default_root()) / "requirements.json"
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise SpecError(str(path), str(error)) from None


def load_documents(folder: str, root: Path | None = None) -> Mapping[str, Json]:
    """Read the JSON files of one folder of the specification, such as `server/cases`, by name without suffix."""
    return {path.stem: read(path) for path in _sorted((root or default_root()) / folder)}


def written_out(document: Json) -> Json:
    """A document with every abbreviated text, `{"repeat": "x", "times": 3}`, at full length."""
    if isinstance(document, list):
        return [written_out(value) for value in cast("list[Json]", document)]
    if not isinstance(document, dict):
        return document
    members = cast("dict[str, Json]", document)
    if members.keys() == {"repeat", "times"}:
        return members["repeat"] * members["times"]
    return {name: written_out(value) for name, value in members.items()}


def load_profiles(root: Path | None = None) -> Mapping[str, "Rules"]:
    """Read the rules of every profile of hosts, by its name."""
    from gemini_mcp.spec.host_rules import rules_of  # Importing it takes time, and a server needs it not.

    folder = (root or default_root()) / "host"
    schemas = {path.name: read(path) for path in _sorted(folder)}
    paths = _sorted(folder / "profiles")
    return {path.stem: _record(path, lambda document: rules_of(document, schemas)) for path in paths}


def load_server(root: Path | None = None, locale: str | None = None) -> ServerSpec:
    """Read the server direction of the specification at `root`, its descriptions in `locale`."""
    root = root or default_root()
    if not root.is_dir():
        raise SpecError(str(root), "there is no such directory")
    overlay: Mapping[str, Json] = _overlay(root, locale) if locale else {}
    tools = tuple(_localised(_record(path, _tool), overlay) for path in _sorted(root / "server/tools"))
    if not tools:
        raise SpecError(str(root / "server/tools"), "it holds no tool")
    invocation = _record(root / "server/invocation.json", invocation_spec)
    live = _record(path, live_spec) if (path := root / "server/live.json").exists() else None
    return ServerSpec(
        manifest=load_manifest(root),
        tools=tools,
        invocation=invocation,
        outcome=_record(root / "server/outcome.json", outcome_spec),
        live=offered(live, invocation),
    )


def server_spec(documents: Mapping[str, Json]) -> ServerSpec:
    """The server direction of a specification that is in memory, its documents by path; LookupError, TypeError or
    ValueError when it is none."""
    tools = [document for path, document in sorted(documents.items()) if path.startswith("server/tools/")]
    invocation = invocation_spec(documents["server/invocation.json"])
    live = live_spec(documents["server/live.json"]) if "server/live.json" in documents else None
    return ServerSpec(
        manifest=_manifest(documents["manifest.json"]),
        tools=tuple(map(_tool, tools)),
        invocation=invocation,
        outcome=outcome_spec(documents["server/outcome.json"]),
        live=offered(live, invocation),
    )


def read(path: Path) -> Json:
    """The JSON content of one file of the specification."""
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise SpecError(str(path), "it does not exist") from None
    except (OSError, ValueError, RecursionError) as error:
        raise SpecError(str(path), str(error)) from None


def _record(path: Path, parse: Callable[[Json], Record]) -> Record:
    document = read(path)
    try:
        return parse(document)
    except KeyError as error:
        raise SpecError(str(path), f"it lacks {error}") from None
    except (AttributeError, TypeError, ValueError) as error:
        raise SpecError(str(path), str(error)) from None


def _sorted(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.json"), key=lambda path: path.stem)


def _manifest(document: Json) -> Manifest:
    return Manifest(
        version=document["version"],
        server_name=document["server"]["name"],
        server_version=document["server"]["version"],
        handshake_revisions=tuple(document["protocol"]["handshake"]),
        stateless_revisions=tuple(document["protocol"]["stateless"]),
        instructions=document["server"].get("instructions"),
    )


def expanded_requirements(entries: Sequence[Json], server: ServerSpec | None) -> Iterator[tuple[int, Json, Subject]]:
    """The requirements of a list, its families expanded for this server, each with the number of its entry."""
    if server is None:
        return expanded(entries, {}, {})
    return expanded(entries, _subjects(server), _words(server))


def members_of(entries: Sequence[Json], server: ServerSpec) -> Iterator[tuple[int, Json, Subject]]:
    """The same, with those whose id an earlier one has."""
    return members(entries, _subjects(server), _words(server))


def _subjects(server: ServerSpec) -> Subjects:
    return subjects_of(server.tools, server.invocation, server.outcome)


def _words(server: ServerSpec) -> Subject:
    manifest = server.manifest
    return words_of(manifest.server_name, manifest.server_version, server.invocation, server.outcome)


def _requirements(entries: Sequence[Json], server: ServerSpec | None) -> tuple[Requirement, ...]:
    return tuple(
        Requirement(
            id=entry["id"],
            profile=entry["profile"],
            level=entry["level"],
            sentence=entry["sentence"],
            source=entry["source"],
            since=entry["since"],
            excluded=entry.get("excluded"),
            family=entries[number]["id"],
            subject=subject,
        )
        for number, entry, subject in expanded_requirements(entries, server)
    )


def _tool(document: Json) -> ToolSpec:
    if document["inputSchema"]["type"] != "object":
        raise ValueError("its inputSchema does not have the type object")
    return ToolSpec(document["name"], document)


def _overlay(root: Path, locale: str) -> Mapping[str, Json]:
    return read(_chosen("locale", root / "server/locales", locale))["tools"]


def _chosen(kind: str, folder: Path, name: str) -> Path:
    """The file of a folder that a user has named."""
    path = folder / f"{name}.json"
    if not path.is_file():
        known = ", ".join(other.stem for other in _sorted(folder)) or "none"
        raise OperatorError(f"There is no {kind} {name!r}. {folder} holds: {known}.")
    return path


def _localised(tool: ToolSpec, overlay: Mapping[str, Json]) -> ToolSpec:
    texts = overlay.get(tool.name)
    if texts is None:
        return tool
    schema = tool.definition["inputSchema"]
    properties = {
        name: {**definition, "description": texts["properties"][name]} if name in texts["properties"] else definition
        for name, definition in schema.get("properties", {}).items()
    }
    localised = {"description": texts["description"], "inputSchema": {**schema, "properties": properties}}
    return ToolSpec(tool.name, {**tool.definition, **localised})
