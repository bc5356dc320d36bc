"""The manifest, the sources and files of no kind compared. Pure."""

from collections.abc import Iterator

from gemini_mcp_conformance.gate.change import Change, Verdict, breaking, harmless, notice
from gemini_mcp_conformance.gate.kinds import kind_of
from gemini_mcp_conformance.gate.positions import Json, Path
from gemini_mcp_conformance.gate.spec_files import SpecFiles
from gemini_mcp_conformance.gate.versions import Bump

_FILE = "manifest.json"


def manifest_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """The identity of the server, the profiles and the revisions of MCP."""
    before, after = old.documents.get(_FILE, {}), new.documents.get(_FILE, {})
    for key in ("name", "version"):
        values = before.get("server", {}).get(key), after.get("server", {}).get(key)
        if values[0] != values[1]:
            message = f"The server's {key} was {values[0]!r} and is {values[1]!r}."
            if key == "name":
                yield breaking(Verdict.PORTS, "server-name", _FILE, ("server", key), message, *values)
            else:
                yield notice(Bump.PATCH, "server-version", _FILE, ("server", key), message, *values)
    for era in ("handshake", "stateless"):
        yield from _listed("revision", ("protocol", era), before.get("protocol", {}), after.get("protocol", {}), era)
    yield from _listed("profile", ("profiles",), before, after, "profiles")
    for key in sorted({*before, *after} - {"version", "server", "protocol", "profiles", "files"}):
        if before.get(key) != after.get(key):
            message = f"`{key}` of the manifest is another."
            yield breaking(Verdict.PORTS, "manifest-key", _FILE, (key,), message, before.get(key), after.get(key))


def _listed(kind: str, path: Path, before: Json, after: Json, key: str) -> Iterator[Change]:
    old, new = before.get(key, []), after.get(key, [])
    for value in sorted(set(old) - set(new)):
        message = f"The {kind} {value!r} is gone from `{'.'.join(map(str, path))}`."
        yield breaking(Verdict.CALLERS, f"{kind}-removed", _FILE, path, message, value)
    for value in sorted(set(new) - set(old)):
        message = f"The {kind} {value!r} is new in `{'.'.join(map(str, path))}`."
        yield harmless(Bump.MINOR, f"{kind}-added", _FILE, path, message, None, value)


def file_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """Sources and meta schemas, which bind nobody, and files that nobody knows how to judge."""
    for file in sorted({*old.files, *new.files}):
        before, after = old.documents.get(file), new.documents.get(file)
        if before == after and (before is not None or old.files.get(file) == new.files.get(file)):
            continue
        if file == "sources.json" or (file.startswith("meta/") and file != "meta/report.schema.json"):
            yield notice(Bump.PATCH, "file-changed", file, (), f"`{file}` is another.", before, after)
        elif kind_of(file) is None or before is after is None:
            message = f"`{file}` differs, and nobody can tell what that means."
            yield breaking(Verdict.PORTS, "file-unknown", file, (), message, before, after)
