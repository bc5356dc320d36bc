"""Sends odd lines and bodies to real servers, and checks what must hold whatever they say. Edge.

`python tests/server/fuzzing.py [--lines N] [--bodies N] [--seed N]`. The tests send a few thousand.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter, deque
from collections.abc import Iterable
from http.client import HTTPConnection
from pathlib import Path
from random import Random

from client import HANDSHAKE, PATIENCE, STATELESS, Place, Server
from mutation import message

from gemini_mcp.spec.values import Json

BATCH = 100
LATE = 20
"""Batches after which a call is answered at the latest."""

STATUSES = {200, 202, 400, 404, 405, 406, 413, 415}
"""What an HTTP server may say to an odd body: that it is the client's fault, or that there is none."""

TYPES = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def fuzz_lines(place: Place, count: int, seed: int) -> Counter[str]:
    """Send so many lines to a server on stdio; `AssertionError` if it fails. Gives what was answered, by kind."""
    chance, server, kinds = Random(seed), place.start("--gemini", "/bin/true"), Counter[str]()
    recent = deque([json.dumps(HANDSHAKE[0]).encode()], maxlen=LATE * BATCH)
    for start in range(0, count, BATCH):
        sent = [message(chance).replace(b"\n", b" ") for _ in range(min(BATCH, count - start))]
        # The probe asks for nothing that another line may cancel.
        probe = server.answer(_probe(server, sent, f"probe {start}"))
        assert len(probe["result"]["tools"]) > 0
        recent += [*sent, json.dumps(f"probe {start}").encode()]
        kinds += _checked(_new_lines(server), recent)
    assert server.end() == 0, server.stderr()
    assert "Traceback" not in server.stderr(), server.stderr()
    return kinds


def fuzz_bodies(place: Place, count: int, seed: int) -> Counter[str]:
    """Send so many bodies to a server on HTTP; `AssertionError` if it fails. Gives the statuses."""
    chance, statuses = Random(seed), Counter[str]()
    with place.listening("http", "--gemini", "/bin/true", "--max-sessions", "100000") as (server, port):
        connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        session = _session(connection)
        for number in range(count):
            body = message(chance)
            status = _post(connection, body, {**TYPES, **chance.choice(({}, session, session, _modern(chance)))})[0]
            assert status in STATUSES, (status, body[:2000])
            statuses[str(status)] += 1
            if number % BATCH == 0:
                assert _post(connection, json.dumps(_listing(number)).encode(), {**TYPES, **session})[0] == 200
        connection.close()
        assert server.process.poll() is None, server.stderr()
        assert "Traceback" not in server.stderr(), server.stderr()
    return statuses


def _new_lines(server: Server) -> list[Json]:
    """What the server has said since this was asked last."""
    said = [json.loads(line) for line in server.lines]
    server.lines.clear()
    return said


def _probe(server: Server, sent: Iterable[bytes], id: str) -> str:
    for line in sent:
        server.write(line + b"\n")
    server.send(_listing(id))
    return id


def _listing(id: Json) -> Json:
    return {"jsonrpc": "2.0", "id": id, "method": "tools/list"}


def _checked(answers: Iterable[Json], sent: Iterable[bytes]) -> Counter[str]:
    """The kinds of answers. Each is a response, and to an id that was sent, if it has one."""
    kinds, text = Counter[str](), b"\n".join(sent).decode("utf-8", "replace")
    for answer in answers:
        assert answer["jsonrpc"] == "2.0", answer
        if "method" in answer:
            kinds["notification"] += 1
            continue
        assert ("result" in answer) != ("error" in answer), answer
        kinds["result" if "result" in answer else str(answer["error"]["code"])] += 1
        forms = {json.dumps(answer["id"]), json.dumps(answer["id"], ensure_ascii=False)}
        assert answer["id"] is None or any(form in text for form in forms), str(answer)[:500]
    return kinds


def _session(connection: HTTPConnection) -> dict[str, str]:
    named = _post(connection, json.dumps(HANDSHAKE[0]).encode(), TYPES)[1]["Mcp-Session-Id"]
    return {"Mcp-Session-Id": str(named)}


def _modern(chance: Random) -> dict[str, str]:
    named = {"Mcp-Protocol-Version": STATELESS, "Mcp-Method": chance.choice(("tools/call", "tools/list"))}
    return {**named, "Mcp-Name": chance.choice(("chat", "chat-reply", ""))}


def _post(connection: HTTPConnection, body: bytes, headers: dict[str, str]) -> tuple[int, Json]:
    connection.request("POST", "/mcp", body, headers)
    response = connection.getresponse()
    response.read()
    return response.status, response.headers


def main() -> None:
    """Send many, and show what was answered."""
    parser = argparse.ArgumentParser(description="Send odd lines and bodies to real servers.")
    parser.add_argument("--lines", type=int, default=100_000, metavar="N")
    parser.add_argument("--bodies", type=int, default=20_000, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    given = parser.parse_args()
    for name, fuzz, count in (("lines", fuzz_lines, given.lines), ("bodies", fuzz_bodies, given.bodies)):
        with tempfile.TemporaryDirectory() as folder, Place(Path(folder)) as place:
            kinds = fuzz(place, count, given.seed)
            print(f"{count} {name}: " + ", ".join(f"{kind} {times}" for kind, times in sorted(kinds.items())))


if __name__ == "__main__":
    sys.exit(main())
