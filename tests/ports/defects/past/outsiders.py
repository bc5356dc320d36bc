"""Defects of what an earlier call, a refusal, a list or a cancellation leaves behind."""

import re
from typing import Any

from answering import Outcome
from defects.record import defect
from planning import Plan
from port import UNSUPPORTED_VERSION
from running import Call
from speaking import RpcError, as_object
from steps import after

CANCELLED = "notifications/cancelled"


def names_running(port: Any, wanted: Any) -> bool:
    return any(type(call.id) is type(wanted) and call.id == wanted for call in list(port.calls))


def keeps_cancel(port: Any, real: Any, method: str, params: Any) -> None:
    """Takes a cancellation of no running call for one that has overtaken its call."""
    wanted = (as_object(params) or {}).get("requestId")
    if method == CANCELLED and not names_running(port, wanted):
        port.memory[str(wanted)] = "cancelled"
    real(method, params)


def cancelled_early(port: Any, real: Any, identity: Any, *others: Any) -> Call:
    call = real(identity, *others)
    call.is_cancelled = port.memory.pop(str(identity), None) == "cancelled"
    return call


def token_of_first(port: Any, real: Any, params: Any) -> Any:
    token = real(params)
    return None if token is None else port.memory.setdefault(str(token), token)


def earlier_list(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    listing = real(call, plan)
    if listing is None or listing.exit != 0:
        return port.memory.get(plan.cwd)
    port.memory[plan.cwd] = listing
    return listing


def risky_in_any_case(port: Any, real: Any, prompt: str) -> bool:
    return port.memory.setdefault(prompt.casefold(), real(prompt))


def unlists_newest(port: Any, real: Any, method: str, params: Any) -> None:
    """Removes the call at the index -1 where it finds none."""
    calls = list(port.calls)
    if method == CANCELLED and calls and not names_running(port, (as_object(params) or {}).get("requestId")):
        port.memory[calls[-1]] = "unlisted"
    real(method, params)


def unless_unlisted(port: Any, real: Any, call: Call) -> None:
    if call not in port.memory:
        real(call)


def no_shorter_list(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    """A reply begins no session, and so the list cannot have become shorter."""
    listing = real(call, plan)
    if listing is None or listing.exit != 0:
        return listing
    numbers = re.findall(rb"(?m)^\s*([0-9]+)\.\s", listing.stdout + b"\n" + listing.stderr)
    highest, known = max(map(int, numbers), default=0), port.memory.get(plan.cwd, 0)
    port.memory[plan.cwd] = highest
    return None if plan.session == "latest" and highest < known else listing


def notes_call(port: Any, identity: Any, params: Any, stateless: bool) -> None:
    port.memory["served"] = port.memory.get("served") or stateless


def version_checked_once(port: Any, real: Any, params: Any) -> None:
    try:
        real(params)
    except RpcError as error:
        if error.error["code"] != UNSUPPORTED_VERSION or not port.memory.get("served"):
            raise


defect(
    "early-cancel-kept",
    "Keeps a cancellation of no running call for a later one whose id is written with the same letters.",
    "cancel:others",
    "cancel:unknown",
)(notified=keeps_cancel, new_call=cancelled_early)
defect(
    "token-type-of-first",
    "Tells progress with the number or the text that an earlier call had for a token of the same letters.",
    "progress:token",
)(token=token_of_first)
defect(
    "failed-list-answered-from-earlier",
    "Names a session from the last good list of the directory when a list fails or hangs.",
    "fallback:none",
)(list_sessions=earlier_list)
defect(
    "form-kept-for-any-case",
    "Gives a prompt the form that one with other capitals had before, so that `mcp` after `MCP` is a command.",
    "prompt:verbatim:command-word",
    "prompt:verbatim:number",
)(is_risky=risky_in_any_case)
defect(
    "late-cancel-unlists-newest",
    "Cannot cancel a call that was the newest when a cancellation came that names no running call.",
    "cancel:child",
    "cancel:group",
)(notified=unlists_newest, cancel=unless_unlisted)
defect(
    "shorter-list-distrusted",
    "Names no session for a reply to the latest one when the list is shorter than the last in that directory.",
    "fallback:latest",
)(list_sessions=no_shorter_list)
defect(
    "version-unchecked-after-call",
    "Serves requests that name an unsupported protocol version once a call of 2026-07-28 has been served.",
    "stateless:version",
)(new_call=after(notes_call), check_stateless=version_checked_once)
