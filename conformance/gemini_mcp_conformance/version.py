"""The version of the suite: that of the installed distribution, or of a checkout. Reads the metadata of packages."""

from importlib.metadata import PackageNotFoundError, version


def suite_version() -> str:
    """The version of the distribution, or of a checkout that is not installed."""
    try:
        return version("gemini-mcp-server")
    except PackageNotFoundError:
        return "1.1.0"
