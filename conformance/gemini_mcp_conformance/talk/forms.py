"""Forms: the dimensions of a call of a tool, each with the forms that its values have, by the specification; pure.

A form holds many values of one kind, and each call that asks for the form takes the next. Only values that every port
must serve are here: a call that is refused shows nothing of what it was combined with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from gemini_mcp.gemini_cli.understanding import COMMAND_WORDS
from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.schema import allowed, is_valid, takes_text
from gemini_mcp_conformance.spec.specification import Specification
from gemini_mcp_conformance.talk.plays import session
from gemini_mcp_conformance.talk.steps import path
from gemini_mcp_conformance.talk.texts import (
    CHARACTERS,
    CHOICES,
    IN_FILES,
    KIB,
    PROMPTS,
    WORDS,
    WRITTEN,
    around_buffers,
    canaries,
    filling,
    sized,
)

Forms: TypeAlias = Mapping[str, tuple[Json, ...]]
"""The values of each form."""

ABSENT = "absent"
MEBIBYTE = KIB * KIB
NO_VALUE: tuple[Json, ...] = (None,)
"""Stands for an argument that is left out."""

FOLDERS = (
    *(
        "plain",
        "deep/a b",
        "é 日本 😀",
        "e\u0301",
        "-dash",
        'it\'s "quoted"',
        "back\\slash",
        "$(id)",
        "a%20b",
        "~x",
        "two\nlines",
        "न\u094d\u200d \u2067x\u2069\ufe0f",
    ),
    *(" blank ends ", "'single'", '"double"', "x" * 200, "/".join(["long" * 20] * 8), "\u1100\u1161\u11a8", ".a+b&c;d"),
    *("what? #1", " two blanks before", "[a-z]*{b,c}", "100% ,=@!^|`", "a:b", "“a”\t–(b)\r<c>…", "007"),
)
"""Directories below the port's own; each exists."""

ORDINARY = "The question of turn {number}, which is for nobody else."
"""An ordinary prompt; it differs from call to call."""


@dataclass(frozen=True)
class CallForms:
    """The forms of the arguments of one tool."""

    spec: Specification
    tool: str

    def arguments(self) -> Mapping[str, Forms]:
        """By argument, its forms; those without any value are left out."""
        properties = self.spec.tools[self.tool].properties
        every = {name: self._forms(name) for name in properties}
        return {name: {form: values for form, values in forms.items() if values} for name, forms in every.items()}

    def _forms(self, name: str) -> Forms:
        spec, tool = self.spec, self.tool
        needed = name in spec.tools[tool].required
        own = self._own(name)
        if not any(own.values()):
            own = {"usual": self._settled(name, [spec.usual(tool, name)])}
        return own if needed else {ABSENT: NO_VALUE, **own}

    def _own(self, name: str) -> Forms:
        spec, tool, schema = self.spec, self.tool, self.spec.tools[self.tool].properties[name]
        if name == spec.directory(tool):
            here, elsewhere = (path(), ".", "./"), [each for name in FOLDERS for each in (path(name), name)]
            elsewhere += [each for name in FOLDERS[:1] for each in (path(f"{name}/"), f"./{name}//")]
            return {"here": _relative_only_if(schema, here), "elsewhere": _relative_only_if(schema, elsewhere)}
        if not takes_text(schema):
            candidates = (spec.usual(tool, name), True, False, 0, 1, -1, 0.5, 42, ["a"], ["a", "b"], ["é", "$(id)"])
            return {"given": self._settled(name, allowed(schema, candidates))}
        if name == spec.prompt(tool):
            return {form: self._settled(name, texts) for form, texts in self._prompts().items()}
        if name in spec.files(tool):
            return {form: self._settled(name, texts) for form, texts in _FILES.items()}
        return {form: self._settled(name, texts) for form, texts in self._words(name).items()}

    def _settled(self, name: str, values: Iterable[Json]) -> tuple[Json, ...]:
        """The values that every port must serve alike, and long prompts, which must arrive whole or be refused."""
        schema, spec, tool = self.spec.tools[self.tool].properties[name], self.spec, self.tool
        return tuple(
            value
            for value in values
            if is_valid(schema, value) and (spec.settles(tool, name, value) or self._is_long(name, value))
        )

    def _is_long(self, name: str, value: Json) -> bool:
        # A character takes up to four bytes of UTF-8.
        limit = self.spec.longest(name)
        is_prompt = name == self.spec.prompt(self.tool) and isinstance(value, str)
        return is_prompt and len(value) > self.spec.limit // 4 and (limit is None or len(value) * 4 < limit)

    def _words(self, name: str) -> Forms | Mapping[str, Iterable[str]]:
        """Names and ids: ordinary ones, ones with a meaning elsewhere, odd ones."""
        is_session = name == self.spec.session(self.tool)
        usual = [session(str(number)) for number in range(5)] if is_session else [f"a-model-{n}" for n in range(5)]
        odd = {**WORDS, **WRITTEN, **CHARACTERS, **canaries(name)}
        likely = (*COMMAND_WORDS, *CHOICES, "7", "0x1f", "1e3", "null", "@x")
        latest = self.spec.latest(self.tool)
        # What stands for an absent session is as good as a form of its own, but costs fewer calls.
        spoken = [latest] if is_session and latest is not None else []
        odd |= {f"like {word}": word for each in spoken for word in (each.upper(), each.title())}
        like_another = [each for word in likely for each in (*spoken, word)]
        return {"usual": usual, "odd": odd.values(), "like-another": like_another}

    def _prompts(self) -> Mapping[str, Iterable[str]]:
        """Prompts by what may happen to them on their way."""
        limit = self.spec.limit
        kinds = {form: [text for name, text in PROMPTS.items() if name.startswith(names)] for form, names in _KINDS}
        around = {name: text for name, text in sized(limit).items() if not name.startswith(str(limit + 1))}
        beyond = [text for name, text in sized(limit).items() if name.startswith(str(limit + 1))]
        return {
            "ordinary": (ORDINARY,),
            "characters": (*WRITTEN.values(), *CHARACTERS.values()),
            **kinds,
            "hostile": [*canaries("prompt").values()],
            "longest": (*around.values(), _mixed(limit // 4), *around_buffers(limit)),
            "beyond": (
                _mixed(2 * limit),
                *beyond,
                *_around_mebibyte(),
                *(f"{head}{'long ' * (limit // 4)}{tail}" for head, tail in _ENDS),
            ),
        }


def _relative_only_if(schema: Json, directories: Iterable[Json]) -> tuple[Json, ...]:
    """The directories, without relative paths that a schema forbids; what an absolute one will be is not known yet."""
    return tuple(each for each in directories if not isinstance(each, str) or is_valid(schema, each))


def _around_mebibyte() -> Iterator[str]:
    yield from ("z".rjust(MEBIBYTE + more, "x") for more in (-1, 1))


_KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("blanks", ("blanks", "newline-", "tab-first", "windows-newlines", "blank")),
    ("dash", ("dash", "option-")),
    ("word", ("word-", "number", "equals")),
    ("sign", ("at-", "slash", "exclamation", "quoted", "single-quoted")),
)
"""Forms of prompts, and how the names of their texts begin."""

_ENDS = (
    ("-", ""),
    ("/", "?"),
    ("@", "\n"),
    (" ", " "),
    ("mcp\n", "\r\n"),
    ("é\u0301", "😀"),
    ('"', '"'),
    ("\ufeff", ""),
)
"""How long prompts begin and end."""

_FILES: Mapping[str, tuple[str, ...]] = {
    "usual": ("You are brief.", "You are kind.", "You speak French."),
    "odd": tuple(text for name, text in {**IN_FILES, **CHARACTERS}.items() if not name.startswith(("long", "1-mb"))),
    "long": (IN_FILES["long"], "한국어 👍 " * 4_000, "line\r\n" * 12_000, *around_buffers(MEBIBYTE, 128 * KIB)),
}


def _mixed(length: int) -> str:
    """Everything that may be damaged, in one text of so many characters."""
    return filling("\n".join((*WRITTEN.values(), *CHARACTERS.values())), length)
