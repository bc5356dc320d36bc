"""What a port's workflow installs to get the suite that wrote it: a release, or else a commit. Reads what pip noted."""

from __future__ import annotations

import json
import subprocess
from importlib.metadata import PackageNotFoundError, distribution
from urllib.parse import unquote, urlsplit

from gemini_mcp.spec.values import Json, inside

NAME = "gemini-mcp-server[conformance]"


def installed(version: str) -> str | None:
    """What pip installs to get this suite; None when only this machine has it."""
    try:
        noted = distribution("gemini-mcp-server").read_text("direct_url.json")
    except PackageNotFoundError:
        noted = None
    return requirement(None if noted is None else json.loads(noted), version)


def requirement(noted: Json, version: str) -> str | None:
    """The same for what pip noted (PEP 610); it notes nothing of a release from an index."""
    if noted is None:
        return release(version)
    url, commit = str(inside(noted, "url")), inside(noted, "vcs_info", "commit_id")
    if inside(noted, "dir_info") is None:
        return f"{NAME} @ git+{url}@{commit}" if commit else f"{NAME} @ {url}"
    folder = unquote(urlsplit(url).path)
    origin, head = (_git(folder, *words) for words in (("remote", "get-url", "origin"), ("rev-parse", "HEAD")))
    address = _public(origin)
    return f"{NAME} @ git+{address}@{head}" if address and head else None


def release(version: str) -> str:
    """What pip installs from an index."""
    return f"{NAME}=={version}"


def _public(origin: str) -> str:
    """The address by which anybody can clone it; empty when there is none."""
    if origin.startswith("git@"):
        host, _, path = origin.removeprefix("git@").partition(":")
        return f"https://{host}/{path}"
    return origin if origin.startswith("https://") else ""


def _git(folder: str, *words: str) -> str:
    try:
        done = subprocess.run(["git", "-C", folder, *words], capture_output=True, encoding="utf-8", check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
