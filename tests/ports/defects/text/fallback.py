"""Entries of a list whose titles or ids look odd: ports that break `fallback`."""

import re
from typing import Any

from answering import ENTRY, Outcome
from defects.record import defect
from defects.text.shared import KIB
from planning import Plan
from running import Call
from steps import always, gives

PIPE = 64 * 1024

TITLED = re.compile(ENTRY.pattern.replace(r"\s*([0-9]+)", r"(?:.*\s)?([0-9]+)", 1))
NOT_CURRENT = re.compile(r"(?!.*, current\) \[)\s*([0-9]+)\.\s.*\[([^\[\]\s]+)\][^\[\]]*")


def lines_as_python(port: Any, real: Any, listing: Any) -> str:
    return "\n".join(real(listing).splitlines())


def either_list(port: Any, real: Any, listing: Outcome) -> str:
    stdout = port.decode(listing.stdout)
    return stdout if stdout.strip() else port.decode(listing.stderr)


def pipe_unread(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    listing = real(call, plan)
    return None if plan.session == "latest" and listing and len(listing.stdout) > PIPE else listing


defect(
    "listing-split-at-form-feeds",
    "Ends a line of the list where Python's splitlines does.",
    "fallback:brackets",
    "fallback:last",
)(list_text=lines_as_python)
defect("number-of-title-taken", "Takes a number in the title of a session for its place.", "fallback:last")(
    entry_pattern=always(TITLED)
)
defect(
    "current-session-not-listed",
    "Passes over the entry of a list that is marked as the current one.",
    "fallback:last",
    "fallback:list-sessions",
    "fallback:latest",
)(entry_pattern=always(NOT_CURRENT))
defect(
    "nameless-sessions-hidden",
    "Reads no entry of the list that has no title.",
    "fallback:latest",
    "fallback:list-sessions",
)(entry_pattern=always(re.compile(ENTRY.pattern.replace(r"\.\s", r"\.\s+\S"))))
defect(
    "entry-zero-hidden",
    "Takes an entry of the list for none whose number is 0.",
    "fallback:list-sessions",
    "fallback:latest",
)(entry_pattern=always(re.compile(ENTRY.pattern.replace("([0-9]+)", r"(?!0+\.)([0-9]+)"))))
defect(
    "list-beyond-pipe",
    "Finds no session in a list of more than 64 KiB after a reply to the latest session.",
    "fallback:latest",
)(list_sessions=pipe_unread)
defect("list-cut-at-64-kib", "Reads the first 64 KiB of the list of sessions.", "fallback:list-sessions")(
    list_text=gives(lambda text: text[: 64 * KIB])
)
defect(
    "list-parted-at-every-line-end",
    "Ends an entry of the list at U+0085, U+2028, a form feed or whatever else ends a line in Unicode.",
    "fallback:list-sessions",
    "fallback:last",
)(list_text=gives(lambda text: "\n".join(text.splitlines())))
defect(
    "list-behind-notice-unread",
    "Reads stderr for the list only when there is nothing on stdout, not even a notice.",
    "fallback:stderr",
)(list_text=either_list)
