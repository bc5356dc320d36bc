"""Odd customs of whole programs: how they keep locks, batch what they write, enter directories, and word details."""

import os
import shutil
import signal
import threading
import time
from typing import Any

from answering import KEYS, Answer
from odd.record import odd
from running import Call
from speaking import Message
from steps import before, gives

BATCH = 0.02
SHOWN = 4
PAUSE = 0.2


def batched(port: Any, real: Any, message: Message) -> None:
    """A thread writes what has come meanwhile, all of it at once."""
    if "batch" not in port.memory:
        port.memory["batch"] = []
        threading.Thread(target=write_batches, args=(port,), daemon=True).start()
    port.memory["batch"].append(port.encoded(message))


def write_batches(port: Any) -> None:
    while True:
        time.sleep(BATCH)
        with port.output:
            lines, port.memory["batch"] = port.memory["batch"], []
        write_whole(b"".join(lines))


def write_whole(data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(1, rest) :]


def last_batch(port: Any, *arguments: Any) -> None:
    time.sleep(2 * BATCH)


def entered_by_env(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    """`env` enters the directory and becomes gemini."""
    env, cwd = shutil.which("env"), options.pop("cwd", None)
    found = shutil.which(argv[0])
    if env is None or found is None:
        raise FileNotFoundError
    return real((env, *(("-C", cwd) if cwd else ()), found, *argv[1:]), **options)


def marked(path: str) -> str:
    """A file of the port's own lies beside the text."""
    with open(os.path.join(os.path.dirname(path), ".pid"), "w", encoding="utf-8") as file:
        file.write(str(os.getpid()))
    return path


def interrupts_first(port: Any, call: Call) -> None:
    with call.lock:
        process = call.process
    if process is not None and not call.ended.is_set():
        port.signal_group(process.pid, signal.SIGINT)
        call.ended.wait(PAUSE)


def under_own_name(port: Any, real: Any, answer: Answer) -> Message:
    result = real(answer)
    meta = {key: value for key, value in result.get("_meta", {}).items() if key != "warnings"}
    own = {"example.com/gemini": {"warnings": [{"text": each} for each in answer.warnings or ()], "count": 1}}
    return {**result, "_meta": {**meta, **own}}


def partly_masked(text: str) -> str:
    return KEYS.sub(lambda key: f"{key[0][:SHOWN]}****", text)


odd("writes-in-batches", "Writes what has come in 20 milliseconds at once.")(
    write=batched, shut_down=before(last_batch)
)
odd("directory-entered-by-env", "Lets `env -C` enter the directory and start gemini.")(spawn=entered_by_env)
odd("file-beside-system-prompt", "Puts a file of its own beside the system prompt.")(write_system=gives(marked))
odd("interrupts-first", "Ends gemini by SIGINT, then by SIGTERM, then by SIGKILL.")(stop=before(interrupts_first))
odd("warnings-under-own-name", "Reports warnings in `_meta` as objects under a name of its own.")(
    success=under_own_name
)
odd("options-by-long-names", "Writes `--resume ID`, `--model=NAME` and `--output-format=json`, in another order.")(
    argv=lambda port, real, tool, texts, form: (
        "gemini",
        *(("--output-format=json", f"--model={texts['model']}") if "model" in texts else ("--output-format=json",)),
        *(("--resume", port.resumed(texts)) if tool == "chat-reply" else ()),
        *form,
    )
)
odd("keys-masked-in-part", "Shows the first four characters of a key that it masks.")(
    masked=lambda port, real, text: partly_masked(text)
)
