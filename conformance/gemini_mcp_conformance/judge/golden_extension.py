"""Golden extension: syrupy's way to compare a conversation with its golden, and to write it when asked. Effects.

For the suite's own tests; a run reads the goldens by `golden`. Takes an observation, and keeps its canonical form.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from syrupy.extensions.json import JSONSnapshotExtension

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.judge.golden import FOLDER
from gemini_mcp_conformance.see.canonical import to_golden

if TYPE_CHECKING:
    from syrupy.location import PyTestLocation
    from syrupy.types import SnapshotIndex


class GoldenExtension(JSONSnapshotExtension):
    """A file of the suite for each scenario; the snapshot's name is the scenario's."""

    def serialize(self, data: Json, **_: Json) -> str:
        return json.dumps(to_golden(data), indent=2, sort_keys=True) + "\n"

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        return str(FOLDER)

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        return str(index)
