"""A session that the list would name, looked for wrongly: ports that break `fallback`."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from answering import Answer, Failure, Outcome
from conditions import is_named
from defects.answer.shared import entries
from defects.record import defect
from planning import Plan
from running import LIST, LISTING_TIMEOUT, TIMEOUT, Call
from steps import Step, always, for_tool, gives, takes

ENTRY_WITHOUT_BLANK = re.compile(r"\s*([0-9]+)\.\s*.*\[([^\[\]\s]+)\][^\[\]]*")


IN_BRACKETS = re.compile(r"\[([^\[\]\s]+)\]")


def keeps_empty_session(port: Any, real: Any, value: Mapping[str, Any], stderr: str) -> Answer:
    answer = real(value, stderr)
    return replace(answer, session="") if value.get("session_id") == "" else answer


def believes_empty_session(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    return answer if answer.session == "" and is_named(plan) else real(call, plan, answer)


def fails_with_unstarted_list(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    """A list that takes too long is caught, and one that does not start is not."""
    arguments = (plan.argv[0], LIST)
    try:
        return port.run(call, arguments, port.listing_cwd(plan), port.environment(None), None, LISTING_TIMEOUT)
    except Failure as failure:
        if failure.stderr is None:
            raise
    return None


def fails_with_list(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    listing = real(call, plan)
    if listing is not None:
        port.read(replace(listing, stdout=b"x"))
    return listing


def waits_for_list(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    arguments = (plan.argv[0], LIST)
    return port.run(call, arguments, plan.cwd, port.environment(None), None, TIMEOUT)


def octal_list(port: Any, real: Any, listing: Outcome) -> str:
    """Reads a number with a zero before it as octal, as languages do that look at its beginning."""

    def number(found: re.Match[str]) -> str:
        digits = found[2]
        return f"{found[1]}{int(digits, 8) if re.fullmatch('[0-7]+', digits) else 'x'}."

    return re.sub(r"(?m)^(\s*)(0[0-9]+)\.", number, real(listing))


def used_despite(exits: Callable[[int], bool]) -> Step:
    """Of `newest`: uses a list that ended in this way."""
    return takes(lambda listing: replace(listing, exit=0) if exits(listing.exit) else listing)


def any_brackets(port: Any, real: Any, listing: Outcome) -> str | None:
    """Takes a list whose lines have no numbers for one of another version."""
    session = real(listing)
    if session is not None or listing.exit != 0:
        return session
    found = IN_BRACKETS.findall(port.list_text(listing))
    return found[-1] if found else None


def then_lists(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    answer = real(call, plan)
    if answer.session:
        port.list_sessions(call, plan)
    return answer


defect(
    "open-bracket-of-title-hides-session",
    "Reads no entry of the list whose title opens a bracket that nothing closes.",
    "fallback:brackets",
)(entry_pattern=entries(r"\s*([0-9]+)\.\s(?:[^\[\]]|\[[^\[\]]*\])*\[([^\[\]\s]+)\][^\[\]]*"))
defect("first-brackets-taken", "Takes the first brackets of an entry for the id.", "fallback:brackets")(
    entry_pattern=always(re.compile(r"\s*(\d+)\.\s[^\[]*\[([^\]]+)\].*"))
)
defect(
    "listed-for-reply-by-id", "Asks for the list after a reply by id without a session in the JSON.", "fallback:by-id"
)(with_session=lambda port, real, call, plan, answer: real(call, replace(plan, session=None), answer))
defect(
    "empty-session-believed-in-reply-by-id",
    "Names an empty session in a reply by id when gemini names an empty one.",
    "fallback:by-id",
)(read_json=keeps_empty_session, with_session=believes_empty_session)
defect("listing-elsewhere", "Asks for the list in its own directory.", "fallback:cwd")(listing_cwd=always(None))
defect(
    "list-not-started-fails",
    "Fails the call when the list of sessions cannot be started.",
    "fallback:failure",
)(list_sessions=fails_with_unstarted_list)
defect("listing-failure-fails", "Fails the call when the list fails.", "fallback:failure")(
    list_sessions=fails_with_list
)
defect("listing-waits-forever", "Waits for the list as long as for an answer.", "fallback:failure")(
    list_sessions=waits_for_list
)
defect(
    "zeros-make-number-octal",
    "Reads the number of an entry as octal when it begins with a zero.",
    "fallback:last",
)(list_text=octal_list)
defect("last-entry-taken", "Takes the last entry of the list for the newest.", "fallback:last")(
    newest_entry=lambda port, real, entries: entries[-1]
)
defect(
    "every-second-entry-overlooked",
    "Overlooks every second entry of the list, as a pattern that remembers its place does.",
    "fallback:last",
)(newest_entry=takes(lambda entries: entries[::2]))
defect("first-entry-taken", "Takes the first entry of the list for the newest.", "fallback:last")(
    newest_entry=lambda port, real, entries: entries[0]
)
defect("index-compared-as-text", "Takes entry 9 for newer than entry 10.", "fallback:last")(
    newest_entry=lambda port, real, entries: max(entries, key=lambda entry: str(entry[0]))
)
defect("failed-list-used", "Uses what a list of sessions has said that failed.", "fallback:none")(
    newest=used_despite(lambda exit: exit > 0)
)
defect("killed-list-used", "Uses what a list of sessions has said that died of a signal.", "fallback:none")(
    newest=used_despite(lambda exit: exit < 0)
)
defect("unknown-session-named", "Names the session `unknown` when it finds none.", "fallback:none")(
    success=takes(lambda answer: replace(answer, session=answer.session or "unknown"))
)
defect("unknown-session-null", "Sends null as the session when it finds none.", "fallback:none")(
    success=gives(lambda result: {**result, "_meta": {"sessionId": None, **result.get("_meta", {})}})
)
defect(
    "brackets-without-number-are-session",
    "Takes a text in brackets for the session when no line of the list has a number.",
    "fallback:none",
)(newest=any_brackets)
defect("listing-on-stdout-only", "Reads the list from stdout only.", "fallback:stderr")(
    list_text=takes(lambda listing: replace(listing, stderr=b""))
)
defect("listed-every-time", "Asks for the list after every call.", "fallback:unneeded")(ask=then_lists)
defect("listed-after-replies", "Asks for the list after every reply.", "fallback:unneeded")(
    ask=for_tool("chat-reply", then_lists)
)
defect(
    "version-is-an-entry",
    "Takes a line for an entry of the list that begins with a version, such as `2.0.1 is out [npm]`.",
    "fallback:last",
)(entry_pattern=lambda port, real: ENTRY_WITHOUT_BLANK)
defect(
    "list-glued-to-stderr",
    "Puts the stderr of a list right behind its stdout, on the line of a last entry that no newline ends.",
    "fallback:brackets",
)(list_text=lambda port, real, listing: port.decode(listing.stdout) + port.decode(listing.stderr))
