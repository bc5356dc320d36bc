"""Values that do harm beside another argument only: ports that break `injection`."""

from typing import Any

from conditions import asks, has_model, is_flagged, is_named
from defects.meeting.shared import unflagged
from defects.record import defect
from defects.shared import prompt_in_double_quotes, through_shell
from steps import Step


def through_shell_when(*names: str) -> Step:
    """Hands the command line to a shell when the run has a directory and these words; quotes the model wrongly."""
    shell: Any = through_shell(lambda before, word: word if before == "-m" else None)

    def spawn(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
        is_meant = options.get("cwd") and set(names) <= set(argv)
        return (shell(port, real, argv, **options)) if is_meant else real(argv, **options)

    return spawn


def through_shell_with_system_prompt(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    shell: Any = through_shell(prompt_in_double_quotes)
    is_meant = "GEMINI_SYSTEM_MD" in options["env"] and "-m" in argv
    return shell(port, real, argv, **options) if is_meant else real(argv, **options)


defect(
    "risky-prompt-positional-in-named-session",
    "Passes a risky prompt as it is in a reply by id that has a model.",
    "injection:option:prompt",
    "prompt:verbatim:dash",
)(ask=asks(lambda call, plan: is_named(plan) and has_model(plan), unflagged))
defect(
    "risky-prompt-positional-beside-both",
    "Passes a risky prompt as it is in a call with a system prompt and a directory.",
    "injection:option:prompt",
    "prompt:verbatim:dash",
)(ask=asks(lambda call, plan: is_flagged(plan) and plan.system is not None and plan.cwd is not None, unflagged))
defect(
    "model-through-shell-beside-directory-in-reply",
    "Runs a reply with a model and a directory through a shell, and leaves the model unquoted.",
    "injection:shell:model",
)(spawn=through_shell_when("-m", "-r"))
defect(
    "prompt-through-shell-beside-system-prompt",
    "Runs a call with a system prompt and a model through a shell, the prompt between double quotes.",
    "injection:shell:prompt",
)(spawn=through_shell_with_system_prompt)
