"""Outcomes: what gemini does in the end, by kind, for any call; pure.

A kind holds many outcomes of like nature, and whoever asks takes one after the other. A new outcome goes into the kind
that it resembles: combinations meet every kind with everything, not every outcome.
"""

from __future__ import annotations

from collections.abc import Mapping

from gemini_mcp_conformance.talk.outcomes import answers, failures, listings
from gemini_mcp_conformance.talk.outcomes.outcome import Outcome
from gemini_mcp_conformance.talk.plays import Plays


def kinds(plays: Plays) -> Mapping[str, tuple[Outcome, ...]]:
    """The outcomes by their kind."""
    return {
        "answer": tuple(answers.usual(plays)),
        "odd-answer": tuple(answers.odd(plays)),
        "sized-answer": (*answers.sized_outputs(plays), *answers.sized_texts(plays)),
        "script": tuple(answers.scripted(plays)),
        "listed": tuple(listings.listed(plays)),
        "ended": tuple(failures.ended(plays)),
        "told": tuple(failures.told(plays)),
        "echo": tuple(failures.echoing(plays)),
    }
