"""Defects that show at a size: next to a limit, in characters that were counted as bytes, in numbers too large."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from answering import STDERR_LIMIT, Answer, Failure, Outcome
from conditions import altering, asks
from defects.protocol.messages import where
from defects.record import defect
from planning import ARGUMENT_LIMIT, STDIN_LIMIT, Plan, Refusal
from running import LIST, Call
from speaking import Message, as_object
from steps import Change, Step, always, gives, only, takes

LARGEST = 1 << 53


def on_argv_below(limit: int) -> Step:
    """Passes longer prompts than it should on the command line."""

    def prompt_form(port: Any, real: Any, prompt: str) -> Any:
        is_passed = ARGUMENT_LIMIT < len(prompt.encode()) <= limit
        return ((f"--prompt={prompt}",), None) if is_passed else real(prompt)

    return prompt_form


def counted(length: Callable[[str], int], limit: int) -> Step:
    """Refuses prompts by another length than that of their UTF-8."""

    def check_prompt(port: Any, real: Any, tool: str, prompt: str) -> None:
        if length(prompt) > limit:
            raise Refusal("`prompt` is too long.")
        real(tool, prompt[:1])

    return check_prompt


def rounded(number: Any) -> Any:
    """What a number becomes that is kept as a double."""
    is_large = isinstance(number, int) and not isinstance(number, bool) and abs(number) > LARGEST
    return int(float(number)) if is_large else number


def with_id(change: Change) -> Step:
    return takes(where("id", lambda message: {**message, "id": change(message["id"])}))


def with_token(change: Change) -> Step:
    return gives(
        lambda message: {
            **message,
            "params": {**message["params"], "progressToken": change(message["params"]["progressToken"])},
        }
    )


def cancels_rounded(port: Any, real: Any, method: str, params: Any) -> None:
    number = (as_object(params) or {}).get("requestId")
    if method != "notifications/cancelled" or not isinstance(number, int):
        real(method, params)
        return
    for call in list(port.calls):
        if isinstance(call.id, int) and float(call.id) == float(number):
            port.cancel(call)


def cut_text(length: int) -> Change:
    return lambda value: value[:length] if isinstance(value, str) else value


def last_full_piece_lost(size: int) -> Change:
    """Loses the last piece of output when it is full."""
    return lambda raw: raw[:-size] if raw and len(raw) % size == 0 else raw


def of_stdout(change: Change) -> Step:
    return takes(lambda outcome: replace(outcome, stdout=change(outcome.stdout)))


def of_stderr(change: Change) -> Step:
    return takes(lambda outcome: replace(outcome, stderr=change(outcome.stderr)))


def decoded_in_pieces(size: int) -> Change:
    def decoded(raw: bytes) -> bytes:
        pieces = (raw[start : start + size] for start in range(0, len(raw), size))
        return "".join(piece.decode("utf-8", "replace") for piece in pieces).encode()

    return decoded


def refuses_large(port: Any, real: Any, outcome: Outcome) -> Answer:
    if len(outcome.stdout) > 1 << 20:
        raise Failure("The output of gemini is longer than its buffer.", port.decode(outcome.stderr))
    return real(outcome)


def tail_of(length: int) -> Step:
    return lambda port, real, text: text.encode("utf-8", "replace")[-length:].decode("utf-8", "ignore")


def listing_of(change: Change) -> Step:
    return takes(lambda listing: replace(listing, stdout=change(listing.stdout), stderr=change(listing.stderr)))


def impatient_listing(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    arguments = (plan.argv[0], LIST)
    try:
        return port.run(call, arguments, plan.cwd, port.environment(None), None, 0.75)
    except Failure:
        return None


def cut_in_system_file(limit: int) -> Step:
    return gives(lambda raw: raw[:limit])


def ended_itself(port: Any, real: Any, call: Call) -> Message | None:
    """Takes the SIGTERM of somebody else for its own, and keeps silent."""
    result = real(call)
    return None if "ended by signal 15" in result["content"][0]["text"] else result


def refuses_at(length: int) -> None:
    if length == ARGUMENT_LIMIT:
        raise Refusal("`prompt` is too long.")


def is_negative(value: Any) -> bool:
    return isinstance(value, int | float) and value < 0


def counted_short(port: Any, real: Any, prompt: str) -> Any:
    length = sum(min(3, len(character.encode())) for character in prompt)
    return ((f"--prompt={prompt}",), None) if length <= ARGUMENT_LIMIT else real(prompt)


defect("prompt-limit-one-more", "Passes a prompt of one byte too many on the command line.", "prompt:long")(
    prompt_form=on_argv_below(ARGUMENT_LIMIT + 1)
)
defect("prompt-limit-higher", "Passes prompts of up to 130,000 bytes on the command line.", "prompt:long")(
    prompt_form=on_argv_below(130_000)
)
defect("prompt-over-limit-by-one", "Passes on one byte more than gemini reads.", "prompt:over-limit")(
    check_prompt=counted(lambda text: len(text.encode()), STDIN_LIMIT + 1)
)
defect("prompt-limit-in-characters", "Counts characters where gemini counts bytes.", "prompt:over-limit")(
    check_prompt=counted(len, STDIN_LIMIT)
)
defect("prompt-limit-in-code-units", "Counts UTF-16 units where gemini counts bytes.", "prompt:over-limit")(
    check_prompt=counted(lambda text: len(text.encode("utf-16-le", "surrogatepass")) // 2, STDIN_LIMIT)
)
defect(
    "argument-refused-at-limit",
    "Refuses a prompt of exactly 128,000 bytes.",
    "prompt:verbatim:128000",
)(check_prompt=lambda port, real, tool, text: refuses_at(len(text.encode())) or real(tool, text))
defect("system-prompt-cut-at-64-kib", "Writes no more of a system prompt than 64 KiB.", "system:content")(
    system_bytes=cut_in_system_file(1 << 16)
)
defect("system-prompt-cut-at-1-mib", "Writes no more of a system prompt than 1 MiB.", "system:content")(
    system_bytes=cut_in_system_file(1 << 20)
)
defect("long-model-cut", "Cuts a model after 64 characters.", "command:chat:model", "command:chat-reply:model")(
    ask=asks(lambda call, plan: True, altering("-m", lambda model: model[:64]))
)
defect("long-session-cut", "Cuts the session of a reply after 64 characters.", "command:chat-reply:session-id")(
    ask=asks(lambda call, plan: True, altering("-r", lambda session: session[:64]))
)
defect("long-session-of-answer-cut", "Cuts the session of an answer after 64 characters.", "result:session-id")(
    success=takes(lambda answer: replace(answer, session=cut_text(64)(answer.session)))
)
defect("long-directory-overlooked", "Runs in its own directory when a path has more than 255 bytes.", "cwd:used")(
    ask=asks(lambda call, plan: len(plan.cwd or "") > 255, lambda plan: replace(plan, cwd=None))
)
defect("ids-through-doubles", "Rounds ids beyond 2^53.", "rpc:response:id")(write=with_id(rounded))
defect("negative-ids-unanswered", "Takes a request with a negative id for a notification.", "rpc:response:id")(
    dispatch=only(lambda message: not is_negative((as_object(message) or {}).get("id")))
)
defect("fractions-of-ids-lost", "Answers an id that is a fraction with a whole number.", "rpc:response:id")(
    write=with_id(lambda id: int(id) if isinstance(id, float) else id)
)
defect("long-ids-cut", "Cuts an id after 128 characters.", "rpc:response:id")(write=with_id(cut_text(128)))
defect("tokens-through-doubles", "Rounds progress tokens beyond 2^53.", "progress:token")(progress=with_token(rounded))
defect("long-tokens-cut", "Cuts a progress token after 64 characters.", "progress:token")(
    progress=with_token(cut_text(64))
)
defect("negative-tokens-overlooked", "Takes a negative progress token for none.", "progress:start")(
    token=gives(lambda token: None if is_negative(token) else token)
)
defect("fractions-of-tokens-lost", "Makes a whole number of a token that is a fraction.", "progress:token")(
    progress=with_token(lambda token: int(token) if isinstance(token, float) else token)
)
defect("large-ids-cancelled-alike", "Cancels every call whose id becomes the same double.", "cancel:others")(
    notified=cancels_rounded
)
defect("last-full-piece-lost", "Loses the last 64 KiB of an output that is a multiple of them.", "result:text")(
    read=of_stdout(last_full_piece_lost(1 << 16))
)
defect("stderr-of-full-pages-cut", "Loses the last 4 KiB of a stderr that is a multiple of them.", "error:stderr")(
    read=of_stderr(last_full_piece_lost(1 << 12))
)
defect(
    "answer-decoded-by-mebibytes",
    "Decodes each megabyte of the output by itself.",
    "result:text:unicode",
    "result:text",
)(read=of_stdout(decoded_in_pieces(1 << 20)))
defect("stderr-decoded-by-pages", "Decodes each 4 KiB of stderr by itself.", "error:stderr:tail")(
    read=of_stderr(decoded_in_pieces(1 << 12))
)
defect("answer-over-mebibyte-refused", "Fails when gemini prints more than 1 MiB.", "result:large-stdout")(
    read=refuses_large
)
defect("tail-one-byte-short", "Keeps one byte of stderr less than it should.", "error:stderr:tail", "error:stderr")(
    tail=tail_of(STDERR_LIMIT - 1)
)
defect("tail-one-byte-long", "Keeps one byte of stderr more than it should.", "error:stderr:tail")(
    tail=tail_of(STDERR_LIMIT + 1)
)
defect("tail-in-characters", "Counts characters of stderr where bytes are meant.", "error:stderr:tail")(
    tail=lambda port, real, text: text[-STDERR_LIMIT:]
)
defect("index-of-two-digits", "Knows no session in a list behind the ninety-ninth.", "fallback:last")(
    entry_pattern=always(re.compile(r"\s*(\d{1,2})\.\s.*\[([^\[\]\s]+)\][^\[\]]*"))
)
defect("index-of-three-digits", "Knows no session in a list behind number 999.", "fallback:last")(
    entry_pattern=always(re.compile(r"\s*(\d{1,3})\.\s.*\[([^\[\]\s]+)\][^\[\]]*"))
)
defect("listing-read-to-8-kib", "Reads 8 KiB of a list of sessions.", "fallback:last")(
    list_text=listing_of(lambda raw: raw[: 1 << 13])
)
defect(
    "listing-indented-overlooked", "Knows no entry of a list behind more than four blanks.", "fallback:list-sessions"
)(entry_pattern=always(re.compile(r"\s{0,4}(\d+)\.\s.*\[([^\[\]\s]+)\][^\[\]]*")))
defect("slow-listing-given-up", "Waits less than a second for a list of sessions.", "fallback:list-sessions")(
    list_sessions=impatient_listing
)
defect("long-listed-ids-overlooked", "Knows no session in a list with more than 40 characters.", "fallback:brackets")(
    entry_pattern=always(re.compile(r"\s*(\d+)\.\s.*\[([^\[\]\s]{1,40})\][^\[\]]*"))
)
defect("exit-128-is-success", "Looks at seven bits of an exit code.", "error:exit")(
    read=takes(lambda run: replace(run, exit=0) if run.exit == 128 else run)
)
defect("exit-2-is-success", "Takes exit code 2 beside an answer for a warning.", "error:exit")(
    read=takes(lambda run: replace(run, exit=0) if run.exit == 2 and b'"response"' in run.stdout else run)
)
defect("broken-pipe-is-success", "Takes the answer of a gemini that died of SIGPIPE.", "error:signal")(
    read=takes(lambda run: replace(run, exit=0) if run.exit == -13 else run)
)
defect("sigterm-from-elsewhere-unanswered", "Answers nothing when somebody else ends gemini.", "error:signal")(
    execute=ended_itself
)
defect("answer-of-8192-bytes-shortened", "Loses the last byte of a text of exactly 8,192 bytes.", "result:text")(
    read_json=gives(lambda answer: replace(answer, text=answer.text[: 8191 if len(answer.text) == 8192 else None]))
)
defect(
    "wide-characters-counted-short",
    "Counts three bytes for any character beyond the alphabets, and puts a longer prompt into an argument.",
    "prompt:long",
)(prompt_form=counted_short)
