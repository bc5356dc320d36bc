"""An adapter with one fault: `python broken.py NAME`; `supports-nothing` and `ends` break the protocol itself."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import faults

from gemini_mcp.host.adapter import serve

if __name__ == "__main__":
    name = sys.argv[1]
    if name == "supports-nothing":
        serve(sys.stdin, sys.stdout, lambda request: {"id": request["id"], "unsupported": True})
    elif name == "ends":
        sys.exit(3)
    else:
        serve(sys.stdin, sys.stdout, faults.broken(name))
