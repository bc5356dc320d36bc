"""System prompts that are right alone and wrong beside something else: ports that break `system`."""

import os
import shutil
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from answering import Answer, Outcome
from conditions import REVISION, asks, every, has_model, speaks
from defects.meeting.shared import altered, is_long, notes_neighbour, where
from defects.record import defect
from defects.shared import keeps
from planning import ARGUMENT_LIMIT, PROPERTIES, Plan
from running import Call
from steps import Step, before

CUT = 64 * 1024


def skips_after_empty(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    """Removes empty ones from the list that it walks through, and so passes over the next."""
    texts = real(tool, arguments)
    was_removed = False
    for name in [name for name in arguments if name in PROPERTIES[tool]]:
        if was_removed:
            texts[name] = arguments[name]
        was_removed = name not in texts
    return texts


def without_system_after_wait(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    """The file was written when the call came, and has gone with the one before."""
    return real(call, replace(plan, system=None) if port.memory.pop(call, None) else plan)


def notes_thread(port: Any, call: Call, plan: Plan) -> None:
    port.memory[threading.get_ident()] = call


def notes_path(port: Any, real: Any, text: str) -> str:
    path = real(text)
    port.memory[port.memory[threading.get_ident()]] = path
    return path


def removes_file(port: Any, call: Call) -> None:
    if call in port.memory:
        shutil.rmtree(os.path.dirname(port.memory.pop(call)), ignore_errors=True)


def empty_directory_hides(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan = real(tool, arguments)
    return replace(plan, system=None) if arguments.get("cwd") == "" else plan


def relative_path(port: Any, real: Any, system_path: str | None) -> dict[str, str]:
    """Names the file as the server itself would find it."""
    return real(system_path and os.path.relpath(system_path))


def without_system(plan: Plan) -> Plan:
    return replace(plan, system=None)


def lines_for_stdin(plan: Plan) -> Plan:
    return replace(plan, system=plan.system.replace("\r\n", "\n") if plan.system else plan.system)


def below_tmp(port: Any, real: Any) -> str:
    kept, tempfile.tempdir = tempfile.tempdir, "/tmp"
    try:
        return real()
    finally:
        tempfile.tempdir = kept


def named_small_beside_directory(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    path = options["env"].get("GEMINI_SYSTEM_MD")
    if path and "-r" in argv and options.get("cwd"):
        other = os.path.join(os.path.dirname(path), "system.md")
        with suppress(OSError):
            os.rename(path, other)
        options = {**options, "env": {**options["env"], "GEMINI_SYSTEM_MD": other}}
    return real(argv, **options)


def one_file_for_equal_texts(port: Any, real: Any, text: str) -> str:
    path = port.memory.get(text)
    if path is None or not os.path.exists(path):
        path = port.memory[text] = real(text)
    return path


def readable_beside_model(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    path = options["env"].get("GEMINI_SYSTEM_MD")
    if path and "-r" in argv and "-m" in argv:
        os.chmod(path, 0o644)
    return real(argv, **options)


def file_before_turn(port: Any, real: Any, call: Call, turn: str | None) -> None:
    real(call, turn)
    if call.is_cancelled and "systemPrompt" in call.arguments:
        # As if it had been written before the wait.
        port.write_system(call.arguments["systemPrompt"])


def kept_in(revision: str) -> Step:
    def remove_system(port: Any, real: Any, *arguments: Any) -> None:
        if not speaks(port, revision):
            real(*arguments)

    return remove_system


def puts_back(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    """The file goes with a session that the list has named."""
    found = real(call, plan, answer)
    if plan.system is not None and not found.session:
        port.write_system(plan.system)
    return found


def removes_its_own_file(port: Any, real: Any, path: str, call: Call, outcome: Outcome | None) -> None:
    with suppress(FileNotFoundError):
        os.remove(path)
    with suppress(OSError):
        os.rmdir(os.path.dirname(path))


def clean(port: Any) -> None:
    left = port.memory.get("left", [])
    while left:
        left.pop()()


def leave_for_later(port: Any, real: Any, path: str, call: Any, outcome: Any) -> None:
    port.memory.setdefault("left", []).append(partial(real, path, call, outcome))
    if port.calls == [call]:
        clean(port)


def clean_and_answer(port: Any, real: Any, call: Any, result: Any) -> None:
    if port.calls == [call]:
        clean(port)
    real(call, result)


def serve_and_clean(port: Any, real: Any, call: Any) -> None:
    real(call)
    if not port.calls:
        clean(port)


defect(
    "second-of-two-empty-kept",
    "Takes an empty argument for one that is present when the argument before it was empty too.",
    "system:absent",
    "arguments:empty:cwd",
)(texts=skips_after_empty)
defect(
    "reply-system-prompt-lost-on-stdin-beside-model",
    "Hands no system prompt over in a reply with a model and a long prompt.",
    "system:chat-reply",
)(
    ask=asks(
        lambda call, plan: bool(plan.session and plan.stdin and has_model(plan)),
        lambda plan: replace(plan, system=None),
    )
)
defect(
    "system-prompt-lost-in-line",
    "Hands no system prompt over in a reply that had to wait.",
    "system:chat-reply",
)(take_turn=notes_neighbour, ask=without_system_after_wait)
defect(
    "system-prompt-removed-at-cancel",
    "Removes the system prompt of a call in the moment of its cancellation, while gemini still ends.",
    "system:life",
    "system:content",
)(run_prompt=before(notes_thread), write_system=notes_path, cancel=before(removes_file))
defect(
    "long-system-prompt-cut-beside-long-prompt",
    "Cuts a system prompt at 64 KiB when the prompt is longer than that too.",
    "system:content",
)(
    texts=where(
        lambda tool, texts: len(texts["prompt"]) > CUT,
        altered("systemPrompt", lambda text: text.encode()[:CUT].decode("utf-8", "ignore")),
    )
)
defect(
    "returns-of-system-prompt-lost-beside-prompt-of-lines",
    "Writes a system prompt with newlines alone when the prompt has several lines.",
    "system:content",
)(
    texts=where(
        lambda tool, texts: "\n" in texts["prompt"],
        altered("systemPrompt", lambda text: text.replace("\r\n", "\n")),
    )
)
defect(
    "empty-directory-hides-system-prompt",
    "Hands no system prompt over in a call whose directory is empty.",
    "system:content",
)(plan=empty_directory_hides)
defect(
    "path-of-system-prompt-relative",
    "Names the file of a system prompt by a path from its own directory, where gemini need not run.",
    "system:content",
)(environment=relative_path)
defect(
    "system-prompt-lost-on-stdin-beside-directory",
    "Hands no system prompt over in a `chat` with a directory and a long prompt.",
    "system:content",
)(ask=asks(lambda call, plan: call.tool == "chat" and plan.stdin is not None and plan.cwd is not None, without_system))
defect(
    "system-lines-beside-stdin",
    "Turns CR LF in a system prompt into LF when the prompt goes to stdin.",
    "system:content",
)(ask=asks(lambda call, plan: plan.stdin is not None and len(plan.stdin) > ARGUMENT_LIMIT, lines_for_stdin))
defect("twentieth-system-prompt-lost", "Hands every twentieth system prompt over as none.", "system:content")(
    write_system=every(20, lambda port, real, text: real(""))
)
defect("tmpdir-unread", "Puts the system prompt below /tmp whatever TMPDIR says.", "system:directory")(
    new_directory=below_tmp
)
defect(
    "system-file-lower-case-in-reply-beside-directory",
    "Names the file `system.md` in a reply with a directory.",
    "system:file-name",
)(spawn=named_small_beside_directory)
defect(
    "equal-system-prompts-share-file",
    "Gives two concurrent calls with the same system prompt one file, which the first to end removes.",
    "system:life",
    "system:directory",
)(write_system=one_file_for_equal_texts)
defect(
    "system-file-readable-beside-model-in-reply",
    "Lets everybody read the system prompt of a reply with a model.",
    "system:mode",
)(spawn=readable_beside_model)
defect(
    "kept-after-cancel-on-stdin",
    "Keeps the system prompt of a cancelled call whose prompt was long.",
    "system:removed:cancel",
)(remove_system=keeps(lambda port, call, run: call.is_cancelled and not port.is_ending and is_long(call)))
defect(
    "file-of-cancelled-waiter-stays",
    "Leaves the file for the system prompt of a reply that is cancelled while it waits for its turn.",
    "system:removed:cancel",
)(take_turn=file_before_turn)
defect(
    "kept-after-failure-in-directory",
    "Keeps the system prompt of a call that failed in a directory of its own.",
    "system:removed:failure",
)(remove_system=keeps(lambda port, call, run: run is not None and run.exit != 0 and "cwd" in call.arguments))
defect(
    "system-prompt-kept-in-2025-03-26", "Keeps the system prompts of clients of 2025-03-26.", "system:removed:success"
)(initialize=REVISION, remove_system=kept_in("2025-03-26"))
defect(
    "kept-after-latest-beside-model",
    "Keeps the system prompt of a reply to the latest session that names a model.",
    "system:removed:success",
)(
    remove_system=keeps(
        lambda port, call, run: (
            call.tool == "chat-reply" and "model" in call.arguments and "sessionId" not in call.arguments
        )
    )
)
defect("kept-without-list", "Keeps the system prompt when no list names the session.", "system:removed:success")(
    with_session=puts_back
)
defect(
    "directory-with-guest-stays",
    "Leaves the directory of the system prompt when gemini has put a file of its own into it.",
    "system:removed:success",
    "system:removed:failure",
)(remove_system=removes_its_own_file)
defect(
    "files-go-when-nothing-runs",
    "Removes the files of system prompts when no call runs any more, so one stays as long as another call takes.",
    "system:removed:success",
    "system:removed:failure",
    "system:removed:cancel",
)(remove_system=leave_for_later, answer=clean_and_answer, serve_call=serve_and_clean)
