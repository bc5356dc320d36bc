"""What requests ask for on stdio, beside what the SDK makes of them on HTTP: the same answers."""

import json
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCRequest, JSONRPCResponse

from gemini_mcp.call.calls import Calls
from gemini_mcp.call.progress import Progress
from gemini_mcp.errors import ProtocolError
from gemini_mcp.operator.options import Options
from gemini_mcp.spec import load_server
from gemini_mcp.spec.values import Json, JsonObject
from gemini_mcp.transport.eras import CAPABILITIES, CLIENT, REVISION, Era, ToolCall, opened
from gemini_mcp.transport.messages import Request
from gemini_mcp.transport.server import build

SPEC = load_server(None, None)
REVISIONS = (*SPEC.manifest.handshake_revisions, *SPEC.manifest.stateless_revisions)
SOMEBODY = {"name": "somebody", "version": "1"}

ODD = st.sampled_from([None, True, 7, "", "text", [], {}, {"name": "n"}])


def objects(usual: Mapping[str, Json], **odd: st.SearchStrategy[Json]) -> st.SearchStrategy[JsonObject]:
    """Objects like a usual one, of which one value may be missing and others are odd."""
    kept = st.sampled_from([dict(usual), *({k: usual[k] for k in usual if k != gone} for gone in usual)])
    return st.tuples(kept, st.fixed_dictionaries({}, optional=odd)).map(lambda pair: {**pair[0], **pair[1]})


def metas() -> st.SearchStrategy[JsonObject]:
    """What a request may carry in `_meta`, mostly for the stateless era."""
    usual: JsonObject = {REVISION: REVISIONS[-1], CAPABILITIES: {}, CLIENT: SOMEBODY}
    revisions = st.sampled_from(["1999-01-01", *REVISIONS])
    odd: dict[str, st.SearchStrategy[Json]] = {REVISION: revisions | ODD, CAPABILITIES: ODD, CLIENT: ODD}
    named = st.fixed_dictionaries({}, optional=odd).map(lambda odd: usual | odd)
    return st.sampled_from([{}, {"progressToken": 1}, usual, {REVISION: REVISIONS[-1]}]) | named


def requests() -> st.SearchStrategy[tuple[str, Json]]:
    """Methods with parameters of which a few are wrong."""
    greeting: JsonObject = {"protocolVersion": REVISIONS[0], "capabilities": {}, "clientInfo": SOMEBODY}
    initialize = objects(
        greeting,
        protocolVersion=st.sampled_from(["1999-01-01", *REVISIONS]) | ODD,
        capabilities=ODD,
        clientInfo=ODD,
    )
    call = objects({"name": "chat", "arguments": {}}, name=st.just("nobody") | ODD, arguments=ODD)
    params = objects({}, cursor=ODD)
    plain = st.tuples(st.sampled_from(["ping", "server/discover", "tools/list", "nothing"]), params)
    with_meta = st.tuples(plain | st.tuples(st.just("tools/call"), call), st.none() | metas() | ODD)
    carried = with_meta.map(lambda pair: (pair[0][0], pair[0][1] | ({} if pair[1] is None else {"_meta": pair[1]})))
    return carried | st.tuples(st.just("initialize"), initialize)


@asynccontextmanager
async def sdk(calls: Calls) -> AsyncGenerator[tuple[Json, Json]]:
    """The streams of a server of the SDK."""
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](8)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](8)
    server = build(SPEC, calls)
    async with anyio.create_task_group() as tasks, to_server, from_server:
        tasks.start_soon(server.run, incoming, outgoing, server.create_initialization_options())
        yield to_server, from_server
        tasks.cancel_scope.cancel()


async def answers_of_sdk(asked: Sequence[tuple[str, Json]], calls: Calls) -> list[Json]:
    answers: list[Json] = []
    with anyio.fail_after(60):
        async with sdk(calls) as (to_server, from_server):
            for id, (method, params) in enumerate(asked):
                request = JSONRPCRequest(jsonrpc="2.0", id=id, method=method, params=params)
                await to_server.send(SessionMessage(request))
                answers.append(shown((await from_server.receive()).message))
    return answers


def shown(message: Json) -> Json:
    assert isinstance(message, JSONRPCResponse | JSONRPCError)
    return message.result if isinstance(message, JSONRPCResponse) else message.error.code


async def own_answers(asked: Sequence[tuple[str, Json]], calls: Calls) -> list[Json]:
    answers: list[Json] = []
    era: Era | None = None
    for id, (method, params) in enumerate(asked):
        request = Request(id, method, params)
        era = era or opened(request, SPEC)
        try:
            answer = era.answer(request)
            if isinstance(answer, ToolCall):
                answer = era.complete(await calls.call(answer.name, answer.arguments, Progress(None)))
            answers.append(json.loads(json.dumps(answer)))
        except ProtocolError as error:
            answers.append(error.code)
    return answers


@pytest.mark.requirement("rpc:error:method", "rpc:error:params", "lifecycle:version:supported")
@given(st.lists(requests(), min_size=1, max_size=4))
def test_requests_are_answered_on_stdio_as_the_sdk_answers_them(asked: list[tuple[str, Json]]) -> None:
    calls = Calls(SPEC, Options(), os.environ)
    own = anyio.run(own_answers, asked, calls)
    assert own == anyio.run(answers_of_sdk, asked, calls)
