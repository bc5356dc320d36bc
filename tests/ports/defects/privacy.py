"""Defects in keeping prompts, answers and keys to itself."""

from __future__ import annotations

import re

from answering import PREFIX, Answer, Failure
from defects.errors import Worded
from defects.record import breaks
from planning import Plan
from port import Port
from running import Call
from speaking import JSON, Message


@breaks("error:prompt")
class PromptEchoed(Worded):
    """Repeats the command line, and the prompt with it, in its error."""

    def execute(self, call: Call) -> Message:
        result = super().execute(call)
        if not result.get("isError") or "\nStderr: " not in str(result["content"][0]["text"]):
            return result
        text = result["content"][0]["text"].replace(
            PREFIX, f"{PREFIX}Command failed: gemini {call.arguments['prompt']}. "
        )
        return {**result, "content": self.content(text)}


@breaks("error:prompt")
class PromptInStderrKept(Port):
    """Leaves a copy of the prompt in stderr."""

    def withheld(self, text: str, private: tuple[str, ...]) -> str:
        return text


@breaks("error:secrets")
class KeysShown(Port):
    """Leaves keys in stderr."""

    def masked(self, text: str) -> str:
        return text


@breaks("error:secrets")
class KeysInMessageShown(Worded):
    """Masks keys in stderr but not in gemini's own message."""

    def worded(self, text: str, failure: Failure) -> str:
        head, separator, stderr = text.partition("\nStderr: ")
        said = f" Gemini CLI says: {failure.said}" if failure.said else ""
        return re.sub(" Gemini CLI says: [\\s\\S]*", lambda _: said, head) + separator + stderr


@breaks("stdio:stderr:private")
class PromptLogged(Port):
    """Logs the prompt to stderr."""

    def plan(self, tool: str, arguments: JSON) -> Plan:
        plan = super().plan(tool, arguments)
        with open(2, "w", encoding="utf-8", closefd=False) as log:
            print(f"[gemini-mcp] {tool}: {arguments['prompt']}", file=log)
        return plan


@breaks("stdio:stderr:private")
class AnswerLogged(Port):
    """Logs the answer to stderr."""

    def success(self, answer: Answer) -> Message:
        with open(2, "w", encoding="utf-8", closefd=False) as log:
            print(f"[gemini-mcp] answered {answer.text}", file=log)
        return super().success(answer)
