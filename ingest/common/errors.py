"""Errors that end a command, and text that is safe to print."""


class UsageError(Exception):
    """A mistake in the call or in a file of the project that only the user can fix; printed as one line, exit 2."""


def printable(text: str) -> str:
    """Text that cannot move a terminal's cursor."""
    return "".join(each if each.isprintable() or each == "\n" else repr(each)[1:-1] for each in text)
