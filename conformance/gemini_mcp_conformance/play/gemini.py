"""Gemini: what gemini is to play in one conversation, and which of its runs came of which request. Effect.

A port that the suite did not start may run a gemini of its own; then nothing is played, and no run is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from gemini_mcp.gemini_cli.understanding import Understood, effective_prompt
from gemini_mcp_conformance.play.fake.fake import Fake
from gemini_mcp_conformance.play.fake.script import Play
from gemini_mcp_conformance.see.attribution import Pending, claimed
from gemini_mcp_conformance.see.call import Call
from gemini_mcp_conformance.see.observation import Run
from gemini_mcp_conformance.spec.specification import Specification

RECOGNISED = 512
"""Characters of a prompt by which the fake tells concurrent calls apart."""


class Gemini:
    """The fake, as the requests of one conversation see it."""

    def __init__(self, fake: Fake | None, spec: Specification, requests: Sequence[Pending]) -> None:
        self._fake, self._spec, self._requests = fake, spec, requests
        self.state = "present"
        self._runs: dict[int, Run] = {}
        """The runs that have ended, by their number: nothing about them changes any more."""

    def become(self, state: Literal["", "absent", "present"]) -> None:
        """Take the program away or put it back."""
        if self._fake is None or state in ("", self.state):
            return
        (self._fake.take_away if state == "absent" else self._fake.put_back)()
        self.state = state

    def forget_releases(self) -> None:
        if self._fake is not None:
            self._fake.forget_releases()

    def release(self, name: str) -> None:
        if self._fake is not None:
            self._fake.release(name)

    def load(self) -> None:
        """Load the scripts: in order for one pending request; for several, each is chosen by its prompt.

        The gemini of a call that was cancelled as soon as it was sent may start later than that.
        """
        if self._fake is None:
            return
        not_begun = [each for each in self._requests if each.step.until in ("sent", "held")]
        cancelled = [each for each in not_begun if each.silence == "cancelled"]
        unfinished = [*cancelled, *(pending for pending in self._requests if pending.is_unfinished)]
        # A request that is not waited for may get others beside it, so its play is bound to its prompt at once.
        matched = len(unfinished) > 1 or unfinished[-1].step.until != "answered"
        plays = [
            Play(script, pending.token[:RECOGNISED] if matched and pending.token else None)
            for pending in unfinished
            for script in pending.step.scripts
        ]
        self._fake.load(plays, min(pending.mark for pending in unfinished))

    def last(self) -> int:
        """The number of the latest run."""
        return self._fake.last() if self._fake is not None else 0

    def runs(self, since: int | None = None) -> tuple[Run, ...]:
        """The runs after number `since`, or all of the conversation."""
        first = self._requests[0].mark if self._requests else 0
        calls = self._fake.calls(first if since is None else since) if self._fake is not None else ()
        return tuple(self._runs.get(call.number) or self._run(call) for call in calls)

    def runs_of(self, pending: Pending) -> tuple[Run, ...]:
        runs, _ = claimed(self._requests, self.runs())
        return runs.get(pending.step_number, ())

    def examined_runs(self) -> tuple[Run, ...]:
        """All runs of the conversation, each with its processes that still live."""
        return tuple(self._examined(run) for run in self.runs())

    def _examined(self, run: Run) -> Run:
        # To look through all processes takes time. A run that ended by itself and started nothing has left nothing.
        if self._fake is None or (run.call.ended is not None and not run.call.children):
            return run
        return replace(run, survivors=self._fake.living(run.call))

    def has_ended(self, runs: Sequence[Run]) -> bool:
        """Whether no process of these runs lives."""
        return self._fake is None or not self._fake.alive(*(run.call for run in runs))

    def _run(self, call: Call) -> Run:
        understood = self._spec.understood(call.argv)
        prompt = effective_prompt(understood, call.stdin) if isinstance(understood, Understood) else None
        run = Run(call, understood, prompt)
        if call.ended is not None:
            self._runs[call.number] = run
        return run
