"""Defects in what happens to a prompt on its way to gemini."""

import unicodedata
from collections.abc import Callable

from defects.record import defect
from steps import Step, for_tool, gives, takes


def trusts(test: Callable[[str], bool]) -> Step:
    """Passes the prompts of which `test` holds as they are, however risky."""
    return lambda port, real, prompt: real(prompt) and not test(prompt)


def in_replies(change: Callable[[str], str]) -> Step:
    """Alters the prompts of replies, and only those on the command line."""
    return for_tool("chat-reply", takes(lambda form: tuple(map(change, form))))


empty_passed = takes(lambda prompt: prompt or "x")


defect("newlines-flattened", "Makes one line of the prompt.", "prompt:verbatim:newline")(
    prompt_form=takes(lambda text: text.replace("\n", " "))
)
defect("carriage-returns-dropped", "Drops the carriage returns of a prompt.", "prompt:verbatim:newline")(
    prompt_form=takes(lambda text: text.replace("\r\n", "\n"))
)
defect("newlines-spelt-out", "Sends a newline as a backslash and an n, in replies only.", "prompt:verbatim:newline")(
    argv=in_replies(lambda text: text.replace("\n", "\\n"))
)
defect("prompt-composed", "Composes combining marks.", "prompt:verbatim:unicode")(
    prompt_form=takes(lambda text: unicodedata.normalize("NFC", text))
)
defect("emoji-lost", "Replaces characters beyond the basic plane by question marks.", "prompt:verbatim:unicode")(
    prompt_form=takes(lambda text: "".join(letter if letter <= "\uffff" else "?" for letter in text))
)
defect("prompt-stripped", "Strips the prompt.", "prompt:verbatim:blanks")(
    prompt_form=takes(lambda text: text.strip() or text)
)
defect(
    "last-blank-lost",
    "Takes trailing blanks off a prompt, in replies only.",
    "prompt:verbatim:blanks",
    "prompt:verbatim:newline",
)(argv=in_replies(str.rstrip))
defect("quotes-escaped", "Escapes double quotes as if a shell would read them.", "prompt:verbatim:quotes")(
    prompt_form=takes(lambda text: text.replace('"', '\\"'))
)
defect("backslashes-halved", "Reads a double backslash as one.", "prompt:verbatim:quotes")(
    prompt_form=takes(lambda text: text.replace("\\\\", "\\"))
)
defect(
    "dash-prompt-positional",
    "Passes a prompt that starts with a dash as it is.",
    "injection:option:prompt",
    "prompt:verbatim:dash",
)(is_risky=trusts(lambda text: text.startswith("-")))
defect("dash-prompt-behind-blank", "Puts a blank before a prompt that starts with a dash.", "prompt:verbatim:dash")(
    prompt_form=takes(lambda text: f" {text}" if text.startswith("-") else text)
)
defect(
    "dash-prompt-behind-double-dash",
    "Passes a prompt that starts with a dash behind `--`, where gemini loses it.",
    "prompt:verbatim:dash",
)(prompt_form=lambda port, real, text: (("--", text), None) if text.startswith("-") else real(text))
defect("command-word-positional", "Passes a prompt that is a command word as it is.", "prompt:verbatim:command-word")(
    is_risky=trusts(str.isalpha)
)
defect("number-positional", "Passes a prompt that looks like a number as it is.", "prompt:verbatim:number")(
    is_risky=trusts(lambda text: not text.startswith("-") and not text.isalpha())
)
defect("hexadecimal-positional", "Knows decimal numbers only.", "prompt:verbatim:number")(
    is_risky=trusts(lambda text: text.lower().startswith("0x"))
)
defect("last-point-overlooked", "Takes a number that ends in a point for a word.", "prompt:verbatim:number")(
    is_risky=trusts(lambda text: text.endswith("."))
)
defect("older-commands-only", "Does not know the other names of a command.", "prompt:verbatim:command-word")(
    is_risky=trusts(lambda text: text in ("extension", "skills", "hook"))
)
defect("quotes-taken-off", "Takes the quotes off a prompt that stands in them.", "prompt:verbatim:quotes")(
    prompt_form=takes(lambda text: text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text)
)
defect("at-signs-escaped", "Puts a backslash before each @.", "prompt:verbatim:at-sign")(
    prompt_form=takes(lambda text: text.replace("@", "\\@"))
)
defect("slash-behind-blank", "Puts a blank before a prompt that starts with a slash.", "prompt:verbatim:slash")(
    prompt_form=takes(lambda text: f" {text}" if text.startswith("/") else text)
)
defect("prompt-cut-at100000", "Cuts prompts after 100,000 characters.", "prompt:verbatim:128000")(
    prompt_form=takes(lambda text: text[:100_000])
)
defect("long-prompt-on-command-line", "Passes every prompt on the command line, however long.", "prompt:long")(
    prompt_form=gives(lambda form: form if form[1] is None else ((form[1],), None))
)
defect("length-in-characters", "Counts characters where the system counts bytes.", "prompt:long")(
    prompt_form=gives(lambda form: ((f"--prompt={form[1]}",), None) if form[1] and len(form[1]) <= 128_000 else form)
)
defect("long-prompt-cut", "Cuts a prompt to what one argument can hold.", "prompt:long:whole", "prompt:long")(
    prompt_form=takes(lambda text: text.encode()[:128_000].decode("utf-8", "ignore"))
)
defect("stdin-cut-at64-ki-b", "Writes no more of a prompt than fits into a pipe.", "prompt:long:whole", "prompt:long")(
    input=takes(lambda text: text and text.encode()[: 1 << 16].decode("utf-8", "ignore"))
)
defect("newline-after-long-prompt", "Ends a prompt on stdin with a newline of its own.", "prompt:long")(
    input=takes(lambda text: text and f"{text}\n")
)
defect("over-limit-accepted", "Passes on more than gemini reads.", "prompt:over-limit", "prompt:long:whole")(
    check_prompt=takes(lambda prompt: prompt[:1000])
)
defect("empty-prompt-dropped", "Runs gemini without a prompt when it is empty.", "prompt:empty:kept", "prompt:empty")(
    check_prompt=empty_passed, prompt_form=lambda port, real, prompt: real(prompt) if prompt else ((), None)
)
defect(
    "empty-reply-goes-on",
    "Replaces the empty prompt of a reply by one of its own.",
    "prompt:empty:kept",
    "prompt:empty",
)(check_prompt=for_tool("chat-reply", empty_passed), prompt_form=takes(lambda prompt: prompt or "continue"))
defect("empty-prompt-passed", "Passes an empty prompt on, so that gemini has to refuse it.", "prompt:empty")(
    check_prompt=empty_passed
)
