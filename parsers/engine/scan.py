"""Turn bytes into chunks of clean text: remove labels, tags and terminal codes, and keep the line numbers.

Line numbers count the newlines of the file on disk, so that an editor, `sed -n` and a forge's line anchors agree with
them. Cleaning never adds or removes a newline. Memory does not grow with the file: a chunk is about a MiB, and a line
longer than `LONGEST_LINE` is cut and reported.
"""

from __future__ import annotations

import re
import stat
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from operator import sub
from pathlib import Path
from typing import IO

from perfledger.parsers.contract.chunk import Chunk, newlines
from perfledger.parsers.engine.unpack import UnpackError, is_packed, unpacked

#: Bytes of a chunk, before its last line is completed.
CHUNK = 1 << 20
#: Most bytes of a line that is completed.
LONGEST_LINE = 8 << 20
#: Bytes at the beginning of a chunk that contain a tag of torchrun if any line has one.
_TAGS_HEAD = 1 << 16

# `ESC [ ... letter` colours and cursor moves, and `ESC ] ... BEL` titles.
_ANSI = re.compile(rb"\x1b(?:\[[0-9;?]*+[ -/]*+[@-~]|\][^\x07\x1b\r\n]*+\x07)")
_BACKSPACES = re.compile(rb"(\x08++\r?+)")
_FIRST_LINE = re.compile(rb"([^\r\n]*+)([\r\n]?+)([\s\S]*+)")
#: Byte order marks at the beginning of files from Windows: UTF-8, or UTF-16, whose zeros are removed.
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
#: Line ends of Windows, also with several carriage returns after a second conversion.
_LINE_END = re.compile(rb"(?<!\r)\r++\n")
# mpirun --tag-output, or horovodrun, which does not name a job; a tag may be inside a line. SageMaker prints
# `[1,mpirank:8,algo-2]` for `[1,8]`; Open MPI 5 may name the launcher, `[prterun-host-7@1,8]`, and the process, `[1,8][host:9]`.
# Source: PRRTE, pull request 1406.
_MPI_TAG = re.compile(
    rb"\[(?:prterun-[\w.-]++@)?+(?:\d++,)?+(?:mpirank:)?+(\d{1,9}+)(?:,algo-\d++)?+\]"
    rb"(?:\[[\w.-]++:\d++\])?+<std(?:out|err)>: ?"
)
#: The date that --timestamp-output prints right before a tag. A pattern for both would be tried at every character.
_MPI_DATE = re.compile(rb"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}")
_MPI_DATE_LENGTH = len("Mon Nov  2 10:00:00 2026")
# torchrun --tee: only at a line's start, where it is unmistakable. TorchX names the role, the local rank, and the rank.
_LINE_TAG = re.compile(rb"(?m)^(?:\[(?:default|rank|trainer)(?:\d{1,9}+\|)?+(\d{1,9}+)\]: ?)")
_LINE_TAGS = (b"[default", b"[rank", b"[trainer")
_DAY = rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
_ISO = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d++)?+(?:Z|[+-]\d\d:?+\d\d)"
_STAMP = rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d"
#: The beginning of patterns that match only at the start of a line.
_AT_START = rb"(?m)^"
# Labels at the start of every line. They are removed only if most lines have one, since a single one could be the
# program's own text. A group is the rank or the number of the host; if there are two, the first that is not empty counts.
_LABELS = (
    # GitLab, with the number of the stream. A `+` instead of the blank continues the text of the previous line.
    re.compile(rb"(?m)^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d++)?+Z [\da-f]{2}[OE](?:[ +]|$)()"),
    # Ray's `(name pid=7, ip=10.0.0.2)`; SkyPilot's `(name, pid=7)` and `(worker1, rank=1, pid=7, ip=10.0.0.2)`, which also
    # follow each carriage return of a bar. A pattern that begins with a literal is faster than one that begins with `^`.
    re.compile(
        rb"(?m)\((?<![^\r\n]\()(?:[\w.-]++(?:, [\w.-]++(?=,))?+,? (?:rank=(\d{1,6}+),? )?+)?+"
        rb"pid=\d++(?:, ip=[\d.]{0,12}?(\d{1,3}))?\)(?: |$)"
    ),
    # `gcloud ai custom-jobs stream-logs` of Vertex AI: the first pool has one replica, the chief
    re.compile(
        rb"(?m)^[A-Z]{4,8}(?:\t| ++)" + _DAY + rb" [+-]\d{4}(?:\t| ++)(?:workerpool(\d{1,3}+)-\d++|service)(?:\t| ++|$)"
    ),
    *(
        re.compile(rb"(?m)^" + each + rb"(?: |$)")
        for each in (
            rb" *+(\d{1,6}+):",  # srun --label
            rb"\[(\d{1,6}+)\]",  # mpirun -l of Intel MPI and MPICH
            rb"\[" + _ISO + rb"\] [\da-f]{8} (?:\[rank=(\d{1,6}+)\] )?+\|\|",  # Determined AI
            rb"[\w.-]{1,64}+/(\d{1,6}+)(?= \[(?:default|rank|trainer)\d)",  # TorchX and NeMo-Run, before the rank of torchrun
            rb"[^\t\n]{1,200}+\t[^\t\n]{1,200}+\t" + _ISO + rb"()",  # gh run view --log
            # syslog and `journalctl -o short-iso`
            _ISO + rb" [\w.-]++ [\w.@/-]++\[\d++\]:()",
            _ISO + rb" [\w./-]{0,99}?algo-(\d{1,6}+)(?:[./-][\w./-]*+)?+",  # aws logs tail, of SageMaker
            # Airflow, whose operators log the output of their commands
            rb"\[\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,]\d{3}(?:[+-]\d{4})?+\] \{\w++\.py:\d++\} [A-Z]++ -()",
            # docker logs -t, kubectl logs --timestamps, a node's container log, pipelines
            rb"\[?+" + _ISO + rb"\]?+(?: std(?:out|err) [FP])?+()",
            # journalctl, also with more digits or a whole date, and syslog
            rb"(?:" + _STAMP + rb"(?:\.\d++)?+|[A-Z][a-z]{2} " + _DAY + rb" [A-Z]{3,5}) [\w.-]++ [\w.@/-]++\[\d++\]:()",
            _STAMP + rb"()",  # ts
            rb"\d\d:\d\d:\d\d ()",  # Jenkins, with two blanks
            rb"\[std(?:out|err)\]()",  # programs that start others and copy their output
            # SageMaker's local mode, which is docker compose: the number at the end is not that of the host
            rb"(?:[a-z\d]{10}-)?+algo-(\d{1,6}+)-[a-z\d]{5}(?:_\d++)?+ *+\|",
            rb"[\w.-]{0,99}?[-_](\d{1,6}+) *+\|",  # docker compose
            rb"[\w-]{0,99}\.(\d{1,6}+)\.[a-z\d]{10,25}@[\w.-]++ *+\|",  # docker service logs
            rb"\[pod/[\w.-]{0,99}?(\d{0,6}+)/[\w.-]++\]",  # kubectl logs --prefix
            # pdsh, and DeepSpeed with it
            rb"(?=[\w.-]{0,64}?\d)(?=[\w.-]{0,64}?[a-zA-Z.])[\w.-]{0,64}?(\d{0,6}+)[a-zA-Z_.-]{0,32}+:",
        )
    ),
)
#: Characters of numbers: a date right before a tag of mpirun ends with one.
_NUMBER_CHARACTERS = b"0123456789."
#: From more labels than this on, a number that only grows counts lines or steps, since the numbers of ranks come again.
_FEW = 8
#: A program may restart, and so count down, once per this number of steps.
_MANY = 100
# A date in a format that the user gave `ts`, or the start of loguru's lines. Most printers begin their lines with such a
# date, which is the clock of their records. So it is removed only from bars at the start of a line, which have a clock of
# their own: bare bars, and torchtune's `1|20|Loss: 2.5: `.
_DATE = (
    rb"\[?+\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d++)?+\]?+"
    rb"(?: \| \w++ *+\| [\w.<>]++:[\w.<>]++:\d++ -)?+ "
)
_BEFORE_BAR = rb"(?= *+(?:\d++\|\d++\|Loss: [\w.+-]++: ++)?+\d{1,3}+%\|)"
_DATED = re.compile(rb"(?m)^" + _DATE + rb"(?:" + _BEFORE_BAR + rb"()|)")
_DATED_BAR = re.compile(rb"\n" + _DATE + _BEFORE_BAR)


class ScanError(Exception):
    """A path cannot be read as a log; `code` and `details` describe a problem for the site."""

    def __init__(self, code: str, **args: object) -> None:
        super().__init__(code)
        self.code = code
        self.details = args


@dataclass
class Noise:
    """Counts of removed bytes and cut lines, for the report of problems."""

    nul_bytes: int = 0
    cut_lines: list[int] = field(default_factory=list)
    binary: bool = False


def check(path: Path) -> None:
    """Raise ScanError if `path` is not a regular, readable, non-empty file; a FIFO or device is never opened."""
    try:
        found = path.stat()
    except OSError as error:
        raise ScanError("unreadable", cause=error.strerror or "cannot be opened") from None
    if not stat.S_ISREG(found.st_mode):
        raise ScanError("not_a_file")
    if found.st_size == 0:
        raise ScanError("empty")


def chunks(path: Path, noise: Noise, size: int = CHUNK) -> Iterator[Chunk]:
    """Yield the file as clean chunks of whole lines.

    Raises:
        ScanError: the file cannot be opened, read or unpacked.
    """
    check(path)
    try:
        with open_log(path) as stream:
            yield from clean(_whole_lines(stream, size, noise), noise)
    except OSError as error:
        raise ScanError("unreadable", cause=error.strerror or str(error)) from None


def open_log(path: Path) -> IO[bytes]:
    """Open a log for reading, and unpack it if its name says that it is packed.

    Raises:
        ScanError: it unpacks to more than `unpack` allows.
        OSError: it cannot be opened or unpacked.
    """
    try:
        return unpacked(path) if is_packed(path) else path.open("rb")
    except UnpackError as error:
        raise ScanError("unpacks_too_far", mib=error.most >> 20) from None


def _whole_lines(stream: IO[bytes], size: int, noise: Noise) -> Iterator[tuple[bytes, int, int, int]]:
    """Yield (bytes, first line, offset, newlines), cut after a newline, or inside a line that is too long for memory."""
    line, offset = 1, 0
    while data := stream.read(size):
        if not data.endswith(b"\n"):
            data += stream.readline(LONGEST_LINE)
        lines = newlines(data)
        if len(data) >= LONGEST_LINE and not data.endswith(b"\n"):
            noise.cut_lines.append(line + lines)
        yield data, line, offset, lines
        line, offset = line + lines, offset + len(data)


def clean(raw: Iterator[tuple[bytes, int, int, int]], noise: Noise) -> Iterator[Chunk]:
    """Remove labels, tags and terminal codes from each stretch of whole lines, and count NUL bytes in `noise`.

    Args:
        raw: (bytes, number of the first line, offset of the first byte, newlines).
        noise: counts NUL bytes, and whether the file is binary.
    """
    for data, line, offset, lines in raw:
        mark = next((each for each in _MARKS if not offset and data.startswith(each)), b"")
        text: bytes = data.removeprefix(mark)
        tags: tuple[tuple[int, int], ...] = ()
        if b"\x00" in text:
            noise.nul_bytes += text.count(b"\x00")
            noise.binary |= noise.nul_bytes > 16 + (offset + len(text)) // 1000
        text = unstyled(text)
        if labels := _labels_in(text):
            text, tags = _unlabelled(text, labels)
        if found := _tags_in(text):
            text, tags = _untagged(text, found)
        yield Chunk(text, line, offset, len(data), lines, tags)


def unstyled(text: bytes) -> bytes:
    """Remove NUL bytes, colours, cursor moves and carriage returns before a line end, and apply backspaces.

    Other carriage returns stay: after them a program redraws the line.
    """
    if b"\x00" in text:
        text = text.replace(b"\x00", b"")
    if b"\x1b" in text:
        text = _ANSI.sub(b"", text)
    if b"\x08" in text:
        text = _backspaced(text)
    return _LINE_END.sub(b"\n", text) if b"\r" in text and b"\r\n" in text else text


def _backspaced(text: bytes) -> bytes:
    """Apply backspaces as a terminal does: move back, not beyond the line's start, and overwrite the text there.

    Keras prints backspaces and a carriage return: they act like a carriage return alone.
    """
    # The text before the cursor, and the text after it on the same line, in reverse order.
    before, after = bytearray(), bytearray()
    for part in _BACKSPACES.split(text):
        back = len(part) - len(part.lstrip(b"\x08"))
        if back and not part.endswith(b"\r"):
            begin = max(0, len(before) - back)
            begin = max(begin, before.rfind(b"\n", begin) + 1, before.rfind(b"\r", begin) + 1)
            after += before[begin:][::-1]
            del before[begin:]
            continue
        line, end, further = _FIRST_LINE.match(part[back:]).groups()  # type: ignore[union-attr]
        del after[max(0, len(after) - len(line)) :]
        before += line
        if end:
            before += after[::-1] + end + further
            after.clear()
    return bytes(before + after[::-1])


def _labels_in(text: bytes) -> list[re.Match[bytes]]:
    """Return the labels if most lines of a text begin with one; three lines decide whether to search at all."""
    places = [text.find(b"\n", len(text) * quarter // 4) + 1 for quarter in (1, 2, 3)]
    starts = [at if 0 < at < len(text) else 0 for at in places]
    for label in _LABELS:
        # The numbers of ranks come again and again. Numbers of steps, such as Darknet's, start again only with the program.
        if _is_at_two_of(starts, label, text) and (found := _of_most_lines(label, text)) and not _falls_seldom(found):
            return _and_redrawn(found, text)
    # Lines with dates seldom have such a bar: a fast search for a pattern that begins with a literal comes first.
    if _is_at_two_of(starts, _DATED, text) and b"|" in text and _DATED_BAR.search(b"\n" + text):
        return [each for each in _of_most_lines(_DATED, text) if each[1] is not None]
    return []


def _is_at_two_of(starts: Sequence[int], label: re.Pattern[bytes], text: bytes) -> bool:
    """Return whether a text has a label at two or more of three positions."""
    return sum(label.match(text, at) is not None for at in starts) >= 2


def _of_most_lines(label: re.Pattern[bytes], text: bytes) -> list[re.Match[bytes]]:
    """Return all labels of a kind if most lines of a text have one."""
    return found if 2 * len(found := list(label.finditer(text))) > text.count(b"\n") else []


def _and_redrawn(found: list[re.Match[bytes]], text: bytes) -> list[re.Match[bytes]]:
    """Return labels or tags, and those after the redrawn bar of another program on the same line.

    A line that begins with a label has no second one: the rest is the program's own text.
    """
    if not found or b"\r" not in text or not found[0].re.pattern.startswith(_AT_START):
        return found
    begins = {each.start() for each in found}
    label = re.compile(found[0].re.pattern.removeprefix(_AT_START), re.MULTILINE)
    begin = looked = 0
    # A literal is found faster than a pattern that begins with a lookbehind.
    for returned in re.finditer(rb"\r", text):
        begin, looked = max(begin, text.rfind(b"\n", looked, returned.start()) + 1), returned.end()
        if begin not in begins and (each := label.match(text, looked)):
            begins.add(begin)
            found.append(each)
    return sorted(found, key=lambda each: each.start())


def _falls_seldom(found: Sequence[re.Match[bytes]]) -> bool:
    return len(found) > _FEW and _falls(found) <= len(found) // _MANY


def _falls(found: Sequence[re.Match[bytes]]) -> int:
    """Count the labels whose number is not greater than that of the previous label."""
    last = found[0].re.groups if found else 0
    numbers = (int(each[1] or each[last] or 0) for each in found)
    return sum(one >= following for one, following in pairwise(numbers))


def _tags_in(text: bytes) -> list[re.Match[bytes]]:
    """Return the rank tags in a text."""
    if b"<" in text and b"]<std" in text:
        return list(_MPI_TAG.finditer(text))
    # torchrun tags every line of a run, so that the first lines of the chunk have a tag too.
    head = text[:_TAGS_HEAD]
    return _and_redrawn(list(_LINE_TAG.finditer(text)), text) if any(each in head for each in _LINE_TAGS) else []


def _untagged(text: bytes, found: Sequence[re.Match[bytes]]) -> tuple[bytes, tuple[tuple[int, int], ...]]:
    """Remove rank tags or labels; return the text, and for each tag its position in it and its rank."""
    begins, ends = [each.start() for each in found], [each.end() for each in found]
    if found[0].re is _MPI_TAG and any(text[at - 1] in _NUMBER_CHARACTERS for at in begins if at):
        begins = [_begin_of(text, at) for at in begins]
    removed = accumulate(map(sub, ends, begins), initial=0)
    last = found[0].re.groups
    ranks = [int(each[1] or each[last] or 0) for each in found]
    tags = tuple((begin - gone, rank) for begin, gone, rank in zip(begins, removed, ranks, strict=False))
    return b"".join(text[end:begin] for end, begin in zip([0, *ends], [*begins, len(text)], strict=True)), tags


def _unlabelled(text: bytes, outer: Sequence[re.Match[bytes]]) -> tuple[bytes, tuple[tuple[int, int], ...]]:
    """Remove labels, and labels of another kind after them: stamps and ranks come in either order.

    `srun --label ... | ts` adds stamps before labels, `kubectl logs --prefix --timestamps` adds labels before stamps. If
    two stamps follow each other, the second is the program's own.
    """
    text, tags = _untagged(text, outer)
    inner = _labels_in(text)
    if not inner or any(outer[0].groups()) == any(inner[0].groups()):
        return text, tags
    plain, stamps = _untagged(text, inner)
    if any(inner[0].groups()):
        return plain, stamps
    begins, ends = [each.start() for each in inner], [each.end() for each in inner]
    removed = list(accumulate(map(sub, ends, begins), initial=0))
    return plain, tuple((at - removed[bisect_left(begins, at)], rank) for at, rank in tags)


def _begin_of(text: bytes, at: int) -> int:
    """Return the position of a tag of mpirun, or of the date right before it."""
    begin = at - _MPI_DATE_LENGTH
    return begin if begin >= 0 and _MPI_DATE.fullmatch(text, begin, at) else at
