"""Witness: describes the exchange or the observation that a verdict rests on in one line; pure."""

from __future__ import annotations

import json
from collections.abc import Mapping

from gemini_mcp.spec.values import Json, items, table
from gemini_mcp_conformance.see.memo import remembered
from gemini_mcp_conformance.see.observation import Exchange, Observation, Run

SHORT = 300


@remembered
def of_exchange(exchange: Exchange) -> str:
    """What was asked, what gemini was given, what was answered."""
    asked = f"{exchange.label}: {exchange.method} {shown(_without_meta(exchange.params))}"
    runs = [f"ran gemini {argv_shown(run)}" for run in exchange.runs]
    runs += [f"listed sessions with gemini {argv_shown(run)}" for run in exchange.listings]
    answered = f"answered {shown(_body(exchange.answer))}" if exchange.answer else f"no answer{why_silent(exchange)}"
    return "; ".join((asked, *runs, answered))


@remembered
def of_observation(observation: Observation) -> str:
    """How much was asked, and how the port ended."""
    # How often progress is told, and whether a cancelled call had begun, differs from run to run.
    answered = [exchange for exchange in observation.exchanges if exchange.answers]
    runs = sum(len(exchange.runs) for exchange in answered)
    asked = f"{len(observation.exchanges)} requests, {len(answered)} answered, {runs} runs of gemini for those"
    parts = [f"{observation.conversation.id}: {asked}"]
    if observation.exit is not None:
        parts.append(f"{observation.exit.asked} asked the port to end, exit code {observation.exit.code}")
    if observation.died is not None:
        parts.append(f"the port {observation.died}")
    return "; ".join(parts)


def reply(exchange: Exchange, asked: str) -> str:
    """What the port answered, as the beginning of a complaint."""
    if exchange.answer is None:
        return f"The port gave no answer to {asked}{why_silent(exchange)}"
    return f"The port answered {asked} with {shown(exchange.answer)}"


def why_silent(exchange: Exchange) -> str:
    """How long an answer was waited for, or why nobody waited; the words follow "no answer"."""
    if exchange.silence == "timeout":
        return f" within {exchange.waited:.3g} s"
    if exchange.silence == "closed":
        return " in its HTTP response"
    return f" ({exchange.silence})" if exchange.silence else ""


def argv_shown(run: Run) -> str:
    """A command line for a reader, its elements apart."""
    return shown([argument.decode("utf-8", "replace") for argument in run.call.argv])


def shown(value: Json) -> str:
    """JSON for a reader, its middle left out when it is long."""
    text = json.dumps(_brief(value), ensure_ascii=False).encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= SHORT else f"{text[: SHORT // 2]} … {text[-SHORT // 3 :]} ({len(text)} characters)"


def bytes_shown(data: bytes) -> str:
    """Bytes for a reader, as the text that they should be."""
    return shown(data.decode("utf-8", "backslashreplace"))


def stderr_shown(stderr: bytes, root: str) -> str:
    """The end of what a port wrote to stderr, as a sentence; empty when it wrote nothing. `root` is not shown."""
    text = stderr.decode("utf-8", "replace").strip()
    return f" Its stderr ends: {shown(text.replace(root, '{root}')[-500:])}." if text else ""


def _brief(value: Json) -> Json:
    """The value with the middle of each long text left out, because writing megabytes as JSON is slow."""
    if isinstance(value, str) and len(value) > 3 * SHORT:
        return f"{value[:SHORT]} … {value[-SHORT:]} ({len(value)} characters)"
    if isinstance(value, Mapping):
        return {key: _brief(item) for key, item in table(value).items()}
    return [_brief(item) for item in items(value)] if isinstance(value, list | tuple) else value


def _body(answer: Mapping[str, Json]) -> Json:
    return answer.get("result", answer.get("error", answer))


def _without_meta(params: Mapping[str, Json]) -> Json:
    return {key: value for key, value in params.items() if key != "_meta"}
