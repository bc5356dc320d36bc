"""Labelled changes of the specification: what each edit means forwards and, where it is undone, backwards.

A row is one change. Its labels say whom it breaks and which part of the version it raises. A row that lint refuses as
well belongs here too: `diff` is asked alone.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TypeAlias

from editing import Edit, Place, changed, deleted, document, replaced, requirement, small, swapped, without, written

from gemini_mcp.spec.values import Json
from gemini_mcp_spec.diff.rules import Severity
from gemini_mcp_spec.files.version import Bump

Label: TypeAlias = tuple[Severity | None, Bump]

BREAK = Severity.CALLERS, Bump.MAJOR
PORTS = Severity.PORTS, Bump.MAJOR
FREE = Severity.NOTICE, Bump.MINOR
"""Nobody is wrong by it: ports may have to take more, or a SHOULD says something else."""
WORDS = Severity.NOTICE, Bump.PATCH
NEW = Severity.COMPATIBLE, Bump.MINOR
MORE = Severity.COMPATIBLE, Bump.PATCH
KEPT = Severity.COMPATIBLE, Bump.NONE
NOTHING = None, Bump.NONE

CHAT, REPLY = "server/tools/chat.json", "server/tools/chat-reply.json"
INVOCATION, OUTCOME, KO = "server/invocation.json", "server/outcome.json", "server/locales/ko.json"
LIVE, STREAM = "server/live.json", "server/streams/answer.json"
SUCCESS, ERROR = "server/results/success.schema.json", "server/results/error.schema.json"
CASE, SHOWN, UNSIGNED = (f"server/cases/{name}.json" for name in ("chat-model", "text-warnings", "exit-41"))
SCENARIO, SCRIPT = "server/scenarios/cancel.json", "server/scripts/success.json"
CROSSED = "server/scenarios/answers-in-reverse-order.json"
REQUIREMENTS, MANIFEST, RELEASED = "requirements.json", "manifest.json", "released/1.0.0.json"
VECTORS, HOSTED = "host/vectors/tool-filter.json", "host/scenarios/comments.json"
TIMED = "host/scenarios/call-timeout.json"
SETTINGS, RULES = "host/settings.schema.json", "host/profiles/current.json"
MUST, SHOULD, FAMILY = (
    requirement(name) for name in ("identity:name", "identity:version", "arguments:{argument}:missing")
)
EXCLUDED, DECIDED = (requirement(name) for name in ("rpc:batch", "rpc:error:parse"))
ENTRY = document(REQUIREMENTS)["requirements"][MUST]
COUNT = len(document(REQUIREMENTS)["requirements"])
PROPERTIES = ["inputSchema", "properties"]
SERVER, OAUTH = ["$defs", "server", "properties"], ["$defs", "oauth", "properties"]
COMMAND = ["tools", "chat", "argv"]
MODEL = {"argument": "model"}

invocation, outcome, chat = partial(changed, INVOCATION), partial(changed, OUTCOME), partial(changed, CHAT)
settings, success, error = partial(changed, SETTINGS), partial(changed, SUCCESS), partial(changed, ERROR)


def level(index: int, old: str, new: str) -> Edit:
    entry = document(REQUIREMENTS)["requirements"][index]
    sentence = entry["sentence"].replace(old, new)
    return changed(REQUIREMENTS, ["requirements", index], {**entry, "level": new, "sentence": sentence})


def added(identifier: str, keyword: str) -> Edit:
    entry = {**ENTRY, "id": identifier, "level": keyword, "sentence": f"The server {keyword} be kind."}
    return changed(REQUIREMENTS, ["requirements", COUNT], entry)


def entry(index: int, place: Place, value: Json) -> Edit:
    """A requirement has another value at `place`."""
    return changed(REQUIREMENTS, ["requirements", index, *place], value)


def reworded(old: str, new: str) -> Edit:
    """The sentence of a MUST has other words."""
    return entry(MUST, ["sentence"], ENTRY["sentence"].replace(old, new))


def sentence(identifier: str) -> int:
    """The index of a sentence of `outcome.json`."""
    return next(index for index, each in enumerate(document(OUTCOME)["sentences"]) if each["id"] == identifier)


def said(identifier: str, key: str, value: Json) -> Edit:
    return outcome(["sentences", sentence(identifier), key], value)


def commanded(*elements: Json) -> Edit:
    """The command line of `chat`."""
    return invocation(COMMAND, [*elements])


def spelled(old: str, new: str) -> list[Edit]:
    """Another spelling in the command lines of both tools."""
    return [replaced(INVOCATION, old, new), replaced(INVOCATION, old, new)]


PROMPT, JSON_OUTPUT, WITH_MODEL = (
    document(INVOCATION)["tools"]["chat"]["argv"][0],
    ["--output-format", "json"],
    {
        "with": "model",
        "argv": ["-m", MODEL],
    },
)
SEED = {"with": "seed", "argv": ["--seed", {"argument": "seed"}]}
FORM = document(INVOCATION)["forms"]["prompt"]

Row: TypeAlias = tuple[Edit | Sequence[Edit], Label, Label]

TOOLS: Mapping[str, Row] = {
    "a tool comes": (written("server/tools/ask.json", {**document(CHAT), "name": "ask"}), NEW, BREAK),
    "a tool is renamed": (chat(["name"], "talk"), BREAK, BREAK),
    "an argument becomes required": (chat(["inputSchema", "required", 1], "cwd"), BREAK, PORTS),
    "the prompt may be left out": (chat(["inputSchema", "required"], []), PORTS, BREAK),
    "an argument changes its type": (chat([*PROPERTIES, "model", "type"], "integer"), BREAK, BREAK),
    "an argument may also be a number": (chat([*PROPERTIES, "model", "type"], ["string", "number"]), FREE, BREAK),
    "an argument goes": (without(CHAT, [*PROPERTIES, "model"]), BREAK, FREE),
    "a private argument goes": (
        [
            without(CHAT, [*PROPERTIES, "systemPrompt"]),
            *(without(INVOCATION, ["tools", "chat", key]) for key in ("files", "env")),
            invocation(["tools", "chat", "private"], ["prompt"]),
        ],
        BREAK,
        FREE,
    ),
    "an argument comes": (chat([*PROPERTIES, "seed"], {"type": "string"}), FREE, BREAK),
    "an argument is enumerated": (chat([*PROPERTIES, "model", "enum"], ["gemini-3-pro"]), BREAK, FREE),
    "an empty argument is forbidden, which a rule refuses": (chat([*PROPERTIES, "prompt", "minLength"], 1), FREE, FREE),
    "an argument is as short as a rule demands": (chat([*PROPERTIES, "prompt", "maxLength"], 8388608), FREE, FREE),
    "an argument must be long": (chat([*PROPERTIES, "model", "minLength"], 3), BREAK, FREE),
    "an argument must be short": (chat([*PROPERTIES, "prompt", "maxLength"], 100), BREAK, FREE),
    "an argument must match": (chat([*PROPERTIES, "model", "pattern"], "^gemini-"), BREAK, FREE),
    "other arguments are refused": (chat(["inputSchema", "additionalProperties"], False), BREAK, FREE),
    "an argument gets a default": (chat([*PROPERTIES, "model", "default"], "gemini-3-pro"), FREE, BREAK),
    "an argument gets an example": (chat([*PROPERTIES, "model", "examples"], ["gemini-3-pro"]), WORDS, WORDS),
    "an argument is described otherwise": (chat([*PROPERTIES, "cwd", "description"], "Where."), WORDS, WORDS),
    "a description changes": (chat(["description"], "Starts a session."), WORDS, WORDS),
    "a title changes": (chat(["title"], "Ask Gemini"), WORDS, WORDS),
    "a hint's title changes": (chat(["annotations", "title"], "Ask Gemini"), WORDS, WORDS),
    "openWorldHint is denied": (chat(["annotations", "openWorldHint"], False), WORDS, BREAK),
    "readOnlyHint is claimed": (chat(["annotations", "readOnlyHint"], True), BREAK, BREAK),
    "destructiveHint is denied": (chat(["annotations", "destructiveHint"], False), BREAK, BREAK),
    "idempotentHint is claimed": (chat(["annotations", "idempotentHint"], True), WORDS, BREAK),
    "a hint is left to its default": (without(CHAT, ["annotations", "readOnlyHint"]), WORDS, WORDS),
    "all hints go": (without(CHAT, ["annotations"]), WORDS, WORDS),
    "a description in Korean changes": (changed(KO, ["tools", "chat", "description"], "시작"), WORDS, WORDS),
    "a locale goes": (deleted(KO), BREAK, NEW),
    "nothing says how gemini tells what it does": (deleted(LIVE), FREE, NEW),
    "a line of gemini means something else": (changed(LIVE, ["events", 0, "is"], "nothing"), FREE, FREE),
    "a stream goes": (deleted(STREAM), WORDS, MORE),
    "a stream is another": (changed(STREAM, ["description"], "Something else."), WORDS, WORDS),
}

COMMANDS: Mapping[str, Row] = {
    "a refusal that only Python reads": (
        invocation(["refusals", "option-like", "pattern"], "(?P<dash>^-)"),
        WORDS,
        WORDS,
    ),
    "a line of the list may go on": (
        invocation(["listing", "entry"], document(INVOCATION)["listing"]["entry"].replace("[^\\[\\]]*$", ".*$")),
        PORTS,
        PORTS,
    ),
    "the long spelling of a flag": (spelled('"-m", {', '"--model", {'), WORDS, WORDS),
    "the short spelling of a flag": (spelled('"--output-format"', '"-o"'), WORDS, WORDS),
    "a flag joined to its value": (
        spelled('"--output-format",\n        "json"', '"--output-format=json"'),
        WORDS,
        WORDS,
    ),
    "a value joined to its flag": (
        commanded(PROMPT, *JSON_OUTPUT, {"with": "model", "argv": [{"join": ["--model=", MODEL]}]}),
        WORDS,
        WORDS,
    ),
    "the options in another order": (commanded(PROMPT, WITH_MODEL, *JSON_OUTPUT), WORDS, WORDS),
    "the prompt behind the options": (commanded(*JSON_OUTPUT, WITH_MODEL, PROMPT), WORDS, WORDS),
    "a session resumed by the long flag": (replaced(INVOCATION, '"-r",', '"--resume",'), WORDS, WORDS),
    "a flag of something else": (commanded(PROMPT, *JSON_OUTPUT, {**WITH_MODEL, "argv": ["-e", MODEL]}), PORTS, PORTS),
    "a flag comes": (invocation([*COMMAND, 4], "--yolo"), PORTS, PORTS),
    "a flag comes that gemini does not know": (invocation([*COMMAND, 4], "--fancy"), PORTS, PORTS),
    "another output format": (replaced(INVOCATION, '"json"', '"stream-json"'), PORTS, PORTS),
    "no output format": (commanded(PROMPT, WITH_MODEL), PORTS, PORTS),
    "the model is handed over no longer": (commanded(PROMPT, *JSON_OUTPUT), PORTS, PORTS),
    "another default session is resumed": (
        invocation(["tools", "chat-reply", "argv", 1, "default"], "1"),
        PORTS,
        PORTS,
    ),
    "no default session is resumed": (without(INVOCATION, ["tools", "chat-reply", "argv", 1, "default"]), PORTS, PORTS),
    "the program is another": (invocation(["program"], "gemini-cli"), PORTS, PORTS),
    "a file has another name": (replaced(INVOCATION, '"files": { "SYSTEM.md"', '"files": { "S.md"'), PORTS, PORTS),
    "a file holds another argument": (
        invocation(["tools", "chat", "files", "SYSTEM.md", "argument"], "model"),
        PORTS,
        PORTS,
    ),
    "a variable has another name": (replaced(INVOCATION, '"GEMINI_SYSTEM_MD"', '"SYSTEM_MD"'), PORTS, PORTS),
    "a variable goes": (without(INVOCATION, ["tools", "chat", "env"]), PORTS, PORTS),
    "a variable is withheld": (invocation(["environment", "withhold", 1], "AWS_*"), FREE, FREE),
    "variables are not inherited": (invocation(["environment", "inherit"], False), FREE, FREE),
    "files get another mode": (invocation(["temporary", "fileMode"], "0644"), FREE, FREE),
    "their directory gets another mode": (invocation(["temporary", "directoryMode"], "0755"), FREE, FREE),
    "their directory has another name": (invocation(["temporary", "directory"], "mcp-XXXXXX"), PORTS, PORTS),
    "an argument is private no longer": (invocation(["tools", "chat", "private"], ["prompt"]), BREAK, FREE),
    "the working directory is another argument": (invocation(["tools", "chat", "cwd"], "model"), PORTS, PORTS),
    "the working directory is the server's": (without(INVOCATION, ["tools", "chat", "cwd"]), PORTS, PORTS),
    "a template goes": (without(INVOCATION, ["tools", "chat"]), PORTS, NEW),
    "shorter texts go over stdin": (invocation(["forms", "prompt", 0, "longerThan"], 1000), FREE, FREE),
    "a long text goes on the command line": (without(INVOCATION, ["forms", "prompt", 0]), FREE, FREE),
    "a dash has no form of its own": (without(INVOCATION, ["forms", "prompt", 1]), PORTS, PORTS),
    "a form behind a flag that takes no dash": (
        invocation(["forms", "prompt", 1, "argv"], ["-p", {"argument": "prompt"}]),
        PORTS,
        PORTS,
    ),
    "a form behind the letter of its flag": (
        invocation(["forms", "prompt", 1, "argv"], [{"join": ["-p=", {"argument": "prompt"}]}]),
        WORDS,
        WORDS,
    ),
    "forms that exclude each other change places": (
        [
            invocation(
                ["forms", "prompt"], [{**FORM[1], "pattern": "^-"}, {**FORM[1], "pattern": "^[a-z]+$"}, FORM[2]]
            ),
            swapped(INVOCATION, ["forms", "prompt"], 0, 1),
        ],
        PORTS,
        PORTS,
    ),
    "the ordinary form comes first": (swapped(INVOCATION, ["forms", "prompt"], 1, 2), PORTS, PORTS),
    "a pattern of a form is rewritten": (replaced(INVOCATION, '"^-|^(?:mcp', '"^[-]|^(?:mcp'), WORDS, WORDS),
    "a pattern of a form loses gemini's default command": (replaced(INVOCATION, "|\\\\$0)", ")"), PORTS, PORTS),
    "a pattern of a form loses a word": (replaced(INVOCATION, "|gemma|help|", "|gemma|"), PORTS, PORTS),
    "a form has another title": (invocation(["forms", "prompt", 2, "title"], "anything else"), WORDS, WORDS),
    "blanks count as absent where gemini drops them": (
        invocation(["arguments", "model", "absent"], "^\\s*$"),
        WORDS,
        WORDS,
    ),
    "blanks count as absent": (invocation(["arguments", "cwd", "absent"], "^\\s*$"), FREE, PORTS),
    "what is absent is rewritten": (invocation(["arguments", "model", "absent"], "^(?:)$"), WORDS, WORDS),
    "an argument is refused": (invocation(["arguments", "cwd", "refuse"], ["option-like"]), BREAK, FREE),
    "a refusal is for every argument": (invocation(["refusals", "option-like", "everywhere"], True), BREAK, FREE),
    "a refusal covers more": (invocation(["refusals", "too-long", "maxBytes"], 1000), BREAK, FREE),
    "a refusal has a wider pattern": (invocation(["refusals", "option-like", "pattern"], "^[-+]"), BREAK, FREE),
    "a refusal has a narrower pattern": (invocation(["refusals", "option-like", "pattern"], "^--"), FREE, BREAK),
    "a refusal has another pattern": (invocation(["refusals", "option-like", "pattern"], "^[+]"), BREAK, BREAK),
    "a refusal is renamed": (replaced(INVOCATION, '"option-like"', '"like-an-option"', 3), WORDS, WORDS),
    "a refusal is rewritten": (invocation(["refusals", "option-like", "pattern"], "^(?:-)"), WORDS, WORDS),
    "a refusal is said otherwise": (invocation(["refusals", "nul", "sentence"], "`{argument}`."), WORDS, WORDS),
    "a refusal is defined": (
        invocation(["refusals", "capital"], {"pattern": "[A-Z]", "sentence": "`{argument}` has capitals."}),
        MORE,
        MORE,
    ),
    "the listing is asked otherwise": (invocation(["listing", "argv", 0], "--sessions"), PORTS, PORTS),
    "the listing is asked with another option": (
        invocation(["listing", "argv"], ["--list-sessions", "--all"]),
        PORTS,
        PORTS,
    ),
    "the listing is spelled otherwise": (invocation(["listing", "argv", 0], "--listSessions"), WORDS, WORDS),
    "the listing may take longer": (invocation(["listing", "timeoutSeconds"], 20), FREE, PORTS),
    "an entry of the listing reads otherwise": (invocation(["listing", "entry"], "^([0-9]+) (\\S+)$"), PORTS, PORTS),
    "an entry of the listing is rewritten": (replaced(INVOCATION, "([0-9]+)\\\\.", "([0-9]+)[.]"), WORDS, WORDS),
    "an argument and its flag come": (
        [chat([*PROPERTIES, "seed"], {"type": "string"}), invocation([*COMMAND, 4], SEED)],
        FREE,
        BREAK,
    ),
}

RESULTS: Mapping[str, Row] = {
    "more of gemini's output is read": (outcome(["stdout", "maxBytes"], 134217728), FREE, PORTS),
    "whether a model was asked is found elsewhere": (outcome(["asked"], ["stats"]), FREE, FREE),
    "another line says that there is no session": (outcome(["noSession"], "No sessions found"), FREE, FREE),
    "a sentence is renamed": (said("fault", "id", "bug"), WORDS, WORDS),
    "a key of a success goes": (without(SUCCESS, ["properties", "_meta", "properties", "sessionId"]), BREAK, FREE),
    "a key of a success comes": (
        success(["properties", "_meta", "properties", "model"], {"type": "string"}),
        FREE,
        BREAK,
    ),
    "a success is closed": (success(["additionalProperties"], False), PORTS, BREAK),
    "its metadata are closed": (success(["properties", "_meta", "additionalProperties"], False), PORTS, BREAK),
    "a session id is longer": (
        success(["properties", "_meta", "properties", "sessionId", "minLength"], 10),
        PORTS,
        BREAK,
    ),
    "a success has one content": (success(["properties", "content", "maxItems"], 1), PORTS, BREAK),
    "a success needs metadata": (success(["required", 1], "_meta"), PORTS, BREAK),
    "the content may be missing": (success(["required"], []), BREAK, PORTS),
    "an answer may be an image": (
        success(["properties", "content", "items", "properties", "type"], {"enum": ["text", "image"]}),
        BREAK,
        PORTS,
    ),
    "an error needs no prefix": (
        without(ERROR, ["properties", "content", "items", "properties", "text", "pattern"]),
        BREAK,
        PORTS,
    ),
    "the prefix of an error is rewritten": (replaced(ERROR, "^Error executing", "^(?:Error) executing"), WORDS, WORDS),
    "the prefix of errors changes": (outcome(["prefix"], "gemini: "), BREAK, BREAK),
    "the separator of errors changes": (outcome(["separator"], "\nError output: "), BREAK, BREAK),
    "the key of the session changes": (outcome(["meta", "session"], "session"), BREAK, BREAK),
    "the key of the warnings changes": (outcome(["meta", "warnings"], "warned"), FREE, FREE),
    "another key of gemini's answer is read": (outcome(["answer", "text"], "text"), PORTS, PORTS),
    "the session is read elsewhere": (outcome(["answer", "session"], "sessionId"), PORTS, PORTS),
    "the warnings are read elsewhere": (outcome(["answer", "warnings"], "notes"), FREE, FREE),
    "a notice says something else": (outcome(["notices", "empty"], "Nothing."), WORDS, WORDS),
    "gemini's own message is put otherwise": (outcome(["said"], " It says: {message}"), WORDS, WORDS),
    "a sentence goes": (without(OUTCOME, ["sentences", sentence("exit-41")]), BREAK, NEW),
    "a sentence is reworded": (outcome(["sentences", 0, "sentence"], "`{argument}`: {expected}."), WORDS, WORDS),
    "a sentence names another field": (said("signal", "sentence", "gemini was ended."), FREE, FREE),
    "a sentence holds for fewer exit codes": (said("exit-41", "exit", [40]), BREAK, BREAK),
    "a sentence holds for more exit codes": (said("exit-41", "exit", [41, 43]), FREE, BREAK),
    "a sentence names another cause": (said("exit-41", "cause", "the moon"), FREE, FREE),
    "a sentence is recognised otherwise": (said("exit-41", "names", "moon"), FREE, FREE),
    "what recognises a sentence is rewritten": (said("exit-44", "names", "(?:sandbox)"), WORDS, WORDS),
    "a sentence fits other words": (said("quota", "stderr", "used up"), FREE, FREE),
    "what fits a sentence is rewritten": (replaced(OUTCOME, "[Qq]uota", "(?:Q|q)uota"), WORDS, WORDS),
    "sentences that exclude each other change places": (
        swapped(OUTCOME, ["sentences"], sentence("exit-41"), sentence("exit-44")),
        WORDS,
        WORDS,
    ),
    "sentences that both fit change places": (
        swapped(OUTCOME, ["sentences"], sentence("quota"), sentence("exit-53")),
        FREE,
        FREE,
    ),
    "a mask goes": (without(OUTCOME, ["stderr", "masks", 0]), BREAK, FREE),
    "a mask is rewritten": (replaced(OUTCOME, "AIza[0-9A-Za-z_-]{20,}", "AIza[-_0-9A-Za-z]{20,}"), WORDS, WORDS),
    "a mask hides more": (replaced(OUTCOME, "AIza[0-9A-Za-z_-]{20,}", "AIza[0-9A-Za-z_-]{12,}"), FREE, BREAK),
    "a mask hides a key, and not its end": (
        replaced(OUTCOME, "AIza[0-9A-Za-z_-]{20,}", "AIza[0-9A-Za-z_-]{20}"),
        BREAK,
        FREE,
    ),
    "a mask becomes another": (replaced(OUTCOME, "AIza[0-9A-Za-z_-]{20,}", "BIza[0-9A-Za-z_-]{20,}"), BREAK, BREAK),
    "masks change places": (swapped(OUTCOME, ["stderr", "masks"], 0, 1), WORDS, WORDS),
    "less of stderr is shown": (outcome(["stderr", "maxBytes"], 10), FREE, FREE),
    "a mask has another word": (outcome(["stderr", "masked"], "***"), FREE, FREE),
    "other variables are secret": (outcome(["stderr", "secretNames"], "KEY"), FREE, FREE),
}

STATEMENTS: Mapping[str, Row] = {
    "a MUST comes": (added("identity:kind", "MUST"), PORTS, BREAK),
    "a SHOULD comes": (added("identity:kind", "SHOULD"), NEW, BREAK),
    "a MAY comes": (added("identity:kind", "MAY"), NEW, BREAK),
    "a SHOULD becomes a MUST": (level(SHOULD, "SHOULD", "MUST"), PORTS, FREE),
    "a SHOULD becomes a MAY": (level(SHOULD, "SHOULD", "MAY"), FREE, FREE),
    "an id changes": (entry(MUST, ["id"], "identity:title"), BREAK, BREAK),
    "a MUST is excluded": (entry(MUST, ["excluded"], "Nobody can see it."), FREE, PORTS),
    "a SHOULD is excluded": (entry(SHOULD, ["excluded"], "Nobody can see it."), FREE, FREE),
    "an exclusion has another reason": (entry(EXCLUDED, ["excluded"], "Batches are gone."), WORDS, WORDS),
    "a sentence claims another thing": (reworded("{server}", "gemini"), PORTS, PORTS),
    "a sentence loses its condition": (reworded("MUST", "MUST always, unless asked not to,"), PORTS, PORTS),
    "a SHOULD claims another thing": (
        entry(SHOULD, ["sentence"], "The server SHOULD report `1` as its version."),
        FREE,
        FREE,
    ),
    "a sentence is polished": (reworded("report", "give"), WORDS, WORDS),
    "a requirement binds the other profile": (entry(MUST, ["profile"], "host"), PORTS, PORTS),
    "a family is about other arguments": (entry(FAMILY, ["for"], "optional-argument"), BREAK, BREAK),
    "a source changes": (entry(MUST, ["source", "heading"], "Tools"), WORDS, WORDS),
    "a reason changes": (entry(DECIDED, ["source", "reason"], "It is so."), WORDS, WORDS),
    "a requirement is younger": (entry(MUST, ["since"], "0.9.0"), WORDS, WORDS),
    "requirements change places": (swapped(REQUIREMENTS, ["requirements"], MUST, SHOULD), NOTHING, NOTHING),
    "an id is listed as gone": (
        changed(REQUIREMENTS, ["removed"], [{"id": "identity:kind", "version": "1.0.0"}]),
        KEPT,
        BREAK,
    ),
    "a released list changes": (changed(RELEASED, ["requirements", 0, "level"], "MAY"), PORTS, PORTS),
    "a released list goes": (deleted(RELEASED), PORTS, KEPT),
}

CALL = document(CASE)["call"]
EXAMPLES: Mapping[str, Row] = {
    "a case comes": (written("server/cases/other.json", {**document(CASE), "id": "other"}), MORE, WORDS),
    "a case expects another result": (changed(CASE, ["result", "content", 0, "text"], "Another."), PORTS, PORTS),
    "a case spells a flag otherwise": (changed(CASE, ["invocation", "argv", 4], "--model"), WORDS, WORDS),
    "a case expects another command line": (changed(CASE, ["invocation", "argv", 5], "gemini"), PORTS, PORTS),
    "a case expects another directory": (changed(CASE, ["invocation", "cwd"], "/srv"), PORTS, PORTS),
    "a case expects nothing to start": (
        [changed(CASE, ["invocation"], None), without(CASE, ["outcome"])],
        PORTS,
        PORTS,
    ),
    "a case gets another title": (changed(CASE, ["title"], "Another title."), WORDS, WORDS),
    "a case shows another requirement": (changed(CASE, ["requirements", 1], "identity:name"), WORDS, WORDS),
    "a case of a SHOULD expects something else": (
        changed(SHOWN, ["result", "_meta", "warnings"], ["another"]),
        FREE,
        FREE,
    ),
    "a case shows the same by another call": (replaced(CASE, "gemini-3-pro", "gemini-3-flash", 2), WORDS, WORDS),
    "a case shows the same by another output": (changed(CASE, ["outcome", "stderr"], "A notice.\n"), WORDS, WORDS),
    "a flag is spelled otherwise, in its case too": (
        [*spelled('"-m", {', '"--model", {'), changed(CASE, ["invocation", "argv", 4], "--model")],
        WORDS,
        WORDS,
    ),
    "a sentence is reworded, in its case too": (
        [replaced(file, "gemini is not signed in", "Nobody has signed in") for file in (OUTCOME, UNSIGNED)],
        WORDS,
        WORDS,
    ),
    "a case leaves the words to the port": (changed(UNSIGNED, ["wording"], "example"), WORDS, FREE),
    "a case expects an error of the protocol": (
        [without(CASE, ["result"]), changed(CASE, ["error"], {"code": -32602})],
        PORTS,
        PORTS,
    ),
    "a scenario has another step": (without(SCENARIO, ["steps", 1]), PORTS, PORTS),
    "a scenario expects another result": (
        changed(SCENARIO, ["steps", 2, "result", "content", 0, "text"], "Another."),
        PORTS,
        PORTS,
    ),
    "a scenario calls with another prompt": (
        changed(SCENARIO, ["steps", 2, "call", "arguments", "prompt"], "Who are you?"),
        WORDS,
        WORDS,
    ),
    "a scenario gets another title": (changed(CROSSED, ["title"], "Another title."), WORDS, WORDS),
    "a scenario goes": (deleted(SCENARIO), WORDS, MORE),
    "a script plays something else": (changed(SCRIPT, ["play", 1], {"stdout": "{}"}), PORTS, PORTS),
    "a script plays another notice": (changed(SCRIPT, ["play", 0, "stderr"], "A notice.\n"), WORDS, WORDS),
    "a script waits before it answers": (changed(SCRIPT, ["play", 0], {"wait": 0.2}), WORDS, WORDS),
    "a script is described otherwise": (changed(SCRIPT, ["description"], "An answer."), WORDS, WORDS),
    "a script was observed elsewhere": (changed(SCRIPT, ["observed"], "0.62.0"), WORDS, WORDS),
    "a script comes": (written("server/scripts/other.json", {**document(SCRIPT), "id": "other"}), MORE, WORDS),
    "a vector expects something else": (changed(VECTORS, [0, "expected"], {"enabled": False}), PORTS, PORTS),
    "a vector is given something else": (changed(VECTORS, [0, "input", "toolName"], "u"), WORDS, WORDS),
    "a vector goes": (without(VECTORS, [0]), WORDS, MORE),
    "a vector binds both profiles": (changed(VECTORS, [0, "profile"], "current"), PORTS, PORTS),
    "a vector has another source": (changed(VECTORS, [0, "source"], "seen"), WORDS, WORDS),
    "vectors change places": (swapped(VECTORS, [], 0, 1), NOTHING, NOTHING),
    "a scenario of hosts expects something else": (changed(HOSTED, ["expected", "tools"], ["t"]), PORTS, PORTS),
    "a scenario of hosts is given something else": (
        changed(TIMED, ["servers", "a", "config", "timeout"], 900),
        WORDS,
        WORDS,
    ),
    "a scenario of hosts is given something else and expects something else": (
        [
            changed(TIMED, ["servers", "a", "config", "timeout"], 900),
            changed(TIMED, ["expected", "current", "withinSeconds"], 1),
        ],
        PORTS,
        WORDS,
    ),
    "a scenario may take longer": (changed(TIMED, ["expected", "current", "withinSeconds"], 600), WORDS, PORTS),
    "a scenario of hosts gets another title": (changed(HOSTED, ["title"], "Another title."), WORDS, WORDS),
}

SERVERS = {"type": "string"}
HOSTS: Mapping[str, Row] = {
    "a pattern among many is rewritten": (
        changed(RULES, ["environment", "secretValues", 5], "AKIA[0-9A-Z]{16}"),
        WORDS,
        WORDS,
    ),
    "settings need a key": (settings(["required"], ["mcpServers"]), BREAK, FREE),
    "servers are trusted unless they are not": (settings([*SERVER, "trust", "default"], True), BREAK, BREAK),
    "a time-out is shorter": (settings([*SERVER, "timeout", "default"], 1000), BREAK, FREE),
    "a time-out has no default": (without(SETTINGS, [*SERVER, "timeout", "default"]), BREAK, FREE),
    "OAuth is used unless it is not": (settings([*OAUTH, "enabled", "default"], True), BREAK, BREAK),
    "the browser comes back elsewhere": (
        settings([*OAUTH, "redirectUri", "default"], "http://localhost/"),
        BREAK,
        BREAK,
    ),
    "tools are excluded unasked": (settings([*SERVER, "excludeTools", "default"], ["a"]), BREAK, BREAK),
    "a setting goes": (without(SETTINGS, [*SERVER, "cwd"]), BREAK, FREE),
    "a setting comes": (settings([*SERVER, "tcp"], {"type": "string"}), FREE, BREAK),
    "a setting has another type": (settings([*SERVER, "trust", "type"], "string"), BREAK, BREAK),
    "a setting takes fewer values": (without(SETTINGS, [*SERVER, "authProviderType", "enum", 1]), BREAK, FREE),
    "a setting has a minimum": (settings([*SERVER, "timeout", "minimum"], 1000), BREAK, FREE),
    "a limit of a setting excludes its bound": (
        [
            without(SETTINGS, [*SERVER, "timeout", "minimum"]),
            settings([*SERVER, "timeout", "exclusiveMinimum"], 0),
        ],
        BREAK,
        FREE,
    ),
    "a server may have two addresses": (replaced(SETTINGS, '"oneOf"', '"anyOf"'), FREE, BREAK),
    "other settings of a server are refused": (
        settings(["$defs", "server", "additionalProperties"], False),
        BREAK,
        FREE,
    ),
    "a server may have no address": (without(SETTINGS, ["$defs", "server", "oneOf"]), FREE, BREAK),
    "a setting is described otherwise": (settings([*SERVER, "trust", "description"], "Trust."), WORDS, WORDS),
    "a setting of all servers goes": (without(SETTINGS, ["properties", "mcp", "properties", "allowed"]), BREAK, FREE),
    "names of tools may be longer": (changed(RULES, ["nameLimit"], 64), PORTS, PORTS),
    "a tool of the host comes": (changed(RULES, ["builtinTools", 0], "act"), PORTS, PORTS),
    "a message of the host changes": (changed(RULES, ["emptyServer"], "Nothing found."), PORTS, PORTS),
    "a pattern of the host is rewritten": (changed(RULES, ["nameInvalid"], "[^:.a-zA-Z0-9_-]"), WORDS, WORDS),
    "a pattern of the host is another": (changed(RULES, ["nameInvalid"], "[^a-z]"), PORTS, PORTS),
    "a key of a profile goes that is null": (without(RULES, ["missingMethod"]), PORTS, PORTS),
    "a truth of a vector is a number": (changed(VECTORS, [0, "executed"], 1), WORDS, WORDS),
    "a truth of a profile is a number": (changed(RULES, ["emptyAllowListAllowsAll"], 1), PORTS, PORTS),
    "a profile of hosts speaks of another version": (changed(RULES, ["version"], "0.62.0"), WORDS, WORDS),
    "a profile of hosts goes": (deleted(RULES), BREAK, NEW),
}

REST: Mapping[str, Row] = {
    "a revision of MCP goes": (without(MANIFEST, ["protocol", "handshake", 0]), BREAK, NEW),
    "a revision of MCP comes": (changed(MANIFEST, ["protocol", "stateless", 1], "2027-01-01"), NEW, BREAK),
    "a profile goes": (changed(MANIFEST, ["profiles"], ["server"]), BREAK, NEW),
    "the server has another name": (changed(MANIFEST, ["server", "name"], "gemini"), PORTS, PORTS),
    "the server gives other instructions": (changed(MANIFEST, ["server", "instructions"], "Ask."), WORDS, WORDS),
    "the server has another version": (changed(MANIFEST, ["server", "version"], "1.0.1"), FREE, FREE),
    "the manifest lists the files": (changed(MANIFEST, ["files"], [*small().files]), NOTHING, NOTHING),
    "the manifest has another key": (changed(MANIFEST, ["title"], "A"), PORTS, PORTS),
    "a file of no kind comes": (written("server/notes.json", {}), PORTS, PORTS),
    "a document is listed": (changed("sources.json", ["documents", 0, "note"], "A note."), WORDS, WORDS),
    "a meta schema changes": (changed("meta/case.schema.json", ["title"], "A case"), WORDS, WORDS),
    "a report may hold other verdicts": (
        changed("meta/report.schema.json", ["properties", "profile"], {"type": "string"}),
        BREAK,
        FREE,
    ),
    "a break is approved that is none": (written("approved-breaks.json", {"approved": []}), NOTHING, NOTHING),
    "a file is indented otherwise": (replaced(MANIFEST, "  ", "    "), NOTHING, NOTHING),
}

CHANGES: Mapping[str, Row] = {**TOOLS, **COMMANDS, **RESULTS, **STATEMENTS, **EXAMPLES, **HOSTS, **REST}
