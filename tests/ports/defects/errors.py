"""Defects in saying what went wrong."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from answering import PREFIX, Answer, Failure, Outcome
from defects.record import breaks, variant
from port import Port
from running import Call
from speaking import Message


class Worded(Port):
    """A port that words its errors in another way."""

    def error(self, failure: Failure, private: tuple[str, ...] = ()) -> Message:
        result = super().error(failure, private)
        if failure.stderr is None:
            return result
        return {**result, "content": self.content(self.worded(result["content"][0]["text"], failure))}

    def worded(self, text: str, failure: Failure) -> str:
        return text


def words(name: str, sentence: str, *kills: str, by: Callable[[str, Failure], str]) -> None:
    """Register a port that words every error of a run so."""
    variant(Worded, name, sentence, kills, worded=staticmethod(by))


@breaks("error:stderr")
class DamagedStderrDropped(Port):
    """Quotes nothing of a stderr that is no UTF-8."""

    def stderr_part(self, failure: Failure, private: tuple[str, ...]) -> str:
        is_damaged = failure.stderr is not None and "\ufffd" in failure.stderr
        return "\nStderr: " if is_damaged else super().stderr_part(failure, private)


@breaks("error:signal")
class AbortIsSuccess(Port):
    """Takes the answer of a gemini that has aborted."""

    def read(self, outcome: Outcome) -> Answer:
        return super().read(dataclasses.replace(outcome, exit=0) if outcome.exit == -6 else outcome)


@breaks("error:is-error")
class FailureIsSuccess(Port):
    """Returns the text of an error without isError."""

    def error(self, failure: Failure, private: tuple[str, ...] = ()) -> Message:
        result = super().error(failure, private)
        return result if failure.stderr is None else {"content": result["content"]}


@breaks("error:is-error")
class IsErrorIsText(Port):
    """Sends isError as a string."""

    def error(self, failure: Failure, private: tuple[str, ...] = ()) -> Message:
        return {**super().error(failure, private), "isError": "true"}


@breaks("error:content")
class ErrorContentIsText(Port):
    """Returns the text of an error where the array of content should be."""

    def error(self, failure: Failure, private: tuple[str, ...] = ()) -> Message:
        result = super().error(failure, private)
        return result if failure.stderr is None else {**result, "content": result["content"][0]["text"]}


words(
    "other-prefix",
    "Begins an error with another word.",
    "error:prefix",
    by=lambda text, failure: text.replace(PREFIX, "Gemini CLI error: ", 1),
)
words(
    "prefix-in-capitals",
    "Begins the error for death by a signal, and only that, in capitals.",
    "error:prefix",
    by=lambda text, failure: text.replace(PREFIX, PREFIX.upper(), 1) if "signal" in failure.sentence else text,
)
words(
    "stderr-dropped",
    "Drops stderr when its own sentence says enough.",
    "error:stderr",
    by=lambda text, failure: text.split("\nStderr: ")[0],
)


@breaks("error:stderr")
class FirstLineOfStderr(Worded):
    """Keeps the first line of stderr."""

    def worded(self, text: str, failure: Failure) -> str:
        head, _, stderr = text.partition("\nStderr: ")
        return f"{head}\nStderr: {stderr.partition(chr(10))[0]}"


words(
    "stderr-in-one-line",
    "Puts stderr behind the sentence without a line of its own.",
    "error:stderr",
    by=lambda text, failure: text.replace("\nStderr: ", " Stderr: ", 1),
)
words(
    "stderr-only-when-present",
    "Leaves the line for stderr out when there is none.",
    "error:stderr:empty",
    by=lambda text, failure: text.removesuffix("\nStderr: "),
)


@breaks("error:stderr:tail")
class WholeStderr(Port):
    """Returns all of stderr."""

    def tail(self, text: str) -> str:
        return text


@breaks("error:stderr:tail")
class HeadOfStderr(Port):
    """Keeps the first 8 KiB of stderr, where the reason rarely is."""

    def tail(self, text: str) -> str:
        return text.encode()[:8192].decode("utf-8", "ignore")


@breaks("error:session-id")
class ErrorCarriesSession(Port):
    """Returns a session with an error."""

    def execute(self, call: Call) -> Message:
        result = super().execute(call)
        session = call.arguments.get("sessionId", "unknown")
        return {**result, "_meta": {"sessionId": session}} if result.get("isError") else result


@breaks("error:exit")
class ExitOverlooked(Port):
    """Believes an answer on stdout, whatever the exit code."""

    def read(self, outcome: Outcome) -> Answer:
        answered = outcome.exit > 0 and b'"response"' in outcome.stdout
        return super().read(dataclasses.replace(outcome, exit=0) if answered else outcome)


@breaks("error:exit")
class UnknownExitIsText(Port):
    """Returns stderr as the answer of a run whose exit code it does not know."""

    def read(self, outcome: Outcome) -> Answer:
        if outcome.exit == 1:
            return Answer(self.decode(outcome.stderr) or "done")
        return super().read(outcome)


@breaks("error:signal")
class SignalOverlooked(Port):
    """Takes death by a signal for success, since its code is below zero."""

    def read(self, outcome: Outcome) -> Answer:
        if outcome.exit >= 0:
            return super().read(outcome)
        try:
            return super().read(dataclasses.replace(outcome, exit=0))
        except Failure:
            return Answer(self.decode(outcome.stdout))


@breaks("error:not-started")
class MissingGeminiIsText(Port):
    """Says in a result that is no error that gemini cannot be found."""

    def execute(self, call: Call) -> Message:
        result = super().execute(call)
        not_started = "was not found" in str(result["content"]) or "could not be started" in str(result["content"])
        return {"content": result["content"]} if not_started and "isError" in result else result


@breaks("error:not-started:remedy")
class MissingGeminiUnexplained(Port):
    """Repeats the system's words when gemini cannot be found."""

    def error(self, failure: Failure, private: tuple[str, ...] = ()) -> Message:
        bare = "spawn gemini ENOENT" if "was not found" in failure.sentence else failure.sentence
        return super().error(Failure(bare, failure.stderr, failure.said), private)


HTTP = (144, 145, 147, 173, 244, 247)
OWN = (41, 42, 44, 52, 53, 54, 55, 130)


class Silent(Port):
    """A port that knows nothing to say about some exit codes."""

    unknown: tuple[int, ...] = ()

    def exit_sentence(self, exit: int, stderr: str) -> str:
        return f"Command failed ({exit})." if exit in self.unknown else super().exit_sentence(exit, stderr)

    def said(self, stderr: str) -> str | None:
        return None


def silent_about(exit: int) -> None:
    """Register the port that has no sentence for this exit code."""
    breaks(f"error:exit:{exit}")(
        type(
            f"Exit{exit}Unexplained",
            (Silent,),
            {"unknown": (exit,), "__doc__": f"Does not explain the exit code {exit}."},
        )
    )


for each in (*OWN, *HTTP):
    silent_about(each)


@breaks("error:quota")
class QuotaUnexplained(Port):
    """Looks for a quota in the exit code only."""

    def exit_sentence(self, exit: int, stderr: str) -> str:
        return super().exit_sentence(exit, "")


@breaks("error:session-gone")
class SessionGoneUnexplained(Port):
    """Does not tell a session that is gone from other wrong input."""

    def exit_sentence(self, exit: int, stderr: str) -> str:
        return super().exit_sentence(exit, "" if exit == 42 else stderr)


@breaks("error:json-on-stderr")
class JsonOnStderrUnread(Port):
    """Does not read the JSON error on stderr."""

    def said(self, stderr: str) -> str | None:
        return None


@breaks("error:json-on-stderr")
class StderrMustBeJson(Port):
    """Reads a JSON error only when stderr holds nothing else."""

    def said(self, stderr: str) -> str | None:
        return super().said(stderr) if stderr.startswith("{") else None
