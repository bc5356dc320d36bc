"""Variables in settings, `$NAME` and `${NAME}`: expanded in the file, by some profiles again at connection. Pure.

Which variables a server may see is in `environment`.
"""

import re
from collections.abc import Mapping

from gemini_mcp.host.rules.javascript import INHERITED, PROTOTYPE, replace_first
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, list_of, object_of

_LATE = re.compile(r"(?<!\\)\$\{([^{}]+)\}|(?<!\\)\$([A-Za-z_][A-Za-z0-9_]*)")
_MOST_STEPS, _MOST_GROWTH = 200, 10_000
_OPERATOR = re.compile(r":\+|\+|:-|-")

_OF_EVERY_OBJECT = {PROTOTYPE: "[object Object]", "isPrototypeOf": "false", "toString": "[object Undefined]"}
"""What dotenv-expand puts in for members that every object of JavaScript has. With others it throws."""

_THROWN = {"toLocaleString": "Object.prototype.toLocaleString called on null or undefined"}
_THROWN_ELSE = "Cannot convert undefined or null to object"


class Unexpandable(Exception):
    """Gemini CLI throws at a variable, or puts it in for ever; the message is its own, or says that."""

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name


def expand(text: str, environment: Mapping[str, str], rules: Rules) -> str:
    """The text with its variables put in; a variable that is not set stays as it is written."""

    def value(match: re.Match[str]) -> str:
        # 0.1.19 knows no defaults: the pattern of its profile has no third group.
        name, braced, *defaults = match.groups()
        default = next((text for text in defaults if text is not None), match.group())
        return environment.get(name or braced, default)

    return re.sub(rules.variable, value, text)


def expand_everywhere(value: Json, environment: Mapping[str, str], rules: Rules) -> Json:
    """The settings with every string of them expanded; keys are left alone."""
    members, items = object_of(value), list_of(value)
    if members is not None:
        return {key: expand_everywhere(member, environment, rules) for key, member in members.items()}
    if items is not None:
        return [expand_everywhere(item, environment, rules) for item in items]
    return expand(value, environment, rules) if isinstance(value, str) else value


def expand_late(text: str, environment: Mapping[str, str]) -> str:
    """The text as it is expanded again at connection: a variable that is not set becomes empty.

    It follows dotenv-expand: values are expanded too, `${X:-d}`, `${X-d}`, `${X:+d}` and `${X+d}` are known, and
    `\\$` stands for a dollar sign. Raises Unexpandable where that library throws or does not end.
    """
    result, seen, steps = text, set[str](), 0
    # dotenv-expand reads a result again until no variable is left: `x$A` with `A=$B` and `B=$A` never ends there.
    while match := _LATE.search(result):
        seen.add(result)
        steps += 1
        if steps > _MOST_STEPS + text.count("$") or len(result) > len(text) + _MOST_GROWTH * steps:
            raise _endless(match.group(1) or match.group(2))
        before, result = result, replace_first(result, match.group(), _late_value(match, environment, seen))
        if result == before:
            raise _endless(match.group(1) or match.group(2))
    return result.replace("\\$", "$")


def _late_value(match: re.Match[str], environment: Mapping[str, str], seen: set[str]) -> str:
    expression = match.group(1) or match.group(2)
    # The first operator anywhere in the braces counts, so `${A-B:-c}` is `A` with the default `B:-c`.
    operator = _OPERATOR.search(expression)
    name = expression[: operator.start()] if operator else expression
    default = expression[operator.end() :] if operator else ""
    value = environment.get(name, "")
    is_member = name not in environment and name in INHERITED
    if operator and operator.group().endswith("+"):
        return default if value or is_member else ""
    if is_member:
        return _member(name, match.group())
    # dotenv-expand takes a value that the whole text was before for a reference to itself, and puts the default in.
    return value if value and value not in seen else default


def _member(name: str, template: str) -> str:
    """What a member of every object puts in for the variable; raises Unexpandable."""
    # `Object` is called with the variable, and gives it back as it is written.
    if name == "constructor":
        return template
    if name not in _OF_EVERY_OBJECT:
        raise Unexpandable(_THROWN.get(name, _THROWN_ELSE), name)
    return _OF_EVERY_OBJECT[name]


def _endless(name: str) -> Unexpandable:
    return Unexpandable(
        f"the variable {name!r} leads to itself: Gemini CLI puts it in for ever, and does not start", name
    )
