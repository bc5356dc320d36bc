"""Proof: shows that the fake gemini works in a directory, or raises SuiteError. Effect.

A broken fake would make every port look broken.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from gemini_mcp_conformance.errors import SuiteError
from gemini_mcp_conformance.play.fake.fake import Fake
from gemini_mcp_conformance.play.fake.script import Play
from gemini_mcp_conformance.spec.script import Script

SECONDS = 10
ARGUMENT, ANSWER = "a b\n'c'", "The fake answers.\n"


def prove(root: Path) -> None:
    """Run a fake in `root` once, and read its journal."""
    script = Script("proof", ({"stdout": ANSWER}, {"exit": 0}))
    with Fake.create(root) as fake:
        fake.load((Play(script),))
        answer = _answer(fake)
        kept = [call.argv for call in fake.calls()]
    if (answer, kept) != (ANSWER.encode(), [(ARGUMENT.encode(),)]):
        raise SuiteError(f"The fake gemini is broken: it answered {answer!r} and kept {kept!r}.")


def _answer(fake: Fake) -> bytes:
    try:
        command = [str(fake.program), ARGUMENT]
        env = fake.environ(os.environ)
        done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SuiteError(
            f"The fake gemini does not run: {error}. TMPDIR must name a directory in which programs may run."
        ) from None
    return done.stdout
