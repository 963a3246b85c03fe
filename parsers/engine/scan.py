"""Turn bytes into chunks of clean text: remove what transport added, and keep the line numbers.

Line numbers are those of the file as it lies on disk (newlines counted), so that an editor, `sed -n` and a forge's
line anchors agree with them. Cleaning never adds or removes a newline. Memory does not grow with the file: a chunk is
about a MiB, and a line longer than `LONGEST_LINE` is cut and said to be.
"""

from __future__ import annotations

import json
import re
import stat
import string
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice, pairwise
from operator import sub
from pathlib import Path
from typing import IO

from parsers.contract.chunk import Chunk, newlines
from parsers.engine.unpack import UnpackError, is_packed, unpacked

CHUNK = 1 << 20
LONGEST_LINE = 8 << 20
_TAGS_HEAD = 1 << 16

# `ESC [ ... letter` colours and cursor moves, and `ESC ] ... BEL` titles.
_ANSI = re.compile(rb"\x1b(?:\[[0-9;?]*+[ -/]*+[@-~]|\][^\x07\x1b\r\n]*+\x07)")
#: Colours and resets whose escape character was lost, or replaced, as in what is copied from a browser or a pager.
#: Times such as `[1m 20s]` are none, so that a line must both set a colour and reset it.
_RESET = b"[0m"
_COLOUR = re.compile(rb"\[(?:[01];)?+(?:3[0-7]|9[0-7]|38;5;\d{1,3})m(?! ?+\d++s)")
_STYLE = re.compile(rb"(?:\xef\xbf\xbd|\xe2\x90\x9b|(?<=\]) )?+\[(?:[01];)?+(?:[01]|3[0-79]|9[0-7]|38;5;\d{1,3})m")
_BACKSPACES = re.compile(rb"(\x08++\r?+)")
_FIRST_LINE = re.compile(rb"([^\r\n]*+)([\r\n]?+)([\s\S]*+)")
#: How rsyslog writes control characters, and with it Amazon's collectors, and how terminals and editors show them. Source:
#: rsyslog's `parser.escapeControlCharactersOnReceive`. A number, as of `Trial #015`, stands behind a blank and before no bar.
_OCTAL = re.compile(
    rb"#033\[[0-9;?]*+[A-Za-z]|(?m:^|(?<=[\])%sx]))#015(?!\d)|#015(?= *+(?:[\w .:()/-]{1,60}: ++)?+[0-9]{1,3}%[| ])|"
    rb"(?m:^|(?<=[\w\])%:,.]))#011(?!\d)|(?:#010){2}"
)
_CARET = re.compile(rb"\^\[\[[0-9;?]*+[A-Za-z]|(?m:^|(?<=[\])%sx]))\^M|\^M(?m:$)|(?:\^H){2}")
#: What soon tells that there is none, how such characters stand in a log, and what they are. A single character is looked
#: for thirty times as fast as a pattern.
_WRITTEN = (
    (
        b"#",
        re.compile(rb"#0[13]"),
        _OCTAL,
        ((b"#033", b"\x1b"), (b"#015", b"\r"), (b"#010", b"\x08"), (b"#011", b"\t")),
    ),
    (b"^", re.compile(rb"\^[\[MH]"), _CARET, ((b"^[", b"\x1b"), (b"^M", b"\r"), (b"^H", b"\x08"))),
)
#: How pages write characters that mean something to them.
_ESCAPED = ((b"&lt;", b"<"), (b"&gt;", b">"), (b"&quot;", b'"'), (b"&#34;", b'"'), (b"&#39;", b"'"), (b"&nbsp;", b" "))
#: What pages put at the ends of lines, and around text that is shown as it is.
_BREAK = re.compile(
    rb"(?m)<(?:br ?/?|/(?:code|p|pre|samp))>(?:<(?:br ?/?|/(?:code|p|pre|samp))>){0,9}+(?=\r?$)"
    rb"|<(?<![^\n]<)(?:code|p|pre|samp)(?: [^<>\n]{0,200}+)?+>(?:<(?:code|samp)(?: [^<>\n]{0,200}+)?+>)?+"
)
#: What soon tells that there is none.
_MARKUP = re.compile(rb"<(?:br|code|pre|/p)")
#: What soon tells that no `ESC` got lost: a pattern is looked for several times as fast as several words.
_LOST = re.compile(rb"\[(?:0m|[0-2]?+[AK])")
#: What soon tells that there is a bar of tqdm.
_BAR = re.compile(rb"%\|")
#: Where a state of tqdm's bar follows another on its line: the carriage return between them got lost. What begins with a
#: literal is found five times as fast.
_LOST_RETURN = re.compile(
    rb"/(?:(?<=it/)s|(?<=s/)it)(?:, [^\[\]\r\n]{0,400}+)?+\](?=(?:(?![0-9]%\|)[^\[\]\r\n]){0,200}+[0-9]%\|)"
)
#: Cursor moves of bars whose `ESC` got lost.
_LOST_MOVES = re.compile(rb"(?m:(?<![^\r\n])|(?<=\]))(?:\[[0-2]?+[AK])++(?![\w\]])")
#: How editors and shells of Windows begin a file: a mark of UTF-8, or of UTF-16, whose zeros are removed.
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
#: Where files were joined, a mark stands before a line within.
_MARK_WITHIN = re.compile(rb"(?m)^(?:" + b"|".join(_MARKS) + rb")")
_JSON_TEXT = rb'("(?:[^"\\\n]++|\\.)*+")'
#: What those who ship logs keep beside a line, and when and where it was printed: with anything else it is a record.
_BESIDE = (
    rb'"(?:stream|stream_name|logtag|_p|attrs|@?+timestamp|receiveTimestamp|time|date|ts|ingestionTime|logStreamName|'
    rb'logName|eventId|insertId|labels|fields|resource|severity)": ?+'
    rb'(?:"[^"\\\n]*+"|[\d.eE+-]++|\{(?:[^{}\n]|\{[^{}\n]*+\})*+\})'
)
#: A line of the files in which Docker, Kaggle and others keep what was printed. Source of Kaggle's: `kaggle kernels output`.
_KEPT = re.compile(
    rb"(?m)^[\[,]?+\{(?=\"(?:log|line|message|data|textPayload)\": ?+\"|"
    + _BESIDE
    + rb", ?+)(?:"
    + _BESIDE
    + rb', ?+)*+"(?:log|line|message|data|textPayload)": ?+'
    + _JSON_TEXT
    + rb"(?:, ?+"
    + _BESIDE
    + rb")*+\}[\],]?+(?=\r?$)"
)
#: Line ends of Windows, and those that a second program made of them.
_LINE_END = re.compile(rb"(?<!\r)\r++\n")
# mpirun --tag-output, or horovodrun, which names no job; a tag can stand inside a line. SageMaker makes
# `[1,mpirank:8,algo-2]` of `[1,8]`; Open MPI 5 may name the launcher, `[prterun-host-7@1,8]`, and the process, `[1,8][host:9]`.
# Source: PRRTE, pull request 1406.
_MPI_TAG = re.compile(
    rb"\[(?:prterun-[\w.-]++@)?+(?:\d++,)?+(?:mpirank:)?+(\d{1,9}+)(?:,algo-\d++)?+\]"
    rb"(?:\[[\w.-]++:\d++\])?+<std(?:out|err)>: ?"
)
#: What --timestamp-output glues to the front of a tag. A pattern of both would be tried at every character.
_MPI_DATE = re.compile(rb"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}")
_MPI_DATE_LENGTH = len("Mon Nov  2 10:00:00 2026")
# torchrun --tee: only at a line's start, where it is unmistakable. TorchX names the role, and the rank behind the local one.
_LINE_TAG = re.compile(rb"(?m)^(?:\[(?:default|rank|trainer)(?:\d{1,9}+\|)?+(\d{1,9}+)\]: ?)")
_LINE_TAGS = (b"[default", b"[rank", b"[trainer")
_DAY = rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
_ISO = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d++)?+(?:Z|[+-]\d\d:?+\d\d)"
_STAMP = rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d"
#: How the patterns begin of what stands at the front of a line.
_AT_START = rb"(?m)^"
#: What `grep` puts before the lines of a file, and those around them, and `diff` before those of one log or of two.
_GREP = re.compile(rb"(?m)^[^\s:]{1,200}?\.(?:err|log|out|txt)[:-](?:\d++[:-])?+()")
_DIFF = tuple(re.compile(rb"(?m)^%s()" % each) for each in (rb"\+", rb"-(?!->)"))
# Labels at the front of every line. They are removed only where most lines have one, since a single one could be the
# printer's own. A group is the rank, or the number of the host, if any; of two, the first that is not empty.
_LABELS = (
    # GitLab, with the number of the stream. Behind `+` no blank follows: the text goes on with that of the line before.
    re.compile(rb"(?m)^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d++)?+Z [\da-f]{2}[OE](?:[ +]|$)()"),
    # Ray's `(name pid=7, ip=10.0.0.2)`; SkyPilot's `(name, pid=7)` and `(worker1, rank=1, pid=7, ip=10.0.0.2)`, which stand
    # behind each carriage return of a bar as well. What begins with a literal is found faster than what begins with `^`.
    re.compile(
        rb"(?m)\((?<![^\r\n]\()(?:[\w.-]++(?:, [\w.-]++(?=,))?+,? (?:rank=(\d{1,6}+),? )?+)?+"
        rb"pid=\d++(?:, ip=[\d.]{0,12}?(\d{1,3}))?\)(?: |$)"
    ),
    # `gcloud ai custom-jobs stream-logs` of Vertex AI: of the first pool there is one replica, the chief
    re.compile(
        rb"(?m)^[A-Z]{4,8}(?:\t| ++)" + _DAY + rb" [+-]\d{4}(?:\t| ++)(?:workerpool(\d{1,3}+)-\d++|service)(?:\t| ++|$)"
    ),
    re.compile(rb"(?m)^\d++\.\ds\t\d++(?:\t|$)()"),  # what Kaggle shows of a notebook
    re.compile(rb"(?m)^(?:> ?)++()"),  # a quotation in a message or in Markdown, and one within it
    _GREP,
    *_DIFF,
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
            # Airflow, whose operators log what they run
            rb"\[\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,]\d{3}(?:[+-]\d{4})?+\] \{\w++\.py:\d++\} [A-Z]++ -()",
            # docker logs -t, kubectl logs --timestamps, a node's container log, pipelines
            rb"\[?+" + _ISO + rb"\]?+(?: std(?:out|err) [FP])?+()",
            # journalctl, also with more digits or a whole date, and syslog
            rb"(?:" + _STAMP + rb"(?:\.\d++)?+|[A-Z][a-z]{2} " + _DAY + rb" [A-Z]{3,5}) [\w.-]++ [\w.@/-]++\[\d++\]:()",
            _STAMP + rb"()",  # ts
            rb"\d\d:\d\d:\d\d ()",  # Jenkins, with two blanks
            rb"##()",  # what R Markdown puts before the lines that a program prints
            rb"\[std(?:out|err)\]()",  # programs that start others and print what these print
            # SageMaker's local mode, which is docker compose: the number at the end is not that of the host
            rb"(?:[a-z\d]{10}-)?+algo-(\d{1,6}+)-[a-z\d]{5}(?:_\d++)?+ *+\|",
            rb"[\w.-]{0,99}?[-_](\d{1,6}+) *+\|",  # docker compose
            rb"[\w-]{0,99}\.(\d{1,6}+)\.[a-z\d]{10,25}@[\w.-]++ *+\|",  # docker service logs
            rb"\d{1,3}+\|[a-zA-Z][\w.@-]{0,64}+ *+\|(?: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d:)?+()",  # pm2 logs
            rb"\[[\d.]{7,15}\.(\d{1,6}+)::std(?:out|err)\]",  # KungFu, with the address and the port of a worker
            rb"\[pod/[\w.-]{0,99}?(\d{0,6}+)/[\w.-]++\]",  # kubectl logs --prefix
            # pdsh, and DeepSpeed with it
            rb"(?=[\w.-]{0,64}?\d)(?=[\w.-]{0,64}?[a-zA-Z.])[\w.-]{0,64}?(\d{0,6}+)[a-zA-Z_.-]{0,32}+:",
        )
    ),
)
#: The widths that terminals have, how often a number or a word must go on behind a line of that width to tell that it
#: wrapped them, and of how many such lines.
_WIDTHS, _CUT, _LOOKED_AT = range(40, 301), 3, 200
#: Of so many characters, with one digit for each number, so many tell how a line begins.
_BEGIN, _BEGUN = 24, 5
_DIGITS = re.compile(rb"[0-9]++")
#: What numbers and words consist of, which may be cut.
_OF_NUMBERS, _OF_WORDS = b"0123456789.", string.ascii_letters.encode() + b"_"
#: The bytes that a character may take.
_UTF8 = 4
#: What a log begins with whose lines were indented to quote them, as Markdown does.
_INDENT = re.compile(rb"(?:[ \t]*+\n)*+([ \t]++)")
#: A line that is no part of a block of code and stands beside it, but for the fences that some put around it.
_BESIDE_BLOCK = re.compile(rb"(?m)^(?! {4}|[ \t]*+$|```|:::)[^\n]*+\n {4}|^ {4}[^\n]*+\n(?! {4}|[ \t]*+$|```|:::)")
#: `diff` shows lines of two logs where either sign stands before more than one of so many lines.
_FEW_OF_ALL = 20
#: So many labels with numbers that only rise number the lines, as `grep -n` does: ranks come back.
_FEW = 8
#: Of so many steps in a row a program may be started anew once.
_MANY = 100
#: What `cat -n` and `grep -n` put before a line; no hour of a time, and counted as numbers of lines only where they rise.
#: The first fills six columns, so that what is narrower is a program's own step, as of tf_cnn_benchmarks.
_NUMBERED = re.compile(rb"(?m)^(?:(?=[ \d]{6,9}\t) *+(\d{1,9}+)\t|(\d{1,9}+)[:-](?!\d\d\b))")
# A date that `ts` was told to print, or loguru's front of a line. Most printers begin their lines with such a date, and it
# is the clock of their records. It is taken off bars alone, and of these off bare ones and torchtune's `1|20|Loss: 2.5: `:
# they have a clock of their own, and are told from other bars by standing first on a line.
_DATE = (
    rb"\[?+\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d++)?+\]?+"
    rb"(?: \| \w++ *+\| [\w.<>]++:[\w.<>]++:\d++ -)?+ "
)
_BEFORE_BAR = rb"(?= *+(?:\d++\|\d++\|Loss: [\w.+-]++: ++)?+\d{1,3}+%\|)"
_DATED = re.compile(rb"(?m)^" + _DATE + rb"(?:" + _BEFORE_BAR + rb"()|)")
_DATED_BAR = re.compile(rb"\n" + _DATE + _BEFORE_BAR)


class ScanError(Exception):
    """A path that cannot be read as a log; `code` and `args` are a problem of the site."""

    def __init__(self, code: str, **args: object) -> None:
        super().__init__(code)
        self.code = code
        self.details = args


@dataclass
class Noise:
    """Counts of what was removed, for the report of problems."""

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
    """Open a log for reading; its suffix says how to unpack it.

    Raises:
        ScanError: it unpacks to more than `unpack` allows.
        OSError: it cannot be opened or unpacked.
    """
    try:
        return unpacked(path) if is_packed(path) else path.open("rb")
    except UnpackError as error:
        raise ScanError("unpacks_too_far", mib=error.most >> 20) from None


def _whole_lines(stream: IO[bytes], size: int, noise: Noise) -> Iterator[tuple[bytes, int, int, int]]:
    """Yield (bytes, first line, offset, newlines), cut after a newline, or inside a line that is too long to hold."""
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
    """Take off what transport put on each stretch of whole lines, and count it in `noise`.

    Args:
        raw: (bytes, number of the first line, offset of the first byte, newlines).
        noise: where what was taken off is counted.
    """
    indent, kept, width = b"", False, 0
    for data, line, offset, lines in raw:
        mark = next((each for each in _MARKS if not offset and data.startswith(each)), b"")
        text: bytes = data.removeprefix(mark)
        tags: tuple[tuple[int, int], ...] = ()
        if b"\x00" in text:
            noise.nul_bytes += text.count(b"\x00")
            noise.binary |= noise.nul_bytes > 16 + (offset + len(text)) // 1000
        if offset == 0:
            kept = _KEPT.match(text) is not None
        text = unstyled(_KEPT.sub(_printed, text) if kept else text)
        if offset == 0:
            width = _width_of(text)
            indent = _indent_of(text)
        if width:
            text = _unwrapped(text, width)
        if labels := _labels_in(text) or _indents_in(text, indent):
            text, tags = _unlabelled(text, labels)
        if found := _tags_in(text):
            text, tags = _untagged(text, found)
        yield Chunk(text, line, offset, len(data), lines, tags)


def _printed(kept: re.Match[bytes]) -> bytes:
    """Return what a program printed, without the line end; a line that is no JSON stays."""
    try:
        told = str(json.loads(kept[1]))
    except ValueError:
        return kept[0]
    return told.removesuffix("\n").replace("\n", " ").encode("utf-8", "replace")


def unstyled(text: bytes) -> bytes:
    """Remove NUL bytes, marks, colours, cursor moves and carriage returns before a line end, and apply backspaces.

    So are control characters that are written out, colours and moves whose escape character was lost, and what pages
    write instead of characters and line ends.

    Other carriage returns stay: a program that redraws a line begins it anew. Those that tqdm's bars lost are put back.
    """
    if b"\x00" in text:
        text = text.replace(b"\x00", b"")
    if b"\xff" in text or b"\xef" in text:
        text = _MARK_WITHIN.sub(b"", text)
    for first, hint, written, characters in _WRITTEN:
        if first in text and hint.search(text) and written.search(text):
            for each, character in characters:
                text = text.replace(each, character)
    if b"&" in text:
        text = _unescaped(text)
    if b"<" in text and _MARKUP.search(text):
        text = _BREAK.sub(b"", text)
    if b"\x1b" in text:
        text = _ANSI.sub(b"", text)
    if _LOST.search(text):
        text = _LOST_MOVES.sub(b"", b"\n".join(map(_uncoloured, text.split(b"\n"))))
    if b"\x08" in text:
        text = _backspaced(text)
    if _BAR.search(text):
        text = _LOST_RETURN.sub(rb"\g<0>\r", text)
    return _LINE_END.sub(b"\n", text) if b"\r" in text and b"\r\n" in text else text


def _unescaped(text: bytes) -> bytes:
    """Replace characters as pages write them, each where it stands so more often than as itself."""
    plain = text
    for written, character in _ESCAPED:
        if written in plain and plain.count(written) > text.count(character) * (character != b" "):
            plain = plain.replace(written, character)
    return plain.replace(b"&amp;", b"&") if plain.count(b"&amp;") == plain.count(b"&") else plain


def _uncoloured(line: bytes) -> bytes:
    """Remove colours whose escape character was lost."""
    return _STYLE.sub(b"", line) if _RESET in line and _COLOUR.search(line) else line


def _backspaced(text: bytes) -> bytes:
    """Apply backspaces as a terminal does: they go back, never over a line end, and what follows is drawn over what stood there.

    Keras goes back both ways: what stood there is drawn anew, as behind a carriage return alone.
    """
    # What stands before the place to draw at, and what stands behind it on its line, backwards.
    kept, behind = bytearray(), bytearray()
    for part in _BACKSPACES.split(text):
        back = len(part) - len(part.lstrip(b"\x08"))
        if back and not part.endswith(b"\r"):
            begin = max(0, len(kept) - back)
            begin = max(begin, kept.rfind(b"\n", begin) + 1, kept.rfind(b"\r", begin) + 1)
            behind += kept[begin:][::-1]
            del kept[begin:]
            continue
        line, end, further = _FIRST_LINE.match(part[back:]).groups()  # type: ignore[union-attr]
        del behind[max(0, len(behind) - len(line)) :]
        kept += line
        if end:
            kept += behind[::-1] + end + further
            behind.clear()
    return bytes(kept + behind[::-1])


def _width_of(text: bytes) -> int:
    """Return the width of the terminal that wrapped the lines of a log, 0 where none did.

    No line is longer, and at the end of some that are as long numbers or words are cut, which go on in the next line. That
    does not begin as the one before it: two lines of a printer do that are as long by chance.
    """
    lines = text.split(b"\n")
    lengths = list(map(len, lines))
    longest = max(lengths)
    if longest > _UTF8 * _WIDTHS[-1] or (text.isascii() and lengths.count(longest) < _CUT):
        return 0
    wide = [_characters(each) for each in lines]
    width = max(wide)
    full = [at for at, each in enumerate(wide[:-1]) if each == width]
    if width not in _WIDTHS or len(full) < _CUT:
        return 0
    cut = (at for at in full[:_LOOKED_AT] if _goes_on(lines[at], lines[at + 1], text))
    return width if len(list(islice(cut, _CUT))) == _CUT else 0


def _characters(line: bytes) -> int:
    return len(line) if line.isascii() else len(line.decode("utf-8", "replace"))


def _goes_on(line: bytes, following: bytes, text: bytes) -> bool:
    """Return whether a fraction is cut at the end of a line and goes on in the next, or a word that is whole elsewhere."""
    if _shape(line) == _shape(following):
        return False
    end, begin = _ends(line, _OF_NUMBERS), _begins(following, _OF_NUMBERS)
    if end and begin:  # Whole numbers may end a line and begin the next.
        return b"." not in end[:-1] and begin.count(b".") + end.count(b".") == 1
    end, begin = _ends(line, _OF_WORDS), _begins(following, _OF_WORDS)
    word = end + begin
    return bool(end and begin and word in text and re.search(rb"(?<![A-Za-z_])%s(?![A-Za-z_])" % word, text))


def _ends(line: bytes, of: bytes) -> bytes:
    return line[len(line.rstrip(of)) :]


def _begins(line: bytes, of: bytes) -> bytes:
    return line[: len(line) - len(line.lstrip(of))]


def _shape(line: bytes) -> bytes:
    """Return how a line begins, whatever its numbers: those of a printer begin alike."""
    return _DIGITS.sub(b"0", line[:_BEGIN])[:_BEGUN]


def _unwrapped(text: bytes, width: int) -> bytes:
    """Join lines that a terminal wrapped; their line ends stand behind them, so that those behind keep their numbers.

    What begins as the line before it is a line of its own, and that before it ended at the edge.
    """
    joined, begin, held = list[bytes](), b"", 0
    for line in text.split(b"\n"):
        if held and _shape(line) == begin:
            joined.append(b"\n" * held)
            held = 0
        begin = begin if held else _shape(line)
        joined.append(line)
        held += 1
        if _characters(line) != width:
            joined.append(b"\n" * held)
            held = 0
    return b"".join([*joined, b"\n" * held])[:-1]


def _labels_in(text: bytes) -> list[re.Match[bytes]]:
    """Return the labels in front of most lines of a text, if any; three lines say whether to search at all."""
    places = [text.find(b"\n", len(text) * quarter // 4) + 1 for quarter in (1, 2, 3)]
    starts = [at if 0 < at < len(text) else 0 for at in places]
    for label in _LABELS:
        # Ranks come back again and again, steps, as of Darknet, where a program is started anew.
        if (
            _stands_at(starts, label, text)
            and (found := _of_most_lines(label, text))
            and not _falls_seldom(found)
            and not _of_two(label, text)
        ):
            return _and_redrawn(found, text)
    # A text whose lines have dates seldom holds such a bar; a pattern that begins with a literal soon says so.
    if _stands_at(starts, _DATED, text) and b"|" in text and _DATED_BAR.search(b"\n" + text):
        return [each for each in _of_most_lines(_DATED, text) if each[1] is not None]
    if _stands_at(starts, _NUMBERED, text) and _number_lines(found := _of_most_lines(_NUMBERED, text), text):
        return found
    return []


def _indent_of(text: bytes) -> bytes:
    """Return the indent of the first line of a log."""
    found = _INDENT.match(text)
    return found[1] if found else b""


def _indents_in(text: bytes, indent: bytes) -> list[re.Match[bytes]]:
    """Return an indent at the front of all lines, if each has it, or of blocks of code in Markdown; blank ones may lack it."""
    if indent and not re.search(rb"(?m)^(?!%s|[ \t]*+$)" % indent, text):
        return list(re.finditer(rb"(?m)^%s()" % indent, text))
    # Such blocks stand between blank lines, and a log that is quoted so has most of the lines; its beginning soon tells.
    mostly = all(
        2 * each.count(b"\n    ") > each.count(b"\n") - each.count(b"\n\n") for each in (text[:_TAGS_HEAD], text)
    )
    return list(re.finditer(rb"(?m)^    ()", text)) if mostly and not _BESIDE_BLOCK.search(text) else []


def _stands_at(starts: Sequence[int], label: re.Pattern[bytes], text: bytes) -> bool:
    """Return whether a label stands at two of three places."""
    return sum(label.match(text, at) is not None for at in starts) >= 2


def _of_most_lines(label: re.Pattern[bytes], text: bytes) -> list[re.Match[bytes]]:
    """Return all labels of a kind if most lines of a text have one."""
    return found if 2 * len(found := list(label.finditer(text))) > text.count(b"\n") else []


def _and_redrawn(found: list[re.Match[bytes]], text: bytes) -> list[re.Match[bytes]]:
    """Return labels or tags, and those of lines that a bar of another program hides: it stands before them, redrawn.

    Behind a label all else is the program's own, so that only a line that begins without one may hold one further on.
    """
    if not found or b"\r" not in text or not found[0].re.pattern.startswith(_AT_START):
        return found
    begins = {each.start() for each in found}
    label = re.compile(found[0].re.pattern.removeprefix(_AT_START), re.MULTILINE)
    begin = looked = 0
    for returned in re.finditer(rb"\r", text):  # A literal is found faster than what only looks behind itself.
        begin, looked = max(begin, text.rfind(b"\n", looked, returned.start()) + 1), returned.end()
        if begin not in begins and (each := label.match(text, looked)):
            begins.add(begin)
            found.append(each)
    return sorted(found, key=lambda each: each.start())


def _of_two(label: re.Pattern[bytes], text: bytes) -> bool:
    """Return whether labels are of the lines of two logs, which `grep` names and `diff` marks: nothing joins these."""
    if label is _GREP:
        return len({re.split(rb"[:-](?:\d++[:-])?+$", each[0])[0] for each in label.finditer(text)}) > 1
    return label in _DIFF and all(_FEW_OF_ALL * len(each.findall(text)) > text.count(b"\n") for each in _DIFF)


def _only_rise(found: Sequence[re.Match[bytes]]) -> bool:
    """Return whether labels have numbers that only rise, and enough of them to tell."""
    return len(found) > _FEW and _falls(found) == 0


def _falls_seldom(found: Sequence[re.Match[bytes]]) -> bool:
    return len(found) > _FEW and _falls(found) <= len(found) // _MANY


def _falls(found: Sequence[re.Match[bytes]]) -> int:
    """Return how often the number of a label is not above that of the label before."""
    last = found[0].re.groups if found else 0
    numbers = (int(each[1] or each[last] or 0) for each in found)
    return sum(one >= following for one, following in pairwise(numbers))


def _tags_in(text: bytes) -> list[re.Match[bytes]]:
    """Return the rank tags in a text."""
    if b"<" in text and b"]<std" in text:
        return list(_MPI_TAG.finditer(text))
    # torchrun tags every line of a run, so that its tags stand in the first lines of the chunk too.
    head = text[:_TAGS_HEAD]
    return _and_redrawn(list(_LINE_TAG.finditer(text)), text) if any(each in head for each in _LINE_TAGS) else []


def _untagged(text: bytes, found: Sequence[re.Match[bytes]]) -> tuple[bytes, tuple[tuple[int, int], ...]]:
    """Remove rank tags or labels; return the text, and where in it each stood."""
    begins, ends = [each.start() for each in found], [each.end() for each in found]
    if found[0].re is _MPI_TAG and any(text[at - 1] in _OF_NUMBERS for at in begins if at):
        begins = [_begin_of(text, at) for at in begins]
    removed = accumulate(map(sub, ends, begins), initial=0)
    last = found[0].re.groups
    ranks = [int(each[1] or each[last] or 0) for each in found]
    if found[0].re is _NUMBERED:
        ranks = [0] * len(ranks)
    tags = tuple((begin - gone, rank) for begin, gone, rank in zip(begins, removed, ranks, strict=False))
    return b"".join(text[end:begin] for end, begin in zip([0, *ends], [*begins, len(text)], strict=True)), tags


def _unlabelled(text: bytes, outer: Sequence[re.Match[bytes]]) -> tuple[bytes, tuple[tuple[int, int], ...]]:
    """Remove labels, and those of another kind behind them: stamps and ranks stand in either order.

    `srun --label ... | ts` stamps what is labelled, `kubectl logs --prefix --timestamps` labels what is stamped. A stamp
    behind a stamp is the program's own.
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


def _number_lines(found: Sequence[re.Match[bytes]], text: bytes) -> bool:
    """Return whether numbers are those of lines, and not of steps: those of six digits may be either.

    `cat -n` numbers all lines, `grep -n` puts no blank behind its colon.
    """
    if not _only_rise(found):
        return False
    if found[0][1] is None:
        return any(text[each.end() : each.end() + 1] != b" " for each in found)
    apart = int(found[-1][1] or 0) - int(found[0][1])
    return text.startswith(b" ", found[0].start()) or apart == len(found) - 1


def _begin_of(text: bytes, at: int) -> int:
    """Return where a tag of mpirun begins, or the date that is glued to its front."""
    begin = at - _MPI_DATE_LENGTH
    return begin if begin >= 0 and _MPI_DATE.fullmatch(text, begin, at) else at
