"""What may be shown of a configuration: command lines and addresses without what looks like a secret. Pure."""

import re
from collections.abc import Iterator, Sequence

from gemini_mcp.host.rules.profiles import profiles
from gemini_mcp.host.rules.urls import InvalidUrl, parse
from gemini_mcp.host.servers.environment import SECRET_FLAGS
from gemini_mcp.spec.host_rules import EnvironmentRules

MASK = "***"

_ASSIGNMENT = re.compile(r"(-{0,2}[\w.-]+)=(.+)", re.DOTALL)


def shown_words(words: Sequence[str]) -> str:
    """The command line with the values of secret-looking flags and variables masked."""
    shown: list[str] = []
    is_after_secret = False
    for word in words:
        shown.append(MASK if is_after_secret and not word.startswith("-") else _shown_word(word))
        is_after_secret = word.startswith("--") and "=" not in word and _is_secret_name(word)
    return " ".join(shown)


def shown_address(address: str) -> str:
    """The address without user, password and the values of its query."""
    try:
        url = parse(address)
    except InvalidUrl:
        return address
    host = url.host.rpartition("@")[2]
    query = re.sub(r"=[^&]*", f"={MASK}", url.query)
    return f"{url.scheme}://{host}{url.path}{query}"


def _shown_word(word: str) -> str:
    assigned = _ASSIGNMENT.fullmatch(word)
    if assigned and _is_secret_name(assigned.group(1)):
        return f"{assigned.group(1)}={MASK}"
    if "://" in word and "@" in word:
        return shown_address(word)
    is_secret = any(re.search(pattern, word, SECRET_FLAGS) for guard in _guards() for pattern in guard.secret_values)
    return MASK if is_secret else word


def _is_secret_name(name: str) -> bool:
    return any(re.search(guard.secret_name, name.upper()) for guard in _guards())


def _guards() -> Iterator[EnvironmentRules]:
    """What any profile withholds from servers is shown by none."""
    return (rules.environment for rules in profiles().values() if rules.environment)
