"""Lists of sessions that an era or a way of reading overlooks: ports that break `fallback`."""

import re
from typing import Any

from answering import Answer, Outcome
from defects.record import defect
from planning import Plan
from running import Call
from steps import always


def damaged_is_none(port: Any, real: Any, listing: Outcome) -> str | None:
    try:
        (listing.stdout + listing.stderr).decode()
    except UnicodeDecodeError:
        return None
    return real(listing)


def unasked(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    return answer if call.stateless and plan.session is None else real(call, plan, answer)


defect(
    "digits-of-other-scripts-counted",
    "Takes a line for an entry of the list whose number is in digits of another script.",
    "fallback:last",
)(entry_pattern=always(re.compile(r"\s*(\d+)\.\s.*\[([^\[\]\s]+)\][^\[\]]*")))
defect("damaged-list-unread", "Reads no list of sessions that is not UTF-8.", "fallback:list-sessions")(
    newest=damaged_is_none
)
defect(
    "list-ends-lines-with-brackets",
    "Reads no entry of a list with a text behind its brackets.",
    "fallback:list-sessions",
)(entry_pattern=lambda port, real: re.compile(r"\s*(\d+)\.\s.*\[([^\[\]\s]+)\]"))
defect("stateless-list-unasked", "Asks for no list in this era.", "fallback:list-sessions")(with_session=unasked)
