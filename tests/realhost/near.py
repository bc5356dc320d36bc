"""Inputs near the recorded ones: a vector's input with one to three changes that a user or a server could make. Pure.

Texts change everywhere but where only certain words have a meaning; types change where nothing checks them before.
"""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from gemini_mcp.spec.values import Json, JsonObject, list_of, object_of

Path = tuple[str | int, ...]

ODD: tuple[Json, ...] = (
    *(None, "", 0, -1, 1.5, True, False, [], {}, "x", [None], {"a": 1}, "true", "é", "a b", ["a"], [1], 1e21, "null"),
)
"""Values that are put in place of others, where types may change."""

PIECES = (
    *("a", "A", "1", "_", "-", ".", ":", "mcp_", "é", "\U0001f600", " ", "/", "\\", '"', "'", "=", "$", "{", "}", "\n"),
    *(
        "\t",
        "@",
        "(",
        ")",
        "\u0301",
        "#",
        "?",
        "%",
        "&",
        ",",
        "\ud800",
        "--",
        "\ufeff",
        "\x1c",
        "\u2028",
        "\r",
        "x" * 30,
    ),
)
"""What is put into texts."""


@dataclass(frozen=True)
class Domain:
    """Where an input may change.

    `loose` begins the paths whose types change, where `*` is any key; `fixed` names members that stay.
    """

    loose: tuple[Path, ...] = ()
    fixed: frozenset[str] = frozenset()

    def is_loose(self, path: Path) -> bool:
        """Whether the value at the path may become one of another type, or go."""
        return any(
            len(path) >= len(begin) and all(want in ("*", key) for want, key in zip(begin, path, strict=False))
            for begin in self.loose
        )

    def is_fixed(self, path: Path) -> bool:
        """Whether the value at the path stays."""
        return any(str(key) in self.fixed for key in path)


DOMAINS: Mapping[str, Domain] = {
    "confirmation": Domain((("trust",),), frozenset({"outcome", "args"})),
    "conflict-resolution": Domain(fixed=frozenset({"builtin", "order", "connectFails"})),
    "content-to-parts": Domain((("callToolResult", "content"), ("callToolResult", "isError")), frozenset({"args"})),
    "discovery": Domain(
        tuple(("serverSpec", "spec", kind) for kind in ("tools", "prompts", "resources", "initialize")),
        frozenset(
            (
                *("delay", "timeout", "exit", "command", "url", "httpUrl", "initializeLog"),
                *("toolsError", "promptsError", "resourcesError"),
            )
        ),
    ),
    "env-expansion": Domain(fixed=frozenset({"hostVariable"})),
    "extensions": Domain(fixed=frozenset({"environment", "source", "type"})),
    "mcp-add": Domain(fixed=frozenset({"connected", "as"})),
    "name-normalisation": Domain(),
    "oauth": Domain(
        (("documents", "*"),),
        frozenset({"call", "function", "expired", "tokenEndpoint", "now", "status", "token", "refreshToken"}),
    ),
    "policy": Domain(fixed=frozenset({"mode"})),
    "prompt-args": Domain((("answer", "*"),), frozenset({"subCommand"})),
    "resources": Domain((("reads", "*", "contents", "*", "*"),), frozenset({"blob"})),
    "schema-sanitisation": Domain((("inputSchema",),), frozenset({"cycleAt", "description"})),
    "server-filter": Domain(),
    "settings-validation": Domain((("settings",),)),
    "tool-filter": Domain((("includeTools",), ("excludeTools",))),
    "transport": Domain(fixed=frozenset({"environment", "authProviderType"})),
}
"""By behaviour."""


def near(chance: Random, inputs: Sequence[JsonObject], domain: Domain) -> JsonObject:
    """One of the inputs, changed."""
    known = _values_by_key(inputs)
    value: Json = copy.deepcopy(chance.choice(inputs))
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3))):
        places = [path for path, _ in _places(value) if path and not domain.is_fixed(path)]
        if places:
            _change(chance, value, chance.choice(places), domain, known)
    return value


def _places(value: Json, path: Path = ()) -> Iterator[tuple[Path, Json]]:
    yield path, value
    for key, member in (object_of(value) or {}).items():
        yield from _places(member, (*path, key))
    for index, item in enumerate(list_of(value) or []):
        yield from _places(item, (*path, index))


def _values_by_key(inputs: Sequence[JsonObject]) -> Mapping[str, list[Json]]:
    """What stands under each key anywhere; items of lists under an empty key."""
    found: dict[str, list[Json]] = {}
    for given in inputs:
        for path, value in _places(given):
            if path:
                found.setdefault(path[-1] if isinstance(path[-1], str) else "", []).append(value)
    return found


def _change(chance: Random, whole: Json, path: Path, domain: Domain, known: Mapping[str, list[Json]]) -> None:
    """Change the value at the path in place."""
    holder: Json = whole
    for key in path[:-1]:
        holder = holder[key]
    key = path[-1]
    value: Json = holder[key]
    is_loose = domain.is_loose(path)
    if is_loose and chance.random() < 0.2:
        del holder[key]
    elif is_loose and chance.random() < 0.25:
        holder[key] = copy.deepcopy(chance.choice(ODD))
    elif isinstance(value, str):
        holder[key] = _other_text(chance, value)
    elif list_of(value) is not None:
        holder[key] = _other_list(chance, value, known.get("", []) if is_loose else value)
    elif object_of(value) is not None and is_loose:
        holder[key] = _other_object(chance, value, known)
    elif is_loose:
        holder[key] = copy.deepcopy(chance.choice(known.get(key, ODD) if isinstance(key, str) else ODD))


def _other_text(chance: Random, text: str) -> str:
    place = chance.randrange(len(text) + 1)
    piece = chance.choice(PIECES)
    changes: tuple[Callable[[], str], ...] = (
        lambda: text[:place] + piece + text[place:],
        lambda: text[:place] + text[place + 1 :],
        lambda: text + piece,
        lambda: piece + text,
        lambda: text + text,
        lambda: text.upper(),
        lambda: text[:place],
    )
    return chance.choice(changes)()


def _other_list(chance: Random, items: Sequence[Json], more: Sequence[Json]) -> list[Json]:
    other = list(items)
    if other and chance.random() < 0.3:
        other.pop(chance.randrange(len(other)))
    elif other and chance.random() < 0.3:
        chance.shuffle(other)
    elif more or other:
        other.insert(chance.randrange(len(other) + 1), copy.deepcopy(chance.choice(more or other)))
    return other


def _other_object(chance: Random, members: JsonObject, known: Mapping[str, list[Json]]) -> JsonObject:
    pairs = list(members.items())
    chance.shuffle(pairs)
    if chance.random() < 0.5:
        key = chance.choice(sorted(known))
        pairs.append((key or "other", copy.deepcopy(chance.choice(known[key]))))
    return dict(pairs)
