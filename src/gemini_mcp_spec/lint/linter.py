"""Lint: the files of one specification in, complaints out. Pure.

A rule joins by being in the table of its module. The rule `meta-schema` is silent where another rule says more.
"""

from collections.abc import Mapping
from dataclasses import replace

from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.lint import calls, files, host, requirements, server
from gemini_mcp_spec.lint.complaint import Complaint, Rule

RULES: Mapping[str, Rule] = {**files.RULES, **requirements.RULES, **server.RULES, **calls.RULES, **host.RULES}

DESCRIPTIONS: Mapping[str, str] = {name: (rule.__doc__ or "").strip() for name, rule in RULES.items()}
"""What each rule demands, in a sentence."""

_GENERAL = "meta-schema"
_STRUCTURAL = (AttributeError, IndexError, KeyError, TypeError)
"""What a rule may raise on a file so malformed that only `meta-schema` can name it."""


def lint(spec: SpecFiles) -> list[Complaint]:
    """Every mistake of `spec`, in the order of its files."""
    found: dict[Complaint, None] = {}
    stopped: list[Exception] = []
    for name, rule in RULES.items():
        try:
            found |= {replace(complaint, rule=name): None for complaint in rule(spec)}
        except _STRUCTURAL as error:
            stopped.append(error)
    if stopped and not found:
        raise stopped[0]
    special = {(one.file, one.path) for one in found if one.rule != _GENERAL}
    kept = [one for one in found if one.rule != _GENERAL or (one.file, one.path) not in special]
    return sorted(kept, key=lambda one: (one.file, [str(step).zfill(6) for step in one.path], one.rule))
