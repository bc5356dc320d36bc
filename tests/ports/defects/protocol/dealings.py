"""Defects in how a port deals with its clients: what it reads, what it logs of them, and whom it takes for another."""

import json
import re
import sys
from contextlib import suppress
from typing import Any

from answering import EXITS
from defects.privacy.disguises import sparing
from defects.privacy.privacy import log
from defects.record import defect
from http_port import HttpPort
from planning import Plan
from port import META, STATELESS, Port
from running import Call
from speaking import JSON, Message, RpcError, as_object
from steps import before

DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")
DATE = re.compile(r"(\d+)-(\d+)-(\d+)")
SECONDS = 2.0
PAGE = b"<!doctype html><title>gemini-mcp-server</title><p>This is an MCP server.</p>"


def with_method(port: Any, real: Any, message: JSON) -> bool:
    """Takes an empty text for a method that is missing."""
    return real(message) and not ("id" in message and message.get("method") == "")


def version_by_date(port: Any, real: Any, params: Any) -> None:
    name = f"{META}protocolVersion"
    version = params["_meta"].get(name)
    known = {date_of(each): each for each in STATELESS}
    real({**params, "_meta": {**params["_meta"], name: known.get(date_of(version), version)}})


def date_of(version: JSON) -> tuple[int, ...] | None:
    date = DATE.fullmatch(version) if isinstance(version, str) else None
    return tuple(map(int, date.groups())) if date else None


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


def is_glued(key: re.Match[str]) -> bool:
    """Whether it is a key of Google that is no word of its own."""
    return key[0].startswith(("AIza", "ya29")) and re.search(r"\w\Z", key.string[: key.start()]) is not None


def notes_body(port: Any, post: Any, body: bytes) -> None:
    port.current.body = body


def logs_mismatch(port: Any, real: Any, method: str, params: Any) -> None:
    try:
        real(method, params)
    except RpcError as error:
        log(f"{error}: {port.current.body.decode('utf-8', 'replace')}")
        raise


def hurries(port: Any, real: Any, message: Message) -> None:
    """The limit for reading a request is that for writing its answer, too."""
    port.current.post.connection.settimeout(SECONDS)
    real(message)


def greets_browsers(port: Any, real: Any, post: Any, body: bytes) -> None:
    if "text/html" not in post.headers.get("Accept", ""):
        real(post, body)
    elif not port.is_refused(post):
        post.reply(200, PAGE, {"Content-Type": "text/html"})


def notes_post(port: Any, post: Any) -> None:
    port.current.post = post


def from_its_host(port: Any, real: Any, origin: str | None) -> bool:
    return real(origin) or origin == f"http://{port.current.post.headers.get('Host')}"


def begins_in_any_session(port: Any, real: Any, post: Any) -> bool:
    """Looks for the session of all messages but those that begin one."""
    message: Any = None
    with suppress(AttributeError, ValueError, RecursionError):
        message = json.loads(port.current.body)
    is_beginning = (as_object(message) or {}).get("method") == "initialize"
    return not (is_beginning and port.is_allowed(post.headers.get("Origin"))) and real(post)


def told_by_token(port: Any, real: Any, call: Call) -> None:
    """Looks for the stream of a token among those of all clients."""
    alike = [each for each in port.calls if each.token == call.token and not each.is_answered] or [call]
    port.current.post = port.posts[alike[-1]]
    Port.report_progress(port, call)
    port.current.post = port.posts[call]


defect(
    "empty-methods-are-invalid",
    "Answers a request whose method is an empty text as none that is valid.",
    "rpc:error:method",
)(is_valid=with_method)
defect(
    "versions-compared-as-dates",
    "Serves a request whose version is a date in another spelling, such as one in wide digits.",
    "stateless:version",
)(check_stateless=version_by_date)
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
    "keys-of-google-within-words-shown",
    "Masks a key of Google only where it begins a word.",
    "error:secrets",
)(masked=sparing(is_glued))
defect(
    "mismatched-posts-logged",
    "Logs the body of a post that its headers do not fit.",
    "stdio:stderr:private",
)(HttpPort, posted=before(notes_body), check_headers=logs_mismatch)
defect(
    "posted-answer-given-up",
    "Gives an answer over HTTP up that the client does not read within two seconds.",
    "http:equivalence",
    "result:large-stdout",
)(HttpPort, write=hurries)
defect(
    "browsers-greeted",
    "Answers a GET with a page when its client takes HTML.",
    "http:get",
)(HttpPort, got=greets_browsers)
defect(
    "origin-of-any-host",
    "Lets the page of any origin in that the header `Host` names as well.",
    "http:origin",
)(HttpPort, is_refused=before(notes_post), is_allowed=from_its_host)
defect(
    "handshake-in-ended-session",
    "Answers an `initialize` in a session that has been ended.",
    "http:session:ended",
)(HttpPort, posted=before(notes_body), is_refused=begins_in_any_session)
defect(
    "tokens-of-clients-mixed",
    "Tells progress of a call over HTTP to the latest client whose call has the same token.",
    "progress:interval",
    "progress:increase",
)(HttpPort, report_progress=told_by_token)
