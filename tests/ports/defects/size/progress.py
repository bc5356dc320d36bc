"""Tokens and counts that outgrow their place: ports that break `progress`."""

from typing import Any

from conditions import every
from defects.record import defect
from defects.shared import with_token
from defects.size.shared import cut_text, in_32_bits, is_negative, rounded
from steps import gives


def short_tokens(port: Any, real: Any, params: Any) -> Any:
    token = real(params)
    return None if isinstance(token, str) and len(token) > 256 else token


defect("second-progress-falls", "Counts progress from one again at every second notification.", "progress:increase")(
    progress=every(2, gives(lambda message: {**message, "params": {**message["params"], "progress": 1}}))
)
defect("progress-told-thrice", "Tells progress three times to a call and no more.", "progress:interval")(
    report_progress=lambda port, real, call: real(call) if call.progress < 3 else None
)
defect("negative-tokens-overlooked", "Takes a negative progress token for none.", "progress:start")(
    token=gives(lambda token: None if is_negative(token) else token)
)
defect("large-tokens-overlooked", "Takes a progress token beyond 32 bits for none.", "progress:start")(
    token=gives(lambda token: token if token is None or in_32_bits(token) else None)
)
defect("tokens-over-256-overlooked", "Tells no progress to a token of more than 256 characters.", "progress:start")(
    token=short_tokens
)
defect("tokens-through-doubles", "Rounds progress tokens beyond 2^53.", "progress:token")(progress=with_token(rounded))
defect("long-tokens-cut", "Cuts a progress token after 64 characters.", "progress:token")(
    progress=with_token(cut_text(64))
)
defect("fractions-of-tokens-lost", "Makes a whole number of a token that is a fraction.", "progress:token")(
    progress=with_token(lambda token: int(token) if isinstance(token, float) else token)
)
