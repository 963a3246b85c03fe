"""Find the records of a reading in a chunk, and drop those that a log prints more than once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from operator import eq

import numpy as np
from numpy.typing import NDArray

from perfledger.parsers.contract import Reading, Record
from perfledger.parsers.contract.chunk import Chunk

#: Least share of the records that repeat the previous one, in a log that prints each line twice.
_TWICE = 0.3


@dataclass(frozen=True, eq=False)
class Found:
    """Records of one reading in the text of a chunk, in file order.

    Attributes:
        begins: the position of each of n records.
        ends: the n positions after them.
        rows: n printed records: the values in the order of the reading's columns, empty if the line lacks one.
    """

    begins: NDArray[np.intp]
    ends: NDArray[np.intp]
    rows: Sequence[Sequence[bytes]]

    @classmethod
    def in_text(cls, reading: Reading, text: bytes, begin: int, end: int) -> Found:
        """Find the records between two positions."""
        found: list[Record] = list(reading.finder.finditer(text, begin, end))
        begins = np.array([each.start() for each in found], np.intp)
        ends = np.array([each.end() for each in found], np.intp)
        return cls(begins, ends, [each.groups(b"") for each in found])

    @classmethod
    def joined(cls, parts: Sequence[Found]) -> Found:
        """Join the records of consecutive stretches of a chunk."""
        if len(parts) == 1:
            return parts[0]
        begins = np.concatenate([each.begins for each in (NOTHING, *parts)])
        ends = np.concatenate([each.ends for each in (NOTHING, *parts)])
        return cls(begins, ends, list(chain.from_iterable(each.rows for each in parts)))

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.rows)

    def without_repeats(self, reading: Reading, chunk: Chunk) -> Found:
        """Drop records that repeat the previous line: two handlers of a logger print it twice, untagged ranks n times.

        The first copy stays, since it directly follows the other lines of its step. So do records of ranks that print the
        same step with other values, and an update that the loss scaler skips, which has the step of the one before it.
        """
        if "step" not in reading.columns or reading.ranks or any(rank for _, rank in chunk.tags):
            return self
        step = reading.columns.index("step")
        steps = [each[step] for each in self.rows]
        if sum(map(eq, steps, islice(steps, 1, None))) < _TWICE * len(self):
            return self  # Long logs without repeats end here, after a few nanoseconds per line.
        again = [
            at
            for at, (one, each) in enumerate(pairwise(self.rows), 1)
            if one == each and each[step] and chunk.text.count(b"\n", self.begins[at - 1], self.begins[at]) == 1
        ]
        copies = Counter(at - nth for nth, at in enumerate(again))  # Repeats that follow each other are of one line.
        often = max(copies.values(), default=0)
        alike = often == 1 or 1 < len(copies) < 2 * sum(each == often for each in copies.values())
        if not alike or len(again) < _TWICE * len(self):
            return self
        kept = np.delete(np.arange(len(self)), again)
        return Found(self.begins[kept], self.ends[kept], [self.rows[at] for at in kept.tolist()])


NOTHING = Found(np.empty(0, np.intp), np.empty(0, np.intp), ())
