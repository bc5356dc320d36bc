"""JSON-RPC: the form of every message, and what malformed ones do."""

from gemini_mcp_conformance.attribution import same_id
from gemini_mcp_conformance.observation import Exchange, Line, Observation
from gemini_mcp_conformance.registry import check, check_all

KNOWN = ("initialize", "ping", "server/discover", "tools/call", "tools/list")


def speaks(observation: Observation) -> bool:
    return any(True for _ in messages(observation))


def messages(observation: Observation) -> list[Line]:
    return [line for line in observation.received if line.table]


def responses(observation: Observation) -> list[Line]:
    return [line for line in observation.received if line.is_response]


@check_all("rpc:jsonrpc", judges=speaks)
def every_message_names_the_protocol(observation: Observation) -> list[str]:
    wrong = [line.table for line in messages(observation) if line.table.get("jsonrpc") != "2.0"]
    return [f'The port sent {wrong[0]!r}, which should carry "jsonrpc": "2.0".'] if wrong else []


@check("rpc:response:id", judges=lambda exchange: bool(exchange.answers))
def answer_carries_the_id_of_its_request(exchange: Exchange) -> list[str]:
    asked = exchange.request["id"]
    wrong = [line.table.get("id") for line in exchange.answers if not same_id(line.table.get("id"), asked)]
    return [f"The port answered the request {asked!r} with the id {wrong[0]!r}."] if wrong else []


@check_all("rpc:response:either", judges=lambda observation: bool(responses(observation)))
def answer_is_a_result_or_an_error(observation: Observation) -> list[str]:
    both = [line.table for line in responses(observation) if "result" in line.table and "error" in line.table]
    return [f"The port sent {both[0]!r}, which holds both a result and an error."] if both else []


@check("rpc:response:error", judges=lambda exchange: "error" in (exchange.answer or {}))
def error_has_code_and_message(exchange: Exchange) -> list[str]:
    error = exchange.error or {}
    if type(error.get("code")) is int and isinstance(error.get("message"), str):
        return []
    return [f"The port sent the error {error!r}, which should hold an integer `code` and a text `message`."]


@check("rpc:error:method", judges=lambda exchange: exchange.method not in KNOWN)
def unknown_method_is_not_found(exchange: Exchange) -> list[str]:
    if exchange.error is not None and exchange.error.get("code") == -32601:
        return []
    return [f"The port answered {exchange.method!r} with {exchange.answer!r}, and should answer with error -32601."]
