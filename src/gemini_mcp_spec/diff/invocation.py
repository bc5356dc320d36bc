"""Command lines compared: what may not be sent any more, and what ports have to run instead. Pure.

What callers meet is judged key by key; everything else in `invocation.json` binds ports, so a change of it breaks them.
"""

from collections.abc import Collection, Iterator
from functools import partial

from gemini_mcp.spec.values import Json, is_object, items, table
from gemini_mcp_spec.diff.calls import Calls
from gemini_mcp_spec.diff.change import Change, change, differing, leaves, listed, one_sided
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.tools import INVOCATION, tools


def invocation_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """Everything that `invocation.json` says differently, with a call that shows it where one does."""
    calls = Calls(old, new)
    known = {name: table(schema.get("properties")).keys() for name, (_, schema) in tools(old).items()}
    for key, before, after in differing(table(old.documents.get(INVOCATION)), table(new.documents.get(INVOCATION))):
        for name, was, becomes in differing(table(before), table(after)):
            match key:
                case "refusals":
                    yield from _refusal(name, was, becomes, calls)
                case "arguments" if any(name in arguments for arguments in known.values()):
                    yield from _argument(name, was, becomes, calls)
                case "arguments":
                    yield change("argument-added", INVOCATION, (key, name), was, becomes, name=name)
                case "tools":
                    yield from _template(name, was, becomes, calls, known.get(name, ()))
                case _:
                    break
        if key not in ("refusals", "arguments", "tools"):
            for path, *values in leaves(before, after, (key,)):
                yield change(f"invocation-{key}", INVOCATION, path, *values, witness=calls.different)


def _refusal(name: str, old: Json, new: Json, calls: Calls) -> Iterator[Change]:
    path = ("refusals", name)
    if old is None and not table(new).get("everywhere"):
        yield change("refusal-defined", INVOCATION, path, None, new, name=name)
    elif old is None or new is None:
        yield one_sided(
            "refusal", INVOCATION, path, old, new, witness=calls.refused_now, name=name, argument="Every argument"
        )
    else:
        for key, *values in differing(old, new):
            rule = "sentence-reworded" if key == "sentence" else f"refusal-{_extent(key, *values)}"
            yield change(rule, INVOCATION, (*path, key), *values, witness=calls.refused_now, name=name)


def _extent(key: str, old: Json, new: Json) -> str:
    """Whether a refusal leaves more free than before; what is not known to leave more may leave less."""
    rises = isinstance(old, int) and isinstance(new, int) and new > old
    return "wider" if (key == "maxBytes" and rises) or (key == "everywhere" and not new) else "narrower"


def _argument(name: str, old: Json, new: Json, calls: Calls) -> Iterator[Change]:
    for key, *values in differing(table(old), table(new)):
        path = ("arguments", name, key)
        if key == "refuse":
            witness = partial(calls.refused_now, name)
            yield from listed("refusal", INVOCATION, path, *map(items, values), witness=witness, argument=f"`{name}`")
        else:
            yield change(f"argument-{key}", INVOCATION, path, *values, witness=calls.different, name=name)


def _template(name: str, old: Json, new: Json, calls: Calls, known: Collection[str]) -> Iterator[Change]:
    if old is None or new is None:
        yield one_sided("template", INVOCATION, ("tools", name), old, new, name=name)
        return
    for key, *values in differing(old, new):
        rule = f"template-{key}"
        if key == "private" and set(items(values[0])) - set(items(values[1])):
            rule = "template-published"
        elif key == "argv" and _only_new(values[0], values[1], known):
            rule = "template-extended"
        witness = partial(calls.different, name)
        yield change(rule, INVOCATION, ("tools", name, key), *values, witness=witness, name=name)


def _only_new(old: Json, new: Json, known: Collection[str]) -> bool:
    """Whether a command line grew only by elements for arguments that no call could carry before."""
    return items(old) == [
        element for element in items(new) if not (is_object(element) and element.get("with") not in (None, *known))
    ]
