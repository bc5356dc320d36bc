"""Makes thousands of calls while much goes wrong, and counts what must never be: calls in, a table out. Edge.

`python benchmarks/soak.py [--calls N] [--seed N] [--transport stdio|http]`. It exits with 1 when something was found.
"""

import argparse
import asyncio
import os
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from time import monotonic

from compare import ours
from gemini_mcp.spec.values import Json
from soak_clients import Client, Gone, Http, Stdio, kill
from soak_troubles import TROUBLES, Place, restore

AT_ONCE = 12
TIMEOUT = 20
SETTLED = 30.0
"""Seconds that the last processes and files of a server may take to go."""

ANSWERED = ("answer", "slow", "system", "noise", "big", "orphan", "plain", "reply")
FAILED = ("fail", "cut", "killed")
GIVEN_UP = ("hang", "stopped")
WEIGHTS = dict.fromkeys(ANSWERED, 8) | dict.fromkeys(FAILED, 3) | dict.fromkeys(GIVEN_UP, 2)
ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL, None)
"""How servers are ended with calls at work; without a signal, as clients do it."""

TROUBLE = 0.3
"""Seconds that a trouble lasts."""


@dataclass
class Tally:
    """What was counted in one soak."""

    calls: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])
    refused: int = 0
    given_up: int = 0
    lost: int = 0
    troubles: Counter[str] = field(default_factory=Counter[str])
    ends: Counter[str] = field(default_factory=Counter[str])
    memory: list[float] = field(default_factory=list[float])
    files: list[int] = field(default_factory=list[int])
    left: list[str] = field(default_factory=list[str])


class Soak:
    """One soak: a server after another, calls by several workers, and troubles beside."""

    def __init__(self, start: Callable[..., Awaitable[Client]], place: Place, calls: int, seed: int) -> None:
        self.tally = Tally()
        self._start = start
        self._place = place
        self._calls = calls
        self._chance = Random(seed)
        self._next = 0
        self._is_trouble = False
        self._troubled_until = 0.0

    async def run(self) -> Tally:
        """A long life of one server with troubles, then many short ones that are ended amid calls."""
        client = await self._serve()
        long_life = self._calls * 4 // 5
        await self._work(client, long_life // 10)
        await self._measure(client)
        for part in (1, 2):
            troubles = asyncio.create_task(self._trouble(client))
            await self._work(client, long_life * part // 2)
            troubles.cancel()
            await asyncio.gather(troubles, return_exceptions=True)
            await self._relieve(client)
            await self._measure(client)
        await client.close()
        self.tally.wrong += [f"unasked: {message}" for message in client.unasked]
        await self._check_nothing_left("the end of the client")
        while self._next < self._calls:
            await self._live_briefly()
        return self.tally

    async def _serve(self) -> Client:
        command = [*ours(), "--timeout", str(TIMEOUT), "--kill-grace", "0.2", "--max-concurrency", "8"]
        return await self._start(command, self._place.environ())

    async def _live_briefly(self) -> None:
        """A server that is ended amid calls, in one of many ways."""
        client = await self._serve()
        number = self._chance.choice(ENDS)
        work = asyncio.create_task(self._work(client, min(self._calls, self._next + 100)))
        await asyncio.sleep(self._chance.uniform(0.05, 0.8))
        self._is_trouble = True
        if number is None:
            await client.close()
        else:
            kill(client, number)
        await work
        self._is_trouble = False
        await asyncio.wait_for(client.process.wait(), SETTLED)
        self.tally.ends[number.name if number else "closed"] += 1
        if number == signal.SIGKILL:  # what it leaves behind is for the next start
            await (await self._serve()).close()
        await self._check_nothing_left(number.name if number else "the end of the client")

    async def _work(self, client: Client, until: int) -> None:
        """Make calls by several workers until so many have been made in all."""

        async def worker() -> None:
            while self._next < until and client.process.returncode is None:
                self._next += 1
                await self._one(client, self._next)

        await asyncio.gather(*(worker() for _ in range(AT_ONCE)))

    async def _one(self, client: Client, number: int) -> None:
        kind = self._chance.choices([*WEIGHTS], [*WEIGHTS.values()])[0]
        self.tally.calls[kind] += 1
        name, arguments = asked(kind, number)
        was_trouble = self._is_troubled()
        try:
            if kind in GIVEN_UP:
                result = await client.give_up(name, arguments, self._chance.uniform(0.01, 0.3))
            else:
                result = await client.call(name, arguments)
        except Gone:
            self.tally.lost += not self._is_trouble
            self.tally.refused += self._is_trouble
        except TimeoutError:
            self.tally.lost += 1
        else:
            if self._judge(kind, number, result, was_trouble or self._is_troubled()):
                await asyncio.sleep(TROUBLE / 4)  # or most calls would be made amid trouble

    def _judge(self, kind: str, number: int, result: Json, is_excused: bool) -> bool:
        """Count a result; whether trouble has refused the call."""
        if kind in GIVEN_UP and (result is None or result.get("isError")):
            self.tally.given_up += 1
        elif complaint := wrong(kind, number, result):
            is_unlisted = kind == "plain" and "sessionId" not in result.get("_meta", {})
            if is_excused and (result.get("isError") or is_unlisted):
                self.tally.refused += 1
                return True
            self.tally.wrong.append(f"{kind} {number}: {complaint}")
        return False

    def _is_troubled(self) -> bool:
        return self._is_trouble or monotonic() < self._troubled_until

    async def _trouble(self, client: Client) -> None:
        """One trouble after another. Calls beside it, and a little later, may fail, but only as errors."""
        while True:
            await asyncio.sleep(self._chance.uniform(0.3, 1.0))
            name, begin = self._chance.choice([*TROUBLES.items()])
            self.tally.troubles[name] += 1
            self._is_trouble = True
            if name == "reader":
                await client.pause(TROUBLE)
            else:
                begin(client, self._place)
                await asyncio.sleep(TROUBLE)
            await self._relieve(client)

    async def _relieve(self, client: Client) -> None:
        restore(client, self._place)
        self._troubled_until = monotonic() + 1.0
        self._is_trouble = False

    async def _measure(self, client: Client) -> None:
        await self._check_nothing_left("calls", client.process.pid)
        folder = Path(f"/proc/{client.process.pid}")
        lines = (folder / "status").read_text(encoding="utf-8").splitlines()
        self.tally.memory.append(next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:")))
        self.tally.files.append(len(os.listdir(folder / "fd")))

    async def _check_nothing_left(self, after: str, besides: int = 0) -> None:
        deadline = monotonic() + SETTLED
        while self._place.processes(besides) or any(self._place.temporary.iterdir()):
            if monotonic() > deadline:
                found = [*self._place.processes(besides), *self._place.temporary.iterdir()]
                self.tally.left.append(f"after {after}: {found}")
                return
            await asyncio.sleep(0.05)


def asked(kind: str, number: int) -> tuple[str, Mapping[str, Json]]:
    """The tool and the arguments of a call."""
    prompt = f"{kind} {number}"
    match kind:
        case "reply":
            return "chat-reply", {"prompt": prompt, "sessionId": f"s-{number % 50}"}
        case "system":
            return "chat", {"prompt": prompt, "systemPrompt": f"system {number}"}
        case _:
            return "chat", {"prompt": prompt}


def wrong(kind: str, number: int, result: Json) -> str:
    """What is wrong with a result; empty if nothing is."""
    if kind in FAILED:
        return "" if result.get("isError") else "it is no error"
    text = result["content"][0]["text"] if result.get("content") else str(result)
    session = result.get("_meta", {}).get("sessionId")
    expected = f"system {number}" if kind == "system" else f"answer {number}"
    of_session = {"reply": f"s-{number % 50}", "plain": "s-listed"}.get(kind, f"s-{number}")
    if kind == "big":
        text, padding = text[: len(expected)], text[len(expected) + 1 :]
        if len(padding) != 500_000:
            return f"{len(padding)} characters"
    return "" if (text, session) == (expected, of_session) else f"{text[:200]!r} in {session}"


def report(name: str, tally: Tally) -> str:
    """The figures of one soak, a line for each."""
    rows = {
        "calls": f"{tally.calls.total()}: " + ", ".join(f"{kind} {n}" for kind, n in sorted(tally.calls.items())),
        "troubles": ", ".join(f"{kind} {n}" for kind, n in sorted(tally.troubles.items())),
        "servers ended amid calls": ", ".join(f"{kind} {n}" for kind, n in sorted(tally.ends.items())),
        "given up": str(tally.given_up),
        "refused amid trouble": str(tally.refused),
        "wrong or crossed": str(len(tally.wrong)),
        "lost": str(tally.lost),
        "left behind": str(len(tally.left)),
        "memory of the long life": " → ".join(f"{value:.0f} MiB" for value in tally.memory),
        "its open files": " → ".join(map(str, tally.files)),
    }
    return "\n".join(f"{name:<6} {title:<26} {figure}" for title, figure in rows.items())


def _soak(name: str, calls: int, seed: int) -> Tally:
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder).resolve())
        place.make()
        try:
            return asyncio.run(Soak({"stdio": Stdio, "http": Http}[name].start, place, calls, seed).run())
        finally:
            for pid in place.processes(0):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def main(arguments: Sequence[str] | None = None) -> int:
    """Soak each transport; 0 if nothing was found."""
    parser = argparse.ArgumentParser(description="Make thousands of calls while much goes wrong.")
    parser.add_argument("--calls", type=int, default=5000, metavar="N", help="calls of each transport (default: 5000)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="what chance begins with (default: 1)")
    parser.add_argument("--transport", choices=("stdio", "http"), action="append", help="only this one")
    given = parser.parse_args(arguments)
    is_clean = True
    for name in given.transport or ("stdio", "http"):
        began = monotonic()
        tally = _soak(name, given.calls, given.seed)
        print(report(name, tally))
        print(f"{name:<6} {'seconds':<26} {monotonic() - began:.0f}", flush=True)
        for found in (*tally.wrong[:20], *tally.left[:20]):
            print(f"       {found}", file=sys.stderr)
        is_clean &= not (tally.wrong or tally.left or tally.lost)
    return 0 if is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
