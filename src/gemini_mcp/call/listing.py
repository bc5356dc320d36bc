"""Reads gemini's list of sessions: how the list ended in, the id of the newest session out. Pure."""

import re

from gemini_mcp.call.outcome import Completed, Outcome

LONGEST_INDEX = 18
"""Digits of the longest number of a session. Python refuses to read one of thousands."""


def newest_session(listing: Outcome, entry: str) -> str | None:
    """The id of the entry with the highest number in gemini's list of sessions, on whichever stream it was printed."""
    if not isinstance(listing, Completed) or listing.exit != 0:
        return None
    stdout = listing.stdout.decode("utf-8", "replace")
    # Gemini CLI prints the list on stdout since 0.24, on stderr before. It ascends by the start of the sessions.
    entries = (re.match(entry, line) for line in f"{stdout}\n{listing.stderr}".split("\n"))
    numbered = [(int(match[1]), match[2]) for match in entries if match and len(match[1]) <= LONGEST_INDEX]
    return max(numbered, key=lambda pair: pair[0])[1] if numbered else None
