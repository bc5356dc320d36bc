"""Changes under the policy of `gate.json`: deprecations, severities and exceptions. Pure.

A mark counts when the old specification has it, so that nobody deprecates and removes in one step. Severities and
exceptions are those of the new one; what they change is said beside the change.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from gemini_mcp.spec.values import ABSENT
from gemini_mcp_spec.diff.change import Change, change, leaves
from gemini_mcp_spec.diff.rules import Severity
from gemini_mcp_spec.files.policy import FILE, deprecated, exempt, severities
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.tools import tools
from gemini_mcp_spec.files.version import Bump

_SEVERITIES: Mapping[str, tuple[Severity, Bump]] = {
    "breaking": (Severity.CALLERS, Bump.MAJOR),
    "notice": (Severity.NOTICE, Bump.MINOR),
    "compatible": (Severity.COMPATIBLE, Bump.PATCH),
}


def policy_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """Marks that came or went, and other changes of the policy, so that nobody changes it unseen."""
    had, has = set(deprecated(old)), set(deprecated(new))
    for kind, marks in (("added", has - had), ("removed", had - has)):
        for mark in sorted(marks, key=str):
            name = f"`{mark.argument}` of `{mark.tool}`" if mark.argument else f"The tool `{mark.tool}`"
            sides = (ABSENT, vars(mark)) if kind == "added" else (vars(mark), ABSENT)
            yield change(f"deprecated-{kind}", FILE, ("deprecated",), *sides, name=name, until=mark.until)
    for key in ("severities", "exceptions"):
        before, after = (spec.documents.get(FILE, {}).get(key, ABSENT) for spec in (old, new))
        for path, *values in leaves(before, after, (key,)):
            yield change("gate-changed", FILE, path, *values)


def judged(changes: Iterable[Change], old: SpecFiles, new: SpecFiles, today: str) -> Iterator[Change]:
    """The changes with what their removal was announced for, and with the severity that the policy gives."""
    wanted = severities(new)
    for found in changes:
        one = _announced(found, old, new, today)
        severity, bump = _SEVERITIES.get(wanted.get(one.rule, ""), (one.severity, one.bump))
        # `gate.json` has one word for both kinds of breaks, so it cannot move a break to the other kind.
        if severity is not one.severity and not (severity.breaks and one.severity.breaks):
            message = f"{one.message} By `{FILE}` this is {wanted[one.rule]}, and not {one.severity}."
            one = replace(one, severity=severity, bump=bump, message=message)
        yield one


def _announced(removal: Change, old: SpecFiles, new: SpecFiles, today: str) -> Change:
    """What was removed, with whether it was marked and may be gone."""
    by_file = {file: name for name, (file, _) in tools(old).items()}
    tool = by_file.get(removal.file)
    if tool is None or removal.rule not in ("tool-removed", "request-property-removed"):
        return removal
    argument = str(removal.path[-1]) if removal.rule == "request-property-removed" else None
    mark = next((one for one in deprecated(old) if (one.tool, one.argument) == (tool, argument)), None)
    if mark is None:
        return replace(removal, message=f"{removal.message} It was never marked as deprecated in `{FILE}`.")
    if not mark.is_due(new.version, today):
        return replace(removal, message=f"{removal.message} It is deprecated, but was to stay until {mark.until}.")
    message = f"{removal.message} It was deprecated, to go from {mark.until} on."
    return replace(removal, severity=Severity.NOTICE, bump=Bump.MINOR, message=message, witness=None)


def excepted(changes: Iterable[Change], new: SpecFiles) -> Mapping[str, str]:
    """The reason of every break that an exception covers, by its fingerprint."""
    known = list(exempt(new))
    found = ((one, rule) for one in changes if one.severity.breaks for rule in known if rule.covers(one.rule, one.file))
    return {one.fingerprint: f"{rule.reason} (exception in {FILE})" for one, rule in found}
