"""A gemini that tells what it does: how it is read, what a call is told meanwhile, and that no result differs."""

import json
import shutil
import tracemalloc
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import anyio
import pytest
from client import PATIENCE, SESSION, Place, Server, answer, play, text
from hypothesis import given
from hypothesis import strategies as st

from gemini_mcp.call.encoded import PIECE, Utf8
from gemini_mcp.call.live import CUT, LONGEST_LINE, Lines, News
from gemini_mcp.call.outcome import Answer, Completed, Failure, TimedOut, View, answer_result, failure_result, read
from gemini_mcp.call.progress import Progress
from gemini_mcp.call.redaction import Secrets, forms_of
from gemini_mcp.call.stream import Told, event_in, read_live, told_in
from gemini_mcp.spec import default_root, load_documents, load_server
from gemini_mcp.spec.live import offered, told_live
from gemini_mcp.spec.values import Json

SPEC = load_server()
assert SPEC.live is not None
LIVE = SPEC.live
STREAMS: Mapping[str, Json] = load_documents("server/streams")
KEY = "AIza" + "x1" * 15
PROMPT = "Tell me the story of the lighthouse that was never lit."


def line(event: Json) -> str:
    return json.dumps(event) + "\n"


def init() -> str:
    return line({"type": "init", "session_id": SESSION})


def asked(prompt: str) -> str:
    return line({"type": "message", "role": "user", "content": prompt})


def said(text: str) -> str:
    return line({"type": "message", "role": "assistant", "content": text, "delta": True})


def uses(tool: str) -> str:
    return line({"type": "tool_use", "tool_name": tool, "tool_id": "1", "parameters": {"prompt": PROMPT, "key": KEY}})


END = line({"type": "result", "status": "success", "stats": {"total_tokens": 1, "models": {"m": {}}}})


def answered(stdout: str, exit: int = 0) -> Answer | Failure:
    return read_live(Completed(exit, stdout.encode("utf-8", "replace"), ""), SPEC.outcome, LIVE, None)


def outcomes(stream: Json) -> tuple[Completed, Completed]:
    """How gemini ends when it tells what it does, and how it ends else."""
    live = Completed(stream["exit"], "".join(map(line, stream["live"]["lines"])).encode(), stream["live"]["stderr"])
    return live, Completed(stream["exit"], stream["plain"]["stdout"].encode(), stream["plain"]["stderr"])


def result(made: Answer | Failure) -> Json:
    if isinstance(made, Answer):
        return answer_result(made, SPEC.outcome, View())
    # The message and stderr are gemini's own words, of which it has others in a stream.
    shown = failure_result(replace(made, said=None), SPEC.outcome, Secrets())
    return {**shown, "content": shown["content"][0]["text"].partition(SPEC.outcome.separator)[0]}


@pytest.mark.requirement("progress:live")
@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
def test_a_stream_becomes_the_result_that_gemini_gives_without(stream: Json) -> None:
    live, plain = outcomes(stream)
    made = read_live(live, SPEC.outcome, LIVE, None)
    assert result(made) == result(read(plain, SPEC.outcome))
    if isinstance(made, Failure) and "failure" in {
        told.kind for told in map(event_of, stream["live"]["lines"]) if told
    }:
        assert made.said


def event_of(value: Json) -> Json:
    return event_in(json.dumps(value), LIVE)


@pytest.mark.parametrize("name", ["chat", "chat-reply"])
def test_only_the_format_is_another_on_the_command_line(name: str) -> None:
    plain, live = (spec.tools[name] for spec in (SPEC.invocation, told_live(SPEC.invocation, LIVE)))
    assert live.argv != plain.argv
    assert tuple("json" if element == "stream-json" else element for element in live.argv) == plain.argv
    assert replace(live, argv=plain.argv) == plain


def test_a_command_line_that_the_variant_does_not_fit_has_none() -> None:
    name, template = next(iter(SPEC.invocation.tools.items()))
    argv = tuple("other" if element == LIVE.replaced[-1] else element for element in template.argv)
    changed = replace(SPEC.invocation, tools={**SPEC.invocation.tools, name: replace(template, argv=argv)})
    assert offered(LIVE, SPEC.invocation) is LIVE
    assert offered(LIVE, changed) is None


def test_what_is_no_event_changes_nothing() -> None:
    noise = (
        "A notice.\n",
        '{"type": "new"}\n',
        '{"type": "message"}\n',
        "{broken\n",
        "[1]\n",
        "\n",
        '{"a": {' * 99 + "\n",
    )
    lines = (init(), said("a"), said("b"), END)
    assert answered("".join(noise[0] + one for one in lines)) == answered("".join(lines))
    for one in noise:
        assert answered("".join(each + one for each in lines)) == Answer(Utf8(b"ab"), SESSION)
    assert answered("A notice. " + "".join(lines)) == Answer(Utf8(b"ab"), SESSION)


@pytest.mark.parametrize("stdout", ["text", answer("text")["stdout"], "", '{"a": 1}', "{\n"])
def test_an_output_without_events_is_read_as_ever(stdout: str) -> None:
    outcome = Completed(0, stdout.encode("utf-8", "replace"), "")
    assert answered(stdout) == read(outcome, SPEC.outcome)


def test_a_stream_without_its_end_is_truncated() -> None:
    made = answered(init() + asked("hello") + said("half an answ"))
    assert isinstance(made, Failure)
    assert made.condition == "truncated-output"


def test_sequences_for_terminals_are_no_part_of_an_answer() -> None:
    made = answered(init() + said("\x1b[3") + said("1mred\x1b[0m \x1b]8;;http://x\x07link") + END)
    assert made == Answer(Utf8(b"red link"), SESSION)


@pytest.mark.parametrize("before", [0, PIECE - 3, PIECE, 3 * PIECE - 1])
def test_a_sequence_for_terminals_is_found_wherever_it_stands(before: int) -> None:
    made = answered(init() + said("\N{PARROT}" + "x" * before) + said("\x1b[3") + said("1mred") + END)
    assert made == Answer(Utf8(b"\xf0\x9f\xa6\x9c" + b"x" * before + b"red"), SESSION)


@pytest.mark.parametrize("longest", [PIECE, 20 * PIECE])
@pytest.mark.parametrize("part", ["a line\n", "x\n", '"'])
def test_a_long_stream_is_held_few_times(longest: int, part: str) -> None:
    """One emoji makes a text take four bytes a character, and what JSON escapes is longer printed than said."""
    whole = part * (16 * PIECE // len(part)) + "\N{PARROT}"
    pieces = [whole[start : start + longest] for start in range(0, len(whole), longest)]
    escaped = init() + "".join(map(said, pieces)) + END
    stdout = escaped.replace("\\ud83e\\udd9c", "\N{PARROT}").encode("utf-8")
    tracemalloc.start()
    try:
        made = read_live(Completed(0, stdout, ""), SPEC.outcome, LIVE, None)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert made == Answer(Utf8(whole.encode()), SESSION)
    assert most < 2.3 * len(whole) + len(stdout)


@pytest.mark.parametrize("text", ["é", "\N{PARROT}", "\\", '"', "\n"])
def test_a_long_line_tells_what_a_short_one_tells(text: str) -> None:
    long, padding = text + "x" * PIECE, {"é": text, "more": "y" * PIECE}
    lines = [
        {"type": "init", "session_id": text, **padding},
        {"type": "message", "role": "user", "content": long},
        {"type": "message", "role": "assistant", "content": long, "delta": True},
        {"type": "error", "severity": "warning", "message": long},
        {"type": "result", "status": "success", "stats": {"models": {"m": {text: 1}}}, **padding},
        {"type": "new", **padding},
    ]
    for ascii_only in (True, False):
        stream = "".join(json.dumps(each, ensure_ascii=ascii_only) + "\n" for each in lines)
        printed = stream.encode("utf-8", "replace")
        told = Told()
        for each in printed.decode("utf-8").splitlines():
            if made := event_in(each, LIVE):
                told.add(made)
        assert told_in(printed, LIVE) == told


def test_a_failure_in_a_stream_chooses_the_sentence_that_it_chooses_on_stderr() -> None:
    failure = line({"type": "result", "status": "error", "error": {"message": "TerminalQuotaError: no more"}})
    shown = failure_result(answered_failure(init() + failure, 1), SPEC.outcome, Secrets())
    assert "quota" in shown["content"][0]["text"].partition("\nStderr: ")[0]


def answered_failure(stdout: str, exit: int) -> Failure:
    made = answered(stdout, exit)
    assert isinstance(made, Failure)
    return made


JSON_VALUES: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
KNOWN: Sequence[Json] = ("assistant", "error", "success", "x", {"models": {}}, {"message": "m"})
KEYS = ("role", "content", "session_id", "tool_name", "status", "stats", "error", "message")
KINDS = ("init", "message", "tool_use", "tool_result", "error", "result", "new")


def event(kind: str, more: Mapping[str, Json]) -> Json:
    return {"type": kind, **more}


EVENTS: st.SearchStrategy[Json] = st.builds(
    event, st.sampled_from(KINDS), st.dictionaries(st.sampled_from(KEYS), st.sampled_from(KNOWN) | JSON_VALUES)
)


@given(st.lists(EVENTS | JSON_VALUES), st.integers(0, 255))
def test_any_stream_becomes_a_result(events: Sequence[Json], exit: int) -> None:
    stdout = "".join(map(line, events))
    json.dumps(result(answered(stdout, exit))).encode("utf-8")
    made = read_live(TimedOut(1.0, "", stdout.encode()), SPEC.outcome, LIVE, 10)
    assert isinstance(made, Failure)


@given(st.lists(EVENTS | JSON_VALUES), st.data())
def test_pieces_tell_what_the_whole_tells_wherever_they_are_cut(events: Sequence[Json], data: st.DataObject) -> None:
    stdout = "".join(json.dumps(event, ensure_ascii=False) + "\n" for event in events).encode("utf-8", "replace")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stdout)), max_size=5)))
    lines = Lines()
    pieces = [stdout[start:end] for start, end in pairwise((0, *cuts, len(stdout)))]
    assert [one for piece in pieces for one in lines.add(piece)] == stdout.decode().split("\n")[:-1]


@given(st.binary(), st.binary(), st.integers(1, 8))
def test_any_bytes_in_pieces_are_read(before: bytes, after: bytes, longest: int) -> None:
    lines, news = Lines(longest), News(LIVE, SPEC.outcome, ())
    given = [one for piece in (before, after) for one in lines.add(piece)]
    assert given == [
        one.decode("utf-8", "replace") for one in (before + after).split(b"\n")[:-1] if len(one) <= longest
    ]
    news.add(before)
    news.add(after)
    news.take()


def test_a_line_that_is_too_long_is_not_kept_and_the_next_is_read() -> None:
    news = News(LIVE, SPEC.outcome, ())
    for _ in range(20):
        assert not news.add(b"x" * (LONGEST_LINE // 8))
    news.add(b"\n" + init().encode())
    assert news.take() == f"sessionId: {SESSION}"
    long = said("y" * LONGEST_LINE)
    assert answered(init() + long + END) == Answer(Utf8(b"y" * LONGEST_LINE), SESSION)


def test_each_line_is_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = 0

    def count(text: str) -> Json:
        nonlocal decoded
        decoded += len(text)
        return decode(text)

    decode = json.loads
    monkeypatch.setattr("gemini_mcp.call.stream.json.loads", count)
    stdout = init() + ('{"a":[' * 50 + "\n") * 2000 + said("a") * 2000 + END
    told_in(stdout.encode(), LIVE)
    assert decoded <= len(stdout)


@cache
def private() -> tuple[tuple[str, str], ...]:
    return forms_of(Secrets((PROMPT,), ("the-value-of-a-secret",)), SPEC.outcome)


def told(*pieces: str) -> list[str]:
    """What a call is told when each piece is followed by a message."""
    news = News(LIVE, SPEC.outcome, private())
    found: list[str] = []
    for piece in pieces:
        news.add(piece.encode())
        while message := news.take():
            found.append(message)
    return found


def test_a_call_is_told_the_session_the_tools_and_the_text_that_grows() -> None:
    assert told(init(), said("I look "), said("into it."), uses("read_file") + uses("glob"), said("Done. ")) == [
        f"sessionId: {SESSION}",
        "I look",
        "I look into",
        "gemini uses read_file, glob",
        "Done.",
    ]


def test_no_message_is_longer_than_allowed_and_a_text_shows_its_end() -> None:
    messages = told(uses("t" * 500), said("word " * 100 + "end "))
    assert [len(message) <= LIVE.max_characters for message in messages] == [True, True]
    assert messages[1].startswith(CUT)
    assert messages[1].endswith("word end")


@pytest.mark.parametrize("at", range(1, len(KEY), 4))
def test_a_key_is_shown_neither_whole_nor_in_part(at: int) -> None:
    for around in ("", "x" * 190 + " "):
        text = f"{around}The key is {KEY} and that is it. "
        shown = told(*(said(piece) for piece in (text[: len(around) + 11 + at], text[len(around) + 11 + at :])))
        assert not [message for message in shown if KEY[:6] in message or KEY[-6:] in message], shown


@pytest.mark.parametrize("secret", [PROMPT, "the-value-of-a-secret"])
def test_what_is_private_is_shown_neither_whole_nor_in_part(secret: str) -> None:
    for before in ("", "You said: ", "word " * 45):
        for at in range(8, len(secret)):
            whole = before + secret + " And so on. " + "more " * 30
            shown = told(*map(said, (whole[: len(before) + at], whole[len(before) + at :])))
            assert not [one for one in shown for i in range(len(secret) - 8) if secret[i : i + 9] in one], shown


def test_arguments_of_tools_are_not_told() -> None:
    assert told(uses("write_file")) == ["gemini uses write_file"]


async def test_messages_keep_their_distance_and_come_when_they_are_late_too() -> None:
    reported, left = list[float](), list("abcd")
    told_all, is_late = anyio.Event(), anyio.Event()

    async def report(progress: float, total: float | None, message: str | None) -> None:
        reported.append(progress)
        if not left:
            told_all.set()

    progress = Progress(report)
    async with progress.following(lambda: left.pop() if left else None, 0.05) as say:
        with anyio.move_on_after(0.1):
            await is_late.wait()
        say()
        with anyio.fail_after(PATIENCE):
            await told_all.wait()
    # A timer may end a little too early.
    assert all(later - earlier > 0.049 for earlier, later in pairwise([0.0, *reported]))


@pytest.fixture
def live(place: Place) -> Server:
    return place.start("--live", "--timeout", "30")


def messages(server: Server) -> list[str]:
    return [note["params"]["message"] for note in server.notices]


def test_a_call_with_a_token_is_told_what_gemini_does(live: Server) -> None:
    live.fake.load([play({"stdout": init()}, {"wait": 1.1}, {"stdout": uses("glob")}, {"wait": 1.1}, {"stdout": END})])
    assert text(live.answer(live.start("chat", token="t", prompt=PROMPT))["result"]) == ""
    assert messages(live) == ["gemini is running", f"sessionId: {SESSION}", "gemini uses glob"]


def test_a_call_without_a_token_is_told_nothing(live: Server) -> None:
    live.fake.load([play({"stdout": init() + said("a ")}, {"wait": 1.1}, {"stdout": said("b") + END})])
    assert text(live.chat()) == "a b"
    assert live.notices == []


STEPS = (answer("a\n\N{PARROT}"), answer("", stats={"models": {}}), answer("a", warnings=["w"]), {"stdout": "b"})
ARGUMENTS: Sequence[Mapping[str, Json]] = ({}, {"systemPrompt": "Be brief."}, {"model": "m"})


def test_a_result_is_what_it_is_without(place: Place) -> None:
    """The fake prints a stream where it is asked for one."""
    results, lines = list[Json](), list[Json]()
    for server in (place.start(), place.start("--live")):
        before = place.fake.last()
        for step in STEPS:
            place.fake.load([play(step)])
            chats = [server.chat(**arguments) for arguments in ARGUMENTS]
            results.append([*chats, server.call("chat-reply", prompt="b")])
        lines.append([call.argv for call in place.fake.calls(before)])
    assert results[: len(STEPS)] == results[len(STEPS) :]
    plain, live = lines
    assert live == [tuple(b"stream-json" if one == b"json" else one for one in argv) for argv in plain]


@pytest.mark.requirement("progress:so-far")
def test_the_error_of_a_call_that_took_too_long_holds_what_was_answered(place: Place) -> None:
    server = place.start("--live", "--timeout", "3")
    server.fake.load(
        [play({"stdout": init() + said("Half an ") + said("answer, verbatim ") + said(KEY)}, {"hang": True})]
    )
    shown = text(server.chat())
    assert f"sessionId {SESSION}" in shown
    assert f"\nThe answer so far: Half an answer, verbatim {KEY}\nStderr: " in shown


def test_an_answer_so_far_is_no_longer_than_an_answer_may_be() -> None:
    made = read_live(TimedOut(1.0, "", said("0123456789").encode()), SPEC.outcome, LIVE, 4)
    assert isinstance(made, Failure)
    assert made.so_far == "\nThe answer so far: 0123"


def test_a_stream_that_prints_too_much_is_ended(place: Place) -> None:
    server = place.start("--live", "--max-output-bytes", "100000")
    server.fake.load([play({"fill": {"stream": "stdout", "text": said("x"), "bytes": 1 << 20}}, {"hang": True})])
    assert "more than 100000 bytes" in text(server.answer(server.start("chat", token=1, prompt="hello"))["result"])


def test_a_specification_without_it_cannot_be_served_live(place: Place) -> None:
    spec = Path(shutil.copytree(default_root(), place.root / "spec"))
    (spec / "server/live.json").unlink()
    done = place.run("--live", "--spec", str(spec))
    assert (done.returncode, done.stdout) == (2, "")
    assert "live.json" in done.stderr
