"""Options that an era, a client or a library changes: ports that break `command`."""

import re
from collections.abc import Mapping
from typing import Any

from conditions import asks, lacking
from defects.record import defect
from http_port import HttpPort, answers_handshake
from planning import Plan
from posting import SESSION
from running import Call
from speaking import INVALID_PARAMS, Message, RpcError, as_object
from steps import gives

NOTHING = ("null", "undefined", "None")


def slashes_kept(port: Any, real: Any, line: bytes) -> Any:
    message = real(line)
    if re.search(rb'"method"\s*:\s*"[^"]*\\/', line):
        message["method"] = message["method"].replace("/", "\\/")
    return message


def fills_further(port: Any, real: Any, tool: str, texts: Mapping[str, str], form: tuple[str, ...]) -> tuple[str, ...]:
    """Fills the prompt into its template first, and then the other arguments into what has become of it."""
    words = real(tool, texts, form)
    for name, text in texts.items():
        if name != "prompt":
            words = tuple(word.replace("{" + name + "}", text) for word in words)
    return words


def refuses_more_in_call(port: Any, real: Any, identity: Any, params: Any, stateless: bool) -> Call:
    if set(params) - {"name", "arguments", "_meta"}:
        raise RpcError(INVALID_PARAMS, "`tools/call` holds an unknown member.")
    return real(identity, params, stateless)


def begins_anew_each_eighth(port: Any, real: Any, texts: Mapping[str, str]) -> tuple[str, ...]:
    if "sessionId" in texts:
        return real(texts)
    port.memory["count"] = number = port.memory.get("count", 0) + 1
    return () if number % 8 == 0 else real(texts)


def one_session(port: Any, real: Any, message: Message) -> dict[str, str]:
    headers = real(message)
    if headers:
        port.sessions.intersection_update(headers.values())
    return headers


def ends_all(port: Any, real: Any, session: str | None) -> None:
    port.sessions.clear()


def last_part(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(word.rsplit("/", 1)[-1] or word for word in real(tool, texts))


def words_for_nothing(port: Any, real: Any, name: str, text: str) -> bool:
    return real(name, text) or (name != "prompt" and text in NOTHING)


def model_lost_in_stream(call: Call, plan: Plan) -> bool:
    return call.token is not None


def model_of_other_client(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    """The clients share a model until they name another."""
    option, session = real(tool, texts), port.current.post.session
    owner, kept = port.memory.get("model", (session, ()))
    if option:
        port.memory["model"] = (session, option)
    return option or (kept if owner != session else ())


def repeated_from_memory(port: Any, real: Any, call: Call) -> Message:
    """Takes a call for one that is sent again when another client has made one like it under the same id."""
    known, session = port.memory.setdefault("known", {}), port.posts[call].session
    key = repr((call.id, call.tool, sorted(call.arguments.items(), key=str)))
    if session is not None and key in known and known[key][0] != session:
        return known[key][1]
    result = real(call)
    known[key] = (session, result)
    return result


def notes_client(port: Any, real: Any, params: Mapping[str, Any]) -> Message:
    port.current.client = str((as_object(params.get("clientInfo")) or {}).get("name"))
    return real(params)


def session_of_client(port: Any, real: Any, message: Message) -> dict[str, str]:
    if not answers_handshake(message):
        return {}
    known = port.memory.setdefault("clients", dict[str, str]())
    session = known.get(port.current.client)
    if session not in port.sessions:
        session = known[port.current.client] = real(message)[SESSION]
    return {SESSION: session}


defect(
    "escaped-slashes-unread", "Knows no method whose slash is written `\\/`.", "command:chat", "rpc:response:either"
)(parse=slashes_kept)
defect(
    "placeholders-of-prompt-filled",
    "Fills the model into a prompt that holds the text {model}.",
    "command:chat",
)(argv=fills_further)
defect("more-in-call-refused", "Refuses a call with members beside its name and arguments.", "command:chat-reply")(
    new_call=refuses_more_in_call
)
defect(
    "eighth-latest-begins-anew", "Begins a new session at every eighth reply without one.", "command:chat-reply:latest"
)(resume_option=begins_anew_each_eighth)
defect(
    "one-session-at-a-time",
    "Ends all other sessions when one begins.",
    "command:chat-reply:latest",
    "lifecycle:initialize",
)(HttpPort, session=one_session)
defect("delete-ends-all-sessions", "Ends all sessions when one is ended.", "command:chat-reply:latest")(
    HttpPort, end_session=ends_all
)
defect(
    "latest-in-any-case",
    "Resumes the latest session when the id is `LATEST`.",
    "command:chat-reply:session-id",
)(resumed=gives(lambda session: "latest" if session.lower() == "latest" else session))
defect("model-by-its-last-part", "Passes what follows the last slash of a model.", "command:chat:model")(
    model_option=last_part
)
defect(
    "words-for-nothing-are-absent",
    "Takes the texts `null`, `undefined` and `None` for absent arguments.",
    "command:chat:model",
)(is_absent=words_for_nothing)
defect(
    "model-lost-in-streams",
    "Loses the model of a call over HTTP that asks for progress.",
    "command:chat:model",
)(HttpPort, ask=asks(model_lost_in_stream, lacking("-m")))
defect(
    "model-crosses-clients",
    "Passes the model of another client to a call over HTTP without one.",
    "command:chat:no-model",
)(HttpPort, model_option=model_of_other_client)
defect(
    "call-of-other-client-repeated",
    "Answers a call from memory when another client has made the same one under the same id.",
    "command:chat",
    "command:once",
)(HttpPort, execute=repeated_from_memory)
defect(
    "session-shared-by-name-of-client",
    "Gives clients of the same name the same session.",
    "command:once",
    "cancel:others",
)(HttpPort, initialize=notes_client, session=session_of_client)
