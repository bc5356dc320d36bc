"""System prompts that come from an earlier call, or stay for its sake: ports that break `system`."""

import glob
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import Answer, Failure, Outcome
from conditions import failed, is_named
from defects.past.shared import (
    keeps_longer,
    kept_after_times,
    kept_argument,
    kept_by,
    leaves,
    noted,
    noted_by_session,
    notes_group,
    of_session,
    refuses_noting,
    reused,
)
from defects.record import defect
from defects.shared import directory_named, keeps, members
from planning import Plan, Refusal
from running import Call
from speaking import Message
from steps import after, before


def leaves_variable(port: Any, real: Any, path: str, call: Call, outcome: Any) -> None:
    if outcome is not None and outcome.exit != 0:
        os.environ["GEMINI_SYSTEM_MD"] = path
    real(path, call, outcome)


def leaves_variable_unstarted(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    path = options["env"].get("GEMINI_SYSTEM_MD")
    try:
        process = real(argv, **options)
    except Failure:
        if path is not None:
            os.environ["GEMINI_SYSTEM_MD"] = path
        raise
    os.environ.pop("GEMINI_SYSTEM_MD", None)
    return process


def keeps_refused_directory(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> Any:
    try:
        return real(tool, texts)
    except Refusal:
        port.memory["kept"] = texts
        raise


def spares_same_system(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    before = port.memory.get("system")
    port.memory["system"] = plan.system
    return real(call, replace(plan, system=None) if plan.system == before else plan)


def piles_up_in_session(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan = real(tool, arguments)
    if not is_named(plan) or plan.system is None:
        return plan
    system = "\n".join(filter(None, (port.memory.get(plan.session), plan.system)))
    port.memory[plan.session] = system
    return replace(plan, system=system)


def unwritten_when_as_long(port: Any, real: Any, text: str) -> bytes:
    """A file of the same size is taken for the same file."""
    written, kept = real(text), port.memory.get("written")
    if kept is None or len(kept) != len(written):
        port.memory["written"] = written
    return port.memory["written"]


def file_of_second(port: Any, real: Any, text: str) -> str:
    """Has six digits for the name of a directory: the time of day."""
    directory = os.path.join(tempfile.gettempdir(), time.strftime("gemini-mcp-%H%M%S"))
    os.makedirs(directory, 0o700, exist_ok=True)
    path = os.path.join(directory, port.system_name())
    with open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(port.system_bytes(text))
    return path


def system_prompt_of_cancelled(port: Any, call: Call) -> None:
    if system := call.arguments.get("systemPrompt"):
        port.memory["system"] = system


def system_prompt_left(port: Any, real: Any, tool: str, texts: Any) -> str | None:
    return real(tool, texts) or port.memory.pop("system", None)


def died(call: Call, result: Message) -> bool:
    return failed(call, result) and "ended by signal" in result["content"][0]["text"]


def two_systems_back(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    """Writes by turns into two places, and an empty one is not written."""
    places = port.memory.setdefault("places", [None, None])
    number = port.memory["number"] = port.memory.get("number", 0) + 1
    system = real(tool, texts)
    before_it, places[number % 2] = places[number % 2], system
    return system if system is not None or tool == "chat" else before_it


def notes_system_without_list(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    found = real(call, plan, answer)
    if not found.session:
        port.memory["system"] = plan.system
    return found


def with_system_of_before(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan, system = real(tool, arguments), port.memory.pop("system", None)
    return plan if plan.system else replace(plan, system=system)


def notes_system_in_line(port: Any, call: Call) -> None:
    if any(call in line[1:] for line in list(port.turns.values())) and call.arguments.get("systemPrompt"):
        port.memory["system"] = call.arguments["systemPrompt"]


def cleans_up(port: Any, path: str, call: Call, outcome: Any) -> None:
    if outcome is not None and outcome.exit != 0:
        for each in glob.glob(os.path.join(tempfile.gettempdir(), "gemini-mcp-*")):
            shutil.rmtree(each, ignore_errors=True)


def writes_before_waiting(port: Any, real: Any, call: Call, turn: str | None) -> None:
    """Has the file ready before its turn comes, and leaves it when it is cancelled in the line."""
    text = call.arguments.get("systemPrompt")
    path = port.write_system(text) if turn is not None and isinstance(text, str) and text.strip() else None
    real(call, turn)
    if path is not None and (port.is_ending or not call.is_cancelled):
        shutil.rmtree(os.path.dirname(path))


def is_unreadable(port: Any, call: Call, run: Outcome | None) -> bool:
    if run is None or run.exit != 0:
        return False
    try:
        port.read(run)
    except Failure:
        return True
    return False


def same_system_unwritten(port: Any, real: Any, path: str, call: Call, outcome: Outcome | None) -> None:
    """Keeps the file of a system prompt that has come twice, for the third time."""
    system = call.arguments["systemPrompt"]
    counts = port.memory.setdefault("systems", {})
    counts[system] = counts.get(system, 0) + 1
    if counts[system] < 2:
        real(path, call, outcome)


def remembers_file(port: Any, real: Any, text: str) -> str:
    path = real(text)
    port.memory.setdefault(text, []).append(path)
    return path


def removes_alike(port: Any, real: Any, path: str, call: Call, outcome: Outcome | None) -> None:
    text = call.arguments["systemPrompt"]
    alike = port.memory.pop(text, [path]) if call.is_cancelled else [path]
    for each in {path, *alike}:
        real(each, call, outcome)


def removed_behind_group(port: Any, real: Any, path: str, call: Call, outcome: Any) -> None:
    def remove() -> None:
        while members(port.memory[call]):
            time.sleep(0.1)
        real(path, call, outcome)

    if outcome is None:
        real(path, call, outcome)
    else:
        threading.Thread(target=remove, daemon=True).start()


defect(
    "variable-left-by-failure",
    "Leaves GEMINI_SYSTEM_MD in its own environment after a failure.",
    "system:absent",
    "system:leak",
)(remove_system=leaves_variable)
defect(
    "variable-left-when-unstarted",
    "Leaves GEMINI_SYSTEM_MD in its own environment when gemini cannot be started, until it can.",
    "system:absent",
    "system:leak",
)(start=leaves_variable_unstarted)
defect(
    "system-prompt-left-by-refused-directory",
    "Hands the system prompt of a call whose directory was refused to the next one without.",
    "system:absent",
)(cwd=keeps_refused_directory, texts=kept_argument("systemPrompt"))
defect(
    "repeated-system-prompt-spared",
    "Hands no system prompt over when the call before has had the same one.",
    "system:content",
)(ask=spares_same_system)
defect(
    "system-prompt-keeps-end-of-longer-one",
    "Writes a system prompt over the one before, whose end stays when it was longer.",
    "system:content",
)(system_bytes=keeps_longer("system"))
defect(
    "system-prompts-pile-up-in-session",
    "Hands over with a system prompt all those that its session has had before.",
    "system:content",
)(plan=piles_up_in_session)
defect(
    "system-prompt-of-same-size-kept",
    "Hands the system prompt of the call before over when the new one has as many bytes.",
    "system:content",
)(system_bytes=unwritten_when_as_long)
defect(
    "files-named-by-beginning",
    "Names the directory of a system prompt by the first sixteen characters of the text.",
    "system:isolation",
)(**directory_named("beginning", lambda call: str(call.arguments.get("systemPrompt"))[:16]))
defect(
    "file-named-by-second",
    "Names the directory of a system prompt by the second in which it is made.",
    "system:isolation",
    "system:life",
)(write_system=file_of_second)
defect(
    "system-prompt-left-by-refusal",
    "Hands the system prompt of a call that it refused to later ones without one.",
    "system:leak",
)(plan=refuses_noting("systemPrompt"), system=noted("systemPrompt"))
defect("system-prompt-left-by-cancel", "Hands the system prompt of a cancelled call to the next one.", "system:leak")(
    cancel=before(system_prompt_of_cancelled), system=system_prompt_left
)
defect(
    "system-prompt-left-by-signal",
    "Hands the system prompt of a call whose gemini died of a signal to the next one without.",
    "system:leak",
)(execute=leaves("systemPrompt", died), texts=reused("systemPrompt"))
defect(
    "system-prompt-of-model-kept",
    "Hands the system prompt that a model was last given to a call with that model and none of its own.",
    "system:leak",
)(texts=kept_by("model", "systemPrompt"))
defect(
    "system-prompt-of-directory-kept",
    "Hands the system prompt that was last given in a directory to a call there without one.",
    "system:leak",
)(texts=kept_by("cwd", "systemPrompt"))
defect(
    "system-prompt-before-last",
    "Hands the system prompt of the call before the last over in a reply without one.",
    "system:leak",
)(system=two_systems_back)
defect(
    "system-prompt-stays-after-two",
    "Keeps a system prompt that two calls in a row have had.",
    "system:leak",
)(texts=kept_after_times("systemPrompt", 2))
defect(
    "system-prompt-stays-in-session",
    "Hands the system prompt with which a session began to a reply by id without one.",
    "system:leak",
)(ask=noted_by_session, texts=of_session("systemPrompt"))
defect(
    "system-prompt-left-without-list",
    "Hands the system prompt of a call for which no list named a session to the next one.",
    "system:leak",
)(with_session=notes_system_without_list, plan=with_system_of_before)
defect(
    "system-prompt-left-in-line",
    "Hands the system prompt of a reply that was cancelled while it waited to the next call without one.",
    "system:leak",
)(cancel=before(notes_system_in_line), system=system_prompt_left)
defect(
    "failure-cleans-too-much",
    "Removes the system prompts of all calls when one of them has failed.",
    "system:life",
)(remove_system=after(cleans_up))
defect(
    "alike-texts-removed",
    "Removes the files of all running calls with the same `systemPrompt` when one of them is cancelled.",
    "system:life",
)(write_system=remembers_file, remove_system=removes_alike)
defect(
    "kept-when-cancelled-in-line",
    "Keeps the system prompt of a reply that is cancelled while it waits for another.",
    "system:removed:cancel",
)(take_turn=writes_before_waiting)
defect(
    "kept-after-unreadable-answer",
    "Keeps the system prompt when gemini exits with 0 and the answer cannot be used.",
    "system:removed:failure",
)(remove_system=keeps(is_unreadable))
defect(
    "system-prompt-kept-at-second-time",
    "Keeps the file of a system prompt that has come before.",
    "system:removed:success",
)(remove_system=same_system_unwritten)
defect(
    "file-kept-for-background",
    "Removes the system prompt only when what gemini has left in the background has ended, and answers before.",
    "system:removed:success",
    "system:removed:failure",
)(begin=notes_group, remove_system=removed_behind_group)
