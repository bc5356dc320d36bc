"""Changes: each kind of change of the specification as an edit of a draft, and what it accuses a former port of.

A further kind is a function here, and an entry in the table at the end. Pure.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from drafts import (
    BEGINS,
    INVOCATION,
    LOCALE,
    OUTCOME,
    REQUIREMENTS,
    RESUMES,
    TOOLS,
    Draft,
    Edit,
    calls,
    renamed,
    replaced,
    schema,
    template,
    tool,
)

from gemini_mcp.spec.families import kebab
from gemini_mcp.spec.values import Json, JsonObject, items, table

LONGEST = ("refusals", "too-long", "maxBytes")
CONTROLS = ("*-model-escape", "chat-model-delete", "chat-model-quotes")
ENTRY, LISTS, OTHERS = "^#([0-9]+) <([^<>\\s]+)>$", ("listings-chat",), ("others-chat",)
SMALL = ("chat-prompt-too-long", "combined-chat-006")
MODEL_EDGES = ("chat-model-edges",)
ELEMENT = ("forms", "prompt", 0, "longerThan")
CALLS = ("*-everything", "outcome-chat-exit-1-usage", "outcome-chat-reply-success")
"""Conversations in which every argument, a success and a failure are seen."""


@dataclass(frozen=True)
class Change:
    """One edit. A former port is to break at least one requirement of `breaks`; where there is none, none at all.

    `shown` are the conversations that can show it, beside the list of tools.
    """

    name: str
    edit: Edit
    breaks: tuple[str, ...] = ()
    shown: tuple[str, ...] = CALLS
    variant: bool = False


def argument(name: str, declared: Json, *flag: str, tools: tuple[str, ...] = TOOLS, required: bool = False) -> Edit:
    """A new argument that becomes a flag of gemini."""

    def edit(draft: Draft) -> None:
        is_free = declared["type"] in ("string", "array") and "enum" not in declared
        value: Json = [] if declared["type"] == "boolean" else [{"argument": name}]
        line: Json = [{"join": [f"{flag[-1]}=", *value]}] if is_free else [*flag, *value]
        for each in tools:
            schema(draft, each)["properties"][name] = {**declared, "description": f"The {name} of gemini."}
            template(draft, each)["argv"].append({"with": name, "argv": line})
            draft[LOCALE]["tools"][each]["properties"][name] = f"gemini의 {name}."
            if required:
                schema(draft, each)["required"].append(name)
        for call in calls(draft) if required else ():
            call["arguments"][name] = "a value"

    return edit


def guarded_argument(name: str, flag: str, **keywords: Json) -> Edit:
    """A new argument behind a flag, in an element of its own; its schema excludes what starts with a dash."""
    own = argument(name, {**TEXT, **keywords}, flag)

    def edit(draft: Draft) -> None:
        own(draft)
        for each in TOOLS:
            template(draft, each)["argv"][-1]["argv"] = [flag, {"argument": name}]

    return edit


def without_argument(name: str) -> Edit:
    """An argument is gone from every tool, its files and its variables as well."""

    def edit(draft: Draft) -> None:
        draft[INVOCATION]["arguments"].pop(name)
        for each in TOOLS:
            schema(draft, each)["properties"].pop(name, None)
            draft[LOCALE]["tools"][each]["properties"].pop(name, None)
            _forget(template(draft, each), name)

    return edit


def _forget(own: Json, name: str) -> None:
    own["argv"] = [each for each in own["argv"] if isinstance(each, str) or each.get("with") != name]
    own["private"] = [each for each in own["private"] if each != name]
    if own.get("cwd") == name:
        del own["cwd"]
    if any(each.get("argument") == name for each in own.get("files", {}).values()):
        del own["files"], own["env"]


def renamed_argument(old: str, new: str) -> Edit:
    """An argument has another name in every file, and the same place."""

    def edit(draft: Draft) -> None:
        for each in TOOLS:
            own = schema(draft, each)
            own["properties"] = renamed(own["properties"], old, new)
            own["required"] = replaced(own["required"], old, new)
            template(draft, each).update(replaced_argument(template(draft, each), old, new))
            template(draft, each)["private"] = replaced(template(draft, each)["private"], old, new)
            draft[LOCALE]["tools"][each]["properties"] = renamed(draft[LOCALE]["tools"][each]["properties"], old, new)
        draft[INVOCATION]["arguments"] = renamed(draft[INVOCATION]["arguments"], old, new)
        draft[INVOCATION]["forms"] = replaced_argument(draft[INVOCATION]["forms"], old, new)
        for call in calls(draft):
            call["arguments"] = renamed(call["arguments"], old, new)

    return edit


def replaced_argument(document: Json, old: str, new: str) -> Json:
    """The document with another name wherever it names an argument."""
    if isinstance(document, dict):
        own: JsonObject = {key: replaced_argument(each, old, new) for key, each in table(document).items()}
        return own | {key: new for key in ("argument", "with", "cwd") if own.get(key) == old}
    if isinstance(document, list):
        return [replaced_argument(each, old, new) for each in items(document)]
    return document


def unlisted(draft: Draft) -> None:
    """No requirement asks to list the arguments of a tool."""
    family = "tools:{tool}:{argument}"
    gone = [
        {"id": f"tools:{each}:{kebab(name)}", "version": "1.1.0"}
        for each in TOOLS
        for name in schema(draft, each)["properties"]
    ]
    entries = draft[REQUIREMENTS]["requirements"]
    draft[REQUIREMENTS]["requirements"] = [each for each in entries if each["id"] != family]
    draft[REQUIREMENTS].setdefault("removed", []).extend(gone)


def new_tool(draft: Draft) -> None:
    """A third tool, which does what the first does."""
    draft[tool("summarize")] = {**draft[tool(BEGINS)], "name": "summarize", "title": "Summarize with Gemini"}
    for tools in (draft[INVOCATION]["tools"], draft[LOCALE]["tools"]):
        tools["summarize"] = replaced(tools[BEGINS], "", "")


def told_tool(name: str, *line: Json, **properties: Json) -> Edit:
    """A tool with a command line of its own, all of whose arguments are required."""

    def edit(draft: Draft) -> None:
        declared = {key: {**each, "description": f"The {key}."} for key, each in properties.items()}
        own: Json = {"type": "object", "properties": declared, "required": [*declared]}
        draft[tool(name)] = {"name": name, "description": f"Does {name}.", "inputSchema": own}
        draft[INVOCATION]["tools"][name] = {"argv": [*line, "--output-format", "json"]}
        draft[LOCALE]["tools"][name] = {"description": name, "properties": dict.fromkeys(declared, name)}

    return edit


def task_in_a_file(draft: Draft) -> None:
    """The only argument of a tool is handed over in a file."""
    template(draft, "peek").update(
        files={"TASK.md": {"argument": "task"}}, env={"GEMINI_TASK": {"file": "TASK.md"}}, private=["task"]
    )


def renamed_tool(draft: Draft) -> None:
    draft[tool("ask")] = {**draft.pop(tool(BEGINS)), "name": "ask"}
    for path in (INVOCATION, LOCALE):
        draft[path]["tools"] = renamed(draft[path]["tools"], BEGINS, "ask")
    for call in calls(draft):
        call["name"] = "ask" if call["name"] == BEGINS else call["name"]


def swapped_tools(draft: Draft) -> None:
    """Each tool has the name of the other."""
    swapped = {BEGINS: RESUMES, RESUMES: BEGINS}
    tools = {name: draft[tool(name)] for name in swapped}
    for name, other in swapped.items():
        draft[tool(other)] = {**tools[name], "name": other}
    for path in (INVOCATION, LOCALE):
        draft[path]["tools"] = {swapped[name]: each for name, each in draft[path]["tools"].items()}
    for call in calls(draft):
        call["name"] = swapped.get(call["name"], call["name"])


def removed_tool(draft: Draft) -> None:
    del draft[tool(RESUMES)], draft[LOCALE]["tools"][RESUMES]
    del draft[INVOCATION]["tools"][RESUMES], draft[INVOCATION]["arguments"]["sessionId"]
    gone = [
        path for path, document in draft.items() if any(each["name"] == RESUMES for each in calls({path: document}))
    ]
    for path in gone:
        del draft[path]


def without_beginning(draft: Draft) -> None:
    """Every tool continues a session."""
    del draft[tool(BEGINS)], draft[LOCALE]["tools"][BEGINS], draft[INVOCATION]["tools"][BEGINS]
    gone = [path for path, document in draft.items() if any(each["name"] == BEGINS for each in calls({path: document}))]
    for path in gone:
        del draft[path]


def nothing_required(draft: Draft) -> None:
    for each in TOOLS:
        schema(draft, each)["required"] = []


def required_directory(draft: Draft) -> None:
    for each in TOOLS:
        schema(draft, each)["required"].append("cwd")


def option_in_a_form(draft: Draft) -> None:
    """Some models are named by another flag."""
    short: Json = {"title": "short", "pattern": "^(?:pro|flash)$", "argv": [{"join": ["--model=gemini-", MODEL]}]}
    draft[INVOCATION]["forms"]["model"] = [short, {"title": "other", "argv": ["-m", MODEL]}]
    for each in TOOLS:
        own = template(draft, each)
        own["argv"] = [{"form": "model"}, *(part for part in own["argv"] if table(part).get("with") != "model")]


def session_by_pattern(draft: Draft) -> None:
    """A session has to be named, by an id that no usual value is."""
    own, line = schema(draft, RESUMES), template(draft, RESUMES)
    own["properties"]["sessionId"]["pattern"] = "^[0-9a-f]{8}-[0-9a-f]{4}$"
    own["required"].append("sessionId")
    line["argv"][1] = line["resumes"] = {"argument": "sessionId"}
    for call in calls(draft):
        if call["name"] == RESUMES:
            call["arguments"]["sessionId"] = "01234567-89ab"


def session_by_number(draft: Draft) -> None:
    """A session is named by its number in the list."""
    schema(draft, RESUMES)["properties"]["sessionId"].update(type="integer", minimum=1)


def no_default_session(draft: Draft) -> None:
    """A reply that names no session begins one."""
    own = template(draft, RESUMES)
    own["argv"][:2] = [{"with": "sessionId", "argv": ["-r", {"argument": "sessionId"}]}]
    own["resumes"] = {"argument": "sessionId"}


def command_line(change: Callable[[Json], Json]) -> Edit:
    """Other elements of every command line."""

    def edit(draft: Draft) -> None:
        for each in TOOLS:
            template(draft, each)["argv"] = change(template(draft, each)["argv"])

    return edit


def last_first(elements: Json) -> Json:
    """The format of the output before everything else."""
    words = ("--output-format", "json")
    return [*words, *(each for each in elements if each not in words)]


def joined_to_flags(draft: Draft) -> None:
    """What starts with a dash cannot become an option."""
    for each in TOOLS:
        others = [part for part in template(draft, each)["argv"] if table(part).get("with") != "model"]
        template(draft, each)["argv"] = [*others, {"with": "model", "argv": [{"join": ["--model=", MODEL]}]}]
    own = template(draft, RESUMES)
    own["argv"][:2] = [{"join": ["--resume=", own["argv"][1]]}]


def always_with_a_model(elements: Json) -> Json:
    """A call that names no model names the default one to gemini."""
    others = (each for each in elements if table(each).get("with") != "model")
    return [*others, "-m", {**MODEL, "default": "gemini-3-pro"}]


def value(path: str, *place: str | int, to: Json) -> Edit:
    """Another value at one place of one file."""

    def edit(draft: Draft) -> None:
        *outer, last = place
        document = draft[path]
        for step in outer:
            document = document[step]
        document[last] = to

    return edit


def word(path: str, old: str, new: str) -> Edit:
    """Another word wherever a file has the old one."""

    def edit(draft: Draft) -> None:
        draft[path] = replaced(draft[path], old, new)

    return edit


def declared(name: str, **keywords: Json) -> Edit:
    """The schema of a property says more, in every tool."""

    def edit(draft: Draft) -> None:
        for each in TOOLS:
            schema(draft, each)["properties"][name].update(keywords)

    return edit


def new_refusal(argument: str, rule: str, pattern: str, sentence: str) -> Edit:
    """Another rule refuses some values of an argument."""

    def edit(draft: Draft) -> None:
        draft[INVOCATION]["refusals"][rule] = {"pattern": pattern, "sentence": sentence}
        draft[INVOCATION]["arguments"].setdefault(argument, {}).setdefault("refuse", []).append(rule)

    return edit


def refused(argument: str, rule: str) -> Edit:
    """A rule that is there holds for one more argument."""

    def edit(draft: Draft) -> None:
        draft[INVOCATION]["arguments"].setdefault(argument, {}).setdefault("refuse", []).append(rule)

    return edit


def swapped_keys(draft: Draft) -> None:
    """The session of a result stands where its warnings stood, and they where it was."""
    meta = draft[OUTCOME]["meta"]
    meta["session"], meta["warnings"] = meta["warnings"], meta["session"]


def dropped_refusal(rule: str) -> Edit:
    def edit(draft: Draft) -> None:
        del draft[INVOCATION]["refusals"][rule]
        for own in draft[INVOCATION]["arguments"].values():
            if "refuse" in own:
                own["refuse"] = [each for each in own["refuse"] if each != rule]

    return edit


def unambiguous(*names: str) -> Edit:
    """Arguments that stand alone on the command line hold nothing that gemini takes for something else."""

    def edit(draft: Draft) -> None:
        pattern = draft[INVOCATION]["forms"]["prompt"][1]["pattern"]
        for name in names:
            new_refusal(name, "ambiguous", pattern, "`{argument}` is not for gemini. Send a sentence.")(draft)

    return edit


def private(name: str) -> Edit:
    """No error may repeat an argument."""

    def edit(draft: Draft) -> None:
        for each in TOOLS:
            template(draft, each)["private"].append(name)

    return edit


def edits(*every: Edit) -> Edit:
    """Several edits that are one change."""

    def edit(draft: Draft) -> None:
        for each in every:
            each(draft)

    return edit


def another_saying(sentence: str, pattern: str) -> Edit:
    """gemini has one more way to say why it failed."""

    def edit(draft: Draft) -> None:
        (entry,) = (each for each in draft[OUTCOME]["sentences"] if each["id"] == sentence)
        entry["stderr"] += f"|{pattern}"

    return edit


def new_exit_code(draft: Draft) -> None:
    sentence = "The sky fell down (exit code 60). Put it up again."
    entry = {"id": "exit-60", "when": "exit", "exit": [60], "sentence": sentence, "names": "sky"}
    draft[OUTCOME]["sentences"].insert(-1, {**entry, "cause": "the sky as the cause"})


def new_saying(draft: Draft) -> None:
    """Another cause is known by what gemini writes to stderr, if it ends with one exit code."""
    sentence = "Disk full (exit code {exit}). Free some space."
    entry = {"id": "disk-full", "when": "exit", "exit": [70], "stderr": "^ENOSPC: no space left$", "sentence": sentence}
    entry["names"] = "disk"
    at = next(number for number, each in enumerate(draft[OUTCOME]["sentences"]) if each["when"] == "exit")
    draft[OUTCOME]["sentences"].insert(at, entry)


def described(draft: Draft) -> None:
    """The same in other words."""
    draft[tool(BEGINS)]["description"] = "Asks Gemini something."
    schema(draft, BEGINS)["properties"]["prompt"]["description"] = "What to ask."
    draft[LOCALE]["tools"][BEGINS]["description"] = "Gemini에게 묻습니다."


def level(identifier: str, to: Literal["MUST", "SHOULD"]) -> Edit:
    """A requirement weighs more or less."""

    def edit(draft: Draft) -> None:
        (entry,) = (each for each in draft[REQUIREMENTS]["requirements"] if each["id"] == identifier)
        entry.update(sentence=entry["sentence"].replace(entry["level"], to), level=to)

    return edit


def removed_requirement(identifier: str) -> Edit:
    def edit(draft: Draft) -> None:
        entries = draft[REQUIREMENTS]["requirements"]
        draft[REQUIREMENTS]["requirements"] = [each for each in entries if each["id"] != identifier]
        draft[REQUIREMENTS].setdefault("removed", []).append({"id": identifier, "version": "1.1.0"})

    return edit


def added_requirement(draft: Draft) -> None:
    entry = {"id": ADDED, "profile": "server", "level": "MUST", "sentence": "The server MUST be cheerful."}
    source = {"kind": "decision", "reason": "Otherwise people who use it are sad, which protects nobody."}
    draft[REQUIREMENTS]["requirements"].append({**entry, "source": source, "since": "1.1.0"})


ADDED, REMOVED = "identity:mood", "rpc:error:parse"
MODEL: Json = {"argument": "model"}
TEXT, NUMBER, SWITCH = {"type": "string"}, {"type": "number"}, {"type": "boolean"}
OFF: Json = {"type": "boolean", "default": False}
LIST: Json = {"type": "array", "items": {"type": "string"}}
MODES: Json = {"type": "string", "enum": ["plan", "default"]}
MODELS = ("gemini-3-pro", "gemini-3-flash")
ONE, OTHER = (BEGINS,), (RESUMES,)

TOGETHER: tuple[tuple[Change, ...], ...] = (
    (
        Change("optional text", argument("policy", TEXT, "--policy", tools=ONE), ("tools:chat:policy",)),
        Change("optional switch", argument("sandbox", SWITCH, "--sandbox", tools=OTHER), ("tools:chat-reply:sandbox",)),
        Change("optional number", argument("budget", NUMBER, "--budget"), ("tools:chat:budget",)),
        Change("optional choice", argument("mode", MODES, "--approval-mode"), ("tools:chat:mode",), variant=True),
        Change(
            "optional list",
            argument("extensions", LIST, "--extensions", tools=ONE),
            ("tools:chat:extensions",),
            variant=True,
        ),
        Change("new tool", new_tool, ("tools:summarize",), ()),
        Change(
            "prompt behind an option",
            told_tool("explain", {"join": ["--prompt=", {"argument": "question"}]}, question=TEXT),
            ("tools:explain",),
            (),
            variant=True,
        ),
        Change("no prompt", told_tool("greet", "--prompt=Hello"), ("tools:greet",), (), variant=True),
        Change("meta key", value(OUTCOME, "meta", "session", to="session"), ("result:session-id",), variant=True),
        Change(
            "key of warnings in a result",
            value(OUTCOME, "meta", "warnings", to="remarks"),
            ("result:warnings:key",),
            OTHERS,
            variant=True,
        ),
        Change(
            "swapped meta keys",
            swapped_keys,
            ("result:session-id", "result:session-id:chat-reply"),
            (*CALLS, *OTHERS, "concurrency-chats"),
        ),
        Change("separator", value(OUTCOME, "separator", to="\nIt wrote: "), ("error:stderr",), variant=True),
    ),
    (
        Change(
            "text of both", argument("adminPolicy", TEXT, "--admin-policy"), ("tools:chat:admin-policy",), variant=True
        ),
        Change("switch of both", argument("yolo", SWITCH, "--yolo"), ("tools:chat:yolo",), variant=True),
        Change(
            "half numbers",
            argument("turns", {**NUMBER, "multipleOf": 0.5, "minimum": 0.5}, "--turns", tools=ONE),
            ("tools:chat:turns",),
            ("chat-turns-*", *CALLS),
            variant=True,
        ),
        Change(
            "choice of one", argument("mode", MODES, "--pace", tools=OTHER), ("tools:chat-reply:mode",), variant=True
        ),
        Change(
            "list of two or three",
            argument("folders", {**LIST, "minItems": 2, "maxItems": 3}, "--include-directories"),
            ("tools:chat:folders",),
            ("chat-folders-*", *CALLS),
            variant=True,
        ),
        Change("required argument", argument("reason", TEXT, "--policy", required=True), ("tools:chat:reason",)),
        Change(
            "pattern behind a flag",
            guarded_argument("taste", "--taste", pattern="^[a-z]"),
            ("tools:chat:taste",),
            variant=True,
        ),
        Change("name beyond ASCII", argument("맛", TEXT, "--flavour"), ("tools:chat:b9db",), variant=True),
        Change(
            "empty text beside the prompt",
            edits(argument("topic", TEXT, "--topic", required=True), refused("topic", "empty")),
            ("tools:chat:topic",),
            variant=True,
        ),
        Change("pattern", declared("model", pattern="^gemini-"), ("arguments:model:value",), ("*-model-upper",)),
        Change("variable", word(INVOCATION, "GEMINI_SYSTEM_MD", "GEMINI_SYSTEM_FILE"), ("system:content",)),
        Change("longest prompt", value(INVOCATION, *LONGEST, to=200_000), ("prompt:over-limit",), ("*-over-200000",)),
    ),
    (
        Change(
            "renamed prompt beside a required argument",
            edits(renamed_argument("prompt", "text"), argument("reason", TEXT, "--policy", required=True)),
            ("tools:chat:text",),
        ),
        Change("renamed session", renamed_argument("sessionId", "session"), ("tools:chat-reply:session",)),
        Change("renamed directory", renamed_argument("cwd", "folder"), ("tools:chat:folder",), variant=True),
        Change("renamed option", renamed_argument("model", "modelName"), ("tools:chat:model-name",), variant=True),
        Change("renamed tool", renamed_tool, ("tools:ask",), ()),
        Change(
            "latest",
            word(INVOCATION, "latest", "newest"),
            ("command:chat-reply:latest",),
            ("chat-reply-prompt-quotes",),
        ),
        # In some languages every object has something under this name.
        Change(
            "output key",
            value(OUTCOME, "answer", "text", to="__proto__"),
            ("result:text",),
            (*CALLS, "causes-chat"),
        ),
        Change("key of warnings", value(OUTCOME, "answer", "warnings", to="remarks"), ("result:warnings",), OTHERS),
        Change("program", value(INVOCATION, "program", to="gemini-next"), ("command:once",), variant=True),
    ),
    (
        Change("removed option", without_argument("model"), ("tools:removed",), ()),
        Change("removed directory", without_argument("cwd"), ("tools:removed",), variant=True),
        Change("removed file", without_argument("systemPrompt"), ("tools:removed",), variant=True),
        Change("removed tool", removed_tool, ("tools:removed",), (), variant=True),
        Change("prefix", value(OUTCOME, "prefix", to="gemini failed: "), ("error:prefix",)),
        Change(
            "limit of stderr", value(OUTCOME, "stderr", "maxBytes", to=2048), ("error:stderr:tail",), ("noises-chat",)
        ),
        Change("exit code", new_exit_code, ("error:exit:60",), ("causes-chat",)),
        Change("list of sessions", value(INVOCATION, "listing", "entry", to=ENTRY), ("fallback:list-sessions",), LISTS),
        Change(
            "list command",
            value(INVOCATION, "listing", "argv", to=["sessions", "list"]),
            ("fallback:list-sessions",),
            LISTS,
            variant=True,
        ),
    ),
    (
        Change(
            "no default session",
            no_default_session,
            ("command:chat-reply:no-session-id",),
            ("chat-reply-prompt-quotes",),
        ),
        Change(
            "default option",
            command_line(always_with_a_model),
            ("command:chat:no-model", "command:chat-reply:no-model"),
            ("chat-reply-prompt-quotes", *CALLS),
            variant=True,
        ),
        Change("other spelling", command_line(lambda argv: replaced(argv, "-m", "--model"))),
        Change("other order", command_line(last_first)),
        Change("other flag", command_line(lambda argv: [*argv, "--skip-trust"]), ("command:chat",)),
        Change("session key", value(OUTCOME, "answer", "session", to="sid"), ("result:session-id",), variant=True),
        Change("file name", word(INVOCATION, "SYSTEM.md", "PROMPT.md"), ("system:file-name",), variant=True),
        Change(
            "directory",
            value(INVOCATION, "temporary", "directory", to="gm-XXXXXXXX"),
            ("system:directory",),
            variant=True,
        ),
        Change("longest element", value(INVOCATION, *ELEMENT, to=64_000), ("prompt:long",), ("chat-prompt-64*",)),
        Change(
            "new refusal",
            new_refusal("prompt", "shouting", "^[A-Z ]{4,}$", "`{argument}` shouts. Write it in small letters."),
            ("arguments:refused:shouting",),
            ("chat-prompt-shouting",),
        ),
        Change(
            "refused directory",
            new_refusal("cwd", "parent", "(?:^|/)\\.\\.(?:/|$)", "`{argument}` leads upwards. Name it without `..`."),
            ("arguments:refused:parent",),
            ("chat-cwd-parent*",),
        ),
        Change(
            "no controls",
            dropped_refusal("control-character"),
            ("command:chat:model", "command:once"),
            CONTROLS,
        ),
        Change(
            "wider refusal",
            value(INVOCATION, "refusals", "option-like", "pattern", to="^[-+\u2010-\u2015]"),
            ("arguments:refused:option-like",),
            MODEL_EDGES,
        ),
        Change(
            "wider absence",
            value(INVOCATION, "arguments", "model", "absent", to="^(?:default)?$"),
            ("arguments:empty:model",),
            MODEL_EDGES,
        ),
        Change("private argument", private("model"), ("error:prompt",), ("noises-chat",)),
        Change("cause on stderr", another_saying("quota", "OUT_OF_TOKENS"), ("error:quota",), ("causes-chat",)),
    ),
    (
        Change(
            "swallowed prompt",
            command_line(lambda argv: [*reversed(argv)]),
            ("command:chat", "command:chat-reply"),
            ("*-model-upper",),
        ),
    ),
    (
        Change("asked models", value(OUTCOME, "asked", to=["usage", "perModel"]), ("result:unasked",), ("keyed-chat",)),
        Change(
            "error key", value(OUTCOME, "answer", "error", to="failure"), ("error:json-on-stderr",), ("keyed-chat",)
        ),
        Change(
            "refused and absent",
            value(INVOCATION, "arguments", "model", "refuse", to=["option-like", "control-character", "empty"]),
            ("prompt:empty",),
            ("chat-model*", "combined-chat-00*"),
        ),
        Change("withheld variables", value(INVOCATION, "environment", "withhold", to=["SETTING_*", "PATH"])),
        Change("smallest prompt", value(INVOCATION, *LONGEST, to=5000), ("prompt:over-limit",), SMALL),
        Change("nothing required", nothing_required, ("tools:chat:required",), ("chat-nothing*", *CALLS)),
        Change(
            "list with a format",
            value(INVOCATION, "listing", "argv", to=["--list-sessions", "--output-format", "text"]),
            ("fallback:list-sessions",),
            LISTS,
        ),
        Change("short list", value(INVOCATION, "listing", "timeoutSeconds", to=0.75), (), ("listing-slow-*",)),
        Change(
            "prompts of their own, or none",
            edits(
                told_tool("apply", {"join": ["--prompt=", {"argument": "question"}]}, question=TEXT),
                told_tool("greet", "-p", "Hi", "-m", {"argument": "model"}, model=TEXT),
                told_tool("hello", "--prompt=Hello"),
                told_tool("compare", {"argument": "first"}, {"argument": "second"}, first=TEXT, second=TEXT),
                unambiguous("first", "second"),
            ),
            ("tools:apply", "tools:greet", "tools:hello", "tools:compare"),
            (
                "compare-first-dash*",
                "combined-greet-00[1-3]",
                "combined-hello-001",
                "many-cancelled-hello",
                "cancel-hello-late",
            ),
        ),
    ),
    (
        Change("required directory", required_directory, ("tools:chat:required",)),
        Change(
            "refused marks",
            new_refusal("prompt", "asks", "\\?", "`{argument}` asks. Say it without a question mark."),
            ("arguments:refused:asks",),
            ("chat-prompt-asks", "concurrency-latest*"),
        ),
        Change("option in a form", option_in_a_form, ("command:chat:model",), MODEL_EDGES),
    ),
    (
        Change(
            "prompts by pattern",
            declared("prompt", pattern="^(?:Q: |[a-z])"),
            ("arguments:prompt:value",),
            ("*-prompt-number", "concurrency-sessions", "cancel-some"),
        ),
        Change(
            "option or null",
            declared("model", type=["string", "null"]),
            ("tools:chat:model",),
            ("chat-model-null", "*-model-number", *CALLS),
            variant=True,
        ),
    ),
    (
        Change(
            "ends of prompts",
            declared("prompt", pattern="[.?!]$"),
            ("arguments:prompt:value",),
            ("chat-prompt-glob", "cancel-in-line", "progress-at-once"),
        ),
        Change(
            "absolute directories",
            declared("cwd", pattern="^/"),
            ("arguments:cwd:value",),
            ("combined-chat-00[1-4]", "chat-cwd-relative*"),
        ),
        Change(
            "text in a file alone",
            edits(told_tool("peek", "--prompt=Do it.", task=TEXT), task_in_a_file),
            ("tools:peek",),
            ("peek-system-*", "system-prompts-side-by-side", "combined-peek-00[1-3]"),
        ),
        Change(
            "shortest element",
            value(INVOCATION, *ELEMENT, to=3),
            ("prompt:long",),
            ("*-prompt-quotes", "chat-cwd-null"),
        ),
        Change("new saying", new_saying, ("error:saying:disk-full",), ("causes-*",)),
        Change(
            "distrust in other words",
            another_saying("trust", "no faith in this folder"),
            ("error:saying:trust",),
            ("causes-chat",),
        ),
    ),
    (Change("swapped tools", swapped_tools, ("tools:chat:session-id",), ("progress-at-once", *CALLS)),),
    (Change("only replies", without_beginning, ("tools:removed",), ("concurrency-*", "cancel-*-late")),),
    (
        Change(
            "unlisted",
            edits(unlisted, renamed_argument("model", "modelName")),
            ("command:chat:model-name", "command:chat-reply:model-name"),
            ("chat-model-name-*", "malformed-surrogates", *CALLS),
        ),
        Change(
            "number of a session",
            session_by_number,
            ("tools:chat-reply:session-id",),
            ("cancel-some", "outcome-chat-reply-session-id-missing-none-listed", *CALLS),
        ),
        Change("off by default", argument("debug", OFF, "--debug", tools=ONE), ("tools:chat:debug",), variant=True),
        Change(
            "shortest stderr",
            value(OUTCOME, "stderr", "maxBytes", to=300),
            ("error:stderr:tail",),
            ("noises-chat", "leak-chat-prompt"),
        ),
    ),
    (Change("session by pattern", session_by_pattern, ("tools:chat-reply:required",)),),
    (
        Change(
            "renamed option, word and key",
            edits(
                renamed_argument("model", "modelName"),
                word(INVOCATION, "latest", "newest"),
                value(OUTCOME, "meta", "session", to="session"),
            ),
            ("tools:chat:model-name",),
            ("chat-reply-prompt-*", "chat-model-name-*", *LISTS, *CALLS),
            variant=True,
        ),
    ),
    (
        Change("choice of models", declared("model", enum=MODELS), ("arguments:model:value",), ("*-model-is-text",)),
        Change(
            "shortest text",
            declared("prompt", minLength=5),
            ("arguments:prompt:value",),
            ("chat-prompt-word-mcp", "*-prompt-word-help"),
        ),
        Change("described", described),
        Change("no element", value(INVOCATION, *ELEMENT, to=0), ("prompt:long",), ("*-prompt-quotes",)),
        Change("raised", level("prompt:empty:kept", "MUST")),
        Change("lowered", level("result:text", "SHOULD")),
        Change(
            "dashes",
            edits(dropped_refusal("option-like"), joined_to_flags),
            ("command:chat:model", "command:once"),
            ("chat-model-option-*",),
            variant=True,
        ),
        Change(
            "empty prompt",
            dropped_refusal("empty"),
            ("command:chat", "command:once"),
            ("*-prompt-empty",),
            variant=True,
        ),
        Change("removed requirement", removed_requirement(REMOVED)),
        Change("added requirement", added_requirement),
    ),
)
"""What stands together can be made together. A variant is like another and is judged alone when all is asked for."""
