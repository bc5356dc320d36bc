"""Defects in telling progress."""

import time
from collections.abc import Callable
from typing import Any

from defects.record import defect
from running import Call
from speaking import Message
from steps import Step, always, for_tool, gives, notes, only


def tells(change: Callable[[Call], Message]) -> Step:
    """Says something else of a call."""

    def progress(port: Any, real: Any, call: Call) -> Message:
        message = real(call)
        return {**message, "params": {**message["params"], **change(call)}}

    return progress


def notes_token(port: Any, real: Any, params: Any) -> Any:
    token = real(params)
    if token is not None:
        port.memory["latest"] = token
    return token


def with_latest_token(port: Any, real: Any, call: Call) -> None:
    call.token = None if call.token is None else port.memory["latest"]
    real(call)


def tells_the_end(port: Any, real: Any, call: Call, result: Message) -> None:
    real(call, result)
    if call.token is not None and not call.is_cancelled:
        call.progress += 1
        port.send(port.progress(call))


def not_at_start(port: Any, real: Any, call: Call) -> None:
    if call.next_progress:
        real(call)
    else:
        call.next_progress = time.monotonic() + 5


def under_newest_token(port: Any, real: Any, call: Call) -> Message:
    newest, message = port.memory.get("newest"), real(call)
    if call.progress == 1 or newest is None:
        return message
    return {**message, "params": {**message["params"], "progressToken": newest}}


defect("token-as-text", "Sends the token as a string.", "progress:token")(
    progress=tells(lambda call: {"progressToken": str(call.token)})
)
defect("token-is-id", "Sends the id of the request where the token should be.", "progress:token")(
    progress=tells(lambda call: {"progressToken": call.id})
)
defect("latest-token-for-all", "Keeps one token for all calls that run.", "progress:token")(
    token=notes_token, report_progress=with_latest_token
)
defect("progress-stands-still", "Tells the same progress each time.", "progress:increase")(
    progress=tells(lambda call: {"progress": 50, "total": 100})
)
defect("progress-falls", "Counts down.", "progress:increase")(
    progress=tells(lambda call: {"progress": 100 - call.progress})
)
defect("progress-after-answer", "Tells after the answer that it is done.", "progress:end")(answer=tells_the_end)
defect("progress-unasked", "Tells progress to those who did not ask.", "progress:unasked")(
    token=gives(lambda token: "progress" if token is None else token)
)
defect("falsy-token-overlooked", "Takes the token 0 for none.", "progress:start")(
    token=gives(lambda token: token or None)
)
defect("no-progress-at-start", "Tells nothing when a call starts.", "progress:start")(report_progress=not_at_start)
defect("no-progress-in-replies", "Tells no progress of replies.", "progress:start")(
    report_progress=for_tool("chat-reply", always(None))
)
defect("progress-at-start-only", "Tells progress once.", "progress:interval")(
    report_progress=only(lambda call: not call.progress)
)
defect("progress-under-newest-token", "Tells later progress under the token of the newest call.", "progress:token")(
    new_call=notes("newest", lambda call: call.token), progress=under_newest_token
)
