"""Makes odd messages from good ones: a source of chance in, bytes out. Pure.

What a server may do with them is not known here.
"""

import json
from random import Random

from client import HANDSHAKE, META

from gemini_mcp.spec.values import Json, is_object

CALL: Json = {"name": "chat", "arguments": {"prompt": "hello", "model": "m", "cwd": "/", "systemPrompt": "be brief"}}
SEEDS: tuple[Json, ...] = (
    *HANDSHAKE,
    {"jsonrpc": "2.0", "id": 2, "method": "ping"},
    {"jsonrpc": "2.0", "id": "two", "method": "tools/list", "params": {"cursor": "x"}},
    {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {**CALL, "_meta": {"progressToken": 1}}},
    {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {**CALL, "_meta": META}},
    {"jsonrpc": "2.0", "id": 5, "method": "server/discover", "params": {"_meta": META}},
    {"jsonrpc": "2.0", "id": 6, "method": "logging/setLevel", "params": {"level": "debug"}},
    {"jsonrpc": "2.0", "id": 7, "method": "completion/complete", "params": {"ref": {"type": "ref/prompt"}}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3, "reason": "no"}},
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 0.5}},
    {"jsonrpc": "2.0", "id": 8, "result": {}},
    {"jsonrpc": "2.0", "id": 9, "error": {"code": -32603, "message": "no"}},
)
VALUES: tuple[Json, ...] = (
    *(None, True, False, 0, -1, 1.5, 1e300, 2**63, 2**64, -(2**70), "", " ", "a", "\0", "\ud800", "\N{PARROT}", [], {}),
    *([[]], [{}], {"": {}}, {"a\ud83d": 1}, {"__proto__": {}}, "x" * 70_000, list(range(300)), {"jsonrpc": "2.0"}),
    *("tools/call", "tools/list", "chat", "chat-reply", "2.0", "2026-07-28", "2025-11-25", "-v", "../..", "nan"),
)
JUNK = (
    b"\0",
    b"\xff",
    b"\xed\xa0\x80",
    b"\n",
    b"\r",
    b"{",
    b"}",
    b'"',
    b",",
    b"\\u",
    b"NaN",
    b"[" * 2000,
    b"\xef\xbb\xbf",
)


def message(chance: Random) -> bytes:
    """A message that is nearly good."""
    value: Json = chance.choice(SEEDS)
    for _ in range(chance.choice((0, 1, 1, 1, 2, 3))):
        value = _changed(chance, value)
    data = json.dumps(value, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")
    return _damaged(chance, data) if chance.random() < 0.3 else data


def _changed(chance: Random, value: Json) -> Json:
    """The value with one change at some place."""
    if is_object(value) and value and chance.random() < 0.85:
        name, other = chance.choice([*value]), {**value}
        match chance.randrange(6):
            case 0:
                del other[name]
            case 1:
                other[str(chance.choice(VALUES))[:20]] = other.pop(name)
            case 2:
                other[chance.choice(("id", "method", "params", "_meta", "arguments"))] = chance.choice(VALUES)
            case _:
                other[name] = _changed(chance, other[name])
        return other
    return [value] if chance.random() < 0.1 else chance.choice(VALUES)


def _damaged(chance: Random, data: bytes) -> bytes:
    """The bytes with some of them cut, added or changed."""
    start = chance.randrange(len(data) + 1)
    end = min(len(data), start + chance.choice((0, 0, 1, 5, len(data))))
    return data[:start] + chance.choice((b"", *JUNK)) + data[end:]
