"""Defects in values: prompts, arguments, directories and answers that only certain texts or neighbours get wrong."""

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from answering import KEYS, QUOTA, Answer, Failure, Outcome
from defects.record import defect
from planning import STDIN_LIMIT, Plan, Refusal
from running import LISTING_TIMEOUT
from steps import gives, takes

UNITS = 1 << 16
REFERENCES = {"$": "$", "&": "{prompt}", "`": "--prompt=", "'": ""}
"""What JavaScript's `replace` puts in the place of a dollar sign and one of these."""
NAIVE = re.compile(r'(?<!\\)"|[{}]')
RIGHT = re.compile(r'\\.|"|[{}]', re.DOTALL)


def filled_by_replace(form: tuple[tuple[str, ...], str | None]) -> tuple[tuple[str, ...], str | None]:
    words, stdin = form
    return tuple(filled(word) if word.startswith("--prompt=") else word for word in words), stdin


def filled(word: str) -> str:
    return re.sub(r"\$([$&`'])", lambda found: REFERENCES[found[1]], word)


def in_pieces_of_units(text: str) -> str:
    """As bytes that are made of 65,536 UTF-16 units at a time."""
    units = text.encode("utf-16-le")
    pieces = (units[start : start + 2 * UNITS] for start in range(0, len(units), 2 * UNITS))
    return "".join(piece.decode("utf-16-le", "replace") for piece in pieces)


def dashes_first(port: Any, real: Any, prompt: str) -> Any:
    """Looks for a dash before it looks at the length."""
    return ((f"--prompt={prompt}",), None) if prompt.startswith("-") else real(prompt)


def measures_escapes(port: Any, real: Any, tool: str, prompt: str) -> None:
    if len(json.dumps(prompt)) > STDIN_LIMIT + 2:
        raise Refusal("`prompt` is longer than the 8388608 bytes that gemini reads.")
    real(tool, prompt)


def low_halves_replaced(port: Any, real: Any, tool: str, name: str, value: Any) -> str:
    return real(tool, name, re.sub("[\udc00-\udfff]", "\ufffd", value) if isinstance(value, str) else value)


def read_if_path(text: str | None) -> str | None:
    return Path(text).read_text("utf-8", "replace") if text and os.path.isfile(text) else text


def listed_by_shell(port: Any, real: Any, call: Any, plan: Plan) -> Outcome | None:
    if plan.cwd is None:
        return real(call, plan)
    argv = ("sh", "-c", f'cd "{plan.cwd}" && exec gemini --list-sessions')
    with suppress(Failure):
        return port.run(call, argv, None, port.environment(None), None, LISTING_TIMEOUT)
    return None


def relative_to_variable(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    if "cwd" not in texts:
        return real(tool, texts)
    return real(tool, {**texts, "cwd": os.path.join(os.environ.get("PWD", ""), texts["cwd"])})


def notice_alone(port: Any, real: Any, answer: Answer) -> Any:
    """The notice of an empty text replaces the session."""
    return real(answer if answer.text else replace(answer, session=None))


def ends(text: str, mark: re.Pattern[str]) -> bool:
    """Whether the first object of the text ends, when these marks are counted."""
    depth, is_quoted = 0, False
    for found in mark.finditer(text, max(0, text.find("{"))):
        if found[0] == '"':
            is_quoted = not is_quoted
        elif found[0] in "{}" and not is_quoted:
            depth += 1 if found[0] == "{" else -1
            if depth == 0:
                return True
    return False


def looks_back_one(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    """Takes a quotation mark behind a backslash for a part of the text, also when the backslash is escaped itself."""
    if ends(stdout, RIGHT) and not ends(stdout, NAIVE):
        raise Failure("gemini ended in the middle of its answer: its JSON is incomplete.", stderr)
    return real(stdout, stderr)


def counts_quotes(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    """Knows from the first character on whether it stands in quotes, where no object can begin."""
    start = stdout.find("{")
    return port.plain_text(stdout) if start > 0 and stdout.count('"', 0, start) % 2 else real(stdout, stderr)


def quota_counts(port: Any, real: Any, outcome: Outcome) -> Answer:
    answer, stderr = real(outcome), port.decode(outcome.stderr)
    if QUOTA.search(stderr):
        raise Failure("The quota of the Gemini API is used up.", stderr)
    return answer


def keys_as_words(port: Any, real: Any, text: str) -> str:
    """Wants a key to begin where a word begins, as it does not behind the escape of a colour."""

    def mask(found: re.Match[str]) -> str:
        before = found.string[: found.start()][-1:]
        is_inside = found[0].startswith("AIza") and (before.isalnum() or before == "_")
        return found[0] if is_inside else "[masked]"

    return KEYS.sub(mask, text)


def either_list(port: Any, real: Any, listing: Outcome) -> str:
    stdout = port.decode(listing.stdout)
    return stdout if stdout.strip() else port.decode(listing.stderr)


defect(
    "dollars-of-flagged-prompt-read",
    "Fills a prompt into `--prompt={prompt}` as JavaScript does, which reads `$$` and `$&` in it.",
    "prompt:verbatim:dash",
)(prompt_form=gives(filled_by_replace))
defect(
    "pairs-of-long-prompt-divided",
    "Writes a prompt to stdin in pieces of 65,536 UTF-16 units, each encoded by itself.",
    "prompt:long",
)(input=takes(lambda text: text and in_pieces_of_units(text)))
defect(
    "long-dash-prompt-on-command-line",
    "Passes a prompt that starts with a dash on the command line, however long it is.",
    "prompt:long",
)(prompt_form=dashes_first)
defect(
    "prompt-measured-in-escapes",
    "Measures a prompt as JSON writes it in ASCII, and refuses one that is short enough.",
    "prompt:long",
)(check_prompt=measures_escapes)
defect(
    "low-surrogates-replaced",
    "Refuses a high surrogate that is alone, but replaces a low one.",
    "arguments:surrogate",
)(text=low_halves_replaced)
defect(
    "system-prompt-read-from-path",
    "Reads the system prompt from a file when it is the path of one.",
    "system:content",
)(system=gives(read_if_path))
defect(
    "listing-through-shell",
    "Changes to the directory of the call by a shell, but only for the list of sessions.",
    "injection:shell:cwd",
)(list_sessions=listed_by_shell)
defect(
    "relative-to-variable",
    "Resolves a relative directory against PWD, which need not be where the server runs.",
    "cwd:relative",
)(cwd=relative_to_variable)
defect(
    "variables-of-lines-cut",
    "Hands on the first line of a variable, as the output of `env` is often read.",
    "process:environment",
)(environment=gives(lambda variables: {name: value.split("\n")[0] for name, value in variables.items()}))
defect(
    "session-lost-beside-notice",
    "Names no session when it has to say that the answer is empty.",
    "result:session-id",
)(success=notice_alone)
defect(
    "last-backslash-misread",
    "Does not find the end of an answer whose text ends with a backslash.",
    "result:text",
)(read_stdout=looks_back_one)
defect(
    "quote-in-notice-hides-json",
    "Does not find JSON behind a notice with one quotation mark.",
    "result:json:notice-before",
)(read_stdout=counts_quotes)
defect(
    "quota-of-success-counts",
    "Calls a success an error when gemini has said on stderr that it had to wait for its quota.",
    "result:success",
)(read=quota_counts)
defect(
    "causes-looked-for-in-tail",
    "Cuts stderr before it looks for what it can explain.",
    "error:quota",
)(exit_sentence=lambda port, real, exit, stderr: real(exit, port.tail(stderr)))
defect("coloured-keys-shown", "Masks no key behind the escape of a colour.", "error:secrets")(masked=keys_as_words)
defect(
    "list-behind-notice-unread",
    "Reads stderr for the list only when there is nothing on stdout, not even a notice.",
    "fallback:stderr",
)(list_text=either_list)
