"""Prompts that are empty or too long, judged wrongly: ports that break `prompt:empty` or `prompt:over-limit`."""

from defects.record import defect
from steps import for_tool, takes

empty_passed = takes(lambda prompt: prompt or "x")


defect("empty-prompt-passed", "Passes an empty prompt on, so that gemini has to refuse it.", "prompt:empty")(
    check_prompt=empty_passed
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
defect("over-limit-accepted", "Passes on more than gemini reads.", "prompt:over-limit", "prompt:long:whole")(
    check_prompt=takes(lambda prompt: prompt[:1000])
)
