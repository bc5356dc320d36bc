"""Long prompts that take the wrong way or lose a part: ports that break `prompt:long`."""

from typing import Any

from conditions import stdin_changed
from defects.call.shared import pieces
from defects.record import defect
from planning import STDIN_LIMIT, Refusal
from steps import gives, takes


def surrogates_measured(port: Any, real: Any, tool: str, prompt: str) -> None:
    real(tool, prompt)
    pairs = len(prompt.encode("utf-16-le")) // 2 - len(prompt)
    if len(prompt.encode()) + 2 * pairs > STDIN_LIMIT:
        raise Refusal("`prompt` is longer than the 8388608 bytes that gemini reads.")


defect("long-prompt-on-command-line", "Passes every prompt on the command line, however long.", "prompt:long")(
    prompt_form=gives(lambda form: form if form[1] is None else ((form[1],), None))
)
defect("length-in-characters", "Counts characters where the system counts bytes.", "prompt:long")(
    prompt_form=gives(lambda form: ((f"--prompt={form[1]}",), None) if form[1] and len(form[1]) <= 128_000 else form)
)
defect("newline-after-long-prompt", "Ends a prompt on stdin with a newline of its own.", "prompt:long")(
    input=takes(lambda text: text and f"{text}\n")
)
defect(
    "emoji-measured-as-surrogates",
    "Counts six bytes for each character beyond U+FFFF when it measures whether a prompt is too long.",
    "prompt:long",
)(check_prompt=surrogates_measured)
defect(
    "carriage-return-between-pieces",
    "Loses a carriage return that ends a piece of 65536 characters on stdin.",
    "prompt:long",
    "prompt:verbatim:newline",
)(prompt_form=stdin_changed(lambda text: "".join(piece.removesuffix("\r") for piece in pieces(text, 65536))))
defect(
    "stdin-lines-scanned",
    "Turns CRLF into LF in a prompt that goes to stdin.",
    "prompt:long",
)(prompt_form=stdin_changed(lambda prompt: prompt.replace("\r\n", "\n")))
defect("long-prompt-cut", "Cuts a prompt to what one argument can hold.", "prompt:long:whole", "prompt:long")(
    prompt_form=takes(lambda text: text.encode()[:128_000].decode("utf-8", "ignore"))
)
defect("stdin-cut-at64-ki-b", "Writes no more of a prompt than fits into a pipe.", "prompt:long:whole", "prompt:long")(
    input=takes(lambda text: text and text.encode()[: 1 << 16].decode("utf-8", "ignore"))
)
