"""The version of the suite, of its distribution or of a checkout. Reads the metadata of what is installed."""

from importlib.metadata import PackageNotFoundError, version


def suite_version() -> str:
    """The version of the distribution, or of a checkout that is not installed."""
    try:
        return version("gemini-mcp-server")
    except PackageNotFoundError:
        return "1.1.0"
