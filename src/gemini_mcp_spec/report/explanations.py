"""Explains every rule: what it is, why, an example, and how to approve what it finds. Pure.

A rule without an entry of its own has that of the longest name before a hyphen; `tests/gate` fails where there is none.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from gemini_mcp_spec.diff import rules as diff_rules
from gemini_mcp_spec.lint.linter import RULES as LINT_RULES

_LINT: Mapping[str, tuple[str, str]] = {
    "text": ("Tools of many kinds read these files, and some stumble over the rest.", "A file saved with a BOM."),
    "json": ("Programs disagree about what such a file holds, so nothing in it is certain.", 'Two keys `"name"`.'),
    "file": (
        "A file that nobody reads binds nobody, and a missing one leaves readers without facts.",
        "`server/notes.json`",
    ),
    "manifest": ("A list that is wrong is worse than none.", '`"files": ["gone.json"]`'),
    "schema-valid": (
        "Validators ignore what they do not know, so a misspelt keyword allows everything.",
        '`"type": "text"`',
    ),
    "schema-reference": (
        "Nothing is fetched, so a schema that needs more than this specification cannot be judged.",
        '`"$ref": "https://example.org/a.json"`',
    ),
    "schema": ("A schema that cannot be read asks nothing of anybody.", '`"type": "text"`'),
    "meta": ("Readers in all languages rely on the form of a file.", '`"tittle"` in a case'),
    "pattern": ("Ports are written in many languages, and a pattern has to mean the same in all.", "`(?P<name>a)`"),
    "id": ("An id is for ever: reports, baselines and released lists name it.", "`Identity:Name`"),
    "level": (
        "Whoever reads only the sentence, and whoever reads only the level, must learn the same.",
        "a MUST at level SHOULD",
    ),
    "one": ("Half of a statement cannot be judged.", "It MUST start. It MUST end."),
    "placeholder": ("A reader would meet a name in braces that stands for nothing.", "`{argumnet}` in a sentence"),
    "since": ("A released list is judged by this version.", '`"since": "9.0.0"`'),
    "source": ("A statement without a source is an opinion.", "a heading that the document lacks"),
    "requirement": ("A case that shows nothing proves nothing.", '`"requirements": ["identity:nmae"]`'),
    "frozen": ("Ports are judged by released lists, so these never change.", "an id that is in `released/` only"),
    "tool": ("Clients build their calls from this.", '`"required": ["promt"]`'),
    "locale": ("A translation that lacks an argument hides it.", "`ko.json` without `cwd`"),
    "key": ("Of two values under one key, one is lost.", "`sessionId` for the session and for the warnings"),
    "separator": (
        "Whoever reads an error finds what gemini wrote behind the separator.",
        "the separator `: ` behind the prefix `Error: `",
    ),
    "template": ("A call has to become a command line, whole.", "a template that names no argument `cwd`"),
    "value": (
        "Whoever sends a prompt must not choose options of gemini by it, nor lose what is sent.",
        '`["-p", {"argument": "prompt"}]`, which makes an option of `-y`',
    ),
    "output": (
        "The answer, the session and the warnings are read from JSON; in any other output they are not found.",
        "`--output-format text`",
    ),
    "sentence": ("A sentence that is never said misleads who maintains it.", "two sentences that fit every exit code"),
    "call": ("An example that no port can follow fails every port.", "a case that sends `promt`"),
    "case": ("A case tells a call to its end.", "an invocation without an outcome"),
    "example": (
        "Ports are built from examples, so these may not contradict what they show.",
        "`-m` in a case, `--model` in the template",
    ),
    "stream": ("A port may read either, so both have to say the same.", "another answer in `live` than in `plain`"),
    "script": ("The fake gemini plays only what it knows.", '`"script": "sucess"`'),
    "step": ("A scenario whose steps do not meet waits for ever.", '`"cancel": "a"` before the step `a`'),
    "gate": (
        "A policy with a typing error would let pass what it should not, or the reverse.",
        '`"tool-descriptoin": "notice"`',
    ),
    "vector": ("A vector is named in reports, and an exception has to be one.", "two vectors `empty`"),
    "profile": ("A vector of no profile binds nobody.", '`"profile": "curent"`'),
}
"""Why a rule of `lint` is one, and a mistake that breaks it."""

_DIFF: Mapping[str, tuple[str, str]] = {
    "request": ("Calls that were right have to stay right.", "`cwd` becomes required"),
    "result": ("Callers read what results promise.", "`sessionId` may be missing"),
    "report": ("Programs read the reports of the suite.", "`score` is gone"),
    "tool": ("Clients name tools and show what is said of them.", "`chat` is gone"),
    "rules": ("Hosts are built to a profile.", "a limit of a profile is another"),
    "removal": ("An id that has gone never returns.", "`removed` lists one less"),
    "schema": ("Whoever validates by a schema needs it.", "`server/results/error.schema.json` is gone"),
    "locale": ("Clients show the texts of their language.", "`ko.json` is gone"),
    "live": ("A port that offers progress of this kind runs and reads gemini so.", "`init` has another name"),
    "stream": ("A port that reads streams is tried on it.", "another line, and the same answer"),
    "revision": ("Clients speak one revision of MCP.", "`2024-11-05` is gone"),
    "profile": ("Each profile binds its own ports.", "`host` is gone"),
    "refusal": ("What is refused is a call that fails.", "`^-` becomes `^[-+]`"),
    "refusal-renamed": ("Ids of requirements are made of it, which baselines may list.", "`empty` becomes `no-text`"),
    "template": ("A port runs what the template says.", "`private` loses `prompt`"),
    "command": ("What counts is what gemini understands.", "`-m` becomes `--model`"),
    "outcome": ("Callers and ports read the same text.", "the prefix of errors is another"),
    "mask": ("What is not masked may be a key.", "a mask is gone"),
    "notice": ("Callers may wait for it.", "a notice is gone"),
    "sentence": ("People and programs read why a call failed.", "exit code 41 says something else"),
    "requirement": ("A port is judged by it.", "a SHOULD becomes a MUST"),
    "recommendation": ("A port may leave it out and conform, but `--strict` asks for it.", "a SHOULD is new"),
    "server": ("Clients log and compare the identity.", "`gemini-mcp-server` has another name"),
    "manifest": ("Nobody knows what another key means.", "a key of its own"),
    "area": ("What cannot be compared cannot be called safe.", "`sentences` is an object"),
    "file": ("What nobody can judge cannot be called safe.", "`server/notes.json` is new"),
    "argument": ("A port treats the values of an argument as this says.", "`absent` is another"),
    "invocation": ("A port runs gemini as this says.", "`program` is another"),
    "released": ("Ports are judged by released lists, so these never change.", "a level in `released/1.0.0.json`"),
    "gate": ("Whoever changes how changes are judged should be seen.", "`severities` gains a rule"),
    "deprecated": ("Callers need time.", "`cwd` of `chat` may go from 2.0.0 on"),
    "version": ("A version that is too high frightens people for nothing.", "2.0.0 for a new title"),
    **dict.fromkeys(
        ("case", "script", "scenario", "vector"), ("Ports are played against it.", "another result is expected")
    ),
}
"""Why a change of this kind is judged so, and one such change."""

_MEND = "It cannot be approved: mend the specification."
_APPROVE = (
    "Raise the version as it asks. Or approve one change by its fingerprint in `approved-breaks.json`, or all of a "
    "file by an entry of `exceptions` in `gate.json`; `severities` there makes the rule a notice."
)
_MISSPELT = 0.9
"""How like a rule a name has to be to be taken for a spelling of it."""

_FREE = "Nothing to approve."
_SCHEMA = {
    f"{way}-{kind}": f"{what}. {extent}"
    for way, what in (("request", "A schema of what callers send"), ("result", "A schema of what callers get"))
    for kind, extent in (
        ("KEYWORD-narrower", "This keyword accepts less than it did, or is not proven to accept as much."),
        ("KEYWORD-wider", "This keyword accepts more than it did, or is not proven to accept as little."),
        ("KEYWORD-other", "This keyword accepts less and more than it did."),
        ("KEYWORD-rewritten", "This keyword says the same in other words."),
        ("property-added", "A property is new."),
        ("property-limited", "A property is new, and fewer values are accepted under its name."),
        ("property-removed", "A property is gone."),
        ("unknown", "The schema cannot be used, so nothing is proven of it."),
    )
}


@dataclass(frozen=True)
class Explanation:
    """One rule in words."""

    name: str
    command: str
    what: str
    why: str
    example: str
    approval: str


def explanations() -> Iterator[Explanation]:
    """Every rule of `lint` and of `diff`."""
    for rule in LINT_RULES.values():
        yield Explanation(rule.name, "lint", f"{rule.demand} {rule.fix}", *_entry(_LINT, rule.name), _MEND)
    for rule in diff_rules.RULES.values():
        what = f"{_plain(rule.sentence)} ({rule.severity}; {rule.bump.name.lower()})"
        approval = _APPROVE if rule.severity.breaks else _FREE
        yield Explanation(rule.name, "diff", what, *_entry(_DIFF, rule.name), approval)
    for name, what in _SCHEMA.items():
        yield Explanation(name, "diff", what, *_entry(_DIFF, name), _APPROVE)


def explained(name: str) -> list[Explanation]:
    """The rules of that name; one that a schema's keyword or a key fills in is found by what it is an instance of."""
    every = list(explanations())
    if exact := [one for one in every if one.name == name]:
        return exact
    # `tool-remved` is a spelling of `tool-removed`, and no instance of `tool-*`.
    if get_close_matches(name, [one.name for one in every], 1, _MISSPELT):
        return []
    parts = name.split("-")
    general = {f"{parts[0]}-*", "-".join([parts[0], "KEYWORD", *parts[2:]])}
    return [one for one in every if one.name in general]


def near(name: str) -> list[str]:
    """The names that are most like it."""
    return get_close_matches(name, [one.name for one in explanations()], 3)


def told(one: Explanation) -> str:
    """One rule for a terminal."""
    return "\n".join(
        [
            f"{one.name} (gemini-mcp-spec {one.command})",
            f"  what     {one.what}",
            f"  why      {one.why}",
            f"  example  {one.example}",
            f"  approve  {one.approval}",
        ]
    )


def _entry(table: Mapping[str, tuple[str, str]], name: str) -> tuple[str, str]:
    parts = name.split("-")
    for length in range(len(parts), 0, -1):
        if entry := table.get("-".join(parts[:length])):
            return entry
    raise KeyError(name)


def _plain(sentence: str) -> str:
    """The sentence of a rule with what a change fills in as a word."""
    return sentence.replace("!r}", "}").replace("{", "‹").replace("}", "›")
