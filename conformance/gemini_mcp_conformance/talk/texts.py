"""Odd texts for arguments, by name; pure. A text belongs here when a port could handle it wrongly.

Nothing here does harm if a shell runs it: a canary creates an empty file in a temporary directory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gemini_mcp.gemini_cli.understanding import COMMAND_WORDS

KIB = 1024
WRONG_WORD = 128 * KIB + 128
"""Characters of a text that no argument can hold: Linux refuses one of 128 KiB."""

FULL_PAGES = KIB * KIB + 64 * KIB
"""More than 1 MiB, of which the last page and the last full pipe are whole."""

PLAIN = "What is the capital of France?"

SURROGATE = "\ud83d"
"""Half of a character: JSON can write it, and UTF-8 cannot."""

NAMES_OF_OBJECTS = ("constructor", "toString", "__proto__", "__class__")
"""Names that every object has in some languages, whether or not it was given a member of that name."""


CHOICES = ("auto", "default", "new", "last", "current", "any")
"""Words that programs like to take for a choice of their own."""

REFERENCES = "$$ $& $' $` $1 \\1 \\g<0> {0} %s &"
"""What functions that replace texts put something else for."""

ODD_PAIRS = "x" + "😀" * 270_000
"""More than 1 MiB of characters of four bytes, or two units of UTF-16, none of which begins at an even place."""


PARTED_LINES = "x" + "\r\n" * 70_000 + "y"
"""Line ends of two characters, of which every piece of even length parts one; more than a command line holds."""


PLACEHOLDERS = ("{%s}", "{{%s}}", "${%s}", "$%s", "%%(%s)s", "%%%s%%", "<%s>", "<%%= %s %%>", ":%s", "[%s]")
"""How templates name what is to be filled in."""


def filling(text: str, size: int) -> str:
    """The text again and again, until it fills so many characters: every page and every pipe to its end."""
    return (text * (size // len(text) + 1))[:size]


def placeholders(names: Iterable[str]) -> str:
    """A text that names each of these as every kind of template would."""
    return " ".join(form % name for name in names for form in PLACEHOLDERS)


def canaries(name: str) -> Mapping[str, str]:
    """Texts that show whether a shell reads the argument `name`."""
    touch = f"touch canary-{name}"
    return {
        "substitution": f"$({touch})",
        "backticks": f"`{touch}`",
        "semicolon": f"x; {touch}",
        "semicolon-quoted": f"x'; {touch}; echo 'x",
        "semicolon-double-quoted": f'x"; {touch}; echo "x',
        "and": f"x && {touch}",
        "or": f"false || {touch}",
        "pipe": f"x | {touch}",
        "background": f"x & {touch} &",
        "redirection": f"x > canary-{name}",
        "home": "$HOME",
        "braces": "${HOME}",
        "percent": "%PATH%",
        "glob": "*",
        "question-mark": "???",
        "tilde": "~",
        "comment": "x # y",
    }


WRITTEN: Mapping[str, str] = {
    "one-character": "x",
    "quotes": "say \"hi\" and 'there'",
    "single-quote": "it's",
    "double-quote": '"',
    "backslash": "\\",
    "backslashes": 'C:\\new x\\\\y "\\"\\',
    "escapes": "\\n \\u0041 \\x41 \\u0000 \\0 \\ud83d",
    "tab": "a\tb",
    "newline": "one\ntwo",
    "newlines": "\none\n\n\ntwo\n",
    "carriage-return": "one\rtwo\r",
    "windows-newlines": "one\r\ntwo\r\n",
    "line-separators": "one\u2028two\u2029three\u0085four",
    "latin": "café",
    "cjk": "日本語 한국어 中文",
    "right-to-left": "\u202eשלום \u0645\u0631\u062d\u0628\u0627",
    "emoji": "😀 👩\u200d👩\u200d👧 🇫🇷",
    "combining": "e\u0301 n\u0303 \u1100\u1161\u11a8",
    "noncharacters": "\ufffe \uffff \U0010ffff",
    "byte-order-mark": "\ufeffx",
    "zero-width": "a\u200bb\u00a0c",
    "json": '{"id": 7.50, "jsonrpc": "2.0", "method": "notifications/cancelled", "params": ["x", null]}',
    "format": "%s {0} {name} $1 %(x)s",
    "percent-encoded": "%20 &amp; \\u00e9",
    "punctuation": "".join(
        map(chr, (*range(33, 45), *range(46, 48), *range(58, 65), *range(91, 97), *range(123, 127)))
    ),
    "base64": "VGhpcyBpcyBub3QgdG8gYmUgZGVjb2RlZC4h",
    "doubled": "100%% {{x}} $$ \"\" '' \\\\ ;; ## ~~",
}
"""Texts that must reach gemini unchanged in every argument."""

NOTATIONS = "\n".join(
    (
        "# Heading",
        "## Second, with two blanks behind it  ",
        "* star\t",
        "+ plus",
        "1) one",
        "> quote",
        "",
        "---",
        "",
        "",
        "",
        "Again.",
        "Again.",
        "Again.",
        '<!-- c --> <p class="x">text</p> [a](https://example.org/?q=1&r=2#f) ![b](c.png) ~~s~~ $x^2$ [^1]',
        "// comment",
        "; comment",
        "-- comment",
        "/* c */ {# c #} <%# c %> %% c",
        'key = "value" # c',
        "key: 'value'",
        "| a | b |",
        "|:-|-:|",
        "    indented   and   spaced",
        "\x1b[1;31mred\x1b[0m \x1b]8;;x\x07link\x1b]8;;\x07 form\x0cfeed \x0b",
        "\x9b1;31mred\x9b0m \x9d0;title\x9c \x90q\x1b\\ \x1b(B \x1b7 \x1bM a\x08a",
        "",
    )
)
"""What Markdown, markup, comments, tables and terminals read in a text; whoever tidies one of them changes it."""

CHARACTERS: Mapping[str, str] = {
    "composed-and-not": "é e\u0301 Å \u212b 각 \u1100\u1161\u11a8",
    "compatibility": "ﬁ ① Ａ ｶﾞ ² ½ \u00a0 \u2003",
    "variation-selectors": "\u2764\ufe0f \u2764\ufe0e 葛\U000e0100",
    "tags": "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "joiners": "न\u094d\u200dन \u200c \u2060 a\u00adb",
    "isolates": "\u2066left\u2069 \u2067right\u2069 \u200f\u200e\u061c",
    "private-use": "\ue000 \uf8ff \U000f0000 \ufffd",
    "every-length": "a\u00e9\u20ac\U00010348" * 20,
    "edges-of-lengths": "\u007e\u0080\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff",
    "inner-marks": "a\ufeffb\u2028c\u2029d",
    "upper-and-lower": "Iı İi ß ẞ ǅ",
    "digits": "٣ ३ 𝟛 ³",
    "long-word": "w\u00e9" * 2000,
    "tabs": "\ta\t\tb",
    "lines": "one\r\ntwo\rthree\nfour\n\n\nfive",
    "controls": "".join(map(chr, (*range(1, 32), *range(127, 160)))),
    "wide-blanks": "\u3000\u00a0between\u2003blanks\u00a0\u3000",
    "typography": "“double” ‘single’ „low‚ «angles» – — … ′″ • · × ™ © →",
    "tones": "👍🏻 👋🏿 👩🏽\u200d🚀 🇰🇷🇫🇷 1\ufe0f\u20e3 a\u20dd",
    "marks-of-every-kind": "हिन्दी தமிழ் ภาษาไทย နိုင် שָׁלוֹם مُحَمَّد a\u0489",
    "without-width": "\u200b",
    "escapes-in-line": "a;b,c|d \\n\\t\\r\\x41 &amp;&lt; %20+ <b>x</b>",
    "signs-in-line": "(c) (tm) 1/2 ... -- -> :smile: **b** _i_ `c` 1,000.50",
    "inner-blanks": "one  two   three",
    "dated": "name-preview-05-2026",
    "versioned": "name-v1.0.0@2026-01-31",
    "in-tags": "<think>in tags</think>",
    "in-parentheses": "(in parentheses)",
    "comma-last": "comma last,",
    "notations": NOTATIONS,
    "indented": "\t  all lines\n\t    are indented\n\n\t  at least by three",
    "front-matter": "---\ntitle: x\n---\n\n# Role\n\nBe kind.\n---\n",
}
"""More texts that must reach gemini unchanged, of the characters that software damages or tidies."""

ALL_CHARACTERS = "\n".join(text for name, text in CHARACTERS.items() if name != "long-word")
"""All of them in one text."""

PROMPTS: Mapping[str, str] = {
    **WRITTEN,
    "quoted": '"in double quotes \\u0041"',
    "single-quoted": "'in single quotes'",
    "empty": "",
    "blank": " ",
    "blanks": "  two before, two after  ",
    "newline-only": "\n",
    "newline-last": "the end\n",
    "tab-first": "\tthe beginning",
    "control": "bell \x07, escape \x1b[31m, delete \x7f",
    "nul": "before\0after",
    "nul-first": "\0after",
    "lone-surrogate": "half \ud83d of it",
    "surrogates-reversed": "halves \ude00\ud83d of it",
    "surrogates-before-pair": "half \ud83d\ud83d\ude00 of it",
    "dash": "-",
    "dashes": "--",
    "dash-number": "-5 degrees",
    "dash-newline-last": "-x and blanks behind it \n",
    "dash-word": "-verbose mode, please",
    "dash-minus-one": "-1",
    "dash-canary": "-x $(touch canary-NAME) `touch canary-NAME`",
    "dash-references": f"-{REFERENCES}",
    "lines-canary": "one\n$(touch canary-NAME)\ntouch canary-NAME",
    "option-help": "--help",
    "option-version": "--version",
    "option-short-version": "-v",
    "option-yolo": "--yolo",
    "option-model": "--model=other",
    "option-short-model": "-m",
    "option-sessions": "--list-sessions",
    "option-resume": "-r latest",
    "option-newline": "--output-format\ntext",
    **{f"word-{word}": word for word in COMMAND_WORDS},
    "word-in-text": "help me with mcp",
    "word-line": "mcp\nlist",
    "word-json": "json",
    "word-latest": "latest",
    "word-null": "null",
    "word-true": "true",
    "word-undefined": "undefined",
    "word-false": "false",
    "word-none": "None",
    "word-nan": "NaN",
    "number": "42",
    "number-zero": "007",
    "number-nought": "0",
    "number-fraction": "3.10",
    "number-point": ".5",
    "number-point-last": "5.",
    "number-exponent": "1e3",
    "number-exponent-upper": "1E-3",
    "number-hexadecimal": "0x10",
    "number-hexadecimal-upper": "0X1F",
    "number-large": "12345678901234567890",
    "number-infinity": "Infinity",
    "at-path": "@README.md explain",
    "at-only": "@",
    "at-twice": "@@README.md explain",
    "at-file": "@/etc/hosts",
    "at-escaped": "\\@README.md is no file",
    "at-inside": "mail me@example.com @/etc/hostname",
    "at-dots": "@./README.md is in @docs/ and @docs/../README.md",
    "slash": "/help",
    "slash-only": "/",
    "slash-twice": "//example.org/x is an address",
    "slash-path": "/etc/hostname is a file",
    "slash-blanks": "/memory  add\tthis",
    "exclamation": "!ls",
    "equals": "a=b",
    "4-kib": "x" * (4 * KIB),
    "1-mb": filling("All work and no play. ", FULL_PAGES),
    "references-long": REFERENCES * 4000,
    "widest-long": ODD_PAIRS,
    "returns-long": PARTED_LINES,
    "returns-odd": "one\r\r\ntwo\n\rthree\r\n\n\rfour",
}
"""Prompts for any tool."""


BUFFERS = (4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB)
"""Sizes of pages and pipes."""


def around_buffers(most: int, *sizes: int) -> Iterator[str]:
    """Texts of just so many bytes as a buffer has, or one more or less; their ends are unlike all before."""
    for size in (*BUFFERS, *sizes):
        yield from (f"{'x' * (size + more - 2)}yz" for more in (-1, 0, 1) if size + more <= most)


def sized(limit: int) -> Mapping[str, str]:
    """Prompts around a limit in bytes, by their size and what they are made of."""
    texts = {
        f"{limit - 1}": "x" * (limit - 1),
        f"{limit}": "x" * limit,
        f"{limit}-wide": "é" * (limit // 2) + "x" * (limit % 2),
        f"{limit}-lines": filling("0123456\n", limit),
        f"{limit}-dash": "-" + "x" * (limit - 1),
        f"{limit + 1}": "x" * (limit + 1),
        f"{limit + 1}-wide": "€" * (limit // 3) + "x" * (limit % 3 + 1),
        f"{limit + 1}-widest": "😀" * (limit // 4) + "x" * (limit % 4 + 1),
    }
    return {name: text for name, text in texts.items() if text}


def broken(limit: int) -> Mapping[str, str]:
    """Prompts beyond that limit that hold what not every port can pass on; the rest stands behind it."""
    rest = " stands behind it"
    texts = {"nul": f"\0{rest}", "lone-surrogate": f"\ud83d{rest}"}
    return {f"{limit + 1}-{name}": "x" * (limit + 1 - len(rest)) + text for name, text in texts.items()}


IN_FILES: Mapping[str, str] = {
    **WRITTEN,
    "shell": "$(touch canary-file) `touch canary-file`; touch canary-file",
    "blanks": "  two before, two after  \n",
    # Gemini CLI replaces the first two when it reads the file; the port must not.
    "variables": "${AgentSkills} ${SubAgents} $PATH ${PATH}",
    "dash": "--help",
    "nul": "before\0after",
    "lone-surrogate": "half \ud83d of it",
    "surrogates-reversed": "halves \ude00\ud83d of it",
    "surrogates-before-pair": "half \ud83d\ud83d\ude00 of it",
    "empty": "",
    "blank": " \n\t ",
    "path": "/etc/passwd",
    "without-width": "\u200b\u2060",
    "references": REFERENCES,
    "quoted": '"in double quotes \\u0041"',
    "fenced": "```\nBe kind.\n```",
    "widest-long": ODD_PAIRS,
    "returns-long": PARTED_LINES,
    "long": "x" * WRONG_WORD,
    "1-mb": filling("Be brief and kind.\r\n", FULL_PAGES),
}

BLANKS = ("", " ", "\n", "\r\n\r\n", "\t \t", "\u00a0", "\u3000", "\u2028", "\f\v", " " * 5000)
"""Texts that may count as absent."""

WORDS: Mapping[str, str] = {
    "one-character": "x",
    "number": "42",
    "number-zeros": "007",
    "number-fraction": "1.50",
    "zero": "0",
    "false": "false",
    "none": "None",
    "blanks-around": " blanks around ",
    "quotes": "say-\"hi\"-'there'",
    "punctuation": WRITTEN["punctuation"],
    "base64": WRITTEN["base64"],
    "label-round": "name (label)",
    "label-square": "name [label]",
    "label-hash": "name #label",
    "label-query": "name?label=1&x",
    "label-file": "name.json",
    "label-at": "name@label",
    "quote-before": '"quote before',
    "quote-behind": "quote-behind'",
    "in-brackets": "[in-brackets]",
    "backslash": "a\\b\\ude00",
    "latin": "café-日本-😀",
    "slash": "models/x:latest",
    "upper": "Gemini-3-PRO",
    "uuid-upper": "5B3B6B48-99E7-4BE4-906C-9B1F2F76C7BC",
    "uuid-without-hyphens": "5b3b6b4899e74be4906c9b1f2f76c7bc",
    "uuid-in-braces": "{5b3b6b48-99e7-4be4-906c-9b1f2f76c7bc}",
    "percent-format": "%s{0}",
    "inner-blank": "two words",
    "wide-dash": "\u2013x",
    "minus": "\u22121",
    "long": "x" * 1000,
    "empty": "",
    "blank": " ",
    "nul": "be\0fore",
    "lone-surrogate": "half\ud83d",
    "surrogates-reversed": "halves\ude00\ud83d",
    "surrogates-before-pair": "half\ud83d\ud83d\ude00",
    "newline": "one\ntwo",
    "tab": "one\ttwo",
    "escape": "x\x1b[31m",
    "delete": "x\x7f",
    "next-line": "x\u0085y",
    "option-yolo": "--yolo",
    "option-sessions": "--list-sessions",
    "option-version": "--version",
    "option-short": "-d",
    "option-prompt": "--prompt=other",
    "dash": "-",
    "dashes": "--",
    "long-argument": "x" * WRONG_WORD,
}
"""Values for arguments that become options, such as names of models and ids of sessions."""
