"""What differs over HTTP from stdio: ports that break `http:equivalence`."""

import json
from contextlib import suppress
from typing import Any

from conditions import failed, is_refusal, refused, results
from defects.protocol.shared import turns_away
from defects.record import defect
from defects.shared import without_stderr
from http_port import HttpPort
from posting import LENGTH
from running import Call
from speaking import JSON, Message, as_object
from steps import gives, takes, without

LARGE = 4 * 1024 * 1024
NODE_BODY_LIMIT = 100 * 1024
"""What the most popular package for Node reads of a body by default."""
PIPE = 64 * 1024
BODY_LIMIT = 16 * 1024 * 1024


def silent_stream_failed(call: Call, result: Message) -> bool:
    return call.token is not None and failed(call, result)


def read_as_latin(port: Any, real: Any, line: bytes) -> JSON:
    """So HTTP/1.1 read a text whose charset was not named."""
    if "charset" in (port.current.post.headers.get("Content-Type") or ""):
        return real(line)
    return real(line.decode("latin-1").encode())


def divided_events(port: Any, real: Any, message: Message) -> None:
    """Begins a new line of the event where the text has one of Unicode."""
    post = port.current.post
    text = json.dumps(message, ensure_ascii=False)
    if not ("method" in message or post.is_stream) or "\u2028" not in text:
        real(message)
        return
    with suppress(OSError):
        post.event(text.replace("\u2028", "\ndata: ").encode("utf-8", "replace"))


def stderr_over_http(port: Any, real: Any, failure: Any) -> str:
    return real(failure)[: len("\nStderr: ")] if failure.stderr else real(failure)


def without_end(port: Any, real: Any, message: Message) -> None:
    """An event ends with an empty line, or it is none."""
    post = port.current.post
    if post.is_stream and "id" in message:
        post.wfile.write(b"data: " + port.encoded(message))
    else:
        real(message)


def unprocessable(port: Any, real: Any, message: Message) -> int:
    result = as_object(message.get("result")) or {}
    return 422 if is_refusal(result) else real(message)


def length_in_characters(port: Any, real: Any, message: Message) -> None:
    post = port.current.post
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":")) + "\n"
    try:
        body = text.encode()
    except UnicodeEncodeError:
        body = None
    if body is None or "method" in message or post.is_stream:
        real(message)
    else:
        with suppress(OSError):
            post.reply(port.status(message), body, {**port.headers(message), LENGTH: str(len(text))})


def in_data_lines(port: Any, real: Any, message: Message) -> None:
    """Each `data:` of an event holds 64 KiB at most; a client joins them by newlines."""
    post, data = port.current.post, port.encoded(message).strip()
    if ("method" in message or post.is_stream) and len(data) > PIPE:
        pieces = [data[at : at + PIPE] for at in range(0, len(data), PIPE)]
        post.event(b"\ndata: ".join(pieces))
    else:
        real(message)


def bodies_limited(port: Any, real: Any, post: Any, body: bytes) -> None:
    if len(body) > BODY_LIMIT:
        post.reply(413)
    else:
        real(post, body)


def ends_stream_of_refused(port: Any, real: Any, call: Call, result: Message) -> None:
    if call.token is not None and refused(call, result):
        call.is_answered = True
    else:
        real(call, result)


def streams_failures(port: Any, real: Any, message: Message) -> int:
    """Answers a call that failed with a status of its own."""
    return 500 if as_object(message.get("result")) and message["result"].get("isError") else real(message)


defect(
    "stderr-lost-in-streams",
    "Quotes no stderr over HTTP in a call that asks for progress.",
    "http:equivalence",
)(HttpPort, execute=results(silent_stream_failed, without_stderr))
defect(
    "posts-read-as-latin",
    "Reads a body as Latin-1 whose charset is not named.",
    "http:equivalence",
)(HttpPort, parse=read_as_latin)
defect("events-divided-by-separators", "Divides an event at U+2028.", "http:equivalence")(
    HttpPort, write=divided_events
)
defect("stderr-lost-over-http", "Quotes no stderr, which the port over stdio does.", "http:equivalence")(
    HttpPort, stderr_part=stderr_over_http
)
defect(
    "text-stripped-over-http",
    "Strips the text of an answer, which the port over stdio does not.",
    "http:equivalence",
    "result:text",
)(HttpPort, whole=gives(str.strip))
defect(
    "session-unnamed-over-http",
    "Does not name the session of a call, which the port over stdio does.",
    "http:equivalence",
    "result:session-id",
)(HttpPort, success=gives(without("_meta")))
defect("last-event-unended", "Ends the last event of a stream without an empty line.", "http:equivalence")(
    HttpPort, write=without_end
)
defect("bodies-over-4-mib-refused", "Refuses a body of more than 4 MiB.", "http:equivalence", "prompt:long")(
    HttpPort, posted=turns_away(413, lambda port, post, body: len(body) > LARGE)
)
defect("refusals-are-unprocessable", "Answers a refused argument with status 422.", "http:equivalence")(
    HttpPort, status=unprocessable
)
defect(
    "length-in-characters-over-http",
    "Counts characters for the length of a body, so that an answer beyond ASCII is cut.",
    "http:equivalence",
)(HttpPort, write=length_in_characters)
defect("bodies-over-100-kib-refused", "Refuses a body of more than 100 KiB.", "http:equivalence")(
    HttpPort, posted=turns_away(413, lambda port, post, body: len(body) > NODE_BODY_LIMIT)
)
defect(
    "long-events-divided",
    "Divides an event of more than 64 KiB into several lines of data.",
    "http:equivalence",
)(HttpPort, write=in_data_lines)
defect(
    "large-bodies-rejected",
    "Rejects a body of more than 16 MiB, as that of a prompt of 6 MiB in escapes may be.",
    "http:equivalence",
    "prompt:long",
)(HttpPort, posted=bodies_limited)
defect(
    "first-line-of-body-read",
    "Reads the first line of a body, as if it came over stdio.",
    "http:equivalence",
    "http:content-type",
)(HttpPort, posted=takes(lambda body: body.split(b"\n")[0]))
defect(
    "stream-of-refused-ended",
    "Ends the stream of a refused call that asks for progress without an answer.",
    "http:equivalence",
    "arguments:refused:is-error",
)(HttpPort, answer=ends_stream_of_refused)
defect("failures-are-server-errors", "Answers a call that failed with status 500.", "http:equivalence")(
    HttpPort, status=streams_failures
)
