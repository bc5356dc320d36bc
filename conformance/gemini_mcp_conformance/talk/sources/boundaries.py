"""Boundaries: each argument of each tool at its limits and with odd values, the same in every run.

Another odd text belongs in `texts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from gemini_mcp.spec.families import kebab
from gemini_mcp.spec.templates import argument_of
from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.interpreter import is_absent, refusals, rules
from gemini_mcp_conformance.spec.patterns import near_misses, samples
from gemini_mcp_conformance.spec.schema import MOST_ITEMS, is_valid, matching, sample, takes_text
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.outcomes.answers import DEEP, FILLERS, nested
from gemini_mcp_conformance.talk.plays import SESSION
from gemini_mcp_conformance.talk.showing import everything_shows, shown_by
from gemini_mcp_conformance.talk.sources import Sources, ToolMaker
from gemini_mcp_conformance.talk.steps import Await, Release, Step, call, path
from gemini_mcp_conformance.talk.texts import (
    BLANKS,
    IN_FILES,
    PLAIN,
    PROMPTS,
    WORDS,
    broken,
    canaries,
    filling,
    placeholders,
    sized,
)

ORDER = 80
LONG = 1000
"""Characters from which on a text is odd for its size."""
TOO_LONG = 1 << 20
"""Texts of this length are not sent a second time for a rule that forbids them."""

ALIKE = ("alike", "two words alike", "help", "7")
"""Texts of all arguments at once. gemini takes some for no prompt, so they need a form that others do not."""

WRONG: Mapping[str, Json] = {
    "number": 42,
    "zero": 0,
    "fraction": 1.5,
    "true": True,
    "false": False,
    "text": "x",
    "array": ["x"],
    "empty-array": [],
    "array-of-numbers": [7],
    "object": {"text": "x"},
    "empty-object": {},
}
"""Values of every type; some schemas allow some of them."""

UNKNOWN: Mapping[str, Json] = {
    "x-temperature": 0.2,
    "x-yolo": True,
    "x-session_id": "x",
    "x-args": ["-d"],
    "x-nothing": None,
    "x-comment": "before\0after",
    "x-half": "\ud83d",
    "x-large": 2**70,
    "x-nested": nested(DEEP),
    "x-attachment": "z" * (1 << 17),
}
"""Arguments that no tool declares. A port may declare more than is specified, as `temperature`, and refuse a value."""


def conversations(sources: Sources) -> Iterable[Conversation]:
    """The cheap ones first."""
    for tool in sources.spec.names:
        boundaries = Boundaries(sources, tool)
        yield from boundaries.shapes()
        yield from boundaries.texts()
        yield from boundaries.edges()
        yield from boundaries.beside_everything()
        yield from boundaries.placeholders()
        yield boundaries.alike()
    yield from _longest(sources)


def _longest(sources: Sources) -> Iterator[Conversation]:
    """A prompt of the greatest length, one that is longer, and one that only escapes make longer. They take long."""
    spec = sources.spec
    for number, (kind, made) in enumerate(_LONGEST.items()):
        tool = spec.names[number % len(spec.names)]
        name = spec.prompt(tool)
        limit = spec.longest(name) if name is not None else None
        if name is not None and limit is not None and takes_text(spec.tools[tool].properties[name]):
            shows = ("prompt:long", "prompt:long:whole", "prompt:over-limit", "error:prompt")
            how = {"escaped": kind == ESCAPED}
            # What is in a file does not count.
            given = {**dict.fromkeys(spec.files(tool), "You are patient."), name: made(limit)}
            made_of = Boundaries(sources, tool)
            each = made_of.one(f"{kebab(name)}-{kind}{limit}", given, shows, how)
            yield replace(each, steps=_accompanied(kind, each.steps, made_of, name, made(limit)))


def _accompanied(kind: str, steps: tuple[Step, ...], made_of: Boundaries, name: str, longest: str) -> tuple[Step, ...]:
    """The call with the longest prompt beside another, or that with one too long before a long one and with all."""
    sources, tool = made_of.sources, made_of.tool
    if kind == OVER_LIMIT:
        long = ("Behind. " * sources.spec.limit)[: sources.spec.limit + 1]
        in_ascii = {**made_of.everything, name: OVER.ljust(len(longest.encode()), "x")}
        behind = call(tool, {name: long}, sources.answers("Served."))
        return (*steps, behind, call(tool, in_ascii, sources.answers("Too long.")))
    if kind == LONGEST and tool == sources.spec.begins:
        beside = sources.ask(tool, "Who is beside the long one?", sources.answers("Both.", release=BESIDE))
        return (replace(beside, name=BESIDE, until="started"), *steps, Release(BESIDE), Await(BESIDE))
    return steps


def _wide(size: int) -> str:
    """A text of just so many bytes, and of few characters."""
    count, more = divmod(size, len(EVERY_LENGTH.encode()))
    return "x" * more + EVERY_LENGTH * count


EVERY_LENGTH = "".join(FILLERS[1:])
"""A character of each length that UTF-8 has beyond ASCII."""
LONGEST, ESCAPED, OVER_LIMIT, BESIDE = "", "escaped-", "over-", "beside"
OVER = "The question that is longer than anybody reads.\r\n"
"""How a text begins that is too long; no refusal repeats that."""
_LONGEST: Mapping[str, Callable[[int], str]] = {
    # Whoever counts too many bytes for a character refuses the first; whoever counts too few, such as units of UTF-16,
    # takes the second. The third fits, but not as JSON, in ASCII or not.
    LONGEST: lambda limit: EVERY_LENGTH.rjust(limit - len(EVERY_LENGTH.encode()) + len(EVERY_LENGTH), "x"),
    OVER_LIMIT: lambda limit: f"{OVER}{_wide(limit + 1 - len(OVER))}",
    ESCAPED: lambda limit: filling('é"', limit // 3 * 2) + "x" * (limit % 3),
}


class Boundaries(ToolMaker):
    """The boundaries of one tool."""

    phase, prefix = "boundaries", ""

    def __init__(self, sources: Sources, tool: str) -> None:
        super().__init__(sources, tool)
        self.properties = sources.spec.tools[tool].properties
        self.required = sources.spec.tools[tool].required
        self.everything = {**sources.spec.everything(tool), **self.usual}
        if (directory := sources.spec.directory(tool)) is not None:
            self.everything[directory] = path()

    def shapes(self) -> Iterator[Conversation]:
        """Arguments that are missing, null, or of a wrong type."""
        shows = ("arguments:refused:not-started", "arguments:refused:is-error", "arguments:refused:prefix")
        if self.required:
            shows = (*(f"arguments:{kebab(name)}:missing" for name in self.required), *shows)
            yield self.bare("nothing", {}, shows)
            steps = (call(self.tool, self.everything, self.answer), call(self.tool, {}))
            title = f"A call of `{self.tool}` without anything, after one with everything."
            yield self.conversation(f"{self.tool}-nothing-after-all", title, steps, *shows)
        for name in self.required:
            own, key = f"arguments:{kebab(name)}", kebab(name)
            others = {each: value for each, value in self.everything.items() if each != name}
            yield self.bare(f"{key}-missing", others, (f"{own}:missing", *shows))
            misspelt = {**others, name.title(): PLAIN, "message": PLAIN}
            yield self.bare(f"{key}-misspelt", misspelt, (f"{own}:missing", *shows))
            yield self.one(f"{key}-null", {name: None}, (f"{own}:null",))
            yield from self._values(name, (f"{own}:type", f"{own}:value"))
        for name in self.properties:
            if name not in self.required:
                yield self.one(f"{kebab(name)}-null", {name: None}, ("arguments:optional:null",))
                yield from self._values(name, ("arguments:optional:type", f"arguments:{kebab(name)}:value"))

    def _values(self, name: str, shows: tuple[str, ...]) -> Iterator[Conversation]:
        """Values of other types, and those that the schema lists or bounds."""
        schema = self.properties[name]
        for kind, value in self.own(name, WRONG).items():
            if kind != "text" or not is_valid(schema, value):
                yield self.one(f"{kebab(name)}-is-{kind}", {name: value}, shows)
        for number, value in enumerate(schema.get("enum", ())):
            yield self.one(f"{kebab(name)}-choice-{number}", {name: value}, shown_by(self.spec, self.tool, name))
        for rule in rules(name, self.spec.invocation):
            text = "x" * (rule.max_bytes + 1) if rule.max_bytes is not None else matching(rule.pattern or "")
            if text and takes_text(schema) and len(text) < TOO_LONG:
                yield self.one(f"{kebab(name)}-{rule.name}", {name: text}, shown_by(self.spec, self.tool, name))
        for limit, length in (("minLength", -1), ("maxLength", 1)):
            if limit in schema:
                yield self.one(f"{kebab(name)}-{limit}", {name: "x" * max(0, schema[limit] + length)}, shows)
        for limit, step in (("minimum", -1), ("maximum", 1)):
            if limit in schema:
                yield self.one(f"{kebab(name)}-{limit}", {name: schema[limit] + step}, shows)
        if "multipleOf" in schema:
            between = schema.get("minimum", 0) + schema["multipleOf"] / 2
            yield self.one(f"{kebab(name)}-multipleOf", {name: between}, shows)
        for limit, length in (("minItems", -1), ("maxItems", 1)):
            if limit in schema and (item := sample(schema.get("items", {}), PLAIN)) is not None:
                count = max(0, min(schema[limit] + length, MOST_ITEMS))
                yield self.one(f"{kebab(name)}-{limit}", {name: [item] * count}, shows)

    def texts(self) -> Iterator[Conversation]:
        """Each argument with odd texts, beside a usual prompt; those of odd sizes with each tool, the others with one.

        Beside a text at a limit stands everything else: other arguments on the command line do not count. The answer
        to a session with an odd name does not name it, so this name is what the port reports.
        """
        unnamed = self.sources.listed("The session is as odd as it was.", SESSION)
        for name in self.properties:
            how: Json = {"scripts": (unnamed,)} if name == self.spec.session(self.tool) else {}
            table, sizes = self._table(name), {**sized(self.spec.limit), **broken(self.spec.limit)}
            sizable = {kind: text for kind, text in table.items() if kind in sizes or len(text) >= LONG}
            for kind, text in {**sizable, **self.own(name, table)}.items():
                given = text.replace("canary-NAME", f"canary-{name}")
                others = self.everything if kind in sizes else {}
                shows = shown_by(self.spec, self.tool, name)
                yield self.one(f"{kebab(name)}-{kind}", {**others, name: given}, shows, how)
            if not table and name != self.spec.directory(self.tool):
                usual = {name: self.everything.get(name)}
                yield self.one(f"{kebab(name)}-usual", usual, shown_by(self.spec, self.tool, name))
        yield from self._wrong_beside_others()
        yield self.one("everything", self.everything, everything_shows(self.spec, self.tool))

    def _wrong_beside_others(self) -> Iterator[Conversation]:
        """Each argument as null and with values of wrong types beside right ones: it is refused all the same.

        So is a right one in a list or an object, and a wrong one beside a prompt that no command line can hold.
        """
        long = {**self.everything, **self.arguments(self.tool, self.overlong("Beside what is wrong. "))}
        optional = [name for name in self.properties if name not in self.required]
        empty = dict.fromkeys((name for name in optional if is_absent(name, "", self.spec.invocation)), "")
        for name, schema in self.properties.items():
            right = self.everything.get(name)
            block: Json = {"type": "text", "text": right}
            wrapped = ([right], block, [block], {"value": right})
            values = [value for value in (None, *WRONG.values(), *wrapped) if not is_valid(schema, value)]
            refused = self.forbidden(name) if takes_text(schema) else []
            steps = [call(self.tool, {**self.everything, name: value}, self.answer) for value in (*values, *refused)]
            steps += [call(self.tool, {**long, name: value}, self.answer) for value in (values[0], *refused)]
            steps.append(call(self.tool, {**self.everything, **empty, name: values[-1]}, self.answer))
            own = (f"arguments:{kebab(name)}:{fault}" for fault in ("type", "value", "null"))
            shows = (*own, "arguments:optional:type", "arguments:optional:null", "arguments:refused:not-started")
            shows = (*shows, *shown_by(self.spec, self.tool, name))
            title = f"Calls of `{self.tool}` with a wrong `{name}` and everything else."
            yield self.conversation(f"{self.tool}-wrong-{kebab(name)}-beside-others", title, steps, *shows)

    def edges(self) -> Iterator[Conversation]:
        """Each argument with the texts that its patterns just match and just miss, a call each."""
        for name, schema in self.properties.items():
            texts = [text for pattern in self._patterns(name) for text in (*samples(pattern), *near_misses(pattern))]
            new = [text for text in dict.fromkeys(texts) if text not in self._table(name).values()]
            steps = [call(self.tool, {**self.usual, name: text}, self.answer) for text in new]
            if steps and takes_text(schema):
                shows = (*shown_by(self.spec, self.tool, name), f"arguments:{kebab(name)}:value")
                refused = (f"arguments:refused:{rule.name}" for rule in rules(name, self.spec.invocation))
                title = f"Calls of `{self.tool}` with texts at the edges of the patterns of `{name}`."
                yield self.conversation(f"{self.tool}-{kebab(name)}-edges", title, steps, *shows, *refused)

    def beside_everything(self) -> Iterator[Conversation]:
        """What counts as absent or is not declared, beside all other arguments: these are served as ever."""
        spec, tool, folder = self.spec, self.tool, {"elsewhere": None}
        directory = {} if (name := spec.directory(tool)) is None else {name: path("elsewhere")}
        everything = {**self.everything, **directory}
        # What an object inherits in JavaScript, if its members are copied one by one.
        inherited: Json = {name: value for name, value in self.everything.items() if name not in self.required}
        every: dict[str, Json] = {"__proto__": inherited, **UNKNOWN}
        unknown = {name: value for name, value in every.items() if name not in self.properties}
        token: dict[str, Json] = {"_meta": {"progressToken": "among the arguments"}}
        undeclared = (self._undeclared(), *self._undeclared_and_wrong(), self._misspelt(), unknown, token)
        # Whoever reads arguments once more after the answer may read what the tool does not declare.
        unnamed = self.sources.listed("No session is named here.", SESSION)
        steps = [call(tool, {**given, **self.usual, **each}, script)
                 for each in undeclared for given, script in ((everything, self.answer), ({}, unnamed))]  # fmt: skip
        title = f"Calls of `{tool}` with everything and with what it does not declare."
        shows = ("arguments:unknown", f"command:{kebab(tool)}:new-session", *everything_shows(spec, tool))
        shows = (*shows, "fallback:list-sessions", "progress:unasked")
        yield self.conversation(f"{tool}-undeclared", title, steps, *shows, files=folder)
        absent = [(name, text) for name in self.properties for text in BLANKS if is_absent(name, text, spec.invocation)]
        relative = dict.fromkeys(directory, "elsewhere")
        steps = [
            call(tool, {**everything, **(relative if number % 2 else {}), name: text}, self.answer)
            for number, (name, text) in enumerate(absent)
        ]
        # Whoever joins texts may put a blank one before a prompt that goes another way.
        long = {**everything, **self.arguments(tool, self.overlong("Beside nothing. "))}
        steps += [call(tool, {**long, name: text}, self.answer) for name, text in dict(absent).items()]
        empty = dict.fromkeys(f"arguments:empty:{kebab(name)}" for name, _ in absent)
        shows = ("cwd:relative", "prompt:long:whole", "system:absent", *empty)
        title = f"Calls of `{tool}` with everything but one argument, which is empty or blank."
        if steps:
            yield self.conversation(f"{tool}-absent", title, steps, *shows, files=folder)

    def placeholders(self) -> Iterator[Conversation]:
        """Texts that name the arguments as a template does, beside all other arguments."""
        filled = placeholders(self.properties)
        texts = [name for name in self.properties if name != self.spec.directory(self.tool)]
        steps = [
            call(self.tool, {**self.everything, name: self.sources.value(self.tool, name, filled)}, self.answer)
            for name in texts
        ]
        shows = shown_by(self.spec, self.tool, *texts)
        title = f"Calls of `{self.tool}` in which one argument names the others."
        yield self.conversation(f"{self.tool}-placeholders", title, steps, *dict.fromkeys(shows))

    def alike(self) -> Conversation:
        """One text in all arguments that take it, and words of the template in all of them beside a usual session."""
        names = [name for name in self.properties if name != self.spec.directory(self.tool)]
        words = self._words_of_template()
        given = [dict.fromkeys(names, text) for text in (*ALIKE, *words)]
        session = self.spec.session(self.tool)
        given += [{**dict.fromkeys(names, text), session: SESSION} for text in words if session is not None]
        steps = [
            call(
                self.tool, {name: self.sources.value(self.tool, name, text) for name, text in each.items()}, self.answer
            )
            for each in given
        ]
        shows = shown_by(self.spec, self.tool, *names)
        title = f"Calls of `{self.tool}` whose arguments are the same text."
        return self.conversation(f"{self.tool}-alike", title, steps, *dict.fromkeys(shows))

    def _words_of_template(self) -> list[str]:
        """What the command line holds of itself and a value can be, for whoever looks for the place of a value."""
        words = (each for each in self.spec.template(self.tool).argv if isinstance(each, str))
        own = (self.spec.latest(self.tool), self.spec.invocation.program, *words)
        return [word for word in own if word is not None and not word.startswith("-")]

    def _undeclared(self) -> dict[str, Json]:
        """What other tools declare and this one does not."""
        tools = self.spec.tools.items()
        others = {name: self.spec.usual(tool, name) for tool, each in tools for name in each.properties}
        return {name: value for name, value in others.items() if name not in self.properties}

    def _undeclared_and_wrong(self) -> list[dict[str, Json]]:
        """The same with texts that those tools refuse, one argument in each."""
        texts = [(name, text) for name in self._undeclared() for text in self.forbidden(name)]
        return [{name: text} for name, text in texts if refusals(name, text, self.spec.invocation)]

    def _misspelt(self) -> dict[str, Json]:
        """The declared names as other habits write them."""
        kebabs = [kebab(name) for name in self.properties]
        cases = [each for name in self.properties for each in (name.title(), name.upper())]
        spelt = (*kebabs, *(name.replace("-", "_") for name in kebabs), *cases)
        return {each: "misspelt" for each in spelt if each not in self.properties}

    def _patterns(self, name: str) -> Iterator[str]:
        """The patterns that decide about a text of an argument."""
        rule, declared = self.spec.invocation.rules.get(name), self.properties[name].get("pattern")
        absent = rule.absent if rule else None
        refused = (each.pattern for each in rules(name, self.spec.invocation))
        forms = (cases for cases in self.spec.invocation.forms.values() if argument_of(cases) == name)
        chosen = (case.pattern for cases in forms for case in cases if name != self.spec.prompt(self.tool))
        yield from (pattern for pattern in (absent, declared, *refused, *chosen) if pattern)

    def _table(self, name: str) -> Mapping[str, str]:
        """The odd texts of an argument, by what it is for."""
        spec, tool = self.spec, self.tool
        if name == spec.directory(tool) or not takes_text(self.properties[name]):
            return {}
        if name == spec.prompt(tool):
            return {**PROMPTS, **sized(spec.limit), **broken(spec.limit), **canaries(name)}
        return IN_FILES if name in spec.files(tool) else {**WORDS, **canaries(name)}
