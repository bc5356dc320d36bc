"""What declarations cost: the bytes and estimated tokens of tools, and the limits that a request has. Pure.

The estimate is Gemini CLI's own for texts; `docs/host.md` says how far it was from the tokenizer of Gemma 3.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from gemini_mcp.host.rules.javascript import stringify
from gemini_mcp.host.tools.registry import OfferedTool
from gemini_mcp.host.tools.schema import parameters
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import JsonObject

_ASCII_TOKENS, _OTHER_TOKENS = 0.25, 1.5
"""Tokens of one character, as `tokenCalculation` of Gemini CLI 0.61.0 estimates them for texts."""


@dataclass(frozen=True)
class Cost:
    """What declarations add to every request."""

    bytes: int = 0
    tokens: int = 0
    declarations: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.bytes + other.bytes, self.tokens + other.tokens, self.declarations + other.declarations)

    def __str__(self) -> str:
        return f"{self.bytes} bytes, about {self.tokens} tokens"

    def to_json(self) -> JsonObject:
        return {"bytes": self.bytes, "estimatedTokens": self.tokens, "declarations": self.declarations}


def cost(offer: OfferedTool, registered: str, rules: Rules) -> Cost:
    """What one tool costs."""
    schema = parameters(offer.schema, rules)
    text = stringify({"name": registered, "description": offer.description, "parametersJsonSchema": schema})
    others = sum(not character.isascii() for character in text)
    tokens = math.floor((len(text) - others) * _ASCII_TOKENS + others * _OTHER_TOKENS)
    return Cost(len(text.encode("utf-8", "surrogatepass")), tokens, 1)


def total(costs: Iterable[Cost]) -> Cost:
    """What several cost together."""
    return sum(costs, Cost())
