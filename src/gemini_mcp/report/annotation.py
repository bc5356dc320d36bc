"""GitHub's workflow commands and tables: a place and a message in, text that it shows out. Pure."""


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
    """A text in a cell of a table that a stranger's words cannot leave."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
