"""Values that a shell or gemini takes for more than values: ports that break `injection`."""

import shlex
from collections.abc import Mapping
from typing import Any

from defects.call.shared import trusts
from defects.record import defect
from defects.shared import in_double_quotes, prompt_in_double_quotes, through_shell
from planning import ARGUMENT_LIMIT
from steps import always, only, takes


def unchecked_beside_long_prompt(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Any:
    prompt, model = arguments.get("prompt"), arguments.get("model")
    if not (isinstance(prompt, str) and len(prompt) > ARGUMENT_LIMIT and isinstance(model, str) and model[:1] == "-"):
        return real(tool, arguments)
    return {**real(tool, {**arguments, "model": ""}), "model": model}


def cd_through_shell(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    cwd = options.pop("cwd")
    change = f'cd "{cwd}" && ' if cwd else ""
    return real(("/bin/sh", "-c", change + shlex.join(argv)), **options)


defect("option-like-model-passed", "Passes a model that starts with a dash.", "injection:option:model")(
    check_word=only(lambda name, text: name != "model")
)
defect(
    "model-split-at-blanks",
    "Splits the model into words, each of them an argument.",
    "injection:option:model",
    "command:chat:model",
)(
    check_word=takes(lambda text: text.lstrip("-") or "x"),
    model_option=lambda port, real, tool, texts: ("-m", *texts["model"].split()) if "model" in texts else (),
)
defect(
    "model-unchecked-beside-long-prompt",
    "Passes a model that starts with a dash when the prompt goes to stdin.",
    "injection:option:model",
)(texts=unchecked_beside_long_prompt)
defect(
    "dash-prompt-positional",
    "Passes a prompt that starts with a dash as it is.",
    "injection:option:prompt",
    "prompt:verbatim:dash",
)(is_risky=trusts(lambda text: text.startswith("-")))
defect("option-like-session-id-passed", "Passes a session that starts with a dash.", "injection:option:session-id")(
    check_word=only(lambda name, text: name != "sessionId")
)
defect(
    "cwd-through-shell",
    "Changes the directory in a line for the shell, and does not check it.",
    "injection:shell:cwd",
)(check_cwd=always(None), spawn=cd_through_shell)
defect("model-through-shell", "Puts the model unquoted into a line for the shell.", "injection:shell:model")(
    spawn=through_shell(lambda before, word: word if before == "-m" else None)
)
defect(
    "prompt-through-shell", "Puts the prompt between double quotes into a line for the shell.", "injection:shell:prompt"
)(spawn=through_shell(prompt_in_double_quotes))
defect(
    "risky-prompt-through-shell",
    "Quotes every prompt for the shell but those that follow `--prompt=`.",
    "injection:shell:prompt",
)(spawn=through_shell(lambda _, word: in_double_quotes(word) if word.startswith("--prompt=") else None))
defect(
    "session-id-through-shell",
    "Puts the session between double quotes into a line for the shell.",
    "injection:shell:session-id",
)(spawn=through_shell(lambda before, word: f'"{word}"' if before == "-r" else None))
