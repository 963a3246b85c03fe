"""Errors that end a command."""


class UsageError(Exception):
    """A mistake in the call or in a file of the project that only the user can fix; printed as one line, exit 2."""
