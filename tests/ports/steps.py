"""Replacements for steps of a port, and ports that have them.

A step is called with the port, the right step, and the arguments of the right step. It remembers things in
`port.memory`. The functions below make steps for any area; what only one area needs stands above its rows.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, cast

from port import Port

# One type for each number of arguments: of a lambda that should be a `Callable[..., Any]`, pyright knows no parameters.
Step = (
    Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any, Any], Any]
)
Change = Callable[[Any], Any]


class Registers(Protocol):
    """The end of a row: registers a port that differs from `base` in these steps."""

    def __call__(self, base: type[Port] = ..., /, **steps: Step) -> None: ...


def port_with(name: str, base: type[Port], **steps: Step) -> type[Port]:
    """A port that differs from `base` in these steps."""
    methods = {step: _method(getattr(base, step), other) for step, other in steps.items()}
    return type(name, (base,), {"memory": {}, **methods})


def _method(right: Callable[..., Any], other: Callable[..., Any]) -> Callable[..., Any]:
    def method(port: Port, *arguments: Any, **options: Any) -> Any:
        return other(port, partial(right, port), *arguments, **options)

    return method


def always(value: Any) -> Step:
    """Gives this value and does nothing."""

    def step(port: Any, real: Any, *arguments: Any) -> Any:
        return value

    return step


def gives(change: Change) -> Step:
    """Changes the result of the right step."""

    def step(port: Any, real: Any, *arguments: Any) -> Any:
        return change(real(*arguments))

    return step


def takes(change: Change) -> Step:
    """Changes the last argument of the right step."""

    def step(port: Any, real: Any, *arguments: Any) -> Any:
        return real(*arguments[:-1], change(arguments[-1]))

    return step


def only(test: Change | Step) -> Step:
    """Does nothing, unless `test` holds of the arguments."""
    holds = cast(Callable[..., Any], test)

    def step(port: Any, real: Any, *arguments: Any) -> Any:
        return real(*arguments) if holds(*arguments) else None

    return step


def raises(error: Exception) -> Step:
    """Raises this error, whatever it is called with."""

    def step(port: Any, real: Any, *arguments: Any) -> Any:
        raise error.with_traceback(None)

    return step


def refuses(error: Exception, test: Change | Step) -> Step:
    """Raises this error when `test` holds of the arguments."""
    holds = cast(Callable[..., Any], test)

    def step(port: Any, real: Any, *arguments: Any) -> Any:
        if holds(*arguments):
            raise error.with_traceback(None)
        return real(*arguments)

    return step


def on(kind: type[Exception], then: Callable[[Any, Any], Any]) -> Step:
    """Catches this kind of error of the right step, and gives or raises what `then` makes of it."""

    def step(port: Any, real: Any, *arguments: Any) -> Any:
        try:
            return real(*arguments)
        except kind as error:
            result = then(port, error)
        if isinstance(result, Exception):
            raise result
        return result

    return step


def before(effect: Change | Step) -> Step:
    """Does something else with the port and the arguments first."""
    do = cast(Callable[..., Any], effect)

    def step(port: Any, real: Any, *arguments: Any) -> Any:
        do(port, *arguments)
        return real(*arguments)

    return step


def after(effect: Change | Step) -> Step:
    """Does something else with the port and the arguments afterwards."""
    do = cast(Callable[..., Any], effect)

    def step(port: Any, real: Any, *arguments: Any) -> Any:
        result = real(*arguments)
        do(port, *arguments)
        return result

    return step


def for_tool(tool: str, other: Callable[..., Any]) -> Step:
    """Differs for calls of this tool alone; the first argument is the tool, or has it."""

    def step(port: Any, real: Any, first: Any, *others: Any) -> Any:
        is_meant = getattr(first, "tool", first) == tool
        return other(port, real, first, *others) if is_meant else real(first, *others)

    return step


def notes(key: str, of: Change = lambda result: result) -> Step:
    """Remembers something of the right result."""

    def step(port: Any, real: Any, *arguments: Any) -> Any:
        result = real(*arguments)
        port.memory[key] = of(result)
        return result

    return step


def first_kept(port: Any, real: Any, *arguments: Any) -> Any:
    """Gives the first result that was not empty in the place of the later ones."""
    result = real(*arguments)
    return result and port.memory.setdefault("first", result)


def latest_repeated(*tools: str) -> Step:
    """Gives the latest result that was not empty in the place of an empty one, for these tools."""

    def step(port: Any, real: Any, tool: Any, *others: Any) -> Any:
        result = real(tool, *others)
        latest = port.memory["latest"] = result or port.memory.get("latest", result)
        return latest if tool in tools else result

    return step


def adding(**entries: Any) -> Change:
    """Adds entries to a message, or replaces them."""
    return lambda message: {**message, **entries}


def without(*names: str) -> Change:
    """Takes entries out of a message."""
    return lambda message: {name: value for name, value in message.items() if name not in names}
