"""Generated calls: with arguments that the served and the specified schemas allow, and with invalid ones.

Valid arguments come from our own strategies, one for each argument. Invalid ones are valid ones with one fault.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import cast

from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from gemini_mcp.spec.values import Json, inside, items
from gemini_mcp_conformance.spec.schema import allowed, is_valid, takes_text
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.exploration import Exploration, Served
from gemini_mcp_conformance.talk.sources import Sources
from gemini_mcp_conformance.talk.steps import Request, located, path
from gemini_mcp_conformance.talk.texts import PLAIN, canaries

ORDER = 90
PHASE = "generated"

FRAGMENTS = (
    *(" ", "\t", "\n", "\r\n", "\r", "\v", "\f", "\b", "\x1b[31m", "\x7f", "\u0085", "\u2028", "\u2029", "\u00a0"),
    *("-", "--", "=", "@", "/", "\\", '"', "'", "%", "{}", "[", "(", "<", ">", "|", ";", "&&", "!", "~", "*", "?", "#"),
    *("`", "$HOME", "${x}", "$(x)", "%s", "%20", "&amp;", "<b>", "</b>", "```", "**", "\\n", "\\u0041", "{{x}}"),
    *('\\"', "\\\\", '""', "\\'", "''", "\\\n", "\\x41", "&#65;", "<|x|>", ":name"),
    *("^", "$$", "!!", "%%", "%PATH%", "{0}", "//", "@@", "##", "==", "::", "\\/"),
    *("0x1f", "1e3", "-5", "0b1", "0o7", ".5", "5.", "+1", "1_000", "1,000", "NaN", "null", "true", "\u0663", "\u00bd"),
    *("help", "mcp", "latest", "--model", "x", "word", "two words", '{"response": "x"}', "C:\\a\\b", "/usr/bin", "::1"),
    *("someone@example.org", "https://example.org/a?b=c&d#e", "2026-11-26T10:00:00Z", "127.0.0.1", "\u201ca\u201d"),
    *("\u2019", "\u2013", "\u2026", "\u00ad", "\u200b", "\u200d", "\u202e", "\ufe0f", "\ufeff", "\ufffd", "\ufb01"),
    *("\u00df", "\u0130", "\u0131", "\u01c6", "\u212a", "é", "e\u0301", "日本", "\u1112\u1161\u11ab", "😀", "👍🏽"),
)
"""What texts are put together from, where chance alone would seldom look."""

ANY = st.characters(exclude_categories=("Cs",))
"""Every character that UTF-8 can carry; to name the codec would cost seconds."""

MIXED = st.integers(1, 30).flatmap(
    lambda count: st.lists(st.sampled_from(FRAGMENTS), min_size=count, max_size=count).map("".join)
)
"""Texts of one to thirty fragments. A list by itself is short, since hypothesis likes what is small."""
WORD = st.characters(exclude_categories=("Cc", "Cs", "Z"))
WRONG = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    WRONG, lambda inner: st.lists(inner | st.text(ANY), max_size=3) | st.dictionaries(st.text(ANY), inner)
)
NO_TEXT = JSON.filter(lambda value: value is not None)


def conversations(sources: Sources) -> Iterable[Conversation]:
    """None: what is generated depends on the port."""
    return ()


def explorations(sources: Sources) -> Iterable[Exploration]:
    """Valid calls, then invalid ones."""
    half = max(1, sources.examples // 2)
    served = ("command:", "prompt:", "injection:", "system:", "cwd:", "result:")
    for id, made, shows in (("generated-valid", valid, served), ("generated-invalid", invalid, ("arguments:",))):
        yield Exploration(id, "A generated call.", partial(made, sources), half, sources.seed, PHASE, shows)


def valid(sources: Sources, served: Served) -> st.SearchStrategy[Conversation]:
    """Calls that both schemas allow."""
    return st.one_of([_calls(sources, tool, _arguments(sources, tool, served)) for tool in sources.spec.names])


def invalid(sources: Sources, served: Served) -> st.SearchStrategy[Conversation]:
    """Calls with one fault."""
    return st.one_of(
        [
            _calls(sources, tool, _spoilt(sources, tool, _arguments(sources, tool, served)))
            for tool in sources.spec.names
        ]
    )


def _calls(sources: Sources, tool: str, arguments: st.SearchStrategy[Json]) -> st.SearchStrategy[Conversation]:
    texts, sessions = MIXED | st.text(_unicode(), min_size=1), st.uuids(version=4).map(str)
    answers = st.builds(sources.answers, texts, sessions, indent=st.sampled_from((None, 2)))
    return st.builds(partial(_call, tool), arguments, answers)


def _call(tool: str, arguments: Json, answer: Script) -> Conversation:
    step = Request("tools/call", {"name": tool, "arguments": arguments}, (answer,))
    return Conversation("generated", "A generated call.", (step,), PHASE, files={"demo": None})


def _arguments(sources: Sources, tool: str, served: Served) -> st.SearchStrategy[Json]:
    declared, schema = sources.spec.tools[tool], served.get(tool, {})
    values = {name: _values(sources, tool, name) | _listed(schema, name) for name in declared.properties}
    required = {name: values[name] for name in declared.required}
    optional = {name: value for name, value in values.items() if name not in required}
    given = st.fixed_dictionaries(required, optional=optional)
    # A served schema that forbids even this would leave nothing to generate, and hypothesis would give up.
    if not _allows(schema, located(sources.arguments(tool, PLAIN), "/")):
        return given
    return given.filter(lambda arguments: _allows(schema, located(arguments, "/")))


def _values(sources: Sources, tool: str, name: str) -> st.SearchStrategy[Json]:
    """Values for an argument, by what it is for."""
    spec = sources.spec
    schema = spec.tools[tool].properties[name]
    if name == spec.directory(tool):
        return cast("st.SearchStrategy[Json]", st.sampled_from([path(), path("demo"), "demo", path("no-such")]))
    if not takes_text(schema):
        usual = [spec.usual(tool, name), *allowed(schema, (True, False, 0, 1, -1, 0.5, 42, ["a"], ["a", "b"]))]
        return st.sampled_from([value for value in usual if value is not None])
    hostile = st.sampled_from(list(canaries(name).values()))
    # A port may refuse a word that starts with a dash (`refusals` of `invocation.json`).
    words = st.text(WORD, min_size=1, max_size=60).filter(lambda text: text[0] != "-")
    longer = MIXED | st.lists(hostile, min_size=1).map("".join) | st.text(_unicode(), min_size=1, max_size=200)
    is_word = name in spec.spoken(tool) and name != spec.prompt(tool)
    texts = st.just(str(spec.usual(tool, name))) | hostile | words if is_word else longer
    return texts.map(lambda text: text if is_valid(schema, text) else spec.usual(tool, name))


def _unicode() -> st.SearchStrategy[str]:
    """Every character that UTF-8 can carry, NUL apart."""
    return st.characters(exclude_categories=("Cs",), exclude_characters="\0")


def _listed(schema: Mapping[str, Json], name: str) -> st.SearchStrategy[Json]:
    """The texts that the served schema lists for the argument."""
    declared = inside(schema, "properties", name)
    listed = [*items(inside(declared, "enum")), *items(inside(declared, "examples")), inside(declared, "default")]
    texts = [text for text in listed if isinstance(text, str) and text]
    return st.sampled_from(texts) if texts else st.nothing()


def _allows(schema: Mapping[str, Json], arguments: Json) -> bool:
    try:
        validator: Json = Draft202012Validator(schema)
        return bool(validator.is_valid(arguments))
    # The port wrote the schema, so it may be anything.
    except (SchemaError, ValueError, TypeError, LookupError):
        return True


@st.composite
def _spoilt(draw: st.DrawFn, sources: Sources, tool: str, arguments: st.SearchStrategy[Json]) -> Json:
    """Arguments with a fault put in."""
    given, declared = dict(draw(arguments)), sources.spec.tools[tool]
    names = sorted(declared.properties)
    match draw(st.sampled_from(["missing", "required", "option", "null", "list", "other"])):
        case "missing" if declared.required:
            del given[draw(st.sampled_from(declared.required))]
        case "required" if declared.required:
            given[draw(st.sampled_from(declared.required))] = draw(JSON)
        case "option" if declared.optional:
            given[draw(st.sampled_from(sorted(declared.optional)))] = draw(NO_TEXT)
        case "null" if names:
            given[draw(st.sampled_from(names))] = None
        case "list":
            given = {name: [value] for name, value in given.items()}
        case _:
            return draw(JSON.filter(lambda value: not isinstance(value, dict)))
    return given
