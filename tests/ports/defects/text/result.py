"""Outputs of which certain characters hide the answer or its session: ports that break `result`."""

import html
import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from answering import QUOTA, Answer, Failure, Outcome
from conditions import is_named
from defects.record import defect
from defects.text.shared import composed, latin
from planning import Plan
from running import Call
from steps import Step, takes

STATS_BEHIND = re.compile(r'"response":\s*("(?:[^"\\]|\\.)*")\s*,\s*"stats"')

SIGNED_IN = re.compile(r"^Loaded cached credentials\.\r?\n", re.MULTILINE)


def without_next(raw: bytes) -> bytes:
    """Takes the byte behind the first of a pair for the second, whatever it is."""
    return re.sub(rb"([\xc2-\xdf])[\x00-\x7f]", rb"\1", raw)


def stdout_as_latin(port: Any, real: Any, outcome: Outcome) -> Answer:
    return real(replace(outcome, stdout=latin(outcome.stdout).encode()))


def counts_quotes(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    """Knows from the first character on whether it stands in quotes, where no object can begin."""
    start = stdout.find("{")
    return port.plain_text(stdout) if start > 0 and stdout.count('"', 0, start) % 2 else real(stdout, stderr)


def refuses_braces(port: Any, real: Any, stdout: str) -> Answer:
    if "{" in stdout:
        raise Failure("gemini printed JSON that cannot be read.", "")
    return real(stdout)


def in_answer_session(change: Callable[[str], str]) -> Step:
    return takes(lambda answer: replace(answer, session=answer.session and change(answer.session)))


def entities_of_session(answer: Answer) -> Answer:
    return replace(answer, session=html.escape(answer.session) if answer.session else None)


def notice_alone(port: Any, real: Any, answer: Answer) -> Any:
    """The notice of an empty text replaces the session."""
    return real(answer if answer.text else replace(answer, session=None))


def quota_counts(port: Any, real: Any, outcome: Outcome) -> Answer:
    answer, stderr = real(outcome), port.decode(outcome.stderr)
    if QUOTA.search(stderr):
        raise Failure("The quota of the Gemini API is used up.", stderr)
    return answer


def all_composed(warnings: Any) -> Any:
    return [composed(each) for each in warnings] if isinstance(warnings, list) else warnings  # pyright: ignore[reportUnknownVariableType]


def without_warnings(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    found = real(call, plan, answer)
    return replace(found, warnings=None) if is_named(plan) else found


def of_own_session(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    outcome = real(call, plan)
    if outcome.exit != 0 or not is_named(plan):
        return outcome
    objects = [value for _, value in port.scan(port.decode(outcome.stdout)).objects if "response" in value]
    own = [value for value in objects if value.get("session_id") == plan.session]
    return replace(outcome, stdout=json.dumps(own[-1]).encode()) if own and own[-1] is not objects[-1] else outcome


def stats_unneeded(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    try:
        return real(stdout, stderr)
    except Failure as failure:
        found = STATS_BEHIND.search(stdout)
        session = re.search(r'"session_id":\s*"([^"\\]+)"', stdout)
        if "incomplete" not in failure.sentence or found is None or session is None:
            raise
        return Answer(port.whole(json.loads(found[1], strict=False)), session[1])


defect(
    "damaged-pair-swallows-next",
    "Loses the character behind the first byte of a pair whose second is missing.",
    "result:json:encoding",
)(decode=takes(without_next))
defect("stdout-read-as-latin", "Reads all of a stdout that is not UTF-8 as Latin-1.", "result:json:encoding")(
    read=stdout_as_latin
)
defect(
    "quote-in-notice-hides-json",
    "Does not find JSON behind a notice with one quotation mark.",
    "result:json:notice-before",
)(read_stdout=counts_quotes)
defect("text-with-braces-refused", "Calls a text without JSON an error when it holds a brace.", "result:plain-text")(
    plain_text=refuses_braces
)
defect("plain-text-trimmed", "Takes blanks off the beginning of a text without JSON.", "result:plain-text")(
    plain_text=takes(str.lstrip)
)
defect(
    "newlines-of-plain-text-translated",
    "Makes one kind of line end of all in a text without JSON.",
    "result:plain-text",
)(plain_text=takes(lambda text: text.replace("\r\n", "\n").replace("\r", "\n")))
defect(
    "last-newline-of-plain-text-lost",
    "Takes a newline off the end of a text without JSON.",
    "result:plain-text",
)(plain_text=takes(lambda text: text.removesuffix("\n")))
defect("mark-of-plain-text-lost", "Drops a byte order mark before a text without JSON.", "result:plain-text")(
    plain_text=takes(lambda text: text.removeprefix("\ufeff"))
)
defect("sign-in-notice-dropped", "Takes gemini's notice of its sign-in off plain text.", "result:plain-text")(
    plain_text=lambda port, real, stdout: Answer(SIGNED_IN.sub("", stdout))
)
defect("session-of-answer-in-lower-case", "Names the session of an answer in lower case.", "result:session-id")(
    success=in_answer_session(str.lower)
)
defect("entities-in-session-of-answer", "Escapes for HTML the session that it names.", "result:session-id")(
    success=takes(entities_of_session)
)
defect("session-of-answer-composed", "Composes the characters of a session that gemini names.", "result:session-id")(
    success=takes(lambda answer: replace(answer, session=composed(answer.session)))
)
defect(
    "session-lost-beside-notice",
    "Names no session when it has to say that the answer is empty.",
    "result:session-id",
)(success=notice_alone)
defect(
    "quota-of-success-counts",
    "Calls a success an error when gemini has said on stderr that it had to wait for its quota.",
    "result:success",
)(read=quota_counts)
defect("warnings-composed", "Composes the characters of warnings.", "result:warnings")(
    success=takes(lambda answer: replace(answer, warnings=all_composed(answer.warnings)))
)
defect(
    "warnings-of-unnamed-reply-lost",
    "Drops the warnings of a reply by id when gemini does not name the session.",
    "result:warnings",
)(with_session=without_warnings)

defect(
    "answer-of-resumed-session-first",
    "Of several answers to a reply by id takes the last that names the resumed session, not the last.",
    "result:json:last",
)(run_prompt=of_own_session)
defect(
    "answer-cut-in-stats-accepted",
    "Takes JSON that breaks off in its statistics for an answer when its text and its session are whole.",
    "result:truncated",
)(read_stdout=stats_unneeded)
