"""The kinds of changes between locks: how grave each one is, and what is said of it. Pure.

A kind of change is one row. Braces enclose what the change fills in.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from gemini_mcp.schema.judgement import Effect


class Verdict(StrEnum):
    """What a change does to the calls of a model, the gravest first."""

    BREAKING = "breaking"
    NOTICE = "notice"
    COMPATIBLE = "compatible"


@dataclass(frozen=True)
class Rule:
    """One kind of change, and whether it is of something that was approved with the lock."""

    name: str
    verdict: Verdict
    sentence: str
    is_of_approved: bool


_TABLE: Mapping[tuple[Verdict, bool], Mapping[str, str]] = {
    (Verdict.BREAKING, True): {
        "server-lost": "The {profile} profile cannot use the server any more: {old} before, {new} now.",
        "tool-removed": "The tool {name} is gone.",
        "tool-lost": "The {profile} profile does not register the tool {name} any more.",
        "tool-renamed": "The {profile} profile calls the tool {name} {new} now; it was {old}.",
        "hidden-text": "`{place}` of {name} has characters now that nobody sees: {points}.",
    },
    (Verdict.BREAKING, False): {
        "prompt-removed": "The prompt {name} is gone.",
        "prompt-argument-removed": "The prompt {name} takes no {argument} any more.",
        "prompt-argument-required": "The prompt {name} demands {argument} now.",
        "prompt-arguments-reordered": "Without names, the arguments of the prompt {name} were {old} and are {new}.",
    },
    (Verdict.NOTICE, True): {
        "order": "`{place}` of {name} tells the model now what to do beyond this tool: {order}.",
        "tool-added": "The tool {name} is new, and was not there when the lock was made.",
        "tool-described": "{name}: `{key}` was {old} and is {new}.",
        "tool-annotated": "{name}: the hint `{key}` was {old} and is {new}.",
        "tool-changed": "{name}: `{key}` was {old} and is {new}.",
        "results-declared": "{name} declares a schema of its results now, and they are held against it.",
        "results-undeclared": "{name} declares no schema of its results any more.",
        "instructions": "The server's instructions were {old} and are {new}.",
    },
    (Verdict.NOTICE, False): {
        "server-info": "`{key}` of the server was {old} and is {new}.",
        "protocol": "The server spoke the protocol version {old} and speaks {new}.",
        "capability-removed": "The capability `{key}` is gone.",
        "capability-changed": "The capability `{key}` was {old} and is {new}.",
        "prompt-changed": "The prompt {name}: `{key}` was {old} and is {new}.",
        "prompt-argument-changed": "The prompt {name}: `{key}` of {argument} was {old} and is {new}.",
        "resource-removed": "The resource {name} is gone.",
        "resource-changed": "The resource {name}: `{key}` was {old} and is {new}.",
        "profile-removed": "The {profile} profile is not in the new lock.",
    },
    (Verdict.COMPATIBLE, False): {
        "server-found": "The {profile} profile can use the server now: {old} before, {new} now.",
        "tool-registered": "The {profile} profile registers the tool {name} now.",
        "capability-added": "The capability `{key}` is new.",
        "prompt-added": "The prompt {name} is new.",
        "prompt-argument-added": "The prompt {name} takes {argument} now.",
        "prompt-argument-optional": "The prompt {name} does not demand {argument} any more.",
        "resource-added": "The resource {name} is new.",
        "profile-added": "The {profile} profile is not in the old lock.",
    },
}

RULES: Mapping[str, Rule] = {
    name: Rule(name, verdict, sentence, is_of_approved)
    for (verdict, is_of_approved), rows in _TABLE.items()
    for name, sentence in rows.items()
}

ARGUMENTS: Mapping[Effect, Verdict] = {
    Effect.BREAKS_SENDERS: Verdict.BREAKING,
    Effect.BREAKS_GIVERS: Verdict.BREAKING,
    Effect.ALLOWS: Verdict.COMPATIBLE,
    Effect.REWORDS: Verdict.NOTICE,
    Effect.NOTHING: Verdict.COMPATIBLE,
}
"""What a difference of the arguments' schemas does."""

RESULTS: Mapping[Effect, Verdict] = {**ARGUMENTS, Effect.BREAKS_SENDERS: Verdict.NOTICE}
"""What a difference of the results' schemas does: no call is refused for it."""
