"""Proves the suite on ports: each defective one dies by the check it names first, each odd one conforms.

`python tests/ports/prove.py` runs all of them, several at a time; names choose some. A survivor, or an odd port that is
accused, ends it with 1. `--write` keeps what was proven in the suite, for its badge and for `explain`. `--precision`
judges each defective port by all requirements, on the conversations that can show its fault, and tells how many fail.
"""

import argparse
import json
import multiprocessing
import sys
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import oddity
from defects import DEFECTS
from gemini_mcp_conformance.play.patience import Patience
from gemini_mcp_conformance.play.target import Target
from gemini_mcp_conformance.run.options import Options
from gemini_mcp_conformance.run.run import gather, run, useful
from gemini_mcp_conformance.run.selection import Selection
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.tell.report import Report
from http_port import HttpPort
from odd import ODD
from serving import served

HERE = Path(__file__).resolve().parent
CORRECT = (sys.executable, str(HERE / "port.py"))
"""What a port over HTTP is compared with."""
DEFECTIVE_EXAMPLES = 60
ODD_EXAMPLES = 15
PARTS, LONG = 8, 5.0
"""Each odd port is tried on one conversation in so many, on none that takes so many seconds, and on all when named."""
IMPATIENT = Patience(answer=4, start=3, end=4, files=1)
"""A defective port is waited for less: it need not be right about anything else."""
PRECISE = 3
"""Requirements that a port with one fault should fail at most."""
BUDGET = 300.0
"""Seconds for one port, however busy the machine is."""


@dataclass(frozen=True)
class Trial:
    """A port to be judged; `killer` is the requirement on which a defective one must fail.

    `part` says on which of the conversations an odd one is tried; None is all.
    """

    name: str
    command: tuple[str, ...]
    killer: str | None = None
    over_http: bool = False
    part: int | None = None


@dataclass(frozen=True)
class Proof:
    """What became of a trial; no complaints is what was to be proven."""

    trial: Trial
    complaints: tuple[str, ...]


def trials(names: Sequence[str]) -> list[Trial]:
    """Every port, or those that were named."""
    defective = [
        Trial(
            defect.name,
            (sys.executable, str(HERE / "defective.py"), defect.name),
            defect.kills[0],
            issubclass(defect.port, HttpPort),
        )
        for defect in DEFECTS.values()
    ]
    unusual = [
        Trial(odd.name, tuple(oddity.command(odd)), part=None if names else number % PARTS)
        for number, odd in enumerate(ODD.values())
    ]
    return [trial for trial in defective + unusual if not names or trial.name in names]


def prove(trial: Trial) -> Proof:
    """Run the suite on one port."""
    with served(trial.command, beside=CORRECT) if trial.over_http else nullcontext(Target(trial.command)) as target:
        return judged(trial, target)


def judged(trial: Trial, target: Target) -> Proof:
    """What the suite says of it."""
    if trial.killer is None:
        options = Options(target, examples=ODD_EXAMPLES, budget=BUDGET)
        return Proof(trial, _accusations(run(options, telling(options, trial.part))))
    only = Selection(only=(trial.killer,))
    options = Options(
        target, only, True, fail_fast=True, examples=DEFECTIVE_EXAMPLES, budget=BUDGET, jobs=2, patience=IMPATIENT
    )
    return Proof(trial, _survival(run(options)))


def accused(trial: Trial) -> tuple[str, tuple[str, ...]]:
    """The requirements that a defective port fails when all of them are judged."""
    with served(trial.command, beside=CORRECT) if trial.over_http else nullcontext(Target(trial.command)) as target:
        own = Options(target, Selection(only=(str(trial.killer),)), examples=0)
        chosen = useful(gather(own)[0], own, {str(trial.killer)})
        options = Options(target, strict=True, examples=0, budget=BUDGET, jobs=2, patience=IMPATIENT)
        report = run(options, chosen)
    return trial.name, tuple(judged.id for judged in report.judgements if judged.verdict == "fail")


def _precision(todo: Sequence[Trial], jobs: int) -> int:
    with multiprocessing.get_context("spawn").Pool(jobs, maxtasksperchild=20) as pool:
        found = dict(pool.imap_unordered(accused, [trial for trial in todo if trial.killer is not None]))
    counts = sorted(map(len, found.values()))
    for name, ids in sorted(found.items(), key=lambda pair: -len(pair[1])):
        if len(ids) > PRECISE:
            print(f"{name}: {len(ids)} fail: {', '.join(ids)}")
    share = sum(count <= PRECISE for count in counts) / len(counts)
    print(
        f"Requirements that fail: median {median(counts):g}, at most {PRECISE} for {share:.0%} of {len(counts)} ports."
    )
    return 0


def telling(options: Options, part: int | None) -> list[Conversation]:
    """The conversations of that part, less those that take long."""
    every = [each for each in gather(options)[0] if each.seconds < LONG]
    return every if part is None else every[part::PARTS]


def _survival(report: Report) -> tuple[str, ...]:
    judged = report.judgements[0]
    return () if judged.verdict == "fail" else (f"{judged.id} is {judged.verdict}: {judged.message}",)


def _accusations(report: Report) -> tuple[str, ...]:
    wrong = [judged for judged in report.judgements if judged.level == "MUST" and judged.verdict not in FINE]
    return tuple(f"{judged.id} is {judged.verdict}: {judged.message}" for judged in wrong)


FINE = ("pass", "not-applicable", "undecided")


def mutants(proofs: Iterable[Proof]) -> dict[str, Any]:
    """What the suite keeps of the defective ports."""
    killed = {proof.trial.name for proof in proofs if not proof.complaints}
    return {
        "mutants": [
            {"name": name, "sentence": defect.sentence, "kills": list(defect.kills), "killed": name in killed}
            for name, defect in DEFECTS.items()
        ]
    }


def kept() -> Path:
    """The file of the suite in which they are kept."""
    package = find_spec("gemini_mcp_conformance")
    assert package is not None
    assert package.origin is not None
    return Path(package.origin).parent / "tell/mutants.json"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="ports to prove (default: all)")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (default: 2)")
    parser.add_argument("--precision", action="store_true", help="tell how many requirements each defective port fails")
    parser.add_argument("--write", action="store_true", help="keep the defective ports in the suite")
    options = parser.parse_args(arguments)
    if options.write and options.names:
        parser.error("--write keeps the result of all ports; name none.")
    todo = trials(options.names)
    if options.precision:
        return _precision(todo, options.jobs)
    with multiprocessing.get_context("spawn").Pool(options.jobs, maxtasksperchild=20) as pool:
        proofs = [_told(proof, number, len(todo)) for number, proof in enumerate(pool.imap_unordered(prove, todo), 1)]
    if options.write:
        kept().write_text(json.dumps(mutants(proofs), indent=2) + "\n", encoding="utf-8")
    return _summary(proofs)


def _told(proof: Proof, number: int, count: int) -> Proof:
    for complaint in proof.complaints:
        print(f"{proof.trial.name}: {complaint}", flush=True)
    if number % 25 == 0:
        print(f"{number} of {count} ports", flush=True)
    return proof


def _summary(proofs: Sequence[Proof]) -> int:
    defective = [proof for proof in proofs if proof.trial.killer]
    unusual = [proof for proof in proofs if not proof.trial.killer]
    killed = sum(not proof.complaints for proof in defective)
    fine = sum(not proof.complaints for proof in unusual)
    print(f"Defective ports: {killed} of {len(defective)} killed. Odd ports: {fine} of {len(unusual)} conform.")
    return 0 if killed == len(defective) and fine == len(unusual) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
