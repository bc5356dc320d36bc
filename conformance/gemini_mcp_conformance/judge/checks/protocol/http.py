"""What a port must do over HTTP: statuses, headers, which origins are served, and the same results as over stdio."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable

from gemini_mcp.spec.values import Json, decode, inside, table
from gemini_mcp_conformance.judge.check import Complaints, NotApplicable
from gemini_mcp_conformance.judge.checks.life.cancel import has_survivors
from gemini_mcp_conformance.judge.registry import check, check_all
from gemini_mcp_conformance.judge.twins import gist, unlike
from gemini_mcp_conformance.see.events import Events
from gemini_mcp_conformance.see.observation import Exchange, Observation, Web
from gemini_mcp_conformance.see.witness import shown
from gemini_mcp_conformance.talk.messages import HEADER_MISMATCH, SESSION, UNKNOWN_METHOD, VERSION

STREAM, JSON = "text/event-stream", "application/json"

OTHER_HOST = (400, 404, 421)
"""How a port may refuse a request that names a host which it is not, before it asks where the request comes from."""

ENCODED = re.compile(r"=\?base64\?(.*)\?=")

OfWeb = Callable[[Web], Complaints]


def check_web(requirement: str, judges: Callable[[Web], bool]) -> Callable[[OfWeb], OfWeb]:
    """Register a function that judges every request over HTTP which `judges` accepts."""

    def register(function: OfWeb) -> OfWeb:
        def every(observation: Observation) -> Complaints:
            return (complaint for web in observation.web if judges(web) for complaint in function(web))

        every.__name__, every.__doc__ = function.__name__, function.__doc__
        check_all(requirement, judges=lambda seen: any(judges(web) for web in seen.web))(every)
        return function

    return register


def method(web: Web) -> str | None:
    found = inside(web.message, "method")
    return found if isinstance(found, str) else None


def is_request(web: Web) -> bool:
    return web.verb == "POST" and method(web) is not None and "id" in table(web.message)


def is_notification(web: Web) -> bool:
    return web.verb == "POST" and method(web) is not None and "id" not in table(web.message)


def is_stranger(web: Web) -> bool:
    """Requests from a page that the port has not served; the suite plays no other page."""
    return "origin" in web.headers


def is_spelt_otherwise(web: Web) -> bool:
    """Requests whose headers say what every client says, in words of their own: with a charset, in capitals, turned."""
    usual = (("content-type", JSON), ("accept", f"{JSON}, {STREAM}"))
    return any(web.headers.get(name) not in (None, value) for name, value in usual)


def version(web: Web) -> str | None:
    return web.headers.get("mcp-protocol-version")


def revision(web: Web) -> Json:
    """The protocol version that the body names, or None."""
    return inside(web.message, "params", "_meta", VERSION)


def is_stateless(web: Web) -> bool:
    return revision(web) in web.manifest.stateless_revisions


def is_of_one_era(web: Web) -> bool:
    """Requests of the stateless era whose header and body name the same revision."""
    return is_request(web) and is_stateless(web) and version(web) == revision(web)


def is_as_it_should(web: Web) -> bool:
    known = (None, *web.manifest.handshake_revisions, *web.manifest.stateless_revisions)
    return not web.elsewhere and not is_stranger(web) and version(web) in known


def has_unsupported_version(web: Web) -> bool:
    return is_request(web) and not is_stateless(web) and not is_as_it_should(web) and not is_stranger(web)


def contradicts(web: Web) -> bool:
    """Requests of the stateless era whose headers lack or deny the method or the name in their body."""
    wanted = {"mcp-method": method(web)}
    if method(web) == "tools/call":
        wanted["mcp-name"] = inside(web.message, "params", "name")
    right = all(header(web, name) == value for name, value in wanted.items())
    return is_of_one_era(web) and not right


def header(web: Web, name: str) -> str | None:
    """What a header says: base64 can write what else a header cannot hold."""
    value = web.headers.get(name)
    encoded = ENCODED.fullmatch(value or "")
    return b64decode(encoded[1]).decode("utf-8", "surrogatepass") if encoded else value


def is_of_two_eras(web: Web) -> bool:
    """Requests whose header names another revision than their body; without it, one may pass for one of the old era."""
    return is_request(web) and is_stateless(web) and version(web) not in (None, *web.manifest.stateless_revisions)


def is_of_unknown_method(web: Web) -> bool:
    return is_of_one_era(web) and not contradicts(web) and "no/such/" in (method(web) or "")


def was_abandoned(exchange: Exchange) -> bool:
    """Whether its client closed the connection while gemini ran, which cancels a stateless request."""
    is_stateless = exchange.revision in exchange.spec.manifest.stateless_revisions
    return exchange.transport == "http" and is_stateless and exchange.silence == "cancelled" and bool(exchange.runs)


@check_web("http:origin", judges=is_stranger)
def stranger_is_forbidden(web: Web) -> Complaints:
    origin = web.headers["origin"]
    is_origin = re.fullmatch(r"https?://[^:/]+(:[0-9]+)?", origin) is not None
    # What cannot be an origin may be refused as a bad request, and so may another host before anybody asks for origins.
    refusals = {403, *(() if is_origin else (400,)), *(OTHER_HOST if "host" in web.headers else ())}
    if web.status not in refusals:
        asked = f"a request of the origin {origin!r}"
        yield f"The port answered {asked} with {said(web)}, and should answer with status 403."


@check_web("http:bind", judges=lambda web: web.elsewhere)
def port_listens_on_loopback_only(web: Web) -> Complaints:
    if web.status is not None:
        yield "The port answers at an address that is not the loopback one, and should not listen there."


@check_web("http:notification", judges=lambda web: is_notification(web) and 200 <= (web.status or 0) < 300)
def notification_is_accepted(web: Web) -> Complaints:
    if web.status != 202 or web.body:
        yield f"The port answered {method(web)} with {said(web)}, and should answer with status 202 and no body."


@check_all("cancel:unknown", judges=lambda seen: bool(_cancellations(seen)))
def cancellation_leaves_the_session(observation: Observation) -> Complaints:
    for web in _cancellations(observation):
        if web.status == 404:
            yield f"The port answered a cancellation with {said(web)}, which ends a session, and should ignore it."


def _cancellations(observation: Observation) -> list[Web]:
    """What cancels a call in a session that no client has ended."""
    ends = (number for number, web in enumerate(observation.web) if web.verb == "DELETE")
    living = observation.web[: next(ends, None)]
    return [web for web in living if method(web) == "notifications/cancelled" and is_as_it_should(web)]


def has_to_be_json(web: Web) -> bool:
    """Requests that are answered, and those that are refused by a JSON-RPC error."""
    return is_request(web) and (200 <= (web.status or 0) < 300 or contradicts(web) or is_of_unknown_method(web))


@check_web("http:content-type", judges=has_to_be_json)
def answer_is_json_or_events(web: Web) -> Complaints:
    kind = web.answered.get("content-type", "").split(";")[0].strip().lower()
    if kind not in (JSON, STREAM):
        yield f"The port answered {method(web)} as {kind!r}, and should answer as {JSON} or {STREAM}."


@check_web("http:content-type", judges=lambda web: is_request(web) and is_as_it_should(web) and is_spelt_otherwise(web))
def request_is_served_however_it_is_spelt(web: Web) -> Complaints:
    if web.status in (406, 415):
        kinds = " and ".join(shown(web.headers.get(name)) for name in ("content-type", "accept"))
        yield f"The port answered a request with the types {kinds} with status {web.status}, and should serve it."


@check_web("http:get", judges=lambda web: web.verb == "GET" and is_as_it_should(web))
def get_is_events_or_not_allowed(web: Web) -> Complaints:
    if web.status != 405 and not (web.status == 200 and web.is_stream):
        yield f"The port answered a GET with {said(web)}, and should answer with {STREAM} or status 405."


@check_web("http:version", judges=has_unsupported_version)
def unsupported_version_is_a_bad_request(web: Web) -> Complaints:
    if web.status != 400:
        asked = f"a request of version {shown(version(web))}"
        yield f"The port answered {asked} with {said(web)}, and should answer with status 400."


def ends_session(web: Web) -> bool:
    """Requests of the client itself to end its session."""
    return web.verb == "DELETE" and not is_stranger(web)


@check_all("http:session:ended", judges=lambda seen: any(map(ends_session, seen.web)))
def ended_session_is_not_found(observation: Observation) -> Complaints:
    end = next(number for number, web in enumerate(observation.web) if ends_session(web))
    deleted = observation.web[end]
    # MCP makes session ids optional, and lets a server refuse to end a session.
    if SESSION not in deleted.headers:
        raise NotApplicable("The port gives no session id.")
    if deleted.status is None or not 200 <= deleted.status < 300:
        raise NotApplicable("The port lets no client end its session.")
    for web in observation.web[end + 1 :]:
        if web.headers.get(SESSION) == deleted.headers[SESSION] and web.status != 404 and not is_cut_response(web):
            asked = f"{method(web) or web.verb} in an ended session"
            yield f"The port answered {asked} with {said(web)}, and should answer with status 404."


@check_web("http:stateless:header", judges=contradicts)
def contradicting_header_is_refused(web: Web) -> Complaints:
    if not is_error_answer(web, 400, HEADER_MISMATCH):
        names = {name: value for name, value in web.headers.items() if name.startswith("mcp-")}
        yield (
            f"The port answered {method(web)} with the headers {shown(names)} with {said(web)}, "
            f"and should answer with status 400 and error {HEADER_MISMATCH}."
        )


@check_web("http:stateless:version", judges=is_of_two_eras)
def another_revision_in_the_header_is_refused(web: Web) -> Complaints:
    # By its header the request can be one of the handshake era, in which another error may come first.
    if web.status != 400:
        yield (
            f"The port answered a request of {revision(web)} with the header MCP-Protocol-Version: {version(web)} "
            f"with {said(web)}, and should answer with status 400."
        )


@check_web("http:stateless:method", judges=is_of_unknown_method)
def unknown_method_is_not_found(web: Web) -> Complaints:
    if not is_error_answer(web, 404, UNKNOWN_METHOD):
        wanted = f"status 404 and error {UNKNOWN_METHOD}"
        yield f"The port answered {method(web)} with {said(web)}, and should answer with {wanted}."


@check("http:stateless:disconnect", judges=was_abandoned, any_outcome=True)
def closed_connection_cancels(exchange: Exchange) -> Complaints:
    if has_survivors(exchange):
        yield "The port let gemini run on after the client had closed its connection, and should end it."


@check_web("http:equivalence", judges=lambda web: is_request(web) and "result" in table(decode(web.body)))
def result_comes_with_a_status_of_success(web: Web) -> Complaints:
    if web.status is None or not 200 <= web.status < 300:
        yield f"The port answered {method(web)} with a result and status {web.status}, and should answer it with 200."


@check_all("http:equivalence", judges=lambda seen: seen.twin is not None and bool(seen.calls), about="transport")
def result_is_that_over_stdio(observation: Observation) -> Complaints:
    for here, there in unlike(observation):
        yield (
            f"The port answered {here.label} over HTTP with {shown(gist(here))}, "
            f"and should answer as over stdio with {shown(gist(there))}."
        )


def is_cut_response(web: Web) -> bool:
    """Whether the suite answered a request of the port, and the port took no notice: nobody waits until it does."""
    return web.status is None and web.message is not None and method(web) is None


def said(web: Web) -> str:
    """An answer for a reader."""
    if web.status is None:
        return "no answer"
    return f"status {web.status} and {shown(web.body.decode('utf-8', 'replace'))}"


def is_error_answer(web: Web, status: int, code: int) -> bool:
    return web.status == status and inside(_answer(web), "error", "code") == code


def _answer(web: Web) -> Json:
    """The one message of a body, or the last one of a stream."""
    messages = Events().feed(web.body) if web.is_stream else [web.body]
    return decode(messages[-1]) if messages else None
