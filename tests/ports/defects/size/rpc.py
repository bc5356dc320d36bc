"""Ids and messages too large for what reads them: ports that break `rpc`."""

import os
import time
from contextlib import suppress
from queue import Full, Queue
from threading import Thread
from typing import Any

from conditions import from_time
from defects.record import defect
from defects.shared import with_id
from defects.size.shared import cut_text, is_negative, rounded
from speaking import RpcError, as_object
from steps import before, on, only

WAITING = 32
PATIENCE = 0.5


def dies(port: Any, real: Any, *arguments: Any) -> None:
    os._exit(1)


def wearied(port: Any, error: RpcError) -> Exception:
    if error.error["code"] == -32601:
        port.memory["unknown"] = port.memory.get("unknown", 0) + 1
        if port.memory["unknown"] >= 5:
            error.error = {"code": -32603, "message": "Internal error."}
    return error


def writes(queue: Any, real: Any) -> None:
    while True:
        real(queue.get())
        queue.task_done()


def queued(port: Any, real: Any, message: Any) -> None:
    if "queue" not in port.memory:
        port.memory["queue"] = Queue[Any](WAITING)
        Thread(target=writes, args=(port.memory["queue"], real), daemon=True).start()
    with suppress(Full):
        port.memory["queue"].put(message, timeout=PATIENCE)


def written_first(port: Any) -> None:
    """What waits is written before the end, as long as somebody reads it."""
    until = time.monotonic() + PATIENCE
    while "queue" in port.memory and port.memory["queue"].unfinished_tasks and time.monotonic() < until:
        time.sleep(0.01)


defect("dies-of-tenth-malformed-line", "Ends at the tenth line that is no JSON.", "rpc:alive:malformed")(
    send_error=from_time(10, dies)
)
defect(
    "unknown-methods-weary",
    "Answers the fifth unknown method, and all behind it, with an internal error.",
    "rpc:error:method",
)(result=on(RpcError, wearied))
defect("ids-through-doubles", "Rounds ids beyond 2^53.", "rpc:response:id")(write=with_id(rounded))
defect("negative-ids-unanswered", "Takes a request with a negative id for a notification.", "rpc:response:id")(
    dispatch=only(lambda message: not is_negative((as_object(message) or {}).get("id")))
)
defect("fractions-of-ids-lost", "Answers an id that is a fraction with a whole number.", "rpc:response:id")(
    write=with_id(lambda id: int(id) if isinstance(id, float) else id)
)
defect("long-ids-cut", "Cuts an id after 128 characters.", "rpc:response:id")(write=with_id(cut_text(128)))
defect(
    "answers-dropped-behind-32-others",
    "Drops an answer when 32 others wait for a client that has read nothing for half a second.",
    "rpc:response:id",
)(write=queued, shut_down=before(written_first))
