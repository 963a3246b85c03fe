"""Where a session begins: at the first line that belongs to it, which may stand long before its printer's start.

Shells, containers and launchers print before the program does, and the program prints arguments and versions before
the line by which it is recognised. These lines belong to the session that follows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from perfledger.parsers.contract import Format
from perfledger.parsers.contract.patterns import compiled
from perfledger.parsers.engine.clock import stamps
from perfledger.parsers.engine.outcome import last_message

#: What stands first in logs, whoever the printer is. Nothing here may stand in the middle of a run.
_LINES = (
    # A shell that traces its commands, or echoes the one that trains. Some scripts echo `python ...` at the end.
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
#: The same, wherever on its line.
_WORDS = (
    rb"Setting OMP_NUM_THREADS environment variable for each process",
    rb"The module torch\.distributed\.launch is deprecated",
    rb"\[runner\.py:\d++:main\] |\[launch\.py:\d++:main\] \d++ NCCL_|\[launch\.py:\d++:main\] WORLD INFO DICT",
    rb"The following values were not passed to `accelerate launch`",
    rb"Successfully opened dynamic library libcudart",
    # Of Paddle, whose programs connect their ranks before they print anything.
    rb"nccl_context\.cc:\d++\] init nccl context nranks: |tcp_utils\.cc:\d++\] The server starts to listen on IP_ANY",
)


#: A stamp within a line: seconds since 1970 with a fraction, or milliseconds.
_UNIX = re.compile(rb"(?<![0-9.])1[0-9]{9}(?:\.[0-9]++|[0-9]{3})(?![0-9.])")
#: Most seconds between the first lines of the ranks of one run. A program that is started again needs longer.
_TOGETHER = 1.0


@dataclass(frozen=True)
class Announcement:
    """The line with which a program begins: its characters without digits, and its stamp in seconds.

    The stamp is NaN if the line has none.
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
    """Remove from a line what differs between records: digits, and the spaces that align them."""
    return line.translate(None, b"0123456789 \t-+.")


@cache
def launch() -> re.Pattern[bytes]:
    """Return the pattern of lines that stand first in logs."""
    return compiled(rb"^(?:%s)|%s" % (rb"|".join(_LINES), rb"|".join(_WORDS)), re.MULTILINE)


def opening(format: Format, text: bytes, anchor: int) -> int:
    """Return where a session begins in the text before its start; the end of the text where nothing in it is its own.

    Args:
        format: the log's format.
        text: what stands before the start.
        anchor: where the last record or end of the session before it ends in the text; 0 where it printed none. Then
            only a message of its crash tells what is still its own.
    """
    last = max(anchor, last_message(text))
    if not last:
        return len(text)
    found = (each.search(text, last) for each in (launch(), format.before_start_regex) if each)
    return min((text.rfind(b"\n", 0, each.start()) + 1 for each in found if each), default=len(text))
