"""Errors that end a command, and text that is safe to print."""

from perfledger import INSTALLED


class UsageError(Exception):
    """A mistake in the call or in a file of the project that only the user can fix; printed as one line, exit 2."""


def as_called(text: str) -> str:
    """Return a text with commands as this Perfledger is called: installed, it has one command."""
    if not INSTALLED:
        return text
    pages = text.replace("python -m ingest raw_logs/", "perfledger pages raw_logs/")
    return pages.replace("python -m ingest", "perfledger").replace("python -m runners", "python -m perfledger.runners")


def printable(text: str) -> str:
    """Text that cannot move a terminal's cursor."""
    return "".join(each if each.isprintable() or each == "\n" else repr(each)[1:-1] for each in text)
