"""Arguments with which a stateless result lacks what it must have: ports that break `stateless`."""

from dataclasses import replace
from typing import Any

from answering import PREFIX, Answer
from conditions import is_named, is_refusal
from defects.record import defect
from planning import Plan
from running import Call
from speaking import Message


def untyped_refusal(port: Any, real: Any, result: Message, stateless: bool) -> Message:
    finished = real(result, stateless)
    return {key: value for key, value in finished.items() if not is_refusal(result) or key != "resultType"}


def unfinished_when_not_started(port: Any, real: Any, result: Message, stateless: bool) -> Message:
    is_unstarted = is_refusal(result) and result["content"][0]["text"].startswith(f"{PREFIX}gemini ")
    return result if is_unstarted else real(result, stateless)


def refusal_unsigned(port: Any, real: Any, result: Message, stateless: bool) -> Message:
    whole = real(result, stateless)
    if is_refusal(result):
        whole.pop("_meta", None)
    return whole


class Listed(str):
    """The id of a session that the list has named."""


def listed(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    found = real(call, plan, answer)
    is_listed = found.session is not None and not is_named(plan)
    return replace(found, session=Listed(found.session or "")) if is_listed else found


def meta_kept(port: Any, real: Any, result: Message, stateless: bool) -> Message:
    meta = result.get("_meta", {})
    if stateless and "warnings" in meta and isinstance(meta.get("sessionId"), Listed):
        return {**result, "resultType": "complete"}
    return real(result, stateless)


defect(
    "refusal-of-no-type",
    "Leaves `resultType` out of the result for a call of 2026-07-28 that has started nothing.",
    "stateless:result-type",
)(finished=untyped_refusal)
defect(
    "not-started-unfinished",
    "Sends the error of a gemini that cannot be started without `resultType`.",
    "stateless:result-type",
    "stateless:server-info",
)(finished=unfinished_when_not_started)
defect(
    "refusal-without-server-info",
    "Does not name the server in the result for a call that started nothing.",
    "stateless:server-info",
)(finished=refusal_unsigned)
defect(
    "stateless-listed-warned-unnamed",
    "Leaves the server's name out of a stateless result that has warnings and a session that the list named.",
    "stateless:server-info",
)(with_session=listed, finished=meta_kept)
