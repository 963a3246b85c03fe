"""Verify a built site: follow its figures from the pages to the results, to the ledger's runs, to the logs' bytes.

Every result is computed again from the ledger, and every log is hashed and read again. A publisher can sign
`results.json`, which contains the hash of every log.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from dataclasses import replace as with_fields
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag, urljoin

from msgspec import ValidationError

from perfledger.ingest.common import numbers
from perfledger.ingest.common.documents import MOST_OF_SITE, MOST_OF_TABLE, DocumentError, cause, read_bytes
from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.compute.results import results, unplaced
from perfledger.ingest.record.store import Store, runs_in, store_of
from perfledger.ingest.site import addresses, run_paging
from perfledger.schema.records import NoFigure, Run, from_text
from perfledger.schema.results import ResultRecord, ResultsDocument

if TYPE_CHECKING:
    from perfledger.ingest.build import Inputs, State

_RESULTS = "data/results.json"
_FIGURE = re.compile(r"[+-]?\d[\d,.]*(?:[×%]|$)")
_HASH = re.compile(r"SHA-256 (\w+)")
#: HTML's elements without content and end tag.
_VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"})
#: Class of the element with the figure of a run's page.
_HEADLINE = "pl-headline"
#: Class of the element with links to repeats by their numbers, which are not figures.
_REPEATS = "pl-runs"


@dataclass(frozen=True)
class Shown:
    """A figure on a page: the address of its run, relative to the page, its text, and its exact value if stated."""

    address: str
    text: str
    value: str | None
    line: int


@dataclass
class Verified:
    """The numbers of checked things at each link of the chain, and one sentence for each failure."""

    runs: int
    results: int
    pages: int = 0
    figures: int = 0
    logs: int | None = None
    wrong: list[str] = field(default_factory=list)


def verify(site: Path, state: State | None, ledger: str = "") -> Verified:
    """Follow every figure of a built site to the ledger and, with `state`, to the logs.

    Args:
        site: the folder that `mkdocs build` wrote.
        state: the logs, read again; None to compare the site only with its ledger.
        ledger: folder or address of the ledger, if it is not in the site.

    Raises:
        UsageError: the folder is not a built site, or its data cannot be read.
    """
    found = _Site(site, store_of(ledger, site))
    verified = Verified(len(found.runs), len(found.results))
    verified.wrong += _results(found)
    verified.wrong += _pages(found, verified)
    if state:
        verified.wrong += _logs(found, state, verified)
    return verified


def read_again(inputs: Inputs) -> State:
    """Read logs without any ledger or cache, since these are to be verified."""
    from perfledger.ingest import build as builder

    with tempfile.TemporaryDirectory() as empty:
        return builder.read(with_fields(inputs, out=Path(empty, "docs")))


def summary(found: Verified) -> str:
    """Return a table of the numbers of checked things, and the remaining work."""
    from tabulate import tabulate

    rows = [
        ("pages", found.pages, f"{found.figures} numbers on them match the data of the run that they link to"),
        ("results", found.results, "computed again from the runs of the ledger"),
        ("runs", found.runs, "in the ledger"),
    ]
    if found.logs is not None:
        rows.append(("logs", found.logs, "with the SHA-256 that the ledger states, read again into the same data"))
    lines = [tabulate(rows, tablefmt="plain")]
    if found.logs is None:
        lines.append("logs were not given, so nothing was compared with them: python -m ingest verify SITE raw_logs/")
    if found.wrong:
        lines.append(f"{len(found.wrong)} links of the chain do not hold (listed above)")
    return "\n".join(lines)


class _Site:
    """The data of a built site."""

    def __init__(self, folder: Path, ledger: Store) -> None:
        self.folder, self.ledger = folder, ledger
        if not (folder / "index.html").is_file() or not (folder / _RESULTS).is_file():
            raise UsageError(f"verify {folder}: holds no built site; run mkdocs build, then give its folder")
        self.results = [each for each in self._document().results if each.origin == "measured"]
        if not (names := ledger.names()):
            raise UsageError(f"verify {folder}: its ledger lies elsewhere; name its place with --ledger")
        self.runs = {run.id: run for name in names for run in self._runs(name)}

    def _document(self) -> ResultsDocument:
        path = self.folder / _RESULTS
        try:
            return from_text(read_bytes(path, MOST_OF_SITE), ResultsDocument)
        except (OSError, ValueError, ValidationError) as error:
            raise UsageError(f"{path}: cannot be read ({error}); build the site again") from None

    def _runs(self, name: str) -> list[Run]:
        try:
            return list(runs_in(name, self.ledger.get(name) or b""))
        except (OSError, ValueError, ValidationError) as error:
            path = f"{self.ledger.label}/{name}"
            raise UsageError(f"{path}: cannot be read ({error}); build the site again") from None

    @cached_property
    def addresses(self) -> Mapping[str, str]:
        """Runs by the addresses that show them, which both languages share."""
        places = (run_paging.run_page, run_paging.run_on_demand)
        pages = {addresses.served(place(each)) or "": each for each in self.runs for place in places}
        return pages | {each.page: each.id for one in self.results for each in one.runs if each.page}

    @cached_property
    def stated(self) -> Mapping[str, tuple[set[str], set[float]]]:
        """The figures of each run in results and ledger: their texts, and their values."""
        found: dict[str, tuple[set[str], set[float]]] = {each: (set(), set()) for each in self.runs}
        for run in self.runs.values():
            _add(found, [run.id], [(numbers.figure(value), value) for value in _own(run)])
        for each in self.results:
            _add(found, [link.id for link in each.runs], _texts(each))
        return found


def _own(run: Run) -> Iterator[float]:
    """Yield the figures and metrics of a run."""
    for figure in run.figures.values():
        if not isinstance(figure, NoFigure):
            yield figure.value
    yield from (each.value for each in run.metrics.values() if each.value is not None)


def _texts(result: ResultRecord) -> Iterator[tuple[str, float]]:
    """Yield the figures of a result, as pages show them and exactly."""
    if result.value is not None:
        yield result.text or "", result.value
    if result.value is not None and result.devices:
        each = result.value / result.devices
        yield numbers.figure(each, result.spread or None), each
    if result.speedup is not None:
        yield numbers.ratio(result.speedup), result.speedup
    if result.efficiency is not None:
        yield numbers.percent(result.efficiency), result.efficiency
    yield from ((each.text, each.value) for each in result.metrics.values() if each.value is not None and each.text)


def _add(
    found: dict[str, tuple[set[str], set[float]]], runs: Iterable[str], figures: Iterable[tuple[str, float]]
) -> None:
    given = list(figures)
    for run in runs:
        if run in found:
            found[run][0].update(text for text, _ in given)
            found[run][1].update(value for _, value in given)


def _results(site: _Site) -> Iterator[str]:
    """Compute every measured result again from the ledger's runs; yield the differences."""
    runs = list(site.runs.values())
    again = {(frozenset(each.run_ids), each.rule): each for each in (*results(runs), *unplaced(runs))}
    for each in site.results:
        ids = frozenset(link.id for link in each.runs)
        found = again.get((ids, each.rule or ""))
        where = f"{site.folder / _RESULTS}: {each.id}"
        if lost := sorted(ids - site.runs.keys()):
            yield f"{where}: uses {lost[0]}, but the ledger has no such run"
        elif found is None:
            yield f"{where}: its runs make no such result"
        elif (stated := (each.value, each.low, each.high)) != (found.value, found.low, found.high):
            yield f"{where}: states {stated[0]}, but its runs give {found.value}"
        for link in each.runs:
            if link.id in site.runs and (link.log, link.sha256) != (site.runs[link.id].path, site.runs[link.id].sha256):
                yield f"{where}: states another log or hash for {link.id} than the ledger"


def _pages(site: _Site, verified: Verified) -> Iterator[str]:
    """Compare every figure on a page that is linked to a run with the data of that run; yield the differences."""
    for path in sorted(site.folder.rglob("*.html")):
        page = path.relative_to(site.folder).as_posix()
        parser = _Collector()
        try:
            parser.feed(read_bytes(path, MOST_OF_TABLE).decode("utf-8", "replace"))
        except (OSError, DocumentError) as error:
            yield f"{path}: cannot be read ({cause(error)})"
            continue
        verified.pages += 1
        for shown in parser.shown:
            if run := site.addresses.get(_address(page, shown.address)):
                verified.figures += 1
                yield from _shown(f"{path}:{shown.line}", shown, run, site)
        own = site.runs.get(site.addresses.get(_address(page, ""), ""))
        if own and parser.hashes and own.sha256 not in parser.hashes:
            yield f"{path}: states another SHA-256 of the log than the ledger"


def _shown(where: str, shown: Shown, run: str, site: _Site) -> Iterator[str]:
    if shown.text == run:
        return  # the name of the run, which is a number if its folder has one as a name
    texts, values = site.stated.get(run, (set(), set()))
    exact = None if shown.value is None else _number(shown.value)
    if shown.text not in texts or (shown.value is not None and exact not in values):
        value = f" (exactly {shown.value})" if shown.text in texts else ""
        yield f"{where}: shows {shown.text}{value}, which neither the results nor the ledger give of {run}"


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _address(page: str, link: str) -> str:
    """Return the address of a link on a page, below the folder of a language."""
    path, fragment = urldefrag(urljoin(f"/{page.removesuffix('index.html')}", link))
    below = unquote(path).removeprefix("/").removeprefix("zh/")
    return f"{below}#{unquote(fragment)}" if fragment else below


def _logs(site: _Site, state: State, verified: Verified) -> Iterator[str]:
    """Compare the hashes of the logs, and all data byte for byte with a new build; yield the differences."""
    from perfledger.ingest import build as builder

    verified.logs = 0
    found = {run.id: run for run in state.ledger.runs}
    for run in site.runs.values():
        again = found.get(run.id)
        if again is None:
            yield f"{run.path}: not among the given logs, but {run.id} of the site was computed from it"
        elif again.sha256 != run.sha256:
            yield f"{run.path}: has the SHA-256 {again.sha256}, but the site was made from {run.sha256}"
        else:
            verified.logs += 1
    yield from (
        f"{run.path}: the site has no run of it; build the site again, or give the logs that it was made of"
        for run in found.values()
        if run.id not in site.runs
    )
    at_site = with_fields(state, inputs=with_fields(state.inputs, out=site.folder), store=site.ledger)
    yield from (f"{each}: is not what the logs give" for each in builder.stale(at_site))


class _Collector(HTMLParser):
    """Collect the figures of a page that are linked to runs, and the hashes of logs that it states.

    A figure is linked itself, is in a row that begins with a link, or is the headline of a run's own page.
    """

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[Shown] = []
        self.hashes: set[str] = set()
        self._open: list[tuple[str, dict[str, str | None]]] = []
        self._text = self._row = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            return
        self._open.append((tag, dict(attrs)))
        if tag in ("a", "p", "td"):
            self._text = ""
        if tag == "tr":
            self._row = ""

    def handle_data(self, data: str) -> None:
        self._text += data
        if found := _HASH.search(data):
            self.hashes.add(found[1])

    def handle_endtag(self, tag: str) -> None:
        while self._open:
            name, attributes = self._open.pop()
            if name == tag:
                self._ended(tag, attributes)
                return

    def _ended(self, tag: str, attributes: Mapping[str, str | None]) -> None:
        first = next(iter(self._text.split()), "")
        figure = bool(_FIGURE.fullmatch(first))
        if tag == "a" and (address := attributes.get("href")):
            # A link in a drawing has words for its pointer, which may begin with a number of devices.
            is_drawn = any(name == "svg" for name, _ in self._open)
            if figure and not is_drawn and not any(each.get("class") == _REPEATS for _, each in self._open):
                self._add(address, first, self._value())
            self._row = self._row or ("" if figure else address)
        elif tag == "td" and figure and self._row and "data-s-unit" in attributes:
            self._add(self._row, first, attributes.get("data-value"))
        elif tag == "p" and figure and attributes.get("class") == _HEADLINE:
            self._add("", first, None)

    def _add(self, address: str, text: str, value: str | None) -> None:
        self.shown.append(Shown(address, text, value, self.getpos()[0]))

    def _value(self) -> str | None:
        """Return the exact value of the nearest element around a link that has one."""
        return next((value for _, each in reversed(self._open) if (value := each.get("data-value"))), None)
