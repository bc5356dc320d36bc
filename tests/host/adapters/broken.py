"""An adapter that breaks the protocol: `python broken.py WAY`, where WAY is one of those below."""

import json
import sys
import time

from gemini_mcp.host.adapter import answer
from gemini_mcp.spec.values import JsonObject


def reply(way: str, request: JsonObject) -> str:
    """What it writes in place of the answer."""
    if way == "supports-nothing":
        return json.dumps({"id": request["id"], "unsupported": True})
    if way == "ends" or (way == "ends-once" and request["id"] == "include-hit"):
        sys.exit(3)
    if way == "hangs":
        time.sleep(3600)
    if way == "names-another":
        return json.dumps({"id": "another", "output": {}})
    if way == "empty-scenario":
        return json.dumps({"id": request["id"], "output": {}})
    if way == "chatters":
        return "listening"
    return json.dumps(answer(request))


if __name__ == "__main__":
    for line in sys.stdin:
        print(reply(sys.argv[1], json.loads(line)), flush=True)
