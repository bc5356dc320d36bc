"""What several modules of this room use: tests of calls and plans, and changes where such a test holds."""

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from answering import Answer, Failure
from planning import ARGUMENT_LIMIT, Plan
from running import Call
from steps import Step

Texts = Mapping[str, str]
Test = Callable[[Call, Plan], object]


def is_long(call: Call) -> bool:
    prompt = call.arguments.get("prompt")
    return isinstance(prompt, str) and len(prompt.encode("utf-8", "replace")) > ARGUMENT_LIMIT


def unflagged(plan: Plan) -> Plan:
    return replace(plan, argv=tuple(word.removeprefix("--prompt=") for word in plan.argv))


def open_prompts(port: Any) -> list[str]:
    prompts = [each.arguments.get("prompt") for each in list(port.calls)]
    return [prompt for prompt in prompts if isinstance(prompt, str)]


def where(test: Callable[[str, Texts], object], change: Callable[[Texts], Texts]) -> Step:
    """Of `texts`: changes the texts of a call of which `test` holds."""

    def texts(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Texts:
        found = real(tool, arguments)
        return change(found) if test(tool, found) else found

    return texts


def altered(name: str, change: Callable[[str], str]) -> Callable[[Texts], Texts]:
    return lambda texts: {**texts, name: change(texts[name])} if name in texts else texts


def has(*names: str) -> Callable[[Call], bool]:
    """Tests whether a call names all these arguments, whatever they are."""
    return lambda call: set(names) <= call.arguments.keys()


def notes_neighbour(port: Any, real: Any, call: Call, turn: str | None) -> None:
    line = port.turns.get(turn, [])
    port.memory[call] = line[-1] if line else None
    real(call, turn)


def is_relative(cwd: object) -> bool:
    return isinstance(cwd, str) and bool(cwd) and not os.path.isabs(cwd)


def is_reply(call: Call) -> bool:
    return call.tool == "chat-reply"


def is_latest(plan: Plan) -> bool:
    return plan.session == "latest"


def failing(test: Test, words: str, then: Callable[[Failure], Failure | Answer]) -> Step:
    """Of `ask`: takes a failure with these words in its sentence for another, or for an answer."""

    def ask(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
        try:
            return real(call, plan)
        except Failure as failure:
            if not test(call, plan) or words not in failure.sentence:
                raise
            changed = then(failure)
        if isinstance(changed, Failure):
            raise changed
        return changed

    return ask


def shared(port: Any, key: Any, work: Callable[[], Any]) -> Any:
    """What comes of the work, or of the same that is under way."""
    running = port.memory.setdefault("running", {})
    if key in running:
        done, results = running[key]
        done.wait()
        return results[0]
    done, results = running[key] = threading.Event(), list[Any]()
    try:
        results.append(work())
        return results[0]
    finally:
        del running[key]
        done.set()
