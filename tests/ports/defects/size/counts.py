"""Defects that show at the second, the tenth or the hundredth time, or when many calls run at once."""

import os
import resource
import threading
from collections.abc import Iterator
from typing import Any

from answering import Failure
from conditions import every, failed, from_time
from defects.record import defect
from planning import Plan
from port import Port
from running import Call
from speaking import Message, RpcError
from steps import always, before, gives, on

DESCRIPTORS = 160


def pool(size: int) -> type[Port]:
    """A port that runs no more than so many at the same time."""

    class Pooled(Port):
        def __init__(self) -> None:
            super().__init__()
            self.places = threading.BoundedSemaphore(size)

        def run_prompt(self, call: Call, plan: Plan) -> Any:
            with self.places:
                return super().run_prompt(call, plan)

    return Pooled


def keeps_place_of_failure(port: Any, real: Any, call: Call) -> Message:
    """There are sixteen places, and a failure does not give its own back."""
    if port.memory.get("failures", 0) >= 16:
        return port.error(Failure("The server is busy."))
    result = real(call)
    port.memory["failures"] = port.memory.get("failures", 0) + failed(call, result)
    return result


def once(port: Any, real: Any) -> list[Message]:
    """Like an iterator that has come to its end."""
    left: Iterator[Message] = port.memory.setdefault("tools", iter(real()))
    return list(left)


def with_few_descriptors(port: Any) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, hard))


def keeps_descriptor(port: Any, *arguments: Any) -> None:
    port.memory.setdefault("kept", []).append(os.dup(0))


def models_pile_up(port: Any, real: Any, tool: str, texts: Any) -> tuple[str, ...]:
    option = port.memory["models"] = (*port.memory.get("models", ()), *real(tool, texts))
    return option if "model" in texts else ()


def cancels_latest_four(port: Any, real: Any, call: Call) -> None:
    if call in port.calls[-4:]:
        real(call)


def retried_once(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    """Tries a second failure in a row once more."""
    outcome = real(call, plan)
    failures = port.memory["failures"] = port.memory.get("failures", 0) + 1 if outcome.exit else 0
    return real(call, plan) if failures == 2 else outcome


def dies(port: Any, real: Any, *arguments: Any) -> None:
    os._exit(1)


def wearied(port: Any, error: RpcError) -> Exception:
    if error.error["code"] == -32601:
        port.memory["unknown"] = port.memory.get("unknown", 0) + 1
        if port.memory["unknown"] >= 5:
            error.error = {"code": -32603, "message": "Internal error."}
    return error


def busy_replies(port: Any, real: Any, call: Call) -> Message:
    replies = sum(each.tool == "chat-reply" for each in list(port.calls))
    return port.error(Failure("Too many replies.")) if call.tool == "chat-reply" and replies > 6 else real(call)


defect("five-at-once", "Runs no more than five calls at the same time.", "concurrency:calls")(pool(5))
defect("sixteenth-call-refused", "Is too busy for more than fifteen calls at once.", "concurrency:lost")(
    execute=lambda port, real, call: port.error(Failure("The server is busy.")) if len(port.calls) > 15 else real(call)
)
defect("seventh-reply-refused", "Is too busy for more than six replies at once.", "concurrency:lost")(
    execute=busy_replies
)
defect(
    "places-lost-with-failures",
    "Takes no call any more after sixteen failures, which have each kept their place.",
    "concurrency:after-failure",
)(execute=keeps_place_of_failure)
defect("third-list-empty", "Lists no tools from the third time on.", "tools:chat", "tools:chat-reply")(
    tools=from_time(3, always([]))
)
defect("list-used-up", "Lists its tools once, and then none.", "tools:chat", "tools:order")(tools=once)
defect("hundredth-list-short", "Leaves a tool out of every hundredth list.", "tools:order", "tools:chat-reply")(
    tools=every(100, gives(lambda tools: tools[:1]))
)
defect("ping-limited", "Answers a hundred pings and no more.", "lifecycle:ping")(
    ping=from_time(101, lambda port, real: {"error": "Too many pings."})
)
defect(
    "every-256th-call-lost",
    "Counts calls in one byte, and forgets the one at which it begins again.",
    "tools:unknown",
    "command:once",
    "concurrency:lost",
)(begin_call=every(256, always(None)))
defect(
    "seventeenth-session-lost",
    "Loses the session of every seventeenth call.",
    "result:session-id",
    "result:session-id:chat-reply",
)(success=every(17, gives(lambda result: {"content": result["content"]})))
defect("descriptors-lost", "Loses a descriptor in each run, and has few of them.", "command:chat")(
    serve=before(with_few_descriptors), run_prompt=before(keeps_descriptor)
)
defect("every-ninth-directory-kept", "Keeps every ninth system prompt.", "system:removed:success")(
    remove_system=every(9, always(None))
)
defect("models-pile-up", "Passes the models of all earlier calls as well.", "command:chat:model")(
    model_option=models_pile_up
)
defect("third-cancel-ignored", "Ignores every third cancellation.", "cancel:child")(cancel=every(3, always(None)))
defect("fifth-latest-uncancellable", "Cancels only the four calls that came last.", "cancel:child")(
    cancel=cancels_latest_four
)
defect("second-failure-retried", "Tries a second failure in a row once more.", "command:once")(run_prompt=retried_once)
defect("fourth-list-of-sessions-spared", "Asks for the list of sessions three times.", "fallback:list-sessions")(
    list_sessions=from_time(4, always(None))
)
defect("dies-of-tenth-malformed-line", "Ends at the tenth line that is no JSON.", "rpc:alive:malformed")(
    send_error=from_time(10, dies)
)
defect("progress-told-thrice", "Tells progress three times to a call and no more.", "progress:interval")(
    report_progress=lambda port, real, call: real(call) if call.progress < 3 else None
)
defect("second-progress-falls", "Counts progress from one again at every second notification.", "progress:increase")(
    progress=every(2, gives(lambda message: {**message, "params": {**message["params"], "progress": 1}}))
)
defect(
    "unknown-methods-weary",
    "Answers the fifth unknown method, and all behind it, with an internal error.",
    "rpc:error:method",
)(result=on(RpcError, wearied))
