"""Defects that tidy up: indentation, noise, extensions, escapes and paths that look odd."""

import re
import textwrap
from typing import Any
from urllib.parse import unquote

from answering import Answer
from defects.record import defect
from planning import Refusal
from steps import before, gives

TRACE = re.compile(r"^ {4}at .*(\n|\Z)", re.MULTILINE)
SIGNED_IN = re.compile(r"^Loaded cached credentials\.\r?\n", re.MULTILINE)


def refuses_pattern(port: Any, cwd: str) -> None:
    if re.search(r"[\[\]*?]", cwd):
        raise Refusal(f"`cwd` {cwd!r} is a pattern and no directory.")


def refuses_point(port: Any, cwd: str) -> None:
    if re.search(r"/\.(/|$)", cwd):
        raise Refusal(f"`cwd` {cwd!r} is no plain path.")


def without_extension(session: str) -> str:
    """gemini keeps a session in a file that ends in `.json`."""
    return re.sub(r"(?<=.)\.[^.]*$", "", session)


defect("session-without-extension", "Cuts a session at its last point.", "command:chat-reply:session-id")(
    resumed=gives(without_extension)
)
defect("system-prompt-dedented", "Takes the common indentation off a system prompt.", "system:content")(
    system=gives(lambda text: text and textwrap.dedent(text))
)
defect("bracketed-directory-refused", "Refuses a directory with brackets in its name.", "cwd:used")(
    check_cwd=before(refuses_pattern)
)
defect("pointed-directory-refused", "Refuses a directory with a single point in its path.", "cwd:used")(
    check_cwd=before(refuses_point)
)
defect("traces-of-stderr-dropped", "Drops the stack traces of stderr.", "error:stderr")(
    stderr_part=gives(lambda text: TRACE.sub("", text))
)
defect("sign-in-notice-dropped", "Takes gemini's notice of its sign-in off plain text.", "result:plain-text")(
    plain_text=lambda port, real, stdout: Answer(SIGNED_IN.sub("", stdout))
)
defect("escapes-of-model-read", "Reads `%2F` in a model as a slash.", "command:chat:model", "command:chat-reply:model")(
    model_option=gives(lambda option: tuple(map(unquote, option)))
)
