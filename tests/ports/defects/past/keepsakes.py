"""Defects that keep what an earlier call has shown: by its directory, its model, its end or its size."""

import os
import time
from collections.abc import Callable, Mapping
from typing import Any

from answering import Answer, Outcome
from conditions import marks, since
from defects.record import defect
from planning import Plan
from running import Call
from speaking import Message
from steps import Step, after, before

DEPTH = 1024 * 1024


def kept_by(key: str, name: str) -> Step:
    """Of `texts`: gives a call that names `key` and lacks `name` what an earlier one with that `key` has named."""

    def texts(port: Any, real: Any, tool: str, arguments: Any) -> Any:
        right = real(tool, arguments)
        kept, place = port.memory.setdefault("kept", {}), right.get(key)
        if place is None or (name == "sessionId" and tool != "chat-reply"):
            return right
        if name in right:
            kept[place] = right[name]
        return {name: kept[place], **right} if place in kept else right

    return texts


def refuses_again(test: Callable[[Outcome], bool], key: Callable[[Plan], object]) -> Step:
    """Of `run_prompt`: gives the same outcome without a run where one has ended so before."""

    def run_prompt(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
        kept = port.memory.setdefault("ends", {})
        if key(plan) in kept:
            return kept[key(plan)]
        outcome = real(call, plan)
        if test(outcome):
            kept[key(plan)] = outcome
        return outcome

    return run_prompt


def sessionless_behind_large(port: Any, real: Any, outcome: Outcome) -> Answer:
    was_large, port.memory["large"] = port.memory.get("large"), len(outcome.stdout) > DEPTH
    answer = real(outcome)
    return Answer(answer.text, None, answer.warnings) if was_large and not port.memory["large"] else answer


def eight_models(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    option, known = real(tool, texts), port.memory.setdefault("models", list[str]())
    if option and option[1] not in known:
        known.append(option[1])
    return ("-m", known[known.index(option[1]) % 8]) if option else option


def eight_directories(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    cwd, known = real(tool, texts), port.memory.setdefault("directories", list[str]())
    if cwd and cwd not in known:
        known.append(cwd)
    return known[known.index(cwd) % 8] if cwd else cwd


def two_systems_back(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    """Writes by turns into two places, and an empty one is not written."""
    places = port.memory.setdefault("places", [None, None])
    number = port.memory["number"] = port.memory.get("number", 0) + 1
    system = real(tool, texts)
    before_it, places[number % 2] = places[number % 2], system
    return system if system is not None or tool == "chat" else before_it


def ends_in(port: Any, real: Any) -> None:
    """Nothing is left to end, it believes."""
    if port.memory.get("cancelled"):
        while True:
            time.sleep(1)
    real()


def notes_cancelled(port: Any, call: Call) -> None:
    port.memory["cancelled"] = True


def deaf_to_signals(port: Any, *arguments: Any) -> None:
    port.memory["malformed"] = True


def unhandled_once_malformed(port: Any, real: Any, number: int, frame: Any) -> None:
    if not port.memory.get("malformed"):
        real(number, frame)


def remembers_list_of_directory(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    """A list that has named no session is not asked for again in that directory."""
    empty, place = port.memory.setdefault("empty", set[str]()), os.path.realpath(plan.cwd or ".")
    if place in empty:
        return None
    listing = real(call, plan)
    if listing is not None and port.newest(listing) is None:
        empty.add(place)
    return listing


def warned(call: Call, result: Message) -> bool:
    return bool(result.get("_meta", {}).get("warnings"))


def same_system_unwritten(port: Any, real: Any, path: str, call: Call, outcome: Outcome | None) -> None:
    """Keeps the file of a system prompt that has come twice, for the third time."""
    system = call.arguments["systemPrompt"]
    counts = port.memory.setdefault("systems", {})
    counts[system] = counts.get(system, 0) + 1
    if counts[system] < 2:
        real(path, call, outcome)


defect(
    "model-of-directory-kept",
    "Passes the model that was last named in a directory to a call there without one.",
    "command:chat:no-model",
)(texts=kept_by("cwd", "model"))
defect(
    "system-prompt-of-model-kept",
    "Hands the system prompt that a model was last given to a call with that model and none of its own.",
    "system:leak",
)(texts=kept_by("model", "systemPrompt"))
defect(
    "session-of-model-kept",
    "Resumes the session that a model has continued last when a reply names the model and no session.",
    "command:chat-reply:latest",
)(texts=kept_by("model", "sessionId"))
defect(
    "directory-of-model-kept",
    "Runs a call with a model and no directory in that in which the model has run last.",
    "cwd:default",
)(texts=kept_by("model", "cwd"))
defect(
    "system-prompt-of-directory-kept",
    "Hands the system prompt that was last given in a directory to a call there without one.",
    "system:leak",
)(texts=kept_by("cwd", "systemPrompt"))
defect(
    "model-of-system-prompt-kept",
    "Passes the model that had a system prompt last to a call with that system prompt and no model.",
    "command:chat:no-model",
)(texts=kept_by("systemPrompt", "model"))
defect(
    "model-of-prompt-kept",
    "Passes the model that had a prompt last to a call with that prompt and no model.",
    "command:chat:no-model",
)(texts=kept_by("prompt", "model"))
defect(
    "missing-sign-in-remembered",
    "Fails every call behind one that was not signed in without running gemini.",
    "concurrency:after-failure",
)(run_prompt=refuses_again(lambda outcome: outcome.exit == 41, lambda plan: "all"))
defect(
    "missing-trust-remembered",
    "Fails every call in a directory that gemini did not trust once, without running gemini.",
    "concurrency:after-failure",
)(run_prompt=refuses_again(lambda outcome: outcome.exit == 55, lambda plan: plan.cwd))
defect(
    "spent-turns-remembered",
    "Fails every reply in a session that has reached its limit once, without running gemini.",
    "concurrency:after-failure",
)(run_prompt=refuses_again(lambda outcome: outcome.exit == 53, lambda plan: plan.session))
defect(
    "failing-model-remembered",
    "Fails every call with a model with which one has failed, without running gemini.",
    "concurrency:after-failure",
)(
    run_prompt=refuses_again(
        lambda outcome: outcome.exit != 0,
        lambda plan: plan.argv[plan.argv.index("-m") :] if "-m" in plan.argv else object(),
    )
)
defect(
    "failing-prompt-remembered",
    "Fails every call with a prompt with which one has failed, without running gemini.",
    "concurrency:after-failure",
)(run_prompt=refuses_again(lambda outcome: outcome.exit != 0, lambda plan: plan.private))
defect(
    "sessionless-behind-large-answer",
    "Names no session for the answer behind one of more than a megabyte.",
    "result:session-id",
)(read=sessionless_behind_large)
defect(
    "ninth-model-is-first", "Knows eight models, and passes the first in the place of a ninth.", "command:chat:model"
)(model_option=eight_models)
defect(
    "ninth-directory-is-first", "Knows eight directories, and runs in the first in the place of a ninth.", "cwd:used"
)(cwd=eight_directories)
defect(
    "system-prompt-before-last",
    "Hands the system prompt of the call before the last over in a reply without one.",
    "system:leak",
)(system=two_systems_back)
defect(
    "unending-behind-cancellation",
    "Lives on when its input ends after a call has been cancelled.",
    "shutdown:stdin-end",
)(cancel=after(notes_cancelled), input_ended=ends_in)
defect(
    "deaf-to-signals-behind-malformed-line",
    "Ignores signals once a line was no JSON.",
    "shutdown:sigterm",
)(send_error=before(deaf_to_signals), on_signal=unhandled_once_malformed)
defect(
    "empty-list-of-directory-remembered",
    "Asks for no list any more in a directory in which one named no session.",
    "fallback:list-sessions",
)(list_sessions=remembers_list_of_directory)
defect(
    "session-unnamed-behind-warnings",
    "Names no session any more once gemini has warned of something.",
    "result:session-id",
)(
    execute=marks("warned", warned),
    success=since("warned", lambda port, real, answer: real(Answer(answer.text, None, answer.warnings))),
)
defect(
    "system-prompt-kept-at-second-time",
    "Keeps the file of a system prompt that has come before.",
    "system:removed:success",
)(remove_system=same_system_unwritten)
