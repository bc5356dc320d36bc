"""One circumstance of a call that spoils the words about its failure: ports that break `error`."""

import re
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import KEYS, PRIVATE_LENGTH, SESSION_GONE, STDERR_LIMIT, Answer, Failure
from conditions import REVISION, failed, has_model, speaks
from defects.call.shared import BLOCK
from defects.record import defect
from defects.shared import decoded_in_pieces, of_stderr
from planning import Plan
from running import Call
from speaking import Message
from steps import before, for_tool, gives, takes


def blames_model(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    try:
        return real(call, plan)
    except Failure as failure:
        if has_model(plan) and failure.sentence.startswith("gemini did not accept its input"):
            raise replace(failure, sentence="gemini does not know this model (exit code 42).") from None
        raise


def counts_braces(port: Any, real: Any, text: str, position: int, error: Exception) -> bool:
    rest = text[position:]
    return real(text, position, error) and rest.count("{") > rest.count("}")


def said_with_code(port: Any, real: Any, stderr: str) -> str | None:
    errors = [value["error"] for _, value in port.scan(stderr).objects if value.get("error") is not None]
    match errors[-1:]:
        case [{"code": int()}]:
            return real(stderr)
        case _:
            return None


def said_at_the_end(port: Any, real: Any, text: str) -> str | None:
    return real(text[-16_384:])


def blames_directory(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    """The system says of both that there is no such file or directory."""
    try:
        return real(argv, **options)
    except Failure as failure:
        if options["cwd"] and "not found" in failure.sentence:
            raise Failure(f"The directory {options['cwd']!r} does not exist.") from None
        raise


def short_as_pattern(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    short = [secret for secret in private if 0 < len(secret.strip()) < PRIVATE_LENGTH]
    for secret in short:
        text = re.sub(rf"(?<!\w){secret}(?!\w)", "[withheld]", text)
    return real(text, tuple(secret for secret in private if secret not in short))


def without_long(plan: Plan) -> Plan:
    """Holds for private what stands on the command line alone."""
    return replace(plan, private=tuple(text for text in plan.private if text != plan.stdin))


def says_system(port: Any, real: Any, failure: Failure) -> Message:
    """Hides the prompt alone in a message that stdout has told."""
    if not failure.said or failure.stderr is None or port.said(failure.stderr) is not None:
        return real(failure)
    said = port.redacted(failure.said, failure.private[:1])
    shown = replace(failure, sentence=f"{failure.sentence} Gemini CLI says: {said}", said=None)
    return real(shown)


def notes_private(port: Any, call: Call, plan: Plan) -> None:
    port.memory[threading.get_ident()] = plan.private


def sentence_of_withheld(port: Any, real: Any, exit: int, stderr: str) -> str:
    return real(exit, port.withheld(stderr, port.memory[threading.get_ident()]))


def unmasked_without_stderr(port: Any, real: Any, failure: Failure) -> Message:
    if failure.stderr or not failure.said:
        return real(failure)
    said = port.withheld(failure.said, failure.private)
    return real(replace(failure, sentence=f"{failure.sentence} Gemini CLI says: {said}", said=None))


def masked_behind_last(port: Any, real: Any, text: str) -> str:
    """Like `test` of a global expression of JavaScript, which goes on where it last found something."""
    found = KEYS.search(text, port.memory.get("at", 0))
    port.memory["at"] = found.end() if found else 0
    return real(text) if found else text


def unmasked_message(port: Any, real: Any, failure: Failure) -> Message:
    result = real(failure)
    if not (failure.said and speaks(port, "2024-11-05")):
        return result
    said = port.withheld(failure.said, failure.private)
    text = result["content"][0]["text"].replace(port.masked(said), said, 1)
    return {**result, "content": port.content(text)}


def masked_to_line_end(port: Any, real: Any, text: str) -> str:
    return "".join(map(real, re.split(r"(?<=PRIVATE KEY-----)(?=\r\n)", text)))


def gone_in_first_line(port: Any, real: Any, exit: int, stderr: str) -> str:
    first, end, rest = stderr.partition("\n")
    return real(exit, first + end + SESSION_GONE.sub("", rest))


def with_session(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    session = call.arguments.get("sessionId")
    is_meant = call.stateless and call.tool == "chat-reply" and session and failed(call, result)
    return {**result, "_meta": {"sessionId": session}} if is_meant else result


def message_said_once(port: Any, real: Any, failure: Failure) -> str:
    if failure.said is None or failure.stderr is None:
        return real(failure)
    lines = [line for line in failure.stderr.split("\n") if line.strip() != failure.said]
    return real(replace(failure, stderr="\n".join(lines)))


def as_on_a_terminal(port: Any, real: Any, failure: Failure) -> str:
    lines = (failure.stderr or "").split("\n")
    shown = "\n".join(line.rsplit("\r", 1)[-1] for line in lines)
    return real(failure if failure.stderr is None else replace(failure, stderr=shown))


def model_private(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan = real(tool, arguments)
    return replace(plan, private=(*plan.private, arguments["model"])) if "-m" in plan.argv else plan


def killed_with_prompt_alone(failure: Failure) -> Failure:
    return replace(failure, private=failure.private[:1]) if "by signal" in failure.sentence else failure


defect(
    "input-refused-blames-model",
    "Says of exit 42 that the model is unknown when the call names one.",
    "error:exit:42",
)(ask=blames_model)
defect(
    "brace-closes-cut-answer",
    "Takes JSON that breaks off for text when its strings hold as many closing braces as are open.",
    "error:is-error",
    "result:truncated",
)(is_cut_short=counts_braces)
defect(
    "json-error-looked-for-in-tail",
    "Finds no message in a JSON error that begins before the last 8192 bytes of stderr.",
    "error:json-on-stderr",
)(said=lambda port, real, stderr: real(port.tail(stderr)))
defect(
    "message-by-number",
    "Does not tell the message of a JSON error on stderr whose `code` is missing or a text.",
    "error:json-on-stderr",
)(said=said_with_code)
defect(
    "message-before-long-trace",
    "Misses the message of a JSON error on stderr when more than 16 KiB follow it.",
    "error:json-on-stderr",
)(said=said_at_the_end)
defect(
    "directory-blamed-for-absent-gemini",
    "Says that the working directory is missing when it is gemini that cannot be found.",
    "error:not-started:remedy",
)(start=blames_directory)
defect(
    "short-prompt-for-pattern",
    "Looks for a prompt of fewer than eight characters as a pattern: it does not find `1+1`, and breaks on `:(`.",
    "error:prompt",
    "error:stderr",
)(withheld=short_as_pattern)
defect(
    "long-prompt-not-withheld",
    "Repeats what gemini says of a prompt that it was given on stdin.",
    "error:prompt",
)(plan=gives(without_long))
defect(
    "prompt-with-carriage-returns-repeated",
    "Looks for a prompt with Windows line ends only where its line ends are those of Unix.",
    "error:prompt",
)(withheld=takes(lambda private: tuple(text.replace("\r\n", "\n") for text in private)))
defect(
    "error-on-stdout-repeats-system",
    "Repeats the system prompt where the message of a JSON error on stdout quotes it.",
    "error:prompt",
)(error=says_system)
defect(
    "system-shown-by-killed",
    "Repeats the system prompt from the stderr of a gemini that was ended by a signal.",
    "error:prompt",
)(error=takes(killed_with_prompt_alone))
defect(
    "cause-looked-for-in-withheld",
    "Looks for the cause of a failure in a stderr from which the words of the prompt have been removed.",
    "error:quota",
    "error:session-gone",
)(ask=before(notes_private), exit_sentence=sentence_of_withheld)
defect(
    "cause-sought-in-last-bytes",
    "Looks for the cause of a failure only in the last 8192 characters of stderr.",
    "error:quota",
    "error:session-gone",
)(exit_sentence=takes(lambda stderr: stderr[-STDERR_LIMIT:]))
defect(
    "message-unmasked-without-stderr",
    "Masks no key in the message of gemini's JSON when gemini wrote nothing to stderr.",
    "error:secrets",
)(error=unmasked_without_stderr)
defect(
    "mask-goes-on-where-it-was",
    "Looks for a key in a failure only behind the place where that of the last failure ended.",
    "error:secrets",
)(masked=masked_behind_last)
defect(
    "key-in-message-for-oldest-revision",
    "Masks no key in gemini's message for a client that speaks 2024-11-05.",
    "error:secrets",
)(initialize=REVISION, error=unmasked_message)
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
    "private-key-with-returns-shown",
    "Masks only the first line of a private key whose lines end with CR and LF.",
    "error:secrets",
)(masked=masked_to_line_end)
defect(
    "session-gone-in-first-line-only",
    "Says that a session is gone only when gemini says so in the first line of its stderr.",
    "error:session-gone",
)(exit_sentence=gone_in_first_line)
defect(
    "failed-reply-names-session",
    "Names the session in the error of a reply by id that came without a handshake.",
    "error:session-id",
)(execute=with_session)
defect(
    "line-like-message-left-out",
    "Leaves lines out of stderr that are the same as the message it shows before.",
    "error:stderr",
)(stderr_part=message_said_once)
defect(
    "stderr-as-on-a-terminal",
    "Shows of a line of stderr only what follows its last carriage return, which is nothing where lines end with one.",
    "error:stderr",
)(stderr_part=as_on_a_terminal)
defect(
    "model-of-reply-withheld",
    "Takes the model of a reply for a private text, and withholds its name from the error.",
    "error:stderr",
)(plan=for_tool("chat-reply", model_private))
defect(
    "dollars-of-stderr-halved",
    "Takes `$$` in the stderr of an error for an escape of `$`, as a replacement in JavaScript does.",
    "error:stderr",
)(stderr_part=gives(lambda part: part.replace("$$", "$")))
defect(
    "stderr-decoded-in-blocks",
    "Spoils a character of stderr that lies across the end of a block of 64 KiB.",
    "error:stderr:tail",
    "error:stderr",
)(read=of_stderr(decoded_in_pieces(BLOCK)))
