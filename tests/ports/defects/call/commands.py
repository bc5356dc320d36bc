"""Defects in the command line: options that are lost, altered or too many, and shells that read them."""

import shlex
from collections.abc import Callable
from typing import Any
from uuid import UUID

from answering import Outcome
from defects.record import defect
from steps import Step, always, first_kept, for_tool, gives, latest_repeated, notes, only, takes

remembers_session = notes("session", lambda result: result.get("_meta", {}).get("sessionId"))


def resuming(port: Any, real: Any, tool: Any, texts: Any, form: Any) -> Any:
    session = port.memory.get("session") if tool == "chat" else None
    return (*real(tool, texts, form), "-r", session) if session else real(tool, texts, form)


def respelt(session: str) -> str:
    try:
        return str(UUID(session))
    except ValueError:
        return session


defect("chat-in-text-format", "Asks for no output format in `chat`.", "command:chat")(
    format_option=for_tool("chat", always(()))
)
defect("chat-as-stream", "Asks for a stream of events in `chat`, and answers with it.", "result:text")(
    format_option=for_tool("chat", always(("--output-format", "stream-json")))
)
defect("reply-in-text-format", "Asks for no output format in `chat-reply`.", "command:chat-reply")(
    format_option=for_tool("chat-reply", always(()))
)
defect(
    "format-given-twice",
    "Gives the output format of `chat-reply` twice, which gemini reads as text.",
    "command:chat-reply",
)(format_option=for_tool("chat-reply", gives(lambda option: option * 2)))
defect(
    "second-chat-resumes", "Continues the latest session in every `chat` but the first.", "command:chat:new-session"
)(success=remembers_session, argv=resuming)
defect("chat-model-ignored", "Ignores `model` in `chat`.", "command:chat:model")(
    model_option=for_tool("chat", always(()))
)
defect("model-lowered", "Changes the model to lower case.", "command:chat:model", "command:chat-reply:model")(
    model_option=gives(lambda option: tuple(map(str.lower, option)))
)
defect("first-model-kept", "Keeps the model of the first call that named one.", "command:chat:model")(
    model_option=first_kept
)
defect("default-model", "Passes a model of its own when the call names none.", "command:chat:no-model")(
    model_option=gives(lambda option: option or ("-m", "gemini-2.5-pro"))
)
defect("model-leaks", "Passes the model of the call before to a call that names none.", "command:chat:no-model")(
    model_option=latest_repeated("chat", "chat-reply")
)
defect(
    "reply-model-leaks",
    "Passes the model of the call before to a reply that names none.",
    "command:chat-reply:no-model",
)(model_option=latest_repeated("chat-reply"))
defect("reply-model-ignored", "Ignores `model` in `chat-reply`.", "command:chat-reply:model")(
    model_option=for_tool("chat-reply", always(()))
)
defect("always-latest", "Resumes the latest session, whatever `sessionId` says.", "command:chat-reply:session-id")(
    resume_option=always(("-r", "latest"))
)
defect("session-id-shortened", "Resumes by the first eight characters of an id.", "command:chat-reply:session-id")(
    resume_option=gives(lambda option: (option[0], option[1][:8]))
)
defect("first-session-kept", "Stays in the session that the first reply named.", "command:chat-reply:session-id")(
    resume_option=lambda port, real, texts: first_kept(port, real, texts) if "sessionId" in texts else real(texts)
)
defect("reply-without-id-starts-anew", "Starts a new session when a reply names none.", "command:chat-reply:latest")(
    resume_option=lambda port, real, texts: real(texts) if "sessionId" in texts else ()
)
defect("latest-is-its-own", "Takes the session it served last for the latest one.", "command:chat-reply:latest")(
    success=remembers_session,
    resume_option=lambda port, real, texts: ("-r", texts.get("sessionId") or port.memory.get("session") or "latest"),
)


def retries(test: Callable[[Outcome], bool]) -> Step:
    """Runs the prompt again after an outcome of which `test` holds."""

    def run_prompt(port: Any, real: Any, call: Any, plan: Any) -> Any:
        outcome = real(call, plan)
        return real(call, plan) if test(outcome) else outcome

    return run_prompt


defect("failure-retried", "Runs the prompt again when gemini fails.", "command:once")(
    run_prompt=retries(lambda outcome: outcome.exit != 0)
)
defect("quota-retried", "Runs the prompt again when gemini speaks of a quota.", "command:once")(
    run_prompt=retries(lambda outcome: outcome.exit != 0 and b"quota" in outcome.stderr.lower())
)
defect("empty-answer-retried", "Runs the prompt again when gemini prints nothing.", "command:once")(
    run_prompt=retries(lambda outcome: not outcome.stdout.strip())
)


def through_shell(quoted: Callable[[str, str], str | None]) -> Step:
    """Starts gemini through a shell; `quoted` quotes some words wrongly. It is given the word before, too."""

    def spawn(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
        words = [quoted(before, word) or shlex.quote(word) for before, word in zip(("", *argv), argv, strict=False)]
        return real(("/bin/sh", "-c", " ".join(words)), **options)

    return spawn


def in_double_quotes(text: str) -> str:
    return '"{}"'.format(text.replace("\\", "\\\\").replace('"', '\\"'))


def prompt_in_double_quotes(before: str, word: str) -> str | None:
    is_bare = word not in ("gemini", "json") and not word.startswith("-")
    return in_double_quotes(word) if is_bare and before not in ("-r", "-m") else None


def cd_through_shell(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    cwd = options.pop("cwd")
    change = f'cd "{cwd}" && ' if cwd else ""
    return real(("/bin/sh", "-c", change + shlex.join(argv)), **options)


defect(
    "prompt-through-shell", "Puts the prompt between double quotes into a line for the shell.", "injection:shell:prompt"
)(spawn=through_shell(prompt_in_double_quotes))
defect(
    "risky-prompt-through-shell",
    "Quotes every prompt for the shell but those that follow `--prompt=`.",
    "injection:shell:prompt",
)(spawn=through_shell(lambda _, word: in_double_quotes(word) if word.startswith("--prompt=") else None))
defect("model-through-shell", "Puts the model unquoted into a line for the shell.", "injection:shell:model")(
    spawn=through_shell(lambda before, word: word if before == "-m" else None)
)
defect(
    "session-id-through-shell",
    "Puts the session between double quotes into a line for the shell.",
    "injection:shell:session-id",
)(spawn=through_shell(lambda before, word: f'"{word}"' if before == "-r" else None))
defect(
    "cwd-through-shell",
    "Changes the directory in a line for the shell, and does not check it.",
    "injection:shell:cwd",
)(check_cwd=always(None), spawn=cd_through_shell)
defect("option-like-model-passed", "Passes a model that starts with a dash.", "injection:option:model")(
    check_word=only(lambda name, text: name != "model")
)
defect("option-like-session-id-passed", "Passes a session that starts with a dash.", "injection:option:session-id")(
    check_word=only(lambda name, text: name != "sessionId")
)
defect(
    "model-split-at-blanks",
    "Splits the model into words, each of them an argument.",
    "injection:option:model",
    "command:chat:model",
)(
    check_word=takes(lambda text: text.lstrip("-") or "x"),
    model_option=lambda port, real, tool, texts: ("-m", *texts["model"].split()) if "model" in texts else (),
)
defect(
    "session-id-respelt",
    "Writes an id that is a UUID in the usual way, in lower case and with hyphens.",
    "command:chat-reply:session-id",
)(resumed=gives(respelt))
