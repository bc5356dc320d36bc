"""What several modules of this room use: arguments that are noted, kept and given to later calls."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from answering import Answer, Outcome
from conditions import keeps_turn
from planning import PROPERTIES, Plan, Refusal
from running import Call
from speaking import Message
from steps import Step, before

MOMENT = 0.1


def cancels_noting(name: str) -> Any:
    """Of `cancel`: remembers this argument of the call."""

    def cancel(port: Any, call: Call) -> None:
        if isinstance(call.arguments.get(name), str):
            port.memory[name] = call.arguments[name]

    return before(cancel)


def refuses_noting(name: str) -> Any:
    """Of `plan`: remembers this argument of a call that is refused."""

    def plan(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
        try:
            return real(tool, arguments)
        except Refusal:
            if isinstance(arguments.get(name), str):
                port.memory[name] = arguments[name]
            raise

    return plan


def noted(name: str) -> Any:
    """Of what takes the texts of a call last: gives it what is remembered where the call has nothing."""

    def step(port: Any, real: Any, *arguments: Any) -> Any:
        texts = arguments[-1]
        kept = {name: port.memory[name]} if name in port.memory and name not in texts else {}
        return real(*arguments[:-1], {**texts, **kept})

    return step


def keeps_longer(key: str) -> Step:
    """Writes into the buffer of the call before, which keeps what a shorter text does not overwrite."""

    def step(port: Any, real: Any, value: Any) -> Any:
        result = real(value)
        kept = port.memory.get(key, result[:0])
        port.memory[key] = result + kept[len(result) :]
        return port.memory[key]

    return step


def in_a_row(test: Callable[[Call, Message], bool], length: int, then: Callable[[Message], Message]) -> Step:
    """Of `execute`: gives another result for so many in a row of which `test` holds."""

    def execute(port: Any, real: Any, call: Call) -> Message:
        result = real(call)
        run = port.memory["run"] = port.memory.get("run", 0) + 1 if test(call, result) else 0
        return then(result) if run >= length else result

    return execute


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


def kept_when(test: Callable[[Outcome], object]) -> Step:
    """Of `run_prompt`: remembers the arguments of a run that ends so, and forgets them with another."""

    def run_prompt(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
        outcome = real(call, plan)
        port.memory["kept"] = call.arguments if test(outcome) else {}
        return outcome

    return run_prompt


def kept_argument(name: str) -> Step:
    """Of `texts`: gives a call that lacks this argument the one that was kept."""

    def texts(port: Any, real: Any, tool: str, arguments: Any) -> Any:
        right, kept = real(tool, arguments), port.memory.get("kept", {}).get(name)
        return {name: kept, **right} if name in PROPERTIES[tool] and isinstance(kept, str) and kept else right

    return texts


def kept_after_times(name: str, times: int) -> Step:
    """Of `texts`: keeps an argument that so many calls in a row have had."""

    def texts(port: Any, real: Any, tool: str, arguments: Any) -> Any:
        right = real(tool, arguments)
        if name not in PROPERTIES[tool]:
            return right
        value, (last, count) = right.get(name), port.memory.get("row", (None, 0))
        if value is None:
            return {**right, name: last} if count >= times else right
        port.memory["row"] = (value, count + 1 if value == last else 1)
        return right

    return texts


def of_sibling(name: str) -> Step:
    """Of `plan`: gives a call that lacks this argument that of one which runs."""

    def plan(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
        values = [call.arguments.get(name) for call in port.calls if call.process is not None]
        is_lent = name in PROPERTIES[tool] and not arguments.get(name)
        lent = next((value for value in values if isinstance(value, str) and value), None)
        return real(tool, {**arguments, name: lent} if is_lent and lent else arguments)

    return plan


def noted_by_session(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    answer = real(call, plan)
    if answer.session:
        port.memory[answer.session] = call.arguments
    return answer


def of_session(key: str) -> Step:
    """Of `texts`: adds to a reply what an earlier call of its session said."""

    def texts(port: Any, real: Any, tool: str, arguments: Any) -> Any:
        right = real(tool, arguments)
        earlier = port.memory.get(right.get("sessionId"), {}).get(key)
        return {key: earlier, **right} if isinstance(earlier, str) and earlier else right

    return texts


def others(port: Any, call: Call) -> list[Call]:
    """The calls that run beside this one."""
    return [other for other in port.calls if other is not call]


def found_from_last(port: Any, pattern: re.Pattern[str], text: str) -> bool:
    """Whether the pattern is found; as in JavaScript with the flag `g`, the search begins where the last one ended."""
    places = port.memory.setdefault("places", {})
    found = pattern.search(text, places.get(pattern, 0))
    places[pattern] = found.end() if found else 0
    return found is not None


def turn_kept_by(**steps: Step) -> dict[str, Step]:
    """Steps that keep the turn of some calls for ever."""
    return {**steps, "end_turn": keeps_turn}


def leaves(key: str, test: Callable[[Call, Message], bool]) -> Step:
    """Of `execute`: remembers an argument of the latest call that had a result of which `test` holds."""

    def execute(port: Any, real: Any, call: Call) -> Message:
        result = real(call)
        if test(call, result) and isinstance(value := call.arguments.get(key), str):
            port.memory[key] = value
        return result

    return execute


def reused(key: str) -> Step:
    """Of `texts`: adds an argument that is remembered to a call without it."""

    def texts(port: Any, real: Any, tool: str, arguments: Any) -> Any:
        remembered = {key: port.memory[key]} if key in port.memory and key not in arguments else {}
        return {**remembered, **real(tool, arguments)}

    return texts


def notes_group(port: Any, real: Any, call: Call, *arguments: Any) -> Any:
    """Of `begin`: remembers the process group of a call."""
    process = real(call, *arguments)
    port.memory[call] = process.pid
    return process
