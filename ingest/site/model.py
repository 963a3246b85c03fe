"""The model of the site: suites with their runs and results, and pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b, sha256
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import to_builtins

from perfledger import TEMPLATES
from perfledger.ingest.common import numbers
from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.suites import model, suite_file
from perfledger.ingest.common.words import Bilingual, Phrase, Text, Words, coded, phrase, word_for
from perfledger.ingest.compute.results import counts, results, unplaced
from perfledger.ingest.compute.standings import Standing, Standings, standings
from perfledger.ingest.published.audit import Audited, audit
from perfledger.ingest.published.publications import Publications
from perfledger.ingest.read.accelerators import Accelerators
from perfledger.ingest.read.change_notes import ChangeNotes
from perfledger.ingest.read.plans import Plans
from perfledger.ingest.site import run_paging
from perfledger.ingest.site.options import in_words, listed
from perfledger.ingest.site.render.share import Picture
from perfledger.ingest.site.render.text import slugs
from perfledger.ingest.site.run_paging import LIMITS, Limits
from perfledger.schema.plans import Plan
from perfledger.schema.records import Figure, NoFigure, Plain, Problem, Reason, Result, Run, text_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from perfledger.ingest.site.chips import Selection

_Made = TypeVar("_Made")
#: A row of the tables.
Row = Result
RowKey = tuple[int, int, int, str]
Options = Mapping[str, Plain]


@dataclass(frozen=True)
class Suite:
    """One model's page, or that of several `models`.

    `row_options` are options that define the workload (image size, sequence length), so that only results with equal
    ones share a row. If a log does not state one, its `usual` value is assumed.
    """

    id: str
    title: Bilingual
    models: tuple[str, ...] = ()
    unit: str = ""
    frameworks: tuple[str, ...] = ()
    row_options: tuple[str, ...] = ()
    usual: Options = field(default_factory=dict)
    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    order: int = 1000

    def row_key(self, row: Row) -> RowKey:
        """Return what has to be equal for results to share a row."""
        return (row.nodes or 1, row.devices or 0, row.batch_size or 0, self.workload_text(row.model, row.options))

    def workload_text(self, model: str | None, options: Options, *left_out: str) -> str:
        """Return the key of a workload: the model if the page does not name it, and the options that make another."""
        return " ".join(filter(None, (self.variant_of(model), options_text(self._defining(options, *left_out)))))

    def workload_words(self, model: str | None, options: Options) -> Text:
        """Return the same in words."""
        return self.case_words(model, self._defining(options))

    def case_words(self, model: str | None, options: Options) -> Text:
        """Return the model, if the page does not name it, and the options in words that do not only repeat it."""
        variant = self.variant_of(model)
        return listed((variant, in_words(_without_name(options, variant))))

    def setting(self, row: Row) -> Text:
        """Return the options of a row's workload in words, without those that only repeat the model."""
        return in_words(_without_name(self._defining(row.options), self.variant(row)))

    def other_options(self, row: Row) -> Options:
        """Return the options that may differ within a row and are marked at the figure; none only repeats the model."""
        defining = self._defining(row.options)
        differ = {name: value for name, value in row.options.items() if name not in defining}
        return _without_name(differ, self.variant(row))

    @property
    def workload(self) -> Options:
        """Options that make another workload, with the value that is meant where none is stated."""
        return {name: self.usual.get(name) for name in self.row_options}

    def name_of(self, row: Row) -> Text:
        """Return the model of a row: its variant if the page has several, or else the title of the page."""
        return self.variant(row) or self.title

    def variant(self, row: Row) -> str:
        """Return the model of a row where the page has several and its title does not name it; empty if it does."""
        return self.variant_of(row.model)

    def variant_of(self, model: str | None) -> str:
        """Return a model's name where the page has several and its title does not name it; empty if it does."""
        if model is None or len(self.models) < 2 or _bare(model) in _bare(self.title.en):
            return ""
        return model

    def _defining(self, options: Options, *left_out: str) -> Options:
        """Return the options that put a result into another row than those that do not state them."""
        names = [each for each in options if each in self.row_options and each not in left_out]
        return {name: options[name] for name in names if options[name] != self.usual.get(name)}


SuiteStanding = Standing[Suite]


def _without_name(options: Options, name: str) -> Options:
    """Return options without those that only repeat a name, as `llama-tiny` repeats Llama tiny."""
    return {option: value for option, value in options.items() if not name or _bare(str(value)) != _bare(name)}


def _bare(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()


def suites(folder: Path = TEMPLATES / "suites") -> tuple[Suite, ...]:
    """Return all suites in the order of their pages.

    Raises:
        FileError: a suite is wrong; the message names file and line.
    """
    return tuple(
        sorted((_suite(path) for path in sorted(folder.glob("*.toml"))), key=lambda each: (each.order, each.id))
    )


@dataclass(frozen=True)
class Site:
    """All runs, sorted by id, with their suites; results are computed when first asked for."""

    runs: tuple[Run, ...]
    problems: tuple[Problem, ...]
    known: tuple[Suite, ...]
    results: Callable[[Sequence[Run]], Sequence[Result]]
    published: Publications = field(default_factory=Publications)
    #: The ledger's file of each run, by run id, where that is known.
    shards: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = LIMITS
    #: Local places of logs, by the path that their runs state; several if redaction makes two paths equal.
    logs: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    #: Files in folders of logs that no format reads and that are not named like logs.
    passed_over: tuple[str, ...] = ()
    #: Power and prices that a file states.
    accelerators: Accelerators = field(default_factory=Accelerators)
    #: Notes of people on changes over time.
    changes: ChangeNotes = field(default_factory=ChangeNotes)
    #: Recipes with their cases, run or not.
    plans: Plans = field(default_factory=Plans)

    def once(self, make: Callable[[Site], _Made]) -> _Made:
        """Return what a function makes of the site, which is made once for all pages that need it."""
        if make not in self._made:
            self._made[make] = make(self)
        found: _Made = self._made[make]
        return found

    @cached_property
    def _made(self) -> dict[Callable[[Site], Any], Any]:
        return {}

    @cached_property
    def by_id(self) -> Mapping[str, Run]:
        """Runs by id."""
        return {each.id: each for each in self.runs}

    @cached_property
    def hashes(self) -> Mapping[str, str]:
        """A hash of each run and of its place on the site, by its id."""
        return {run.id: self._hash(run) for run in self.runs}

    def basis(self, suite: Suite) -> Sequence[object]:
        """Return what the pages of a suite follow from: its runs and results, and what all pages share."""
        rows = self.rows.get(suite.id, ())
        ids = {*(run.id for run in self.runs_of(suite)), *(each for row in rows for each in row.run_ids)}
        return suite, rows, self.basis_of_runs(self.by_id[each] for each in sorted(ids))

    def basis_of_runs(self, runs: Iterable[Run]) -> Sequence[object]:
        """Return the hashes of these runs, and of everything that all pages share."""
        return [self.hashes[each.id] for each in runs], self._shared

    @cached_property
    def suite_of(self) -> Mapping[str, Suite]:
        """The suite of each run, by run id."""
        by_name = {name: each for each in self.known for name in each.models}
        names = sorted({model for run in self.runs if (model := run.case.model) is not None})
        generic = slugs([name for name in names if name not in by_name])
        return {run.id: self._find(run, by_name, generic) for run in self.runs}

    @cached_property
    def counted(self) -> tuple[Run, ...]:
        """Runs that may be part of a result."""
        return tuple(run for run in self.runs if counts(run))

    @cached_property
    def shown(self) -> tuple[Suite, ...]:
        """Suites with a run that counts, with an unplaced one, or with figures that others published."""
        placeless = (self.by_id[row.run_ids[0]] for row in self.unplaced)
        counted = (*self.counted, *(run for run in placeless if run.case.model is not None))
        used = {self.suite_of[run.id].id: self.suite_of[run.id] for run in counted}
        used |= {each.id: each for each in self.known if each.id in self.published.by_suite}
        return tuple(sorted(used.values(), key=lambda each: (each.order, each.id)))

    @cached_property
    def audited(self) -> tuple[Audited, ...]:
        """The published figures with their verdicts."""
        return audit(self.published, self.runs)

    @cached_property
    def framework_slugs(self) -> Mapping[str, str]:
        """A page name per framework, of runs and of figures that others published."""
        published = {row.framework for row in self.published.rows if row.value is not None and row.framework}
        return slugs({framework_of(run) for run in self.runs} | published)

    @cached_property
    def hardware_slugs(self) -> Mapping[str, str]:
        """A page name per hardware."""
        return slugs({hardware_of(run) for run in self.runs})

    def runs_of(self, suite: Suite) -> Sequence[Run]:
        """Return all runs of a suite, published or not."""
        return self._runs_by_suite.get(suite.id, ())

    def plans_of(self, suite: Suite) -> tuple[Plan, ...]:
        """Return the plans whose model is of a suite: by framework, in the suite's order, then by recipe."""
        found = self._plans_by_suite.get(suite.id, ())
        frameworks = ordered({each.framework for each in found}, suite.frameworks)
        return tuple(sorted(found, key=lambda each: frameworks.index(each.framework)))

    def frameworks(self, suite: Suite) -> list[str]:
        """Return the frameworks of the runs of a suite that count, in the suite's order."""
        return ordered(self._frameworks.get(suite.id, ()), suite.frameworks)

    @cached_property
    def all_problems(self) -> tuple[Problem, ...]:
        """Problems of runs and of no run, once each, by path and line."""
        place = attrgetter("path", "line")
        found = sorted([*(each for run in self.runs for each in run.problems), *self.problems], key=place)
        # Texts of one place at a time: all together they would take more than all else that is known of many logs.
        alike = ({text_of(each): each for each in group} for _, group in groupby(found, place))
        return tuple(each for group in alike for _, each in sorted(group.items()))

    def has_page(self, run: Run) -> bool:
        """Return whether a run has a page of its own, and is not only shown on demand."""
        return run.id in self._chosen

    def page(self, run: Run) -> str:
        """Return the address of a run: its own page, or where it is shown on demand."""
        return run_paging.run_page(run.id) if self.has_page(run) else run_paging.run_on_demand(run.id)

    @cached_property
    def runs_at(self) -> Mapping[str, Sequence[Run]]:
        """Runs by the path of their log; an appended log has several runs."""
        return by_key(self.runs, lambda run: run.path)

    def log_page(self, run: Run) -> str | None:
        """Return the page of a run's log; None where the run has no page, or its log is not here."""
        own = self.has_page(run) and run.path in self.logs and run.lines > 0
        return run_paging.log_page(run) if own else None

    @cached_property
    def rows(self) -> Mapping[str, Sequence[Row]]:
        """Result rows by suite id."""
        return by_key(self.results(self.runs), lambda row: self.suite_of[row.run_ids[0]].id)

    @cached_property
    def standings(self) -> Standings[Suite]:
        """Which results did the same work, and which of them is fastest: by hardware and axis."""
        return standings([(suite, self.rows.get(suite.id, ())) for suite in self.shown], self.by_id)

    @cached_property
    def unplaced(self) -> tuple[Row, ...]:
        """Results whose case is incomplete, by the path of their log."""
        found = unplaced(self.runs)
        return tuple(sorted(found, key=lambda each: self.by_id[each.run_ids[0]].path))

    @cached_property
    def _shared(self) -> str:
        """A hash of everything that all pages share: names and addresses, and the inputs other than runs."""
        names = (self.framework_slugs, self.hardware_slugs, [(each.id, each.title) for each in self.shown])
        inputs = (self.published.digest, self.accelerators, self.changes.notes, self.plans.by_recipe)
        found = [(each.verdict, *(self.hashes.get(run.id) for run in each.runs)) for each in self.audited]
        return sha256(repr((names, inputs, found)).encode()).hexdigest()

    def _hash(self, run: Run) -> str:
        place = (self.page(run), self.log_page(run), self.shards.get(run.id), self.suite_of[run.id].id)
        return blake2b(repr(place).encode() + msgspec.json.encode(run), digest_size=16).hexdigest()

    @cached_property
    def _frameworks(self) -> Mapping[str, set[str]]:
        counted = by_key(self.counted, lambda run: self.suite_of[run.id].id)
        return {suite: {*map(framework_of, runs)} for suite, runs in counted.items()}

    @cached_property
    def _runs_by_suite(self) -> Mapping[str, Sequence[Run]]:
        return by_key(self.runs, lambda run: self.suite_of[run.id].id)

    @cached_property
    def _plans_by_suite(self) -> Mapping[str, tuple[Plan, ...]]:
        by_model = {run.case.model: self.suite_of[run.id].id for run in self.runs}
        by_model |= {name: each.id for each in self.known for name in each.models}
        found: dict[str, tuple[Plan, ...]] = {}
        for plan in self.plans.by_recipe.values():
            suite_id = by_model.get(model(plan.model), plan.suite)
            found[suite_id] = (*found.get(suite_id, ()), plan)
        return found

    @cached_property
    def _chosen(self) -> frozenset[str]:
        return run_paging.chosen(self.runs, self.limits)

    def _find(self, run: Run, by_name: Mapping[str, Suite], generic: Mapping[str, str]) -> Suite:
        model = run.case.model
        named = next((each for each in self.known if each.id == run.suite), None)
        matched = by_name.get(model) if model is not None else named
        if matched:
            return matched
        if model is None:
            return Suite("other", Bilingual("Model not known", "模型未知"), order=9999)
        return Suite(f"model-{generic[model]}", Bilingual(model, model))


def site_of_runs(runs: Iterable[Run], problems: Iterable[Problem] = (), **more: Any) -> Site:
    """Return the site of these runs, of problems that belong to no run, and of `more` fields of a site.

    Raises:
        FileError: a suite is wrong; the message names file and line.
    """
    return Site(tuple(sorted(runs, key=attrgetter("id"))), tuple(problems), suites(), results, **more)


@dataclass(frozen=True)
class Hit:
    """A result of the search in addition to pages and their sections: a title, a sentence, and the target page."""

    title: Text
    text: Text
    page: str


@dataclass(frozen=True)
class Page:
    """One page in both languages; `context` is called once, when the page is rendered. A template sees its fields.

    `order` and `group` are its place in the navigation; `scripts` are assets that this page alone loads.
    `selection` is what its chips choose from, if it has any.
    The search ranks a page `boost` times as high as others; with 0 the page is not searched.
    Its context may contain `hits`, further results of the search.
    `picture` is the preview of a shared link, instead of the site's.
    `basis` returns everything that the context depends on, if that is much cheaper than the context itself.
    """

    path: str
    template: str
    title: Text
    description: Text
    context: Callable[[], DataclassInstance]
    boost: int = 1
    order: int | None = None
    group: str | None = None
    selection: Callable[[], Selection | None] | None = None
    scripts: tuple[str, ...] = ()
    picture: Callable[[Words, str], Picture] | None = None
    basis: Callable[[], object] | None = None


def framework_of(run: Run) -> str:
    """Return the framework's name; empty where it is not known."""
    return run.case.framework or ""


def hardware_of(run: Run) -> str:
    """Return the hardware's name; empty where it is not known."""
    return run.case.hardware or ""


def named(text: str | None, unknown: str = "site.unknown") -> Text:
    """Return a name, or the words for one that is not known."""
    return text or phrase(unknown)


def or_unknown(value: object) -> Text:
    """Return a value as text, or the words for one that is not known."""
    return phrase("site.unknown") if value is None else numbers.quantity(value)


def group_name(group: str) -> Text:
    """Return the words of a precision group."""
    return word_for("group", group)


def precision_name(precision: str | None) -> Text:
    """Return the name of a precision; an unknown word is shown as it is."""
    return word_for("precision", precision) if precision else phrase("group.unknown")


def reason(found: Reason | None) -> Phrase | None:
    """Return the words for why a figure is absent."""
    return coded("reason", found) if found else None


def written(found: Figure | Row) -> str:
    """Write a throughput with no more digits than its spread and what was printed support."""
    return numbers.figure(found.value, getattr(found, "spread", None), found.resolution or 0.0)


def absence(run: Run) -> Phrase | None:
    """Return the words for why a run has no headline figure; None where it has one, or nobody knows why."""
    found = run.all_figures.get(run.rule)
    return reason(found.reason) if isinstance(found, NoFigure) else None


def options_text(options: Options) -> str:
    """Return options for keys and data files, as `image_size=64 threads=1`; one that is true is written as its name."""
    return " ".join(name if value is True else f"{name}={value}" for name, value in sorted(options.items()))


def ordered(names: Iterable[str], first: Sequence[str]) -> list[str]:
    """Return names in the suite's order (`NGC PyTorch` counts as PyTorch), then the others by alphabet."""

    def rank(name: str) -> tuple[int, str]:
        places = [index for index, each in enumerate(first) if each.lower() in name.lower()]
        return (places[0] if places else len(first), name)

    return sorted(set(names), key=rank)


def _suite(path: Path) -> Suite:
    found = suite_file(path).data
    return Suite(
        id=path.stem,
        title=found.title,
        models=(found.models[0], *(more[0] for more in found.more)),
        unit=found.unit,
        frameworks=found.frameworks,
        row_options=found.row_options,
        usual=found.usual,
        words={key: entry for key, entry in to_builtins(found.words).items() if entry},
        order=found.order,
    )
