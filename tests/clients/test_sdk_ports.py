"""Ports on the official TypeScript SDK: the suite accuses them of known faults of the SDK, and of nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest
from installed import modules, node

HERE = Path(__file__).parent
PATIENCE = 600.0

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("version", ["1", "2"])
def test_a_port_on_the_official_sdk_has_only_the_faults_of_the_sdk(version: str) -> None:
    baseline = HERE / "baselines" / f"typescript-{version}.json"
    suite = Path(sys.executable).with_name("gemini-mcp-conformance")
    run = (suite, "run", "--strict", "--baseline", baseline, "--")
    port = (node() / "node", HERE / "sdk-port.mjs", modules(), version)
    done = subprocess.run(
        (*run, *port),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout
