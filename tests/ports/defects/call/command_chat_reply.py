"""Options that a reply loses, alters or adds: ports that break `command:chat-reply`."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from conditions import altering, asks, is_named, lacking
from defects.call.shared import also_absent, remembers_session
from defects.record import defect
from steps import always, first_kept, for_tool, gives, latest_repeated

Texts = Mapping[str, str]


def argv_without_model(
    port: Any, real: Any, tool: str, texts: Mapping[str, str], form: tuple[str, ...]
) -> tuple[str, ...]:
    words: tuple[str, ...] = real(tool, texts, form)
    return words[:-2] if tool == "chat-reply" and not form and "model" in texts else words


def session_for_latest(port: Any, real: Any, tool: str, texts: Texts) -> tuple[str, ...]:
    return tuple(texts.get("sessionId", word) if word == "latest" else word for word in real(tool, texts))


def respelt(session: str) -> str:
    try:
        return str(UUID(session))
    except ValueError:
        return session


def model_beside_stdin(port: Any, real: Any, tool: str, texts: Any, form: tuple[str, ...]) -> Any:
    is_met = tool == "chat-reply" and form == () and "systemPrompt" in texts
    return real(tool, {name: text for name, text in texts.items() if not (is_met and name == "model")}, form)


defect("reply-in-text-format", "Asks for no output format in `chat-reply`.", "command:chat-reply")(
    format_option=for_tool("chat-reply", always(()))
)
defect(
    "format-given-twice",
    "Gives the output format of `chat-reply` twice, which gemini reads as text.",
    "command:chat-reply",
)(format_option=for_tool("chat-reply", gives(lambda option: option * 2)))
defect("reply-without-id-starts-anew", "Starts a new session when a reply names none.", "command:chat-reply:latest")(
    resume_option=lambda port, real, texts: real(texts) if "sessionId" in texts else ()
)
defect("latest-is-its-own", "Takes the session it served last for the latest one.", "command:chat-reply:latest")(
    success=remembers_session,
    resume_option=lambda port, real, texts: ("-r", texts.get("sessionId") or port.memory.get("session") or "latest"),
)
defect("reply-model-ignored", "Ignores `model` in `chat-reply`.", "command:chat-reply:model")(
    model_option=for_tool("chat-reply", always(()))
)
defect(
    "model-lost-behind-long-reply",
    "Leaves the model out of a reply by id in a named directory when the prompt goes to stdin.",
    "command:chat-reply:model",
)(
    ask=asks(
        lambda call, plan: is_named(plan) and plan.cwd is not None and plan.stdin is not None,
        lacking("-m"),
    )
)
defect(
    "reply-on-stdin-without-model",
    "Passes no model to gemini in a reply whose prompt is so long that it goes to stdin.",
    "command:chat-reply:model",
)(argv=argv_without_model)
defect(
    "model-latest-becomes-session",
    "Names the session as the model of a reply by id whose model is called `latest`.",
    "command:chat-reply:model",
)(model_option=session_for_latest)
defect(
    "reply-model-lost-beside-stdin-and-system",
    "Leaves the model out of a reply whose prompt goes to stdin when there is a system prompt too.",
    "command:chat-reply:model",
)(argv=model_beside_stdin)
defect(
    "reply-model-leaks",
    "Passes the model of the call before to a reply that names none.",
    "command:chat-reply:no-model",
)(model_option=latest_repeated("chat-reply"))
defect("always-latest", "Resumes the latest session, whatever `sessionId` says.", "command:chat-reply:session-id")(
    resume_option=always(("-r", "latest"))
)
defect("session-id-shortened", "Resumes by the first eight characters of an id.", "command:chat-reply:session-id")(
    resume_option=gives(lambda option: (option[0], option[1][:8]))
)
defect("first-session-kept", "Stays in the session that the first reply named.", "command:chat-reply:session-id")(
    resume_option=lambda port, real, texts: first_kept(port, real, texts) if "sessionId" in texts else real(texts)
)
defect(
    "session-id-respelt",
    "Writes an id that is a UUID in the usual way, in lower case and with hyphens.",
    "command:chat-reply:session-id",
)(resumed=gives(respelt))
defect(
    "long-reply-resumes-latest",
    "Resumes the latest session instead of the one that is named when the prompt goes to stdin.",
    "command:chat-reply:session-id",
)(ask=asks(lambda call, plan: plan.stdin is not None and is_named(plan), altering("-r", lambda session: "latest")))
defect(
    "session-by-its-last-part",
    "Resumes what follows the last slash in the id of a session.",
    "command:chat-reply:session-id",
)(resumed=gives(lambda session: session.rsplit("/", 1)[-1] or session))
defect("session-ends-at-number-sign", "Cuts the id of a session at `#`.", "command:chat-reply:session-id")(
    resumed=gives(lambda session: session.split("#")[0])
)
defect(
    "session-in-brackets-bared",
    "Takes the brackets off the id of a session, as the list writes it.",
    "command:chat-reply:session-id",
)(resumed=gives(lambda session: session.strip("[]")))
defect(
    "blank-session-is-latest",
    "Resumes the latest session when the id is of blanks.",
    "command:chat-reply:session-id",
)(is_absent=also_absent("sessionId"))
