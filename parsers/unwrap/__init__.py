"""Filters that turn what another tool exported back into the log that the program printed.

Nothing here runs while logs are read: a user names the filter (`python -m ingest unwrap --from loki FILE`), and reads
what it writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import BinaryIO

from perfledger.parsers.unwrap import records, shells, text

#: Yields the lines of the log; raises a ValueError that says at which line, and why, an export is not of its form.
Filter = Callable[[BinaryIO], Iterator[bytes]]

#: By name; the first line of a filter's docstring is its help.
FILTERS: Mapping[str, Filter] = {
    "json": records.from_json_lines,
    "loki": records.from_loki,
    "gcloud": records.from_gcloud,
    "html": text.from_html,
    "markdown": text.from_markdown,
    "grep": shells.from_grep,
    "diff": shells.from_diff,
    "numbered": shells.from_numbered,
}
