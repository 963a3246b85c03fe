"""Find the first line of a session, which may precede the start of its program by many lines.

Shells, containers and launchers print before the program does. The program itself prints arguments and versions before
the line that identifies it. These lines belong to the session that follows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from perfledger.parsers.contract import Format
from perfledger.parsers.contract.patterns import compiled
from perfledger.parsers.engine.clock import stamps
from perfledger.parsers.engine.outcome import last_message

#: Lines that begin logs of any printer. A pattern that also matches in the middle of a run must not be added.
_LINES = (
    # A shell that traces its commands, or echoes the training command. Some scripts echo `python ...` at the end.
    rb"\++ \S",
    rb"(?:cmd = )?(?:torchrun|torch\.distributed\.launch|deepspeed|horovodrun|mpirun|accelerate launch) ",
    rb"={3,}+\n== [^\n]*+ ==\n={3,}+$",  # NVIDIA's containers
    rb"(?:INFO:\w++:|[\w ,.:\[\]/-]{0,80}?(?:arguments?:?+ ))?+Namespace\(",
    rb"-{3,}+ ++Configuration Arguments -{3,}+",
    rb"LAUNCH INFO [\d-]++ [\d:,]++ (?:-++ ++Configuration |args reset by env )",
    rb" *+\+=++\+\n *+\| ++Distributed Envs ",
    rb"Run Pod: ",
    rb"(?:STARTING TIMING RUN AT|Clearing cache|Gathering sys log) ",
)
#: Texts of such lines, at any place on the line.
_WORDS = (
    rb"Setting OMP_NUM_THREADS environment variable for each process",
    rb"The module torch\.distributed\.launch is deprecated",
    rb"\[runner\.py:\d++:main\] |\[launch\.py:\d++:main\] \d++ NCCL_|\[launch\.py:\d++:main\] WORLD INFO DICT",
    rb"The following values were not passed to `accelerate launch`",
    rb"Successfully opened dynamic library libcudart",
    # Paddle connects its ranks before the program prints anything.
    rb"nccl_context\.cc:\d++\] init nccl context nranks: |tcp_utils\.cc:\d++\] The server starts to listen on IP_ANY",
)


#: A stamp within a line: seconds since 1970 with a fraction, or milliseconds.
_UNIX = re.compile(rb"(?<![0-9.])1[0-9]{9}(?:\.[0-9]++|[0-9]{3})(?![0-9.])")
#: Most seconds between the first lines of the ranks of one run. A program that is started again needs longer.
_TOGETHER = 1.0


@dataclass(frozen=True)
class Announcement:
    """The first line of a program.

    Attributes:
        shape: its characters without digits (`shape`).
        time: its stamp in seconds, NaN if the line has no stamp.
    """

    shape: bytes
    time: float

    @classmethod
    def at(cls, text: bytes, position: int) -> Announcement:
        """Return the announcement on the line that begins at a position."""
        end = text.find(b"\n", position)
        line = text[position : end if end >= 0 else None]
        if found := _UNIX.search(line):
            return cls(shape(line), float(found[0]) / (1.0 if b"." in found[0] else 1000.0))
        return cls(shape(line), float(stamps(line, [0])[0]))

    def repeats(self, other: Announcement) -> bool:
        """Return whether another rank of the same run printed this line."""
        return self.shape == other.shape and abs(self.time - other.time) <= _TOGETHER


def shape(line: bytes) -> bytes:
    """Remove the characters that differ between records: digits, signs, and the spaces that align them."""
    return line.translate(None, b"0123456789 \t-+.")


@cache
def launch() -> re.Pattern[bytes]:
    """Return the pattern of lines that begin logs."""
    return compiled(rb"^(?:%s)|%s" % (rb"|".join(_LINES), rb"|".join(_WORDS)), re.MULTILINE)


def opening(format: Format, text: bytes, anchor: int) -> int:
    """Return the position of a session's first line in the text before its start.

    Return the length of the text if none of its lines belongs to the session.

    Args:
        format: the log's format.
        text: the text before the start.
        anchor: end of the last record or last line of the previous session in the text; 0 if it has neither. Then only
            the message of its crash separates it from the next session.
    """
    last = max(anchor, last_message(text))
    if not last:
        return len(text)
    before = format.before_start_clue
    found = (each.search(text, last) for each in (launch(), before.regex if before else None) if each)
    return min((text.rfind(b"\n", 0, each.start()) + 1 for each in found if each), default=len(text))
