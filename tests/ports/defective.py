"""A port with one defect: `python defective.py NAME` serves, `--list` prints all of them as JSON."""

import json
import sys
from pathlib import Path

from defects import Defect, all_defects, defect_named


def described(defect: Defect) -> dict[str, object]:
    command = [sys.executable, str(Path(__file__).resolve()), defect.name]
    return {"name": defect.name, "sentence": defect.sentence, "kills": defect.kills, "command": command}


if __name__ == "__main__":
    if sys.argv[1] == "--list":
        print(json.dumps([described(defect) for defect in all_defects().values()], indent=1))
    else:
        defect_named(sys.argv[1]).port().serve()
