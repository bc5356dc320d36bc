"""Spec files: the files of one specification as documents and places in them; pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from gemini_mcp_conformance.gate.positions import Json, Path, Position, is_array, is_object, locate


@dataclass(frozen=True)
class SpecFiles:
    """The files of one specification: bytes by path, and how their paths are shown."""

    name: str
    prefix: str
    files: Mapping[str, bytes]

    @cached_property
    def documents(self) -> Mapping[str, Json]:
        """What every readable JSON file holds."""
        found: dict[str, Json] = {}
        for path, content in self.files.items():
            try:
                found[path] = json.loads(content.decode("utf-8"))
            except (ValueError, RecursionError):
                continue
        return found

    def folder(self, name: str) -> Mapping[str, Json]:
        """The documents directly below `name`, by path."""
        return {
            path: document
            for path, document in sorted(self.documents.items())
            if path.rpartition("/")[0] == name and path.endswith(".json")
        }

    def objects(self, file: str, key: str) -> Mapping[str, Json]:
        """The object that a document holds under `key`; empty where there is none."""
        document = self.documents.get(file)
        held = document.get(key) if is_object(document) else None
        return held if is_object(held) else {}

    def entries(self, file: str, key: str) -> Sequence[Json]:
        """The array that a document holds under `key`; empty where there is none."""
        document = self.documents.get(file)
        held = document.get(key) if is_object(document) else None
        return held if is_array(held) else ()

    def shown(self, path: str) -> str:
        return self.prefix + path

    def position(self, file: str, path: Path) -> Position:
        return locate(self.files.get(file, b"").decode("utf-8", "replace"), path)

    @property
    def version(self) -> str:
        """The version that the manifest names, `0.0.0` where it names none."""
        manifest = self.documents.get("manifest.json")
        version = manifest.get("version") if is_object(manifest) else None
        return version if isinstance(version, str) else "0.0.0"
