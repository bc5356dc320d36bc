"""The manifest, the sources, the locales, what is optional and files of no kind compared. Pure.

A file that is compared as a whole belongs here.
"""

from collections.abc import Iterator

from gemini_mcp.spec.values import ABSENT, differing, items, table
from gemini_mcp_spec.diff.change import Change, change, leaves, listed, one_sided
from gemini_mcp_spec.files.kinds import kind_of
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.tools import LIVE

_FILE = "manifest.json"
_SERVER = ("name", "version", "instructions")


def manifest_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """The identity of the server, the profiles and the revisions of MCP."""
    for key, *values in differing(old.objects(_FILE, "server"), new.objects(_FILE, "server")):
        yield change(f"server-{key}" if key in _SERVER else "manifest-key", _FILE, ("server", key), *values)
    for era, *revisions in differing(old.objects(_FILE, "protocol"), new.objects(_FILE, "protocol")):
        yield from listed("revision", _FILE, ("protocol", era), *map(items, revisions))
    yield from listed("profile", _FILE, ("profiles",), *(spec.entries(_FILE, "profiles") for spec in (old, new)))
    for key, *values in differing(table(old.documents.get(_FILE)), table(new.documents.get(_FILE))):
        if key not in ("version", "server", "protocol", "profiles", "files"):
            yield change("manifest-key", _FILE, (key,), *values)


def locale_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """Languages that came, went or say something else."""
    for file, *values in differing(old.folder("server/locales"), new.folder("server/locales")):
        if ABSENT in values:
            yield one_sided("locale", file, (), *values)
        else:
            yield change("locale-reworded", file, (), *values)


def live_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """How gemini may be run so that it tells what it does, which binds no port."""
    before, after = (spec.documents.get(LIVE, ABSENT) for spec in (old, new))
    if ABSENT in (before, after) and before != after:
        yield one_sided("live", LIVE, (), before, after)
    else:
        for path, *values in leaves(before, after, ()):
            yield change("live-changed", LIVE, path, *values)
    for file, *values in differing(old.folder("server/streams"), new.folder("server/streams")):
        if ABSENT in values:
            yield one_sided("stream", file, (), *values)
        else:
            yield change("stream-changed", file, (), *values)


def released_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """The list of a released version stays as it was."""
    for file, *values in differing(old.folder("released"), new.folder("released")):
        yield (
            one_sided("released", file, (), *values)
            if ABSENT in values
            else change("released-changed", file, (), *values)
        )


def file_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """Sources and meta schemas, which bind nobody, and files that nobody knows how to judge."""
    for file, *_ in differing(old.files, new.files):
        before, after = old.documents.get(file, ABSENT), new.documents.get(file, ABSENT)
        if before == after and before is not ABSENT:
            continue
        if file == "sources.json" or (file.startswith("meta/") and file != "meta/report.schema.json"):
            yield change("file-changed", file, (), before, after)
        elif kind_of(file) is None or before is after is ABSENT:
            yield change("file-unknown", file, (), before, after)
