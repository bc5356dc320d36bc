"""Answers that an era, a transport or a reader loses or changes: ports that break `result`."""

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from answering import Scan
from conditions import results
from defects.protocol.shared import stateless, waits_for_reader, written
from defects.record import defect
from defects.shared import names
from http_port import HttpPort
from port import META, Port
from running import Call
from speaking import PARSE_ERROR, Message, as_object
from steps import Step, before, gives, without

BUFFER = 64 * 1024
LARGEST_INT = 2**31 - 1
PIECE = 65536
SECONDS = 2.0


def second_of_three(port: Any, real: Any, stdout: str, stderr: str) -> Any:
    answers = [value for _, value in port.scan(stdout).objects if "response" in value]
    return port.read_json(answers[1], stderr) if len(answers) > 2 else real(stdout, stderr)


def text_behind_brace_hides(port: Any, real: Any, text: str) -> Any:
    last = text.rfind("}")
    return real("" if last >= 0 and text[last + 1 :].partition("\n")[0].strip() else text)


def closing_brace_hides(port: Any, real: Any, text: str) -> Any:
    start = text.find("{")
    return real("" if "}" in text[: max(start, 0)] else text)


def notes_post(port: Any, identity: Any, params: Any, stateless: bool) -> None:
    port.memory.setdefault("posts", {})[repr(identity)] = port.current.post


def to_latest_post(port: Any, real: Any, message: Message) -> None:
    """Keeps the posts that wait by the ids of their requests, as if there were one client."""
    own = port.current.post
    if "content" in message.get("result", {}):
        port.current.post = port.memory["posts"].get(repr(message["id"]), own)
    if port.current.post is own or not port.current.post.is_answered:
        real(message)


def ends_calls_of_others(port: Any, post: Any, body: bytes) -> None:
    for call in list(port.calls):
        if not call.stateless and port.posts[call].session != post.session:
            Port.cancel(port, call)


def measures(port: Any, real: Any, line: bytes) -> None:
    port.memory["length"] = len(line)
    real(line)


def begins_afresh(port: Any, real: Any, identity: Any, code: int, message: str) -> None:
    """What stands in the buffer cannot be trusted any more, nor can the requests that came by it."""
    real(identity, code, message)
    if code == PARSE_ERROR and port.memory["length"] > BUFFER:
        for call in list(port.calls):
            port.cancel(call)


def without_session_until_response(port: Any, real: Any, value: Mapping[str, Any], stderr: str) -> Any:
    keys = list(value)
    if "session_id" in value and "response" in value and keys.index("session_id") > keys.index("response"):
        value = {key: it for key, it in value.items() if key != "session_id"}
    return real(value, stderr)


def notes_post_of_id(port: Any, real: Any, identity: Any, *others: Any) -> None:
    port.memory[repr(identity)] = port.current.post
    real(identity, *others)


def answer_to_latest_post(port: Any, real: Any, call: Call, result: Message) -> None:
    port.current.post = port.memory[repr(call.id)]
    real(call, result)


def disconnects_all(port: Any, real: Any, call: Call) -> None:
    for other in list(port.calls):
        if other.stateless:
            real(other)


def counts_braces(port: Any, real: Any, value: Mapping[str, Any], stderr: str) -> Any:
    text = value.get("response")
    if isinstance(text, str) and text.count("{") != text.count("}"):
        value = {**value, "response": None}
    return real(value, stderr)


def reading_no(test: Callable[[Mapping[str, Any]], bool]) -> Step:
    """Of `scan`: passes over objects of which `test` holds."""
    return gives(lambda scan: Scan([each for each in scan.objects if not test(each[1])], scan.is_cut_short))


def has_large_number(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(has_large_number, value.values()))  # pyright: ignore[reportUnknownArgumentType,reportUnknownMemberType]
    return type(value) is int and value > LARGEST_INT


def has_surrogate_elsewhere(value: Mapping[str, Any]) -> bool:
    rest = json.dumps({name: part for name, part in value.items() if name != "response"}, ensure_ascii=False)
    return re.search("[\ud800-\udfff]", rest) is not None


def holds_fraction(value: Any) -> bool:
    found: list[str] = []
    json.loads(json.dumps(value), parse_float=found.append)
    return bool(found)


def counted(scan: Scan) -> Scan:
    """Without the objects in which a number is no whole one: every count is read into an integer."""
    return replace(scan, objects=[each for each in scan.objects if not holds_fraction(each[1])])


def dies_of_slow_reader(port: Any, real: Any, message: Message) -> None:
    line = written(port, message)
    while line:
        if not waits_for_reader(3):
            os._exit(1)
        line = line[os.write(1, line[:4096]) :]


def in_data_lines(port: Any, real: Any, message: Message) -> bytes:
    """A client joins the lines of an event with newlines."""
    data = real(message)
    if not port.current.post.is_stream:
        return data
    return b"\ndata: ".join(data[start : start + PIECE] for start in range(0, len(data), PIECE))


def warns_in_stream(call: Call, result: Message) -> bool:
    return call.token is not None and "warnings" in result.get("_meta", {})


def without_warnings(result: Message) -> Message:
    return {**result, "_meta": without("warnings")(result["_meta"])}


def remembers_meta(port: Any, real: Any, identity: Any, params: Any, stateless: bool) -> Any:
    call = real(identity, params, stateless)
    call.asked_with = as_object(params.get("_meta")) or {}
    return call


def echoes_meta(port: Any, real: Any, call: Any, result: Any) -> Any:
    own = {name: value for name, value in call.asked_with.items() if name != "progressToken"}
    own = {name: value for name, value in own.items() if not name.startswith(META)}
    if own and "isError" not in result:
        result = {**result, "_meta": {**result.get("_meta", {}), **own}}
    return real(call, result)


def hurries(port: Any, real: Any, message: Message) -> None:
    """The limit for reading a request is that for writing its answer, too."""
    port.current.post.connection.settimeout(SECONDS)
    real(message)


defect("second-of-three-answers-taken", "Takes the second of three answers.", "result:json:last")(
    read_stdout=second_of_three
)
defect("text-behind-brace-hides-json", "Finds no JSON with text behind it on its line.", "result:json:notice-after")(
    scan=text_behind_brace_hides
)
defect("closing-brace-hides-json", "Finds no JSON behind a brace that closes nothing.", "result:json:notice-before")(
    scan=closing_brace_hides
)
defect(
    "stateless-session-overwritten",
    "Replaces the `_meta` of a call by its own name, and the session with it.",
    "result:session-id",
)(finished=lambda port, real, result, stateless: real({**result, "_meta": {}} if stateless else result, stateless))
defect(
    "ids-of-clients-mixed",
    "Sends the answer of a call to the latest client whose call has the same id.",
    "result:session-id",
    "concurrency:crossed",
)(HttpPort, begin_call=before(notes_post), write=to_latest_post)
defect(
    "delete-ends-calls-of-others",
    "Cancels the calls of all other sessions when one is ended.",
    "result:session-id",
    "concurrency:lost",
)(HttpPort, deleted=before(ends_calls_of_others))
defect(
    "calls-dropped-by-long-garbage",
    "Cancels all calls that run when a line of more than 64 KiB is no JSON.",
    "result:session-id",
    "rpc:alive:malformed",
)(receive=measures, send_error=begins_afresh)
defect("session-behind-response-unread", "Reads no session that stands behind the response.", "result:session-id")(
    read_json=without_session_until_response
)
defect(
    "answer-to-latest-post-of-id",
    "Sends the answer of a call to the latest post with the same id, be it one of another session.",
    "result:session-id",
)(HttpPort, begin_call=notes_post_of_id, answer=answer_to_latest_post)
defect(
    "streamed-session-lost-beside-directory-and-model",
    "Names no session of a call over HTTP with a directory and a model that asks for progress.",
    "result:session-id",
)(
    HttpPort,
    execute=results(
        lambda call, result: call.token is not None and names("cwd", "model")(call) and "_meta" in result,
        without("_meta"),
    ),
)
defect(
    "disconnection-ends-all",
    "Cancels all calls of the era when a client leaves.",
    "result:session-id:changed",
    "http:stateless:disconnect",
)(HttpPort, disconnected=disconnects_all)
defect("braces-of-answer-counted", "Counts the braces of an answer with those of its JSON.", "result:text")(
    read_json=counts_braces
)
defect(
    "large-number-hides-answer",
    "Does not read an answer beside a whole number beyond 32 bits.",
    "result:text",
)(scan=reading_no(has_large_number))
defect(
    "surrogate-elsewhere-hides-answer",
    "Does not read an answer beside a text with a lone surrogate.",
    "result:text",
)(scan=reading_no(has_surrogate_elsewhere))
defect("mark-hides-json", "Finds no JSON behind a byte order mark.", "result:text")(
    scan=lambda port, real, text: Scan() if text.startswith("\ufeff") else real(text)
)
defect(
    "fraction-hides-answer",
    "Does not read an answer beside a number that is no whole one.",
    "result:text",
)(scan=gives(counted))
defect(
    "dies-of-slow-reader",
    "Ends when the client does not read for three seconds.",
    "result:text",
    "result:large-stdout",
)(write=dies_of_slow_reader)
defect(
    "large-events-in-lines",
    "Parts an event of more than 64 KiB into several lines of data.",
    "result:text:unicode",
    "result:large-stdout",
)(HttpPort, encoded=in_data_lines)
defect("stateless-warnings-lost", "Leaves warnings out in this era.", "result:warnings")(
    finished=stateless(lambda result: {**result, "_meta": without("warnings")(result["_meta"])})
)
defect(
    "warnings-lost-in-streams",
    "Reports no warnings over HTTP in a call that asks for progress.",
    "result:warnings",
)(HttpPort, execute=results(warns_in_stream, without_warnings))
defect(
    "metadata-of-call-returned",
    "Returns the `_meta` of a call over that of its answer, so that a `sessionId` in it hides gemini's.",
    "result:session-id",
    "result:session-id:chat-reply",
)(new_call=remembers_meta, answer=echoes_meta)
defect(
    "posted-answer-given-up",
    "Gives an answer over HTTP up that the client does not read within two seconds.",
    "result:text",
    "http:equivalence",
    "result:large-stdout",
)(HttpPort, write=hurries)
