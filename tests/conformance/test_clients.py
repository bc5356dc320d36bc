"""What another client says and hears is told apart by marks that never reach a port."""

from hypothesis import given
from hypothesis import strategies as st

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.talk.clients import is_of_another, marked, of_another, plain
from gemini_mcp_conformance.talk.messages import notification, request

IDS = st.text() | st.integers()


@given(id=IDS, token=IDS)
def test_a_port_hears_no_mark(id: Json, token: Json) -> None:
    params = {"name": "chat", "arguments": {"id": id}, "_meta": {"progressToken": token}}
    said = request(id, "tools/call", params)
    assert is_of_another(marked(said))
    assert plain(marked(said)) == said


@given(id=IDS)
def test_ids_of_two_clients_differ_though_they_are_the_same(id: Json) -> None:
    heard = marked({"jsonrpc": "2.0", "id": id, "result": {}})
    assert heard == {"jsonrpc": "2.0", "id": of_another(id), "result": {}}
    assert of_another(id) != id


def test_a_number_and_its_digits_stay_two_ids() -> None:
    assert of_another(7) != of_another("7")


def test_a_cancellation_is_that_of_the_client_whose_call_it_names() -> None:
    ours, theirs = (notification("notifications/cancelled", {"requestId": id}) for id in ("a", of_another("a")))
    assert (is_of_another(ours), is_of_another(theirs)) == (False, True)
    assert plain(theirs) == ours


def test_what_has_neither_id_nor_token_stays_as_it_is() -> None:
    messages: tuple[Json, ...] = (None, [], "text", {"jsonrpc": "2.0", "method": "notifications/x"})
    for message in messages:
        assert marked(message) == message
