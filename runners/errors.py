"""The one exception that a user sees as a message, and text made safe for a terminal."""


class RunnerError(Exception):
    """What is wrong, where, why, and what to do, in one sentence or two; printed without a traceback, exit 2."""


def printable(text: str) -> str:
    """Return text of a host on one line, without anything that would move the cursor of a terminal."""
    return "".join(character if character.isprintable() else " " for character in text).strip()
