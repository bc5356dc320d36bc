"""An answer that is found and handed on altered: ports that break `result:text`."""

import codecs
import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from select import select
from subprocess import PIPE, Popen
from threading import Thread
from typing import IO, Any, cast

from answering import Answer, Failure, Outcome
from defects.answer.shared import answered
from defects.record import defect
from defects.shared import text
from running import Call
from speaking import as_object
from steps import Step, gives, takes

NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
PIECE, REST = 1 << 16, 1.0
CAPITAL_ESCAPE = re.compile(rb"\\u(?=[0-9a-fA-F]*[A-F])[0-9a-fA-F]{4}")


def depth(value: Any) -> int:
    members = (as_object(value) or {}).values()
    inner: list[Any] = cast("list[Any]", value) if isinstance(value, list) else [*members]
    return 1 + max(map(depth, inner)) if inner else 0


def printed(change: Callable[[bytes], bytes]) -> Step:
    """Of `read`: reads another stdout of a run that has succeeded."""

    def read(port: Any, real: Any, outcome: Outcome) -> Answer:
        return real(replace(outcome, stdout=change(outcome.stdout)) if outcome.exit == 0 else outcome)

    return read


def fails_without_file(port: Any, real: Any, path: str, call: Call, outcome: Outcome | None) -> None:
    is_there = os.path.exists(path)
    real(path, call, outcome)
    if not is_there and not call.is_cancelled:
        raise Failure("The file of the system prompt could not be removed: it does not exist.", "")


def numbers_as_numbers(port: Any, real: Any, text: str) -> Any:
    return [{"type": "text", "text": json.loads(text)}] if NUMBER.fullmatch(text) else real(text)


def unwrapped(text: str) -> str:
    try:
        inner = as_object(json.loads(text))
    except ValueError:
        return text
    return text if inner is None else str(inner.get("response", json.dumps(inner)))


def innermost(text: str) -> str:
    try:
        return json.loads(text[text.rindex('{"response"') :])["response"]
    except (ValueError, KeyError, TypeError):
        return text


def pours(files: dict[IO[bytes], IO[bytes]]) -> None:
    """Copies what comes from gemini, whichever stream it is, by way of one decoder."""
    decoder, latest = codecs.getincrementaldecoder("utf-8")("replace"), None
    while files:
        for stream in select(list(files), [], [])[0]:
            if piece := os.read(stream.fileno(), PIECE):
                latest = files[stream]
                latest.write(decoder.decode(piece).encode())
            else:
                del files[stream]
    if latest is not None:
        latest.write(decoder.decode(b"", True).encode())


def by_way_of_pipes(port: Any, real: Any, argv: Any, **options: Any) -> Any:
    process = real(argv, **{**options, "stdout": PIPE, "stderr": PIPE})
    files = {process.stdout: options["stdout"], process.stderr: options["stderr"]}
    port.memory[process.pid] = Thread(target=pours, args=(files,), daemon=True)
    port.memory[process.pid].start()
    return process


def copies_rest(port: Any, real: Any, call: Call, process: Popen[bytes]) -> int:
    exit = real(call, process)
    port.memory[process.pid].join(REST)
    return exit


defect("whole-stdout", "Returns all of stdout.", "result:text")(
    read_stdout=lambda port, real, stdout, stderr: replace(real(stdout, stderr), text=stdout)
)
defect("session-appended", "Adds the session to the text of an answer.", "result:text")(
    success=takes(lambda answer: replace(answer, text=f"{answer.text}\n\n[sessionId: {answer.session}]"))
)
defect("long-answers-cut", "Cuts an answer after 25,000 characters.", "result:text", "result:large-stdout")(
    success=text(lambda text: text if len(text) <= 25_000 else f"{text[:25_000]}\n[cut]")
)
defect("deep-json-unread", "Reads no JSON that is nested more than twelve levels deep.", "result:text")(
    scan=gives(lambda scan: replace(scan, objects=[each for each in scan.objects if depth(each[1]) <= 12]))
)
defect(
    "solidus-read-with-backslash", "Reads an escaped slash of gemini's JSON as a backslash and a slash.", "result:text"
)(read=printed(lambda out: re.sub(rb"(?<!\\)((?:\\\\)*)\\/", rb"\1\\\\/", out)))
defect("answer-cut-at-stderr-label", "Cuts an answer at a line that begins with `Stderr: `.", "result:text")(
    success=takes(lambda answer: replace(answer, text=answer.text.split("\nStderr: ")[0]))
)
defect("prompt-withheld-in-answer", "Withholds the prompt in an answer that repeats it.", "result:text")(
    ask=answered(lambda port, plan, answer: replace(answer, text=port.withheld(answer.text, plan.private)))
)
defect("keys-masked-in-answer", "Masks what looks like a key in an answer.", "result:text")(
    ask=answered(lambda port, plan, answer: replace(answer, text=port.masked(answer.text)))
)
defect(
    "missing-system-file-fails",
    "Fails a call when gemini has removed the file of the system prompt itself.",
    "result:text",
)(remove_system=fails_without_file)
defect(
    "numeric-answer-is-number",
    "Sends an answer that reads like a number as a number.",
    "result:text",
)(content=numbers_as_numbers)
defect("answer-stripped", "Strips the answer.", "result:text:blanks")(success=text(str.strip))
defect("last-newline-of-answer-lost", "Takes one newline off the end of an answer.", "result:text:blanks")(
    success=text(lambda text: text.removesuffix("\n"))
)
defect("json-answer-unwrapped", "Looks for a response inside an answer that is JSON itself.", "result:text:json")(
    success=text(unwrapped)
)
defect(
    "innermost-json-taken",
    "Looks for the last brace that begins an object with a response, inside of texts too.",
    "result:text:json",
)(read_json=gives(lambda answer: replace(answer, text=innermost(answer.text))))
defect("newlines-translated", "Makes one kind of line end of all.", "result:text:newline")(
    success=text(lambda text: text.replace("\r\n", "\n").replace("\r", "\n"))
)
defect("answer-escaped", "Escapes what is not ASCII.", "result:text:unicode")(
    success=text(lambda text: text.encode("ascii", "backslashreplace").decode())
)
defect("emoji-of-answer-lost", "Replaces characters beyond the basic plane.", "result:text:unicode")(
    success=text(lambda text: "".join(letter if letter <= "\uffff" else "\ufffd" for letter in text))
)
defect(
    "capital-escapes-unread",
    "Reads no escape of gemini's JSON whose digits are capitals.",
    "result:text:unicode",
)(read=printed(lambda out: CAPITAL_ESCAPE.sub(b"?", out)))
defect(
    "one-decoder-for-both-streams",
    "Decodes stdout and stderr with one decoder, so that stderr within a cut character of stdout damages it.",
    "result:text:split",
)(spawn=by_way_of_pipes, wait=copies_rest)
