"""Lines that are no messages, and stderr that nobody asked for: ports that break `stdio`."""

import json
import os
import re
import select
import sys
import time
from contextlib import suppress
from typing import Any

from answering import EXITS, Failure
from defects.protocol.shared import PIPE, notes_body, waits_for_reader, written
from defects.record import defect
from defects.shared import log
from http_port import HttpPort
from planning import Plan
from running import Call
from speaking import JSON, Message, RpcError, as_object
from steps import Step, before, gives

DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")
MEGABYTE = 1024 * 1024


def encoded_as(encoding: str, errors: str) -> Step:
    return lambda port, real, message: json.dumps(message, ensure_ascii=False).encode(encoding, errors) + b"\n"


def pretty_list(port: Any, real: Any, message: Message) -> bytes:
    is_list = "tools" in (as_object(message.get("result")) or {})
    return json.dumps(message, indent=2).encode() + b"\n" if is_list else real(message)


def warns_of_directions(port: Any, call: Call, plan: Plan) -> None:
    if DIRECTIONS.search(call.arguments["prompt"]):
        log(f"the prompt may not be what it looks like: {call.arguments['prompt']}")


def logs_unsent(port: Any, real: Any, message: Message) -> None:
    line = port.encoded(message)
    try:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        log(f"could not send {line.decode()}")


def logs_invalid(port: Any, message: JSON) -> None:
    if not port.is_valid(message):
        log(f"no valid request: {json.dumps(message)}")


def logs_unknown_exit(port: Any, exit: int, stderr: str) -> None:
    if exit > 0 and exit not in EXITS:
        log(f"exit code {exit}: {stderr}")


def logs_mismatch(port: Any, real: Any, method: str, params: Any) -> None:
    try:
        real(method, params)
    except RpcError as error:
        log(f"{error}: {port.current.body.decode('utf-8', 'replace')}")
        raise


def logs_output(port: Any, stdout: str) -> None:
    print(f"warning: no JSON in the output of gemini: {stdout}", file=sys.stderr, flush=True)


def logs_failure(port: Any, failure: Failure) -> None:
    if failure.stderr is not None:
        with port.output:
            print("ERROR gemini failed", flush=True)


def lets_others_in(port: Any, real: Any, message: Message) -> None:
    data = port.encoded(message)
    with suppress(BrokenPipeError):
        for at in range(0, len(data), MEGABYTE):
            if at:
                port.output.release()
                time.sleep(0.01)
                port.output.acquire()
            sys.stdout.buffer.write(data[at : at + MEGABYTE])
            sys.stdout.buffer.flush()


def says_goodbye(port: Any) -> None:
    if port.ended_by_signal and select.select([], [1], [], 0)[1]:
        with suppress(OSError):
            os.write(1, b"Server stopped.\n")


def in_turns(port: Any, real: Any, message: Message) -> None:
    """Lets others write between the pieces of a long line."""
    line = written(port, message)
    for start in range(0, len(line), PIPE):
        if start:
            port.output.release()
            time.sleep(0.002)
            port.output.acquire()
        os.write(1, line[start : start + PIPE])


def patient_for(seconds: float) -> Step:
    """Gives the rest of a line up when nobody reads it for so long."""

    def write(port: Any, real: Any, message: Message) -> None:
        line = written(port, message)
        while line and waits_for_reader(seconds):
            line = line[os.write(1, line[:4096]) :]
        if line and waits_for_reader(60):
            os.write(1, b"\n")

    return write


defect("latin1-output", "Writes its messages in the encoding of an old locale.", "stdio:encoding")(
    encoded=encoded_as("latin-1", "replace")
)
defect("raw-surrogates", "Writes half characters of an answer as bytes that are no UTF-8.", "stdio:encoding")(
    whole=lambda port, real, text: text, encoded=encoded_as("utf-8", "surrogatepass")
)
defect("pretty-tool-list", "Writes the list of its tools over several lines.", "stdio:framing")(encoded=pretty_list)
defect(
    "turned-prompt-logged",
    "Logs a prompt with characters that turn its direction, as a warning.",
    "stdio:stderr:private",
)(ask=before(warns_of_directions))
defect(
    "unsent-answer-logged",
    "Logs an answer that it cannot send since the client has closed its end.",
    "stdio:stderr:private",
)(write=logs_unsent)
defect(
    "invalid-requests-logged",
    "Logs JSON that is no valid request, as a call whose id is null.",
    "stdio:stderr:private",
)(dispatch=before(logs_invalid))
defect(
    "stderr-of-unknown-exit-logged",
    "Logs what gemini has written to stderr when it does not know the exit code, with the prompt in it.",
    "stdio:stderr:private",
)(exit_sentence=before(logs_unknown_exit))
defect(
    "mismatched-posts-logged",
    "Logs the body of a post that its headers do not fit.",
    "stdio:stderr:private",
)(HttpPort, posted=before(notes_body), check_headers=logs_mismatch)
defect(
    "text-without-json-logged",
    "Logs what gemini has printed when it finds no JSON in it.",
    "stdio:stderr:private",
)(plain_text=before(logs_output))
defect(
    "headers-before-messages",
    "Frames long messages with a Content-Length header, as language servers do.",
    "stdio:stdout",
)(encoded=gives(lambda line: b"Content-Length: %d\r\n\r\n%b" % (len(line), line) if len(line) > 4096 else line))
defect("banner-on-stdout", "Greets on stdout.", "stdio:stdout")(
    serve=before(lambda port: print("Gemini MCP server running on stdio", flush=True))
)
defect("failures-logged-to-stdout", "Logs to stdout, but only when gemini fails.", "stdio:stdout")(
    error=before(logs_failure)
)
defect(
    "lock-for-each-megabyte",
    "Lets other messages in between the megabytes of a large one.",
    "stdio:stdout",
    "stdio:framing",
)(write=lets_others_in)
defect("goodbye-on-stdout", "Says goodbye on stdout when a signal ends it.", "stdio:stdout")(
    shut_down=before(says_goodbye)
)
defect(
    "long-lines-interleave",
    "Lets other messages in between the pieces of a line of more than 64 KiB.",
    "stdio:stdout",
    "stdio:framing",
)(write=in_turns)
defect(
    "writing-given-up-after-two-seconds",
    "Gives the rest of a line up when the client does not read for two seconds.",
    "stdio:stdout",
    "stdio:framing",
    "result:large-stdout",
)(write=patient_for(2))
