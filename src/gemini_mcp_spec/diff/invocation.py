"""Command lines compared: what may not be sent any more, and what ports have to run instead. Pure.

What callers meet is judged key by key. Of a command line, what gemini understands of it counts, and not its spelling.
"""

from collections.abc import Collection, Iterator, Mapping
from functools import partial

from gemini_mcp.gemini_cli.understanding import OPTIONS, unknown_options
from gemini_mcp.gemini_cli.yargs import parse
from gemini_mcp.report.positions import Path
from gemini_mcp.schema.patterns import Difference, Unreadable, candidates, difference
from gemini_mcp.spec.values import ABSENT, Json, differing, is_object, items, table
from gemini_mcp_spec.diff.calls import Calls
from gemini_mcp_spec.diff.change import Change, Prover, change, is_longer, leaves, listed, one_sided
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.tools import INVOCATION, tools
from gemini_mcp_spec.reference.answers import listed_session

_COMMANDED = ("argv", "cwd", "env", "files")
"""The keys of a template that the calls of its tool show."""
_RECOMMENDED = ("environment.inherit", "environment.withhold", "temporary.directoryMode", "temporary.fileMode")
"""What only requirements that are SHOULD rest on."""
_NOTHING_COUNTS = r"[^\s\S]"
"""The pattern of an argument that is never absent."""


def invocation_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """Everything that `invocation.json` says differently, with a call that shows it where one does."""
    calls = Calls.of(old, new)
    known = {name: table(schema.get("properties")).keys() for name, (_, schema) in tools(old).items()}
    sides = table(old.documents.get(INVOCATION)), table(new.documents.get(INVOCATION))
    renamed = _renamed(*(table(side.get("refusals")) for side in sides))
    for key, before, after in differing(*sides):
        for name, was, becomes in differing(table(before), table(after)):
            match key:
                case "refusals" if name in renamed.values():
                    pass
                case "refusals" if name in renamed:
                    yield change("refusal-renamed", INVOCATION, (key, renamed[name]), name, renamed[name])
                case "refusals":
                    yield from _refusal(name, was, becomes, calls)
                case "arguments" if any(name in arguments for arguments in known.values()):
                    yield from _argument(name, was, becomes, calls, renamed)
                case "arguments":
                    yield change("argument-added", INVOCATION, (key, name), was, becomes, name=name)
                case "tools":
                    yield from _template(name, was, becomes, calls, known.get(name, ()))
                case "forms":
                    yield _commanded("invocation-forms", (key, name), was, becomes, calls)
                case _:
                    break
        if key not in ("refusals", "arguments", "tools", "forms"):
            for path, was, becomes in leaves(before, after, (key,)):
                yield _plain(path, was, becomes, calls)


def _renamed(old: Mapping[str, Json], new: Mapping[str, Json]) -> Mapping[str, str]:
    """The new name of each refusal that only has another one."""
    gone, come = ([name for name in side if name not in other] for side, other in ((old, new), (new, old)))
    names: dict[str, str] = {}
    for name in gone:
        same = (each for each in come if each not in names.values() and new[each] == old[name])
        if (found := next(same, None)) is not None:
            names[name] = found
    return names


def _refusal(name: str, old: Json, new: Json, calls: Calls) -> Iterator[Change]:
    path = ("refusals", name)
    witness = calls.only(path).refused_now
    # A refusal refuses nothing until an argument names it.
    if ABSENT in (old, new) and not table(old or new).get("everywhere"):
        yield change("refusal-defined" if old is ABSENT else "refusal-undefined", INVOCATION, path, old, new, name=name)
    elif ABSENT in (old, new):
        yield one_sided("refusal", INVOCATION, path, old, new, witness=witness, name=name, argument="Every argument")
    else:
        for key, *values in differing(old, new):
            rule = "sentence-reworded" if key == "sentence" else f"refusal-{_extent(key, *values)}"
            yield change(rule, INVOCATION, (*path, key), *values, witness=witness, name=name)


def _extent(key: str, old: Json, new: Json) -> str:
    """Whether a refusal leaves more free than before; what is not known to leave more may leave less."""
    if key == "pattern" and (apart := _apart(old, new)):
        return "unproven" if not apart.is_known else "wider" if apart.gained is None else "narrower"
    rises = isinstance(old, int) and isinstance(new, int) and new > old
    return "wider" if (key == "maxBytes" and rises) or (key == "everywhere" and not new) else "narrower"


def _apart(old: Json, new: Json, whole: bool = False) -> Difference | None:
    return difference(old, new, whole) if isinstance(old, str) and isinstance(new, str) else None


def _argument(name: str, old: Json, new: Json, calls: Calls, renamed: Mapping[str, str]) -> Iterator[Change]:
    for key, *values in differing(table(old), table(new)):
        path = ("arguments", name, key)
        if key == "refuse":
            before, after = map(items, values)
            before = [renamed.get(str(each), each) for each in before]
            witness = partial(calls.only(path).refused_now, name)
            yield from listed("refusal", INVOCATION, path, before, after, witness=witness, argument=f"`{name}`")
        else:
            alone = calls.only(path)
            is_same = key == "absent" and alone.is_readable and alone.different() is None
            rule = _absence(*values) if key == "absent" else f"argument-{key}"
            rule = "command-respelled" if is_same else rule
            yield change(rule, INVOCATION, path, *values, witness=alone.different, name=name)


def _absence(old: Json, new: Json) -> str:
    """What it means that other values count as absent. That any do is a SHOULD, and that the others count is a MUST."""
    apart = _apart(old or _NOTHING_COUNTS, new or _NOTHING_COUNTS, whole=True)
    return "argument-absent" if apart is None or apart.lost is not None else "argument-emptier"


def _template(name: str, old: Json, new: Json, calls: Calls, known: Collection[str]) -> Iterator[Change]:
    if ABSENT in (old, new):
        yield one_sided("template", INVOCATION, ("tools", name), old, new, name=name)
        return
    for key, *values in differing(old, new):
        path = ("tools", name, key)
        if key == "private":
            # What was private may be shown now: callers relied on it. More privacy breaks nobody.
            is_published = set(items(values[0])) - set(items(values[1])) - calls.gone(name)
            yield change(f"template-{'published' if is_published else 'private'}", INVOCATION, path, *values, name=name)
        elif key == "argv" and _only_new(values[0], values[1], known):
            yield change("template-extended", INVOCATION, path, *values, name=name)
        elif key in _COMMANDED:
            yield _commanded(f"template-{key}", path, values[0], values[1], calls, name)
        else:
            yield change(f"template-{key}", INVOCATION, path, *values, name=name)


def _commanded(rule: str, path: Path, old: Json, new: Json, calls: Calls, tool: str | None = None) -> Change:
    """What a change of a command line means, by what gemini makes of the calls that it concerns."""
    calls = calls.only(path)
    witness: Prover = partial(calls.different, tool)
    if calls.is_readable and witness() is None:
        rule = "command-moved" if calls.moved(tool) else "command-respelled"
    return change(rule, INVOCATION, path, old, new, witness=witness, name=tool)


def _only_new(old: Json, new: Json, known: Collection[str]) -> bool:
    """Whether a command line grew only by elements for arguments that no call could carry before."""
    return items(old) == [
        element for element in items(new) if not (is_object(element) and element.get("with") not in (None, *known))
    ]


def _plain(path: Path, old: Json, new: Json, calls: Calls) -> Change:
    """What a change means of that which no template says."""
    rule, place = f"invocation-{path[0]}", ".".join(map(str, path))
    if place in _RECOMMENDED:
        rule = "invocation-recommended"
    elif is_longer(path, old, new):
        rule = "invocation-longer"
    elif place == "listing.argv" and _same_command(old, new):
        rule = "command-respelled"
    elif place == "listing.entry" and _same_entries(str(old), str(new)):
        rule = "invocation-unproven"
    return change(rule, INVOCATION, path, old, new, witness=calls.only(path).different)


def _same_command(old: Json, new: Json) -> bool:
    sides = [[str(word) for word in items(side)] for side in (old, new)]
    # An option that this gemini does not know is taken for one of a newer version.
    before, after = (parse(side, (*OPTIONS, *unknown_options(side))) for side in sides)
    return before == after


def _same_entries(old: str, new: str) -> bool:
    """Whether no list is known of which the two patterns name another session."""
    try:
        lines = candidates((old, new))
    except Unreadable:
        return False
    return all(listed_session(old, line) == listed_session(new, line) for line in lines)
