"""Keys of one kind, at one place, that are not masked: ports that break `error:secrets`."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from answering import KEYS, STDERR_LIMIT, Failure
from defects.privacy.shared import of_report
from defects.record import defect
from defects.shared import sparing
from steps import Step, takes


def fifth_line_on(port: Any, real: Any, text: str) -> str:
    """Masks keys in the first lines only."""
    lines = text.split("\n")
    return "\n".join([real("\n".join(lines[:4])), *lines[4:]]) if len(lines) > 4 else real(text)


def shows_except(pattern: str) -> Step:
    """Of `masked`: leaves some of the keys."""
    spared = re.compile(pattern)
    return lambda port, real, text: KEYS.sub(lambda found: found[0] if spared.search(found[0]) else "[masked]", text)


def says_unmasked(failure: Failure) -> Failure:
    said = f" Gemini CLI says: {failure.said}" if failure.said else ""
    return replace(failure, sentence=failure.sentence + said, said=None)


def is_unended(key: str) -> bool:
    return key.startswith("-----BEGIN") and "-----END" not in key


def masks_ended(port: Any, real: Any, text: str) -> str:
    return KEYS.sub(lambda key: key[0] if is_unended(key[0]) else "[masked]", text)


def masks_no_amazon(port: Any, real: Any, text: str) -> str:
    return KEYS.sub(lambda key: key[0] if key[0].startswith("AKIA") else "[masked]", text)


def masks_capital_bearer(port: Any, real: Any, text: str) -> str:
    return KEYS.sub(lambda key: key[0] if text[: key.start()].endswith("bearer ") else "[masked]", text)


def keys_kept(port: Any, failure: Failure) -> str:
    return port.withheld(failure.said, failure.private)


def is_behind(mark: str) -> Callable[[re.Match[str]], bool]:
    """Of a key: whether this stands in front of it."""
    return lambda key: key.string[: key.start()].endswith(mark)


def looks_like(pattern: str) -> Callable[[re.Match[str]], object]:
    """Of a key: whether it matches this."""
    return lambda key: re.search(pattern, key[0])


def rest_shown(port: Any, real: Any, text: str) -> str:
    return KEYS.sub(lambda key: "[masked]" + (key[0][key[0].index(".", 5) :] if "." in key[0][5:] else ""), text)


def beside(pattern: str) -> Step:
    """Of `masked`: masks nothing in a text that holds this."""
    return lambda port, real, text: text if re.search(pattern, text) else real(text)


def mixed_case_shown(port: Any, real: Any, text: str) -> str:
    def shown(key: re.Match[str]) -> str:
        name = text[max(0, key.start() - 4) : key.start()]
        return key[0] if name.lower() == "key=" and name not in ("key=", "KEY=") else "[masked]"

    return KEYS.sub(shown, text)


def is_of_other_scheme(key: re.Match[str]) -> bool:
    before = key.string[: key.start()]
    return before.endswith("://") and not before.endswith(("http://", "https://"))


def masks() -> list[str]:
    return re.split(r"\|(?=AIza|ya29|\\b|\(\?<=|-----BEGIN)", KEYS.pattern)


def without_masks(*words: str) -> Step:
    """Does not know the masks of keys in which one of these words stands."""
    pattern = "|".join(mask for mask in masks() if not any(word in mask for word in words))
    return lambda port, real, text: re.sub(pattern, "[masked]", text)


def masked_but(mended: Callable[[re.Match[str]], str]) -> Step:
    """Of `masked`: puts something else in the place of a key."""
    return lambda port, real, text: KEYS.sub(mended, text)


def up_to(marks: str) -> Callable[[re.Match[str]], str]:
    """Masks a key up to the first of these characters, from its fifth character on."""
    return lambda key: re.sub(
        rf"\A(.{{4}}[^{marks}]*)(?:[{marks}][\s\S]*)?\Z", lambda found: "[masked]" + key[0][len(found[1]) :], key[0]
    )


def first_kind_masked(port: Any, real: Any, text: str) -> str:
    """Leaves at the first pattern that fits."""
    first = KEYS.search(text)
    return KEYS.sub(lambda key: "[masked]" if first and key[0][:2] == first[0][:2] else key[0], text)


defect("keys-of-fifth-line-shown", "Masks keys in the first four lines of stderr.", "error:secrets")(
    masked=fifth_line_on
)
defect("slack-tokens-of-users-shown", "Masks no token of Slack but those of bots.", "error:secrets")(
    masked=shows_except("^xox[^b]-")
)
defect("fine-tokens-of-github-shown", "Masks no token that begins with `github_pat_`.", "error:secrets")(
    masked=shows_except("^github_pat_")
)
defect("unsigned-web-tokens-shown", "Masks no JSON web token without a signature.", "error:secrets")(
    masked=shows_except(r"^eyJ[^.]*\.[^.]*\.$")
)
defect("keys-shown", "Leaves keys in stderr.", "error:secrets")(masked=lambda port, real, text: text)
defect("keys-in-message-shown", "Masks keys in stderr but not in gemini's own message.", "error:secrets")(
    error=takes(says_unmasked)
)
defect("unended-private-key-shown", "Masks no private key whose end is missing.", "error:secrets")(masked=masks_ended)
defect("amazon-keys-shown", "Masks no key of Amazon.", "error:secrets")(masked=masks_no_amazon)
defect("small-bearer-shown", "Masks no token behind the word `bearer` in small letters.", "error:secrets")(
    masked=masks_capital_bearer
)
defect(
    "keys-of-report-shown",
    "Masks no key in an error that gemini reports with exit code 0.",
    "error:secrets",
)(error=of_report(keys_kept))
defect("quoted-keys-shown", "Masks no key in double quotes.", "error:secrets")(masked=sparing(is_behind('"')))
defect("keys-of-capital-parameters-shown", "Masks `key=` but not `KEY=`.", "error:secrets")(
    masked=sparing(is_behind("KEY="))
)
defect("other-tokens-of-github-shown", "Masks no `ghs_` and no `gho_`.", "error:secrets")(
    masked=sparing(looks_like("^gh[os]_"))
)
defect("labelled-private-keys-shown", "Masks no private key of a named kind.", "error:secrets")(
    masked=sparing(looks_like("^-----BEGIN [A-Z ]+ PRIVATE"))
)
defect("keys-at-end-shown", "Masks no key that ends stderr.", "error:secrets")(
    masked=sparing(lambda key: key.end() == len(key.string.rstrip("\n")))
)
defect("keys-at-beginning-shown", "Masks no key that begins stderr.", "error:secrets")(
    masked=sparing(lambda key: key.start() == 0)
)
defect("rest-of-dotted-keys-shown", "Masks a key up to its first point.", "error:secrets")(masked=rest_shown)
defect("keys-beside-wide-text-shown", "Masks no key in a stderr that is not ASCII.", "error:secrets")(
    masked=beside("[^\x00-\x7f]")
)
defect("keys-beside-json-shown", "Masks no key in a stderr with JSON.", "error:secrets")(masked=beside(r"\{\s*\""))
defect("keys-beside-returns-shown", "Masks no key in a stderr whose lines end in CRLF.", "error:secrets")(
    masked=beside("\r\n")
)
defect(
    "keys-of-mixed-parameters-shown",
    "Masks `key=` and `KEY=`, but not `apiKey=`.",
    "error:secrets",
)(masked=mixed_case_shown)
defect(
    "keys-with-dashes-shown",
    "Masks no key that begins with `sk-` and has another dash.",
    "error:secrets",
)(masked=sparing(lambda key: key[0].startswith("sk-") and "-" in key[0][3:]))
defect(
    "users-of-other-schemes-shown",
    "Masks the user in an address of http and https alone.",
    "error:secrets",
)(masked=sparing(is_of_other_scheme))
defect("bearer-shown", "Masks no token behind the word Bearer.", "error:secrets")(masked=without_masks("earer"))
defect("private-key-shown", "Masks no private key.", "error:secrets")(masked=without_masks("PRIVATE"))
defect("web-tokens-shown", "Masks no JSON web token.", "error:secrets")(masked=without_masks("eyJ"))
defect("access-tokens-shown", "Masks no access token of an account.", "error:secrets")(masked=without_masks("ya29"))
defect("users-of-addresses-shown", "Masks no user in an address.", "error:secrets")(masked=without_masks("://"))
defect("keys-of-addresses-shown", "Masks no key in an address.", "error:secrets")(masked=without_masks("[Kk][Ee][Yy]"))
defect("keys-of-others-shown", "Masks keys of Google alone.", "error:secrets")(
    masked=without_masks("sk-", "gh[", "github", "xox", "AKIA")
)
defect("second-key-shown", "Masks one key and no other.", "error:secrets")(
    masked=lambda port, real, text: KEYS.sub("[masked]", text, count=1)
)
defect("cut-before-masked", "Cuts stderr before it masks keys, so that half a key is none.", "error:secrets")(
    stderr_part=takes(lambda failure: replace(failure, stderr=failure.stderr and failure.stderr[-STDERR_LIMIT:]))
)
defect("key-shown-behind-underscore", "Masks a key up to its first underscore.", "error:secrets")(
    masked=masked_but(up_to("_"))
)
defect("bearer-shown-behind-slash", "Masks a key up to its first slash, plus or equals sign.", "error:secrets")(
    masked=masked_but(up_to("/+="))
)
defect("user-with-password-shown", "Masks no user with a password in an address.", "error:secrets")(
    masked=masked_but(lambda key: key[0] if key.string[: key.start()].endswith("://") and ":" in key[0] else "[masked]")
)
defect("one-kind-of-keys-masked", "Masks keys of the first kind that it finds alone.", "error:secrets")(
    masked=first_kind_masked
)
