"""Steps that are wrong only under a condition: for some runs, after something else, or from a certain call on.

A step is as in steps.py. What several areas need is here; what one area needs stands above its rows.
"""

import os
import re
import signal
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import Any, cast

from answering import Outcome
from planning import Plan, Refusal
from running import Call
from speaking import Message, as_object
from steps import Change, Step, gives, notes

STDERR = "\nStderr: "
REVISION = notes("revision", lambda result: result["protocolVersion"])
"""Of `initialize`: remembers the revision that the client speaks."""


def speaks(port: Any, revision: str) -> bool:
    """Whether the client speaks that revision, where REVISION remembers it."""
    return port.memory.get("revision") == revision


def is_fed(stdin: Any) -> bool:
    """Whether a stdin of gemini holds a prompt."""
    return stdin.name != os.devnull


def notes_method(port: Any, request: Message) -> None:
    """Before `requested`: remembers the method."""
    port.memory["method"] = request["method"]


def notes_listing(port: Any, call: Call, plan: Plan) -> None:
    """Before `list_sessions`: remembers the call."""
    port.memory[call] = "listing"


def has_listed(port: Any, call: Call) -> bool:
    """Whether a list of sessions was asked for in the call, where `notes_listing` remembers it."""
    return call in port.memory


def keeps_turn(port: Any, real: Any, call: Call, turn: str | None) -> None:
    """Of `end_turn`: keeps the turn of a call that is remembered."""
    if call not in port.memory:
        real(call, turn)


def signals_one(leader: int, number: signal.Signals) -> None:
    """Signals gemini but not what gemini started."""
    with suppress(ProcessLookupError):
        os.kill(leader, number)


def noted_alone(port: Any, real: Any, leader: int, number: signal.Signals) -> None:
    """Of `signal_group`: the same, for a gemini whose id is remembered."""
    (signals_one if leader in port.memory else real)(leader, number)


def wanted(method: str, params: Any) -> Any:
    """The id of the call that the notification cancels."""
    return (as_object(params) or {}).get("requestId") if method == "notifications/cancelled" else None


def cancels_alike(test: Callable[[str, str], bool]) -> Step:
    """Of `notified`: cancels also the calls whose ids are like the one that is named."""

    def notified(port: Any, real: Any, method: str, params: Any) -> None:
        named = wanted(method, params)
        for call in list(port.calls):
            if isinstance(named, str) and isinstance(call.id, str) and call.id != named and test(call.id, named):
                port.cancel(call)
        real(method, params)

    return notified


def asks(test: Callable[[Call, Plan], bool], change: Callable[[Plan], Plan]) -> Step:
    """Of `ask`: runs another plan than the right one for the calls of which `test` holds."""
    return lambda port, real, call, plan: real(call, change(plan) if test(call, plan) else plan)


def ends(test: Callable[[Call, Outcome], bool], change: Callable[[Outcome], Outcome]) -> Step:
    """Of `run_prompt`: takes an outcome of which `test` holds for another."""

    def run_prompt(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
        outcome = real(call, plan)
        return change(outcome) if test(call, outcome) else outcome

    return run_prompt


def results(test: Callable[[Call, Message], bool], change: Change) -> Step:
    """Of `execute`: gives another result where `test` holds of the call and the right one."""

    def execute(port: Any, real: Any, call: Call) -> Message:
        result = real(call)
        return change(result) if test(call, result) else result

    return execute


def marks(key: str, test: Callable[[Call, Message], bool]) -> Step:
    """Of `execute`: remembers whether a call has had a result of which `test` holds."""

    def execute(port: Any, real: Any, call: Call) -> Message:
        result = real(call)
        port.memory[key] = port.memory.get(key) or test(call, result)
        return result

    return execute


def since(key: str, other: Step) -> Step:
    """Another step since this has been remembered."""

    def step(port: Any, real: Any, *arguments: Any) -> Any:
        return _done(other, port, real, *arguments) if port.memory.get(key) else real(*arguments)

    return step


def from_time(first: int, other: Step) -> Step:
    """Another step from this call of it on."""
    return _at(lambda number: number >= first, other)


def every(period: int, other: Step) -> Step:
    """Another step each time that this many calls of it are complete."""
    return _at(lambda number: number % period == 0, other)


def _at(test: Callable[[int], bool], other: Step) -> Step:
    numbers = count(1)

    def step(port: Any, real: Any, *arguments: Any) -> Any:
        return _done(other, port, real, *arguments) if test(next(numbers)) else real(*arguments)

    return step


def _done(step: Step, *arguments: Any) -> Any:
    return cast(Callable[..., Any], step)(*arguments)


def failed(call: Call, result: Message) -> bool:
    """Whether gemini has run and failed."""
    return bool(result.get("isError")) and STDERR in result["content"][0]["text"]


def is_refusal(result: Message) -> bool:
    """Whether it is the result of a call that has started nothing."""
    return bool(result.get("isError")) and STDERR not in result["content"][0]["text"]


def refused(call: Call, result: Message) -> bool:
    """Whether the call has started nothing."""
    return is_refusal(result)


def replacing(pattern: str, by: str = "") -> Callable[[str], str]:
    """Puts another text in the place of each that the pattern finds."""
    return lambda text: re.sub(pattern, by, text)


def without_variables(test: Callable[[str, str], bool]) -> Step:
    """Of `environment`: hands no variable on of whose name and value `test` holds."""
    return gives(lambda variables: {name: value for name, value in variables.items() if not test(name, value)})


def stdin_open(test: Callable[[tuple[str, ...]], bool]) -> Step:
    """Of `spawn`: gives gemini a stdin that does not end where `test` holds of its command line."""

    def spawn(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
        if not test(argv):
            return real(argv, **options)
        reading, _writing = os.pipe()
        try:
            return real(argv, **{**options, "stdin": reading})
        finally:
            os.close(reading)

    return spawn


def path_shown(spelt: Callable[[str], str]) -> Step:
    """Of `check_cwd`: writes a refused path in another way than that of `repr`."""

    def check_cwd(port: Any, real: Any, cwd: str) -> None:
        try:
            real(cwd)
        except Refusal as refusal:
            raise Refusal(str(refusal).replace(repr(cwd), spelt(cwd))) from None

    return check_cwd


def in_any_case(names: Collection[str]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Reads members of these names however they are spelt; one that is spelt right counts."""

    def change(members: Mapping[str, Any]) -> dict[str, Any]:
        lower = {name.lower(): value for name, value in members.items() if name.lower() in names}
        return {**lower, **members}

    return change


def stdin_changed(change: Callable[[str], str]) -> Step:
    """Of `prompt_form`: writes something else to stdin."""

    def prompt_form(port: Any, real: Any, prompt: str) -> Any:
        form, stdin = real(prompt)
        return form, None if stdin is None else change(stdin)

    return prompt_form


def lacking(option: str) -> Callable[[Plan], Plan]:
    """Takes an option and its value off the command line."""

    def change(plan: Plan) -> Plan:
        if option not in plan.argv:
            return plan
        at = plan.argv.index(option)
        return replace(plan, argv=(*plan.argv[:at], *plan.argv[at + 2 :]))

    return change


def altering(option: str, change: Callable[[str], str]) -> Callable[[Plan], Plan]:
    """Changes the value of an option on the command line."""

    def altered(plan: Plan) -> Plan:
        words = zip(("", *plan.argv), plan.argv, strict=False)
        return replace(plan, argv=tuple(change(word) if before == option else word for before, word in words))

    return altered


def has_model(plan: Plan) -> bool:
    return "-m" in plan.argv


def is_flagged(plan: Plan) -> bool:
    """Whether the prompt follows `--prompt=`."""
    return any(word.startswith("--prompt=") for word in plan.argv)


def is_named(plan: Plan) -> bool:
    """Whether the plan resumes a session by its id."""
    return plan.session not in (None, "latest")
