"""Every port starts and answers, and the correct one serves calls. That each defect is found is the suite's part."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from gemini_mcp.gemini_cli.understanding import Understood, effective_prompt, understand
from gemini_mcp.spec import load_requirements
from gemini_mcp_conformance.play.fake.fake import Fake
from gemini_mcp_conformance.play.fake.script import Play
from gemini_mcp_conformance.see.call import Call
from gemini_mcp_conformance.tell.mutants import mutants

JSON = Any

HERE = Path(__file__).parent
CORRECT = (sys.executable, str(HERE / "port.py"))
SECONDS = 20.0
LOG = "gemini-mcp-server.log"
"""What an odd port may keep among its temporary files."""
STATELESS: JSON = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
SESSION = "5b3b6b48-99e7-4be4-906c-9b1f2f76c7bc"


def listed(launcher: str) -> list[JSON]:
    listing = subprocess.run(
        [sys.executable, str(HERE / launcher), "--list"], capture_output=True, check=True, timeout=6 * SECONDS
    )
    return json.loads(listing.stdout)


def kept(name: str) -> JSON:
    return json.loads((HERE / name).read_text(encoding="utf-8"))


DEFECTS = listed("defective.py")
ODD = listed("oddity.py")
ODD_COMMANDS = [entry["command"] for entry in ODD if not entry["is_over_http"]]
EVERY = 1 if "THOROUGH" in os.environ else 3
"""By default one odd port of so many serves a call here; `prove.py` tries them all."""


class Client:
    """One end of a port's stdio."""

    def __init__(self, command: Sequence[str], home: Path, fake: Fake | None = None) -> None:
        base = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(home)}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=home,
            env=fake.environ(base) if fake else base,
            start_new_session=True,
        )
        self.buffer = b""
        self.meta: JSON = None

    def send(self, message: JSON) -> None:
        assert self.process.stdin is not None
        if self.meta and "params" in message:
            message = {**message, "params": {**message["params"], "_meta": self.meta}}
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def line(self) -> bytes:
        self.read_until(b"\n")
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line

    def read_until(self, awaited: bytes) -> None:
        assert self.process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while awaited not in self.buffer:
                assert selector.select(SECONDS), "The port is silent."
                piece = os.read(self.process.stdout.fileno(), 1 << 20)
                assert piece, "The port has ended its output."
                self.buffer += piece

    def receive(self, identity: JSON) -> JSON:
        """The response with this id; a ping of the port's is answered, everything else is passed over."""
        while True:
            with suppress(ValueError):
                message = json.loads(self.line())
                if message.get("method") == "ping":
                    self.send({"id": message["id"], "result": {}})
                elif "method" not in message and message.get("id") == identity:
                    return message

    def ask(self, identity: JSON, method: str, params: JSON) -> JSON:
        self.send({"id": identity, "method": method, "params": params})
        return self.receive(identity)

    def call(self, identity: JSON, tool: str, **arguments: JSON) -> JSON:
        return self.ask(identity, "tools/call", {"name": tool, "arguments": arguments})["result"]

    def end_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def end(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(SECONDS)
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()


Start = Callable[[Sequence[str]], Client]


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[Fake]:
    with Fake.create(tmp_path / "fake") as fake:
        yield fake


@pytest.fixture
def start(tmp_path: Path, fake: Fake) -> Iterator[Start]:
    clients: list[Client] = []
    home = tmp_path / "home"
    home.mkdir()

    def begin(command: Sequence[str]) -> Client:
        clients.append(Client(command, home, fake))
        return clients[-1]

    yield begin
    for client in clients:
        client.end()


def says(text: str, session: str | None = SESSION) -> Play:
    answer = {"response": text, **({"session_id": session} if session else {})}
    return Play({"play": [{"stdout": json.dumps(answer)}]})


def initialize(client: Client, version: str = "2024-11-05") -> JSON:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    answer = client.ask(1, "initialize", params)
    client.meta = STATELESS if "error" in answer else None
    client.send({"method": "notifications/initialized"})
    return answer


def test_the_suite_keeps_every_defect_and_whether_it_has_found_it() -> None:
    left = kept("unseen.json")
    expected = [(each["name"], each["sentence"], tuple(each["kills"]), each["name"] not in left) for each in DEFECTS]
    assert [(each.name, each.sentence, each.kills, each.is_killed) for each in mutants()] == expected


def test_every_defect_has_a_conversation_that_kills_it_or_a_reason_why_none_does() -> None:
    killed, left = set(kept("killers.json")), set(kept("unseen.json"))
    assert killed | left == {each["name"] for each in DEFECTS}
    assert killed & left == set()
    assert set(kept("broad.json")) <= {each["name"] for each in DEFECTS}


def test_every_defect_says_what_is_wrong_and_which_requirements_it_breaks() -> None:
    known = {requirement.id for requirement in load_requirements() if requirement.profile == "server"}
    assert {key for defect in DEFECTS for key in defect["kills"]} <= known
    assert all(defect["kills"] and defect["sentence"].endswith(".") for defect in DEFECTS)
    assert all(entry["sentence"].endswith(".") for entry in ODD)


def test_every_must_has_a_defect_of_its_own() -> None:
    musts = {
        requirement.id
        for requirement in load_requirements()
        if requirement.profile == "server" and requirement.level == "MUST" and requirement.excluded is None
    }
    # No port can break it while nothing has been removed; `tests/evolution` shows it.
    assert musts - {defect["kills"][0] for defect in DEFECTS} == {"tools:removed"}


@pytest.mark.slow
@pytest.mark.parametrize("command", ODD_COMMANDS[::EVERY], ids=lambda command: Path(command[-1]).stem)
def test_an_odd_port_serves_a_call_and_leaves_nothing(
    command: list[str], start: Start, fake: Fake, tmp_path: Path
) -> None:
    hang = Play({"play": [{"ignore": ["TERM"]}, {"child": {"seconds": 60, "holds": "stdout"}}, {"hang": True}]})
    fake.load([says(" Päris\n{}"), says("more"), hang, hang])
    client = start(command)
    initialize(client, "2025-06-18")
    text = client.call(3, "chat", prompt="- x\n\u2028 {}", model="m 1", systemPrompt="Be brief.")["content"][0]["text"]
    assert text == " Päris\n{}"
    client.call(4, "chat-reply", prompt="mcp", cwd=str(tmp_path))
    assert [asked(call) for call in fake.calls()] == [("- x\n\u2028 {}", "m 1", None), ("mcp", None, "latest")]
    assert [(call.file.content, call.cwd) for call in fake.calls()][1] == (None, str(tmp_path))
    for identity in (5, 6):
        arguments = {"prompt": "x", "systemPrompt": "y"}
        client.send({"id": identity, "method": "tools/call", "params": {"name": "chat", "arguments": arguments}})
        fake.wait_for_calls(identity - 2, SECONDS)
    client.send({"method": "notifications/cancelled", "params": {"requestId": 5}})
    fake.wait_for_end(fake.calls()[2], SECONDS)
    client.end_input()
    # Nothing says with which code.
    client.process.wait(SECONDS)
    fake.wait_for_end(fake.calls()[3], SECONDS)
    assert {each.name for each in (tmp_path / "home").iterdir()} <= {LOG}


def asked(call: Call) -> tuple[str | None, str | None, str | None]:
    """The prompt that reaches the model, which model, and in which session."""
    understood = understand(call.argv)
    assert isinstance(understood, Understood)
    assert understood.values["output-format"] in ("json", "stream-json")
    model, resume = understood.values.get("model"), understood.values.get("resume")
    assert isinstance(model, str | None)
    assert isinstance(resume, str | None)
    return effective_prompt(understood, call.stdin), model, resume


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_the_correct_port_speaks_every_revision_of_the_handshake(start: Start, version: str) -> None:
    assert initialize(start(CORRECT), version)["result"]["protocolVersion"] == version


def test_the_correct_port_serves_without_a_handshake(start: Start, fake: Fake) -> None:
    fake.load([says("Paris.")])
    client = start(CORRECT)
    params: JSON = {"name": "chat", "arguments": {"prompt": "Where?"}, "_meta": STATELESS}
    result = client.ask("a", "tools/call", params)["result"]
    assert (result["resultType"], result["_meta"]["sessionId"]) == ("complete", SESSION)
    assert "2026-07-28" in client.ask("b", "server/discover", {"_meta": STATELESS})["result"]["supportedVersions"]


def test_the_correct_port_returns_the_answer_and_the_session(start: Start, fake: Fake) -> None:
    fake.load([says(" Päris\n")])
    client = start(CORRECT)
    result = client.call(1, "chat", prompt="- Where?\n", model="m", systemPrompt="Be brief. é")
    assert result == {"content": [{"type": "text", "text": " Päris\n"}], "_meta": {"sessionId": SESSION}}
    (call,) = fake.calls()
    assert understand(call.argv) == Understood("- Where?\n", {"model": "m", "output-format": "json"})
    assert (call.file.content, call.file.mode, call.stdin) == ("Be brief. é".encode(), 0o600, None)
    assert call.file.path
    assert not Path(call.file.path).parent.exists()


def test_the_correct_port_sends_a_long_prompt_through_stdin(start: Start, fake: Fake) -> None:
    fake.load([says("ok")])
    start(CORRECT).call(1, "chat-reply", prompt="é" * 64_001)
    (call,) = fake.calls()
    assert (call.stdin, call.stdin_eof) == ("é".encode() * 64_001, True)
    assert understand(call.argv) == Understood(None, {"resume": "latest", "output-format": "json"})


def test_the_correct_port_asks_the_list_for_a_missing_session(start: Start, fake: Fake) -> None:
    listing = [{"stderr": f"  9. a [b] (1 day ago) [{'0' * 8}]\n  10. c [d] (Just now) [{SESSION}]\n"}]
    play = Play({"play": [{"stdout": '{"response": "ok"}'}], "listSessions": listing})
    fake.load([play])
    assert start(CORRECT).call(1, "chat", prompt="x")["_meta"] == {"sessionId": SESSION}


def test_the_correct_port_explains_a_failure(start: Start, fake: Fake) -> None:
    key = "AIza" + "x" * 35
    fake.load([Play({"play": [{"stderr": f"no {key}: the long prompt"}, {"exit": 41}]})])
    result = start(CORRECT).call(1, "chat", prompt="the long prompt")
    text = result["content"][0]["text"]
    assert result["isError"]
    assert text.startswith("Error executing gemini: gemini is not signed in")
    assert text.endswith("\nStderr: no [masked]: [withheld]")


def test_the_correct_port_refuses_before_anything_starts(start: Start, fake: Fake, tmp_path: Path) -> None:
    client = start(CORRECT)
    refused: list[JSON] = [{}, {"prompt": None}, {"prompt": ""}, {"prompt": "a\0"}, {"prompt": "x", "model": "-y"}]
    refused.append({"prompt": "x", "cwd": str(tmp_path / "none")})
    assert all(client.call(n, "chat", **arguments)["isError"] for n, arguments in enumerate(refused))
    assert fake.calls() == ()


def test_the_correct_port_ends_everything_of_a_cancelled_call(start: Start, fake: Fake) -> None:
    hang = [{"ignore": ["TERM"]}, {"child": {"seconds": 60, "holds": "stdout", "ignore": ["TERM"]}}, {"hang": True}]
    fake.load([Play({"play": hang})])
    client = start(CORRECT)
    arguments = {"prompt": "x", "systemPrompt": "y"}
    client.send({"id": 1, "method": "tools/call", "params": {"name": "chat", "arguments": arguments}})
    (call,) = fake.wait_for_calls(1, SECONDS)
    client.send({"method": "notifications/cancelled", "params": {"requestId": 1}})
    fake.wait_for_end(call, SECONDS)
    assert client.ask(2, "ping", {})["result"] == {}


@pytest.mark.parametrize("how", ["end of input", "SIGTERM", "SIGINT", "SIGHUP"])
def test_the_correct_port_leaves_nothing_when_it_ends(start: Start, fake: Fake, tmp_path: Path, how: str) -> None:
    fake.load([Play({"play": [{"child": {"seconds": 60, "holds": "none"}}, {"hang": True}]})])
    client = start(CORRECT)
    arguments = {"prompt": "x", "systemPrompt": "y"}
    client.send({"id": 1, "method": "tools/call", "params": {"name": "chat", "arguments": arguments}})
    (call,) = fake.wait_for_calls(1, SECONDS)
    client.end_input() if how == "end of input" else client.process.send_signal(getattr(signal, how))
    assert client.process.wait(SECONDS) == 0
    fake.wait_for_end(call, SECONDS)
    assert list((tmp_path / "home").glob("gemini-mcp-*")) == []
