"""What gemini inherits from the server that starts it: ports that break `process`."""

import re
from typing import Any

from conditions import without_variables
from defects.record import defect
from running import LIST

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def home_of_replies(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    if "-r" in argv:
        options["env"] = {**options["env"], "HOME": "/"}
    return real(argv, **options)


def listing_in_language(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    if LIST in argv:
        options["env"] = {name: value for name, value in options["env"].items() if name != "HOME"}
    return real(argv, **options)


defect("wide-variables-lost", "Hands no variable on whose value is not ASCII.", "process:environment")(
    environment=without_variables(lambda name, value: not value.isascii())
)
defect("variables-of-gemini-lost", "Hands no variable of gemini on but its key.", "process:environment")(
    environment=without_variables(
        lambda name, value: name.startswith("GEMINI_") and name not in ("GEMINI_API_KEY", "GEMINI_SYSTEM_MD")
    )
)
defect("variables-of-cloud-lost", "Hands no variable on that begins with `GOOGLE_`.", "process:environment")(
    environment=without_variables(lambda name, value: name.startswith("GOOGLE_"))
)
defect("home-of-replies-replaced", "Gives replies another HOME.", "process:environment")(spawn=home_of_replies)
defect("home-of-list-lost", "Asks for the list of sessions without HOME.", "process:environment")(
    spawn=listing_in_language
)
defect(
    "lower-case-variables-lost",
    "Hands no variable on whose name is in lower case.",
    "process:environment",
)(environment=without_variables(lambda name, value: name.islower()))
defect(
    "variables-of-odd-names-lost",
    "Hands no variable on whose name a shell could not write.",
    "process:environment",
)(environment=without_variables(lambda name, value: not NAME.fullmatch(name)))
