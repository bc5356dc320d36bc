"""Places and servers for the tests; makes the client beside them importable by its name."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

from client import Place, Server

settings.register_profile("server", deadline=None, derandomize=True)
settings.load_profile("server")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A place for one test."""
    with Place(tmp_path) as place:
        yield place


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A place with one server, for the tests of a module."""
    with Place(tmp_path_factory.mktemp("shared")) as place:
        place.start()
        yield place


@pytest.fixture
def server(shared: Place) -> Server:
    """The server that a module shares, its fake gemini as new; for tests that leave it as they found it."""
    shared.fake.reset()
    return shared.servers[0]
