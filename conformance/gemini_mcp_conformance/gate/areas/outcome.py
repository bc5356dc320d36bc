"""Results and errors compared: what callers read in them, and what ports read in gemini's output. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gemini_mcp_conformance.gate.change import Change, Verdict, Witness, breaking, harmless, notice
from gemini_mcp_conformance.gate.positions import Json, Path, is_array, is_object
from gemini_mcp_conformance.gate.rules.server import OUTCOME
from gemini_mcp_conformance.gate.spec_files import SpecFiles
from gemini_mcp_conformance.gate.versions import Bump

_CALLERS = frozenset({"prefix", "separator", "meta"})
"""What callers read; everything else that is not named below binds ports."""

_FIELD = re.compile(r"\{[a-z]+\}")


def outcome_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """Everything that `outcome.json` says differently."""
    before, after = old.documents.get(OUTCOME, {}), new.documents.get(OUTCOME, {})
    for key in sorted({*before, *after}):
        if before.get(key) == after.get(key):
            continue
        match key:
            case "sentences":
                yield from _sentences(before.get(key, []), after.get(key, []))
            case "notices":
                yield from _notices(before.get(key, {}), after.get(key, {}))
            case "said":
                yield notice(
                    Bump.PATCH,
                    "sentence-reworded",
                    OUTCOME,
                    (key,),
                    "`said` is another.",
                    before.get(key),
                    after.get(key),
                )
            case _:
                yield from _leaves(key, (key,), before.get(key), after.get(key))


def _leaves(section: str, path: Path, old: Json, new: Json) -> Iterator[Change]:
    if is_object(old) and is_object(new):
        for key in sorted({*old, *new}):
            if old.get(key) != new.get(key):
                yield from _leaves(section, (*path, key), old.get(key), new.get(key))
    elif path == ("stderr", "masks") and is_array(old) and is_array(new):
        yield from _masks(path, old, new)
    else:
        verdict = Verdict.CALLERS if section in _CALLERS else Verdict.PORTS
        message = f"`{'.'.join(map(str, path))}` was {old!r} and is {new!r}."
        yield breaking(verdict, f"outcome-{section}", OUTCOME, path, message, old, new)


def _masks(path: Path, old: Sequence[Json], new: Sequence[Json]) -> Iterator[Change]:
    for mask in [mask for mask in old if mask not in new]:
        yield breaking(Verdict.CALLERS, "mask-removed", OUTCOME, path, f"{mask!r} is masked no longer.", mask)
    for mask in [mask for mask in new if mask not in old]:
        yield breaking(Verdict.PORTS, "mask-added", OUTCOME, path, f"Ports have to mask {mask!r}.", None, mask)
    if sorted(old) == sorted(new):
        yield breaking(Verdict.PORTS, "mask-order", OUTCOME, path, "The masks have another order.", old, new)


def _notices(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[Change]:
    for name in sorted({*old, *new}):
        path = ("notices", name)
        if name not in new:
            yield breaking(Verdict.CALLERS, "notice-removed", OUTCOME, path, f"The notice {name!r} is gone.", old[name])
        elif name not in old:
            yield harmless(Bump.MINOR, "notice-added", OUTCOME, path, f"The notice {name!r} is new.", None, new[name])
        elif old[name] != new[name]:
            yield notice(
                Bump.PATCH, "sentence-reworded", OUTCOME, path, f"{name!r} is said otherwise.", old[name], new[name]
            )


def _sentences(old: list[Json], new: list[Json]) -> Iterator[Change]:
    before = {str(entry.get("id")): entry for entry in old}
    after = {str(entry.get("id")): (index, entry) for index, entry in enumerate(new)}
    for name in [name for name in before if name not in after]:
        yield _shown(
            breaking(
                Verdict.CALLERS,
                "sentence-removed",
                OUTCOME,
                ("sentences",),
                f"{name!r} is no longer said.",
                before[name],
            ),
            old,
            new,
        )
    for name, (index, entry) in after.items():
        path = ("sentences", index)
        if name not in before:
            yield harmless(Bump.MINOR, "sentence-added", OUTCOME, path, f"The sentence {name!r} is new.", None, entry)
        else:
            for change in _sentence(name, path, before[name], entry):
                yield _shown(change, old, new) if change.verdict.breaks else change
    kept = [[name for name in names if name in before and name in after] for names in (before, after)]
    if kept[0] != kept[1]:
        message = "The sentences have another order, and the first that fits is said."
        yield _shown(breaking(Verdict.CALLERS, "sentence-order", OUTCOME, ("sentences",), message, *kept), old, new)


def _sentence(name: str, path: Path, old: Json, new: Json) -> Iterator[Change]:
    for key in ("when", "stderr"):
        if old.get(key) != new.get(key):
            message = f"{name!r} is said on another condition: `{key}` was {old.get(key)!r} and is {new.get(key)!r}."
            yield breaking(
                Verdict.CALLERS, "sentence-condition", OUTCOME, (*path, key), message, old.get(key), new.get(key)
            )
    if old.get("exit") != new.get("exit"):
        lost = "exit" in new and ("exit" not in old or set(old["exit"]) - set(new["exit"]))
        message = f"{name!r} is said for other exit codes: {old.get('exit')} before, {new.get('exit')} now."
        values = old.get("exit"), new.get("exit")
        if lost:
            yield breaking(Verdict.CALLERS, "sentence-condition", OUTCOME, (*path, "exit"), message, *values)
        else:
            yield notice(Bump.MINOR, "sentence-condition", OUTCOME, (*path, "exit"), message, *values)
    if old.get("sentence") != new.get("sentence"):
        texts = str(old.get("sentence")), str(new.get("sentence"))
        same = set(_FIELD.findall(texts[0])) == set(_FIELD.findall(texts[1]))
        message = f"{name!r} is said otherwise{'' if same else ', with other fields'}."
        yield notice(
            Bump.PATCH if same else Bump.MINOR, "sentence-reworded", OUTCOME, (*path, "sentence"), message, *texts
        )


def _shown(change: Change, old: list[Json], new: list[Json]) -> Change:
    """`change` with an exit code that is told otherwise, where there is one."""
    for code in range(1, 256):
        before, after = _said(old, code), _said(new, code)
        if before != after:
            return replace(change, witness=Witness({"exit": code, "stderr": ""}, f"says {before!r}", f"says {after!r}"))
    return change


def _said(sentences: list[Json], code: int) -> str | None:
    fitting = (entry for entry in sentences if entry.get("when") == "exit" and code in entry.get("exit", [code]))
    return next((str(entry.get("id")) for entry in fitting if not entry.get("stderr")), None)
