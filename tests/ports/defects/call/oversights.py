"""Defects in what comes of one call: arguments that meet, odd sizes, single characters, and texts that stay private."""

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from answering import KEYS, STDERR_LIMIT, Answer, Failure, Outcome
from conditions import REVISION, replacing, speaks, stdin_changed
from defects.record import defect
from planning import STDIN_LIMIT, Plan, Refusal
from running import Call
from speaking import Message
from steps import for_tool, gives, takes

Texts = Mapping[str, str]


def blank_kept_beside_stdin(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan = real(tool, arguments)
    return plan if plan.stdin is None else replace(plan, system=arguments.get("systemPrompt") or None)


def session_for_latest(port: Any, real: Any, tool: str, texts: Texts) -> tuple[str, ...]:
    return tuple(texts.get("sessionId", word) if word == "latest" else word for word in real(tool, texts))


def kept_when_mute(port: Any, real: Any, path: str, call: Call, outcome: Outcome | None) -> None:
    is_mute = outcome is not None and outcome.exit == 0 and not outcome.stdout.strip()
    if not (is_mute and call.arguments.get("cwd")):
        real(path, call, outcome)


def nameless_with_warnings(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    named = real(call, plan, answer)
    return replace(named, session=None) if answer.warnings else named


def unchecked_behind_empty_model(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    """The search for faults ends at the empty text; what is no text is then not taken either."""
    unseen = ("systemPrompt", "cwd") if arguments.get("model") == "" else ()
    return real(
        tool,
        {name: value for name, value in arguments.items() if name not in unseen or isinstance(value, str)},
    )


def surrogates_measured(port: Any, real: Any, tool: str, prompt: str) -> None:
    real(tool, prompt)
    pairs = len(prompt.encode("utf-16-le")) // 2 - len(prompt)
    if len(prompt.encode()) + 2 * pairs > STDIN_LIMIT:
        raise Refusal("`prompt` is longer than the 8388608 bytes that gemini reads.")


def pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def unmasked_message(port: Any, real: Any, failure: Failure) -> Message:
    result = real(failure)
    if not (failure.said and speaks(port, "2024-11-05")):
        return result
    said = port.withheld(failure.said, failure.private)
    text = result["content"][0]["text"].replace(port.masked(said), said, 1)
    return {**result, "content": port.content(text)}


def model_private(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan = real(tool, arguments)
    return replace(plan, private=(*plan.private, arguments["model"])) if "-m" in plan.argv else plan


def logs_cancelled(port: Any, real: Any, call: Call) -> None:
    if call.stateless:
        print(f"cancelled: {call.tool} {json.dumps(call.arguments)}", file=sys.stderr, flush=True)
    real(call)


defect(
    "blank-system-beside-stdin",
    "Writes a system prompt of blanks into a file when the prompt goes to stdin.",
    "system:absent",
    "arguments:empty:system-prompt",
)(plan=blank_kept_beside_stdin)
defect(
    "model-latest-becomes-session",
    "Names the session as the model of a reply by id whose model is called `latest`.",
    "command:chat-reply:model",
)(model_option=session_for_latest)
defect(
    "system-stays-for-mute-run-elsewhere",
    "Leaves the system prompt behind when gemini exits with 0 and prints nothing in a directory that the call names.",
    "system:removed:failure",
)(remove_system=kept_when_mute)
defect(
    "listed-session-lost-beside-warnings",
    "Leaves the session that the list names out of the result of `chat` when there are warnings.",
    "fallback:list-sessions",
)(with_session=for_tool("chat", nameless_with_warnings))
defect(
    "types-behind-empty-model",
    "Checks no type of a system prompt or a directory when the model is an empty text.",
    "arguments:optional:type",
    "arguments:refused:not-started",
)(texts=unchecked_behind_empty_model)
defect(
    "emoji-measured-as-surrogates",
    "Counts six bytes for each character beyond U+FFFF when it measures whether a prompt is too long.",
    "prompt:long",
)(check_prompt=surrogates_measured)
defect(
    "carriage-return-between-pieces",
    "Loses a carriage return that ends a piece of 65536 characters on stdin.",
    "prompt:long",
    "prompt:verbatim:newline",
)(prompt_form=stdin_changed(lambda text: "".join(piece.removesuffix("\r") for piece in pieces(text, 65536))))
defect(
    "list-in-lines-of-128",
    "Reads the list of sessions in lines of at most 128 characters, so that it overlooks an entry with a long title.",
    "fallback:list-sessions",
    "fallback:last",
)(list_text=gives(lambda text: "\n".join(piece for line in text.split("\n") for piece in pieces(line, 128))))
defect(
    "token-of-256-cut",
    "Keeps no more than 255 characters of a progress token.",
    "progress:token",
)(token=gives(lambda token: token[:255] if isinstance(token, str) else token))
defect(
    "long-system-measured-in-characters",
    "Writes as many bytes of a system prompt as it has characters when those are more than 4096.",
    "system:content",
)(system_bytes=lambda port, real, text: real(text)[: len(text)] if len(text) > 4096 else real(text))
defect(
    "model-of-chat-percent-decoded",
    "Decodes what looks percent-encoded in the model of `chat`.",
    "command:chat:model",
)(model_option=for_tool("chat", gives(lambda words: tuple(map(unquote, words)))))
defect(
    "dots-at-end-of-directory-dropped",
    "Drops the dots with which the name of a directory ends.",
    "cwd:used",
)(
    cwd=takes(
        lambda texts: {
            name: re.sub(r"(?<=[^./])\.+(?=/|\Z)", "", text) if name == "cwd" else text for name, text in texts.items()
        }
    )
)
defect(
    "eight-bit-sequences-dropped",
    "Drops terminal sequences that begin with U+009B from the answer.",
    "result:text:unicode",
    "result:text",
)(response=gives(lambda text: replacing("\x9b[0-?]*[ -/]*[@-~]")(text) if isinstance(text, str) else text))
defect(
    "key-in-message-for-oldest-revision",
    "Masks no key in gemini's message for a client that speaks 2024-11-05.",
    "error:secrets",
)(initialize=REVISION, error=unmasked_message)
defect(
    "prompt-with-carriage-returns-repeated",
    "Looks for a prompt with Windows line ends only where its line ends are those of Unix.",
    "error:prompt",
)(withheld=takes(lambda private: tuple(text.replace("\r\n", "\n") for text in private)))
defect(
    "end-of-long-key-shown",
    "Masks no more than 67 characters of a key that begins with `sk-`.",
    "error:secrets",
)(
    masked=lambda port, real, text: KEYS.sub(
        lambda key: "[masked]" + (key[0][67:] if key[0].startswith("sk-") else ""), text
    )
)
defect(
    "model-of-reply-withheld",
    "Takes the model of a reply for a private text, and withholds its name from the error.",
    "error:stderr",
)(plan=for_tool("chat-reply", model_private))
defect(
    "cancelled-stateless-call-logged",
    "Writes the arguments of a cancelled call of 2026-07-28 to its stderr.",
    "stdio:stderr:private",
)(cancel=logs_cancelled)
defect(
    "cause-sought-in-last-bytes",
    "Looks for the cause of a failure only in the last 8192 characters of stderr.",
    "error:quota",
    "error:session-gone",
)(exit_sentence=takes(lambda stderr: stderr[-STDERR_LIMIT:]))
