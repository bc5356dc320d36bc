"""A token that is written as it is, without escapes: ports that break `stdio:stdout`."""

import json
from typing import Any

from defects.record import defect
from speaking import Message


def quotes_raw(port: Any, real: Any, message: Message) -> bytes:
    line, token = real(message), message.get("params", {}).get("progressToken")
    return line.replace(json.dumps(token).encode(), f'"{token}"'.encode()) if isinstance(token, str) else line


defect("quotes-of-tokens-raw", "Writes a text token into a notification as it is.", "stdio:stdout")(encoded=quotes_raw)
