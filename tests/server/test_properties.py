"""The pure core under arbitrary input: properties that no example can exhaust."""

import base64
import json
import re
import tracemalloc
from collections.abc import Callable, Mapping
from typing import Protocol, cast
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from gemini_mcp.call import json_search
from gemini_mcp.call.arguments import check
from gemini_mcp.call.encoded import PIECE
from gemini_mcp.call.invocation import plan
from gemini_mcp.call.json_search import find
from gemini_mcp.call.json_structure import NO_END, Structure
from gemini_mcp.call.listing import newest_session
from gemini_mcp.call.outcome import Answer, Completed, Failure, View, answer_result, failure_result
from gemini_mcp.call.outcome import read as understood_outcome
from gemini_mcp.call.redaction import Secrets, mask, withhold
from gemini_mcp.errors import CallerError
from gemini_mcp.gemini_cli.understanding import Understood, effective_prompt, understand
from gemini_mcp.gemini_cli.yargs import Value
from gemini_mcp.spec import ToolSpec, load_server
from gemini_mcp.spec.values import SURROGATE, Json
from gemini_mcp.transport import messages
from gemini_mcp.transport.guard import Access, rejection
from gemini_mcp.transport.messages import Lines, Malformed, Request, read, write

SERVER = load_server()
TOOLS = {tool.name: tool for tool in SERVER.tools}

TRICKY = st.sampled_from(
    [
        *("-", "--", "-h", "-r", "--yolo", "-m", "--prompt=x", "--model", "--help", "-p", "-5", "---", "--no-x", "-o"),
        *("mcp", "help", "extensions", "gemma", "hook", "latest", "1e3", "0x10", "1.0", ".5", "5.", "007", "Infinity"),
        *("@file", "/quit", "!ls", "$(x)", "`x`", "a b", "'", '"', "\\", "\n", "\r\n", "\t", " ", "\ufeff", "=", "a=b"),
    ]
)
TEXTS = st.one_of(
    TRICKY,
    st.lists(TRICKY, max_size=3).map("".join),
    st.text(st.characters(), max_size=20),
    st.text(st.characters(categories=["Cs", "Cc", "L", "N"]), max_size=8),
)
JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.requirement(
    "injection:option:prompt",
    "injection:option:model",
    "injection:option:session-id",
    "prompt:verbatim:dash",
    "prompt:verbatim:number",
    "command:chat:new-session",
)
@given(
    st.sampled_from(sorted(TOOLS)),
    st.fixed_dictionaries(
        {"prompt": TEXTS}, optional=dict.fromkeys(("model", "sessionId", "cwd", "systemPrompt"), TEXTS)
    ),
)
def test_no_argument_becomes_an_option(tool: str, arguments: Mapping[str, str]) -> None:
    try:
        invocation = plan(TOOLS[tool], arguments, SERVER.invocation)
    except CallerError:
        return
    understood = understand(invocation.argv)
    assert isinstance(understood, Understood)
    stdin = None if invocation.stdin is None else invocation.stdin.encode()
    assert effective_prompt(understood, stdin) == arguments["prompt"]
    model, resume = trimmed(arguments.get("model")), trimmed(arguments.get("sessionId")) or "latest"
    options = {"model": model, "resume": resume if tool == "chat-reply" else None, "output-format": "json"}
    assert understood.values == {name: value for name, value in options.items() if value is not None}


def trimmed(value: str | None) -> Value | None:
    """What gemini makes of the value of an option."""
    understood = understand(("x", "-m", value)) if value else None
    return understood.values.get("model") if isinstance(understood, Understood) else None


@pytest.mark.requirement("arguments:nul", "arguments:surrogate", "arguments:control", "prompt:empty")
@given(TEXTS, st.sampled_from(["prompt", "model", "sessionId", "cwd", "systemPrompt"]))
def test_a_value_is_refused_exactly_when_it_cannot_be_passed(value: str, name: str) -> None:
    cannot = "\0" in value or re.search("[\ud800-\udfff]", value) is not None
    if name == "prompt":
        cannot |= value == ""
    if name in ("model", "sessionId"):
        cannot |= value.startswith("-") or re.search("[\x00-\x1f\x7f-\x9f]", value) is not None
    arguments = {"prompt": "x", name: value}
    assert refuses(lambda: plan(TOOLS["chat-reply"], arguments, SERVER.invocation)) is cannot


def refuses(step: Callable[[], object]) -> bool:
    try:
        step()
    except CallerError:
        return True
    return False


NOTICES = st.text(st.sampled_from("ab {}[]\"'\\:,\n\t0é"), max_size=30)
"""Text around the answer; braces too."""


@pytest.mark.requirement(
    "result:json:notice-before", "result:json:notice-after", "result:json:pretty", "result:json:compact"
)
@given(st.text(st.sampled_from("ab []\"'\\:,\n\té"), max_size=30), st.text(), JSONS, NOTICES, st.booleans())
def test_an_answer_is_found_whatever_is_around_it(
    before: str, said: str, stats: Json, after: str, pretty: bool
) -> None:
    value = {"response": said, "stats": stats}
    assume("response" not in after)
    text = f"{before}\n{json.dumps(value, indent=2 if pretty else None)}\n{after}"
    assert find(text, lambda found: "response" in found).value == value


@given(st.text(st.sampled_from('{}[]":,\\abr\n\0\ud800'), max_size=200) | st.text(max_size=200), JSONS)
def test_the_search_for_an_answer_never_fails(text: str, value: Json) -> None:
    for output in (text, text + json.dumps(value) + text, "{" * 200 + text, json.dumps({"response": value})[:-1]):
        printed = output.encode("utf-8", "replace")
        for outcome in (Completed(0, printed, output), Completed(1, printed, output)):
            result = understood_outcome(outcome, SERVER.outcome)
            assert isinstance(result, Answer | Failure)
        newest_session(Completed(0, printed, output), SERVER.invocation.listing.entry)


@pytest.mark.requirement("result:text:unicode", "result:text:surrogate")
@given(st.text(st.characters()), st.text(), st.sampled_from(["", "\n{é\n", '{"a":"\\u00e9"}\n', "\N{PARROT}\n"]))
def test_an_answer_does_not_depend_on_how_its_characters_are_written(said: str, warning: str, before: str) -> None:
    value = {"session_id": "é", "response": said, "warnings": [{warning: warning}]}
    written = [json.dumps(value, ensure_ascii=ascii_only) for ascii_only in (True, False)]
    # In a string, a half of a pair is written as it is only by what does not write UTF-8.
    halves = SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", written[1])
    for text in (written[0], halves):
        answer = understood_outcome(Completed(0, (before + text).encode("utf-8"), ""), SERVER.outcome)
        assert isinstance(answer, Answer)
        assert str(answer.text) == SURROGATE.sub("\ufffd", said)
        assert (answer.session, answer.warnings) == ("é", [{warning: warning}])


@given(st.binary(max_size=40))
def test_bytes_that_are_no_text_become_what_they_become_in_a_text(data: bytes) -> None:
    said = re.sub(rb'["\\\x00-\x1f]', b"", data)
    answer = understood_outcome(Completed(0, b'{"response":"%b"}' % said, ""), SERVER.outcome)
    assert isinstance(answer, Answer)
    assert str(answer.text) == "".join(answer.text.pieces()) == said.decode("utf-8", "replace")


def test_an_emoji_does_not_make_all_copies_of_a_long_answer_wide() -> None:
    size = 1 << 20
    printed = json.dumps({"response": "a line\n" * (size // 7) + "\N{PARROT}"}, ensure_ascii=False).encode("utf-8")
    tracemalloc.start()
    try:
        answer = understood_outcome(Completed(0, printed, ""), SERVER.outcome)
        assert isinstance(answer, Answer)
        messages.result(1, answer_result(answer, SERVER.outcome, View()))
        assert tracemalloc.get_traced_memory()[1] < 4 * len(printed)
    finally:
        tracemalloc.stop()


PIECES = [*'{}[]",:\\x-', "\n", " ", '{"', '"a":', '{"a":[\n', '\\"', '"b"', "\\u12", "\\ud83e"]
SCALARS = ["1", "1.5e3", "1.", "tru", "null", "NaN", "-Infinity"]
BROKEN = st.lists(st.sampled_from([*PIECES, *SCALARS]), max_size=12).map("".join)
"""Texts that may be half of an object."""

WORST = ['{"a":[\n', '\n{"a":1,', '{"', '{"a":"\\"', '{"a":"{\\"b\\":', '{"a":{"b":{"c":1}}} x\n', '{"a":1 ', "{\n"]
"""Texts that made earlier searches slow."""


class Counting:
    """Decodes as JSONDecoder does, and counts the characters that it has read."""

    def __init__(self) -> None:
        self.read = 0

    def raw_decode(self, text: str) -> tuple[Json, int]:
        try:
            value, end = json.JSONDecoder().raw_decode(text)
        except json.JSONDecodeError as error:
            self.read += len(text) if error.msg.startswith("Unterminated") else error.pos
            raise
        except RecursionError:
            self.read += len(text)
            raise
        self.read += end
        return value, end


@given(BROKEN | st.sampled_from(WORST), st.integers(1, 3000))
def test_the_search_for_an_answer_reads_no_place_more_than_a_few_times(piece: str, times: int) -> None:
    decoder, scanned = Counting(), 0

    class CountedStructure(json_search.Structure):
        def __init__(self, text: str, start: int) -> None:
            nonlocal scanned
            super().__init__(text, start)
            scanned += self.end - start

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_search, "DECODER", decoder)
        patch.setattr(json_search, "Structure", CountedStructure)
        find(piece * times, lambda _: False)
    assert scanned <= 4 * len(piece) * times + 100
    assert decoder.read <= 16 * len(piece) * times + 1000


@given(JSONS.map(lambda value: json.dumps({"a": value})) | BROKEN.map(lambda text: '{"a":' + text))
def test_a_structure_ends_where_the_decoder_ends(text: str) -> None:
    try:
        end = json.JSONDecoder().raw_decode(text)[1]
    except ValueError:
        end = NO_END
    found = Structure(text, 0).find(0)
    assert (found[0] if found else NO_END) == end


@given(st.text(min_size=1).filter(lambda text: not text.isspace()), st.data())
def test_an_answer_that_breaks_off_is_never_an_answer(said: str, data: st.DataObject) -> None:
    whole = json.dumps({"session_id": "a", "response": said}, indent=2)
    cut = data.draw(st.integers(len('{\n  "s'), len(whole) - 1))
    assert isinstance(understood_outcome(Completed(0, whole[:cut].encode(), ""), SERVER.outcome), Failure)


KEYS = st.one_of(
    st.from_regex(r"AIza[0-9A-Za-z_-]{35}", fullmatch=True),
    st.from_regex(r"sk-[0-9A-Za-z]{30}", fullmatch=True),
    st.from_regex(r"ghp_[0-9A-Za-z]{36}", fullmatch=True),
)
WORDS = st.text(st.sampled_from("abc .\n'\"é{}"), max_size=20)


@pytest.mark.requirement("error:secrets", "error:prompt")
@given(
    WORDS,
    st.text(min_size=8, max_size=30).filter(lambda text: len(text.strip()) >= 8),
    KEYS,
    st.text("xyz", min_size=8),
    WORDS,
)
def test_neither_the_prompt_nor_a_key_is_shown(before: str, prompt: str, key: str, secret: str, after: str) -> None:
    copies = (prompt, json.dumps(prompt), json.dumps(prompt, ensure_ascii=False))
    stderr = "\n".join(f"{before} {hidden} {after}" for hidden in (*copies, key, secret))
    assume(prompt not in SERVER.outcome.private + SERVER.outcome.masked)
    secrets = Secrets((prompt,), (secret,))
    shown = redacted(stderr, secrets)
    assert prompt not in shown
    assert key not in shown or key in prompt
    assert secret not in shown
    failed = failure_result(Failure("exit", {"exit": "1"}, stderr, stderr, 1), SERVER.outcome, secrets)
    assert prompt not in failed["content"][0]["text"].partition(SERVER.outcome.separator)[2]


@given(
    st.permutations(
        ["The plan of nobody.", "The plan of nobody. It goes on.", "Of it: The plan of nobody. It goes on."]
    )
)
def test_a_private_text_that_holds_another_is_withheld_whole(private: list[str]) -> None:
    for text in private:
        assert withhold(text, Secrets(tuple(private)), SERVER.outcome) == SERVER.outcome.private


@given(st.text(), st.lists(st.text(min_size=1), max_size=2))
def test_what_was_redacted_stays_as_it_is(text: str, private: list[str]) -> None:
    secrets = Secrets(tuple(private), ())
    assume(not any(part.strip() in "[withheld][masked]" for part in private))
    once = redacted(text, secrets)
    assert redacted(once, secrets) == once


@given(st.text(min_size=8, max_size=40).filter(str.isprintable), st.binary(max_size=5), st.binary(max_size=5))
def test_no_form_of_the_value_of_a_secret_variable_is_shown(key: str, before: bytes, after: bytes) -> None:
    whole = before + key.encode("utf-8") + after
    secrets = Secrets(keys=(key,))
    percent = [quote(key, safe=safe) for safe in ("", "/", "!'()*")]
    percent += [quote_plus(key), quote_plus(key, safe="*").replace("~", "%7E")]
    raw = key.encode("utf-8")
    percent += ["".join(f"%{byte:02X}" for byte in raw), re.sub("%..", lambda code: code[0].lower(), percent[0])]
    escaped = [json.dumps(key, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)]
    escaped += [json.dumps(form, ensure_ascii=False)[1:-1] for form in escaped]
    for form in (*percent, *escaped, raw.hex(), raw.hex().upper()):
        assert form not in withhold(form, secrets, SERVER.outcome)
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        shown = withhold(encode(whole).decode("ascii"), secrets, SERVER.outcome)
        assert SERVER.outcome.masked in shown
        # What is left besides the mask are at most the neighbours of the key and the characters that it shares.
        assert len(shown.replace(SERVER.outcome.masked, "")) <= (len(before) + len(after)) * 4 / 3 + 8


def test_no_part_of_a_key_is_shown_where_the_search_begins() -> None:
    stderr = f"AIza{'x' * 500} " * 2000
    failed = failure_result(Failure("exit", {"exit": "1"}, stderr, None, 1), SERVER.outcome, Secrets())
    assert "x" * 20 not in failed["content"][0]["text"]


def redacted(text: str, secrets: Secrets) -> str:
    return mask(withhold(text, secrets, SERVER.outcome), SERVER.outcome)


class Validator(Protocol):
    """The part of a validator whose types are known."""

    def is_valid(self, instance: Json) -> bool: ...


SCHEMAS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["string", "integer", "number", "boolean", "array", "object", "null"])
        | st.lists(st.sampled_from(["string", "integer", "null"]), min_size=1, unique=True),
        "enum": st.lists(st.text(max_size=2) | st.integers(), min_size=1, max_size=3),
        "minLength": st.integers(0, 4),
        "maxLength": st.integers(0, 4),
        "pattern": st.sampled_from(["^a", "b$", "[0-9]"]),
        "minimum": st.integers(-2, 2),
        "maximum": st.integers(-2, 2),
    },
)


@pytest.mark.requirement("arguments:prompt:type", "arguments:optional:type", "arguments:optional:null")
@given(SCHEMAS, JSONS)
def test_an_argument_is_accepted_exactly_when_its_schema_accepts_it(schema: Json, value: Json) -> None:
    tool = ToolSpec("t", {"inputSchema": {"type": "object", "properties": {"a": schema}, "required": ["a"]}})
    validator = cast("Validator", Draft202012Validator(schema))
    assert refuses(lambda: check(tool, {"a": value, "unknown": value})) is not validator.is_valid(value)


@pytest.mark.requirement("rpc:alive:malformed", "rpc:error:parse", "rpc:error:request")
@given(st.binary(max_size=60) | JSONS.map(lambda value: json.dumps(value).encode()))
def test_any_line_is_a_message_or_has_an_answer(line: bytes) -> None:
    message = read(line)
    if isinstance(message, Malformed):
        response = json.loads(message.answer)
        assert response["error"]["code"] in (-32700, -32600)
        assert message.answer.count(b"\n") == 1


@pytest.mark.requirement("stdio:framing", "stdio:encoding", "rpc:alive:surrogate", "rpc:response:id")
@given(st.text(st.characters(), max_size=20), st.integers() | st.text(st.characters(), max_size=9), JSONS)
@example("what needs escapes", 1, {'"': 'quote " backslash \\ line\n control \x00\x1f'})
@example("an emoji where the text is cut", 1, "x" * (PIECE - 1) + "\N{PARROT}" + "y" * PIECE)
@example("an escape where the text is cut", 1, "x" * (PIECE - 1) + '"\\\n' + "y" * PIECE)
@example("lone surrogates", 1, ["\ud83e", "x" * PIECE + "\udd9c"])
def test_a_request_survives_being_written_and_read(method: str, id: int | str, params: Json) -> None:
    request = Request(id, method, {"a": params})
    line = write(request)
    assert (line.count(b"\n"), line[-1:]) == (1, b"\n")
    assert read(bytes(line)) == request


@pytest.mark.requirement("rpc:alive:chunks")
@given(st.lists(st.binary(max_size=9) | st.sampled_from([b"\n", b"\r\n", b" ", b"a\nb"]), max_size=20))
def test_lines_do_not_depend_on_how_they_arrive(chunks: list[bytes]) -> None:
    lines = Lines()
    cut = [line for chunk in chunks for line in lines.feed(chunk)] + lines.end()
    assert cut == [line for line in b"".join(chunks).split(b"\n") if line.strip()]


@given(st.text(" \t\n", max_size=3), st.text(max_size=40))
def test_a_blank_prompt_withholds_nothing(blank: str, text: str) -> None:
    assert withhold(text, Secrets((blank,)), SERVER.outcome) == text


@given(st.lists(st.binary(max_size=30) | st.sampled_from([b"\n", b"x" * 50]), max_size=20))
def test_a_line_that_is_too_long_is_answered_and_not_kept(chunks: list[bytes]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(messages, "LONGEST_LINE", 20)
        lines = Lines()
        cut = [line for chunk in chunks for line in lines.feed(chunk)] + lines.end()
        whole = [line for line in b"".join(chunks).split(b"\n") if line.strip()]
        assert [line if len(line) <= 20 else b"" for line in cut] == [
            line if len(line) <= 20 else b"" for line in whole
        ]
        assert all(len(line) <= 20 + 50 + 50 for line in cut)
        assert all(isinstance(read(line), Malformed) for line in cut if len(line) > 20)


@pytest.mark.requirement("http:origin")
@given(st.text(max_size=30).map(lambda text: text.encode("utf-8")), st.binary(max_size=30))
def test_no_other_host_or_origin_passes(host: bytes, origin: bytes) -> None:
    access = Access(frozenset({"127.0.0.1:1"}), frozenset({"http://127.0.0.1:1"}), "token")
    assert rejection({b"host": host, b"origin": origin, b"authorization": b"Bearer " + host}, access) is not None
