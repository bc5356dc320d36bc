"""Defects in what a port expects of a client, and in what it takes for granted after the first request."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from conditions import every, from_time, without_variables
from defects.record import defect
from http_port import HttpPort
from port import META
from running import LIST, Call
from speaking import Message, RpcError, as_object
from steps import Step, before, without

MEBIBYTE = 1 << 20


def text_null_is_none(port: Any, real: Any, request: Message) -> None:
    if request["id"] not in ("null", "undefined"):
        real(request)


def ids_in_48_bits(port: Any, real: Any, line: bytes) -> Any:
    message = real(line)
    identity = (as_object(message) or {}).get("id")
    return {**message, "id": identity & (1 << 48) - 1} if type(identity) is int and identity > 0 else message


def needs_greeting(port: Any, real: Any) -> Message:
    if "greeted" not in port.memory:
        raise RpcError(-32002, "The server is not initialized.")
    return real()


def greets(port: Any, params: Any) -> None:
    port.memory["greeted"] = True


def roots_answered(port: Any, real: Any, method: str, params: Any) -> None:
    if method == "notifications/roots/list_changed":
        port.send({"jsonrpc": "2.0", "id": None, "result": {}})
    real(method, params)


def plain_members_only(port: Any, real: Any, line: bytes) -> None:
    if not re.search(rb'"\\u00[0-9a-f]{2}[^"]*"\s*:|"[a-z]+\\u00[0-9a-f]{2}[a-z]*"\s*:', line):
        real(line)


def checked_once(what: str) -> Step:
    """Of `check_stateless`: does not look at this member again once it was right."""

    def check(port: Any, real: Any, params: Mapping[str, Any]) -> None:
        if "checked" in port.memory:
            params = {**params, "_meta": {**params["_meta"], what: port.memory["checked"]}}
        real(params)
        port.memory["checked"] = params["_meta"][what]

    return check


def notes_failure(port: Any, failure: Any) -> None:
    port.memory["failed"] = True


def caching_until_failure(port: Any, real: Any) -> Message:
    return {} if port.memory.get("failed") else real()


def stderr_over_http(port: Any, real: Any, failure: Any) -> str:
    return real(failure)[: len("\nStderr: ")] if failure.stderr else real(failure)


def message_behind(test: Callable[[bytes], bool]) -> Step:
    """Of `lines`: passes over the line behind one of which `test` holds."""

    def lines(port: Any, real: Any) -> Iterator[bytes]:
        is_lost = False
        for line in real():
            if not is_lost:
                yield line
            is_lost = not is_lost and test(line)

    return lines


def is_malformed(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return bool(line.strip())
    return False


def home_of_replies(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    if "-r" in argv:
        options["env"] = {**options["env"], "HOME": "/"}
    return real(argv, **options)


def without_session_until_response(port: Any, real: Any, value: Mapping[str, Any], stderr: str) -> Any:
    keys = list(value)
    if "session_id" in value and "response" in value and keys.index("session_id") > keys.index("response"):
        value = {key: it for key, it in value.items() if key != "session_id"}
    return real(value, stderr)


def with_session_of_report(port: Any, real: Any, value: Mapping[str, Any], stderr: str) -> Any:
    port.memory["reported"] = value.get("session_id") if value.get("error") is not None else None
    return real(value, stderr)


def error_with_session(port: Any, real: Any, failure: Any) -> Message:
    session = port.memory.pop("reported", None)
    return {**real(failure), **({"_meta": {"sessionId": session}} if session else {})}


def second_of_three(port: Any, real: Any, stdout: str, stderr: str) -> Any:
    answers = [value for _, value in port.scan(stdout).objects if "response" in value]
    return port.read_json(answers[1], stderr) if len(answers) > 2 else real(stdout, stderr)


def closing_brace_hides(port: Any, real: Any, text: str) -> Any:
    start = text.find("{")
    return real("" if "}" in text[: max(start, 0)] else text)


def text_behind_brace_hides(port: Any, real: Any, text: str) -> Any:
    last = text.rfind("}")
    return real("" if last >= 0 and text[last + 1 :].partition("\n")[0].strip() else text)


def counts_braces(port: Any, real: Any, value: Mapping[str, Any], stderr: str) -> Any:
    text = value.get("response")
    if isinstance(text, str) and text.count("{") != text.count("}"):
        value = {**value, "response": None}
    return real(value, stderr)


def sentence_without_stderr(port: Any, real: Any, exit: int, stderr: str) -> str:
    return real(exit, stderr) if stderr.strip() or exit < 0 else f"gemini failed with exit code {exit}."


def sentence_beside_message(port: Any, real: Any, exit: int, stderr: str) -> str:
    return f"gemini failed with exit code {exit}." if exit > 0 and port.said(stderr) else real(exit, stderr)


def listing_in_language(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    if LIST in argv:
        options["env"] = {name: value for name, value in options["env"].items() if name != "HOME"}
    return real(argv, **options)


def begins_anew_each_eighth(port: Any, real: Any, texts: Mapping[str, str]) -> tuple[str, ...]:
    if "sessionId" in texts:
        return real(texts)
    port.memory["count"] = number = port.memory.get("count", 0) + 1
    return () if number % 8 == 0 else real(texts)


def other_prefix(port: Any, real: Any, failure: Any) -> Message:
    result = real(failure)
    return {**result, "content": port.content(result["content"][0]["text"].replace("Error executing", "Failed:", 1))}


def text_of_token(port: Any, real: Any, call: Call) -> Message:
    message = real(call)
    return {**message, "params": {**message["params"], "progressToken": str(call.token)}}


defect("text-null-is-no-id", "Does not answer a request whose id is the text `null`.", "rpc:response:id")(
    requested=text_null_is_none
)
defect("ids-in-48-bits", "Keeps ids in 48 bits.", "rpc:response:id")(parse=ids_in_48_bits)
defect("ping-before-handshake-refused", "Answers no ping before `initialize`.", "lifecycle:ping")(
    ping=needs_greeting, initialize=before(greets)
)
defect("changed-roots-answered", "Answers the notification that roots have changed.", "rpc:notification:unanswered")(
    notified=roots_answered
)
defect("escaped-members-unread", "Passes over a message that writes a member in escapes.", "rpc:alive:chunks")(
    receive=plain_members_only
)
defect("meta-checked-once", "Looks for the client's capabilities in the first request alone.", "stateless:meta")(
    check_stateless=checked_once(f"{META}clientCapabilities")
)
defect("version-checked-once", "Looks at the version of the first request alone.", "stateless:version")(
    check_stateless=checked_once(f"{META}protocolVersion")
)
defect("caching-lost-after-failure", "Says nothing of caching once a call has failed.", "stateless:caching")(
    error=before(notes_failure), caching=caching_until_failure
)
defect("tenth-result-without-type", "Leaves the type out of every tenth result.", "stateless:result-type")(
    finished=every(10, lambda port, real, result, stateless: without("resultType")(real(result, stateless)))
)
defect("stderr-lost-over-http", "Quotes no stderr, which the port over stdio does.", "http:equivalence")(
    HttpPort, stderr_part=stderr_over_http
)
defect("tokens-are-texts-over-http", "Sends the token as a string over HTTP.", "progress:token")(
    HttpPort, progress=text_of_token
)
defect("message-behind-long-line-lost", "Passes over the line behind one of a megabyte.", "rpc:alive:long-line")(
    lines=message_behind(lambda line: len(line) > MEBIBYTE)
)
defect("message-behind-malformed-line-lost", "Passes over the line behind one that is no JSON.", "rpc:alive:malformed")(
    lines=message_behind(is_malformed)
)
defect("wide-variables-lost", "Hands no variable on whose value is not ASCII.", "process:environment")(
    environment=without_variables(lambda name, value: not value.isascii())
)
defect("variables-of-gemini-lost", "Hands no variable of gemini on but its key.", "process:environment")(
    environment=without_variables(
        lambda name, value: name.startswith("GEMINI_") and name not in ("GEMINI_API_KEY", "GEMINI_SYSTEM_MD")
    )
)
defect("variables-of-cloud-lost", "Hands no variable on that begins with `GOOGLE_`.", "process:environment")(
    environment=without_variables(lambda name, value: name.startswith("GOOGLE_"))
)
defect("home-of-replies-replaced", "Gives replies another HOME.", "process:environment")(spawn=home_of_replies)
defect("home-of-list-lost", "Asks for the list of sessions without HOME.", "process:environment")(
    spawn=listing_in_language
)
defect("session-behind-response-unread", "Reads no session that stands behind the response.", "result:session-id")(
    read_json=without_session_until_response
)
defect("reported-error-carries-session", "Names the session of an error that gemini reports.", "error:session-id")(
    read_json=with_session_of_report, error=error_with_session
)
defect("second-of-three-answers-taken", "Takes the second of three answers.", "result:json:last")(
    read_stdout=second_of_three
)
defect("closing-brace-hides-json", "Finds no JSON behind a brace that closes nothing.", "result:json:notice-before")(
    scan=closing_brace_hides
)
defect("text-behind-brace-hides-json", "Finds no JSON with text behind it on its line.", "result:json:notice-after")(
    scan=text_behind_brace_hides
)
defect("braces-of-answer-counted", "Counts the braces of an answer with those of its JSON.", "result:text")(
    read_json=counts_braces
)
defect("exit-unexplained-without-stderr", "Explains no exit code when stderr is empty.", "error:exit:44")(
    exit_sentence=sentence_without_stderr
)
defect("exit-unexplained-beside-message", "Explains no exit code when gemini says more.", "error:exit:53")(
    exit_sentence=sentence_beside_message
)
defect(
    "eighth-latest-begins-anew", "Begins a new session at every eighth reply without one.", "command:chat-reply:latest"
)(resume_option=begins_anew_each_eighth)
defect("sixth-error-without-prefix", "Leaves the prefix out from the sixth error on.", "error:prefix")(
    error=from_time(6, other_prefix)
)
