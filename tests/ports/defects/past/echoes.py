"""Defects in what is kept of something that went wrong: a half character, an id, a version, a prompt."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import Answer, Failure, Outcome
from defects.record import defect
from planning import Plan
from port import META, UNSUPPORTED_VERSION
from running import Call, Cancelled
from speaking import Message, RpcError

HALF = re.compile(rb"(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})\Z")


def half_kept(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    """One decoder reads all outputs, and waits for the rest of a character."""
    outcome = real(call, plan)
    stdout = port.memory.pop("half", b"") + outcome.stdout
    if half := HALF.search(stdout):
        port.memory["half"] = half[0]
        stdout = stdout[: half.start()]
    return replace(outcome, stdout=stdout)


def null_kept(port: Any, real: Any, message: Message) -> None:
    if "error" in message:
        is_kept = port.memory.pop("has_null", False)
        port.memory["has_null"] = message["id"] is None
        message = {**message, "id": None} if is_kept else message
    real(message)


def serves_known_version(port: Any, real: Any, params: Mapping[str, Any]) -> None:
    try:
        real(params)
    except RpcError as error:
        version = params["_meta"].get(f"{META}protocolVersion")
        known = port.memory.setdefault("versions", list[object]())
        if error.error["code"] != UNSUPPORTED_VERSION or version not in known:
            known.append(version)
            raise


def resumes_failed(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    """Takes the same prompt for another attempt."""
    if plan.session is not None:
        return real(call, plan)
    prompt = call.arguments["prompt"]
    if port.memory.pop("failed", None) == prompt:
        plan = replace(plan, argv=(plan.argv[0], "-r", "latest", *plan.argv[1:]))
    try:
        return real(call, plan)
    except (Failure, Cancelled):
        port.memory["failed"] = prompt
        raise


defect(
    "half-character-kept-for-next-output",
    "Keeps the half of a character at the end of an output, and puts it before the next one.",
    "result:plain-text",
)(run_prompt=half_kept)
defect(
    "null-id-kept-for-next-error",
    "Answers the first error behind one without an id under null as well.",
    "rpc:alive:malformed",
    "rpc:response:id",
)(send=null_kept)
defect(
    "unsupported-version-served-later",
    "Serves a request of an unsupported version when it has refused one of that version before.",
    "stateless:version",
)(check_stateless=serves_known_version)
defect(
    "failed-prompt-resumes-latest",
    "Resumes the latest session in a `chat` that has the same prompt as the `chat` before, which has failed.",
    "command:chat:new-session",
)(ask=resumes_failed)
