"""Schema: which arguments a tool's input schema forbids, and values that it allows. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from math import ceil
from typing import Literal
from zlib import crc32

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument, NoSuchExample, Unsatisfiable
from jsonschema import Draft202012Validator

from gemini_mcp.spec import ToolSpec
from gemini_mcp.spec.values import Json, items, table
from gemini_mcp_conformance.spec.patterns import samples

Fault = Literal["missing", "null", "type", "value"]
"""Why a schema forbids an argument."""

MANY = 1_000_000
MOST_ITEMS = 1_000
"""The longest list that is made for a schema."""

NUMBERS = (0.5, 1, 0, 7, 42, -1, 1000)
SLOW = (HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large)
PRINTABLE = st.characters(exclude_categories=("C", "Z"), include_characters=" ")
WORDS = ("plain", "a", "0", "two words", "2026-01-31", "https://example.org/x", "someone@example.org", "x" * 64)


_validators: dict[int, Json] = {}
"""The validator of each schema by the schema's identity. It holds the schema, so no other one gets that identity."""


def faults(tool: ToolSpec, arguments: Mapping[str, Json]) -> Mapping[str, Fault]:
    """The declared arguments that the schema forbids, and why. If only together, all of them count as values."""
    found: dict[str, Fault] = {name: "missing" for name in tool.required if name not in arguments}
    for name, schema in tool.properties.items():
        if name in arguments and not is_valid(schema, arguments[name]):
            found[name] = _fault(schema, arguments[name])
    if not found and not is_valid(tool.definition["inputSchema"], arguments):
        found = dict.fromkeys(arguments, "value")
    return found


def is_valid(schema: Json, value: Json) -> bool:
    """Whether a schema allows a value."""
    validator: Json = _validators.get(id(schema))
    if validator is None:
        _validators[id(schema)] = validator = Draft202012Validator(schema)
    return bool(validator.is_valid(value))


def is_of_type(schema: Json, value: Json) -> bool:
    """Whether a value has one of the types that a schema names."""
    types = table(schema).get("type")
    names = (types,) if isinstance(types, str) else items(types)
    return types is None or any(Draft202012Validator.TYPE_CHECKER.is_type(value, name) for name in names)


def takes_text(schema: Json) -> bool:
    """Whether a property is any text: neither of another type nor one of a few."""
    return is_of_type(schema, "") and not {"enum", "const"} & table(schema).keys()


def takes_texts(schema: Json, count: int) -> bool:
    """Whether a property is any of so many texts. Numbers are none: one may name what another names as well."""
    return takes_text(schema) and len({str(fitted(schema, f"The question {each}?")) for each in range(count)}) == count


def allowed(schema: Json, candidates: Iterable[Json]) -> Iterator[Json]:
    """Those of the candidates that a schema allows."""
    return (value for value in candidates if is_valid(schema, value))


def sample(schema: Json, wished: Json) -> Json:
    """A value that a property allows: the wished one if possible, else an ordinary one; None when none is found."""
    found = next(allowed(schema, _candidates(table(schema), wished)), None)
    found = found if found is not None else _searched(table(schema))
    is_alike = isinstance(found, str) and isinstance(wished, str) and "pattern" in table(schema)
    return _likened(schema, found, wished) if is_alike else found


def _likened(schema: Json, text: str, wished: str) -> str:
    """A text with as much of the wished one as is allowed, so that other wishes are other texts."""
    plain = re.sub(r"\W", "", wished)
    tried = (each for spelled in (wished, plain, wished.lower(), plain.lower()) for each in _around(text, spelled))
    # The pattern alone is judged much faster than the schema.
    found = (each for each in tried if re.search(table(schema)["pattern"], each))
    with_wished = next(allowed(schema, found), None)
    if isinstance(with_wished, str):
        return with_wished
    for at, letter in enumerate(wished[: len(text)]):
        tried = f"{text[:at]}{letter}{text[at + 1 :]}"
        text = tried if is_valid(schema, tried) else text
    return text


def _around(text: str, wished: str) -> Iterator[str]:
    """The wished text behind each beginning of another one, then between its parts."""
    places = range(len(text) + 1)
    yield from (text[:at] + wished for at in places)
    yield from (text[:at] + wished + text[at:] for at in places)


def fitted(schema: Json, text: str) -> Json:
    """A text cut or padded to the lengths of a property, or a sample when that is not allowed either."""
    limits = table(schema)
    longest, shortest = limits.get("maxLength"), limits.get("minLength", 0)
    short = text if longest is None or len(text) <= longest else _cut(text, longest)
    padded = short + "." * max(0, shortest - len(short))
    return padded if is_valid(schema, padded) else sample(schema, padded)


PLAINER = (r"[^\w\s.-]", r"[^\w\s]", r"[^\w ]", r"\W")
"""Characters that a text can do without, more of them from one to the next."""


def plainer(text: str) -> Iterator[str]:
    """The text without odd characters, for where some are refused."""
    # A letter in their place keeps texts apart of which one would begin like the other.
    return (re.sub(characters, letter, text) for characters in PLAINER for letter in ("x", ""))


def _cut(text: str, longest: int) -> str:
    """The end of a text, with a mark that other texts with that end do not have."""
    mark = f"{crc32(text.encode('utf-8', 'surrogatepass')):08x}"[: longest // 2]
    return text[len(text) - longest + len(mark) :] + mark


def _fault(schema: Json, value: Json) -> Fault:
    if value is None:
        return "null"
    return "value" if is_of_type(schema, value) else "type"


def _candidates(schema: Mapping[str, Json], wished: Json) -> Iterator[Json]:
    # False counts as absent, and shows nothing.
    yield from (wished, True)
    yield from items(schema.get("examples"))
    yield from items(schema.get("enum"))
    yield from (schema[key] for key in ("const", "default") if key in schema)
    yield from WORDS
    yield from _numbers(schema, wished)
    yield from NUMBERS
    yield from (value for key in ("minimum", "maximum") if (value := schema.get(key)) is not None)
    item = sample(table(schema.get("items")), wished) if "items" in schema else wished
    yield from ([item], [item, item], [item] * min(MOST_ITEMS, schema.get("minItems", 0)), {}, None)


def _numbers(schema: Mapping[str, Json], wished: Json) -> Iterator[float]:
    """A number that belongs to the wished text, so that other wishes are other numbers: a fraction if it may be one."""
    if isinstance(wished, str) and "type" in schema:
        least, step = schema.get("minimum", 0), schema.get("multipleOf", 1)
        count = min(MANY, int((schema.get("maximum", least + MANY * step) - least) / step))
        first = least if "multipleOf" not in schema else ceil(least / step) * step
        number = first + crc32(wished.encode("utf-8", "surrogatepass")) % max(1, count) * step
        yield from (number + step / 2, number)


@lru_cache(64)
def matching(pattern: str, shortest: int = 0, longest: int | None = None) -> str | None:
    """A printable text that a pattern matches; always the same."""
    if not pattern:
        return None

    def fits(text: str) -> bool:
        return text.isprintable() and bool(text.strip()) and shortest <= len(text) <= (longest or 10_000)

    tried = samples(pattern)
    if tried and not any(text.isprintable() and text.strip() for text in tried):
        # The samples take an ordinary character wherever one fits. To search on would add half a second to each run.
        return None
    for text in tried:
        if fits(text):
            return text
    # No deadline: on a busy machine one slow example would raise an error of hypothesis before the run begins.
    quiet = settings(
        derandomize=True,
        database=None,
        deadline=None,
        max_examples=100,
        phases=(Phase.generate,),
        suppress_health_check=SLOW,
    )
    try:
        texts = st.from_regex(pattern, alphabet=PRINTABLE).map(lambda text: text + "." * max(0, shortest - len(text)))
        return find(texts, fits, settings=quiet)
    except (NoSuchExample, InvalidArgument, Unsatisfiable):
        return None


def _searched(schema: Mapping[str, Json]) -> Json:
    """A text that matches the pattern of a schema."""
    pattern = schema.get("pattern")
    found = matching(pattern, schema.get("minLength", 0), schema.get("maxLength")) if pattern else None
    return found if found is not None and is_valid(schema, found) else None
