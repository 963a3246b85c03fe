"""How the result of each run compares with the best of another framework in the same case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from perfledger.ingest.common.words import Text, phrase
from perfledger.ingest.compute import comparison
from perfledger.ingest.compute.candidates import candidates, places, verdicts
from perfledger.ingest.compute.comparison import Candidate, Verdict
from perfledger.ingest.compute.contrast import cliffs_delta, effect
from perfledger.ingest.site import addresses, verdict_words
from perfledger.ingest.site.answer_marks import best_of_case, named_left_out, overturning
from perfledger.ingest.site.model import Row, Site, Suite, named
from perfledger.ingest.site.render.table import Link
from perfledger.ingest.site.result_tables import sections


def rivals(site: Site) -> Mapping[str, Link]:
    """Return, by run id, how the run's result compares with its best rival; the link leads to all of the model's.

    If a framework is faster that the case leaves out, that one is named.
    """
    found: dict[str, Link] = {}
    for suite in site.shown:
        page = addresses.section(addresses.model_page(suite), "fastest")
        for case, said in _cases(site, suite):
            missed = overturning(said)
            faster = named_left_out(missed, best_of_case(said)) if missed else None
            for result, text in _compared(candidates(site.by_id, case), suite):
                found |= dict.fromkeys(result.run_ids, Link(faster or text, page))
    return found


def _cases(site: Site, suite: Suite) -> Iterator[tuple[list[Row], Verdict]]:
    for _, _, rows in sections(site, suite):
        for place in places(suite, rows):
            yield from verdicts(site.by_id, suite, place)


def _compared(case: Sequence[Candidate], suite: Suite) -> Iterator[tuple[Row, Text]]:
    unit, ranked = comparison.rank(case, "higher")
    for mine in (each for each in case if each.figure.unit == unit):
        rival = next((each for each in ranked if each.entrant != mine.entrant), None)
        if rival:
            verdict = comparison.verdict([mine, rival], "higher", suite.workload)
            yield mine.result, _said(verdict, mine.entrant)


def _said(found: Verdict, framework: str) -> Text:
    """Return the verdict on two results in a sentence; of enough runs, with the effect in words."""
    first, second = (named(each.entrant) for each in found.pair)
    if found.contrast is None:
        return phrase("front.conditions", first=first, second=second)
    sure = phrase(
        f"front.{verdict_words.manner(found)}", first=first, second=second, ratio=verdict_words.ratio(found.contrast)
    )
    if found.kind in verdict_words.LEADS and found.pair[0].entrant != framework:
        sure = phrase("proof.is_faster", name=first, verdict=sure)
    verdict_text = phrase("front.verdict", verdict=sure, runs=verdict_words.repeats(found.pair, found.contrast.more))
    delta = cliffs_delta(*(each.figure for each in found.pair))
    if delta is not None:
        size, won = phrase(f"compare.effect_{effect(delta)}"), round((1 + delta) * 50)
        verdict_text = phrase("proof.wins", verdict=verdict_text, name=first, n=won, effect=size, delta=f"{delta:.2f}")
    return verdict_text
