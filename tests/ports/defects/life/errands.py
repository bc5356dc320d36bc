"""Defects among calls that run at once, and in the progress that is told of them."""

import threading
import time
from collections.abc import Callable
from typing import Any

from answering import Failure
from conditions import failed, refused
from defects.record import defect
from planning import Plan
from port import Port
from running import Call
from speaking import Message, as_object
from steps import Step, after, before


def turns_of(key: Callable[[Call, str | None], str | None]) -> dict[str, Step]:
    """Of `take_turn` and `end_turn`: other lines than the right ones."""
    other: Step = lambda port, real, call, turn: real(call, key(call, turn))  # noqa: E731
    return {"take_turn": other, "end_turn": other}


def second_and_third_together(port: Any, real: Any, call: Call, turn: str) -> None:
    """The end of a reply wakes all that wait for it, and each of them begins."""
    line = port.turns[turn]
    ahead = line[0]
    port.turn_changed.wait_for(lambda: call is ahead or ahead not in line or call.is_cancelled)


def ends_siblings(test: Callable[[Call, Message], bool]) -> Step:
    """Of `execute`: a call that goes wrong takes those along that run beside it."""

    def execute(port: Any, real: Any, call: Call) -> Message:
        result = real(call)
        if test(call, result):
            for other in list(port.calls):
                if other is not call and other.process is not None:
                    port.memory.setdefault("taken", set()).add(id(other))
                    port.stop(other)
        return result

    return execute


def unheard_from_ninth(port: Any, real: Any, identity: Any, params: Any, stateless: bool) -> Call:
    call = real(identity, params, stateless)
    if len(port.calls) >= 8:
        call.token = None
    return call


def stops_timers(port: Any, call: Call, result: Message) -> None:
    """One timer serves all calls, and whoever ends clears it."""
    for other in list(port.calls):
        other.next_progress = time.monotonic() + 3600


def told_again_at_list(port: Any, call: Call, plan: Plan) -> None:
    """Tells that it lists the sessions, with the progress of before."""
    with port.output:
        if call.token is not None and not call.is_cancelled:
            port.write(port.progress(call))


def told_of_cancellation(port: Any, call: Call) -> None:
    with port.output:
        if call.token is not None and not call.is_answered:
            call.progress += 1
            port.write(port.progress(call))


def told_for_list(port: Any, request: Message) -> None:
    """Tells progress of any request that has a token, when it is done."""
    token = (as_object((as_object(request.get("params")) or {}).get("_meta")) or {}).get("progressToken")
    if request["method"] != "tools/call" and port.is_id(token):
        params = {"progressToken": token, "progress": 1}
        port.send({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})


def cancels_newest(port: Any, real: Any, method: str, params: Any) -> None:
    """An unknown id is taken for that of the newest call."""
    wanted = (as_object(params) or {}).get("requestId")
    if method == "notifications/cancelled" and port.calls and all(call.id != wanted for call in port.calls):
        port.cancel(port.calls[-1])
    real(method, params)


def waits_for_refused(port: Any, real: Any, call: Call) -> Message:
    """Keeps the place of a call that it refuses until a call has ended that runs."""
    result = real(call)
    if refused(call, result):
        running = [other for other in port.calls if other is not call and other.process is not None]
        for other in running:
            other.ended.wait()
    return result


def one_at_once_with_long_prompt(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    if plan.stdin is None:
        return real(call, plan)
    with port.memory.setdefault("stdin", threading.Lock()):
        return real(call, plan)


def one_listing_at_once(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    """Runs no gemini while it asks for a list."""
    lock = port.memory.setdefault("listing", threading.RLock())
    with lock:
        return real(call, plan)


def unless_listing(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    with port.memory.setdefault("listing", threading.RLock()):
        pass
    return real(call, plan)


def second_as_text(port: Any, real: Any, call: Call) -> Message:
    message = real(call)
    if call.progress > 1:
        message["params"]["progressToken"] = str(message["params"]["progressToken"])
    return message


def cancels_directories(port: Any, real: Any, call: Call) -> None:
    """Cancels with a reply in a directory all others that name one."""
    real(call)
    session = call.arguments.get("sessionId")
    for other in list(port.calls):
        if other is not call and session and other.arguments.get("cwd") and call.arguments.get("cwd"):
            Port.cancel(port, other)


def quits_after_failure_in_line(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    """A failure fails the replies that already wait in its line."""
    try:
        return real(call, plan)
    except Failure:
        for other in port.turns.get(plan.turn or "", [])[1:]:
            port.memory.setdefault("failed", set()).add(id(other))
        raise
    finally:
        port.memory.get("failed", set()).discard(id(call))


def fails_with_line(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    if id(call) in port.memory.get("failed", set()):
        raise Failure("The reply before this one has failed.", "")
    return quits_after_failure_in_line(port, real, call, plan)


defect(
    "turns-by-session-and-system-prompt",
    "Lets replies in the same session overlap when one has a system prompt.",
    "concurrency:same-session",
)(**turns_of(lambda call, turn: turn and f"{turn} {call.arguments.get('systemPrompt')}"))
defect(
    "turns-of-long-prompts-apart",
    "Lets a reply with a long prompt overlap with others in its session.",
    "concurrency:same-session",
)(**turns_of(lambda call, turn: turn and f"{turn} {len(str(call.arguments.get('prompt'))) > 100_000}"))
defect(
    "turns-beside-tokens-apart",
    "Lets replies with a token overlap with those without one in the same session.",
    "concurrency:same-session",
)(**turns_of(lambda call, turn: turn and f"{turn} {call.token is None}"))
defect(
    "latest-with-model-apart",
    "Lets a reply to the latest session that names a model overlap with one that does not.",
    "concurrency:latest",
)(
    **turns_of(
        lambda call, turn: (
            f"{turn} apart" if "model" in call.arguments and "sessionId" not in call.arguments and turn else turn
        )
    )
)
defect(
    "second-and-third-together",
    "Begins all replies that wait for another in the same session when it ends.",
    "concurrency:same-session",
)(await_turn=second_and_third_together)
defect("failure-ends-siblings", "Ends the calls that run beside one that fails.", "concurrency:after-failure")(
    execute=ends_siblings(failed)
)
defect("refusal-ends-siblings", "Ends the calls that run beside one that it refuses.", "cancel:others")(
    execute=ends_siblings(refused)
)
defect("ninth-token-unheard", "Tells no progress of calls beyond eight at once.", "progress:start")(
    new_call=unheard_from_ninth
)
defect("timer-shared", "Tells no more progress of any call once one has been answered.", "progress:interval")(
    answer=after(stops_timers)
)
defect("list-told-with-progress-of-before", "Repeats its progress when it asks for a list.", "progress:increase")(
    list_sessions=before(told_again_at_list)
)
defect(
    "cancelled-told-of-it", "Tells progress once more when a call is cancelled.", "stateless:cancelled", "progress:end"
)(cancel=after(told_of_cancellation))
defect(
    "progress-of-list-late",
    "Tells progress of a list of tools after its answer.",
    "progress:end",
    "progress:token",
)(requested=after(told_for_list))
defect(
    "unknown-cancel-hits-newest", "Cancels the newest call when the id is unknown.", "cancel:others", "cancel:unknown"
)(notified=cancels_newest)
defect("refusals-wait-for-calls", "Answers a refusal when the calls have ended that run.", "concurrency:calls")(
    execute=waits_for_refused
)
defect("long-prompts-one-at-a-time", "Serves one call after the other whose prompt is long.", "prompt:long:whole")(
    ask=one_at_once_with_long_prompt
)
defect("calls-wait-for-list", "Starts no gemini while it asks for a list of sessions.", "fallback:list-sessions")(
    list_sessions=one_listing_at_once, run_prompt=unless_listing
)
defect("second-progress-under-text", "Tells all progress but the first under the text of a token.", "progress:token")(
    progress=second_as_text
)
defect(
    "cancel-ends-named-directories",
    "Cancels all calls that name a directory with a reply by id that does.",
    "cancel:others",
)(cancel=cancels_directories)
defect("failure-fails-line", "Fails the replies that wait behind one that fails.", "concurrency:after-failure")(
    ask=fails_with_line
)
