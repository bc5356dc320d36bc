"""Changes: what differs between two locks, how grave it is, and the value that shows it. Pure.

Only the record and the sentence belong here; what differs is found in `comparison` and in the modules that it names.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from gemini_mcp.host.locks.rules import RULES, Verdict
from gemini_mcp.host.tools import hidden
from gemini_mcp.report.positions import Path
from gemini_mcp.report.values import shown
from gemini_mcp.report.witness import Witness
from gemini_mcp.schema.inline import canonical
from gemini_mcp.schema.judgement import Effect, Judgement
from gemini_mcp.spec.values import Json

_BEFORE, _SHOWN = 20, 70
"""How much of a long text is shown: a little before the first difference, and some from there on."""


@dataclass(frozen=True)
class Change:
    """One difference. `path` is that in the new lock, or in the old one for what has gone."""

    rule: str
    verdict: Verdict
    path: Path
    message: str
    old: Json = None
    new: Json = None
    witness: Witness | None = None
    is_of_approved: bool = False

    @property
    def breaks(self) -> bool:
        return self.verdict is Verdict.BREAKING

    @property
    def is_proven(self) -> bool:
        """Whether a break of a schema is shown by a value; of what has no schema, the rule alone says it."""
        return not (self.breaks and self.rule.startswith(("arguments-", "declared-"))) or self.witness is not None

    @property
    def fingerprint(self) -> str:
        """A name for just this change, whatever else changes beside it."""
        what = [self.rule, [str(step) for step in self.path], self.old, self.new]
        return hashlib.sha256(canonical(what).encode()).hexdigest()[:12]


def change(
    kind: str, path: Path, words: Mapping[str, str], old: Json = None, new: Json = None, witness: Witness | None = None
) -> Change:
    """The change that a rule names; `words` fill the rule's sentence."""
    rule = RULES[kind]
    before, after = apart(old, new) if isinstance(old, str) and isinstance(new, str) else (shown(old), shown(new))
    sides = {"old": "not there" if old is None else before, "new": "gone" if new is None else after}
    sentence = hidden.visible(rule.sentence.format(**{**sides, **words}))
    return Change(kind, rule.verdict, path, sentence, old, new, witness, rule.is_of_approved)


def of_schema(kind: str, path: Path, found: Judgement, verdicts: Mapping[Effect, Verdict]) -> Change:
    """The change that a difference of two schemas is."""
    message = hidden.visible(found.message)
    place = (*path, *found.path)
    verdict = verdicts[found.effect]
    shown_by = None if verdict is Verdict.COMPATIBLE else found.witness
    return Change(f"{kind}-{found.kind}", verdict, place, message, found.old, found.new, shown_by, True)


def apart(old: str, new: str) -> tuple[str, str]:
    """Two texts as JSON, long ones from a little before the place where they begin to differ."""
    if max(len(old), len(new)) <= _SHOWN:
        return shown(old), shown(new)
    same = next((place for place, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), None)
    start = max(0, (min(len(old), len(new)) if same is None else same) - _BEFORE)
    return _part(old, start), _part(new, start)


def _part(text: str, start: int) -> str:
    part = text[start : start + _SHOWN]
    return shown(f"{'… ' * (start > 0)}{part}{' …' * (start + _SHOWN < len(text))}")
