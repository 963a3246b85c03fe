"""The remarks on an answer: what speaks against it, and which results it leaves out.

Each remark links to the page that shows why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text, counted, phrase, word_for
from perfledger.ingest.compute.comparison import Candidate, Difference, LeftOut, Verdict
from perfledger.ingest.compute.rules import SUMMARY
from perfledger.ingest.site import addresses, caveats, witness_tables
from perfledger.ingest.site.data.measured import date_of
from perfledger.ingest.site.model import Row, Site, Suite, named, written
from perfledger.ingest.site.options import listed, name_of, value_of
from perfledger.ingest.site.result_tables import representative
from perfledger.ingest.site.verdict_words import entrant_name

WIDE = 0.05  # a spread above this is a warning
FEW = 10  # so does a figure of fewer records
LONG = 92  # and dates that are more days apart
#: Versions that differ because the frameworks do, and may explain a difference between them.
_LIBRARIES = ("cuda", "cudnn", "nccl")
#: Words of differences that are not facts of the vocabulary.
_NAMES = {"rule": phrase("compare.fact_rule"), "unit": phrase("compare.fact_unit")}
#: The tables of words for the names of differences.
_WORDS = {"condition": "environment", "fact": "fact"}
_CUT_OFF = frozenset({"truncated", "short", "stopped"})  # outcomes of a run that has a figure and did not end


@dataclass(frozen=True)
class Mark:
    """A remark on an answer and the page that shows why; `warns` is False if it speaks for the answer.

    `is_faster`: it names a result that is faster than those of the answer, which readers see without opening it.
    """

    text: Text
    page: str
    warns: bool = True
    is_faster: bool = False


def run_page(site: Site, row: Row) -> str | None:
    """Return the page of the run that represents a result."""
    return site.page(representative(site, row)) if numbers.known(row.value) else site.page(site.by_id[row.run_ids[0]])


def marks(site: Site, suite: Suite, verdict: Verdict) -> tuple[Mark, ...]:
    """Return what an answer leaves out, then the warnings about its figures, or a remark that it has no warnings."""
    compared = len(verdict.pair) > 1
    found = [
        *_of_rules(suite, verdict),
        *_of_figures(site, suite, verdict.pair),
        *(_between(suite, verdict) if compared else ()),
        *(_of_dates(site, suite, verdict.pair) if compared else ()),
    ]
    if not found and compared:
        found = [Mark(phrase("front.sound"), _page(suite, "beside"), warns=False)]
    return (*_left_out(site, suite, verdict), *found)


def _page(suite: Suite, section: str) -> str:
    return addresses.section(addresses.model_page(suite), section)


def _of_rules(suite: Suite, verdict: Verdict) -> list[Mark]:
    """Return a warning if another rule names another winner."""
    if verdict.contrast is None or not verdict.contrast.against:
        return []
    second, rule = entrant_name(verdict.pair[1]), word_for("rule", verdict.contrast.against[0])
    return [Mark(phrase("front.other_rule", rule=rule, name=second), _page(suite, "logs"))]


def _of_dates(site: Site, suite: Suite, pair: Sequence[Candidate]) -> list[Mark]:
    """Return a warning if the figures of two were measured months apart, or nobody knows when."""
    days = [sorted(day for run in each.runs if (day := date_of(run))) for each in pair]
    if undated := [each for each, known in zip(pair, days, strict=True) if not known]:
        return [Mark(phrase("front.undated", names=_names(undated)), _page(suite, "environment"))]
    first, second = sorted((each[0], each[-1]) for each in days)
    apart = (date.fromisoformat(second[0]) - date.fromisoformat(first[1])).days
    if apart <= LONG:
        return []
    return [Mark(phrase("front.months", n=round(apart / 30.4)), _page(suite, "environment"))]


def _of_figures(site: Site, suite: Suite, pair: Sequence[Candidate]) -> list[Mark]:
    """Return warnings about the figures of an answer, each by itself; what logs share is counted once for all."""
    runs = [run for each in pair for run in each.runs]
    troubled = sum(bool(run.problems) for run in runs)
    warned = [run for run in runs if run.disturbances or run.warnings]
    found: list[Mark] = []
    if alone := [each for each in pair if each.result.repeats == 1]:
        word = "" if len(alone) < len(pair) else "_alone" if len(pair) == 1 else "_all"
        page = run_page(site, alone[0].result) or _page(suite, "beside")
        found.append(Mark(phrase(f"front.single{word}", names=_names(alone)), page))
    found += [mark for each in pair for mark in _of_figure(site, suite, each.result, entrant_name(each))]
    found += [Mark(counted("front.problems", troubled), addresses.PROBLEMS)] if troubled else []
    if not warned:
        return found
    has_page = site.has_page(warned[0])
    kind = "disturbances" if warned[0].disturbances else "warnings"
    where = addresses.section(site.page(warned[0]), kind) if has_page else addresses.RUNS
    return [*found, Mark(counted("front.warnings", len(warned)), where)]


def _of_figure(site: Site, suite: Suite, row: Row, name: Text) -> list[Mark]:
    """Return warnings about one figure: its spread, its loss, its witnesses, its log, and its pace."""
    run, own = representative(site, row), run_page(site, row) or _page(suite, "beside")
    found: list[Mark] = []
    if numbers.known(row.spread) and (row.spread or 0) > WIDE:
        spread = numbers.plus_minus(row.spread)
        found.append(Mark(phrase("front.wide", spread=spread, name=name), _page(suite, "beside")))
    if row.diverged:
        found.append(Mark(phrase("front.diverged", name=name), own))
    if row.witnesses in ("line", "corrects"):
        has_section = site.has_page(run) and run.witnesses
        page = addresses.section(site.page(run), "witnesses") if has_section else witness_tables.METHOD
        found.append(Mark(phrase(f"front.witness_{row.witnesses}", name=name), page))
    if not numbers.known(row.value):
        return found
    if run.outcome in _CUT_OFF:
        found.append(Mark(phrase("front.cut_off", name=name), own))
    figure = run.figure(row.rule)
    if figure and figure.used < FEW and row.rule != SUMMARY:
        found.append(Mark(phrase("front.few", n=figure.used, name=name), own))
    if uneven := caveats.unexplained(run):
        found.append(Mark(phrase("front.uneven", name=name, difference=numbers.signed_percent(uneven)), own))
    return found


def cautions(site: Site, suite: Suite, row: Row) -> tuple[Text, ...]:
    """Return what speaks against one figure by itself."""
    return tuple(mark.text for mark in _of_figure(site, suite, row, named(row.framework)))


def _between(suite: Suite, verdict: Verdict) -> list[Mark]:
    """Return a warning about other differences between the two that a verdict rests on, settings and environment."""
    libraries = (each for each in verdict.follows if each.name in _LIBRARIES)
    differing = (*verdict.reasons, *verdict.tolerated, *libraries)
    said = [contrasted(each, verdict.pair[1]) for each in differing]
    rounds = [each.result.round or "?" for each in verdict.pair]
    if len({*rounds}) > 1:
        said.append(phrase("front.instead", name=phrase("glossary.round"), mine=rounds[0], theirs=rounds[1]))
    is_setting = all(each.kind == "option" for each in differing)
    page = _page(suite, "comparison" if is_setting else "environment")
    return [Mark(phrase("front.differs", reasons=listed(said)), page)] if said else []


def overturning(found: Verdict) -> LeftOut | None:
    """Return the faster result that leaves a case without a winner; None if the case has one."""
    return next((each for each in found.left_out if each.candidate is found.pair[0]), None)


def _left_out(site: Site, suite: Suite, found: Verdict) -> list[Mark]:
    """Return what a case leaves out, the faster results first, without the one that the verdict names."""
    marks: list[Mark] = []
    for each in sorted(found.left_out, key=lambda each: not each.is_faster):
        if each is not overturning(found):
            row = each.candidate.result
            said = phrase(
                "front.faster_left_out" if each.is_faster else "front.left_out",
                name=entrant_name(each.candidate),
                figure=written(row),
                unit=row.unit,
                reasons=left_out_reasons(each.reasons, best_of_case(found)),
            )
            page = run_page(site, row) or _page(suite, "comparison")
            marks.append(Mark(said, page, is_faster=each.is_faster))
    return marks


def best_of_case(found: Verdict) -> Candidate:
    """Return the best candidate of a case itself."""
    return found.entrants[0]


def left_out_reasons(reasons: Sequence[Difference], first: Candidate) -> Text:
    """Return the differences of a result that is left out from the best of the case."""
    return listed(contrasted(each, first) for each in reasons) or phrase("front.other_configuration")


def contrasted(found: Difference, other: Candidate) -> Text:
    """Say what a result states, and what another one states instead."""
    name = _NAMES.get(found.name) or (
        name_of(found.name) if found.kind == "option" else word_for(_WORDS[found.kind], found.name)
    )
    mine, theirs = (listed(_value(found, each) for each in values) for values in (found.first, found.second))
    if mine and theirs:
        return phrase("front.instead", name=name, mine=mine, theirs=theirs)
    key = "front.only_here" if mine else "front.only_there"
    return phrase(key, name=name, value=mine or theirs, other=entrant_name(other))


def _value(found: Difference, value: str) -> Text:
    if found.kind == "option":
        return value_of(value)
    return word_for(found.name, value) if found.name in ("precision", "rule") else value


def _names(found: Sequence[Candidate]) -> Text:
    (first, *rest) = map(entrant_name, found)
    return phrase("front.both", first=first, second=rest[0]) if rest else first
