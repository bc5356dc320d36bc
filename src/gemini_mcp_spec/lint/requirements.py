"""Rules about the requirements: ids, sentences, sources and the frozen sets of released versions. Pure.

A rule about a statement or about what it cites belongs here.
"""

import json
import re
from collections.abc import Container, Iterator, Mapping

from gemini_mcp.report.positions import Path
from gemini_mcp.report.values import shown
from gemini_mcp.spec.families import is_member
from gemini_mcp.spec.values import Json, is_array, is_object, items, table
from gemini_mcp_spec.files.examples import vectors
from gemini_mcp_spec.files.requirements import FILE, members, removed, requirements, written
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.version import Version
from gemini_mcp_spec.lint.complaint import Complaint, unknown

_PLACEHOLDER = re.compile(r"(?<!\$)\{[a-z]+\}")
"""A name in braces; behind a dollar sign it is a variable of the settings."""
_ID = re.compile(r"[a-z][a-z0-9-]*(?::[a-z0-9][a-z0-9-]*){1,2}")
_KEYWORD = re.compile(r"\b(MUST|SHOULD|MAY|SHALL|REQUIRED|RECOMMENDED|OPTIONAL)\b")
_SENTENCE_END = re.compile(r"[.!?](?=\s+[A-Z`])")
_SOURCES, _MANIFEST = "sources.json", "manifest.json"
_CITING = ("server/cases", "server/scenarios", "host/scenarios")


def id_form(spec: SpecFiles) -> Iterator[Complaint]:
    """An id is `area:feature` or `area:feature:variant` in lower case."""
    for file, path, entry in requirements(spec):
        if not _ID.fullmatch(entry["id"]):
            message = f"The id {shown(entry['id'])} is not `area:feature` or `area:feature:variant` in lower case."
            yield Complaint(file, (*path, "id"), message)


def id_profile(spec: SpecFiles) -> Iterator[Complaint]:
    """The id of a requirement begins with `host-` where it binds hosts, and only there."""
    for file, path, entry in written(spec):
        if entry["id"].startswith("host-") != (entry.get("profile") == "host"):
            message = f"{shown(entry['id'])} binds the profile {shown(entry.get('profile'))}, which its id denies."
            yield Complaint(file, (*path, "id"), message)


def id_unique(spec: SpecFiles) -> Iterator[Complaint]:
    """No two requirements have the same id, and no two families the same members as well."""
    first: dict[tuple[str, str], tuple[str, Path]] = {}
    for file, path, entry in written(spec):
        members = [entry.get("for"), entry.get("where")] if "{" in entry["id"] else None
        key = entry["id"], json.dumps(members, sort_keys=True)
        if key in first:
            other, place = first[key]
            there = f"line {spec.position(other, (*place, 'id')).line}{'' if other == file else f' of `{other}`'}"
            yield Complaint(file, (*path, "id"), f"The id {shown(entry['id'])} is that of {there} already.")
        first.setdefault(key, (file, path))


def id_apart(spec: SpecFiles) -> Iterator[Complaint]:
    """An id stands for one tool, argument or rule, whatever capitals and signs are in the names."""
    first: dict[str, tuple[str, ...]] = {}
    for (file, path, entry), meaning in members(spec):
        other = first.setdefault(entry["id"], meaning)
        if other != meaning:
            both = " and for ".join(f"{shown(id)} with {shown(list(names))}" for id, *names in (other, meaning))
            yield Complaint(file, (*path, "id"), f"The id {shown(entry['id'])} stands for {both}.")


def id_removed(spec: SpecFiles) -> Iterator[Complaint]:
    """An id that has gone never returns."""
    gone = removed(spec)
    for file, path, entry in requirements(spec):
        if entry["id"] in gone:
            message = f"The id {shown(entry['id'])} went with version {gone[entry['id']]} and cannot return."
            yield Complaint(file, (*path, "id"), message)


def level_keyword(spec: SpecFiles) -> Iterator[Complaint]:
    """The only keyword of a sentence is its level."""
    for file, path, entry in written(spec):
        found = _KEYWORD.findall(str(entry.get("sentence", "")))
        if found != [entry.get("level")]:
            said = " and ".join(found) or "no keyword"
            message = f"The sentence says {said}, but its level is {entry.get('level')}."
            yield Complaint(file, (*path, "sentence"), message)


def one_sentence(spec: SpecFiles) -> Iterator[Complaint]:
    """A requirement is one sentence, and no other says the same."""
    said: dict[str, str] = {}
    for file, path, entry in requirements(spec):
        sentence = str(entry.get("sentence", ""))
        if _SENTENCE_END.search(sentence):
            yield Complaint(file, (*path, "sentence"), "The statement has more than one sentence.")
        if sentence in said:
            yield Complaint(file, (*path, "sentence"), f"{shown(said[sentence])} says the same.")
        said.setdefault(sentence, entry["id"])


def placeholder_known(spec: SpecFiles) -> Iterator[Complaint]:
    """A placeholder of a statement is one that its family or the files of the specification fill in."""
    for file, path, entry in requirements(spec):
        if "for" not in entry:
            for name in _PLACEHOLDER.findall(str(entry.get("sentence", ""))):
                message = f"Nothing fills in the placeholder {shown(name)} of {shown(entry['id'])}."
                yield Complaint(file, (*path, "sentence"), message)


def since_version(spec: SpecFiles) -> Iterator[Complaint]:
    """No requirement is younger than the specification."""
    if not Version.is_one(spec.version):
        return
    every = [(Version.parse(str(entry.get("since", ""))), file, path) for file, path, entry in written(spec)]
    younger = [one for one in every if one[0] > Version.parse(spec.version)]
    # Most are younger: then the manifest is wrong, and one complaint says it.
    if len(younger) * 2 > len(every):
        message = f"{len(younger)} requirements are younger than version {spec.version}; one is there since "
        fix = "Raise the version to that."
        yield Complaint(_MANIFEST, ("version",), f"{message}{max(since for since, *_ in younger)}.", fix)
        return
    for since, file, path in younger:
        message = f"The requirement is there since {since}, but this is version {spec.version}."
        yield Complaint(file, (*path, "since"), message)


def source_exists(spec: SpecFiles) -> Iterator[Complaint]:
    """The source of a requirement is one that `sources.json` lists, or a decision with its reason."""
    sources = spec.documents.get(_SOURCES)
    for file, path, entry in written(spec):
        source = entry.get("source")
        if is_object(source) and is_object(sources) and (wrong := _missing(source, sources)):
            key, message = wrong
            yield Complaint(file, (*path, "source", key), message, "Write why." if key == "reason" else "")


def _missing(source: Mapping[str, Json], sources: Mapping[str, Json]) -> tuple[str, str] | None:
    match source:
        case {"kind": "document", "document": document, "heading": heading}:
            headings = {entry["id"]: entry["headings"] for entry in sources["documents"]}
            if document not in headings:
                return "document", f"The document {shown(document)} is not listed."
            if heading not in headings[document]:
                return "heading", f"The document {shown(document)} has no heading {shown(heading)}."
        case {"kind": "mcp", "revision": revision, "page": page}:
            pages = {entry["revision"]: entry["pages"] for entry in sources["mcp"]}
            if page not in pages.get(revision, ()):
                key = "page" if revision in pages else "revision"
                return key, f"The page {shown(page)} of MCP {revision} is not listed."
        case {"kind": "observed", "package": package, "version": version}:
            versions = {entry["package"]: entry["versions"] for entry in sources["packages"]}
            if version not in versions.get(package, ()):
                return "version", f"{package} {version} is not listed."
        case {"kind": "decision"} if not str(source.get("reason", "")).strip():
            return "reason", "The decision has no reason."
        case _:
            return None
    return None


def source_cited(spec: SpecFiles) -> Iterator[Complaint]:
    """Every page that `sources.json` lists is cited, and its revisions are those of the manifest."""
    if not all(is_object(spec.documents.get(file)) for file in (_SOURCES, _MANIFEST)):
        return
    cited = [table(entry.get("source")) for _, _, entry in requirements(spec)]
    pages = {(source.get("revision"), source.get("page")) for source in cited}
    revisions = {revision for era in spec.objects(_MANIFEST, "protocol").values() for revision in era}
    listed = [(entry["revision"], entry["pages"]) for entry in spec.entries(_SOURCES, "mcp")]
    for index, (revision, named) in enumerate(listed):
        if revision not in revisions:
            yield Complaint(_SOURCES, ("mcp", index), f"MCP {revision} is no revision of the manifest.")
        for number, page in enumerate(named):
            if (revision, page) not in pages:
                message = f"No requirement cites the page {shown(page)} of MCP {revision}."
                yield Complaint(_SOURCES, ("mcp", index, "pages", number), message, "Remove it.")
    named = ((_MANIFEST, ("protocol",), revision) for revision in sorted(revisions))
    yield from unknown(named, dict(listed), "The revision {} is not in `sources.json`.")


def requirement_unknown(spec: SpecFiles) -> Iterator[Complaint]:
    """A case, a scenario or a vector names requirements that exist in its profile."""
    known = {(entry.get("profile"), entry["id"]) for _, _, entry in requirements(spec)}
    examples = [(file, (), document) for folder in _CITING for file, document in spec.folder(folder).items()]
    for file, path, entry in [*examples, *vectors(spec)]:
        profile = file.partition("/")[0]
        for index, name in enumerate(items(table(entry).get("requirements"))):
            if (profile, name) not in known:
                message = f"The profile {shown(profile)} has no requirement {shown(name)}."
                yield Complaint(file, (*path, "requirements", index), message)


def frozen_set(spec: SpecFiles) -> Iterator[Complaint]:
    """The list of a released version holds what that version had, and none of its ids has been lost."""
    current = [entry for _, _, entry in requirements(spec)]
    known = {entry["id"] for entry in current} | set(removed(spec))
    families = [entry["id"] for _, _, entry in written(spec) if "for" in entry]
    for file, document in spec.folder("released").items():
        if not is_object(document) or not is_array(document.get("requirements")):
            continue
        yield from _version_of(spec, file, document)
        listed = [str(entry.get("id")) for entry in document["requirements"]]
        for index, name in enumerate(listed):
            if name not in known and not any(is_member(name, family) for family in families):
                message = f"{shown(name)} has gone, but `removed` of {FILE} does not say so."
                yield Complaint(file, ("requirements", index), message, "Add it to `removed`.")
        single = [entry for entry in current if "for" not in entry and _ID.fullmatch(entry["id"])]
        alone = [entry for entry in single if not any(is_member(entry["id"], family) for family in families)]
        version = str(document.get("version"))
        old = [one for one in alone if Version.parse(str(one.get("since", version))) <= Version.parse(version)]
        named = ((file, ("requirements",), entry["id"]) for entry in old)
        message = "`{}` claims to be older than this list, which lacks it."
        yield from unknown(named, listed, message, "Correct its `since`; before the release, run `freeze`.")
        yield from _younger(spec, version, set(listed))


def _younger(spec: SpecFiles, version: str, listed: Container[str]) -> Iterator[Complaint]:
    """Statements that a released list holds, and that claim to be younger."""
    for file, path, entry in written(spec):
        since = str(entry.get("since", version))
        if str(entry["id"]) in listed and Version.parse(since) > Version.parse(version):
            message = f"The statement is there since {since}, but the list of {version} holds it."
            yield Complaint(file, (*path, "since"), message, f"Write {shown(version)} or an earlier version.")


def _version_of(spec: SpecFiles, file: str, document: Mapping[str, Json]) -> Iterator[Complaint]:
    stem, version = file.rpartition("/")[2].removesuffix(".json"), str(document.get("version"))
    is_younger = Version.is_one(spec.version) and Version.parse(version) > Version.parse(spec.version)
    if version != stem or is_younger:
        message = (
            f"The list {shown(stem)} names version {shown(version)} of a specification whose version is {spec.version}."
        )
        yield Complaint(file, ("version",), message, "Name the file and the version alike, and raise neither.")
