"""Defects in what a call leaves behind that has failed, was refused, was cancelled or has ended."""

import glob
import os
import shutil
import tempfile
from collections.abc import Callable
from typing import Any

from answering import Failure
from conditions import failed, marks, refused, since, wanted
from defects.life.cancelling import is_unknown
from defects.record import defect
from running import Call
from speaking import Message, RpcError
from steps import Step, after, always, before


def checked_once(port: Any, real: Any, cwd: str) -> None:
    if cwd not in port.memory:
        port.memory[cwd] = real(cwd)


def leaves(key: str, test: Callable[[Call, Message], bool]) -> Step:
    """Of `execute`: remembers an argument of the latest call that had a result of which `test` holds."""

    def execute(port: Any, real: Any, call: Call) -> Message:
        result = real(call)
        if test(call, result) and isinstance(value := call.arguments.get(key), str):
            port.memory[key] = value
        return result

    return execute


def succeeded(call: Call, result: Message) -> bool:
    return "isError" not in result


def reused(key: str) -> Step:
    """Of `texts`: adds an argument that is remembered to a call without it."""

    def texts(port: Any, real: Any, tool: str, arguments: Any) -> Any:
        remembered = {key: port.memory[key]} if key in port.memory and key not in arguments else {}
        return {**remembered, **real(tool, arguments)}

    return texts


def reused_session(port: Any, real: Any, tool: str, arguments: Any) -> Any:
    texts = real(tool, arguments)
    remembered = tool == "chat-reply" and "sessionId" in port.memory
    return {"sessionId": port.memory["sessionId"], **texts} if remembered else texts


def system_prompt_of_cancelled(port: Any, call: Call) -> None:
    if system := call.arguments.get("systemPrompt"):
        port.memory["system"] = system


def system_prompt_left(port: Any, real: Any, tool: str, texts: Any) -> str | None:
    return real(tool, texts) or port.memory.pop("system", None)


def forgets_own_turn(port: Any, real: Any, call: Call, turn: str | None) -> None:
    """Leaves a call in its line that was cancelled before it could start."""
    if turn is None or not call.is_cancelled or port.turns.get(turn, [call])[0] is call:
        real(call, turn)


def breaker(port: Any, real: Any, call: Call) -> Message:
    """After a quota is used up the next call is not tried."""
    if port.memory.pop("is_open", False):
        return port.error(Failure("The quota is used up; this call was not tried.", ""))
    result = real(call)
    port.memory["is_open"] = "(HTTP 429" in result["content"][0]["text"]
    return result


def token_left(port: Any, real: Any, params: Any) -> Any:
    token = port.memory["token"] = real(params) or port.memory.get("token")
    return token


def used_token_passed_over(port: Any, real: Any, params: Any) -> Any:
    token = real(params)
    used = port.memory.setdefault("tokens", [])
    if token in used:
        return None
    used.append(token)
    return token


def notes_cancellation(port: Any, method: str, params: Any) -> None:
    if is_unknown(port, method, params):
        port.memory.setdefault("cancelled", []).append(wanted(method, params))


def oldest_cancelled(port: Any, method: str, params: Any) -> None:
    """The cancellation of a call that has ended hits the place that it had."""
    running = [call for call in port.calls if not call.is_answered]
    if running and wanted(method, params) in port.memory.get("answered", ()):
        port.cancel(running[0])


def notes_answer(port: Any, call: Call, result: Message) -> None:
    """Before it is sent, since the client may cancel the call as soon as it has the answer."""
    port.memory.setdefault("answered", []).append(call.id)


def cleans_up(port: Any, path: str, call: Call, outcome: Any) -> None:
    if outcome is not None and outcome.exit != 0:
        for each in glob.glob(os.path.join(tempfile.gettempdir(), "gemini-mcp-*")):
            shutil.rmtree(each, ignore_errors=True)


def swallows_after_cancel(port: Any, real: Any, call: Call, result: Message) -> None:
    if not (port.memory.pop("swallows", False) and not call.is_cancelled):
        real(call, result)


def stdin_of_before(port: Any, real: Any, text: str | None) -> Any:
    earlier, port.memory["stdin"] = port.memory.get("stdin"), text
    return real(text or earlier)


def stays_unknown(port: Any, real: Any, identity: Any, params: Any, stateless: bool) -> Call:
    if port.memory.pop("was_unknown", False):
        raise RpcError(-32602, "The tool is unknown.")
    try:
        return real(identity, params, stateless)
    except RpcError:
        port.memory["was_unknown"] = True
        raise


def first_private(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    return real(text, port.memory.setdefault("private", private))


def notes_use(port: Any, tool: str, arguments: Any) -> None:
    port.memory["used"] = tool


def used_first(port: Any, real: Any) -> list[Message]:
    return sorted(real(), key=lambda tool: tool["name"] != port.memory.get("used", "chat"))


def leaves_variable(port: Any, real: Any, path: str, call: Call, outcome: Any) -> None:
    if outcome is not None and outcome.exit != 0:
        os.environ["GEMINI_SYSTEM_MD"] = path
    real(path, call, outcome)


defect(
    "model-left-by-failure",
    "Passes the model of a call that failed to later calls without one.",
    "command:chat:no-model",
)(execute=leaves("model", failed), texts=reused("model"))
defect(
    "model-left-by-refusal",
    "Passes the model of a call that it refused to later calls without one.",
    "command:chat:no-model",
)(execute=leaves("model", refused), texts=reused("model"))
defect("system-prompt-left-by-cancel", "Hands the system prompt of a cancelled call to the next one.", "system:leak")(
    cancel=before(system_prompt_of_cancelled), system=system_prompt_left
)
defect("directory-left-by-failure", "Runs later calls in the directory of one that failed.", "cwd:default")(
    execute=leaves("cwd", failed), texts=reused("cwd")
)
defect("session-left-by-failure", "Resumes the session of a reply that failed.", "command:chat-reply:latest")(
    execute=leaves("sessionId", failed),
    texts=reused_session,
)
defect("prompt-of-before", "Runs the prompt of the call before when a call has none.", "arguments:prompt:missing")(
    execute=leaves("prompt", succeeded),
    texts=lambda port, real, tool, arguments: real(
        tool, {**({"prompt": port.memory["prompt"]} if "prompt" in port.memory else {}), **arguments}
    ),
)
defect(
    "waiting-turn-kept-after-cancel",
    "Lets replies wait for ever behind one that was cancelled before it could start.",
    "cancel:others",
)(end_turn=forgets_own_turn)
defect(
    "next-call-untried-after-quota",
    "Fails the call behind one whose quota was used up without running gemini.",
    "concurrency:after-failure",
)(execute=breaker)
defect("progress-lost-after-failure", "Tells no progress any more after a failure.", "progress:start")(
    execute=marks("is_silent", failed), report_progress=since("is_silent", always(None))
)
defect("token-left", "Tells progress to a call without a token behind one that had it.", "progress:unasked")(
    token=token_left
)
defect("used-token-passed-over", "Tells no progress to a token that was used before.", "progress:start")(
    token=used_token_passed_over
)
defect(
    "early-cancel-stays",
    "Keeps the cancellation of an unknown call, and answers none that has its id later.",
    "cancel:others",
    "cancel:unknown",
)(
    notified=before(notes_cancellation),
    answer=lambda port, real, call, result: None if call.id in port.memory.get("cancelled", []) else real(call, result),
)
defect("late-cancel-hits-another", "Takes the cancellation of an answered call for one that runs.", "cancel:others")(
    notified=before(oldest_cancelled), answer=before(notes_answer)
)
defect("answer-behind-cancel-lost", "Loses the first answer behind a cancellation.", "cancel:others", "cancel:late")(
    cancel=before(lambda port, call: port.memory.update(swallows=True)), answer=swallows_after_cancel
)
defect(
    "failure-cleans-too-much",
    "Removes the system prompts of all calls when one of them has failed.",
    "system:life",
)(remove_system=after(cleans_up))
defect("stdin-left-by-long-prompt", "Sends a long prompt once more on the stdin of the next run.", "command:chat")(
    input=stdin_of_before
)
defect(
    "unknown-tool-stays-unknown",
    "Answers the call behind one of an unknown tool as if it were unknown as well.",
    "concurrency:after-failure",
)(new_call=stays_unknown)
defect("private-of-first-failure", "Withholds the prompt of its first failure in all later ones.", "error:prompt")(
    withheld=first_private
)
defect("used-tool-first", "Lists the tool first that was called last.", "tools:order")(
    plan=before(notes_use), tools=used_first
)
defect(
    "variable-left-by-failure",
    "Leaves GEMINI_SYSTEM_MD in its own environment after a failure.",
    "system:absent",
    "system:leak",
)(remove_system=leaves_variable)
defect(
    "directory-checked-once",
    "Does not look again at a directory that was there when it was first named.",
    "cwd:reason",
)(check_cwd=checked_once)
