"""The wording of all messages is in one file whose diff is reviewed; other tests compare codes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from string import Formatter

from perfledger.ingest.common import words
from perfledger.ingest.common.words import LANGUAGES

#: Tables of messages and of the names in their arguments.
TABLES = ("missing", "problem", "reason")
#: Example values of arguments for the approved file; other arguments appear as their names.
EXAMPLES = {
    "against": "8.33", "count": "3", "difference": "17.6", "first": "400", "last": "500", "line": "12", "n": "3",
    "needed": "40", "needed_seconds": "60", "percent": "5", "records": "10", "second": "800", "seconds": "2.5",
    "step": "100", "times": "2", "unit": "images/s", "used": "8", "value": "9.8",
}  # fmt: skip


def messages() -> Iterator[str]:
    """Yield each message in each language, with the example arguments."""
    known = words.load()
    for key, entry in known.entries.items():
        if key.partition(".")[0] in TABLES:
            for language in LANGUAGES:
                names = {name for _, name, _, _ in Formatter().parse(entry[language]) if name}
                args = {name: EXAMPLES.get(name, f"<{name}>") for name in names}
                yield f"{key} {language}: {known.text(language, key, **args)}"


def test_messages_are_the_approved_ones(approved: Callable[[str, str], None]) -> None:
    found = [each.replace("\n", "\\n") for each in messages()]
    approved("messages.txt", "\n".join(found) + "\n")
