"""The figures of a session, and what the equations say of them.

An equation that disagrees withholds the figure, unless the reading declares which of its sides is right
(`untrue`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from msgspec.structs import replace

from perfledger.ingest.compute import rules
from perfledger.ingest.compute.equations import EQUATIONS, OF_FEW, OF_SUMMARY, Given, check
from perfledger.ingest.compute.equations.evaluation import least_alike
from perfledger.ingest.compute.intervals import Intervals
from perfledger.ingest.compute.refusals import missing, required
from perfledger.ingest.compute.resumed import counts_more
from perfledger.ingest.compute.throughput import throughput_or_reason
from perfledger.ingest.compute.window import TOO_FEW, not_settled, too_few
from perfledger.parsers.engine.session import Session
from perfledger.schema.records import Facts, Figure, NoFigure, Reason, Witness

#: Kinds of equations by rank: if a batch size is wrong, clock and summary disagree as a consequence.
_CAUSES = ("arithmetic", "counters", "physics", "clock", "framework", "summary")
#: If one of these numbers is missing, the headline is missing although the intervals have seconds.
_UNCOUNTED_STEPS = frozenset({"devices", "batch_size", "accumulation", "tokens_per_step"})
#: Kinds that contradict the seconds of the intervals, not their samples.
_OF_SECONDS = frozenset({"clock", "summary", "framework"})


@dataclass(frozen=True)
class Measurement:
    """The figures of a session, the headline withheld or corrected if an equation says so, and all verdicts.

    Attributes:
        figures: the figures by their rules.
        witnesses: the verdicts.
        given: the intervals, or the reason for their absence.
        rule: the rule of the headline.
        of_steps: the verdict of the clock on the seconds per step, if the samples of a step are unknown.
    """

    figures: dict[str, Figure | NoFigure]
    witnesses: tuple[Witness, ...]
    given: Intervals | Reason
    rule: str = rules.HEADLINE
    of_steps: Witness | None = None

    @property
    def headline(self) -> Figure | NoFigure:
        """The headline figure, or the reason for its absence."""
        return self.figures[self.rule]

    @property
    def intervals(self) -> Intervals | None:
        """The intervals of the session; None if it has none, or their samples are not known."""
        return None if isinstance(self.given, Reason) else self.given

    @property
    def slower(self) -> float:
        """Clock over printed seconds if the clock gives the headline, else 1."""
        spoken = (*self.witnesses, self.of_steps) if self.of_steps else self.witnesses
        right = next((each for each in spoken if each.verdict == "corrects"), None)
        return right.against / right.value if right and right.against and right.value else 1.0

    @property
    def untimed(self) -> Reason | None:
        """Why the seconds of the intervals are not used as time per step, if an equation contradicts them."""
        headline = self.headline
        if isinstance(headline, NoFigure) and headline.reason.code == "withheld":
            return headline.reason if headline.reason.args["witness"] in _OF_SECONDS else None
        wrong = self.of_steps
        if wrong is None or wrong.verdict != "disagrees":
            return None
        difference = f"{wrong.difference or 0:+.3g}"
        return Reason("withheld", {"witness": wrong.kind, "line": wrong.first_line, "difference": difference})


def measured(session: Session, case: Facts, of_records: Collection[str] = ()) -> Measurement:
    """Compute the figures of a session under all rules, and check the headline by all equations.

    Args:
        session: what the log states.
        case: facts of the case, as the rules get them.
        of_records: those of them that follow from the intervals themselves, and cannot prove these.
    """
    given = throughput_or_reason(session, case)
    found = rules.figures(session, case, given)
    headline, summary = found[rules.HEADLINE], found[rules.SUMMARY]
    if isinstance(headline, Figure) and (reason := too_few(required(given)) or not_settled(required(given))):
        headline = found[rules.HEADLINE] = NoFigure(reason)
    stated = {name: value for name, value in case.items() if name not in of_records}
    is_doubtful = isinstance(headline, NoFigure) or _is_faster(summary, headline)
    if isinstance(summary, Figure) and is_doubtful and (why := counts_more(session, stated)):
        found[rules.SUMMARY] = NoFigure(Reason(why.code, {**why.args, "line": summary.first_line}))
    if isinstance(headline, Figure):
        return _checked(Measurement(found, (), given), check(Given(session, stated, headline, given), EQUATIONS))
    few = headline.reason.code in TOO_FEW
    if not _replaces(summary, headline, few and session.ending.outcome == "completed"):
        return Measurement(found, (), given, of_steps=_clock_of_steps(session, case, headline))
    alone, own = Measurement(found, (), given, rules.SUMMARY), found[rules.SUMMARY]
    if not isinstance(own, Figure):
        return alone
    compared = Given(session, stated, own, given, is_summary=True)
    return _checked(alone, check(compared, OF_FEW if few else OF_SUMMARY))


def _clock_of_steps(session: Session, case: Facts, headline: NoFigure) -> Witness | None:
    """Return the verdict of the clock if the samples of a step are unknown, as if it were one; else None."""
    if missing(headline.reason) not in _UNCOUNTED_STEPS:
        return None
    of_one = dict.fromkeys(("devices", "batch_size", "accumulation", "sequence_length"), 1) | dict(case)
    given = throughput_or_reason(session, of_one)
    figure = rules.figure(rules.HEADLINE, session, of_one, given)
    if isinstance(figure, NoFigure):
        return None
    return check(Given(session, of_one, figure, given), {"clock": EQUATIONS["clock"]})[0]


def _is_faster(summary: Figure | NoFigure, headline: Figure) -> bool:
    """Return whether the trainer's own figure for the run is higher than that of its intervals."""
    if isinstance(summary, NoFigure) or (summary.unit, summary.scope) != (headline.unit, headline.scope):
        return False
    return summary.value * least_alike("summary") > headline.value


def _replaces(summary: Figure | NoFigure, headline: NoFigure, completed: bool) -> bool:
    """Return whether the trainer's own figure is the headline, or the reason for its absence is.

    Args:
        summary: the trainer's own figure.
        headline: why the intervals give none.
        completed: whether that is since they are few, and the run is complete.
    """
    if isinstance(summary, Figure):
        return headline.reason.code == "no_records" or completed
    return headline.reason.code == "no_records" and missing(summary.reason) != "summary"


def _checked(found: Measurement, witnesses: tuple[Witness, ...]) -> Measurement:
    """Withhold or correct the headline by the verdicts."""
    headline, figures = found.headline, dict(found.figures)
    assert isinstance(headline, Figure)
    wrong = [each for each in witnesses if each.verdict == "disagrees"]
    if wrong:
        cause = min(wrong, key=lambda each: _CAUSES.index(each.kind))
        figures[found.rule] = NoFigure(Reason("withheld", _contradiction(headline, cause)))
    elif right := next((each for each in witnesses if each.verdict == "corrects"), None):
        assert right.value is not None
        figures[found.rule] = replace(headline, value=right.value, arithmetic=right.arithmetic)
    return Measurement(figures, witnesses, found.given, found.rule)


def _contradiction(headline: Figure, witness: Witness) -> dict[str, str | int]:
    """Return what the sentence of a withheld figure names."""
    return {
        "witness": witness.kind, "line": witness.first_line or headline.first_line, "value": f"{witness.value:.5g}",
        "against": f"{witness.against:.5g}", "difference": f"{witness.difference or 0:+.3g}", "unit": witness.unit,
        "arithmetic": witness.arithmetic,
    }  # fmt: skip
