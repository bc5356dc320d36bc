"""Judgement: a requirement with its verdict and the evidence for it, as frozen records; pure.

A field is added here and in `spec/meta/report.schema.json`.
"""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from gemini_mcp_conformance.see.call import StdinKind

Level: TypeAlias = Literal["MUST", "SHOULD", "MAY"]
Verdict: TypeAlias = Literal["pass", "fail", "not-applicable", "could-not-run", "undecided", "harness-error"]

LEVELS: tuple[Level, ...] = get_args(Level)
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

DIED, SILENT, LONG_LINE, FOREIGN = "died", "silent", "long-line", "foreign"
"""Causes that are no requirement: the port ended unasked, did not answer, fails where a line is long, or offers tools
of other names only."""

UNSEEN = "Nothing that was observed shows it."
"""Why a requirement without findings could not be judged."""


@dataclass(frozen=True)
class Run:
    """One start of gemini, as the fake journalled it; `argv` are its arguments, without the program's name."""

    argv: tuple[str, ...]
    cwd: str
    stdin_kind: StdinKind
    stdin: str | None
    system_file: str | None


@dataclass(frozen=True)
class Evidence:
    """What a verdict rests on: the conversation, and what gemini was given.

    `asked` are the positions in `sent` of the lines that it is about.
    """

    did: str
    sent: tuple[str, ...] = ()
    received: tuple[str, ...] = ()
    runs: tuple[Run, ...] = ()
    asked: tuple[int, ...] = ()


@dataclass(frozen=True)
class Judgement:
    """One requirement and its verdict; `known` is the reason in the baseline, if that lists it.

    `cause` is what is to be mended: the requirement itself, another one that explains it, or a word such as DIED.
    `seconds` is how long the conversation of the witness took; as it differs from run to run, equality ignores it.
    """

    id: str
    level: Level
    sentence: str
    verdict: Verdict
    message: str | None = None
    witness: str | None = None
    replay: str | None = None
    known: str | None = None
    cause: str | None = None
    evidence: Evidence | None = None
    seconds: float | None = field(default=None, compare=False)


def must_hold(level: str, strict: bool) -> bool:
    """Whether breaking a requirement of that level fails the run."""
    return level == "MUST" or (strict and level == "SHOULD")
