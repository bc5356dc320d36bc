"""Witnesses in reports: values that two sides treat differently, as lines of text or Markdown. Pure."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from gemini_mcp.report.values import abbreviated
from gemini_mcp.spec.values import Json


@dataclass(frozen=True)
class Witness:
    """A value that the two sides treat differently: what each makes of it."""

    value: Json
    old: Json
    new: Json

    def to_json(self) -> Json:
        return {"value": abbreviated(self.value), "old": abbreviated(self.old), "new": abbreviated(self.new)}


def lines(witness: Witness) -> Iterator[str]:
    """The witness below the line of its change."""
    told = witness.to_json()
    yield f"    witness: {json.dumps(told['value'], ensure_ascii=False)}"
    yield f"    old: {_said(told['old'])}; new: {_said(told['new'])}"


def details(witness: Witness, fingerprint: str) -> list[str]:
    """The witness in Markdown, folded, named by the fingerprint of its change."""
    # Three backticks in a value would end the block of code.
    text = json.dumps(witness.to_json(), indent=2, ensure_ascii=False).replace("```", "` ` `")
    head = f"<details><summary>Witness of <code>{fingerprint}</code></summary>"
    return ["", head, "", "```json", text, "```", "", "</details>"]


def _said(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
