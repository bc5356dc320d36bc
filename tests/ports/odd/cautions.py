"""Odd cautions: more is withheld, looked at twice, or said than must be."""

import base64
import os
import re
import time
from typing import Any
from urllib.parse import quote

from odd.record import odd
from running import Call
from steps import adding, before, gives

PAUSE = 0.4
LONG = 12
ICON = {"src": "data:image/png;base64,iVBORw0KGgo=", "mimeType": "image/png", "sizes": ["48x48"]}


def withheld_in_any_dress(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    """Copies in percent encoding and in Base64 as well."""
    for secret in private:
        for copy in (quote(secret), base64.b64encode(secret.encode()).decode()):
            if len(copy) >= LONG and copy != secret:
                text = text.replace(copy, "[withheld]")
    return real(text, private)


def withheld_if_blank(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    for blank in (each for each in private if each and not each.strip()):
        text = re.sub(rf"(?<!\w){re.escape(blank)}(?!\w)", "[withheld]", text)
    return real(text, private)


def at_its_true_path(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    """Runs in the directory's path without links, and says so in PWD."""
    path = os.path.realpath(options.pop("cwd", None) or ".")
    return real(argv, **{**options, "cwd": path, "env": {**options["env"], "PWD": path, "OLDPWD": os.getcwd()}})


def pause(port: Any, *arguments: Any) -> None:
    time.sleep(PAUSE)


def told_in_line(port: Any, real: Any, call: Call, turn: str | None) -> None:
    """Tells a reply that has to wait so, before it begins and when it does."""
    port.report_progress(call)
    real(call, turn)
    port.report_progress(call)


odd("withholds-in-any-dress", "Withholds copies of a prompt in percent encoding and in Base64 too.")(
    withheld=withheld_in_any_dress
)
odd("withholds-blanks", "Withholds a prompt of blanks alone wherever no letter or digit is beside it.")(
    withheld=withheld_if_blank
)
odd("at-its-true-path", "Runs gemini by the path of its directory without links, and sets PWD and OLDPWD.")(
    spawn=at_its_true_path
)
odd("pauses-around-list", "Waits 0.4 seconds before it asks for the list of sessions, and once more behind it.")(
    list_sessions=before(pause), newest=before(pause)
)
odd("introduces-itself", "Has a title, a description, icons and a site, and tells progress before and behind a wait.")(
    server_info=gives(adding(title="Gemini", description="Gemini, served.", icons=[ICON], websiteUrl="https://g.test")),
    tool=gives(adding(title="Ask", icons=[ICON])),
    take_turn=told_in_line,
)
