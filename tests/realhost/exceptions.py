"""Where the program and the reference are not compared, each with the reason. Pure."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from gemini_mcp.host.adapter.configuration import mcp_add
from gemini_mcp.host.rules.profiles import profiles
from gemini_mcp.host.settings.jsonc import BrokenJson
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import SURROGATE, Json, JsonObject, inside, items, table

_ANSWERS = "A person answers at a terminal; headless, the CLI refuses every tool or allows every tool."

EXCEPTIONS: Mapping[str, str] = dict.fromkeys(
    ("allow-server", "allow-tool", "cancel", "extension-trust", "no-terminal", "proceed-once"), _ANSWERS
)
"""The scenarios that the program cannot play headless."""


_COMMA_TOO_MANY = re.compile(r",(?:\s|//.*|/\*.*?\*/)*[}\]]")


@dataclass(frozen=True)
class Difference:
    """Answers of a behaviour that may differ, in one profile."""

    behaviour: str
    profile: str
    reason: str
    covers: Callable[[JsonObject, Json, Json], bool]
    """Whether this input, with our answer and theirs, is one."""


def _is_guides_line(given: JsonObject, ours: Json, theirs: Json) -> bool:
    """Whether words stand beside the named arguments, or a text is submitted."""
    rest = re.sub(profiles()["documented"].named_argument, "", str(given.get("args")))
    return bool(rest.strip()) or inside(theirs, "result", "type") == "submit_prompt"


def _is_joined(given: JsonObject, ours: Json, theirs: Json) -> bool:
    """Whether only the model's parts differ, of a result of several."""
    several = len(items(inside(theirs, "llmContent"))) > 1
    return several and {**table(ours), "modelParts": 0} == {**table(theirs), "modelParts": 0}


def _is_unasked(given: JsonObject, ours: Json, theirs: Json) -> bool:
    """Whether a server was asked for nothing, and its log was read before the notification came."""
    asked = ["initialize"]
    return inside(theirs, "clientRequests") == asked and inside(ours, "clientRequests")[:1] == asked


def _is_debugging(given: JsonObject, ours: Json, theirs: Json) -> bool:
    """Whether only `--debug` was asked for and the program told what else it did."""
    told = re.sub(r"Ignore file not found: .*?\\n", "", json.dumps(theirs))
    return told == json.dumps(ours)


def _exits(output: Json, unlike: Json = None) -> list[Json]:
    """How the lines ended, or those of them that ended otherwise there."""
    steps, others = items(inside(output, "steps")), items(inside(unlike, "steps"))
    return [step["exit"] for step in steps if step not in others]


def _is_javascript_error(given: JsonObject, ours: Json, theirs: Json) -> bool:
    return "An unexpected critical error occurred:" in str(theirs)


def _is_spaced_otherwise(given: JsonObject, ours: Json, theirs: Json) -> bool:
    """Whether only white space differs."""
    own, other = (re.sub(r"\\n|\s", "", json.dumps(output)) for output in (ours, theirs))
    return own == other


def _is_laid_out(given: JsonObject, ours: Json, theirs: Json) -> bool:
    """Whether only the white space of files with comments differs."""
    return _is_spaced_otherwise(given, ours, theirs) and re.search(r"//|/\*", str(given.get("files"))) is not None


def _is_of_another_section(given: JsonObject, ours: Json, theirs: Json) -> bool:
    """Whether the program complains of one, and both go on in the same way."""
    told, own = str(inside(theirs, "stderr")), str(inside(ours, "stderr"))
    named = re.search(r"^Error in: (?!mcp(?:Servers)?\b)", told, re.MULTILINE)
    return named is not None and inside(ours, "exit") == inside(theirs, "exit") and told.endswith(own)


def _is_told_with_stack(given: JsonObject, ours: Json, theirs: Json) -> bool:
    """Whether both end with the same JavaScript error, which the program tells with its stack."""
    before, error, _ = str(inside(ours, "stderr")).partition("An unexpected critical error occurred:")
    told = str(inside(theirs, "stderr"))
    return inside(ours, "exit") == inside(theirs, "exit") == 1 and bool(error) and told.startswith(before + error)


def _ends_with_stacks(given: JsonObject, ours: Json, theirs: Json) -> bool:
    """Whether all is alike but for such stacks; of a long text only the beginning is known."""
    pairs = list(zip(items(inside(ours, "steps")), items(inside(theirs, "steps")), strict=True))
    is_alike = all(step == other or _is_cut_stack(step, other) for step, other in pairs)
    return is_alike and {**table(ours), "steps": 0} == {**table(theirs), "steps": 0}


def _is_cut_stack(ours: Json, theirs: Json) -> bool:
    told = re.sub(r"\n    at .*", "", str(inside(theirs, "stderr")), flags=re.DOTALL).removesuffix("...")
    is_alike = {**table(ours), "stderr": 0} == {**table(theirs), "stderr": 0}
    return is_alike and inside(theirs, "exit") == 1 and str(inside(ours, "stderr")).startswith(told)


def _is_warned_of_timeout(given: JsonObject, ours: Json, theirs: Json) -> bool:
    """Whether Node tells, with its process id, of a time-out that it shortens."""
    warning = r"\(node:\d+\) TimeoutOverflowWarning: .*\n.*\n\(Use `node .*\n"
    told = re.sub(warning, "", str(inside(theirs, "stderr")))
    return {**table(theirs), "stderr": told} == ours


def _rules_of_its_day() -> Rules:
    """The rules of `gemini mcp` that 0.1.19 had, where the guide has others."""
    guide = profiles()["documented"]
    add = guide.command_options["add"]
    lists = {name: {**option, "takes": "all"} for name, option in add["options"].items() if "takes" in option}
    options = {**add, "keepsRest": False, "options": {**add["options"], **lists}}
    return replace(
        guide,
        command_options={**guide.command_options, "add": options},
        add_words="as-yargs",
        checks_timeout=False,
        cuts_variables=True,
        splits_tools=False,
        stdio_line="{command} {arguments} (stdio)",
    )


def _of_its_day(given: JsonObject) -> Mapping[str, Json]:
    """The answer by those rules; nothing of a file that is no JSON."""
    try:
        return table(mcp_add(given, _rules_of_its_day()))
    except BrokenJson:
        return {}


def _is_read_by_the_guide(given: JsonObject, ours: Json, theirs: Json) -> bool:
    """Whether the program answers as its own rules say, which the guide contradicts."""
    return _of_its_day(given) == theirs


def _is_error_of_its_day(given: JsonObject, ours: Json, theirs: Json) -> bool:
    """Whether the program fails with a JavaScript error, told behind its usage, and does all else by its own rules."""
    own = _of_its_day(given)
    steps = zip(items(own.get("steps")), items(inside(theirs, "steps")), strict=True)
    is_alike = all(step == other or _is_error(step, other) for step, other in steps)
    return is_alike and {**own, "steps": 0} == {**table(theirs), "steps": 0}


def _is_error(ours: Json, theirs: Json) -> bool:
    """Whether a line ends with an error there, which is cut off behind a long usage, but told here."""
    told = str(inside(theirs, "stderr"))
    is_cut = "An unexpected critical error occurred:" in str(inside(ours, "stderr")) and told.startswith("Usage:")
    return inside(theirs, "exit") == 1 and (is_cut or re.search("^TypeError: ", told, re.MULTILINE) is not None)


def _is_broken(given: JsonObject, ours: Json, theirs: Json) -> bool:
    """Whether the program ends since a settings file is no JSON for it, or takes a list or nothing for an object."""
    ends = (str(step["stderr"]).startswith("Error in <ROOT>") for step in items(inside(theirs, "steps")))
    files = table(given.get("files"))
    return any(ends) or any(text in ("[]", "null") for text in files.values()) or _is_left(files, theirs)


def _is_left(files: Mapping[str, Json], theirs: Json) -> bool:
    """Whether, of a file with a comma too many, only the text is told, and it is as it was."""
    is_broken = any(_COMMA_TOO_MANY.search(str(text)) for text in files.values())
    is_kept = all(inside(theirs, f"{scope}Settings") == text for scope, text in files.items())
    return is_broken and is_kept and "steps" not in table(theirs)


def _is_bare_text(given: JsonObject, ours: Json, theirs: Json) -> bool:
    blocks = items(inside(given, "callToolResult", "content"))
    texts = (table(block.get("resource", block)).get("text") for block in map(table, blocks))
    kinds = (inside(block, "type") for block in blocks)
    return any(
        kind in ("text", "resource") and not isinstance(text, str) for kind, text in zip(kinds, texts, strict=True)
    )


def _is_read_side_by_side(given: JsonObject, ours: Json, theirs: Json) -> bool:
    """Whether only the order of lines differs, where several extensions are read."""
    own, other = (sorted(str(inside(output, "said")).split("\n")) for output in (ours, theirs))
    return own == other and len(table(given.get("files"))) > 1


def _is_of_enablement(given: JsonObject, ours: Json, theirs: Json) -> bool:
    """Whether the program also says that the file of what is enabled is faulty."""
    told = str(inside(theirs, "said")).replace("Failed to read extension enablement config.\n", "")
    return told == inside(ours, "said")


DIFFERENCES: Sequence[Difference] = (
    Difference(
        "prompt-args",
        "documented",
        "The guide fills arguments by position, quoted ones too, and submits the text as it is; 0.1.19 did neither.",
        _is_guides_line,
    ),
    Difference(
        "content-to-parts",
        "documented",
        "The guide combines all texts in one response; 0.1.18 put them beside it.",
        _is_joined,
    ),
    Difference(
        "content-to-parts",
        "documented",
        "A text that is absent or no text, which the SDK refuses before it gets here.",
        _is_bare_text,
    ),
    Difference(
        "discovery",
        "documented",
        "The guide lists resources; 0.1.18 did not know them.",
        lambda given, ours, theirs: "resource" in str(given),
    ),
    Difference("discovery", "documented", "The server's log is read before it has written.", _is_unasked),
    Difference(
        "discovery",
        "documented",
        "A server that starts in less or more than its timeout, as the machine has time for it.",
        lambda given, ours, theirs: inside(given, "serverSpec", "spec", "delay") is not None,
    ),
    Difference(
        "schema-sanitisation",
        "documented",
        "The guide cleans the schemas of tools; 0.1.18 handed them on untouched.",
        lambda given, ours, theirs: "schema" in given or all("parameters" in table(one) for one in (ours, theirs)),
    ),
    Difference(
        "discovery",
        "current",
        "Node reads a `data:` address out of itself, and the program takes that for an answer; here it is refused.",
        lambda given, ours, theirs: (
            re.search(r'"(?:url|httpUrl)": "\s*data:', json.dumps(given), re.IGNORECASE) is not None
        ),
    ),
    Difference(
        "extensions",
        "current",
        "Several extensions are read side by side, and what is said of them comes as the reading ends.",
        _is_read_side_by_side,
    ),
    Difference(
        "extensions",
        "current",
        "The program says for each extension that the file of what is enabled is faulty; it is ignored in both.",
        _is_of_enablement,
    ),
    Difference(
        "policy",
        "current",
        "A server named `__proto__`, which the program loses when it reads its settings, before it asks this.",
        lambda given, ours, theirs: "__proto__" in table(inside(given, "settings", "mcpServers")),
    ),
    Difference("discovery", "current", "The server's log is read before it has written.", _is_unasked),
    Difference(
        "discovery",
        "current",
        "A server that starts in less or more than its timeout, as the machine has time for it.",
        lambda given, ours, theirs: inside(given, "serverSpec", "spec", "delay") is not None,
    ),
    Difference(
        "transport",
        "documented",
        "The guide connects first and lets the 401 start the flow; 0.1.18 refused to connect without a token.",
        lambda given, ours, theirs: bool(inside(given, "config", "oauth", "enabled")),
    ),
    Difference(
        "oauth",
        "documented",
        "The guide cleans up expired tokens; 0.1.18 kept one that it could not refresh.",
        lambda given, ours, theirs: "tokenStillStored" in table(theirs),
    ),
    Difference(
        "server-filter",
        "documented",
        "A server whose name is empty, which 0.1.19 overlooked in its lists.",
        lambda given, ours, theirs: "" in given["servers"],
    ),
    Difference(
        "mcp-add",
        "documented",
        "0.1.19 ends at a settings file that is empty or has a comma too many, and goes on with one that is no object.",
        _is_broken,
    ),
    Difference(
        "mcp-add",
        "documented",
        "The guide has flags before the command, each with one value, gives the server all behind it, splits lists.",
        _is_read_by_the_guide,
    ),
    Difference(
        "mcp-add",
        "documented",
        "0.1.19 lays the whole of a file out anew; here the rest of it stays as it was written.",
        _is_spaced_otherwise,
    ),
    Difference(
        "mcp-add",
        "documented",
        "A JavaScript error ends the program, with its stack.",
        _is_javascript_error,
    ),
    Difference(
        "mcp-add",
        "documented",
        "A JavaScript error ends 0.1.19 behind its usage: a server that is null, a flag of an object for a list.",
        _is_error_of_its_day,
    ),
    Difference(
        "mcp-add",
        "current",
        "Gemini CLI lays the whole of a file with comments out anew; here the rest of it stays as it was written.",
        _is_laid_out,
    ),
    Difference(
        "settings-validation",
        "current",
        "What is wrong in other sections than `mcp` and `mcpServers` is not said.",
        _is_of_another_section,
    ),
    Difference(
        "mcp-add",
        "current",
        "`--debug` makes the program tell of other files too.",
        _is_debugging,
    ),
    Difference(
        "mcp-add",
        "current",
        "A line without a command goes on as a session, and tells what it misses of its terminal.",
        lambda given, ours, theirs: _exits(ours, unlike=theirs) == [42],
    ),
    Difference(
        "mcp-add",
        "current",
        "The usage names a flag of three dashes beside the one that it stands for.",
        lambda given, ours, theirs: "'---" in str(given["commands"]) and _exits(ours) == _exits(theirs),
    ),
    Difference(
        "mcp-add",
        "current",
        "Half a pair of UTF-16, which neither a command line nor a file can hold.",
        lambda given, ours, theirs: SURROGATE.search(json.dumps(given, ensure_ascii=False)) is not None,
    ),
    Difference(
        "mcp-add",
        "current",
        "Gemini CLI cannot read the control characters and line separators that it writes; here it can.",
        lambda given, ours, theirs: re.search(r"\\u(001c|202[89])", json.dumps(given)) is not None,
    ),
    Difference(
        "settings-validation",
        "current",
        "A warning of Node, of a time-out of more than 24 days, stands between the lines of the list.",
        _is_warned_of_timeout,
    ),
    Difference(
        "settings-validation",
        "current",
        "A JavaScript error ends the program, with its stack.",
        _is_told_with_stack,
    ),
    Difference(
        "mcp-add",
        "current",
        "A JavaScript error ends the program, with its stack.",
        _ends_with_stacks,
    ),
)


def reason(behaviour: str, profile: str, given: JsonObject, ours: Json, theirs: Json) -> str | None:
    """Why these answers may differ; nothing when they may not."""
    known = (one for one in DIFFERENCES if (one.behaviour, one.profile) == (behaviour, profile))
    return next((one.reason for one in known if one.covers(given, ours, theirs)), None)
