"""A few thousand odd lines and bodies, always the same ones; `fuzzing.py` sends more."""

import pytest
from client import Place
from fuzzing import fuzz_bodies, fuzz_lines


@pytest.mark.requirement("rpc:error:parse", "rpc:error:request")
def test_no_line_silences_or_ends_the_server(place: Place) -> None:
    kinds = fuzz_lines(place, 1500, seed=1)
    assert {"result", "-32700", "-32600", "-32602"} <= kinds.keys()


def test_no_body_silences_or_ends_the_server(place: Place) -> None:
    statuses = fuzz_bodies(place, 500, seed=1)
    assert {"200", "202", "400"} <= statuses.keys()
