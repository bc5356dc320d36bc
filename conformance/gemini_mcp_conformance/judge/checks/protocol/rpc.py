"""JSON-RPC: the form of every message, and what malformed ones do."""

from __future__ import annotations

from gemini_mcp.spec.values import Json, decode, inside, is_unicode, table
from gemini_mcp_conformance.judge.check import NotApplicable
from gemini_mcp_conformance.judge.registry import check, check_all
from gemini_mcp_conformance.play.session import is_request
from gemini_mcp_conformance.see.attribution import same_id
from gemini_mcp_conformance.see.observation import Exchange, Line, Observation
from gemini_mcp_conformance.see.timeline import strays
from gemini_mcp_conformance.talk.conversation import AUTO, Notify, Raw, Request
from gemini_mcp_conformance.tell.witness import reply, shown

KNOWN = ("initialize", "ping", "server/discover", "tools/call", "tools/list")
LONG = 10_000_000


def speaks(observation: Observation) -> bool:
    return any(True for _ in messages(observation))


def messages(observation: Observation) -> list[Line]:
    return [line for line in observation.received if line.table]


def responses(observation: Observation) -> list[Line]:
    return [line for line in observation.received if line.is_response]


@check_all("rpc:jsonrpc", judges=speaks)
def every_message_names_the_protocol(observation: Observation) -> list[str]:
    wrong = [line.table for line in messages(observation) if line.table.get("jsonrpc") != "2.0"]
    return [f'The port sent {shown(wrong[0])}, which should carry "jsonrpc": "2.0".'] if wrong else []


@check("rpc:response:id", judges=lambda exchange: bool(exchange.answers) and not was_unreadable(exchange))
def answer_carries_the_id_of_its_request(exchange: Exchange) -> list[str]:
    asked = exchange.request["id"]
    wrong = [line.table.get("id") for line in exchange.answers if not same_id(line.table.get("id"), asked)]
    return [f"The port answered the request {shown(asked)} with the id {shown(wrong[0])}."] if wrong else []


@check_all("rpc:response:id", judges=lambda seen: bool(with_chosen_ids(seen)))
def request_with_any_id_is_answered(observation: Observation) -> list[str]:
    lost = [each.request for each in with_chosen_ids(observation) if each.silence in ("timeout", "died")]
    return [f"The port did not answer {each['method']} with the id {shown(each['id'])}." for each in lost[:1]]


@check_all("rpc:response:either", judges=lambda observation: bool(responses(observation)))
def answer_is_a_result_or_an_error(observation: Observation) -> list[str]:
    both = [line.table for line in responses(observation) if "result" in line.table and "error" in line.table]
    return [f"The port sent {shown(both[0])}, which holds both a result and an error."] if both else []


@check("rpc:response:error", judges=lambda exchange: "error" in (exchange.answer or {}))
def error_has_code_and_message(exchange: Exchange) -> list[str]:
    error = exchange.error or {}
    if type(error.get("code")) is int and isinstance(error.get("message"), str):
        return []
    return [f"The port sent the error {shown(error)}, which should hold an integer `code` and a text `message`."]


@check_all("rpc:notification:unanswered", judges=lambda seen: notifies(seen) and not malformed(seen))
def notifications_are_not_answered(observation: Observation) -> list[str]:
    # Over HTTP the refusal of a notification may say why, as an error without an id.
    may_refuse = observation.transport == "http"
    nobodys = [line.table for line in strays(observation) if line.table.get("id") is None]
    replies = [reply for reply in nobodys if not (may_refuse and "error" in reply)]
    return [f"The port sent {shown(replies[0])}, which answers no request but a notification."] if replies else []


@check("rpc:error:method", judges=lambda exchange: exchange.method not in KNOWN and not was_unreadable(exchange))
def unknown_method_is_not_found(exchange: Exchange) -> list[str]:
    if exchange.error is not None and exchange.error.get("code") == -32601:
        return []
    return [f"{reply(exchange, exchange.method)}, and should answer with error -32601."]


@check("rpc:error:params", judges=lambda exchange: has_wrong_params(exchange), anyway=True)
def wrong_params_are_named(exchange: Exchange) -> list[str]:
    code = inside(exchange.error, "code")
    if code == -32602:
        return []
    asked = f"tools/call with the params {shown(exchange.request.get('params'))}"
    return [f"{reply(exchange, asked)}, and should answer with error -32602."]


@check_all("rpc:error:parse", judges=lambda seen: bool(malformed(seen)) and not any(map(is_json, malformed(seen))))
def line_that_is_no_json_is_named(observation: Observation) -> list[str]:
    return _named(observation, -32700, "lines that are no JSON")


@check_all("rpc:error:request", judges=lambda seen: bool(malformed(seen)) and all(map(is_json, malformed(seen))))
def invalid_request_is_named(observation: Observation) -> list[str]:
    return _named(observation, -32600, "JSON that is no request")


@check_all("rpc:alive:malformed", judges=lambda seen: bool(malformed(seen)))
def port_lives_after_malformed_lines(observation: Observation) -> list[str]:
    return _unanswered(observation, malformed(observation)[0].order, "a malformed line")


@check_all("rpc:alive:long-line", judges=lambda seen: bool(long_lines(seen)))
def port_lives_after_long_lines(observation: Observation) -> list[str]:
    return _unanswered(observation, long_lines(observation)[0].order, "a line of 10 MB")


def has_surrogate(exchange: Exchange) -> bool:
    return not is_unicode(exchange.request)


@check("rpc:alive:surrogate", judges=has_surrogate, anyway=True)
def half_a_character_is_answered(exchange: Exchange) -> list[str]:
    if exchange.answers or exchange.silence not in ("timeout", "died"):
        return []
    return [f"The port did not answer {exchange.method} with a lone surrogate in {shown(exchange.request)}."]


@check_all("rpc:alive:chunks", judges=lambda seen: bool(_in_raw(seen)))
def message_in_pieces_is_answered(observation: Observation) -> list[str]:
    answered = [line.table.get("id") for line in responses(observation)]
    lost = [each for each in _in_raw(observation) if not any(same_id(id, each["id"]) for id in answered)]
    return [
        f"The port did not answer {shown(each)}, which came in pieces or together with others." for each in lost[:1]
    ]


def was_unreadable(exchange: Exchange) -> bool:
    """Whether a port cannot read half a character; over HTTP the connection tells whose answer that is."""
    is_nobodys = exchange.error is not None and (exchange.answer or {}).get("id") is None
    return exchange.transport == "http" and is_nobodys and has_surrogate(exchange)


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


def has_wrong_params(exchange: Exchange) -> bool:
    arguments = exchange.params.get("arguments")
    nameless = not isinstance(exchange.params.get("name"), str)
    return exchange.method == "tools/call" and (nameless or not isinstance(arguments, dict | None))


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


def _named(observation: Observation, code: int, what: str) -> list[str]:
    """The port may pass over such lines in silence; what it says of them must be right."""
    found = malformed(observation)
    ids = [inside(line.message, "id") for line in found]
    said = [line for line in responses(observation) if line.order > found[0].order]
    replies = [line for line in said if line in strays(observation) or line.table.get("id") in ids]
    if not replies:
        raise NotApplicable(f"The port passes over {what} in silence, as it may.")
    wrong = [line.table for line in replies if inside(line.table, "error", "code") != code]
    return [f"The port answered {what} with {shown(wrong[0])}, and should answer with error {code}."] if wrong else []


def _unanswered(observation: Observation, order: int, what: str) -> list[str]:
    later = [each for each in observation.exchanges if each.sent.order > order]
    lost = [each for each in later if not each.answers and each.silence in ("timeout", "died")]
    if lost:
        return [f"The port did not answer {lost[0].method} after {what}."]
    return [f"The port {observation.died} after {what}, and should go on."] if observation.died else []
