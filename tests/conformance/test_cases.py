"""Cases are kept by port: they do not meet, do not pile up, and are found again."""

import os
from pathlib import Path

import pytest

from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.play.target import Target
from gemini_mcp_conformance.see.observation import Observation, Place
from gemini_mcp_conformance.spec import specification
from gemini_mcp_conformance.talk.conversation import Conversation, Request
from gemini_mcp_conformance.tell import cases

OURS, THEIRS = Target(("node", "ours.js")), Target(("node", "theirs.js"))
PLACE = Place("/", "/", "/", "/")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "gemini-mcp-conformance/cases"


def seen(name: str, title: str = "") -> Observation:
    return Observation(Conversation(name, title, (Request("ping"),)), specification.load(), PLACE, "stdio")


def test_equal_names_of_two_ports_do_not_meet() -> None:
    cases.keep(OURS, [seen("ping", "ours")], is_whole=False)
    cases.keep(THEIRS, [seen("ping", "theirs")], is_whole=False)
    assert [cases.load("ping", port).title for port in (OURS, THEIRS)] == ["ours", "theirs"]


def test_the_newest_case_of_another_port_is_taken_where_the_own_has_none() -> None:
    for number, port in enumerate((Target(url="http://127.0.0.1:1/mcp"), THEIRS)):
        cases.keep(port, [seen("ping", str(number))], is_whole=False)
        os.utime(cases.folder(port) / "ping.json", (number, number))
    assert cases.load("ping", OURS).title == "1"


def test_a_whole_run_leaves_only_its_own_cases() -> None:
    for names, is_whole in ((["old", "ping"], True), (["part"], False), (["ping"], True)):
        cases.keep(OURS, [seen(name) for name in names], is_whole)
    assert [path.name for path in cases.folder(OURS).iterdir()] == ["ping.json"]


def test_a_part_of_a_run_leaves_what_was_there() -> None:
    cases.keep(OURS, [seen("old")], is_whole=True)
    cases.keep(OURS, [seen("part")], is_whole=False)
    assert sorted(path.name for path in cases.folder(OURS).iterdir()) == ["old.json", "part.json"]


def test_a_whole_run_that_conforms_leaves_no_case(cache: Path) -> None:
    cases.keep(OURS, [seen("old")], is_whole=True)
    assert cases.keep(OURS, [], is_whole=True) is None
    assert list(cache.iterdir()) == []


def test_ports_do_not_pile_up(cache: Path) -> None:
    for number in range(cases.PORTS + 2):
        port = Target((f"port-{number}",))
        cases.keep(port, [seen("ping")], is_whole=True)
        os.utime(cases.folder(port), (number, number))
    cases.keep(OURS, [seen("ping")], is_whole=True)
    assert (len(list(cache.iterdir())), cases.folder(OURS).exists()) == (cases.PORTS, True)


def test_a_case_that_nobody_has_is_named() -> None:
    with pytest.raises(UsageError, match="There is no case 'ping' in "):
        cases.load("ping", OURS)
