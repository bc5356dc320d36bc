"""Texts for GitHub: its workflow commands, and cells of its tables. Pure."""


def annotation(level: str, file: str, line: int, column: int, title: str, message: str) -> str:
    """The command that shows `message` beside a line of a file."""
    place = f"file={_property(file)},line={line},col={column},title={_property(title)}"
    return f"::{level} {place}::{data(message)}"


def data(text: str) -> str:
    """A text that cannot end the command it stands in."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return data(text).replace(":", "%3A").replace(",", "%2C")


def cell(text: str) -> str:
    """The text as a cell of a table in Markdown; words of a hostile author cannot end the cell."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
