"""Defects in what a call leaves to others: caches, savings, and switches that nobody turns back."""

import math
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import Answer
from conditions import is_named, since
from defects.record import defect
from planning import Plan
from running import Call
from speaking import RpcError
from steps import always, before, on


def keeps_directory(port: Any, call: Call) -> None:
    if not call.is_answered:
        port.memory["directory"] = call.arguments.get("cwd")


def in_kept_directory(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    return real(tool, texts) or port.memory.get("directory")


def keeps_id(port: Any, call: Call) -> None:
    if not call.is_answered:
        port.memory.setdefault("cancelled", set()).add(str(call.id))


def unless_alike(port: Any, real: Any, call: Call, result: Any) -> None:
    if str(call.id) not in port.memory.get("cancelled", ()):
        real(call, result)


def stops_timers(port: Any, call: Call) -> None:
    port.memory.update(dict.fromkeys(port.calls, "stopped"))


def unless_stopped(port: Any, real: Any, call: Call) -> None:
    if call in port.memory:
        call.next_progress = math.inf
    else:
        real(call)


def loses_progress(port: Any, *arguments: Any) -> None:
    port.memory["lost"] = True


def notes_list(port: Any, call: Call, plan: Plan, answer: Answer) -> None:
    port.memory["has listed"] = True


def lists_ahead(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    if port.memory.get("has listed") and not is_named(plan):
        port.list_sessions(call, plan)
    return real(call, plan)


def cached_reply(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    key = (plan.session, call.arguments["prompt"])
    if is_named(plan) and key in port.memory:
        return port.memory[key]
    port.memory[key] = answer = real(call, plan)
    return answer


def by_base_name(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    cwd = real(tool, texts)
    return cwd and port.memory.setdefault(os.path.basename(cwd), cwd)


def spares_same_model(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    option, before = real(tool, texts), port.memory.get("model")
    port.memory["model"] = option
    return () if option == before else option


def spares_same_system(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    before = port.memory.get("system")
    port.memory["system"] = plan.system
    return real(call, replace(plan, system=None) if plan.system == before else plan)


defect("directory-left-by-cancel", "Runs later calls in the directory of one that was cancelled.", "cwd:default")(
    cancel=before(keeps_directory), cwd=in_kept_directory
)
defect(
    "cancelled-ids-unanswered-alike",
    "Does not answer a call whose id is written like that of one that was cancelled.",
    "cancel:others",
    "rpc:response:id",
)(cancel=before(keeps_id), answer=unless_alike)
defect(
    "timers-stopped-by-cancel",
    "Tells no more progress of the calls that run when one of them is cancelled.",
    "progress:interval",
)(cancel=before(stops_timers), report_progress=unless_stopped)
defect(
    "progress-lost-after-unknown-tool",
    "Tells no progress any more after a call of an unknown tool.",
    "progress:start",
)(
    new_call=on(RpcError, lambda port, error: loses_progress(port) or error),
    token=since("lost", always(None)),
)
defect("progress-lost-after-cancel", "Tells no progress any more after a cancellation.", "progress:start")(
    cancel=before(loses_progress), token=since("lost", always(None))
)
defect(
    "listed-ahead",
    "Asks for the list before each run once a run has named no session.",
    "fallback:unneeded",
)(with_session=before(notes_list), ask=lists_ahead)
defect(
    "reply-cached-by-session-and-prompt",
    "Answers a reply by id from memory when its session has had that prompt before.",
    "command:once",
)(ask=cached_reply)
defect(
    "directories-of-one-name-mixed",
    "Keeps directories by their names, and takes one for another of that name.",
    "cwd:used",
)(cwd=by_base_name)
defect(
    "repeated-model-spared",
    "Passes no model when the call before has had the same one.",
    "command:chat:model",
)(model_option=spares_same_model)
defect(
    "repeated-system-prompt-spared",
    "Hands no system prompt over when the call before has had the same one.",
    "system:content",
)(ask=spares_same_system)
