"""A port that conforms oddly: `python oddity.py NAME` serves over stdio, `--list` prints all of them as JSON."""

import json
import os
import sys
from pathlib import Path

from odd import ODD, Odd


def command(odd: Odd) -> list[str]:
    if isinstance(odd.port, Path):
        return ["node", str(odd.port.resolve())]
    return [sys.executable, str(Path(__file__).resolve()), odd.name]


if __name__ == "__main__":
    if sys.argv[1] == "--list":
        entries = [{"name": odd.name, "sentence": odd.sentence, "command": command(odd)} for odd in ODD.values()]
        print(json.dumps(entries, indent=1))
    elif isinstance(port := ODD[sys.argv[1]].port, Path):
        os.execvp("node", command(ODD[sys.argv[1]]))
    else:
        port().serve()
