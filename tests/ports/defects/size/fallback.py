"""Lists that are too long, or whose numbers are too large: ports that break `fallback`."""

import re
from dataclasses import replace
from typing import Any

from answering import ENTRY, Failure, Outcome
from conditions import from_time
from defects.record import defect
from defects.size.shared import LINE
from planning import Plan
from running import LIST, Call
from steps import Change, Step, always, gives, takes

INDEX_BITS = 16
LONGEST_LINE = 256


def listing_of(change: Change) -> Step:
    return takes(lambda listing: replace(listing, stdout=change(listing.stdout), stderr=change(listing.stderr)))


def in_bits(port: Any, real: Any, entries: list[tuple[int, str]]) -> tuple[int, str]:
    return real([(index % (1 << INDEX_BITS), session) for index, session in entries])


def reads_last_hundred(port: Any, real: Any, listing: Outcome) -> str | None:
    """Reads a list of many lines from its end, where it expects one entry a line."""
    entries = [line for line in port.list_text(listing).split("\n") if line.strip()]
    return real(replace(listing, stdout="\n".join(entries[-100:]).encode(), stderr=b""))


def ended_lines(listing: Outcome) -> Outcome:
    return replace(listing, stdout=listing.stdout[: listing.stdout.rfind(b"\n") + 1])


def impatient_listing(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    arguments = (plan.argv[0], LIST)
    try:
        return port.run(call, arguments, plan.cwd, port.environment(None), None, 0.75)
    except Failure:
        return None


def single_overlooked(port: Any, real: Any, listing: Outcome) -> str | None:
    lines = map(port.entry_pattern().fullmatch, port.list_text(listing).split("\n"))
    return real(listing) if sum(map(bool, lines)) > 1 else None


def in_short_lines(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if len(line) <= LINE)


def without_returns(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if "\r" not in line)


defect("long-listed-ids-overlooked", "Knows no session in a list with more than 40 characters.", "fallback:brackets")(
    entry_pattern=always(re.compile(r"\s*(\d+)\.\s.*\[([^\[\]\s]{1,40})\][^\[\]]*"))
)
defect("list-elsewhere-from-third", "Asks for the third list and all later ones in its own directory.", "fallback:cwd")(
    listing_cwd=from_time(3, always(None))
)
defect("index-of-two-digits", "Knows no session in a list behind the ninety-ninth.", "fallback:last")(
    entry_pattern=always(re.compile(r"\s*(\d{1,2})\.\s.*\[([^\[\]\s]+)\][^\[\]]*"))
)
defect("index-of-three-digits", "Knows no session in a list behind number 999.", "fallback:last")(
    entry_pattern=always(re.compile(r"\s*(\d{1,3})\.\s.*\[([^\[\]\s]+)\][^\[\]]*"))
)
defect("listing-read-to-8-kib", "Reads 8 KiB of a list of sessions.", "fallback:last")(
    list_text=listing_of(lambda raw: raw[: 1 << 13])
)
defect("index-in-32-bits", "Keeps the numbers of a list in 32 bits.", "fallback:last")(
    newest_entry=lambda port, real, entries: max(entries, key=lambda entry: entry[0] & 0xFFFFFFFF)
)
defect("index-in-sixteen-bits", "Keeps the numbers of a list in sixteen bits.", "fallback:last")(newest_entry=in_bits)
defect("newest-in-last-hundred", "Reads the last hundred entries of a list of sessions.", "fallback:last")(
    newest=reads_last_hundred
)
defect(
    "index-of-four-digits-passed-over",
    "Passes over the entries from 1000 on in the list of sessions.",
    "fallback:last",
)(entry_pattern=always(re.compile(ENTRY.pattern.replace("[0-9]+", "[0-9]{1,3}"))))
defect("unended-entry-overlooked", "Overlooks an entry of the list without a newline behind it.", "fallback:last")(
    newest=takes(ended_lines)
)
defect(
    "listing-indented-overlooked", "Knows no entry of a list behind more than four blanks.", "fallback:list-sessions"
)(entry_pattern=always(re.compile(r"\s{0,4}(\d+)\.\s.*\[([^\[\]\s]+)\][^\[\]]*")))
defect("slow-listing-given-up", "Waits less than a second for a list of sessions.", "fallback:list-sessions")(
    list_sessions=impatient_listing
)
defect("single-entry-overlooked", "Knows no session in a list with one entry.", "fallback:list-sessions")(
    newest=single_overlooked
)
defect("fourth-list-of-sessions-spared", "Asks for the list of sessions three times.", "fallback:list-sessions")(
    list_sessions=from_time(4, always(None))
)
defect(
    "entry-of-long-line-cut",
    "Reads 256 characters of each line of the list, so an entry whose id stands behind them does not count.",
    "fallback:list-sessions",
    "fallback:last",
)(list_text=gives(lambda text: "\n".join(line[:LONGEST_LINE] for line in text.split("\n"))))
defect("titles-of-many-words-hide", "Reads no entry of a list with more than eight words.", "fallback:list-sessions")(
    entry_pattern=gives(lambda pattern: re.compile(r"\s*([0-9]+)\.\s(?:\S+\s+){0,8}\[([^\[\]\s]+)\][^\[\]]*"))
)
defect("long-titles-hide-sessions", "Reads no line of a list over 4 KiB.", "fallback:list-sessions")(
    list_text=gives(in_short_lines)
)
defect("returns-hide-sessions", "Reads no entry of a list whose lines end in CRLF.", "fallback:list-sessions")(
    list_text=gives(without_returns)
)
