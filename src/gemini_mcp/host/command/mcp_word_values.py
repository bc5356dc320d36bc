"""What the documented Gemini CLI makes of the words of a line of `gemini mcp`: the server, the scope, the name. Pure.

The words are those of `mcp_arguments`.
"""

from gemini_mcp.host.command.mcp_arguments import Words, number
from gemini_mcp.host.command.mcp_values import Given
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import JsonObject, without_none


def given_by_words(command: str, words: Words, rules: Rules) -> Given:
    config = _server_config(words, rules) if command == "add" else {}
    scope, transport = words.last("scope") or "project", words.last("transport") or "stdio"
    return Given(words.words[0] if words.words else "", scope, transport, config)


def _server_config(words: Words, rules: Rules) -> JsonObject:
    """The server that the words of `add` describe."""
    transport = words.last("transport") or "stdio"
    target, args = words.words[1], [*words.words[2:], *words.after]
    if transport == "stdio":
        return {**without_none(command=target, args=args, env=_pairs(words, "env", rules)), **_common(words)}
    kind = {"type": transport} if rules.adds_type else {}
    headers = without_none(headers=_pairs(words, "header", rules))
    return {rules.add_keys[transport]: target, **kind, **headers, **_common(words)}


def _pairs(words: Words, flag: str, rules: Rules) -> dict[str, str] | None:
    """The names and values of `-e A=b` or `-H 'A: b'`; those without either are left out."""
    if flag not in words.flags:
        return None
    separator = "=" if flag == "env" else ":"
    pairs = [word.partition(separator) for word in words.flags[flag]]
    if flag == "env" and rules.cuts_variables:
        pairs = [(name, mark, value.partition("=")[0]) for name, mark, value in pairs]
    if flag == "header":
        pairs = [(name.strip(), mark, value.strip()) for name, mark, value in pairs]
    return {name: value for name, _, value in pairs if name and value}


def _common(words: Words) -> JsonObject:
    timeout, trust = words.last("timeout"), words.last("trust")
    return {
        **({} if timeout is None else {"timeout": number(timeout)}),
        **without_none(
            trust=None if trust is None else trust == "true",
            description=words.last("description"),
            includeTools=words.flags.get("include-tools"),
            excludeTools=words.flags.get("exclude-tools"),
        ),
    }
