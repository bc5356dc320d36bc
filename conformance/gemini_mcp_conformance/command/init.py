"""The files with which a port's repository tests every change: a GitHub workflow and an empty baseline.

`files` is pure. `write` is the only effect, and overwrites only with `force`.
"""

import shlex
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path

from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.tell import baseline

WORKFLOW = ".github/workflows/gemini-mcp-conformance.yml"
BASELINE = "gemini-mcp-baseline.json"


def files(command: Sequence[str], install: str) -> Mapping[str, str]:
    """The text of each file, by its path. The workflow installs what `install` says and runs `command`."""
    places = {"@INSTALL@": _of_shell([install]), "@BASELINE@": BASELINE, "@COMMAND@": _quoted(command)}
    text = resources.files("gemini_mcp_conformance.command").joinpath("workflow.yml").read_text(encoding="utf-8")
    for place, value in places.items():
        text = text.replace(place, value)
    return {WORKFLOW: text, BASELINE: baseline.dump(baseline.Baseline(BASELINE))}


def write(folder: Path, texts: Mapping[str, str], force: bool = False) -> tuple[Path, ...]:
    """Write the files into `folder`; UsageError before anything is written if one exists and `force` is false."""
    paths = tuple(folder / name for name in texts)
    present = [str(path) for path in paths if path.exists() or path.is_symlink()]
    if present and not force:
        verb = "exists" if len(present) == 1 else "exist"
        raise UsageError(f"{', '.join(map(repr, present))} {verb} already. Pass --force to overwrite.")
    for path, text in zip(paths, texts.values(), strict=True):
        _write(path, text)
    return paths


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{str(path)!r} cannot be written: {error.strerror}.") from None


def _quoted(command: Sequence[str]) -> str:
    """The command for the shell of a workflow; `${{` is broken up, because GitHub would replace it."""
    if not command:
        raise UsageError("There is no command. Write it after `--`, such as `init -- node server.js`.")
    if not all(argument.isprintable() for argument in command):
        raise UsageError(
            f"The command {list(command)!r} holds a character that a workflow cannot hold. Put it into a script."
        )
    return _of_shell(command)


def _of_shell(words: Sequence[str]) -> str:
    return shlex.join(words).replace("${{", "$''{{")
