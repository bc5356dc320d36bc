"""Every conversation is on one track, and those that kill most ports come first."""

from __future__ import annotations

from collections import Counter

import pytest
from gathered import every

from gemini_mcp_conformance.play.tracks import BUSY, JOBS, parts, tracks_of


@pytest.mark.parametrize("jobs", [1, 2, 3, 8])
def test_every_conversation_is_on_one_track(jobs: int) -> None:
    played = Counter(each.id for track in tracks_of(every(), jobs) for each in track)
    assert played == Counter(each.id for each in every())


def test_the_tracks_that_begin_play_what_kills_most_ports_in_that_order() -> None:
    begun = tracks_of(every(), JOBS)[: int(JOBS * BUSY)]
    places = {each.id: place for place, each in enumerate(every())}
    shared = [[places[each.id] for each in track if not each.alone] for track in begun]
    assert sorted(place for track in shared for place in track) == [places[each.id] for each in parts(every())[0]]
    assert shared == [sorted(track) for track in shared]


def test_no_conversation_is_left_out_of_the_parts() -> None:
    assert {each.id for part in parts(every()) for each in part} == {each.id for each in every()}


def test_one_port_plays_all_that_can_share_it_where_no_other_runs_beside_it() -> None:
    over_stdio = [each for each in every() if not each.needs_http]
    shared = [track for track in tracks_of(over_stdio, 1) if not all(each.alone for each in track)]
    assert len(shared) == 1


def test_where_no_port_runs_beside_another_http_comes_first_and_waiting_last() -> None:
    played = [each for track in tracks_of(every(), 1) for each in track]
    special = [each for each in played if each.needs_http or each.revision is not None]
    assert any(each.needs_http for each in special)
    assert played[: len(special)] == special
    assert played[-1].only_waits
