"""The rules of `diff`: for each kind of change, whom it breaks, what it raises and what is said of it. Pure.

A kind of change is one row. A name that ends in `*` stands for all that begin so and have no row of their own. Braces
enclose what the change fills in: `old`, `new`, `file`, `key`, `place`, or words of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from gemini_mcp_spec.files.version import Bump


class Severity(StrEnum):
    """Whom a change breaks."""

    CALLERS = "breaking for callers"
    PORTS = "breaking for ports"
    NOTICE = "notice"
    COMPATIBLE = "compatible"

    @property
    def breaks(self) -> bool:
        return self in (Severity.CALLERS, Severity.PORTS)


@dataclass(frozen=True)
class Rule:
    """One kind of change."""

    name: str
    severity: Severity
    bump: Bump
    sentence: str


_EXAMPLES = ("case", "script", "scenario", "vector")

_TABLE: Mapping[tuple[Severity, Bump], Mapping[str, str]] = {
    (Severity.CALLERS, Bump.MAJOR): {
        "tool-removed": "The tool `{name}` is gone.",
        "tool-*": "`{key}` of `{name}` is another.",
        "tool-promise": "The hint `{key}` of `{name}` was {old!r} and is {new!r}, and clients ask by it.",
        "rules-removed": "The profile of hosts `{file}` is gone.",
        "removal-removed": "{name!r} is no longer listed as gone, so its id may return.",
        "schema-removed": "The schema `{file}` is gone.",
        "locale-removed": "The locale `{file}` is gone.",
        "revision-removed": "The revision {name!r} is gone from `{place}`.",
        "profile-removed": "The profile {name!r} is gone from `{place}`.",
        "refusal-added": "{argument} is refused now when it is {name!r}.",
        "refusal-narrower": "The refusal {name!r} refuses what it did not: `{key}` was {old!r} and is {new!r}.",
        "template-published": "An argument of `{name}` is no longer private.",
        "outcome-prefix": "`{place}` was {old!r} and is {new!r}.",
        "outcome-separator": "`{place}` was {old!r} and is {new!r}.",
        "outcome-meta": "`{place}` was {old!r} and is {new!r}.",
        "mask-removed": "{name!r} is masked no longer.",
        "mask-narrower": "The mask {old!r} is {new!r} now, which hides less.",
        "notice-removed": "The notice {name!r} is gone.",
        "sentence-removed": "{name!r} is no longer said.",
        "sentence-condition": "{name!r} is said on another condition: `{key}` was {old!r} and is {new!r}.",
        "requirement-removed": "The requirement {name!r} is gone.",
    },
    (Severity.PORTS, Bump.MAJOR): {
        "server-name": "The server's {key} was {old!r} and is {new!r}.",
        "manifest-key": "`{key}` of the manifest is another.",
        "area-malformed": "The {name} cannot be compared ({new}). Run `gemini-mcp-spec lint`.",
        "file-unknown": "`{file}` differs, and nobody can tell what that means.",
        "argument-optional": "`{argument}` of `{name}` may be left out now, which {forbidden} forbids.",
        "argument-refused": "`{key}` of `{argument}` of `{name}` is {new!r} now: that {rules} refuses was a SHOULD.",
        "rules-changed": "`{place}` of `{file}` was {old!r} and is {new!r}.",
        "requirement-included": "{name!r} is no longer excluded, so ports are checked for it.",
        "argument-absent": "Fewer values of `{name}` count as absent: `{key}` was {old!r} and is {new!r}.",
        "argument-*": "`{key}` of the argument `{name}` is another.",
        "template-removed": "The template of `{name}` is gone.",
        "template-*": "`{key}` of `{name}` is another.",
        "invocation-*": "`{place}` is another.",
        "outcome-*": "`{place}` was {old!r} and is {new!r}.",
        "requirement-added": "The requirement {name!r} is new: {sentence}",
        "requirement-raised": "{name!r} was {old} and is {new}.",
        "requirement-profile": "{name!r} binds another profile: {new}.",
        "requirement-sentence": "{name!r} says something else. {reworded}",
        "released-changed": "`{file}` was released and is another now.",
        "released-removed": "`{file}` was released and is gone.",
        **{f"{kind}-changed": f"The {kind} {{name!r}} has another `{{key}}`." for kind in _EXAMPLES},
    },
    (Severity.NOTICE, Bump.MINOR): {
        "live-changed": "`{place}` of `{file}` was {old!r} and is {new!r}. Only a port that offers it is concerned.",
        "live-removed": "`{file}` is gone, so that nothing says any more how gemini tells what it does.",
        "invocation-recommended": "`{place}` was {old!r} and is {new!r}. Only what is recommended rests on it.",
        "invocation-longer": "`{place}` was {old!r} and is {new!r}, so there is more time.",
        "argument-emptier": "More values of `{name}` count as absent: `{key}` was {old!r} and is {new!r}.",
        "argument-refusable": "`{key}` of `{argument}` of `{name}` is {new!r} now: {rules} refused the same.",
        "template-private": "More arguments of `{name}` are private.",
        "command-moved": "`{place}` is another. gemini gets the same text, over stdin or from the command line.",
        "refusal-removed": "{argument} may be {name!r} now, so ports have to take it.",
        "refusal-wider": "The refusal {name!r} refuses less: `{key}` was {old!r} and is {new!r}. Ports take more.",
        "mask-added": "Ports have to mask {name!r}.",
        "mask-wider": "The mask {old!r} is {new!r} now, which hides more: ports have to mask it.",
        "mask-order": "The masks have another order.",
        **{f"{kind}-recommended": f"The {kind} {{name!r}} of a SHOULD has another `{{key}}`." for kind in _EXAMPLES},
        "outcome-larger": "`{place}` was {old!r} and is {new!r}, so longer answers arrive.",
        "outcome-recommended": "`{place}` was {old!r} and is {new!r}. Only what is recommended rests on it.",
        "server-version": "The server's {key} was {old!r} and is {new!r}, which ports should report.",
        "sentence-order": "The sentences have another order, and the first that fits is said.",
        "sentence-stderr": "{name!r} is said of another stderr: `{key}` was {old!r} and is {new!r}.",
        "sentence-extended": "{name!r} is said for other exit codes: {old} before, {new} now.",
        "sentence-fields": "{name!r} is said otherwise, with other fields.",
        "sentence-cause": "`{key}` of {name!r} is another, so the words of other ports are judged otherwise.",
        "sentence-names": "`{key}` of {name!r} is another, so the words of other ports are judged otherwise.",
        "requirement-excluded": "{name!r} is excluded now, so no port is checked for it: {new}",
        "recommendation-included": "{name!r} is no longer excluded, so ports are checked for it.",
        "requirement-lowered": "{name!r} was {old} and is {new}.",
        "recommendation-raised": "{name!r} was {old} and is {new}.",
        "recommendation-sentence": "{name!r} says something else. {reworded}",
    },
    (Severity.NOTICE, Bump.PATCH): {
        "gate-changed": "`{place}` of `{file}` was {old!r} and is {new!r}, so changes are judged otherwise.",
        "deprecated-added": "{name} is deprecated, and may be gone from {until} on.",
        "deprecated-removed": "{name} is no longer deprecated.",
        "command-respelled": "`{place}` is spelled otherwise: no call was found of which gemini makes something else.",
        "refusal-unproven": "`{key}` of {name!r} {unproven}",
        "outcome-unproven": "`{place}` {unproven}",
        "sentence-unproven": "`{key}` of {name!r} {unproven}",
        "sentence-unordered": "The sentences have another order, but those that moved exclude each other.",
        "mask-unordered": "The masks have another order, but no text was found that tells them apart.",
        "rules-unproven": "`{place}` {unproven}",
        "stream-changed": "The stream `{file}` is another.",
        "stream-removed": "The stream `{file}` is gone.",
        "rules-version": "`{file}` speaks of another version: {old} before, {new} now.",
        "requirement-reason": "The reason why {name!r} is excluded is another.",
        "invocation-unproven": "`{place}` {unproven}",
        "tool-title": "`{key}` of `{name}` is another.",
        "tool-description": "`{key}` of `{name}` is another.",
        "tool-hint": "The hint `{key}` of `{name}` was {old!r} and is {new!r}.",
        "server-instructions": "The server's {key} say something else.",
        "locale-reworded": "`{file}` says something else.",
        "file-changed": "`{file}` is another.",
        "sentence-reworded": "{name!r} is said otherwise.",
        "refusal-renamed": "The refusal {old!r} is named {new!r} now, and is the same.",
        "sentence-renamed": "The sentence {old!r} is named {new!r} now, and is the same.",
        "requirement-reworded": "{name!r} is reworded. If it means something else, give it another id.",
        "requirement-*": "`{key}` of {name!r} is another.",
        **{
            f"{kind}-same": f"The {kind} {{name!r}} shows the same otherwise: `{{key}}` is another."
            for kind in _EXAMPLES
        },
        **{
            f"{kind}-given": f"The {kind} {{name!r}} is given another `{{key}}`, and expects the same."
            for kind in ("scenario", "vector")
        },
        **{f"{kind}-described": f"`{{key}}` of the {kind} {{name!r}} is another." for kind in _EXAMPLES},
        **{f"{kind}-removed": f"The {kind} {{name!r}} is gone." for kind in _EXAMPLES},
    },
    (Severity.COMPATIBLE, Bump.MINOR): {
        "rules-added": "The profile of hosts `{file}` is new.",
        "tool-added": "The tool `{name}` is new.",
        "schema-added": "The schema `{file}` is new.",
        "locale-added": "The locale `{file}` is new.",
        "live-added": "`{file}` is new: how a port may let gemini tell what it does.",
        "revision-added": "The revision {name!r} is new in `{place}`.",
        "profile-added": "The profile {name!r} is new in `{place}`.",
        "argument-added": "`{name}` is new.",
        "template-added": "The tool `{name}` has a template.",
        "template-extended": "`{key}` of `{name}` hands over a new argument.",
        "notice-added": "The notice {name!r} is new.",
        "sentence-added": "The sentence {name!r} is new.",
        "recommendation-added": "The requirement {name!r} is new: {sentence}",
    },
    (Severity.COMPATIBLE, Bump.PATCH): {
        "stream-added": "The stream `{file}` is new.",
        "refusal-defined": "The refusal {name!r} is defined.",
        "refusal-undefined": "The refusal {name!r} is no longer defined.",
        **{f"{kind}-added": f"The {kind} {{name!r}} is new." for kind in _EXAMPLES},
    },
    (Severity.COMPATIBLE, Bump.NONE): {
        "released-added": "The list `{file}` is new.",
        "removal-added": "{name!r} is listed as gone.",
    },
    (Severity.NOTICE, Bump.NONE): {
        "version-higher": "The version {new} is higher than these changes need, which is {old}.",
    },
}

UNPROVEN = "was {old!r} and is {new!r}. They are not proven equal, but no text was found that tells them apart."

REWORDED = "It said: {old} It says: {new} Another meaning should get another id."

RULES: Mapping[str, Rule] = {
    name: Rule(name, *verdict, sentence.replace("{unproven}", UNPROVEN).replace("{reworded}", REWORDED))
    for verdict, rows in _TABLE.items()
    for name, sentence in rows.items()
}


def rule_of(name: str) -> Rule:
    """The row of that name, or the one that stands for all that begin as it does."""
    return RULES.get(name) or RULES[f"{name.partition('-')[0]}-*"]
