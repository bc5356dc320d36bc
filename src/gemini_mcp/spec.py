"""The only reader of `spec/`: a directory of JSON files in, frozen records out. Reads files, once.

A loader for another kind of file is added here, and nowhere else; what the content means is decided by the
module that uses it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from gemini_mcp.errors import SpecError
from gemini_mcp.template import InvocationSpec, Json, invocation_spec


@dataclass(frozen=True)
class Manifest:
    """Which specification this is, and which server and protocol revisions it speaks of."""

    version: str
    server_name: str
    server_version: str
    handshake_revisions: tuple[str, ...]
    stateless_revisions: tuple[str, ...]


@dataclass(frozen=True)
class ToolSpec:
    """A tool as `tools/list` serves it."""

    name: str
    definition: Mapping[str, Json]

    @property
    def properties(self) -> Mapping[str, Json]:
        return self.definition["inputSchema"].get("properties", {})

    @property
    def required(self) -> tuple[str, ...]:
        return tuple(self.definition["inputSchema"].get("required", ()))


@dataclass(frozen=True)
class Sentence:
    """What the server says of one kind of failure."""

    id: str
    when: str
    text: str
    exits: tuple[int, ...]
    stderr: str | None


@dataclass(frozen=True)
class OutcomeSpec:
    """The whole of `outcome.json`: how an ended gemini becomes a result."""

    prefix: str
    separator: str
    answer: Mapping[str, str]
    meta: Mapping[str, str]
    notices: Mapping[str, str]
    stderr_bytes: int
    private: str
    masked: str
    masks: tuple[str, ...]
    secret_names: str
    said: str
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True)
class ServerSpec:
    """Everything the server direction needs at run time."""

    manifest: Manifest
    tools: tuple[ToolSpec, ...]
    invocation: InvocationSpec
    outcome: OutcomeSpec


def default_root() -> Path:
    """The specification that belongs to this code: inside an installed package, or beside `src/` in a checkout."""
    packaged = Path(__file__).parent / "_spec"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "spec"


def load_server(root: Path | None = None, locale: str | None = None) -> ServerSpec:
    """Read the server direction of the specification at `root`, its descriptions in `locale`."""
    root = root or default_root()
    overlay = _overlay(root, locale) if locale else {}
    tools = tuple(
        _localised(_record(path, _tool), overlay)
        for path in sorted(root.glob("server/tools/*.json"), key=lambda path: path.stem)
    )
    if not tools:
        raise SpecError(str(root / "server/tools"), "it holds no tool")
    return ServerSpec(
        manifest=_record(root / "manifest.json", _manifest),
        tools=tools,
        invocation=_record(root / "server/invocation.json", invocation_spec),
        outcome=_record(root / "server/outcome.json", _outcome),
    )


def read(path: Path) -> Json:
    """The JSON content of one file of the specification."""
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise SpecError(str(path), "it does not exist") from None
    except (OSError, ValueError, RecursionError) as error:
        raise SpecError(str(path), str(error)) from None


def _record[T](path: Path, parse: Callable[[Json], T]) -> T:
    document = read(path)
    try:
        return parse(document)
    except KeyError as error:
        raise SpecError(str(path), f"it lacks {error}") from None
    except (AttributeError, TypeError, ValueError) as error:
        raise SpecError(str(path), str(error)) from None
