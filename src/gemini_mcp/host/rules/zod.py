"""The text of the error with which Zod 3 or Zod 4 refuses a value. Pure.

Only wording belongs here; what is refused is decided in `messages`.
"""

from collections.abc import Sequence

from gemini_mcp.host.rules.javascript import UNDEFINED, Undefined, stringify
from gemini_mcp.host.rules.messages import Issue
from gemini_mcp.spec.values import Json, JsonObject, type_of


def complaint(issues: Sequence[Issue], validator: str) -> str:
    """The message of the error."""
    # The message is the JSON of the issues, so their members stand in Zod's order.
    worded = [_zod_3(issue) if validator == "zod3" else _zod_4(issue, 0) for issue in issues]
    return stringify(worded, 2)


def received(value: Json) -> str:
    """The name of a value's type, `undefined` for one that is not there."""
    return "undefined" if isinstance(value, Undefined) else type_of(value)


def _zod_4(issue: Issue, depth: int) -> JsonObject:
    """The issue; inside a union, places are told from the union on."""
    path = list(issue.path[depth:])
    match issue.keyword:
        case "const" | "enum":
            values = [issue.expected] if issue.keyword == "const" else list(issue.expected)
            text = "|".join(map(stringify, values))
            said = f"Invalid input: expected {text}" if len(values) == 1 else f"Invalid option: expected one of {text}"
            return {"code": "invalid_value", "values": values, "path": path, "message": said}
        case "anyOf":
            errors = [[_zod_4(inner, len(issue.path)) for inner in branch] for branch in issue.branches]
            return {"code": "invalid_union", "errors": errors, "path": path, "message": "Invalid input"}
        case "custom" | "contentEncoding":
            said = "Invalid input" if issue.keyword == "custom" else "Invalid Base64 string"
            return {"code": "custom", "path": path, "message": said}
        case keyword:
            expected = "record" if keyword == "record" else issue.expected
            said = f"Invalid input: expected {expected}, received {received(issue.value)}"
            return {"expected": expected, "code": "invalid_type", "path": path, "message": said}


def _zod_3(issue: Issue) -> JsonObject:
    path, kind = list(issue.path), received(issue.value)
    match issue.keyword:
        case "const":
            text = f"Invalid literal value, expected {stringify(issue.expected)}"
            there = {} if issue.value is UNDEFINED else {"received": issue.value}
            return {**there, "code": "invalid_literal", "expected": issue.expected, "path": path, "message": text}
        case "enum" if kind == "string":
            options = " | ".join(f"'{one}'" for one in issue.expected)
            said = f"Invalid enum value. Expected {options}, received '{issue.value}'"
            found: JsonObject = {"received": issue.value, "code": "invalid_enum_value", "options": list(issue.expected)}
            return {**found, "path": path, "message": said}
        case "enum":
            options = " | ".join(f"'{one}'" for one in issue.expected)
            said = "Required" if kind == "undefined" else f"Expected {options}, received {kind}"
            return {"expected": options, "received": kind, "code": "invalid_type", "path": path, "message": said}
        case "anyOf":
            errors = [{"issues": [_zod_3(inner) for inner in branch], "name": "ZodError"} for branch in issue.branches]
            return {"code": "invalid_union", "unionErrors": errors, "path": path, "message": "Invalid input"}
        case "contentEncoding":
            said = "Invalid base64"
            return {"validation": "base64", "code": "invalid_string", "message": said, "path": path}
        case _:
            said = "Required" if kind == "undefined" else f"Expected {issue.expected}, received {kind}"
            found = {"code": "invalid_type", "expected": issue.expected, "received": kind}
            return {**found, "path": path, "message": said}
