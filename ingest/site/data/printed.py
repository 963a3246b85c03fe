"""Results that others published, as records of `results.json`: those that the pages of models show.

Figures of one case at one place are one result, and places that print the same figures are one result, too. Single
repeats, and figures that a script computed from them, are not results; they are in `published.csv`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import UNSET

from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.words import Words
from perfledger.ingest.published.likeness import better
from perfledger.ingest.published.publications import Published, Publisher, options_cell
from perfledger.ingest.site import addresses
from perfledger.ingest.site.data.records import reason_text, result_id
from perfledger.ingest.site.model import Site, Suite
from perfledger.ingest.site.published_figures import is_shown
from perfledger.ingest.site.published_tables import printed
from perfledger.schema import results
from perfledger.schema.records import Reason
from perfledger.schema.results import Both, Conditions, Metric, Place, PrintedCase, ResultRecord
from perfledger.schema.vocabulary import precision_group

_CASE = (
    "source", "model", "framework", "framework_source", "hardware", "nodes", "devices", "batch_size", "precision",
)  # fmt: skip
_HEADLINE = "throughput"
_SWITCH = {"yes": True, "no": False}


@dataclass(frozen=True)
class _Result:
    """One case's figures by metric, and the first row of every place that prints them."""

    figures: dict[str, Published] = field(default_factory=dict)
    places: list[Published] = field(default_factory=list)


def records(site: Site, words: Words) -> list[ResultRecord]:
    """Return a record per published result, by id."""
    suites = {each.id: each for each in site.known}
    # Pages of one source name other commits of one trainer for the same figure.
    shown = (row for row in site.published.rows if row.suite in suites and is_shown(row))
    found = []
    for rows in by_key(shown, lambda row: _case_key(row, trainer="")).values():
        known: set[str] = set()
        for result in _results(rows):
            # Figures that contradict an earlier one of the same trainer are distinguished by their values.
            case = _case_key(result.places[0], result.places[0].framework_source)
            distinction = case + _all_figures(result) if case in known else case
            known.add(case)
            found.append(_record(site, words, suites[str(rows[0].suite)], result, distinction))
    return sorted(found, key=lambda each: each.id)


def _all_figures(result: _Result) -> str:
    return json.dumps(sorted((metric, each.printed) for metric, each in result.figures.items()))


def _case_key(row: Published, trainer: str) -> str:
    stated = {key: getattr(row, key) for key in _CASE} | {"framework_source": trainer}
    return json.dumps([*stated.values(), options_cell(row.options)], ensure_ascii=False)


def _results(rows: Sequence[Published]) -> list[_Result]:
    """Return the results of one case: places whose common figures agree are one result."""
    found: list[_Result] = []
    for figures in _at_places(rows):
        known = next((each for each in found if _agree(each.figures, figures)), None)
        if known is None:
            found.append(known := _Result())
        known.figures.update({metric: row for metric, row in figures.items() if metric not in known.figures})
        known.places.append(next(iter(figures.values())))
    return found


def _at_places(rows: Sequence[Published]) -> Iterable[dict[str, Published]]:
    """Group the figures of one case by place; a metric that a place prints twice begins another group."""
    found: dict[tuple[str, int], dict[str, Published]] = {}
    printed = Counter[tuple[str, str]]()
    for row in rows:
        times = printed[row.place, row.metric]
        printed[row.place, row.metric] += 1
        found.setdefault((row.place, times), {})[row.metric] = row
    return found.values()


def _agree(known: Mapping[str, Published], others: Mapping[str, Published]) -> bool:
    both = known.keys() & others.keys()
    return bool(both) and all(_figure(known[key]) == _figure(others[key]) for key in both)


def _figure(row: Published) -> tuple[object, ...]:
    return (row.unit, row.value if row.value is not None else row.state)


def _record(site: Site, words: Words, suite: Suite, result: _Result, distinction: str) -> ResultRecord:
    row = next(iter(result.figures.values()))
    headline = result.figures.get(_HEADLINE)
    source = site.published.sources[row.source]
    value = headline.value if headline else None
    state = next((each.state for each in result.figures.values() if each.value is None), "measured")
    return ResultRecord(
        id=result_id((row.source, row.model, row.framework, row.hardware), row, (row.precision,), distinction),
        origin="published",
        suite=suite.id,
        title=Both(en=suite.title.en, zh=suite.title.zh),
        model=row.model,
        framework=row.framework,
        framework_version=None,
        hardware=row.hardware or None,
        nodes=row.nodes,
        devices=row.devices,
        batch_size=row.batch_size,
        precision=row.precision or None,
        group=precision_group(row.precision),
        options={key: _plain(each) for key, each in sorted(row.options.items())},
        round=_round(source),
        source=_source(source, result.places),
        rule=None,
        unit=headline.unit if headline else None,
        value=value,
        text=printed(headline) if headline and value is not None else None,
        range=None,
        low=value,
        high=value,
        spread=None,
        repeats=0 if value is None else 1,
        witnesses=None,
        speedup=float(headline.speedup) if headline and headline.speedup else None,
        efficiency=None,
        speedup_reason=None,
        metrics={key: _metric(key, each) for key, each in sorted(result.figures.items()) if key != _HEADLINE},
        outcome="completed" if state == "measured" else state,
        reason=None if value is not None else reason_text(words, _reason(state)),
        conditions=Conditions(),
        diverged=False,
        runs=(),
        page=addresses.model_folder(suite),
    )


def _round(source: Publisher) -> str:
    """Return the name of a source with its year, where that is known and not part of the name."""
    year = "" if source.year is None else str(source.year)
    return source.name if year in source.name else f"{source.name} {year}"


def _plain(text: str) -> bool | int | str:
    """Convert an option to the type that our runs use: tables say yes and 16, logs true and the number."""
    if text in _SWITCH:
        return _SWITCH[text]
    return int(text) if text.isascii() and text.isdecimal() and str(int(text)) == text else text


def _reason(state: str) -> Reason:
    codes = {"measured": "not_published", "pending": "pending"}
    return Reason(codes[state]) if state in codes else Reason("outcome", {"outcome": state})


def _source(source: Publisher, places: Sequence[Published]) -> results.Source:
    first, *others = (_place(source, each) for each in places)
    return results.Source(
        name=source.name,
        title=Both(en=source.title.en, zh=source.title.zh),
        address=first.address,
        place=first.place,
        line=first.line,
        trainer=places[0].framework_source or None,
        printed=first.printed,
        also=tuple(others),
    )


def _place(source: Publisher, row: Published) -> Place:
    """Return a place that prints a figure, with the facts that it prints if these are not those of the case."""
    found = PrintedCase(
        batch_size=row.printed_batch_size or UNSET,
        row_batch_size=row.row_batch_size or UNSET,
        precision=row.printed_precision or UNSET,
        label=row.label or UNSET,
    )
    address = source.address_of(row)
    return Place(
        address=address, place=row.place, line=row.line or None, printed=UNSET if found == PrintedCase() else found
    )


def _metric(metric: str, row: Published) -> Metric:
    return Metric(
        value=row.value,
        text=None if row.value is None else printed(row),
        unit=row.unit,
        better=better(metric),
    )
