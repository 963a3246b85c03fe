"""The figures of a session, and what the witnesses say of them.

A witness that disagrees by more than its tolerance and its own resolution withholds the figure, unless the reading
declares which of the two is right where they differ (`parsers.contract.Trap`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeGuard

from msgspec.structs import replace

from perfledger.ingest.compute import rules
from perfledger.ingest.compute.intervals import Intervals
from perfledger.ingest.compute.refusals import NoFigureError
from perfledger.ingest.compute.throughput import computed_once
from perfledger.ingest.compute.window import TOO_FEW, not_settled, too_few
from perfledger.ingest.compute.witnesses.arithmetic import arithmetic_witness, summary_arithmetic
from perfledger.ingest.compute.witnesses.clock import clock_witness
from perfledger.ingest.compute.witnesses.counters import counters_witness, summary_counters
from perfledger.ingest.compute.witnesses.judging import least_alike
from perfledger.ingest.compute.witnesses.physics import physics_witness, within_peak
from perfledger.ingest.compute.witnesses.summary import (
    counts_more,
    framework_witness,
    of_few_records,
    summary_witness,
)
from perfledger.parsers.engine.session import Session
from perfledger.schema.records import Facts, Figure, NoFigure, Reason, Witness

#: Witnesses that contradict the seconds of the records, not the samples that they hold.
_OF_SECONDS = frozenset({"clock", "summary", "framework"})
#: Why there is no headline though the records have seconds.
_UNCOUNTED_STEPS = frozenset({"no_devices", "no_batch_size", "no_accumulation", "no_tokens_per_step"})


@dataclass(frozen=True)
class Measurement:
    """The figures of a session, the headline withheld or replaced where a witness says so, and all witnesses.

    `rule` is that of the headline. `given` gives the series, or raises NoFigureError. `of_steps` is what the clock says
    of the seconds per step where the samples of a step are unknown, so that there is no headline to hold against it.
    """

    figures: dict[str, Figure | NoFigure]
    witnesses: tuple[Witness, ...]
    given: Callable[[], Intervals]
    rule: str = rules.HEADLINE
    of_steps: Witness | None = None

    @property
    def headline(self) -> Figure | NoFigure:
        """The headline figure, or why there is none."""
        return self.figures[self.rule]

    @property
    def slower(self) -> float:
        """Clock over printed seconds, where the clock gives the headline; 1 elsewhere."""
        spoken = (*self.witnesses, self.of_steps) if self.of_steps else self.witnesses
        right = next((each for each in spoken if each.verdict == "corrects"), None)
        return right.against / right.value if right and right.against and right.value else 1.0

    @property
    def untimed(self) -> Reason | None:
        """Why the seconds of the records are no time per step, if a witness contradicts them."""
        told, wrong = self.headline, self.of_steps
        if isinstance(told, NoFigure) and told.reason.code == "withheld":
            return told.reason if told.reason.args["witness"] in _OF_SECONDS else None
        if wrong is None or wrong.verdict != "disagrees":
            return None
        difference = f"{wrong.difference or 0:+.3g}"
        return Reason("withheld", {"witness": wrong.kind, "line": wrong.first_line, "difference": difference})


def measured(session: Session, case: Facts, of_records: Collection[str] = ()) -> Measurement:
    """Compute the figures of a session under all rules and hold the headline against every witness.

    Args:
        session: what the log states.
        case: facts of the case, as the rules get them.
        of_records: those of them that follow from the records themselves, and so cannot be witnesses of these.
    """
    given = computed_once(session, case)
    found = rules.figures(session, case, given)
    headline = found[rules.HEADLINE]
    if isinstance(headline, Figure) and (reason := too_few(given()) or not_settled(given())):
        headline = found[rules.HEADLINE] = NoFigure(reason)
    stated = {name: value for name, value in case.items() if name not in of_records}
    if isinstance(headline, NoFigure):
        return _with_clock(_of_summary(found, session, stated, given), session, case, headline)
    summary = found[rules.SUMMARY]
    if isinstance(summary, Figure) and (why := counts_more(session, stated) if _is_faster(summary, headline) else None):
        found[rules.SUMMARY] = NoFigure(Reason(why.code, {**why.args, "line": summary.first_line}))
    spoken = (_witness(kind, session, stated, given(), headline) for kind in WITNESSES)
    return _held(found, rules.HEADLINE, spoken, given)


def _with_clock(found: Measurement, session: Session, case: Facts, headline: NoFigure) -> Measurement:
    """Hold the seconds per step against the clock where the samples of a step are unknown: as if it were one."""
    import numpy as np

    if headline.reason.code not in _UNCOUNTED_STEPS:
        return found
    of_one = dict.fromkeys(("devices", "batch_size", "accumulation", "sequence_length"), 1) | dict(case)
    given = computed_once(session, of_one)
    with np.errstate(all="ignore"):
        told = rules.figure(rules.HEADLINE, session, of_one)
        if isinstance(told, NoFigure):
            return found
        return dataclasses.replace(found, of_steps=_witness("clock", session, of_one, given(), told))


def _of_summary(
    found: dict[str, Figure | NoFigure], session: Session, case: Facts, given: Callable[[], Intervals]
) -> Measurement:
    """Use the trainer's own figure as headline if the records give none, or the reason why it is missing."""
    missing, summary = found[rules.HEADLINE], found[rules.SUMMARY]
    few = isinstance(missing, NoFigure) and missing.reason.code in TOO_FEW
    alone = isinstance(missing, NoFigure) and missing.reason.code == "no_records"
    alone |= few and isinstance(summary, Figure) and session.ending.outcome == "completed"
    if not isinstance(summary, Figure):
        alone &= summary.reason.code != "no_reported_figure"
    rule = rules.SUMMARY if alone else rules.HEADLINE
    if not isinstance(summary, Figure):
        return Measurement(found, (), given, rule)
    if why := counts_more(session, case):
        found[rules.SUMMARY] = NoFigure(Reason(why.code, {**why.args, "line": summary.first_line}))
    if why or not alone:
        return Measurement(found, (), given, rule)
    spoken = [_spoken(kind, partial(each, session, case, summary)) for kind, each in OF_SUMMARY.items()]
    spoken += [_spoken("summary", partial(of_few_records, given, summary))] if few else []
    return _held(found, rules.SUMMARY, spoken, given)


def _is_faster(summary: Figure | NoFigure, headline: Figure) -> TypeGuard[Figure]:
    """Return whether the trainer's own figure for the run is higher than that of its records."""
    if isinstance(summary, NoFigure) or (summary.unit, summary.scope) != (headline.unit, headline.scope):
        return False
    return summary.value * least_alike("summary") > headline.value


def _held(
    found: dict[str, Figure | NoFigure], rule: str, spoken: Iterable[Witness], given: Callable[[], Intervals]
) -> Measurement:
    """Hold the figure under a rule against its witnesses."""
    import numpy as np

    headline = found[rule]
    assert isinstance(headline, Figure)
    with np.errstate(all="ignore"):
        witnesses = tuple(spoken)
    if wrong := min((each for each in witnesses if each.verdict == "disagrees"), key=_cause, default=None):
        found[rule] = NoFigure(Reason("withheld", _contradiction(headline, wrong)))
    elif right := next((each for each in witnesses if each.verdict == "corrects"), None):
        found[rule] = _corrected(headline, right)
    return Measurement(found, witnesses, given, rule)


def _cause(witness: Witness) -> int:
    """Return the rank of a witness: where a batch size is wrong, clock and summary disagree as a consequence."""
    ranks = ("arithmetic", "counters", "physics", "clock", "framework", "summary")
    return ranks.index(witness.kind)


def _corrected(headline: Figure, witness: Witness) -> Figure:
    """Return the figure that a witness gives where the printed one is known to be wrong."""
    assert witness.value is not None
    return replace(headline, value=witness.value, arithmetic=witness.arithmetic)


def _contradiction(headline: Figure, witness: Witness) -> dict[str, str | int]:
    """Return what the sentence of a withheld figure names."""
    return {
        "witness": witness.kind, "line": witness.first_line or headline.first_line, "value": f"{witness.value:.5g}",
        "against": f"{witness.against:.5g}", "difference": f"{witness.difference or 0:+.3g}", "unit": witness.unit,
        "arithmetic": witness.arithmetic, **({"likelier": witness.reason.code} if witness.reason else {}),
    }  # fmt: skip


def _witness(kind: str, session: Session, case: Facts, given: Intervals, headline: Figure) -> Witness:
    return _spoken(kind, partial(WITNESSES[kind], session, case, given, headline))


def _spoken(kind: str, witness: Callable[[], Witness]) -> Witness:
    """Return what a witness says, or why it is silent."""
    try:
        return witness()
    except NoFigureError as error:
        return Witness(kind, "silent", reason=error.reason)


WITNESSES: Mapping[str, Callable[[Session, Facts, Intervals, Figure], Witness]] = {
    "clock": clock_witness,
    "arithmetic": arithmetic_witness,
    "summary": summary_witness,
    "framework": framework_witness,
    "counters": counters_witness,
    "physics": physics_witness,
}
#: Of a figure that is the trainer's own summary, with no records to hold it against.
OF_SUMMARY: Mapping[str, Callable[[Session, Facts, Figure], Witness]] = {
    "arithmetic": summary_arithmetic,
    "counters": summary_counters,
    "physics": within_peak,
}
