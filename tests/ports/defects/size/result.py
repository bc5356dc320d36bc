"""Answers that fill a buffer or outgrow a number: ports that break `result`."""

import json
import os
import re
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from answering import Answer, Failure, Outcome, Scan
from conditions import every, from_time, is_fed
from defects.record import defect
from defects.shared import decoded_in_pieces
from defects.size.shared import BUFFER, cut_text, last_full_piece_lost
from running import Call
from steps import Change, Step, before, gives, takes

BRACES = 32
LINES_BEHIND = 32
LINES_BEFORE = 64
ONE_OUTPUT = 16 * 1024 * 1024
MEBIBYTE = 1 << 20
ALL_ANSWERS = 12 * 1024 * 1024
PAGE = 4096
LINES = 4096
WARNING = 1000
BUSY_SECONDS = 1.0


def unless_output_is_busy(port: Any, real: Any, call: Call, result: Any) -> None:
    if port.output.acquire(timeout=BUSY_SECONDS):
        port.output.release()
        real(call, result)


def begins_object(text: str, position: int) -> bool:
    try:
        json.JSONDecoder().raw_decode(text, position)
    except (ValueError, RecursionError):
        return False
    return True


def gives_up(port: Any, real: Any, text: str) -> Scan:
    positions = [position for position, character in enumerate(text) if character == "{"]
    tried = positions[:BRACES]
    is_given_up = len(positions) > BRACES and not any(begins_object(text, position) for position in tried)
    return Scan() if is_given_up else real(text)


def near_end(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    _, brace, rest = stdout.rpartition("}")
    return port.plain_text(stdout) if brace and rest.count("\n") > LINES_BEHIND else real(stdout, stderr)


def in_first_lines(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    lines = stdout.split("\n", LINES_BEFORE)
    is_deep = len(lines) > LINES_BEFORE and "{" not in "".join(lines[:LINES_BEFORE])
    return port.plain_text(stdout) if is_deep else real(stdout, stderr)


def searches_one_buffer(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    is_far = stdout.strip() and stdout.find("{", 0, BUFFER) < 0
    return port.plain_text(stdout) if is_far else real(stdout, stderr)


def refuses_large(port: Any, real: Any, outcome: Outcome) -> Answer:
    if len(outcome.stdout) > 1 << 20:
        raise Failure("The output of gemini is longer than its buffer.", port.decode(outcome.stderr))
    return real(outcome)


def too_much(port: Any, outcome: Outcome) -> Failure:
    return Failure("gemini has printed too much.", port.decode(outcome.stderr))


def of_one_output(port: Any, outcome: Outcome) -> None:
    if len(outcome.stdout) > ONE_OUTPUT:
        raise too_much(port, outcome)


def session_of_first_mebibyte(port: Any, real: Any, outcome: Outcome) -> Answer:
    answer = real(outcome)
    is_near = answer.session is None or answer.session.encode() in outcome.stdout[:MEBIBYTE]
    return answer if is_near else Answer(answer.text, None, answer.warnings)


def much_stderr_fails(port: Any, real: Any, outcome: Outcome) -> Answer:
    if len(outcome.stderr) > MEBIBYTE:
        raise Failure("gemini wrote more than the buffer takes.", port.decode(outcome.stderr))
    return real(outcome)


def of_stdout(change: Change) -> Step:
    return takes(lambda outcome: replace(outcome, stdout=change(outcome.stdout)))


def shortened_at(*sizes: int) -> Step:
    """Loses the last character of a text with so many bytes."""
    return gives(
        lambda text: text[:-1] if isinstance(text, str) and len(text.encode("utf-8", "replace")) in sizes else text
    )


def broken_lines(width: int) -> Step:
    return gives(lambda text: re.sub(rf"([^\n]{{{width}}})(?=[^\n])", r"\1\n", text) if isinstance(text, str) else text)


def of_all_answers(port: Any, outcome: Outcome) -> None:
    total = port.memory["total"] = port.memory.get("total", 0) + len(outcome.stdout)
    if total > ALL_ANSWERS:
        raise too_much(port, outcome)


def full_page_is_cut(port: Any, real: Any, outcome: Outcome) -> Answer:
    """Takes an output that fills its last page for one that goes on."""
    if outcome.exit == 0 and outcome.stdout and len(outcome.stdout) % PAGE == 0:
        raise Failure("gemini ended in the middle of its answer.", port.decode(outcome.stderr))
    return real(outcome)


def cut_after(length: int) -> Callable[[Answer], Answer]:
    """Loses the last character of a text that is as long as this."""
    return lambda answer: replace(answer, text=answer.text[:-1]) if len(answer.text) == length else answer


def cut_warnings(warnings: Any) -> Any:
    return [cut_text(256)(each) for each in warnings] if isinstance(warnings, list) else warnings  # pyright: ignore[reportUnknownVariableType]


def short_warnings(answer: Any) -> Any:
    cut = [each[:WARNING] if isinstance(each, str) else each for each in answer.warnings or ()]
    return replace(answer, warnings=cut or answer.warnings)


class Stubborn:
    """A gemini that is given its prompt by a pipe, and whose stderr is read when it has taken all of it."""

    def __init__(self, process: subprocess.Popen[bytes], text: bytes, target: int) -> None:
        self.process, self.text, self.target = process, text, target
        self.is_taken, self.is_copied = threading.Event(), threading.Event()
        threading.Thread(target=self.write, daemon=True).start()
        threading.Thread(target=self.copy, daemon=True).start()

    def write(self) -> None:
        assert self.process.stdin is not None
        with suppress(BrokenPipeError), self.process.stdin as stdin:
            stdin.write(self.text)
        self.is_taken.set()

    def copy(self) -> None:
        assert self.process.stderr is not None
        self.is_taken.wait()
        position = 0
        with suppress(OSError), self.process.stderr as stderr:
            while piece := os.read(stderr.fileno(), 65_536):
                position += os.pwrite(self.target, piece, position)
        self.is_copied.set()
        os.close(self.target)


def read_behind_prompt(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    if not is_fed(options["stdin"]):
        return real(argv, **options)
    text, target = options["stdin"].read(), os.dup(options["stderr"].fileno())
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = real(argv, **{**options, **pipes})
    port.memory[process.pid] = Stubborn(process, text, target)
    return process


def copied(port: Any, real: Any, call: Call, process: Any) -> Any:
    exit = real(call, process)
    stubborn = port.memory.pop(process.pid, None)
    if stubborn is not None:
        stubborn.is_taken.set()
        stubborn.is_copied.wait(0.5)
    return exit


def cut_in_escapes(answer: Answer) -> Answer:
    length = len(json.dumps(answer.text))
    kept = len(answer.text) * min(length, ALL_ANSWERS) // length
    return replace(answer, text=answer.text[:kept])


defect(
    "json-search-gives-up",
    "Gives up the search for JSON when 32 braces have begun none.",
    "result:json:braces",
)(scan=gives_up)
defect("json-in-last-32-lines", "Finds no JSON with more than 32 lines behind it.", "result:json:notice-after")(
    read_stdout=near_end
)
defect("json-in-first-64-lines", "Looks for JSON in the first 64 lines of stdout.", "result:json:notice-before")(
    read_stdout=in_first_lines
)
defect(
    "json-behind-64k-of-notices-unseen",
    "Finds no JSON when more than 65,536 characters of notices are before it.",
    "result:json:notice-before",
)(read_stdout=searches_one_buffer)
defect("answer-over-mebibyte-refused", "Fails when gemini prints more than 1 MiB.", "result:large-stdout")(
    read=refuses_large
)
defect("output-over-16-mib-refused", "Fails when gemini prints more than 16 MiB.", "result:large-stdout")(
    read=before(of_one_output)
)
defect("long-session-of-answer-cut", "Cuts the session of an answer after 64 characters.", "result:session-id")(
    success=takes(lambda answer: replace(answer, session=cut_text(64)(answer.session)))
)
defect(
    "seventeenth-session-lost",
    "Loses the session of every seventeenth call.",
    "result:session-id",
    "result:session-id:chat-reply",
)(success=every(17, gives(lambda result: {"content": result["content"]})))
defect(
    "session-behind-mebibyte-lost",
    "Finds no session behind the first megabyte of the output.",
    "result:session-id",
)(read=session_of_first_mebibyte)
defect(
    "sessions-named-thirty-times",
    "Names no session from the thirtieth answer on.",
    "result:session-id",
)(success=from_time(30, gives(lambda result: {name: value for name, value in result.items() if name != "_meta"})))
defect(
    "stderr-over-mebibyte-fails",
    "Fails a call that succeeded when gemini has written more than 1 MiB to stderr.",
    "result:stderr",
    "result:large-stderr",
)(read=much_stderr_fails)
defect(
    "answer-behind-another-given-up",
    "Drops an answer that has waited for a second because its client is slow to read the one before.",
    "result:text",
    "concurrency:lost",
)(answer=unless_output_is_busy)
defect("last-full-piece-lost", "Loses the last 64 KiB of an output that is a multiple of them.", "result:text")(
    read=of_stdout(last_full_piece_lost(1 << 16))
)
defect("answer-of-8192-bytes-shortened", "Loses the last byte of a text of exactly 8,192 bytes.", "result:text")(
    read_json=gives(lambda answer: replace(answer, text=answer.text[: 8191 if len(answer.text) == 8192 else None]))
)

for size in (255, 4096, 65_536, 1 << 20):
    defect(f"answer-of-{size}-bytes-shortened", f"Loses the last character of {size} bytes.", "result:text")(
        response=shortened_at(size)
    )

defect("long-lines-of-answer-broken", "Breaks the lines of an answer after 32,768 characters.", "result:text")(
    response=broken_lines(32_768)
)
defect("answers-within-budget", "Fails once all answers together had more than 12 MiB.", "result:text")(
    read=before(of_all_answers)
)
defect(
    "output-of-full-pages-is-cut",
    "Takes JSON for broken off whose length is a multiple of 4,096 bytes.",
    "result:text",
)(read=full_page_is_cut)
defect("answer-of-1000-characters-shortened", "Loses the last of exactly 1,000 characters.", "result:text")(
    read_json=gives(cut_after(1000))
)
defect("answer-of-16-kib-shortened", "Loses the last of exactly 16,384 characters.", "result:text")(
    read_json=gives(cut_after(1 << 14))
)
defect("answer-of-one-character-empty", "Loses an answer of a single character.", "result:text")(
    read_json=gives(cut_after(1))
)
defect("lines-of-answer-over-4096-lost", "Returns no more than 4,096 lines of an answer.", "result:text:blanks")(
    response=gives(lambda text: "\n".join(text.split("\n")[:LINES]) if isinstance(text, str) else text)
)
defect(
    "answer-decoded-by-mebibytes",
    "Decodes each megabyte of the output by itself.",
    "result:text:unicode",
    "result:text",
)(read=of_stdout(decoded_in_pieces(1 << 20)))
defect("stdout-decoded-by-4-kib", "Decodes each 4 KiB of the output by itself.", "result:text:unicode", "result:text")(
    read=of_stdout(decoded_in_pieces(PAGE))
)
defect("warnings-cut-at-256", "Cuts a warning after 256 characters.", "result:warnings")(
    success=takes(lambda answer: replace(answer, warnings=cut_warnings(answer.warnings)))
)
defect("long-warnings-cut", "Cuts a warning after 1,000 characters.", "result:warnings")(
    read_json=gives(short_warnings)
)
defect(
    "stderr-unread-while-prompt-is-written",
    "Reads nothing of stderr until gemini has read a long prompt, so that both wait when gemini writes much first.",
    "result:session-id",
    "result:large-stderr",
)(spawn=read_behind_prompt, wait=copied)
defect(
    "answer-cut-by-its-escapes",
    "Cuts an answer that takes more than 12 MiB when JSON escapes it.",
    "result:large-stdout",
)(success=takes(cut_in_escapes))
