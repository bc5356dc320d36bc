"""Defects that show with what is rare and allowed: links, other layouts, names that look alike, equal calls at once."""

import json
import os
import re
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import Answer, Failure, Outcome
from conditions import without_variables
from defects.record import defect
from http_port import HttpPort
from planning import Plan, Refusal
from port import Port
from running import Call
from speaking import Message, as_object
from steps import Change, Step, before, gives

INHERITED = ("constructor", "toString", "__proto__", "__class__")
FIRST_ID = re.compile(rb'"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?[0-9]+)')
NOTICES = 64 * 1024


def without_last_slash(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    return (real(tool, texts) or "").rstrip("/") or None


def no_links(port: Any, cwd: str) -> None:
    if os.path.islink(cwd):
        raise Refusal(f"`cwd` {cwd!r} is not a directory.")


def inherited_is_known(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Any:
    """The table of tools holds such a name, and what is found there answers nothing."""
    return None if params.get("name") in INHERITED else real(identity, params, stateless)


def with_first_id(port: Any, real: Any, line: bytes) -> Any:
    message, found = real(line), FIRST_ID.search(line)
    is_request = as_object(message) is not None and "id" in message
    return {**message, "id": json.loads(found[1])} if is_request and found else message


def token_by_its_text(port: Any, real: Any, params: Mapping[str, Any]) -> Any:
    token = real(params)
    port.memory.setdefault("tokens", {})[str(token)] = token
    return token


def with_token_of_text(port: Any, real: Any, call: Call) -> Message:
    message = real(call)
    return {**message, "params": {**message["params"], "progressToken": port.memory["tokens"][str(call.token)]}}


def needs_reason(port: Any, real: Any, method: str, params: Any) -> None:
    if method != "notifications/cancelled" or "reason" in (as_object(params) or {}):
        real(method, params)


def cancels_line(port: Any, real: Any, call: Call) -> None:
    """Who waits is cancelled by ending the call that it waits for."""
    for line in list(port.turns.values()):
        if call in line:
            Port.cancel(port, line[0])
    real(call)


def ends_uncancelled(port: Any, real: Any) -> None:
    """What was cancelled needs no end: it has got one already, but perhaps no SIGKILL yet."""
    running = [call for call in port.calls if not call.is_cancelled]
    for call in running:
        port.end(call)
    deadline = time.monotonic() + 1.5
    while set(running) & set(port.calls) and time.monotonic() < deadline:
        time.sleep(0.02)
    os._exit(0)


def looks_at_beginning(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    return real(stdout, stderr) if "{" in stdout[:NOTICES] else port.plain_text(stdout)


def list_so_far(port: Any, real: Any, call: Call, exit: int, out: Any, err: Any) -> Outcome:
    try:
        return real(call, exit, out, err)
    except Failure:
        out.seek(0)
        return Outcome(0, out.read())


def shares_run(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    """The run of an equal call that is under way answers this one too."""
    running, key = port.memory.setdefault("running", {}), replace(plan, private=())
    if key in running:
        done, outcomes = running[key]
        done.wait()
        return outcomes[0]
    done, outcomes = running[key] = threading.Event(), list[Outcome]()
    try:
        outcomes.append(real(call, plan))
        return outcomes[0]
    finally:
        del running[key]
        done.set()


def forgets_locks(most: int) -> Change | Step:
    """Only so many locks are kept; the one that was used longest ago goes, whoever holds it."""

    def forgets(port: Any, call: Call, turn: str | None) -> None:
        with port.turn_changed:
            used = port.memory.setdefault("used", dict[str, None]())
            used.pop(turn, None)
            if turn is not None:
                used[turn] = None
            if len(used) > most:
                oldest = next(iter(used))
                del used[oldest]
                port.turns.pop(oldest, None)

    return forgets


def logs_unreadable(port: Any, line: bytes) -> None:
    try:
        json.loads(line)
    except ValueError:
        sys.stderr.buffer.write(b"cannot read: " + line)
        sys.stderr.flush()


def names_earlier_session(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    """Puts all objects of the output together, so that the last one inherits what it does not say."""
    answer = real(stdout, stderr)
    named = [value["session_id"] for _, value in port.scan(stdout).objects if isinstance(value.get("session_id"), str)]
    return answer if answer.session or not named else replace(answer, session=named[-1])


def compares_kind(port: Any, real: Any, post: Any, body: bytes) -> None:
    if post.headers.get("Content-Type") == "application/json":
        real(post, body)
    else:
        post.reply(415)


def cancels_for_anybody(port: Any, real: Any, call: Call) -> None:
    Port.cancel(port, call)


def lists_together(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    """Who asks for a list while another one is being read gets that one."""
    if "list" in port.memory:
        done, listings = port.memory["list"]
        done.wait()
        return listings[0]
    done, listings = port.memory["list"] = threading.Event(), list[Any]()
    try:
        listings.append(real(call, plan))
        return listings[0]
    finally:
        del port.memory["list"]
        done.set()


defect("empty-variables-lost", "Hands no variable on that is empty.", "process:environment")(
    environment=without_variables(lambda name, value: not value)
)
defect("root-directory-overlooked", "Takes the root directory for none.", "cwd:used")(cwd=without_last_slash)
defect("links-are-no-directories", "Refuses a link to a directory.", "cwd:used")(check_cwd=before(no_links))
defect("inherited-tools-unanswered", "Finds a tool named toString.", "tools:unknown")(begin_call=inherited_is_known)
defect("first-id-taken", "Takes the first id on a line for that of the request.", "rpc:response:id")(
    parse=with_first_id
)
defect("look-alike-tokens-mixed", "Keeps tokens by their text.", "progress:increase")(
    token=token_by_its_text, progress=with_token_of_text
)
defect("cancel-needs-reason", "Overlooks a cancellation without a reason.", "cancel:child")(notified=needs_reason)
defect("cancel-ends-first-in-line", "Cancels the reply for which a cancelled one waits.", "cancel:others")(
    cancel=cancels_line
)
defect(
    "end-spares-cancelled",
    "Ends without waiting for what it has cancelled to be killed.",
    "shutdown:stdin-end:ignored-term",
)(shut_down=ends_uncancelled)
defect("notices-over-64-kib-hide-json", "Looks for JSON in the first 64 KiB.", "result:json:notice-before")(
    read_stdout=looks_at_beginning
)
defect("list-that-hangs-used", "Uses what a list has said that hangs.", "fallback:none")(outcome=list_so_far)
defect("equal-calls-share-a-run", "Runs gemini once for equal calls at the same time.", "command:once")(
    run_prompt=shares_run
)
defect("locks-forgotten", "Forgets the lock of a session when sixteen others were used.", "concurrency:same-session")(
    take_turn=before(forgets_locks(16))
)
defect(
    "locks-of-64-sessions",
    "Forgets the lock of a session when sixty-four others were used.",
    "concurrency:same-session",
)(take_turn=before(forgets_locks(64)))
defect("unreadable-lines-logged", "Logs the lines that it cannot read.", "stdio:stderr:private")(
    receive=before(logs_unreadable)
)
defect("earlier-session-inherited", "Takes the session of an earlier object.", "fallback:list-sessions")(
    read_stdout=names_earlier_session
)
defect("charset-refused", "Refuses JSON whose charset is named.", "http:content-type")(HttpPort, posted=compares_kind)
defect("cancelled-by-anybody", "Lets a client cancel the calls of another.", "result:session-id")(
    HttpPort, cancel=cancels_for_anybody
)
defect("lists-at-once-shared", "Lists the sessions of one directory for another.", "fallback:list-sessions")(
    list_sessions=lists_together
)
defect("cwd-tidied-before-links", "Takes `..` for the folder before it, which may be a link.", "cwd:used")(
    cwd=gives(lambda cwd: os.path.normpath(cwd) if cwd else cwd)
)
