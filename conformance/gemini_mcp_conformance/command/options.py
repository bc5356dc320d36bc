"""Makes the options of a run from the parsed command line. Options that do not go together are a UsageError."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence

from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.play.patience import Patience
from gemini_mcp_conformance.play.target import Target
from gemini_mcp_conformance.play.tracks import JOBS
from gemini_mcp_conformance.run.options import Options
from gemini_mcp_conformance.run.progress import OnProgress
from gemini_mcp_conformance.run.selection import Selection

SERVER = (sys.executable, "-m", "gemini_mcp.cli")
HOST_ADAPTER = (sys.executable, "-m", "gemini_mcp.host.adapter")

DEFAULTS: Mapping[str, object] = {
    "direction": "server",
    "profile": None,
    "only": (),
    "skip": (),
    "spec": None,
    "spec_version": None,
    "examples": 100,
    "thorough": False,
    "seed": None,
    "jobs": JOBS,
    "patience": 1.0,
    "strict": False,
    "fail_fast": False,
    "budget": None,
    "source": None,
}
"""Values for the subcommands that do not have these options."""

THOROUGHLY = 5
"""How many times as many generated calls a thorough run makes."""

NOT_FOR_HOSTS = ("url", "fake", "env", "keep_home")


def server(
    given: argparse.Namespace, command: tuple[str, ...], on_progress: OnProgress, known: Iterable[str] = ()
) -> Options:
    """A run on an MCP server; on the reference when no port is named."""
    if given.fake and not given.url:
        raise UsageError("--fake goes with --url: the suite puts a fake gemini beside every port that it starts.")
    if given.profile:
        raise UsageError("--profile goes with --direction host.")
    target = Target(
        command=command or (() if given.url else SERVER),
        url=given.url,
        fake=given.fake,
        env=_variables(given.env),
        keep_home=given.keep_home,
        revision=None if given.protocol == "auto" else given.protocol,
    )
    return _options(given, target, on_progress, known)


def host(
    given: argparse.Namespace, command: tuple[str, ...], on_progress: OnProgress, known: Iterable[str] = ()
) -> Options:
    """A run on a host's adapter; on the reference's when none is named."""
    strange = [name.replace("_", "-") for name in NOT_FOR_HOSTS if getattr(given, name)]
    if given.protocol != "auto":
        strange.append("protocol")
    if strange:
        raise UsageError(f"--{strange[0]} goes with --direction server.")
    return _options(given, Target(command or HOST_ADAPTER), on_progress, known)


def _options(given: argparse.Namespace, target: Target, on_progress: OnProgress, known: Iterable[str]) -> Options:
    return Options(
        target=target,
        selection=Selection(tuple(given.only), tuple(given.skip), given.spec, given.spec_version),
        profile=given.profile or "documented",
        strict=given.strict,
        fail_fast=given.fail_fast,
        examples=given.examples * (THOROUGHLY if given.thorough else 1),
        thorough=given.thorough,
        seed=given.seed,
        budget=given.budget,
        jobs=given.jobs,
        patience=Patience().times(given.patience),
        known=frozenset(known),
        on_progress=on_progress,
    )


def _variables(given: Sequence[str]) -> Mapping[str, str]:
    pairs = [text.partition("=") for text in given]
    wrong = [name for name, equals, _ in pairs if not name or not equals]
    if wrong:
        raise UsageError(f"--env {wrong[0]} has no value. Write --env NAME=VALUE.")
    return {name: value for name, _, value in pairs}
