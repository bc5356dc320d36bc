"""Serving: a port over HTTP beside a fake gemini, for as long as it is judged. Starts and ends processes."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from gemini_mcp_conformance.play.fake.fake import Fake
from gemini_mcp_conformance.play.target import Target
from gemini_mcp_conformance.play.workplace import FAKE, PORT, environment, make_place

END_SECONDS = 5.0


@contextmanager
def served(command: Sequence[str], beside: tuple[str, ...] = ()) -> Generator[Target]:
    """The running port as a target; `beside` is the command of the port over stdio that it is compared with."""
    with TemporaryDirectory() as folder, Fake.create(Path(folder, FAKE)) as fake:
        place = make_place(Path(folder, PORT))
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            cwd=place.work,
            env=environment(Target(), place, fake),
            start_new_session=True,
        ) as port:
            assert port.stdout is not None
            try:
                yield Target(beside, port.stdout.readline().decode("utf-8").strip(), Path(folder))
            finally:
                end(port)


def end(port: subprocess.Popen[bytes]) -> None:
    """Ask it to end, and end what is left of its process group."""
    port.terminate()
    with suppress(subprocess.TimeoutExpired):
        port.wait(END_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(port.pid, signal.SIGKILL)
