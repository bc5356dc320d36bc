"""Failures whose code, stderr or key has just the wrong size: ports that break `error`."""

from dataclasses import replace
from typing import Any

from answering import KEYS, PRIVATE_LENGTH, STDERR_LIMIT, Answer, Failure, Outcome
from conditions import STDERR, ends
from defects.record import defect
from defects.shared import decoded_in_pieces, of_stderr
from defects.size.shared import BUFFER, last_full_piece_lost
from running import Call
from speaking import Message
from steps import Step, gives, takes

WINDOW = 64 * 1024
MOST_MASKS = 8
"""What `re.MULTILINE` is as a number, and so as a count."""
KEY = 100
ALL_STDERR = 24 * 1024
WHOLE = STDERR_LIMIT + 512
"""Bytes of an error with its stderr, while what gemini says is short."""


def swallows(number: int) -> Step:
    """Of `run_prompt`: takes an exit code beside an answer for success."""
    return ends(lambda call, run: run.exit == number and b'"response"' in run.stdout, lambda run: replace(run, exit=0))


def shows_eight(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    return real(text, tuple(each for each in private if len(each) != PRIVATE_LENGTH))


def redacted_end(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    return real(text[-WINDOW:], private)


def first_masked(port: Any, real: Any, text: str) -> str:
    return KEYS.sub("[masked]", text, count=MOST_MASKS)


def cut_before_masks(port: Any, real: Any, failure: Failure) -> str:
    if failure.stderr is None or len(failure.stderr) <= BUFFER:
        return real(failure)
    return f"\nStderr: {port.masked(port.tail(port.withheld(failure.stderr, failure.private)))}"


def masked_at_beginning(port: Any, real: Any, text: str) -> str:
    return KEYS.sub(lambda key: "[masked]" + key[0][KEY:], text)


def last_bytes(text: str, length: int) -> str:
    return text.encode("utf-8", "replace")[-length:].decode("utf-8", "ignore")


def cut_as_a_whole(port: Any, real: Any, failure: Failure) -> Message:
    result = real(failure)
    return {**result, "content": port.content(last_bytes(result["content"][0]["text"], WHOLE))}


def ended_itself(port: Any, real: Any, call: Call) -> Message | None:
    """Takes the SIGTERM of somebody else for its own, and keeps silent."""
    result = real(call)
    return None if "ended by signal 15" in result["content"][0]["text"] else result


def stderr_lost_at(size: int) -> Step:
    def read(port: Any, real: Any, outcome: Outcome) -> Answer:
        return real(replace(outcome, stderr=b"" if len(outcome.stderr) == size else outcome.stderr))

    return read


def short_lines_of_stderr(port: Any, real: Any, outcome: Outcome) -> Answer:
    lines = (line[:1024] for line in outcome.stderr.split(b"\n"))
    return real(replace(outcome, stderr=b"\n".join(lines)))


def of_all_stderr(port: Any, real: Any, failure: Failure) -> str:
    quoted = real(failure).removeprefix(STDERR).encode()
    if failure.stderr is None:
        return ""
    left = port.memory.get("left", ALL_STDERR)
    port.memory["left"] = max(0, left - len(quoted))
    return STDERR + (quoted[-left:].decode("utf-8", "ignore") if left else "")


def first_line_divided(port: Any, real: Any, text: str) -> str:
    """Cannot tell a text of just this size from one that was cut."""
    cut = real(text)
    return cut.split("\n", 1)[-1] if len(cut.encode()) == len(text.encode()) == STDERR_LIMIT else cut


def tail_of(length: int) -> Step:
    return lambda port, real, text: last_bytes(text, length)


defect("exit-128-is-success", "Looks at seven bits of an exit code.", "error:exit")(
    read=takes(lambda run: replace(run, exit=0) if run.exit == 128 else run)
)
defect("exit-2-is-success", "Takes exit code 2 beside an answer for a warning.", "error:exit")(
    read=takes(lambda run: replace(run, exit=0) if run.exit == 2 and b'"response"' in run.stdout else run)
)
defect("exit-75-is-success", "Takes exit code 75 beside an answer for a success.", "error:exit")(
    run_prompt=swallows(75)
)
defect("exit-255-is-success", "Takes exit code 255 beside an answer for a success.", "error:exit")(
    run_prompt=swallows(255)
)
defect("prompt-of-eight-characters-shown", "Leaves a copy of a prompt of eight characters in stderr.", "error:prompt")(
    withheld=shows_eight
)
defect(
    "redaction-of-the-end",
    "Looks for private texts in the last 64 Ki characters of stderr only, where a longer one is not whole.",
    "error:prompt",
)(redacted=redacted_end)
defect(
    "ninth-key-shown",
    "Masks eight keys of a text at most.",
    "error:secrets",
)(masked=first_masked)
defect(
    "long-stderr-cut-before-masks",
    "Masks keys only after the cut when stderr has more than 65,536 characters, so that one that is cut is shown.",
    "error:secrets",
)(stderr_part=cut_before_masks)
defect("long-keys-shown-in-part", "Shows what follows the first hundred characters of a key.", "error:secrets")(
    masked=masked_at_beginning
)
defect("broken-pipe-is-success", "Takes the answer of a gemini that died of SIGPIPE.", "error:signal")(
    read=takes(lambda run: replace(run, exit=0) if run.exit == -13 else run)
)
defect("sigterm-from-elsewhere-unanswered", "Answers nothing when somebody else ends gemini.", "error:signal")(
    execute=ended_itself
)
defect("alarm-is-success", "Takes the answer of a gemini that died of SIGALRM.", "error:signal")(
    run_prompt=swallows(-14)
)
defect("hangup-is-success", "Takes the answer of a gemini that died of SIGHUP.", "error:signal")(
    run_prompt=swallows(-1)
)
defect("stderr-of-full-pages-cut", "Loses the last 4 KiB of a stderr that is a multiple of them.", "error:stderr")(
    read=of_stderr(last_full_piece_lost(1 << 12))
)
defect("stderr-of-8192-bytes-lost", "Quotes nothing of a stderr of exactly 8,192 bytes.", "error:stderr")(
    read=stderr_lost_at(8192)
)
defect("long-lines-of-stderr-cut", "Cuts the lines of stderr after 1,024 bytes.", "error:stderr")(
    read=short_lines_of_stderr
)
defect("stderr-within-budget", "Quotes 24 KiB of stderr in all errors together.", "error:stderr")(
    stderr_part=of_all_stderr
)
defect("stderr-decoded-by-kibibytes", "Decodes each KiB of stderr by itself.", "error:stderr")(
    read=of_stderr(decoded_in_pieces(1024))
)
defect(
    "stderr-of-just-the-limit-loses-first-line",
    "Leaves out the first line of a stderr of exactly 8192 bytes.",
    "error:stderr",
)(tail=first_line_divided)
defect("stderr-decoded-by-pages", "Decodes each 4 KiB of stderr by itself.", "error:stderr:tail")(
    read=of_stderr(decoded_in_pieces(1 << 12))
)
defect(
    "error-cut-as-a-whole",
    "Keeps the last bytes of the whole error, so a long message before a long stderr costs it the prefix.",
    "error:prefix",
)(error=cut_as_a_whole)
defect("tail-one-byte-short", "Keeps one byte of stderr less than it should.", "error:stderr:tail", "error:stderr")(
    tail=tail_of(STDERR_LIMIT - 1)
)
defect("tail-one-byte-long", "Keeps one byte of stderr more than it should.", "error:stderr:tail")(
    tail=tail_of(STDERR_LIMIT + 1)
)
defect("tail-in-characters", "Counts characters of stderr where bytes are meant.", "error:stderr:tail")(
    tail=lambda port, real, text: text[-STDERR_LIMIT:]
)
defect("stderr-of-64-lines-shown", "Quotes the last 64 lines of stderr at most.", "error:stderr:tail", "error:stderr")(
    tail=gives(lambda text: "\n".join(text.split("\n")[-64:]))
)
