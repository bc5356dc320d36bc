"""Labelled edits of the specification: each direction is judged as its label says, with the version that it needs."""

from collections.abc import Sequence
from functools import partial

import pytest
from editing import Edit, Place, at_version, changed, deleted, document, replaced, requirement, small, without, written
from judging import gravest

from gemini_mcp.spec.values import Json
from gemini_mcp_spec.diff.comparison import Comparison, diff
from gemini_mcp_spec.diff.rules import Severity

CALLERS, PORTS, NOTICE, COMPATIBLE = Severity.CALLERS, Severity.PORTS, Severity.NOTICE, Severity.COMPATIBLE

CHAT, INVOCATION, OUTCOME = "server/tools/chat.json", "server/invocation.json", "server/outcome.json"
CASE, SCENARIO, SCRIPT = "server/cases/chat-model.json", "server/scenarios/cancel.json", "server/scripts/success.json"
REQUIREMENTS, MANIFEST, VECTORS = "requirements.json", "manifest.json", "host/vectors/tool-filter.json"
MUST, SHOULD = requirement("identity:name"), requirement("identity:version")
ENTRY = document(REQUIREMENTS)["requirements"][MUST]
COUNT = len(document(REQUIREMENTS)["requirements"])


def level(index: int, old: str, new: str) -> list[Edit]:
    entry = document(REQUIREMENTS)["requirements"][index]
    sentence = entry["sentence"].replace(old, new)
    return [changed(REQUIREMENTS, ["requirements", index], {**entry, "level": new, "sentence": sentence})]


def added(identifier: str, keyword: str) -> list[Edit]:
    entry = {**ENTRY, "id": identifier, "level": keyword, "sentence": f"The server {keyword} be kind."}
    return [changed(REQUIREMENTS, ["requirements", COUNT], entry)]


PROPERTIES = ["inputSchema", "properties"]

command, outcome, chat = partial(changed, INVOCATION), partial(changed, OUTCOME), partial(changed, CHAT)


def must(place: Place, value: Json) -> Edit:
    """The first requirement has another value at `place`."""
    return changed(REQUIREMENTS, ["requirements", MUST, *place], value)


def reworded(old: str, new: str) -> Edit:
    """Its sentence has other words."""
    return must(["sentence"], ENTRY["sentence"].replace(old, new))


PAIRS: dict[str, tuple[Edit | Sequence[Edit], Severity, Severity]] = {
    # tools
    "a tool comes": (written("server/tools/ask.json", {**document(CHAT), "name": "ask"}), COMPATIBLE, CALLERS),
    "a tool is renamed": (chat(["name"], "talk"), CALLERS, CALLERS),
    "an argument becomes required": (chat(["inputSchema", "required", 1], "cwd"), CALLERS, NOTICE),
    "an argument changes its type": (chat([*PROPERTIES, "model", "type"], "integer"), CALLERS, CALLERS),
    "an argument goes": (without(CHAT, [*PROPERTIES, "model"]), CALLERS, NOTICE),
    "an argument is enumerated": (chat([*PROPERTIES, "model", "enum"], ["gemini-3-pro"]), CALLERS, NOTICE),
    "other arguments are refused": (chat(["inputSchema", "additionalProperties"], False), CALLERS, NOTICE),
    "a description changes": (chat(["description"], "Starts a session."), NOTICE, NOTICE),
    "a promise of a hint is withdrawn": (chat(["annotations", "openWorldHint"], False), NOTICE, CALLERS),
    "a description in Korean changes": (
        changed("server/locales/ko.json", ["tools", "chat", "description"], "시작"),
        NOTICE,
        NOTICE,
    ),
    "a locale goes": (deleted("server/locales/ko.json"), CALLERS, COMPATIBLE),
    # command lines, environment, files
    "a flag changes": (replaced(INVOCATION, '"-m", {', '"--model", {'), PORTS, PORTS),
    "a flag comes": (command(["tools", "chat", "argv", 4], "--yolo"), PORTS, PORTS),
    "another default session is resumed": (command(["tools", "chat-reply", "argv", 1, "default"], "1"), PORTS, PORTS),
    "the program is another": (command(["program"], "gemini-cli"), PORTS, PORTS),
    "a file has another name": (replaced(INVOCATION, '"files": { "SYSTEM.md"', '"files": { "S.md"'), PORTS, PORTS),
    "a variable goes": (without(INVOCATION, ["tools", "chat", "env"]), PORTS, PORTS),
    "a variable is withheld": (command(["environment", "withhold", 1], "AWS_*"), PORTS, PORTS),
    "variables are not inherited": (command(["environment", "inherit"], False), PORTS, PORTS),
    "files get another mode": (command(["temporary", "fileMode"], "0644"), PORTS, PORTS),
    "an argument is private no longer": (command(["tools", "chat", "private"], ["prompt"]), CALLERS, PORTS),
    "a long text goes another way": (replaced(INVOCATION, '"longerThan": 128000', '"longerThan": 1000'), PORTS, PORTS),
    "the listing is asked otherwise": (command(["listing", "argv", 0], "--sessions"), PORTS, PORTS),
    "the working directory is another argument": (command(["tools", "chat", "cwd"], "model"), PORTS, PORTS),
    "an argument is refused": (command(["arguments", "cwd", "refuse"], ["option-like"]), CALLERS, NOTICE),
    "a refusal covers more": (command(["refusals", "too-long", "maxBytes"], 1000), CALLERS, NOTICE),
    "a refusal has another pattern": (command(["refusals", "option-like", "pattern"], "^[-+]"), CALLERS, CALLERS),
    "a refusal is said otherwise": (command(["refusals", "nul", "sentence"], "`{argument}`."), NOTICE, NOTICE),
    "an argument and its flag come": (
        [
            chat([*PROPERTIES, "seed"], {"type": "string"}),
            changed(
                INVOCATION, ["tools", "chat", "argv", 4], {"with": "seed", "argv": ["--seed", {"argument": "seed"}]}
            ),
        ],
        NOTICE,
        CALLERS,
    ),
    # results and errors
    "a key of a success goes": (
        without("server/results/success.schema.json", ["properties", "_meta", "properties", "sessionId"]),
        CALLERS,
        NOTICE,
    ),
    "the content may be missing": (changed("server/results/success.schema.json", ["required"], []), CALLERS, NOTICE),
    "an error needs no prefix": (
        without(
            "server/results/error.schema.json", ["properties", "content", "items", "properties", "text", "pattern"]
        ),
        CALLERS,
        NOTICE,
    ),
    "the prefix of errors changes": (outcome(["prefix"], "gemini: "), CALLERS, CALLERS),
    "the key of the session changes": (outcome(["meta", "session"], "session"), CALLERS, CALLERS),
    "another key of gemini's answer is read": (outcome(["answer", "text"], "text"), PORTS, PORTS),
    "a sentence goes": (without(OUTCOME, ["sentences", -1]), CALLERS, COMPATIBLE),
    "a sentence is reworded": (outcome(["sentences", 0, "sentence"], "`{argument}`: {expected}."), NOTICE, NOTICE),
    "a sentence holds for fewer exit codes": (replaced(OUTCOME, '"exit": [41]', '"exit": [40]'), CALLERS, CALLERS),
    "a sentence names another cause": (outcome(["sentences", -1, "cause"], "the moon"), NOTICE, NOTICE),
    "a mask goes": (without(OUTCOME, ["stderr", "masks", 0]), CALLERS, PORTS),
    "less of stderr is shown": (outcome(["stderr", "maxBytes"], 10), PORTS, PORTS),
    # requirements
    "a MUST comes": (added("identity:kind", "MUST"), PORTS, CALLERS),
    "a SHOULD comes": (added("identity:kind", "SHOULD"), COMPATIBLE, CALLERS),
    "a MAY comes": (added("identity:kind", "MAY"), COMPATIBLE, CALLERS),
    "a SHOULD becomes a MUST": (level(SHOULD, "SHOULD", "MUST"), PORTS, NOTICE),
    "a SHOULD becomes a MAY": (level(SHOULD, "SHOULD", "MAY"), NOTICE, NOTICE),
    "an id changes": (must(["id"], "identity:title"), CALLERS, CALLERS),
    "a sentence claims another thing": (reworded("{server}", "gemini"), PORTS, PORTS),
    "a sentence loses its condition": (reworded("MUST", "MUST always, unless asked not to,"), PORTS, PORTS),
    "a sentence is polished": (reworded("report", "give"), NOTICE, NOTICE),
    "a requirement binds the other profile": (must(["profile"], "host"), PORTS, PORTS),
    "a source changes": (must(["source", "heading"], "Tools"), NOTICE, NOTICE),
    # examples
    "a case comes": (written("server/cases/other.json", {**document(CASE), "id": "other"}), COMPATIBLE, NOTICE),
    "a case expects another result": (changed(CASE, ["result", "content", 0, "text"], "Another answer."), PORTS, PORTS),
    "a case expects another command line": (changed(CASE, ["invocation", "argv", 4], "--model"), PORTS, PORTS),
    "a case gets another title": (changed(CASE, ["title"], "Another title."), NOTICE, NOTICE),
    "a scenario has another step": (without(SCENARIO, ["steps", 1]), PORTS, PORTS),
    "a scenario goes": (deleted(SCENARIO), NOTICE, COMPATIBLE),
    "a script plays something else": (changed(SCRIPT, ["play", 0], {"stdout": "{}"}), PORTS, PORTS),
    "a vector expects something else": (changed(VECTORS, [0, "expected"], {"enabled": False}), PORTS, PORTS),
    "a vector goes": (without(VECTORS, [0]), NOTICE, COMPATIBLE),
    "a vector binds both profiles": (changed(VECTORS, [0, "profile"], "current"), PORTS, PORTS),
    "a vector has another source": (changed(VECTORS, [0, "source"], "seen"), NOTICE, NOTICE),
    # the rest
    "a revision of MCP goes": (without(MANIFEST, ["protocol", "handshake", 0]), CALLERS, COMPATIBLE),
    "the server has another name": (changed(MANIFEST, ["server", "name"], "gemini"), PORTS, PORTS),
    "the server has another version": (changed(MANIFEST, ["server", "version"], "1.0.1"), NOTICE, NOTICE),
    "settings need a key": (changed("host/settings.schema.json", ["required"], ["mcpServers"]), CALLERS, NOTICE),
    "a file of no kind comes": (written("server/notes.json", {}), PORTS, PORTS),
    "a document is listed": (changed("sources.json", ["documents", 0, "note"], "A note."), NOTICE, NOTICE),
}


def edits_of(name: str) -> Sequence[Edit]:
    """The edits of a pair."""
    edits = PAIRS[name][0]
    return [edits] if isinstance(edits, Edit) else edits


BOTH_WAYS = [
    pytest.param(edits_of(name), label, backwards, id=f"{name}, {way}")
    for name, (_, forth, back) in PAIRS.items()
    for way, label, backwards in (("forwards", forth, False), ("backwards", back, True))
]


def compared(edits: Sequence[Edit], backwards: bool = False, version: str = "1.0.0") -> Comparison:
    old = new = small()
    for edit in edits:
        new = edit.of(new)
    old, new = (new, old) if backwards else (old, new)
    return diff(old, at_version(new, version))


@pytest.mark.parametrize(("edits", "label", "backwards"), BOTH_WAYS)
def test_an_edit_is_judged_as_its_label_says(edits: Sequence[Edit], label: Severity, backwards: bool) -> None:
    assert gravest(compared(edits, backwards).changes) == label


@pytest.mark.parametrize(("edits", "label", "backwards"), BOTH_WAYS)
def test_a_break_is_refused_below_the_next_major_version(
    edits: Sequence[Edit], label: Severity, backwards: bool
) -> None:
    assert compared(edits, backwards, "1.9.0").is_refused is label.breaks
    assert not compared(edits, backwards, "2.0.0").is_refused


@pytest.mark.parametrize(("edits", "label", "backwards"), BOTH_WAYS)
def test_a_change_is_in_the_file_that_was_edited(edits: Sequence[Edit], label: Severity, backwards: bool) -> None:
    assert {change.file for change in compared(edits, backwards).changes} == {edit.file for edit in edits}


def test_a_specification_does_not_differ_from_itself() -> None:
    assert diff(small(), small()).changes == ()


def test_a_call_shows_what_a_template_does_otherwise() -> None:
    change = compared(edits_of("another default session is resumed")).changes[0]
    assert change.witness is not None
    assert change.witness.value["name"] == "chat-reply"
    assert "sessionId" not in change.witness.value["arguments"]
    assert [argv["argv"][2] for argv in (change.witness.old, change.witness.new)] == ["latest", "1"]


def test_a_call_shows_what_is_refused_now() -> None:
    change = compared(edits_of("an argument is refused")).changes[0]
    assert change.witness is not None
    assert change.witness.value["arguments"]["cwd"].startswith("-")
    assert change.witness.new == "refused: option-like"


def test_an_exit_code_shows_that_it_is_told_otherwise() -> None:
    change = compared(edits_of("a sentence holds for fewer exit codes")).changes[0]
    assert change.witness is not None
    assert change.witness.value == {"exit": 40, "stderr": ""}
