"""Options that are lost at a length or at a count: ports that break `command`."""

import os
import resource
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from conditions import altering, asks
from defects.record import defect
from defects.size.shared import prompt_shortened_at
from planning import Plan, Refusal
from running import Call
from steps import Step, before, for_tool

DESCRIPTORS = 160
MODEL_LENGTH = 64
NAME = 128


def prompt_of_before(period: int) -> Step:
    """Of `plan`: every so many calls, runs the prompt of the one before."""
    numbers = count(1)

    def plan(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
        right, number = real(tool, arguments), next(numbers)
        before, port.memory["arguments"] = port.memory.get("arguments"), arguments
        return right if number % period or before is None else real(tool, {**arguments, "prompt": before["prompt"]})

    return plan


def with_few_descriptors(port: Any) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, hard))


def keeps_descriptor(port: Any, *arguments: Any) -> None:
    port.memory.setdefault("kept", []).append(os.dup(0))


def model_in_column(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(word[:MODEL_LENGTH] if "sessionId" in texts else word for word in real(tool, texts))


def refuses_length(name: str, test: Callable[[int], bool]) -> Step:
    """Of `check_word`: refuses one argument by its length in bytes."""

    def check_word(port: Any, real: Any, argument: str, text: str) -> None:
        if argument == name and test(len(text.encode())):
            raise Refusal(f"`{name}` is too long.")
        real(argument, text)

    return check_word


def refuses_long_session(port: Any, tool: str, name: str, value: Any) -> None:
    if name == "sessionId" and isinstance(value, str) and len(value) > NAME:
        raise Refusal("`sessionId` is longer than 128 characters.")


def models_pile_up(port: Any, real: Any, tool: str, texts: Any) -> tuple[str, ...]:
    option = port.memory["models"] = (*port.memory.get("models", ()), *real(tool, texts))
    return option if "model" in texts else ()


def zero_is_false(port: Any, real: Any, name: str, text: str) -> bool:
    return real(name, text) or text == "0"


def retried_once(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    """Tries a second failure in a row once more."""
    outcome = real(call, plan)
    failures = port.memory["failures"] = port.memory.get("failures", 0) + 1 if outcome.exit else 0
    return real(call, plan) if failures == 2 else outcome


defect("prompt-of-4096-bytes-shortened", "Loses the end of a prompt of 4,096 bytes.", "command:chat")(
    prompt_form=prompt_shortened_at(4096)
)
defect("prompt-of-65536-bytes-shortened", "Loses the end of a prompt of 65,536 bytes.", "command:chat")(
    prompt_form=prompt_shortened_at(65_535, 65_536)
)
defect("fortieth-prompt-is-one-before", "Runs the prompt before at every fortieth call.", "command:chat")(
    plan=prompt_of_before(40)
)
defect("descriptors-lost", "Loses a descriptor in each run, and has few of them.", "command:chat")(
    serve=before(with_few_descriptors), run_prompt=before(keeps_descriptor)
)
defect(
    "model-of-reply-by-id-cut-at-64",
    "Cuts the model of a reply by id to its first 64 characters.",
    "command:chat-reply:model",
)(model_option=for_tool("chat-reply", model_in_column))
defect("long-session-cut", "Cuts the session of a reply after 64 characters.", "command:chat-reply:session-id")(
    ask=asks(lambda call, plan: True, altering("-r", lambda session: session[:64]))
)
defect("one-letter-session-refused", "Refuses a session of a single character.", "command:chat-reply:session-id")(
    check_word=refuses_length("sessionId", lambda length: length == 1)
)
defect("long-session-refused", "Refuses a session of more than 128 characters.", "command:chat-reply:session-id")(
    text=before(refuses_long_session)
)
defect("long-model-cut", "Cuts a model after 64 characters.", "command:chat:model", "command:chat-reply:model")(
    ask=asks(lambda call, plan: True, altering("-m", lambda model: model[:64]))
)
defect("models-pile-up", "Passes the models of all earlier calls as well.", "command:chat:model")(
    model_option=models_pile_up
)
defect("zero-text-is-absent", "Takes an optional argument that is the text `0` for absent.", "command:chat:model")(
    is_absent=zero_is_false
)
defect("model-over-255-refused", "Refuses a model of more than 255 bytes.", "command:chat:model")(
    check_word=refuses_length("model", lambda length: length > 255)
)
defect("second-failure-retried", "Tries a second failure in a row once more.", "command:once")(run_prompt=retried_once)
