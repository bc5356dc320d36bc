"""GitHub's workflow commands: a place and a message in, one line out. Pure."""


def annotation(level: str, file: str, line: int, column: int, title: str, message: str) -> str:
    """The command that shows `message` beside a line of a file."""
    place = f"file={_property(file)},line={line},col={column},title={_property(title)}"
    return f"::{level} {place}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
