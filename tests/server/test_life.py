"""How calls and servers end, with real processes: nothing keeps running, and nothing is left behind."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from client import HELLO, PATIENCE, Place, Server, answer, play, text, wait_until

from gemini_mcp.call.threads import apart
from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.see.call import Call

STUBBORN = (
    {"ignore": ["TERM", "INT", "HUP"]},
    {"child": {"seconds": 60, "holds": "stdout", "ignore": ["TERM"]}},
    {"stderr": "noise\n"},
    {"hang": True},
)
"""Two processes that nothing but SIGKILL ends."""

ENDS: dict[str, Callable[[Server], int]] = {
    "stdin": Server.end,
    "TERM": lambda server: server.kill(signal.SIGTERM),
    "INT": lambda server: server.kill(signal.SIGINT),
    "HUP": lambda server: server.kill(signal.SIGHUP),
}


ENDLESS = """
import asyncio, threading
from gemini_mcp.call.threads import apart

async def main():
    reading = asyncio.create_task(apart(threading.Event().wait))
    await asyncio.sleep(0)
    reading.cancel()

asyncio.run(main())
"""


def test_a_server_that_ends_does_not_wait_for_what_it_still_reads() -> None:
    subprocess.run((sys.executable, "-c", ENDLESS), timeout=PATIENCE, check=True)


async def test_what_is_done_apart_raises_what_the_function_raises() -> None:
    with pytest.raises(ValueError, match="x"):
        await apart(lambda: int("x"))


def leave(server: Server) -> int:
    """Close both ends at once, as a client does that is killed."""
    server.deafen()
    return server.end()


def running(server: Server, *steps: Json, **arguments: str) -> tuple[Json, Call]:
    """The id of a call whose gemini plays on, and that gemini."""
    before = len(server.fake.calls())
    server.fake.load([play(*(steps or STUBBORN))])
    call_id = server.start("chat", **{"prompt": "hello", "systemPrompt": "be brief", **arguments})
    call = server.fake.wait_for_calls(before + 1, PATIENCE)[before]
    wait_until(Path(f"{call.files}.play").exists)
    children = sum("child" in step for step in steps or STUBBORN)
    wait_until(lambda: len(server.fake.call(call.number).children) == children)
    return call_id, server.fake.call(call.number)


@pytest.mark.requirement("cancel:child", "cancel:group", "cancel:ignored-term", "cancel:unanswered", "cancel:others")
def test_a_cancelled_call_ends_its_whole_group_and_nothing_else(place: Place) -> None:
    server = place.start("--kill-grace", "0.2")
    other, calm = running(server, {"release": "other"}, answer("still here"))
    cancelled, call = running(server)
    server.cancel(cancelled)
    place.fake.wait_for_end(call, PATIENCE)
    assert place.fake.alive(calm)
    wait_until(lambda: len(place.left()) == 1)
    place.fake.release("other")
    assert text(server.answer(other)["result"]) == "still here"
    assert server.ask("ping")["result"] == {}
    assert [message["id"] for message in map(json.loads, server.lines)] == [1, other, 4]
    assert place.left() == []


@pytest.mark.requirement("cancel:falsy-id")
@pytest.mark.parametrize("id", [0, ""])
def test_a_call_is_cancelled_whatever_its_id(server: Server, id: Json) -> None:
    server.fake.load([play({"hang": True})])
    params = {"name": "chat", "arguments": {"prompt": "hello"}}
    server.send({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    (call,) = server.fake.wait_for_calls(1, PATIENCE)
    server.cancel(id)
    server.fake.wait_for_end(call, PATIENCE)


@pytest.mark.requirement("cancel:late", "cancel:unknown", "rpc:notification:unanswered")
def test_a_cancellation_of_what_does_not_run_changes_nothing(server: Server) -> None:
    server.fake.load([play(answer("a"))])
    done = server.start("chat", prompt="hello")
    server.answer(done)
    for id in (done, 10_000, "unknown", None, {"a": 1}):
        server.cancel(id)
    assert server.ask("ping")["result"] == {}
    assert text(server.chat()) == "a"


@pytest.mark.requirement("system:removed:cancel", "cancel:child")
def test_a_call_that_is_cancelled_while_the_sessions_are_listed_leaves_nothing(server: Server) -> None:
    server.fake.load([play(answer("a", session=None), listing=[{"hang": True}])])
    call_id = server.start("chat", prompt="hello", systemPrompt="be brief")
    _, listing = server.fake.wait_for_calls(2, PATIENCE)
    server.cancel(call_id)
    server.fake.wait_for_end(listing, PATIENCE)
    wait_until(lambda: server.place.left() == [])
    assert server.ask("ping")["result"] == {}


def test_a_call_that_takes_too_long_is_ended_and_says_so(place: Place) -> None:
    server = place.start("--timeout", "0.5", "--kill-grace", "0.2")
    call_id, call = running(server, {"stderr": "my private prompt\n"}, *STUBBORN, prompt="my private prompt")
    result = server.answer(call_id)["result"]
    assert result["isError"] is True
    assert re.fullmatch(
        r"Error executing gemini: gemini did not finish within 0\.5 seconds and was stopped\. .*"
        r"\nStderr: \[withheld\]\nnoise\n",
        text(result),
    )
    assert not place.fake.alive(call)
    assert place.left() == []


@pytest.mark.requirement(
    "shutdown:stdin-end:busy",
    "shutdown:stdin-end:group",
    "shutdown:stdin-end:ignored-term",
    "shutdown:sigterm",
    "shutdown:sigterm:group",
    "shutdown:sigint:group",
    "shutdown:sighup:group",
    "shutdown:prompt",
    "system:removed:stdin-end",
    "system:removed:sigterm",
)
@pytest.mark.parametrize("end", [*ENDS.values(), leave], ids=[*ENDS, "killed client"])
def test_the_end_of_the_server_ends_what_it_runs(place: Place, end: Callable[[Server], int]) -> None:
    server = place.start("--kill-grace", "1000")
    _, stubborn = running(server)
    _, meek = running(server, {"hang": True})
    assert end(server) == 0
    assert (place.fake.alive(stubborn), place.fake.alive(meek)) == (False, False)
    assert place.left() == []
    assert "Traceback" not in server.stderr()


@pytest.mark.requirement("shutdown:stdin-end", "shutdown:sigterm")
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_an_idle_server_ends_at_once(place: Place, end: Callable[[Server], int]) -> None:
    server = place.start()
    assert end(server) == 0
    assert server.unread() == []
    assert server.stderr() == ""


@pytest.mark.requirement("shutdown:stdin-end")
def test_what_was_asked_before_the_end_of_stdin_is_answered(place: Place) -> None:
    server = place.launch()
    server.request("initialize", HELLO)
    server.notify("notifications/initialized")
    server.request("tools/list")
    server.write(b'{"jsonrpc":"2.0","id":"last","method":"ping"}')
    assert server.end() == 0
    assert [message["id"] for message in server.unread()] == [1, 2, "last"]


def test_a_second_signal_does_not_keep_the_first_from_ending_everything(place: Place) -> None:
    server = place.start()
    _, call = running(server)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        server.process.send_signal(number)
    assert server.exit() == 0
    assert not place.fake.alive(call)
    assert place.left() == []


@pytest.mark.requirement("cancel:child", "shutdown:sigterm:group")
def test_a_signal_while_a_cancelled_call_ends_hastens_its_end(place: Place) -> None:
    server = place.start("--kill-grace", "1000")
    call_id, call = running(server)
    server.cancel(call_id)
    server.ask("ping")
    assert server.kill(signal.SIGTERM) == 0
    assert call_id not in {message.get("id") for message in server.unread()}
    assert not place.fake.alive(call)
    assert place.left() == []


def test_a_client_that_reads_no_more_ends_the_server(place: Place) -> None:
    server = place.start()
    _, call = running(server, {"release": "go"}, answer("a"))
    server.deafen()
    place.fake.release("go")
    assert server.exit() == 0
    assert not place.fake.alive(call)


def test_a_client_that_does_not_read_yet_neither_blocks_a_call_nor_the_end(place: Place) -> None:
    server = place.start()
    place.fake.load([play(answer("x" * 1_000_000))])
    for _ in range(4):
        server.start("chat", prompt="hello")
    for call in place.fake.wait_for_calls(4, PATIENCE):
        place.fake.wait_for_end(call, PATIENCE)
    assert server.kill(signal.SIGTERM) == 0


def test_what_a_killed_server_left_is_swept_and_nothing_else(place: Place) -> None:
    other, killed = place.start(), place.start()
    _, kept = running(other, {"hang": True})
    _, lost = running(killed, {"hang": True})
    assert kept.file.path
    assert lost.file.path
    killed.kill(signal.SIGKILL)
    strangers = place.tmp / "gemini-mcp-strang", place.tmp / "gemini-mcp-linked", place.tmp / "gemini-mcp-a-file"
    strangers[0].mkdir()
    (place.root / "target").mkdir()
    (place.root / "target/.gemini-mcp-server").touch()
    strangers[1].symlink_to(place.root / "target")
    strangers[2].touch()
    marked = place.tmp / "gemini-mcp-marked"
    marked.mkdir()
    (marked / ".gemini-mcp-server").symlink_to(place.root / "target/.gemini-mcp-server")
    left = {*place.left()} - {Path(lost.file.path).parent.name}
    # This transport sweeps before it tells that it listens.
    with place.listening("http"):
        assert set(place.left()) == left
    assert Path(kept.file.path).read_text(encoding="utf-8") == "be brief"
    assert (place.root / "target/.gemini-mcp-server").exists()


def test_a_server_on_stdio_sweeps_too(place: Place) -> None:
    killed = place.start()
    running(killed, {"hang": True})
    killed.kill(signal.SIGKILL)
    assert len(place.left()) == 1
    place.start()
    wait_until(lambda: place.left() == [])


def test_a_server_that_ends_at_once_has_swept(place: Place) -> None:
    killed = place.start()
    _, call = running(killed, {"hang": True})
    killed.kill(signal.SIGKILL)
    assert place.run().returncode == 0
    assert place.left() == []
    wait_until(lambda: not place.fake.alive(call))
