"""Runs over HTTP: on the reference in each of the three forms, and on a port with a defect that only HTTP shows."""

import re
import subprocess
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from command import SECONDS, suite
from gathered import every

from gemini_mcp_conformance.play.target import Target
from gemini_mcp_conformance.run.options import Options
from gemini_mcp_conformance.run.run import run

SERVER = (sys.executable, "-m", "gemini_mcp.cli")
DEFECTIVE = (sys.executable, str(Path(__file__).parent.parent / "ports" / "defective.py"), "every-origin-allowed")

OF_HTTP = ("origin", "notification", "version", "session:ended", "stateless:header", "stateless:version")
ONLY = tuple(word for name in OF_HTTP for word in ("--only", f"http:{name}"))
PARTS = 8
"""In so many parts all conversations are played over HTTP, where none runs beside another."""
PLAYED = ("--only", "cancel:others", "--only", "result:text:surrogate", "--only", "rpc:alive:surrogate")
"""Calls whose ids look the same, and half characters either way: what the SDK's own reading of HTTP gets wrong."""


@contextmanager
def serving(command: Sequence[str], stream: str) -> Generator[str]:
    """The address that a running port names at the end of the first line of a stream."""
    running = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        told = running.stderr if stream == "stderr" else running.stdout
        assert told is not None
        yield told.readline().decode("utf-8").split()[-1]
    finally:
        running.terminate()
        running.communicate(timeout=SECONDS)


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The reference beside a fake: its address, and the fake's directory."""
    place = tmp_path_factory.mktemp("reference")
    environment = suite(place, "fake", str(place / "fake")).out
    words = " ".join(f"'{word}'" for word in (*SERVER, "--transport", "http", "--port", "0"))
    with serving(["sh", "-c", f"{environment}\nexec {words}"], "stderr") as url:
        yield url, str(place / "fake")


@pytest.mark.slow
def test_a_port_that_runs_beside_a_fake_is_judged_by_its_journal_in_both_eras(
    tmp_path: Path, reference: tuple[str, str]
) -> None:
    url, fake = reference
    only = ("http:*", "stateless:*", "cwd:file", "cancel:unknown", "concurrency:ping")
    chosen = [*PLAYED, *(word for glob in only for word in ("--only", glob))]
    done = suite(tmp_path, "run", *chosen, "--examples", "1", "--url", url, "--fake", fake)
    assert done.code == 0
    assert done.out.startswith("What was selected conforms. MUST 21/21, SHOULD 4/4. 1 does not apply\n(stateless)")


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_the_reference_conforms_in_every_conversation_over_http(reference: tuple[str, str], part: int) -> None:
    url, fake = reference
    options = Options(Target(url=url, fake=Path(fake)), strict=True, budget=8 * SECONDS)
    done = run(options, every()[part::PARTS])
    assert (done.with_verdict("fail"), done.exit) == ((), 0)


def test_without_a_fake_what_needs_the_journal_is_not_judged(tmp_path: Path, reference: tuple[str, str]) -> None:
    done = suite(tmp_path, "run", *ONLY, "--only", "result:text", "--url", reference[0])
    assert (done.code, "NOT RUN  result:text" in done.out) == (3, True)
    assert "MUST 6/7" in done.out


@pytest.mark.slow
def test_a_command_beside_the_address_is_compared_with_it(tmp_path: Path, reference: tuple[str, str]) -> None:
    url, fake = reference
    words = ("--only", "http:equivalence", *PLAYED, "--examples", "1", "--url", url, "--fake", fake)
    done = suite(tmp_path, "run", *words, to=SERVER)
    assert (done.code, done.out) == (0, "What was selected conforms. MUST 3/3, SHOULD 1/1.\n")


def test_a_response_that_holds_no_answer_is_told_at_once(tmp_path: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        done = suite(tmp_path, "smoke", "--url", f"http://127.0.0.1:{server.server_port}/mcp")
        server.shutdown()
    assert (done.code, "answered the handshake with HTTP 501" in " ".join(done.out.split())) == (4, True)


def test_a_port_that_ignores_origins_is_accused_of_that_alone(tmp_path: Path) -> None:
    others = ("--only", "http:content-type", "--only", "http:get", "--only", "lifecycle:ping")
    with serving(DEFECTIVE, "stdout") as url:
        done = suite(tmp_path, "run", *ONLY[:4], *others, "--url", url)
    accused = re.findall(r"FAIL  (\S+)", done.out)
    assert (done.code, accused) == (1, ["http:origin"])
    assert "MUST 4/5" in done.out
