"""Options that a chat loses, alters or adds: ports that break `command:chat`."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from defects.call.shared import remembers_session
from defects.record import defect
from planning import Plan, Refusal
from steps import always, before, first_kept, for_tool, gives, latest_repeated

MINUS = "\u2212"


def refuses_any_dash(port: Any, name: str, text: str) -> None:
    if text and (unicodedata.category(text[0]) == "Pd" or text[0] == MINUS):
        raise Refusal(f"`{name}` starts with a dash, which gemini would read as an option.")


def automatic(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    return () if texts.get("model") == "auto" else real(tool, texts)


def resuming(port: Any, real: Any, tool: Any, texts: Any, form: Any) -> Any:
    session = port.memory.get("session") if tool == "chat" else None
    return (*real(tool, texts, form), "-r", session) if session else real(tool, texts, form)


def model_left_over(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    left = {} if (model := port.memory.pop("model", None)) is None else {"model": model}
    try:
        return real(tool, {**left, **arguments})
    except Refusal:
        model = arguments.get("model")
        if isinstance(model, str) and re.fullmatch(r"\w[\w.-]*", model):
            port.memory["model"] = model
        raise


defect("chat-in-text-format", "Asks for no output format in `chat`.", "command:chat")(
    format_option=for_tool("chat", always(()))
)
defect(
    "repeated-words-dropped",
    "Drops a word of the command line that equals an earlier one: the format after the prompt `json`, or a model that "
    "is named like the session.",
    "command:chat",
    "command:chat-reply",
)(argv=gives(lambda argv: tuple(dict.fromkeys(argv))))
defect("equal-words-once", "Passes no word twice on the command line.", "command:chat", "command:chat:model")(
    argv=gives(lambda words: tuple(dict.fromkeys(words)))
)
defect("chat-model-ignored", "Ignores `model` in `chat`.", "command:chat:model")(
    model_option=for_tool("chat", always(()))
)
defect("model-lowered", "Changes the model to lower case.", "command:chat:model", "command:chat-reply:model")(
    model_option=gives(lambda option: tuple(map(str.lower, option)))
)
defect("first-model-kept", "Keeps the model of the first call that named one.", "command:chat:model")(
    model_option=first_kept
)
defect(
    "model-of-chat-percent-decoded",
    "Decodes what looks percent-encoded in the model of `chat`.",
    "command:chat:model",
)(model_option=for_tool("chat", gives(lambda words: tuple(map(unquote, words)))))
defect(
    "any-dash-is-option-like",
    "Refuses a model or a session that starts with a dash beyond ASCII.",
    "command:chat:model",
    "command:chat-reply:session-id",
)(check_word=before(refuses_any_dash))
defect("model-auto-dropped", "Passes no model that is called `auto`.", "command:chat:model")(model_option=automatic)
defect(
    "second-chat-resumes", "Continues the latest session in every `chat` but the first.", "command:chat:new-session"
)(success=remembers_session, argv=resuming)
defect("default-model", "Passes a model of its own when the call names none.", "command:chat:no-model")(
    model_option=gives(lambda option: option or ("-m", "gemini-2.5-pro"))
)
defect("model-leaks", "Passes the model of the call before to a call that names none.", "command:chat:no-model")(
    model_option=latest_repeated("chat", "chat-reply")
)
defect(
    "model-left-by-refused-call",
    "Uses the model of a refused call for the next one that names none.",
    "command:chat:no-model",
    "command:chat-reply:no-model",
)(plan=model_left_over)
