"""Answers: what gemini prints when it does not fail, and every quick script of the specification; pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import product

from gemini_mcp.spec.values import Json, table
from gemini_mcp.spec.wording import OutcomeSpec
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.echoes import KEY
from gemini_mcp_conformance.talk.outcomes.outcome import Outcome, Turn
from gemini_mcp_conformance.talk.plays import Plays, pieces, takes_time
from gemini_mcp_conformance.talk.texts import ALL_CHARACTERS, CHARACTERS

KIB = 1024
SIZES = (4 * KIB, 8 * KIB, 16 * KIB, 64 * KIB, 128 * KIB)
"""Sizes of buffers, around which an answer may be cut."""
REPEATED = 1_000
"""Characters of a text that an answer repeats."""
LENGTHS = (1, 2, 100, 128, 255, 256, 1_000, 1_024, 2_000, 2_048, 5_000, 10_000, 25_000, 30_000, 32_768, 50_000, 100_000)
"""Characters of a text that limits like to be."""
FILLERS = ("x", "é", "€", "😀")
"""Characters of every length in UTF-8, so that a cut falls within one."""
# Not "", false, 0 or []: gemini prints none of them, and correct ports of some languages read them as no error.
ERRORS: tuple[Json, ...] = (None, "It failed.", {"message": "No."}, {})
WARNINGS: tuple[Json, ...] = (
    None,
    ["First.", ALL_CHARACTERS, "", "First."],
    [*(f"Warning {number} of many." for number in range(40)), "A long one. " * 400],
)
NOTICE = "Loaded cached credentials.\nA warning: 서울 👍\n"
"""What gemini may write to stderr in any case."""

MEMBER = re.compile(r'(\{"|, ")([a-z])(?=[a-z_]*": )')
"""The first letter of the name of a member, as Python writes it."""
DEEP = 20
"""Objects in each other, each in a list. JSON itself sets no limit; some readers of JSON stop at 64 levels."""


def nested(depth: int) -> Json:
    """Objects and lists in each other."""
    return {"in": [nested(depth - 1)]} if depth else {}


STATS: Json = {
    "models": {"a-model": {"api": {"totalLatencyMs": 1234.5}, "tokens": {"total": 9223372036854776000}}},
    "tools": {"totalCalls": 3, "totalSuccess": 1, "totalFail": 2, "byName": {"a_tool": {"count": 3, "fail": 2}}},
    "numbers": [0, -1, 0.1, -0.0, 1e21, 5e-324, 1.7976931348623157e308],
    "": [None, True],
    "deep": nested(DEEP),
}
"""What JSON may hold beside an answer; JavaScript can print every one of these numbers."""

DUMPS: tuple[Mapping[str, Json], ...] = ({"ensure_ascii": False}, {}, {"ensure_ascii": False, "indent": 2})
FAREWELL = "Goodbye.\n" * 400
"""More lines than anybody looks back from the end."""
AROUND = (
    *("JSON", "Loaded cached credentials.\nJSON", f"JSON\n{FAREWELL}", "Using [1]\nJSON\nDone.\n"),
    *("A screen of 5\" isn't wide.\nJSON", "\ufeffJSON", "Loading... done. JSON"),
    *(
        "[WARN] A notice.\nJSON",
        "# A title\n> JSON\n",
        "A brace } that closes nothing, a NUL \0 that ends nothing.\nJSON",
        "JSON Done.\n",
    ),
)
"""What may stand around the JSON."""
AMONG = ("{}\nJSON\n", 'JSON\n{"level": 30, "in": {"msg": "}"}}\n', '{"level": 30}\n' * 20 + "JSON")
"""Other JSON that may stand around it; only some ports have to cope with that."""
BEFORE = AROUND[:2]
"""Of these, what every port must cope with."""

TEXTS: Mapping[str, str] = {
    "unicode": "naïve café – 서울, 東京, Ελλάδα, שלום",
    "emoji": "👩‍👩‍👧‍👦 🇰🇷 👍🏽 and 𝒳",
    "combining": "e\u0301 o\u0308 \u1100\u1161\u11a8 versus é ö 각",
    "newlines": "one\ntwo\r\nthree\rfour\n\nfive\r",
    "separators": "a\u2028b\u2029c\u0085d\x0be\x0cf",
    "blanks": " \t two before, three after \n\n ",
    "only-blanks": " \n\t ",
    "json-object": '{"SESSION": "not-this", "TEXT": "nor this"}',
    "json-answer": '{"TEXT": "inner"}',
    "json-at-end": 'It prints: {"TEXT": "inner", "SESSION": "inner"}',
    "json-lines": '```json\n{\n  "TEXT": "inner",\n  "ERROR": null\n}\n```',
    "json-error": '{"ERROR": {"message": "no error"}}',
    "json-array": '["a", {"TEXT": 1}]',
    "json-text": '"quoted"',
    "looks-like-error": "PREFIXthis is what the model saysSEPARATORnothing",
    "escapes": 'back\\slash \\n \\u0041 \\u0000 \\ud83d quote" tab\t nul\x00 esc\x1b[31m del\x7f',
    "html": "<b>&amp;</b> <!-- --> ]]> ${HOME} $(id) `id` %s {0} {{x}}",
    "markdown": "```python\nprint('{')\n```\n\n| a | b |\n|---|---|\n",
    "number": "42",
    "word": "null",
    "time": "2026-11-26T10:00:00+09:00",
    "backslash-last": "C:\\new\\",
    "quote-last": 'say "',
    "bom": "\ufeffafter a byte order mark\ufeff",
    "noncharacters": "\ufffd \ufffe \uffff \U0010ffff",
    "picture": "![A dot](data:image/png;base64,iVBORw0KGgoAAAANSUhEUg==) and https://example.org/a.png?b=1#c",
    "key": f"A key looks like {KEY}, and a header like Authorization: Bearer 0123456789abcdef.",
    "long-line": "x" * 70_000,
    "many-lines": "line\n" * 20_000,
}
"""Answers by what is odd in them. Words in capitals stand for words of the specification."""

PLAIN = (
    "  Two blanks before turn TURN, and two behind.  \n",
    "Replace {name} by {{name}} in f(x) { return TURN; }\n",
    f"\n\nNo JSON, {{but}} text of turn TURN:\r\n{NOTICE}(node:42) Warning: 서울 👍 {ALL_CHARACTERS}",
    "\ufeffA mark stands before turn TURN.\r\n",
    '"In quotes stands \\u0041 turn TURN."\n',
    "[TURN, null]",
)
"""What gemini may print without any JSON; TURN stands for the number of the call."""


def laid_out(plays: Plays, number: int, text: str, session: str, around: Sequence[str] = AROUND) -> Script:
    """An answer as JSON may write it, among other text; neighbours among the numbers differ in both."""
    dump = DUMPS[number % len(DUMPS)]
    # Only an escape can write a lone surrogate.
    stats = STATS if dump else {**table(STATS), "half": "\ud83d"}
    document = plays.document(text, session, stats=stats)
    # JSON gives the keys of an object no order.
    ordered = dict(reversed(document.items())) if number % 2 else document
    printed = json.dumps(ordered, **dump) if dump else respelt(json.dumps(ordered))
    return Script("answers", ({"stdout": around[number % len(around)].replace("JSON", printed)},))


def respelt(printed: str) -> str:
    """The same JSON with escapes as JSON allows them: of slashes, in names, and with capital digits."""
    escape = re.compile(r"(\\\\)|\\u([0-9a-f]{4})")
    capital = escape.sub(lambda found: found[1] or f"\\u{found[2].upper()}", printed)
    return MEMBER.sub(lambda name: f"{name[1]}\\u{ord(name[2]):04X}", capital.replace("/", "\\/"))


def spelt(text: str, outcome: OutcomeSpec) -> str:
    """A text of TEXTS with the words of the specification in it."""
    words = {"SESSION": outcome.answer["session"], "TEXT": outcome.answer["text"], "ERROR": outcome.answer["error"]}
    for mark, word in {**words, "PREFIX": outcome.prefix, "SEPARATOR": outcome.separator}.items():
        text = text.replace(mark, word)
    return text


def usual(plays: Plays) -> Iterator[Outcome]:
    """An ordinary answer, as JSON can write it, and with what may stand in it or on stderr besides."""
    for dump in DUMPS:
        yield lambda turn, dump=dump: plays.answers(f"The answer to turn {turn.number}.", turn.session, **dump)
    for warnings, notice in product(WARNINGS[1:], ("", NOTICE)):
        yield partial(_warned, plays, warnings, notice)


def _warned(plays: Plays, warnings: Json, notice: str, turn: Turn) -> Script:
    document = plays.document(f"The answer to turn {turn.number}, with warnings.", turn.session, warnings=warnings)
    return Script("answers", ({"stderr": notice}, {"stdout": json.dumps({**document, "stats": {}})}))


def odd(plays: Plays) -> Iterator[Outcome]:
    """Odd texts, alone and with the number of the call."""
    for number, text in enumerate((*TEXTS.values(), *CHARACTERS.values())):
        form = ("{odd}", "{number}. {odd}", "{odd} {number}")[number % 3]
        yield partial(_odd, plays, spelt(text, plays.spec.outcome), form, number)
    yield partial(_repeating, plays)


def _repeating(plays: Plays, turn: Turn) -> Script:
    """An answer that repeats what it was asked, which nobody but the model has to keep to itself."""
    asked = " ".join(text[:REPEATED] for text in turn.private)
    return laid_out(plays, turn.number, f"You asked {turn.number}: {asked}", turn.session, BEFORE)


def _odd(plays: Plays, text: str, form: str, number: int, turn: Turn) -> Script:
    return laid_out(plays, number, form.format(odd=text, number=turn.number), turn.session, BEFORE)


def sized_outputs(plays: Plays) -> Iterator[Outcome]:
    """Outputs that are just as long as a buffer, or a byte more or less, whole and in two pieces."""
    for number, (size, filler, more) in enumerate(product(SIZES, FILLERS, (-1, 0, 1))):
        yield partial(_sized, plays, size + more, filler, number % 2 == 1)
    for size in (KIB * KIB, KIB * KIB + 65, KIB * KIB + 66):
        yield partial(_sized, plays, size, "😀", size % 2 == 0)


def sized_texts(plays: Plays) -> Iterator[Outcome]:
    """Texts that are just as long as a buffer, or a character more or less."""
    for size in (*LENGTHS, KIB * KIB, *(size + more for size, more in product(SIZES, (-1, 0, 1)))):
        yield lambda turn, size=size: plays.answers(f"{turn.number} ".ljust(size, "x")[:size], turn.session)


def _sized(plays: Plays, size: int, filler: str, in_pieces: bool, turn: Turn) -> Script:
    bare = _printed(plays, f"{turn.number} ", turn.session)
    room = size - len(bare)
    wide = filler * (room // len(filler.encode()))
    whole = _printed(plays, f"{turn.number} {'x' * (room - len(wide.encode()))}{wide}", turn.session)
    return pieces(whole[: size // 2 + 1], whole[size // 2 + 1 :]) if in_pieces else pieces(whole)


def _printed(plays: Plays, text: str, session: str) -> bytes:
    return json.dumps(plays.document(text, session), ensure_ascii=False).encode()


def scripted(plays: Plays) -> Iterator[Outcome]:
    """The scripts of the specification, as far as they end by themselves and print no megabytes, and plain texts."""
    for script in plays.spec.scripts.values():
        if not takes_time(script) and script.list_sessions is None and not _is_large(script):
            # As they are they come in calls of everything: see `results`.
            yield lambda turn, script=script: Script(script.id, ({"stderr": NOTICE}, *script.play))
    for text, error, warnings, named in product(("A text.", None), ERRORS, WARNINGS, (False, True)):
        yield partial(_document, plays.spec.outcome.answer, text, error, warnings, named or error is None)
    for text in PLAIN:
        yield lambda turn, text=text: Script("plain", ({"stdout": text.replace("TURN", str(turn.number))},))


def _is_large(script: Script) -> bool:
    """Whether it prints very much."""
    return any("fill" in step for step in script.play)


def _document(
    keys: Mapping[str, str], text: str | None, error: Json, warnings: Json, named: bool, turn: Turn
) -> Script:
    """What the JSON can hold: a text, a session, an error and warnings, each there or not."""
    held: dict[str, Json] = {
        keys["session"]: turn.session if named else None,
        keys["text"]: text and f"{text} {turn.number}",
        keys["warnings"]: warnings,
        keys["error"]: error,
    }
    document = {key: value for key, value in held.items() if value is not None}
    return Script("document", ({"stdout": json.dumps(document)},))
