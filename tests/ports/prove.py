"""Proves the suite on ports: each defective one dies by the check it names first, each odd one conforms.

`python tests/ports/prove.py` plays on each defective port the conversation that `killers.json` names for it, and on
each odd port a part of all those. A defective port that its conversation does not kill is played everything that can
show its fault, and the proof says so; one that survives is tried once more, alone. `--all` plays everything on every
port. Names choose ports, and `--part 1/2` every second one. A survivor, or an odd port that is accused, ends the proof
with 1. The ports of `unseen.json`, which no run can kill, are left out unless they are named.

`--write` measures anew which conversations kill each defective port, or those that are named, and keeps that in
`killers.json`, and in the suite for its badge, for `explain` and for the order of a run.
`--precision` tells how many requirements each defective port fails in a strict run. It plays the conversations of
`killers.json`; with `--all` every conversation, for hours. It ends with 1 when a port in twenty, not counting those of
`broad.json`, fails more than three.
"""

import argparse
import gc
import json
import multiprocessing
import sys
from collections.abc import Callable, Container, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import killers
import precision
from defects import all_defects
from gemini_mcp_conformance.judge import checks
from killers import Kill, Killers
from proof import Proof, conforming, conversations, known, measured, price, quick, thorough
from trials import defective, odd

PARTS = 36
"""Each odd port is tried on one in so many of the conversations that kill a defective port."""
LONG = 5.0
"""Seconds from which on a conversation is too long for odd ports."""

Done = TypeVar("Done")


def side_by_side(work: Sequence[Callable[[], Done]], jobs: int) -> Iterator[Done]:
    """What comes of each piece of work, in the order in which they end; now and then it prints how many have.

    Workers are forked, so that they share the conversations, which take seconds to make. The garbage collector, which
    pytest calls often, does not look at these again.
    """
    checks.load()
    conversations()
    gc.collect()
    gc.freeze()
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        for number, done in enumerate(pool.imap_unordered(_done, work), 1):
            yield done
            if number % 25 == 0:
                print(f"{number} of {len(work)} ports", flush=True)


def _done(work: Callable[[], Done]) -> Done:
    return work()


def proofs(names: Sequence[str], is_all: bool, part: slice) -> list[Callable[[], Proof]]:
    """The proof of every port in a part of them, or of those that are named; what takes long comes first."""
    seconds = {name: kill.seconds for name, kill in known().items()}
    broken = sorted(defective(names), key=lambda trial: -seconds.get(trial.name, LONG))
    kill = thorough if is_all else quick
    return [*[partial(kill, trial) for trial in broken][part], *[*_odd(names, is_all or bool(names))][part]]


def _odd(names: Sequence[str], is_all: bool) -> Iterator[Callable[[], Proof]]:
    played = conversations() if is_all else _ranked(known())
    offered = [id for id in played if conversations()[id].seconds < LONG]
    for number, trial in enumerate(odd(names)):
        yield partial(conforming, trial, offered if is_all else offered[number % PARTS :: PARTS])


def _ranked(found: Killers) -> Sequence[str]:
    return killers.ranked(found, {id: price(each) for id, each in conversations().items()})


def mutants(killed: Container[str]) -> dict[str, Any]:
    """What the suite keeps of the defective ports."""
    return {
        "mutants": [
            {"name": name, "sentence": defect.sentence, "kills": list(defect.kills), "killed": name in killed}
            for name, defect in all_defects().items()
        ]
    }


def kept(name: str) -> Path:
    """A file of the suite."""
    package = find_spec("gemini_mcp_conformance")
    assert package is not None
    assert package.origin is not None
    return Path(package.origin).parent / name


def main(arguments: Sequence[str]) -> int:
    options = _options(arguments)
    trials = defective(options.names)
    if options.precision:
        work = [partial(precision.accused, trial, options.all) for trial in trials]
        return precision.tell(side_by_side(work, options.jobs))
    todo = (
        [partial(measured, trial) for trial in trials]
        if options.write
        else proofs(options.names, options.all, options.part)
    )
    every = [_told(proof) for proof in side_by_side(todo, options.jobs)]
    if options.write:
        _write(every, bool(options.names))
        return _summary(every)
    return _summary([*map(_alone, every)])


def _alone(proof: Proof) -> Proof:
    """A defective port that survived beside others is tried once more: a busy machine hides races."""
    if not proof.trial.killer or not proof.complaints:
        return proof
    print(f"{proof.trial.name}: once more, with nothing beside it", flush=True)
    return _told(quick(proof.trial))


def _part(text: str) -> slice:
    """`1/2` is every second one, from the first."""
    number, count = map(int, text.split("/"))
    if not 1 <= number <= count:
        raise argparse.ArgumentTypeError(f"{text!r} is no part; the second of three is 2/3")
    return slice(number - 1, None, count)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="ports to prove (default: all)")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (default: 2)")
    parser.add_argument(
        "--part", type=_part, default="1/1", metavar="K/N", help="prove the Kth of N parts (default: 1/1)"
    )
    parser.add_argument("--all", action="store_true", help="play every conversation, not only those known to kill")
    parser.add_argument("--precision", action="store_true", help="tell how many requirements each defective port fails")
    parser.add_argument("--write", action="store_true", help="measure and keep which conversations kill which port")
    return parser.parse_args(arguments)


def _write(every: Sequence[Proof], is_part: bool) -> None:
    kills = {proof.trial.name: proof.kill or Kill((), LONG) for proof in every if not proof.complaints}
    found = {**known(), **kills} if is_part else kills
    killers.save(found)
    kept("tell/mutants.json").write_text(json.dumps(mutants(found), indent=2) + "\n", encoding="utf-8")
    kept("talk/sources/first.json").write_text(json.dumps(_ranked(found), indent=0) + "\n", encoding="utf-8")


def _told(proof: Proof) -> Proof:
    for told in (*proof.complaints, *([proof.note] if proof.note else [])):
        print(f"{proof.trial.name}: {told}", flush=True)
    return proof


def _summary(every: Sequence[Proof]) -> int:
    broken = [proof for proof in every if proof.trial.killer]
    unusual = [proof for proof in every if not proof.trial.killer]
    killed = sum(not proof.complaints for proof in broken)
    fine = sum(not proof.complaints for proof in unusual)
    print(f"Defective ports: {killed} of {len(broken)} killed. Odd ports: {fine} of {len(unusual)} conform.")
    return 0 if killed == len(broken) and fine == len(unusual) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
