"""Small edits of the specification, and the places where an edited one can lie."""

import copy
import json
import subprocess
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TypeAlias

from gemini_mcp.spec.families import is_member
from gemini_mcp.spec.values import Json, is_array, is_unicode
from gemini_mcp_spec.files.reader import read_directory
from gemini_mcp_spec.files.requirements import frozen
from gemini_mcp_spec.files.spec_files import SpecFiles

Place: TypeAlias = Sequence[str | int]

SPEC = Path(__file__).parents[2] / "spec"

_LEFT_OUT = ("server/scripts/", "server/scenarios/", "server/cases/", "host/scenarios/", "host/vectors/")
_KEPT = {
    "server/cases/chat-model.json",
    "server/cases/exit-41.json",
    "server/cases/arguments-missing.json",
    "server/cases/text-warnings.json",
    "server/scenarios/cancel.json",
    "server/scenarios/answers-in-reverse-order.json",
    "server/scripts/success.json",
    "host/scenarios/comments.json",
    "host/scenarios/call-timeout.json",
    "host/vectors/tool-filter.json",
}


@dataclass(frozen=True)
class Edit:
    """One change of one file, and the place there."""

    file: str
    apply: Callable[[bytes], bytes | None]
    place: Place = ()

    def of(self, spec: SpecFiles) -> SpecFiles:
        """`spec` with this edit."""
        content = self.apply(spec.files.get(self.file, b"{}"))
        files = {**spec.files, self.file: content or b""}
        return replace(
            spec, files={path: held for path, held in files.items() if path != self.file or content is not None}
        )


@cache
def small() -> SpecFiles:
    """The specification with few of its examples and requirements, and all else."""
    spec = read_directory(SPEC)
    wanted = {path for path in spec.files if not path.startswith((*_LEFT_OUT, "released/"))} | _KEPT | _scripts(spec)
    files = {path: content for path, content in spec.files.items() if path in wanted}
    files["requirements.json"] = _text({"requirements": _requirements(spec)})
    current = at_version(replace(spec, files=files), "1.0.0")
    path, text = frozen(current)
    return replace(current, files={**current.files, path: text.encode()})


def _requirements(spec: SpecFiles) -> list[Json]:
    """The requirements that the kept examples name, and the first two that cite each source."""
    named = {name for path in _KEPT for name in _names(spec.documents[path])}
    cited: Counter[str] = Counter()
    kept: list[Json] = []
    for entry in spec.documents["requirements.json"]["requirements"]:
        source = {key: value for key, value in entry["source"].items() if key not in ("heading", "reason")}
        cited[str(source)] += 1
        if any(is_member(name, entry["id"]) for name in named) or cited[str(source)] <= 2:
            kept.append({**entry, "since": "1.0.0"})
    return kept


def _names(example: Json) -> set[str]:
    entries = example if is_array(example) else [example]
    return {name for entry in entries for name in entry.get("requirements", ())}


def _scripts(spec: SpecFiles) -> set[str]:
    scenarios = [path for path in _KEPT if path.startswith("server/scenarios/")]
    steps = [step for path in scenarios for step in spec.documents[path]["steps"]]
    return {f"server/scripts/{step['script']}.json" for step in steps if isinstance(step.get("script"), str)}


def changed(file: str, place: Place, value: Json) -> Edit:
    """The value at `place` is another; a key or the index after the last is added."""

    def change(document: Json) -> None:
        holder = _at(document, place[:-1])
        if is_array(holder) and place[-1] == len(holder):
            _at(document, place[:-1]).append(value)
        else:
            _at(document, place[:-1])[place[-1]] = value

    return _edit(file, change, place)


def without(file: str, place: Place) -> Edit:
    """The value at `place` is gone."""

    def change(document: Json) -> None:
        del _at(document, place[:-1])[place[-1]]

    return _edit(file, change, place)


def written(file: str, document: Json) -> Edit:
    """The file holds another document."""
    return Edit(file, lambda _: _text(document))


def swapped(file: str, place: Place, one: int, other: int) -> Edit:
    """Two elements of the array at `place` have changed places."""

    def change(document: Json) -> None:
        held = _at(document, place)
        held[one], held[other] = held[other], held[one]

    return _edit(file, change, place)


def replaced(file: str, old: str, new: str, times: int = 1) -> Edit:
    """The first `old` of the text is `new`, or the first few."""
    return Edit(file, lambda content: content.decode().replace(old, new, times).encode())


def deleted(file: str) -> Edit:
    """The file is gone."""
    return Edit(file, lambda _: None)


def at_version(spec: SpecFiles, version: str) -> SpecFiles:
    """`spec` under another version."""
    return changed("manifest.json", ["version"], version).of(spec)


def laid_out(spec: SpecFiles, folder: Path) -> str:
    """The name of `folder`, which holds the files of `spec` now."""
    for path, content in spec.files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return str(folder)


def packed(spec: SpecFiles, file: Path) -> str:
    """The name of `file`, which is a wheel with the files of `spec` now."""
    with zipfile.ZipFile(file, "w") as wheel:
        for path, content in spec.files.items():
            wheel.writestr(f"gemini_mcp/_spec/{path}", content)
    return str(file)


def committed(spec: SpecFiles, folder: Path) -> None:
    """Make `folder` a repository on the branch `main` that holds `spec`."""
    laid_out(spec, folder / "spec")
    identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    for words in (("init", "-q", "-b", "main"), ("add", "spec"), (*identity, "commit", "-qm", "Begin")):
        subprocess.run(["git", *words], cwd=folder, timeout=30, check=True)


def document(file: str) -> Json:
    """A copy of what a file of the specification holds."""
    return copy.deepcopy(small().documents[file])


def requirement(identifier: str) -> int:
    """The index of a requirement."""
    entries: list[Mapping[str, Json]] = small().documents["requirements.json"]["requirements"]
    return next(index for index, entry in enumerate(entries) if entry["id"] == identifier)


def _edit(file: str, change: Callable[[Json], None], place: Place) -> Edit:
    def apply(content: bytes) -> bytes:
        document = json.loads(content)
        change(document)
        return _text(document)

    return Edit(file, apply, place)


def _at(document: Json, place: Place) -> Json:
    for step in place:
        document = document[step]
    return document


def _text(document: Json) -> bytes:
    return (json.dumps(document, indent=2, ensure_ascii=not is_unicode(document)) + "\n").encode()
