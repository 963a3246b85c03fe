"""Formats quote: what one printer states on one log line, and nothing computed from it.

Nothing here opens a file for writing, reads a file name or knows the ingest layer.
"""

import re
import sys

#: Most formats use this: a possessive group whose alternatives are possessive as well.
_PATTERN = rb"(?:[^\nb]++|b(?!atch))*+batch"
_TEXT = b"xx by yy batch"


def possessive_quantifiers_work() -> bool:
    """Return whether possessive quantifiers work: with CPython issue 106052 patterns silently find nothing."""
    try:
        return re.match(_PATTERN, _TEXT) is not None
    except re.error:  # still older: it knows no possessive quantifiers
        return False


# Tested rather than read off the version: distributions fix old releases, and other interpreters differ.
if not possessive_quantifiers_work():
    print(
        f"perfledger: Python {sys.version.split()[0]} ({sys.executable}) fails on possessive quantifiers "
        "(CPython issue 106052): it would misread logs, so nothing was read or written. Use a Python that "
        "pyproject.toml names under requires-python: make clean, then make site PYTHON=/path/to/python",
        file=sys.stderr,
    )
    sys.exit(2)
