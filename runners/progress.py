"""What is seen of a matrix while it runs: a bar on a terminal, a line per event elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Characters of a log's line that are shown beside the bar.
SHOWN = 60


@dataclass(frozen=True)
class Progress:
    """Four ways to say how far we are: `begin` and `end` of a run, a `line` for reading, the `state` of the moment."""

    begin: Callable[[Path], None]
    state: Callable[[str], None]
    line: Callable[[str], None]
    end: Callable[[Path, str], None]


@contextmanager
def over(total: int | None) -> Iterator[Progress]:
    """Progress over that many runs; None where the number is not known beforehand."""
    tqdm = _tqdm() if sys.stderr.isatty() else None
    if tqdm is None:
        yield _lines(total)
        return
    with tqdm(total=total, unit="run", dynamic_ncols=True) as bar:
        yield _bar(bar)


def printable(text: str) -> str:
    """A host's text on one line, without what would move the cursor of whoever reads it."""
    return "".join(character if character.isprintable() else " " for character in text).strip()


def _tqdm() -> Any:
    """The bar's maker; None where it is not installed, for launching needs a Python alone."""
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm


def _lines(total: int | None) -> Progress:
    begun: list[Path] = []

    def begin(folder: Path) -> None:
        begun.append(folder)
        print(f"[{len(begun)}{f'/{total}' if total else ''}] {folder}", flush=True)

    return Progress(
        begin=begin,
        state=lambda _text: None,
        line=lambda text: print(printable(text), flush=True),
        end=lambda folder, outcome: print(f"{folder}: {printable(outcome)}", flush=True),
    )


def _bar(bar: Any) -> Progress:
    def end(folder: Path, outcome: str) -> None:
        bar.set_postfix_str("")
        bar.write(f"{folder}: {printable(outcome)}")
        bar.update(1)

    return Progress(
        begin=lambda folder: bar.set_description_str(f"{folder.parent.name}/{folder.name}"),
        state=lambda text: bar.set_postfix_str(printable(text)[:SHOWN]),
        line=lambda text: bar.write(printable(text)),
        end=end,
    )
