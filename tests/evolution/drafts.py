"""Drafts: a copy of the specification as documents that may be edited, and the directory that comes of them.

What every edit needs belongs here; an edit itself is one of `changes`.
"""

import copy
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from gemini_mcp.spec.values import Json
from gemini_mcp_spec.files.reader import read_directory
from gemini_mcp_spec.lint.linter import lint

SPEC = Path(__file__).parents[2] / "spec"
INVOCATION, OUTCOME, REQUIREMENTS = "server/invocation.json", "server/outcome.json", "requirements.json"
LOCALE, EXAMPLES = "server/locales/ko.json", ("server/cases/", "server/scenarios/")
BEGINS, RESUMES = TOOLS = ("chat", "chat-reply")
KEPT = ("chat-system-prompt.json", "reply-everything.json", "cwd-shell.json", "model-of-one-turn.json", "cancel.json")
"""The examples of a small copy, in which most others would say nothing new about a change."""

Draft: TypeAlias = dict[str, Json]
"""The documents of a specification by their paths, to be edited."""
Edit: TypeAlias = Callable[[Draft], None]


def copied(folder: Path, edits: Iterable[Edit], whole: bool = False) -> tuple[Path, list[str]]:
    """A copy of the specification with the edits, and what lint says of it; examples that lint names are left out."""
    root = folder / "spec"
    shutil.copytree(SPEC, root, ignore=None if whole else _less)
    before = read_directory(root).documents
    draft = copy.deepcopy(dict(before))
    for edit in edits:
        edit(draft)
    _write(root, before, draft)
    found = tuple(lint(read_directory(root)))
    outdated = {each.file for each in found if each.file.startswith(EXAMPLES)}
    for path in outdated:
        (root / path).unlink()
    left = tuple(lint(read_directory(root))) if outdated else found
    return root, [f"{each.file}: {each.rule}: {each.message}" for each in left]


def _less(folder: str, names: list[str]) -> list[str]:
    is_example = folder.endswith(("cases", "scenarios", "vectors"))
    return [name for name in names if name not in KEPT] if is_example else []


def _write(root: Path, before: Mapping[str, Json], draft: Mapping[str, Json]) -> None:
    for path in before.keys() | draft.keys():
        if path not in draft:
            (root / path).unlink()
        elif before.get(path) != draft[path]:
            text = json.dumps(draft[path], indent=2) + "\n"
            (root / path).write_text(text, encoding="utf-8")


def tool(name: str) -> str:
    """The path of a tool's file."""
    return f"server/tools/{name}.json"


def schema(draft: Draft, name: str) -> Json:
    return draft[tool(name)]["inputSchema"]


def template(draft: Draft, name: str) -> Json:
    return draft[INVOCATION]["tools"][name]


def calls(draft: Draft) -> Iterator[Json]:
    """Every call of the examples that gives arguments."""
    for path, document in draft.items():
        if path.startswith(EXAMPLES):
            steps = (document, *document.get("steps", ()))
            found = (each["call"] for each in steps if "call" in each)
            yield from (call for call in found if isinstance(call.get("arguments"), dict))


def renamed(table: Json, old: str, new: str) -> Json:
    """The table with another key in the same place."""
    return {new if key == old else key: value for key, value in table.items()}


def replaced(document: Json, old: str, new: str) -> Json:
    """The document with every text that is `old` replaced, keys included."""
    return json.loads(json.dumps(document).replace(json.dumps(old), json.dumps(new)))
