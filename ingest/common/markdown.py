"""Text of any origin in GitHub's Markdown: comments and summaries of jobs."""

from __future__ import annotations

import re

from perfledger.ingest.common.errors import printable

_MARKUP = re.compile(r"[&<>\\`*{}\[\]|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
#: GitHub notifies the user named after @, and links the number after #: a zero-width space prevents both.
_CALLS = re.compile(r"([@#])(?=\w)")


def escaped(text: str) -> str:
    """Return text as a cell of a table, without markup, mentions and links."""
    line = printable(" ".join(text.split()))
    return _MARKUP.sub(lambda found: f"&#{ord(found[0])};", _CALLS.sub("\\1\u200b", line))
