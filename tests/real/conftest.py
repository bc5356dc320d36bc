"""The API and a server that the tests share; makes the modules beside them and the servers' client importable."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "server"))
sys.path.insert(0, str(Path(__file__).parent))

from api import Api, serving
from client import Server
from sandbox import Sandbox


@pytest.fixture(scope="session")
def running_api() -> Iterator[Api]:
    with serving() as api:
        yield api


@pytest.fixture
def api(running_api: Api) -> Api:
    """The API, as new."""
    running_api.reset()
    return running_api


@pytest.fixture
def sandbox(tmp_path: Path, api: Api) -> Iterator[Sandbox]:
    """A place for one test."""
    with Sandbox(tmp_path, api) as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def shared(running_api: Api, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Sandbox(tmp_path_factory.mktemp("shared"), running_api) as sandbox:
        yield sandbox.start("--trust-workspace")


@pytest.fixture
def server(shared: Server, api: Api) -> Server:
    """One server for all tests that leave it as they found it."""
    return shared
