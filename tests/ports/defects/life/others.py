"""What calls under way spoil elsewhere: `command`, `error`, `injection`, `lifecycle`, `prompt`, `stdio`, `tools`."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from typing import IO, Any

from answering import SESSION_GONE, Answer, Failure, Outcome
from conditions import has_model, is_named, lacking
from defects.life.shared import size_of, until_end_of_output
from defects.record import defect
from planning import Plan
from running import Call, Cancelled
from speaking import INVALID_PARAMS, Message, RpcError, as_object
from steps import before

BLOCKED_SECONDS = 0.5
PIECE = 32 * 1024


def knows_meta(port: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> None:
    if not stateless and set(as_object(params.get("_meta")) or ()) - {"progressToken"}:
        raise RpcError(INVALID_PARAMS, "`_meta` holds what is unknown.")


def remembers_none(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    """Knows the directories that have no session, until a prompt has succeeded there."""
    empty = port.memory.setdefault("empty", set[str | None]())
    if plan.session == "latest" and plan.cwd in empty:
        plan = lacking("-r")(plan)
    try:
        answer = real(call, plan)
    except Failure as failure:
        if plan.session == "latest" and SESSION_GONE.search(failure.stderr or ""):
            empty.add(plan.cwd)
        raise
    empty.discard(plan.cwd)
    return answer


def keeps_model(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    """Sets the model of a session aside for the time of a call; no cancellation clears it."""
    models = port.memory
    if not is_named(plan):
        return real(call, plan)
    if has_model(plan):
        models[plan.session] = plan.argv[-1]
    elif plan.session in models:
        plan = replace(plan, argv=(*plan.argv, "-m", models[plan.session]))
    try:
        answer = real(call, plan)
    except Failure:
        models.pop(plan.session, None)
        raise
    models.pop(plan.session, None)
    return answer


def ended_with_output(port: Any, real: Any, call: Call, *others: Any) -> Outcome:
    """A whole answer needs no exit code."""
    process, out, err = until_end_of_output(port, call, *others)
    is_whole = out.rstrip().endswith(b"}")
    if is_whole and process.poll() is None:
        port.stop(call)
    exit = port.wait(call, process)
    return port.outcome(call, 0 if is_whole else exit, BytesIO(out), err)


def cancelled_by_143(port: Any, real: Any, *arguments: Any) -> Outcome:
    """128 + 15: so a shell says that somebody has sent SIGTERM, which this port does to cancel."""
    outcome = real(*arguments)
    if outcome.exit == 128 + signal.SIGTERM:
        raise Cancelled
    return outcome


def forgets_start(port: Any, real: Any, prompt: str) -> bool:
    """A pattern of JavaScript with the flag `g` goes on, in the next text, where the last match has ended."""
    port.memory["goes on"] = found = real(prompt) and not port.memory.get("goes on")
    return found


def next_lost(port: Any, real: Any, message: Message) -> None:
    """What comes behind a message that had to wait is dropped."""
    if port.memory.pop("blocked", False):
        return
    began = time.monotonic()
    real(message)
    port.memory["blocked"] = time.monotonic() - began > BLOCKED_SECONDS


def one_at_once_with_long_prompt(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    if plan.stdin is None:
        return real(call, plan)
    with port.memory.setdefault("stdin", threading.Lock()):
        return real(call, plan)


def fed(process: subprocess.Popen[bytes], text: bytes, out: IO[bytes]) -> None:
    assert process.stdin is not None
    with suppress(OSError), process.stdin as pipe:
        for at in range(0, len(text), PIECE):
            if at and size_of(out):
                return
            pipe.write(text[at : at + PIECE])
            pipe.flush()


def ends_input_at_output(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    """Writes no more of a prompt once gemini has begun to speak."""
    given = options["stdin"]
    if not size_of(given):
        return real(argv, **options)
    process = real(argv, **{**options, "stdin": subprocess.PIPE})
    threading.Thread(target=fed, args=(process, given.read(), options["stdout"]), daemon=True).start()
    return process


def discarded_aloud(port: Any, real: Any, call: Call, exit: int, out: IO[bytes], err: IO[bytes]) -> Outcome:
    """Logs what came for nobody."""
    if call.is_cancelled and not port.is_ending and exit == 0:
        out.seek(0)
        print("discarded:", out.read().decode("utf-8", "replace"), file=sys.stderr, flush=True)
    return real(call, exit, out, err)


def learns_cursor(port: Any, real: Any, params: Mapping[str, Any], stateless: bool) -> Message:
    cursor = params.get("cursor")
    if isinstance(cursor, str):
        if cursor in port.memory:
            return real({}, stateless)
        port.memory[cursor] = True
    return real(params, stateless)


def shares_flight(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    """Like `singleflight`, with a key that lacks the system prompt."""
    if call.tool != "chat" or plan.system is None:
        return real(call, plan)
    key, mine = (plan.argv, plan.cwd, plan.stdin), Future[Outcome]()
    flight = port.memory.setdefault(key, mine)
    if flight is not mine:
        try:
            return flight.result()
        except Cancelled:
            return real(call, plan)
    try:
        outcome = real(call, plan)
    except BaseException as error:
        mine.set_exception(error)
        raise
    else:
        mine.set_result(outcome)
        return outcome
    finally:
        del port.memory[key]


def listed_again(port: Any, real: Any, params: Any, stateless: bool) -> Message:
    if not stateless:
        return real(params, stateless)
    if "list" not in port.memory:
        port.memory["list"] = real(params, stateless)
    return port.memory["list"]


def single_flight(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    """Two chats at once with the same prompt in the same directory share one run."""
    if call.tool != "chat":
        return real(call, plan)
    key = (plan.private, plan.cwd)
    flight = port.memory.setdefault(key, {"done": threading.Event(), "call": call})
    if flight["call"] is not call:
        flight["done"].wait()
        if "answer" in flight and not call.is_cancelled:
            return flight["answer"]
        return real(call, plan)
    try:
        flight["answer"] = real(call, plan)
        return flight["answer"]
    finally:
        del port.memory[key]
        flight["done"].set()


defect("unknown-meta-refused", "Refuses a call whose `_meta` holds what it does not know.", "command:chat")(
    new_call=before(knows_meta)
)
defect(
    "directory-without-sessions-remembered",
    "Resumes no session in a second reply to the latest of a directory after gemini had found none there.",
    "command:chat-reply:latest",
)(ask=remembers_none)
defect(
    "model-of-cancelled-reply-inherited",
    "Passes the model of a cancelled reply to the next reply in that session which names none.",
    "command:chat-reply:no-model",
)(ask=keeps_model)
defect(
    "ended-with-output",
    "Takes gemini for ended, and well, when it has closed its stdout behind a whole answer.",
    "error:exit",
)(run=ended_with_output)
defect("exit-143-is-cancelled", "Answers nothing when gemini exits with 143.", "error:exit")(outcome=cancelled_by_143)
defect(
    "second-risky-prompt-positional",
    "Overlooks every second prompt in a row that gemini would take for an option, a command or a number.",
    "injection:option:prompt",
    "prompt:verbatim:command-word",
)(is_risky=forgets_start)
defect(
    "message-behind-blocked-one-lost",
    "Drops the message behind one for which the client had no room for half a second.",
    "lifecycle:ping",
)(write=next_lost)
defect("long-prompts-one-at-a-time", "Serves one call after the other whose prompt is long.", "prompt:long:whole")(
    ask=one_at_once_with_long_prompt
)
defect(
    "stdin-ended-at-first-output",
    "Writes no more of a long prompt once gemini has printed something.",
    "prompt:long:whole",
)(spawn=ends_input_at_output)
defect(
    "discarded-answer-logged",
    "Writes the answer of a cancelled gemini that ends with 0 to its stderr.",
    "stdio:stderr:private",
)(outcome=discarded_aloud)
defect(
    "refused-cursor-accepted-again",
    "Lists the tools for an unknown cursor when it comes for the second time.",
    "tools:cursor",
)(list_tools=learns_cursor)
defect(
    "cursor-unread-after-stateless-list",
    "Answers every stateless `tools/list` after the first as that one, whatever its cursor is.",
    "tools:cursor",
)(list_tools=listed_again)

defect(
    "one-flight-for-two-systems",
    "Runs gemini once for chats at the same time that differ in their system prompt alone.",
    "command:once",
    "system:isolation",
)(run_prompt=shares_flight)
defect(
    "single-flight-by-prompt",
    "Runs gemini once for two chats at once with the same prompt and directory, whatever their models are.",
    "command:once",
    "command:chat",
    "command:chat:model",
)(ask=single_flight)
