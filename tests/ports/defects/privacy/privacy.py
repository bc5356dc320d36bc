"""Defects in keeping prompts, answers and keys to itself."""

from dataclasses import replace
from typing import Any

from answering import PREFIX, PRIVATE_LENGTH, Failure
from defects.record import defect
from running import Call
from speaking import Message
from steps import after, before, takes


def echoes_prompt(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    text = result["content"][0]["text"]
    if not result.get("isError") or "\nStderr: " not in text:
        return result
    echo = f"{PREFIX}Command failed: gemini {call.arguments['prompt']}. "
    return {**result, "content": port.content(text.replace(PREFIX, echo))}


def says_unmasked(failure: Failure) -> Failure:
    said = f" Gemini CLI says: {failure.said}" if failure.said else ""
    return replace(failure, sentence=failure.sentence + said, said=None)


def log(text: str) -> None:
    with open(2, "w", encoding="utf-8", closefd=False) as file:
        print(f"[gemini-mcp] {text}", file=file)


def logs_what_is_cut(port: Any, real: Any, text: str, *others: Any) -> bool:
    is_cut = real(text, *others)
    if is_cut:
        log(f"cannot read {text}")
    return is_cut


def least_known(port: Any, real: Any, *arguments: Any) -> Any:
    plan = real(*arguments)
    return plan if plan.stdin is None else replace(plan, private=plan.private[:1])


def first_copies(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    for secret in private:
        text = text.replace(secret, "[withheld]", 4) if len(secret) >= PRIVATE_LENGTH else text
    return text


defect("prompt-echoed", "Repeats the command line, and the prompt with it, in its error.", "error:prompt")(
    execute=echoes_prompt
)
defect("prompt-in-stderr-kept", "Leaves a copy of the prompt in stderr.", "error:prompt")(
    withheld=lambda port, real, text, private: text
)
defect("keys-shown", "Leaves keys in stderr.", "error:secrets")(masked=lambda port, real, text: text)
defect("keys-in-message-shown", "Masks keys in stderr but not in gemini's own message.", "error:secrets")(
    error=takes(says_unmasked)
)
defect("prompt-logged", "Logs the prompt to stderr.", "stdio:stderr:private")(
    plan=after(lambda port, tool, arguments: log(f"{tool}: {arguments['prompt']}"))
)
defect("answer-logged", "Logs the answer to stderr.", "stdio:stderr:private")(
    success=before(lambda port, answer: log(f"answered {answer.text}"))
)
defect("broken-answer-logged", "Logs an answer that breaks off.", "stdio:stderr:private")(is_cut_short=logs_what_is_cut)
defect(
    "system-prompt-shown-beside-long-prompt",
    "Leaves copies of the system prompt in stderr if the prompt goes to stdin.",
    "error:prompt",
)(plan=least_known)
defect("fifth-copy-shown", "Takes four copies of a prompt out of stderr and leaves the fifth.", "error:prompt")(
    withheld=first_copies
)
