"""Finding: what one check found in one conversation, as plain values; pure."""

from __future__ import annotations

from dataclasses import dataclass

from gemini_mcp_conformance.judge.judgement import Evidence, Verdict


@dataclass(frozen=True)
class Finding:
    """The verdict of one check on one requirement, and the observation that it rests on.

    `about` names what was wrong: complaints about the same thing in one call have one cause. `step` is that call, or
    None when the whole conversation was judged. `uses` are the requirements to list the tool and arguments of the call,
    and another that the complaint may rest on. `is_meant` says that the conversation was made to show the requirement,
    `is_own` that what went wrong with the call as a whole is just what the requirement forbids. `cause` is what
    explains the finding, if it is something else than the requirement: the id of another one, or a cause of its own
    such as DIED.
    """

    requirement: str
    conversation: str
    check: str
    outcome: Verdict
    message: str = ""
    witness: str = ""
    evidence: Evidence | None = None
    about: str = ""
    step: int | None = None
    uses: frozenset[str] = frozenset()
    is_meant: bool = False
    is_own: bool = False
    cause: str = ""
