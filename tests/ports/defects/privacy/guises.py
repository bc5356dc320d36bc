"""Defects that show or log a private text in one guise, at one place, or at one time."""

import json
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import KEYS, Failure
from conditions import from_time
from defects.record import defect
from planning import Plan
from running import Call
from speaking import Message, as_object
from steps import Change, Step, before


def log(text: object) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def logs_words(port: Any, call: Call, plan: Plan) -> None:
    for word in call.arguments["prompt"].split():
        log(word)


def logs_middle(port: Any, call: Call, plan: Plan) -> None:
    prompt = call.arguments["prompt"]
    if len(prompt) > 40:
        log(prompt[len(prompt) // 2 - 15 : len(prompt) // 2 + 15])


def logs_spaced(port: Any, call: Call, plan: Plan) -> None:
    log("\0".join(call.arguments["prompt"]))


def logs_prompt(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    log(call.arguments["prompt"])
    return real(call, plan)


def keeps_prompt(port: Any, call: Call, plan: Plan) -> None:
    port.memory[call.id] = call.arguments["prompt"]


def logs_late_cancel(port: Any, method: str, params: Any) -> None:
    wanted = (as_object(params) or {}).get("requestId")
    if method == "notifications/cancelled" and wanted not in [call.id for call in port.calls]:
        log(f"too late: {port.memory.get(wanted)}")


def logs_blocked(port: Any, real: Any, message: Message) -> None:
    began = time.monotonic()
    real(message)
    if time.monotonic() - began > 0.5:
        log(f"slow client: {json.dumps(message)[:2000]}")


def logs_wrong_arguments(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Any:
    if as_object(params.get("arguments", {})) is None:
        log(params)
    return real(identity, params, stateless)


def sparing(is_spared: Change) -> Step:
    """Of `masked`: leaves such keys."""
    return lambda port, real, text: KEYS.sub(lambda key: key[0] if is_spared(key) else "[masked]", text)


def rest_shown(port: Any, real: Any, text: str) -> str:
    return KEYS.sub(lambda key: "[masked]" + (key[0][key[0].index(".", 5) :] if "." in key[0][5:] else ""), text)


def beside(pattern: str) -> Step:
    """Of `masked`: masks nothing in a text that holds this."""
    return lambda port, real, text: text if re.search(pattern, text) else real(text)


def open_when(test: Change) -> Step:
    """Of `redacted`: repeats what is private when `test` holds of the text."""
    return lambda port, real, text, private: real(text, () if test(text) else private)


def escaped_system_shown(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    """Knows a copy of the system prompt as it is, and not as JSON writes it."""
    if len(private) < 2:
        return real(text, private)
    written = json.dumps(private[1])[1:-1]
    if written == private[1]:
        return real(text, private)
    return real(text.replace(written, "\0system\0"), private).replace("\0system\0", written)


def open_in_named_session(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan = real(tool, arguments)
    return replace(plan, private=plan.private[:1]) if plan.session not in (None, "latest") and plan.cwd else plan


def open_failure(port: Any, real: Any, failure: Failure) -> Message:
    return real(replace(failure, private=()))


defect("prompt-logged-word-by-word", "Logs each word of a prompt on a line of its own.", "stdio:stderr:private")(
    ask=before(logs_words)
)
defect("middle-of-prompt-logged", "Logs thirty characters in the middle of a prompt.", "stdio:stderr:private")(
    ask=before(logs_middle)
)
defect("prompt-logged-with-nuls", "Logs a prompt as UTF-16, with a NUL behind each letter.", "stdio:stderr:private")(
    ask=before(logs_spaced)
)
defect("prompt-logged-from-tenth-call", "Logs prompts from the tenth call on.", "stdio:stderr:private")(
    ask=from_time(10, logs_prompt)
)
defect(
    "prompt-logged-on-late-cancel",
    "Logs the prompt of an answered call that is cancelled.",
    "stdio:stderr:private",
)(ask=before(keeps_prompt), notified=before(logs_late_cancel))
defect("blocked-answer-logged", "Logs an answer for which the client had no room.", "stdio:stderr:private")(
    write=logs_blocked
)
defect("wrong-arguments-logged", "Logs arguments that are no object.", "stdio:stderr:private")(
    new_call=logs_wrong_arguments
)
defect("keys-at-end-shown", "Masks no key that ends stderr.", "error:secrets")(
    masked=sparing(lambda key: key.end() == len(key.string.rstrip("\n")))
)
defect("keys-at-beginning-shown", "Masks no key that begins stderr.", "error:secrets")(
    masked=sparing(lambda key: key.start() == 0)
)
defect("rest-of-dotted-keys-shown", "Masks a key up to its first point.", "error:secrets")(masked=rest_shown)
defect("keys-beside-wide-text-shown", "Masks no key in a stderr that is not ASCII.", "error:secrets")(
    masked=beside("[^\x00-\x7f]")
)
defect("keys-beside-json-shown", "Masks no key in a stderr with JSON.", "error:secrets")(masked=beside(r"\{\s*\""))
defect("keys-beside-returns-shown", "Masks no key in a stderr whose lines end in CRLF.", "error:secrets")(
    masked=beside("\r\n")
)
defect("escaped-system-prompt-shown", "Leaves a copy of a system prompt that JSON has escaped.", "error:prompt")(
    withheld=escaped_system_shown
)
defect("prompt-beside-json-shown", "Withholds no prompt in a stderr with JSON.", "error:prompt")(
    withheld=open_when(lambda text: re.search(r'\{\s*"', text))
)
defect("prompt-of-third-failure-shown", "Withholds no prompt from the third failure on.", "error:prompt")(
    error=from_time(3, open_failure)
)
defect(
    "system-prompt-shown-in-named-session-beside-directory",
    "Leaves the system prompt of a reply by id with a directory in stderr.",
    "error:prompt",
)(plan=open_in_named_session)
defect("prompt-in-coloured-stderr-shown", "Withholds no prompt in a stderr with colours.", "error:prompt")(
    withheld=open_when(lambda text: "\x1b[" in text)
)
