"""Defects in the command line: options that are lost, altered or too many, and shells that read them."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping

from answering import Answer, Outcome
from defects.record import breaks
from planning import Plan
from port import Port
from running import Call
from speaking import JSON, Message


@breaks("command:chat")
class ChatInTextFormat(Port):
    """Asks for no output format in `chat`."""

    def format_option(self, tool: str) -> tuple[str, ...]:
        return () if tool == "chat" else super().format_option(tool)


@breaks("command:chat")
class ChatAsStream(Port):
    """Asks for a stream of events in `chat`."""

    def format_option(self, tool: str) -> tuple[str, ...]:
        return ("--output-format", "stream-json" if tool == "chat" else "json")


@breaks("command:chat-reply")
class ReplyInTextFormat(Port):
    """Asks for no output format in `chat-reply`."""

    def format_option(self, tool: str) -> tuple[str, ...]:
        return () if tool == "chat-reply" else super().format_option(tool)


@breaks("command:chat-reply")
class FormatGivenTwice(Port):
    """Gives the output format of `chat-reply` twice, which gemini reads as text."""

    def format_option(self, tool: str) -> tuple[str, ...]:
        return super().format_option(tool) * (2 if tool == "chat-reply" else 1)


class Remembering(Port):
    """A port that remembers the session of its latest call."""

    remembered: str | None = None

    def success(self, answer: Answer) -> Message:
        self.remembered = answer.session
        return super().success(answer)


@breaks("command:chat:new-session")
class SecondChatResumes(Remembering):
    """Continues the latest session in every `chat` but the first."""

    def argv(self, tool: str, texts: Mapping[str, str], form: tuple[str, ...]) -> tuple[str, ...]:
        argv = super().argv(tool, texts, form)
        return (*argv, "-r", self.remembered) if tool == "chat" and self.remembered else argv


@breaks("command:chat:model")
class ChatModelIgnored(Port):
    """Ignores `model` in `chat`."""

    def model_option(self, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
        return () if tool == "chat" else super().model_option(tool, texts)


@breaks("command:chat:model", "command:chat-reply:model")
class ModelLowered(Port):
    """Changes the model to lower case."""

    def model_option(self, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
        return tuple(text.lower() for text in super().model_option(tool, texts))


@breaks("command:chat:model")
class FirstModelKept(Port):
    """Keeps the model of the first call that named one."""

    first: str | None = None

    def model_option(self, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
        if "model" not in texts:
            return ()
        self.first = self.first or texts["model"]
        return ("-m", self.first)


@breaks("command:chat:no-model")
class DefaultModel(Port):
    """Passes a model of its own when the call names none."""

    def model_option(self, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
        return ("-m", texts.get("model", "gemini-2.5-pro"))


@breaks("command:chat:no-model")
class ModelLeaks(Port):
    """Passes the model of the call before to a call that names none."""

    latest: str | None = None

    def model_option(self, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
        self.latest = texts.get("model", self.latest)
        return ("-m", self.latest) if self.latest else ()


@breaks("command:chat-reply:no-model")
class ReplyModelLeaks(Port):
    """Passes the model of the call before to a reply that names none."""

    latest: str | None = None

    def model_option(self, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
        self.latest = texts.get("model", self.latest)
        return ("-m", self.latest) if self.latest and (tool == "chat-reply" or "model" in texts) else ()


@breaks("command:chat-reply:model")
class ReplyModelIgnored(Port):
    """Ignores `model` in `chat-reply`."""

    def model_option(self, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
        return () if tool == "chat-reply" else super().model_option(tool, texts)


@breaks("command:chat-reply:session-id")
class AlwaysLatest(Port):
    """Resumes the latest session, whatever `sessionId` says."""

    def resume_option(self, texts: Mapping[str, str]) -> tuple[str, ...]:
        return ("-r", "latest")


@breaks("command:chat-reply:session-id")
class SessionIdShortened(Port):
    """Resumes by the first eight characters of an id."""

    def resume_option(self, texts: Mapping[str, str]) -> tuple[str, ...]:
        return ("-r", self.resumed(texts)[:8])


@breaks("command:chat-reply:session-id")
class FirstSessionKept(Port):
    """Stays in the session that the first reply named."""

    first: str | None = None

    def resume_option(self, texts: Mapping[str, str]) -> tuple[str, ...]:
        self.first = self.first or texts.get("sessionId")
        return ("-r", self.first if "sessionId" in texts and self.first else self.resumed(texts))


@breaks("command:chat-reply:latest")
class ReplyWithoutIdStartsAnew(Port):
    """Starts a new session when a reply names none."""

    def resume_option(self, texts: Mapping[str, str]) -> tuple[str, ...]:
        return super().resume_option(texts) if "sessionId" in texts else ()


@breaks("command:chat-reply:latest")
class LatestIsItsOwn(Remembering):
    """Takes the session it served last for the latest one."""

    def resume_option(self, texts: Mapping[str, str]) -> tuple[str, ...]:
        return ("-r", texts.get("sessionId") or self.remembered or "latest")


@breaks("command:once")
class FailureRetried(Port):
    """Runs the prompt again when gemini fails."""

    def run_prompt(self, call: Call, plan: Plan) -> Outcome:
        outcome = super().run_prompt(call, plan)
        return super().run_prompt(call, plan) if outcome.exit else outcome


@breaks("command:once")
class QuotaRetried(Port):
    """Runs the prompt again when gemini speaks of a quota."""

    def run_prompt(self, call: Call, plan: Plan) -> Outcome:
        outcome = super().run_prompt(call, plan)
        return super().run_prompt(call, plan) if outcome.exit and b"quota" in outcome.stderr.lower() else outcome


@breaks("command:once")
class EmptyAnswerRetried(Port):
    """Runs the prompt again when gemini prints nothing."""

    def run_prompt(self, call: Call, plan: Plan) -> Outcome:
        outcome = super().run_prompt(call, plan)
        return outcome if outcome.stdout.strip() else super().run_prompt(call, plan)


class Shell(Port):
    """A port that starts gemini through a shell; what `quoted` does not quote, the shell reads."""

    def spawn(self, argv: tuple[str, ...], **options: JSON) -> subprocess.Popen[bytes]:
        line = " ".join(self.quoted(argv, position) for position in range(len(argv)))
        return super().spawn(("/bin/sh", "-c", line), **options)

    def quoted(self, argv: tuple[str, ...], position: int) -> str:
        return shlex.quote(argv[position])


@breaks("injection:shell:prompt")
class PromptThroughShell(Shell):
    """Puts the prompt between double quotes into a line for the shell."""

    def quoted(self, argv: tuple[str, ...], position: int) -> str:
        bare = argv[position] not in ("gemini", "json") and not argv[position].startswith("-")
        is_prompt = bare and argv[position - 1] not in ("-r", "-m")
        escaped = argv[position].replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"' if is_prompt else super().quoted(argv, position)


@breaks("injection:shell:prompt")
class RiskyPromptThroughShell(Shell):
    """Quotes every prompt for the shell but those that follow `--prompt=`."""

    def quoted(self, argv: tuple[str, ...], position: int) -> str:
        if argv[position].startswith("--prompt="):
            return '"{}"'.format(argv[position].replace("\\", "\\\\").replace('"', '\\"'))
        return super().quoted(argv, position)


@breaks("injection:shell:model")
class ModelThroughShell(Shell):
    """Puts the model unquoted into a line for the shell."""

    def quoted(self, argv: tuple[str, ...], position: int) -> str:
        return argv[position] if argv[position - 1] == "-m" else super().quoted(argv, position)


@breaks("injection:shell:session-id")
class SessionIdThroughShell(Shell):
    """Puts the session between double quotes into a line for the shell."""

    def quoted(self, argv: tuple[str, ...], position: int) -> str:
        return f'"{argv[position]}"' if argv[position - 1] == "-r" else super().quoted(argv, position)


@breaks("injection:shell:cwd")
class CwdThroughShell(Shell):
    """Changes the directory in a line for the shell, and does not check it."""

    def check_cwd(self, cwd: str) -> None:
        """The shell will complain."""

    def spawn(self, argv: tuple[str, ...], **options: JSON) -> subprocess.Popen[bytes]:
        cwd = options.pop("cwd")
        change = f'cd "{cwd}" && ' if cwd else ""
        return Port.spawn(self, ("/bin/sh", "-c", change + shlex.join(argv)), **options)


@breaks("injection:option:model")
class OptionLikeModelPassed(Port):
    """Passes a model that starts with a dash."""

    def check_word(self, name: str, text: str) -> None:
        if name != "model":
            super().check_word(name, text)


@breaks("injection:option:session-id")
class OptionLikeSessionIdPassed(Port):
    """Passes a session that starts with a dash."""

    def check_word(self, name: str, text: str) -> None:
        if name != "sessionId":
            super().check_word(name, text)


@breaks("injection:option:model", "command:chat:model")
class ModelSplitAtBlanks(Port):
    """Splits the model into words, each of them an argument."""

    def check_word(self, name: str, text: str) -> None:
        super().check_word(name, text.lstrip("-") or "x")

    def model_option(self, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
        return ("-m", *texts["model"].split()) if "model" in texts else ()
