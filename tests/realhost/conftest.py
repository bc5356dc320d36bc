"""Makes the modules beside the tests, and the host's, importable by their name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "host"))
sys.path.insert(0, str(Path(__file__).parent))
