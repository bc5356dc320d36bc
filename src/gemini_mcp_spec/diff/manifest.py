"""The manifest, the sources, the locales and files of no kind compared. Pure.

A file that is compared as a whole belongs here.
"""

from collections.abc import Iterator

from gemini_mcp.spec.values import Json, items, table
from gemini_mcp_spec.diff.change import Change, Severity, breaking, differing, harmless, notice
from gemini_mcp_spec.files.kinds import kind_of
from gemini_mcp_spec.files.positions import Path
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.version import Bump

_FILE = "manifest.json"


def manifest_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """The identity of the server, the profiles and the revisions of MCP."""
    before, after = table(old.documents.get(_FILE)), table(new.documents.get(_FILE))
    for key, *values in differing(table(before.get("server")), table(after.get("server"))):
        message = f"The server's {key} was {values[0]!r} and is {values[1]!r}."
        if key == "name":
            yield breaking(Severity.PORTS, "server-name", _FILE, ("server", key), message, *values)
        elif key == "version":
            yield notice(Bump.PATCH, "server-version", _FILE, ("server", key), message, *values)
    for era, *revisions in differing(table(before.get("protocol")), table(after.get("protocol"))):
        yield from _listed("revision", ("protocol", era), *revisions)
    yield from _listed("profile", ("profiles",), before.get("profiles"), after.get("profiles"))
    for key, *values in differing(before, after):
        if key not in ("version", "server", "protocol", "profiles", "files"):
            message = f"`{key}` of the manifest is another."
            yield breaking(Severity.PORTS, "manifest-key", _FILE, (key,), message, *values)


def _listed(kind: str, path: Path, old: Json, new: Json) -> Iterator[Change]:
    place = ".".join(map(str, path))
    for value in sorted(set(items(old)) - set(items(new))):
        message = f"The {kind} {value!r} is gone from `{place}`."
        yield breaking(Severity.CALLERS, f"{kind}-removed", _FILE, path, message, value)
    for value in sorted(set(items(new)) - set(items(old))):
        message = f"The {kind} {value!r} is new in `{place}`."
        yield harmless(Bump.MINOR, f"{kind}-added", _FILE, path, message, None, value)


def locale_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """Languages that came, went or say something else."""
    for file, before, after in differing(old.folder("server/locales"), new.folder("server/locales")):
        if before is None:
            yield harmless(Bump.MINOR, "locale-added", file, (), f"The locale `{file}` is new.")
        elif after is None:
            yield breaking(Severity.CALLERS, "locale-removed", file, (), f"The locale `{file}` is gone.")
        else:
            message = f"`{file}` says something else."
            yield notice(Bump.PATCH, "locale-reworded", file, (), message, before, after)


def file_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """Sources and meta schemas, which bind nobody, and files that nobody knows how to judge."""
    for file, *_ in differing(old.files, new.files):
        before, after = old.documents.get(file), new.documents.get(file)
        if before == after and before is not None:
            continue
        if file == "sources.json" or (file.startswith("meta/") and file != "meta/report.schema.json"):
            yield notice(Bump.PATCH, "file-changed", file, (), f"`{file}` is another.", before, after)
        elif kind_of(file) is None or before is after is None:
            message = f"`{file}` differs, and nobody can tell what that means."
            yield breaking(Severity.PORTS, "file-unknown", file, (), message, before, after)
