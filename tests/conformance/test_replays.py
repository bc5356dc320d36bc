"""Failing conversations are kept by port: they do not mix, do not pile up, and are found again."""

import os
from pathlib import Path

import pytest

from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.play.target import Target
from gemini_mcp_conformance.see.observation import Observation, Place
from gemini_mcp_conformance.spec import specification
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.steps import Request
from gemini_mcp_conformance.tell import replays

OURS, THEIRS = Target(("node", "ours.js")), Target(("node", "theirs.js"))
PLACE = Place("/", "/", "/", "/")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "gemini-mcp-conformance/replays"


def seen(name: str, title: str = "") -> Observation:
    return Observation(Conversation(name, title, (Request("ping"),)), specification.load(), PLACE, "stdio")


def test_equal_names_of_two_ports_do_not_meet() -> None:
    replays.keep(OURS, [seen("ping", "ours")], is_whole=False)
    replays.keep(THEIRS, [seen("ping", "theirs")], is_whole=False)
    assert [replays.load("ping", port).title for port in (OURS, THEIRS)] == ["ours", "theirs"]


def test_the_newest_replay_of_another_port_is_taken_where_the_own_has_none() -> None:
    for number, port in enumerate((Target(url="http://127.0.0.1:1/mcp"), THEIRS)):
        replays.keep(port, [seen("ping", str(number))], is_whole=False)
        os.utime(replays.folder(port) / "ping.json", (number, number))
    assert replays.load("ping", OURS).title == "1"


def test_a_whole_run_leaves_only_its_own_replays() -> None:
    for names, is_whole in ((["old", "ping"], True), (["part"], False), (["ping"], True)):
        replays.keep(OURS, [seen(name) for name in names], is_whole)
    assert [path.name for path in replays.folder(OURS).iterdir()] == ["ping.json"]


def test_a_part_of_a_run_leaves_what_was_there() -> None:
    replays.keep(OURS, [seen("old")], is_whole=True)
    replays.keep(OURS, [seen("part")], is_whole=False)
    assert sorted(path.name for path in replays.folder(OURS).iterdir()) == ["old.json", "part.json"]


def test_a_whole_run_that_conforms_leaves_no_replay(cache: Path) -> None:
    replays.keep(OURS, [seen("old")], is_whole=True)
    assert replays.keep(OURS, [], is_whole=True) is None
    assert list(cache.iterdir()) == []


def test_ports_do_not_pile_up(cache: Path) -> None:
    for number in range(replays.PORTS + 2):
        port = Target((f"port-{number}",))
        replays.keep(port, [seen("ping")], is_whole=True)
        os.utime(replays.folder(port), (number, number))
    replays.keep(OURS, [seen("ping")], is_whole=True)
    assert (len(list(cache.iterdir())), replays.folder(OURS).exists()) == (replays.PORTS, True)


def test_a_replay_that_nobody_has_is_named() -> None:
    with pytest.raises(UsageError, match="There is no conversation 'ping' in "):
        replays.load("ping", OURS)
