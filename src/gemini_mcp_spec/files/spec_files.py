"""Spec files: the files of one specification as documents, and the places in them. Pure.

Only what is true of any file belongs here.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from referencing.exceptions import Unresolvable

from gemini_mcp.report.positions import Path, Position, locate
from gemini_mcp.spec.values import Json, inside, items, table
from gemini_mcp_spec.files.documents import Unreadable, document

_STRUCTURAL = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
MALFORMED = (*_STRUCTURAL, re.error, Unresolvable)
"""What is raised by whoever reads a document as if it were what the schema of its kind says, and it is not."""


@dataclass(frozen=True, eq=False)
class SpecFiles:
    """The files of one specification: bytes by path, and how their paths are shown."""

    name: str
    prefix: str
    files: Mapping[str, bytes]

    @cached_property
    def documents(self) -> Mapping[str, Json]:
        """What every readable JSON file holds."""
        return {path: held for path, held in self._read.items() if not isinstance(held, Unreadable)}

    @cached_property
    def unreadable(self) -> Mapping[str, Unreadable]:
        """Why the other files cannot be read."""
        return {path: held for path, held in self._read.items() if isinstance(held, Unreadable)}

    @cached_property
    def _read(self) -> Mapping[str, Json | Unreadable]:
        return {path: _document(path, content) for path, content in self.files.items()}

    @cached_property
    def _texts(self) -> dict[str, str]:
        return {}

    def folder(self, name: str) -> Mapping[str, Json]:
        """The documents directly below `name`, by path."""
        return {path: self.documents[path] for path in sorted(self.documents) if path.rpartition("/")[0] == name}

    def objects(self, file: str, key: str) -> Mapping[str, Json]:
        """The object that a document holds under `key`; empty where there is none."""
        return table(inside(self.documents.get(file), key))

    def entries(self, file: str, key: str) -> Sequence[Json]:
        """The array that a document holds under `key`; empty where there is none."""
        return items(inside(self.documents.get(file), key))

    def shown(self, path: str) -> str:
        """The path as messages name it."""
        return self.prefix + path

    def position(self, file: str, path: Path) -> Position:
        """The line and column of the value at `path`."""
        if file not in self._texts:
            self._texts[file] = self.files.get(file, b"").decode("utf-8", "replace")
        return locate(self._texts[file], path)

    @property
    def version(self) -> str:
        """The version that the manifest names, `0.0.0` where it names none."""
        version = inside(self.documents.get("manifest.json"), "version")
        return version if isinstance(version, str) else "0.0.0"


@lru_cache(maxsize=2048)
def _document(path: str, content: bytes) -> Json | Unreadable:
    """Read once: most files of two specifications that are compared are the same."""
    try:
        return document(path, content)
    except Unreadable as error:
        return error
