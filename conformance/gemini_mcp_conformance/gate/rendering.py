"""Command lines rendered from `invocation.json`: a tool and its arguments in, what would be run out. Pure.

Only what a comparison needs: it shows that two templates differ, and by which call. It is not the reference's plan.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from gemini_mcp_conformance.gate.positions import Json


def rendered(invocation: Json, tool: str, arguments: Mapping[str, str]) -> Json:
    """What `invocation` makes of a call: the refusal, or the command line with its files, environment and stdin."""
    present = {name: value for name, value in arguments.items() if not _absent(invocation, name, value)}
    if refusal := refused(invocation, arguments):
        return {"refused": refusal}
    template = invocation["tools"][tool]
    stdin: list[str] = []
    argv = [invocation["program"], *_elements(template["argv"], present, invocation, stdin)]
    files = {
        name: present[value["argument"]]
        for name, value in template.get("files", {}).items()
        if value["argument"] in present
    }
    env = {name: value["file"] for name, value in template.get("env", {}).items() if value["file"] in files}
    held = {"stdin": "".join(stdin), "files": files, "env": env, "cwd": present.get(template.get("cwd"))}
    return {"argv": argv, **{key: value for key, value in held.items() if value}}


def refused(invocation: Json, arguments: Mapping[str, str]) -> str | None:
    """The name of the refusal that holds for a call, if any."""
    for argument, value in arguments.items():
        rule = invocation["arguments"].get(argument, {})
        for name, entry in invocation["refusals"].items():
            applies = entry.get("everywhere") or name in rule.get("refuse", ())
            if applies and not _absent(invocation, argument, value) and _fits(entry, "maxBytes", value):
                return name
    return None


def samples(names: Iterable[str], sizes: Iterable[tuple[str, int]]) -> Iterator[dict[str, str]]:
    """Calls that tell templates apart: each argument there and not there, and values that need care."""
    full = {name: f"some {name}" for name in names}
    yield full
    for name in names:
        yield {other: value for other, value in full.items() if other != name}
        yield {name: full[name]}
        for value in (
            "",
            " ",
            "-x",
            "--help",
            "help",
            "mcp",
            "12",
            "0x1f",
            "a\nb",
            "a\u0000b",
            "\x1b",
            "@file",
            "/help",
        ):
            yield {**full, name: value}
    yield from ({**full, name: "a" * size} for name, size in sizes if name in full)


def sizes(invocation: Json) -> set[tuple[str, int]]:
    """The lengths just beyond every limit that an invocation names, with the argument that it limits."""
    forms = {(name, form.get("longerThan")) for name, cases in invocation["forms"].items() for form in cases}
    named = {
        (argument, invocation["refusals"].get(refusal, {}).get("maxBytes"))
        for argument, rule in invocation["arguments"].items()
        for refusal in rule.get("refuse", ())
    }
    return {(name, limit + 1) for name, limit in forms | named if isinstance(limit, int)}


def _elements(template: Json, present: Mapping[str, str], invocation: Json, stdin: list[str]) -> Iterator[str]:
    for element in template:
        match element:
            case str():
                yield element
            case {"form": str(name)}:
                if (form := _form(invocation["forms"][name], present.get(name, ""))) is not None:
                    stdin += [_value(form["stdin"], present)] if "stdin" in form else []
                    yield from _elements(form["argv"], present, invocation, stdin)
            case {"join": parts}:
                yield "".join(part if isinstance(part, str) else _value(part, present) for part in parts)
            case {"with": str(name), "argv": inner}:
                if name in present:
                    yield from _elements(inner, present, invocation, stdin)
            case _:
                yield _value(element, present)


def _form(forms: Json, value: str) -> Json | None:
    return next((form for form in forms if _fits(form, "longerThan", value)), None)


def _fits(entry: Json, bound: str, value: str) -> bool:
    longer = bound not in entry or len(value.encode("utf-8", "surrogatepass")) > entry[bound]
    return longer and ("pattern" not in entry or re.search(entry["pattern"], value) is not None)


def _value(element: Json, present: Mapping[str, str]) -> str:
    return present.get(element["argument"], element.get("default", ""))


def _absent(invocation: Json, name: str, value: str) -> bool:
    pattern = invocation["arguments"].get(name, {}).get("absent")
    return pattern is not None and re.search(pattern, value) is not None
