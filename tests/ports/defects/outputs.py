"""Defects in finding the answer in what gemini printed."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping

from answering import Answer, Failure, Outcome, Scan
from defects.record import breaks
from port import Port
from speaking import JSON, Message


@breaks("result:success")
class StderrMakesError(Port):
    """Calls a success an error when there is anything on stderr."""

    def read(self, outcome: Outcome) -> Answer:
        answer = super().read(outcome)
        if outcome.stderr.strip():
            raise Failure(answer.text, self.decode(outcome.stderr))
        return answer


@breaks("result:error-key")
class ErrorWithoutMessageOverlooked(Port):
    """Takes an error for one only when it has a message."""

    def read_json(self, value: Mapping[str, JSON], stderr: str) -> Answer:
        error = value.get("error")
        is_silent = isinstance(error, dict) and "message" not in error
        return super().read_json({**value, "error": None} if is_silent else value, stderr)


@breaks("result:json:braces")
class FirstSessionTaken(Port):
    """Takes the first session that stands anywhere in the output."""

    def read_stdout(self, stdout: str, stderr: str) -> Answer:
        answer = super().read_stdout(stdout, stderr)
        found = re.search(r'"session_id"\s*:\s*"([^"]+)"', stdout)
        return dataclasses.replace(answer, session=found[1]) if found and answer.session else answer


@breaks("result:success")
class ErrorWordMakesError(Port):
    """Sets isError when the answer begins with the word error."""

    def success(self, answer: Answer) -> Message:
        result = super().success(answer)
        return {**result, "isError": True} if answer.text.lower().startswith("error") else result


@breaks("result:stderr", "result:text")
class StderrAppended(Port):
    """Adds what stderr says to the answer."""

    def read(self, outcome: Outcome) -> Answer:
        answer, stderr = super().read(outcome), self.decode(outcome.stderr)
        return dataclasses.replace(answer, text=f"{answer.text}\n{stderr}") if stderr else answer


@breaks("result:stderr")
class JsonOfStderrWins(Port):
    """Reads stderr before stdout."""

    def read(self, outcome: Outcome) -> Answer:
        if outcome.exit == 0 and self.scan(self.decode(outcome.stderr)).objects:
            return super().read(Outcome(0, outcome.stderr, b""))
        return super().read(outcome)


@breaks("result:json:pretty")
class OneLineOnly(Port):
    """Understands JSON on one line only."""

    def scan(self, text: str) -> Scan:
        found = Scan()
        for line in text.split("\n"):
            found.objects += super().scan(line).objects if line.endswith("}") else []
        return found


@breaks("result:json:compact")
class PrettyOnly(Port):
    """Understands JSON that begins with a brace on a line of its own."""

    def scan(self, text: str) -> Scan:
        found = super().scan(text)
        return found if "{\n" in text else Scan()


@breaks("result:json:notice-before")
class WholeStdoutIsJson(Port):
    """Takes all of stdout for JSON, else for text."""

    def scan(self, text: str) -> Scan:
        found = super().scan(text)
        return found if text.lstrip().startswith("{") else Scan()


@breaks("result:json:notice-after")
class NothingMayFollow(Port):
    """Reads JSON from the first brace to the end."""

    def scan(self, text: str) -> Scan:
        found = super().scan(text)
        return found if text.rstrip().endswith("}") else Scan(is_cut_short=found.is_cut_short)


@breaks("result:json:braces")
class FirstToLastBrace(Port):
    """Reads JSON from the first brace to the last."""

    def scan(self, text: str) -> Scan:
        start, end = text.find("{"), text.rfind("}")
        if start < 0:
            return Scan()
        try:
            return Scan([(True, json.loads(text[start : end + 1]))])
        except ValueError:
            return Scan(is_cut_short=super().scan(text).is_cut_short)


@breaks("result:json:encoding")
class DamageIsAnError(Port):
    """Fails when the output is not UTF-8."""

    def read(self, outcome: Outcome) -> Answer:
        try:
            outcome.stdout.decode()
        except UnicodeDecodeError:
            raise Failure("The output of gemini cannot be decoded.", "") from None
        return super().read(outcome)


@breaks("result:json:encoding")
class DamageDropped(Port):
    """Drops the bytes that are not UTF-8."""

    def decode(self, raw: bytes) -> str:
        return raw.decode("utf-8", "ignore")


@breaks("result:plain-text")
class PlainTextRefused(Port):
    """Calls text without JSON an error."""

    def plain_text(self, stdout: str) -> Answer:
        raise Failure("gemini printed no JSON.", "")


@breaks("result:empty")
class EmptyAnswerDumped(Port):
    """Returns the JSON when its response is empty."""

    def read_json(self, value: Mapping[str, JSON], stderr: str) -> Answer:
        answer = super().read_json(value, stderr)
        return answer if answer.text else dataclasses.replace(answer, text=json.dumps(value))


@breaks("result:empty")
class EmptyAnswerIsError(Port):
    """Calls an empty answer an error."""

    def read_json(self, value: Mapping[str, JSON], stderr: str) -> Answer:
        answer = super().read_json(value, stderr)
        if not answer.text:
            raise Failure("Gemini said nothing.", stderr)
        return answer


@breaks("result:warnings")
class WarningsDropped(Port):
    """Drops the warnings."""

    def success(self, answer: Answer) -> Message:
        return super().success(dataclasses.replace(answer, warnings=None))


@breaks("result:error-key")
class ErrorKeyOverlooked(Port):
    """Overlooks the error in JSON when gemini exits with 0."""

    def read_json(self, value: Mapping[str, JSON], stderr: str) -> Answer:
        return super().read_json({"response": "", **value, "error": None}, stderr)


@breaks("result:error-key")
class ErrorBesideResponseOverlooked(Port):
    """Overlooks an error in JSON that has a response beside it."""

    def read_json(self, value: Mapping[str, JSON], stderr: str) -> Answer:
        return super().read_json({**value, "error": None} if "response" in value else value, stderr)


@breaks("result:no-output")
class NoOutputSucceeds(Port):
    """Returns an empty text when gemini prints nothing."""

    def read_stdout(self, stdout: str, stderr: str) -> Answer:
        return super().read_stdout(stdout, stderr) if stdout.strip() else Answer("")


@breaks("result:truncated")
class TruncatedIsText(Port):
    """Returns JSON that breaks off as text."""

    def is_cut_short(self, text: str, position: int, error: Exception) -> bool:
        return False


@breaks("result:no-response")
class ResponseSpeltOut(Port):
    """Makes text of a response that is none."""

    def response(self, value: Mapping[str, JSON]) -> JSON:
        return str(value.get("response", ""))
