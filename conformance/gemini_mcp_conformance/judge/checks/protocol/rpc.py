"""JSON-RPC: the form of every message, and how a port copes with malformed ones."""

from __future__ import annotations

from collections.abc import Iterator

from gemini_mcp.spec.values import Json, decode, inside, is_unicode, table
from gemini_mcp_conformance.judge.check import Complaints, NotApplicable
from gemini_mcp_conformance.judge.registry import check, check_all
from gemini_mcp_conformance.see.attribution import same_id
from gemini_mcp_conformance.see.observation import Exchange, Line, Observation
from gemini_mcp_conformance.see.timeline import refuses_notice, strays
from gemini_mcp_conformance.see.witness import reply, shown
from gemini_mcp_conformance.spec.schema import is_of_type
from gemini_mcp_conformance.talk.messages import INVALID_PARAMS, UNKNOWN_METHOD, is_request
from gemini_mcp_conformance.talk.steps import AUTO, Notify, Raw, Request

KNOWN = ("initialize", "ping", "server/discover", "tools/call", "tools/list")
LONG = 10_000_000
SOONER = 10
"""How many times sooner than before an answer comes that has waited for another line."""
WHILE = 1.0
"""Seconds: less than calls beside half a line have left when their gemini has ended."""


def invalid_params(exchange: Exchange, asked: str) -> Complaints:
    """A complaint about another answer than the error of invalid params; `asked` are the words for the request."""
    if inside(exchange.error, "code") != INVALID_PARAMS:
        yield f"{reply(exchange, asked)}, and should answer with error {INVALID_PARAMS}."


def messages(observation: Observation) -> list[Line]:
    return [line for line in observation.received if line.table]


def responses(observation: Observation) -> list[Line]:
    return [line for line in observation.received if line.is_response]


@check_all("rpc:jsonrpc", judges=lambda seen: bool(messages(seen)))
def every_message_names_the_protocol(observation: Observation) -> Complaints:
    for line in messages(observation):
        if line.table.get("jsonrpc") != "2.0":
            yield f'The port sent {shown(line.table)}, which should carry "jsonrpc": "2.0".'


@check("rpc:response:id", judges=lambda exchange: bool(exchange.answers) and not was_turned_away(exchange))
def answer_carries_the_id_of_its_request(exchange: Exchange) -> Complaints:
    asked = exchange.request["id"]
    for line in exchange.answers:
        given = line.table.get("id")
        if not same_id(given, asked):
            yield f"The port answered with the id {shown(given)}, and should answer with {shown(asked)}."


@check("rpc:response:id", judges=lambda exchange: bool(exchange.answers), any_outcome=True)
def request_is_answered_once(exchange: Exchange) -> Complaints:
    if len(exchange.answers) > 1:
        asked = f"{exchange.method} with the id {shown(exchange.request['id'])}"
        yield f"The port answered {asked} {len(exchange.answers)} times, and should answer it once."


@check_all("rpc:response:id", judges=lambda seen: bool(with_chosen_ids(seen)))
def request_with_any_id_is_answered(observation: Observation) -> Complaints:
    for each in with_chosen_ids(observation):
        if each.is_unanswered:
            yield f"The port did not answer {each.method} with the id {shown(each.request['id'])}, and should."


@check_all("rpc:response:either", judges=lambda observation: bool(responses(observation)))
def answer_is_a_result_or_an_error(observation: Observation) -> Complaints:
    for line in responses(observation):
        if "result" in line.table and "error" in line.table:
            yield f"The port sent {shown(line.table)}, which should hold either a result or an error."


@check("rpc:response:error", judges=lambda exchange: "error" in (exchange.answer or {}))
def error_has_code_and_message(exchange: Exchange) -> Complaints:
    error = exchange.error or {}
    # Written as -32602.0 it is an integer as well.
    if not is_of_type({"type": "integer"}, error.get("code")) or not isinstance(error.get("message"), str):
        yield f"The port sent the error {shown(error)}, which should hold an integer `code` and a text `message`."


# Beside malformed lines, a response without an id may answer one of these.
@check_all("rpc:notification:unanswered", judges=lambda seen: notifies(seen) and not malformed(seen))
def notifications_are_not_answered(observation: Observation) -> Complaints:
    for line in strays(observation):
        if line.table.get("id") is None and not refuses_notice(observation, line):
            yield f"The port answered a notification with {shown(line.table)}, and should not."


@check("rpc:error:method", judges=lambda exchange: exchange.method not in KNOWN and not was_turned_away(exchange))
def unknown_method_is_not_found(exchange: Exchange) -> Complaints:
    if inside(exchange.error, "code") != UNKNOWN_METHOD:
        yield f"{reply(exchange, exchange.method)}, and should answer with error {UNKNOWN_METHOD}."


def has_wrong_params(exchange: Exchange) -> bool:
    arguments = exchange.params.get("arguments")
    nameless = not isinstance(exchange.params.get("name"), str)
    return exchange.method == "tools/call" and (nameless or not isinstance(arguments, dict | None))


@check("rpc:error:params", judges=has_wrong_params, any_outcome=True)
def wrong_params_are_named(exchange: Exchange) -> Complaints:
    return invalid_params(exchange, f"tools/call with the params {shown(exchange.request.get('params'))}")


@check_all("rpc:error:parse", judges=lambda seen: bool(malformed(seen)) and not any(map(is_json, malformed(seen))))
def line_that_is_no_json_is_named(observation: Observation) -> Complaints:
    return _named(observation, -32700, "lines that are no JSON")


@check_all("rpc:error:request", judges=lambda seen: bool(malformed(seen)) and all(map(is_json, malformed(seen))))
def invalid_request_is_named(observation: Observation) -> Complaints:
    return _named(observation, -32600, "JSON that is no request")


@check_all("rpc:alive:malformed", judges=lambda seen: bool(malformed(seen)))
def port_lives_after_malformed_lines(observation: Observation) -> Complaints:
    return _unanswered(observation, malformed(observation)[0].order, "a malformed line")


LIMITS = (
    "What reads lines may limit them: `maxBufferSize` of StdioServerTransport in TypeScript (10 MiB), `limit` of "
    "asyncio.StreamReader in Python (64 KiB), `Scanner.Buffer` in Go (64 KiB)."
)


@check_all("rpc:alive:long-line", judges=lambda seen: bool(long_lines(seen)))
def port_lives_after_long_lines(observation: Observation) -> Complaints:
    for complaint in _unanswered(observation, long_lines(observation)[0].order, "a line of 10 MB"):
        yield f"{complaint} {LIMITS}"


def has_surrogate(exchange: Exchange) -> bool:
    return not is_unicode(exchange.request)


@check("rpc:alive:surrogate", judges=has_surrogate, any_outcome=True)
def lone_surrogate_is_answered(exchange: Exchange) -> Complaints:
    if not exchange.answers and exchange.is_unanswered:
        asked = shown(exchange.request)
        yield f"The port did not answer {exchange.method} with a lone surrogate in {asked}, and should."


@check_all("rpc:alive:chunks", judges=lambda seen: bool(_in_raw(seen)))
def message_in_pieces_is_answered(observation: Observation) -> Complaints:
    answered = [line.table.get("id") for line in responses(observation)]
    for each in _in_raw(observation):
        if not any(same_id(id, each["id"]) for id in answered):
            yield f"The port did not answer {shown(each)}, which came in pieces or together with others, and should."


@check_all("rpc:alive:chunks", judges=lambda seen: bool(_in_raw(seen)))
def whole_line_waits_for_no_other(observation: Observation) -> Complaints:
    late = [each for each in observation.exchanges if _comes_with_next(observation, each)]
    if len(late) > 1:  # once may be chance
        yield f"The port answered {shown(late[0].request)} only when more had come, and should not wait for that."


def _comes_with_next(observation: Observation, exchange: Exchange) -> bool:
    """Whether an answer that did not come for long came as soon as another line was sent."""
    sent, answer = exchange.sent, next(iter(exchange.answers), None)
    after = next((line.at for line in observation.lines if line.sent and line.order > sent.order), None)
    if exchange.silence != "timeout" or answer is None or after is None:
        return False
    return 0 <= answer.at - after < (after - sent.at) / SOONER


@check_all("rpc:alive:chunks", judges=lambda seen: any(True for _ in _beside_halves(seen)))
def call_does_not_wait_for_the_rest_of_a_line(observation: Observation) -> Complaints:
    for exchange, rest in _beside_halves(observation):
        if exchange.answers and exchange.answers[0].at >= rest:
            yield (
                f"The port answered {shown(exchange.request)} when the rest of another message had come, "
                "and should not wait for that."
            )


def _beside_halves(observation: Observation) -> Iterator[tuple[Exchange, float]]:
    """Calls whose gemini ended by itself between the halves of a line, each with when the rest was sent.

    A port may ask its client something first, who cannot answer within the line.
    """
    halved = [step for step in observation.conversation.steps if isinstance(step, Raw) and step.pause > WHILE]
    if not halved or observation.delay >= WHILE or any(is_request(line.message) for line in observation.received):
        return
    rests = {step.data.removesuffix(b"\n"): step.pause for step in halved}
    for line in (line for line in observation.lines if line.sent and line.data in rests):
        before = [each for each in observation.calls if each.sent.order < line.order and each.silence != "cancelled"]
        beside = [each for each in before if not each.answers or each.answers[0].order > line.order]
        yield from ((each, line.at + rests[line.data]) for each in beside)


def was_turned_away(exchange: Exchange) -> bool:
    """Whether a port refused a post without an id, as it may: one that it could not read, or one without a session."""
    is_anonymous = exchange.error is not None and inside(exchange.answer, "id") is None
    return is_anonymous and exchange.transport == "http" and (has_surrogate(exchange) or lacks_session(exchange))


def lacks_session(exchange: Exchange) -> bool:
    """Whether it comes over HTTP before any handshake, and so in no session."""
    return exchange.transport == "http" and exchange.sent.order == 0 and exchange.method != "initialize"


def with_chosen_ids(observation: Observation) -> list[Exchange]:
    """The requests whose id the conversation has chosen."""
    steps = observation.conversation.steps
    chosen = {number for number, step in enumerate(steps) if isinstance(step, Request) and step.id != AUTO}
    own = [each for each in observation.exchanges if each.conversation == observation.conversation.id]
    return [each for each in own if each.step in chosen]


def notifies(observation: Observation) -> bool:
    return any(isinstance(step, Notify) for step in observation.conversation.steps)


def malformed(observation: Observation) -> list[Line]:
    """The lines that were sent and are no message, blank ones aside."""
    sent = [line for line in observation.lines if line.sent]
    return [line for line in sent if line.data.strip() and not _is_message(line)]


def is_json(line: Line) -> bool:
    return line.message is not None or line.data.strip() == b"null"


def long_lines(observation: Observation) -> list[Line]:
    return [line for line in observation.lines if line.sent and len(line.data) >= LONG]


def _is_message(line: Line) -> bool:
    if b"\n" in line.data:
        return all(_is_message_of(decode(part)) for part in line.data.split(b"\n") if part.strip())
    return _is_message_of(line.message)


def _is_message_of(message: Json) -> bool:
    known = table(message)
    if known.get("jsonrpc") != "2.0":
        return False
    if "method" in known:
        return isinstance(known["method"], str) and ("id" not in known or is_request(message))
    return "id" in known and ("result" in known or "error" in known)


def _in_raw(observation: Observation) -> list[Json]:
    """The requests that were written as bytes: in pieces, or several at once."""
    raws = [step.data for step in observation.conversation.steps if isinstance(step, Raw)]
    found = [decode(line) for data in raws if len(data) < LONG for line in data.split(b"\n")]
    return [message for message in found if is_request(message)]


def _named(observation: Observation, code: int, what: str) -> Complaints:
    """The complaint about the code of an answer to such lines. A port that ignores them is not accused."""
    found = malformed(observation)
    ids = [inside(line.message, "id") for line in found]
    said = [line for line in responses(observation) if line.order > found[0].order]
    replies = [line for line in said if line in strays(observation) or line.table.get("id") in ids]
    if not replies:
        raise NotApplicable(f"The port does not answer {what}, as it may.")
    for line in replies:
        if inside(line.table, "error", "code") != code:
            yield f"The port answered {what} with {shown(line.table)}, and should answer with error {code}."


def _unanswered(observation: Observation, order: int, what: str) -> Complaints:
    for each in observation.exchanges:
        if each.sent.order > order and not each.answers and each.is_unanswered:
            yield f"The port did not answer {each.method} after {what}, and should."
    if observation.died:
        yield f"The port {observation.died} after {what}, and should go on."
