"""What may be shown of a configuration: command lines and addresses without what looks like a secret. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence

from gemini_mcp.host.rules.profiles import profiles
from gemini_mcp.host.servers.environment import SECRET_FLAGS
from gemini_mcp.spec.host_rules import EnvironmentRules
from gemini_mcp.spec.values import Json, table, texts_of

MASK = "***"
SHORTEST = 4
"""What is shorter is not looked for: it may stand in any text."""

_ASSIGNMENT = re.compile(r"(-{0,2}[\w.-]+)=(.+)", re.DOTALL)
_FLAG = re.compile(r"--?[A-Za-z][\w.-]*")
_HEADER_FLAG = re.compile(r"-H|--?(?:[\w.]+-)*headers?", re.IGNORECASE)
_HEADER = re.compile(r"\s*([\w-]+)\s*[:=](?!//)\s*(.+)", re.DOTALL)
_USER_FLAG = re.compile(r"-u|--?(?:proxy-)?user(?:name)?", re.IGNORECASE)
_MORE_SECRET_NAMES = re.compile(
    r"(?:^|[^A-Z])(?:PASS|PWD|PW|PIN|PAT|OTP|SAS|JWT|COOKIE|SESSION|BEARER|SIGNATURE)(?:[^A-Z]|$)|PASSPHRASE"
)
_USER = re.compile(r"(?<=://)(?:[^\s/?#]*@|[^\s/?#:@]*:(?!\d+(?:[/?#]|$))[^\s@]*@)")
_BARE_USER = re.compile(r"(?:(?<=//)|(?<![^\s\"'=]))[\w.+-]+:[^\s/@]+@(?=[\w.-]+(?::\d|/))")
"""A user and a password before a host, without a scheme; `npm:name@1.2` is none."""

_PAIR = re.compile(r"([\w.-]+)=([^\s;&\"']+)")
_MEMBER = re.compile(r"""(["'])([\w.-]+)\1(\s*:\s*)(["'])(.*?)\4""", re.DOTALL)
_QUERY = re.compile(r"([?&#][^\s=&#]*)=[^\s&#]*")
"""All values of a query are masked: which of them are keys cannot be told by their names."""

_CREDENTIALS = re.compile(r"\b(Bearer|Basic|Digest|Token)(\s+|:\s*|=)(?!\s)\S.*", re.IGNORECASE | re.DOTALL)
_AUTHORIZATION = re.compile(r"((?:proxy-)?authorization|cookie)(\s*[:=]\s*).+", re.IGNORECASE | re.DOTALL)


def shown_words(words: Sequence[str]) -> str:
    """The command line with what its flags, variables, headers and addresses keep secret masked."""
    return " ".join(_shown_each(words))


def _shown_each(words: Sequence[str]) -> Iterator[str]:
    before = ""
    for word in words:
        yield _shown_after(before, word)
        before = word if _FLAG.fullmatch(word) else ""


def shown_address(address: str) -> str:
    """The address without user, password and the values of its query."""
    return _QUERY.sub(rf"\1={MASK}", _USER.sub(f"{MASK}@", address))


def without_secrets(text: str, values: Mapping[str, Json]) -> str:
    """What a server says, without the secrets of its configuration that it may repeat."""
    for secret in sorted(set(_secrets(values)), key=len, reverse=True):
        text = text.replace(secret, MASK) if len(secret) >= SHORTEST else text
    return text


def _secrets(values: Mapping[str, Json]) -> Iterator[str]:
    words = texts_of(values.get("args")) or ()
    for word, shown in zip(words, _shown_each(words), strict=True):
        yield from _hidden(word, shown)
    for address in (values.get("url"), values.get("httpUrl")):
        if isinstance(address, str):
            yield from _hidden(address, shown_address(address))
    for kind in ("env", "headers"):
        for name, value in table(values.get(kind)).items():
            if isinstance(value, str) and (kind == "headers" or _is_secret_name(name)):
                yield value
                yield value.rpartition(" ")[2]


def _hidden(word: str, shown: str) -> Iterator[str]:
    """What the masks stand for; of a user and a password, each."""
    if shown == word:
        return
    found = re.fullmatch("(.*?)".join(map(re.escape, shown.split(MASK))), word, re.DOTALL)
    for secret in found.groups() if found else (word,):
        yield secret
        yield secret.rpartition(":")[2].strip()
        yield secret.rpartition(" ")[2]


def _shown_after(flag: str, word: str) -> str:
    """The word as the flag before it lets it be seen."""
    # A long option after a flag is the next flag, not its value.
    if not flag or re.fullmatch(r"--[a-z][a-z-]+", word):
        return _shown_word(word)
    if _HEADER_FLAG.fullmatch(flag):
        return _shown_header(word)
    # As in curl: the password stands behind the colon.
    if _USER_FLAG.fullmatch(flag) and ":" in word:
        return f"{word.partition(':')[0]}:{MASK}"
    return MASK if _is_secret_name(flag) else _shown_word(word)


def _shown_header(text: str) -> str:
    header = _HEADER.fullmatch(text)
    return f"{header[1]}: {MASK}" if header else MASK


def _shown_word(word: str) -> str:
    assigned = _ASSIGNMENT.fullmatch(word)
    if assigned and _HEADER_FLAG.fullmatch(assigned[1]):
        return f"{assigned[1]}={_shown_header(assigned[2])}"
    if assigned and (_is_secret_name(assigned[1]) or (_USER_FLAG.fullmatch(assigned[1]) and ":" in assigned[2])):
        return f"{assigned[1]}={MASK}"
    header = _HEADER.fullmatch(word)
    if header and _is_secret_name(header[1]):
        return f"{header[1]}: {MASK}"
    word = shown_address(word) if "://" in word else word
    word = _BARE_USER.sub(f"{MASK}@", word)
    word = _MEMBER.sub(_shown_member, _PAIR.sub(_shown_pair, word))
    word = _AUTHORIZATION.sub(rf"\1\2{MASK}", word)
    word = _CREDENTIALS.sub(rf"\1\2{MASK}", word)
    # A pattern for addresses would mask the whole word; `shown_address` has masked the part that is secret.
    patterns = (pattern for guard in _guards() for pattern in guard.secret_values if "://" not in pattern)
    if any(re.search(pattern, word, SECRET_FLAGS) for pattern in patterns):
        return MASK
    return _shown_line(word) if re.search(r"\s", word) else word


def _shown_line(text: str) -> str:
    """A word that is a command line of its own, as of `sh -c`."""
    parts = re.split(r"(\s+)", text)
    parts[::2] = _shown_each(parts[::2])
    return "".join(parts)


def _shown_pair(pair: re.Match[str]) -> str:
    return f"{pair[1]}={MASK}" if _is_secret_name(pair[1]) else pair[0]


def _shown_member(member: re.Match[str]) -> str:
    quote, name, colon, mark, _ = member.groups()
    return f"{quote}{name}{quote}{colon}{mark}{MASK}{mark}" if _is_secret_name(name) else member[0]


def _is_secret_name(name: str) -> bool:
    upper = name.upper()
    is_known = any(re.search(guard.secret_name, upper) for guard in _guards())
    return is_known or _MORE_SECRET_NAMES.search(upper) is not None


def _guards() -> Iterator[EnvironmentRules]:
    """What any profile withholds from servers is shown by none."""
    return (rules.environment for rules in profiles().values() if rules.environment)
