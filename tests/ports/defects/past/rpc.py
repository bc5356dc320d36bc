"""Messages that are read or answered by what came before: ports that break `rpc`."""

from itertools import count
from typing import Any

from defects.record import defect
from running import Call
from speaking import Message, RpcError
from steps import Step, before

INTERNAL = -32603


def null_kept(port: Any, real: Any, message: Message) -> None:
    if "error" in message:
        is_kept = port.memory.pop("has_null", False)
        port.memory["has_null"] = message["id"] is None
        message = {**message, "id": None} if is_kept else message
    real(message)


def internal_while_busy(port: Any, real: Any, request: Message, params: Any, stateless: bool) -> Message | None:
    try:
        return real(request, params, stateless)
    except RpcError as error:
        if port.calls and error.error["code"] == -32601:
            raise RpcError(INTERNAL, error.error["message"]) from None
        raise


def notes_digits(port: Any, request: Message) -> None:
    identity = request["id"]
    if isinstance(identity, str) and identity.isdecimal():
        port.memory["has_text"] = True


def ids_as_texts(port: Any, real: Any, message: Message) -> None:
    identity = message.get("id")
    is_number = isinstance(identity, int | float)
    real({**message, "id": str(identity)} if is_number and port.memory.get("has_text") else message)


def answers_twice(period: int) -> Step:
    numbers = count(1)

    def answer(port: Any, real: Any, call: Call, result: Message) -> None:
        real(call, result)
        if next(numbers) % period == 0:
            real(call, result)

    return answer


def unanswered_ids_again(port: Any, real: Any, call: Call, result: Message) -> None:
    """An id that answered a failure is taken for answered when it comes again; so is its text for the number."""
    if str(call.id) not in port.memory.setdefault("failed ids", set()):
        real(call, result)
    if result.get("isError"):
        port.memory["failed ids"].add(str(call.id))


defect(
    "null-id-kept-for-next-error",
    "Answers the first error behind one without an id under null as well.",
    "rpc:alive:malformed",
    "rpc:response:id",
)(send=null_kept)
defect(
    "unknown-method-while-busy-is-internal",
    "Answers an unknown method as an internal error while a call runs.",
    "rpc:error:method",
)(result=internal_while_busy)
defect(
    "ids-are-texts-behind-digits",
    "Writes the numbers of ids as texts once an id was a text of digits.",
    "rpc:response:id",
)(requested=before(notes_digits), write=ids_as_texts)
defect("hundred-and-first-answered-twice", "Answers every hundred-and-first call twice.", "rpc:response:id")(
    answer=answers_twice(101)
)
defect("thirty-third-answered-twice", "Answers every thirty-third call twice.", "rpc:response:id")(
    answer=answers_twice(33)
)
defect(
    "ids-of-failures-unanswered-later",
    "Does not answer a call whose id a failure has had, or one that is written alike.",
    "rpc:response:id",
)(answer=unanswered_ids_again)
