"""Errors that end a command, and text that is safe to print."""


class UsageError(Exception):
    """A mistake in the call or in a file of the project that only the user can fix; printed as one line, exit 2."""


def printable(text: str) -> str:
    """Return text that cannot move a terminal's cursor; its line breaks stay."""
    return "".join(each if each.isprintable() or each == "\n" else repr(each)[1:-1] for each in text)


def one_line(text: str) -> str:
    """Return printable text as one line, also if a name in it has line breaks."""
    return printable(text).replace("\n", "\\n")
