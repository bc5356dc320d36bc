"""Defects in checking arguments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress

from answering import PREFIX, Failure
from defects.record import breaks
from planning import PROPERTIES, Refusal
from port import Port
from running import Call
from speaking import JSON, Message


@breaks("arguments:prompt:missing")
class MissingPromptIsUndefined(Port):
    """Sends the word `undefined` when the prompt is missing."""

    def texts(self, tool: str, arguments: Mapping[str, JSON]) -> dict[str, str]:
        return super().texts(tool, {"prompt": "undefined", **arguments})


@breaks("arguments:prompt:missing")
class ReplyNeedsNoPrompt(Port):
    """Sends a prompt of its own in a reply without one."""

    def texts(self, tool: str, arguments: Mapping[str, JSON]) -> dict[str, str]:
        own = {"prompt": "Please continue."} if tool == "chat-reply" else {}
        return super().texts(tool, {**own, **arguments})


@breaks("arguments:prompt:null")
class NullPromptIsText(Port):
    """Sends a null prompt as the word `null`."""

    def text(self, tool: str, name: str, value: JSON) -> str:
        return super().text(tool, name, "null" if name == "prompt" and value is None else value)


@breaks("arguments:prompt:type")
class PromptSpeltOut(Port):
    """Makes text of a prompt that is none."""

    def text(self, tool: str, name: str, value: JSON) -> str:
        spelt = name == "prompt" and value is not None and not isinstance(value, str)
        return super().text(tool, name, json.dumps(value) if spelt else value)


@breaks("arguments:prompt:type")
class PromptPartsJoined(Port):
    """Joins a prompt that is a list of texts."""

    def text(self, tool: str, name: str, value: JSON) -> str:
        match value:
            case [*parts] if parts:
                return super().text(tool, name, " ".join(map(str, parts)))
            case _:
                return super().text(tool, name, value)


@breaks("arguments:optional:type")
class NumbersAreText(Port):
    """Makes text of a number in an optional argument."""

    def text(self, tool: str, name: str, value: JSON) -> str:
        return super().text(tool, name, str(value) if name != "prompt" and isinstance(value, int | float) else value)


@breaks("arguments:optional:type")
class WrongOptionalIgnored(Port):
    """Ignores an optional argument of the wrong type."""

    def texts(self, tool: str, arguments: Mapping[str, JSON]) -> dict[str, str]:
        right = {
            name: value
            for name, value in arguments.items()
            if name == "prompt" or value is None or isinstance(value, str)
        }
        return super().texts(tool, right)


@breaks("arguments:optional:type")
class ReplyCwdUnchecked(Port):
    """Ignores a `cwd` of `chat-reply` that is no text."""

    def texts(self, tool: str, arguments: Mapping[str, JSON]) -> dict[str, str]:
        bad = tool == "chat-reply" and not isinstance(arguments.get("cwd", ""), str | None)
        return super().texts(tool, {name: value for name, value in arguments.items() if not bad or name != "cwd"})


@breaks("arguments:optional:null")
class NullIsAbsent(Port):
    """Takes an optional argument that is null for an absent one."""

    def texts(self, tool: str, arguments: Mapping[str, JSON]) -> dict[str, str]:
        return super().texts(
            tool, {name: value for name, value in arguments.items() if name == "prompt" or value is not None}
        )


@breaks("arguments:refused:not-started")
class StartsBeforeChecking(Port):
    """Runs gemini with the prompt before it looks at the other arguments."""

    def serve_call(self, call: Call) -> None:
        prompt = call.arguments.get("prompt")
        try:
            self.plan(call.tool, call.arguments)
        except Refusal:
            if isinstance(prompt, str) and "\0" not in prompt:
                with suppress(Failure, Refusal, UnicodeEncodeError):
                    self.run_prompt(call, self.plan("chat", {"prompt": prompt}))
        super().serve_call(call)


@breaks("arguments:refused:is-error")
class RefusalNamesNothing(Port):
    """Refuses an argument without naming it."""

    def refused(self, sentence: str) -> Message:
        return super().refused("The arguments are not valid.")


@breaks("arguments:refused:prefix")
class RefusalWithoutPrefix(Port):
    """Leaves the prefix out when it refuses an argument."""

    def refused(self, sentence: str) -> Message:
        return {
            "content": self.content(super().refused(sentence)["content"][0]["text"][len(PREFIX) :]),
            "isError": True,
        }


@breaks("arguments:unknown")
class UnknownArgumentRefused(Port):
    """Refuses an argument that the tool does not declare."""

    def texts(self, tool: str, arguments: Mapping[str, JSON]) -> dict[str, str]:
        for name in set(arguments) - set(PROPERTIES[tool]):
            raise Refusal(f"`{name}` is unknown.")
        return super().texts(tool, arguments)


@breaks("arguments:nul")
class NulEndsText(Port):
    """Cuts a text at its first NUL."""

    def text(self, tool: str, name: str, value: JSON) -> str:
        return super().text(tool, name, value.split("\0")[0] if isinstance(value, str) else value)


@breaks("arguments:nul")
class NulDropped(Port):
    """Drops the NULs of a long prompt, and only there."""

    def text(self, tool: str, name: str, value: JSON) -> str:
        long = name == "prompt" and isinstance(value, str) and len(value) > 1
        return super().text(tool, name, value.replace("\0", "") if long else value)


@breaks("arguments:surrogate")
class SurrogatesReplaced(Port):
    """Replaces half a character by a question mark."""

    def text(self, tool: str, name: str, value: JSON) -> str:
        return super().text(tool, name, value.encode("utf-8", "replace").decode() if isinstance(value, str) else value)


@breaks("arguments:control")
class ControlCharactersPassed(Port):
    """Passes a model with control characters."""

    def check_word(self, name: str, text: str) -> None:
        super().check_word(name, "".join(filter(str.isprintable, text)))


class EmptyRefused(Port):
    """A port that refuses an argument that is empty."""

    argument = ""

    def is_absent(self, name: str, text: str) -> bool:
        absent = super().is_absent(name, text)
        if absent and name == self.argument:
            raise Refusal(f"`{name}` is empty.")
        return absent


@breaks("arguments:empty:model")
class EmptyModelRefused(EmptyRefused):
    """Refuses an empty model."""

    argument = "model"


@breaks("arguments:empty:session-id")
class EmptySessionIdRefused(EmptyRefused):
    """Refuses an empty session."""

    argument = "sessionId"


@breaks("arguments:empty:cwd")
class EmptyCwdRefused(EmptyRefused):
    """Refuses an empty working directory."""

    argument = "cwd"


@breaks("arguments:empty:system-prompt", "system:absent")
class BlankSystemPromptWritten(Port):
    """Hands over a system prompt that is blank, which takes gemini's own away."""

    def is_absent(self, name: str, text: str) -> bool:
        return super().is_absent(name, text) and name != "systemPrompt"


@breaks("cwd:missing")
class MissingCwdIgnored(Port):
    """Runs in its own directory when `cwd` does not exist."""

    def cwd(self, tool: str, texts: Mapping[str, str]) -> str | None:
        try:
            return super().cwd(tool, texts)
        except Refusal as refusal:
            if "does not exist" in str(refusal):
                return None
            raise


@breaks("cwd:file")
class FileIsItsDirectory(Port):
    """Runs beside the file that `cwd` names."""

    def cwd(self, tool: str, texts: Mapping[str, str]) -> str | None:
        try:
            return super().cwd(tool, texts)
        except Refusal as refusal:
            if "not a directory" in str(refusal):
                return texts["cwd"].rpartition("/")[0] or None
            raise


@breaks("cwd:reason")
class CwdReasonVague(Port):
    """Refuses a directory without saying which or why."""

    def check_cwd(self, cwd: str) -> None:
        try:
            super().check_cwd(cwd)
        except Refusal:
            raise Refusal("`cwd` is not valid.") from None
