"""Defects at round numbers of variables, of their characters, and of answers."""

from typing import Any

from conditions import from_time, without_variables
from defects.record import defect
from steps import gives


def most_variables(port: Any, real: Any, path: str | None) -> dict[str, str]:
    environ = real(path)
    names = [name for name in environ if name != "GEMINI_SYSTEM_MD"]
    return {name: text for name, text in environ.items() if name not in names[64:]}


defect("variables-beyond-64-lost", "Hands no more than 64 variables on.", "process:environment")(
    environment=most_variables
)
defect("large-variables-lost", "Hands no variable on of more than 8 KiB.", "process:environment")(
    environment=without_variables(lambda name, value: len(value) > 8192)
)
defect(
    "sessions-named-thirty-times",
    "Names no session from the thirtieth answer on.",
    "result:session-id",
)(success=from_time(30, gives(lambda result: {name: value for name, value in result.items() if name != "_meta"})))
