"""The one exception that a user sees as a message."""


class RunnerError(Exception):
    """What is wrong, where, why, and what to do, in one sentence or two; printed without a traceback, exit 2."""
