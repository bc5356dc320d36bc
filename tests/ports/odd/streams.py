"""An odd way to read: gemini is asked for a stream, and what it tells is put into the words of its plain JSON."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from answering import Answer, Failure, Outcome
from odd.record import odd
from speaking import Message, as_object
from steps import always

DEPRECATED = (
    "The --prompt (-p) flag has been deprecated and will be removed in a future version. "
    "Please use a positional argument for your prompt. See gemini --help for more information.\n"
)
CONTROL = re.compile(
    r"\x1b\][^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\|\x9c)"
    r"|[\x1b\x9b][\[\]()#;?]{0,64}(?:\d{1,4}(?:[;:]\d{0,4}){0,64})?[\dA-PR-TZcf-nq-uy=><~]"
)
CUT_SHORT = b'{"response": "'


@dataclass
class Told:
    """What a stream has told."""

    texts: list[str] = field(default_factory=list[str])
    warnings: list[str] = field(default_factory=list[str])
    session: Any = None
    failure: Any = None
    has_prompt: bool = False
    has_end: bool = False
    is_unasked: bool = False

    def hear(self, event: Any) -> None:
        match event:
            case {"type": "init"}:
                self.session = event.get("session_id")
            case {"type": "message", "content": text} if text == DEPRECATED:
                pass
            case {"type": "message", "role": "user"}:
                self.has_prompt = True
            case {"type": "message", "role": "assistant", "content": str(text)}:
                self.texts.append(text)
            case {"type": "tool_result", "error": {"type": "stop_execution"}}:
                pass
            case {"type": "tool_result"}:
                self.texts.clear()
            case {"type": "error", "message": str(text)}:
                self.warnings.append(text)
            case {"type": "result"}:
                self.end(event)
            case _:
                pass

    def end(self, event: Any) -> None:
        self.has_end = True
        if event.get("status") == "error":
            self.failure = event.get("error") or {}
            return
        stats = as_object(event.get("stats")) or {}
        models = stats.get("models")
        self.is_unasked = models == {} or (models is None and stats.get("total_tokens") == 0)

    def plainly(self, exit: int) -> tuple[bytes, bytes]:
        """What gemini would have written to stdout and to stderr without a stream."""
        if self.failure is not None:
            last = {"message": self.warnings[-1]} if self.warnings else {}
            said = json.dumps({"error": {**last, **(as_object(self.failure) or {})}}).encode()
            return (said, b"") if exit == 0 else (b"", b"\n" + said)
        if not self.has_end and (self.has_prompt or self.session is None):
            return CUT_SHORT, b""
        is_asked = self.has_end and not self.is_unasked
        models: Message = {"any": {}} if is_asked else {}
        answer = {"response": CONTROL.sub("", "".join(self.texts)), "stats": {"models": models}}
        more = {"session_id": self.session, "warnings": self.warnings or None}
        return json.dumps({**answer, **{key: value for key, value in more.items() if value}}).encode(), b""


def events(stdout: bytes) -> Iterator[Any]:
    for line in stdout.decode("utf-8", "replace").split("\n"):
        try:
            event = as_object(json.loads(line))
        except (ValueError, RecursionError):
            continue
        if event and event.get("type") in ("init", "message", "tool_use", "tool_result", "error", "result"):
            yield event


def from_stream(port: Any, real: Any, outcome: Outcome) -> Answer:
    heard = list(events(outcome.stdout))
    if not heard:
        return real(outcome)
    told = Told()
    for event in heard:
        told.hear(event)
    stdout, stderr = told.plainly(outcome.exit)
    try:
        return real(replace(outcome, stdout=stdout, stderr=outcome.stderr + stderr))
    except Failure as failure:
        raise replace(failure, stderr=port.decode(outcome.stderr)) from None


odd("asks-for-a-stream", "Asks gemini for a stream of events in the place of one JSON.")(
    format_option=always(("--output-format", "stream-json")), read=from_stream
)
