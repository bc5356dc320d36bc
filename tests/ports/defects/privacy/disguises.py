"""Defects with what looks a little different: a key in quotes, a message in a prompt, a word that means nothing."""

import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from answering import KEYS, Answer, Failure
from conditions import path_shown
from defects.record import defect
from planning import Plan, Refusal
from running import Call
from speaking import Message
from steps import Step, before, gives

INHERITED = ("constructor", "toString", "__proto__", "hasOwnProperty")


def sparing(is_spared: Callable[[re.Match[str]], object]) -> Step:
    """Of `masked`: leaves such keys."""
    return lambda port, real, text: KEYS.sub(lambda key: key[0] if is_spared(key) else "[masked]", text)


def is_behind(mark: str) -> Callable[[re.Match[str]], bool]:
    """Of a key: whether this stands in front of it."""
    return lambda key: key.string[: key.start()].endswith(mark)


def looks_like(pattern: str) -> Callable[[re.Match[str]], object]:
    """Of a key: whether it matches this."""
    return lambda key: re.search(pattern, key[0])


def as_written(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    """Knows a copy that JSON has escaped, but not one in ASCII."""
    hidden = {ascii_of(secret): f"\0{at}\0" for at, secret in enumerate(private) if not secret.isascii()}
    for copy, place in hidden.items():
        text = text.replace(copy, place)
    text = real(text, private)
    for copy, place in hidden.items():
        text = text.replace(place, copy)
    return text


def ascii_of(text: str) -> str:
    return json.dumps(text)[1:-1]


def says_system_prompt(port: Any, real: Any, failure: Failure) -> Message:
    """What gemini says of its failure is searched for the prompt alone."""
    said = failure.said and port.redacted(failure.said, failure.private[:1])
    result = real(replace(failure, said=None))
    if not said:
        return result
    sentence, label, stderr = result["content"][0]["text"].partition("\nStderr: ")
    return {**result, "content": port.content(f"{sentence} Gemini CLI says: {said}{label}{stderr}")}


def divided(port: Any, real: Any, failure: Failure) -> str:
    return "\nStderr: " + real(failure).rpartition("\nStderr: ")[2]


def without_private_of_latest(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan = real(tool, arguments)
    return replace(plan, private=()) if plan.session == "latest" else plan


def by_name(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    return "latest" if texts.get("sessionId") == "latest" else real(tool, texts)


def filled_in(cwd: str) -> str:
    """Fills a path into a sentence as JavaScript does."""
    return repr(cwd).replace("$$", "$").replace("$&", "{cwd}")


def quotes_raw(port: Any, real: Any, message: Message) -> bytes:
    line, token = real(message), message.get("params", {}).get("progressToken")
    return line.replace(json.dumps(token).encode(), f'"{token}"'.encode()) if isinstance(token, str) else line


def blank_is_unasked(port: Any, real: Any, value: Mapping[str, Any], stderr: str) -> Answer:
    text = value.get("response")
    if isinstance(text, str) and text and not text.strip() and port.asked(value) == {}:
        raise Failure("gemini asked no model.", stderr)
    return real(value, stderr)


def unasked_without_statistics(port: Any, real: Any, value: Mapping[str, Any]) -> Any:
    asked = real(value)
    return {} if asked is None else asked


def without_content(port: Any, real: Any, answer: Answer) -> Message:
    result = real(answer)
    return {**result, "content": []} if answer.warnings and not answer.text else result


def refuses_inherited(port: Any, tool: str, arguments: Mapping[str, Any]) -> None:
    for name in arguments:
        if name in INHERITED:
            raise Refusal(f"`{name}` is no argument.")


def looks_for_cancel(port: Any, real: Any, line: bytes) -> None:
    if b"notifications/cancelled" not in line or json.loads(line).get("method") == "notifications/cancelled":
        real(line)


def refuses_parent(port: Any, cwd: str) -> None:
    if cwd.startswith(".."):
        raise Refusal(f"`cwd` {cwd!r} leaves the working directory.")


def lists_when_everything(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    if "-m" in plan.argv and plan.cwd and plan.system:
        listing = port.list_sessions(call, plan)
        return replace(answer, session=port.newest(listing) if listing else None)
    return real(call, plan, answer)


def without_latest_model(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    is_lost = tool == "chat-reply" and "sessionId" not in texts and port.is_risky(texts["prompt"])
    return () if is_lost else real(tool, texts)


def lost_beside_relative(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    is_lost = tool == "chat" and "model" in texts and not texts.get("cwd", "/").startswith("/")
    return None if is_lost else real(tool, texts)


defect("quoted-keys-shown", "Masks no key in double quotes.", "error:secrets")(masked=sparing(is_behind('"')))
defect("keys-of-capital-parameters-shown", "Masks `key=` but not `KEY=`.", "error:secrets")(
    masked=sparing(is_behind("KEY="))
)
defect("other-tokens-of-github-shown", "Masks no `ghs_` and no `gho_`.", "error:secrets")(
    masked=sparing(looks_like("^gh[os]_"))
)
defect("labelled-private-keys-shown", "Masks no private key of a named kind.", "error:secrets")(
    masked=sparing(looks_like("^-----BEGIN [A-Z ]+ PRIVATE"))
)
defect("prompt-in-ascii-shown", "Leaves a copy of a prompt that JSON has written in ASCII.", "error:prompt")(
    withheld=as_written
)
defect("system-prompt-in-message-shown", "Leaves the system prompt in what gemini says.", "error:prompt")(
    error=says_system_prompt
)
defect("prompt-of-latest-shown", "Withholds nothing in a reply to the latest session.", "error:prompt")(
    plan=without_private_of_latest
)
defect("stderr-divided-at-its-label", "Quotes what follows the last `Stderr: ` of stderr.", "error:stderr")(
    stderr_part=divided
)
defect("null-word-is-no-answer", "Takes the answer `null` for none.", "result:text")(
    response=gives(lambda text: None if text == "null" else text)
)
defect("latest-by-name-apart", "Lets replies to `latest` by name overlap with the others.", "concurrency:latest")(
    turn=by_name
)
defect("dollars-of-directory-read", "Reads `$$` and `$&` in the path of a refused directory.", "cwd:reason")(
    check_cwd=path_shown(filled_in)
)
defect("session-composed", "Composes the characters of a session.", "command:chat-reply:session-id")(
    resumed=gives(lambda session: unicodedata.normalize("NFC", session))
)
defect("quotes-of-tokens-raw", "Writes a text token into a notification as it is.", "stdio:stdout")(encoded=quotes_raw)
defect("blank-answer-is-unasked", "Takes a blank answer for an empty one.", "result:text:blanks")(
    read_json=blank_is_unasked
)
defect("unasked-without-statistics", "Calls an empty answer without statistics an error.", "result:empty")(
    asked=unasked_without_statistics
)
defect("warned-answer-without-content", "Leaves the content out of an empty answer with warnings.", "result:content")(
    success=without_content
)
defect("inherited-arguments-refused", "Refuses an unknown argument named `constructor`.", "arguments:unknown")(
    texts=before(refuses_inherited)
)
defect("cancel-in-prompt-obeyed", "Drops a call that speaks of `notifications/cancelled`.", "prompt:verbatim:quotes")(
    receive=looks_for_cancel
)
defect("indented-messages-dropped", "Passes over a message behind a blank.", "rpc:alive:chunks")(
    receive=lambda port, real, line: None if line[:1] in (b" ", b"\t") else real(line)
)
defect("parent-directory-refused", "Refuses a directory that begins with two dots.", "cwd:relative")(
    check_cwd=before(refuses_parent)
)
defect("listed-beside-everything", "Asks for the list in a reply by id with all arguments.", "fallback:by-id")(
    with_session=lists_when_everything
)
defect(
    "latest-model-lost-beside-risky-prompt",
    "Loses the model of a reply to the latest session with a risky prompt.",
    "command:chat-reply:model",
)(model_option=without_latest_model)
defect(
    "system-prompt-lost-beside-relative-directory",
    "Loses the system prompt of a `chat` with a model and a relative directory.",
    "system:content",
)(system=lost_beside_relative)
