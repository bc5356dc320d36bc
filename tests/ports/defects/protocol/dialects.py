"""Defects in what another language's JSON takes for the same: names in any case, numbers of 64 bits."""

import json
from typing import Any

from conditions import in_any_case
from defects.record import defect
from speaking import as_object
from steps import gives

MEMBERS = ("jsonrpc", "id", "method", "params")
BITS = 64


def members_in_any_case(message: Any) -> Any:
    return message if as_object(message) is None else in_any_case(MEMBERS)(message)


def whole_number(digits: str) -> int:
    number = int(digits)
    if number.bit_length() > BITS:
        raise ValueError(f"{digits} has more than {BITS} bits.")
    return number


def parse_64_bits(port: Any, real: Any, line: bytes) -> Any:
    json.loads(line.decode("utf-8", "surrogatepass"), parse_int=whole_number)
    return real(line)


defect(
    "members-in-any-case",
    "Reads the members of a message in any case.",
    "rpc:error:request",
)(parse=gives(members_in_any_case))
defect(
    "number-beyond-64-bits-is-no-json",
    "Takes a line for no JSON that holds a whole number beyond 64 bits.",
    "arguments:unknown",
)(parse=parse_64_bits)
