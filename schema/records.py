"""The typed records of the ledger and of results, and their conversion to and from documents.

All are frozen. Records that a run has by the dozen are exempt from Python's garbage collector (`gc=False`), since they
cannot be part of a cycle. `to_json` and `from_json` convert records to documents and back; the keys are the fields.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from perfledger.schema.machine import EnvironmentDetails, Telemetry
from perfledger.schema.vocabulary import CASE, NO_FIGURE
from perfledger.schema.window import Evenness, Pauses, Trace

#: A JSON value that is not a list or an object.
Plain = bool | int | float | str | None
#: An entry of a run.json about a machine: a word, a number, or a list or an object of them.
Stated = Plain | list[Any] | dict[str, Any]
#: Values of facts by name, each of the type that the vocabulary gives it.
Facts = Mapping[str, Any]
#: Entries of a list in run.json; a runner writes fewer.
LONGEST_LIST = 1000

Text = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=1)]
Amount = Annotated[int, Meta(ge=0)]
Words = Annotated[tuple[str, ...], Meta(max_length=LONGEST_LIST)]

Record = TypeVar("Record")


class WrongValueError(ValueError):
    """Raised by a record in `__post_init__`, with the keys of the wrong value below the record."""

    def __init__(self, keys: tuple[str | int, ...], what: str) -> None:
        super().__init__(what)
        self.keys = keys


class Reason(Struct, frozen=True, gc=False):
    """Why a figure is missing: a code of the words' table `reason`, and the values for its sentence."""

    code: str
    args: dict[str, Any] = {}


class Problem(Struct, frozen=True, gc=False):
    """A fault of an input: a code of the words' table `problem`. `line` is 0 if the fault has no line."""

    code: str
    path: str = ""
    line: int = 0
    args: dict[str, Any] = {}


class Figure(Struct, frozen=True, gc=False):
    """One figure of one session under one rule: value in `unit` at `scope`, and the lines that it was computed from."""

    value: Annotated[float, Meta(gt=0)]
    unit: str = ""
    scope: str = ""
    used: int = 0
    skipped: int = 0
    first_line: int = 0
    last_line: int = 0
    arithmetic: str = ""
    #: Value of the last printed digit, as a share of the figure; absent if pages do not show that many digits.
    resolution: float | UnsetType = UNSET


class NoFigure(Struct, frozen=True, gc=False):
    """Why a session has no figure under a rule."""

    reason: Reason
    value: None = None


class Witness(Struct, frozen=True, omit_defaults=True, gc=False):
    """An independent computation of the headline figure from the same log, and whether it agrees.

    `kind` is a key of `ingest.compute.equations.TOLERANCE`. `verdict` is `agrees`, `disagrees`, `silent` (with the
    `reason`), or `corrects` if the printed speed is known to be wrong and the witness gives the figure instead.
    `value` is the figure of the witness and `against` the printed one, both in `unit`. `difference` (of the printed
    figure), `resolution` and `tolerance` are percent.
    """

    kind: str
    verdict: str
    value: float | None = None
    against: float | None = None
    unit: str = ""
    difference: float | None = None
    resolution: float | None = None
    tolerance: float | None = None
    first_line: int = 0
    last_line: int = 0
    arithmetic: str = ""
    reason: Reason | None = None


#: Evidence of a result's figure: `agree`, the printed line and at least one witness; `line`, the printed line alone;
#: `corrects`, a witness in place of printed speeds that are known to be wrong.
Support = Literal["agree", "line", "corrects"]


class Figures(dict[str, Figure | NoFigure]):
    """Figures by rule. msgspec cannot distinguish two records in a union, so `_decode` does it for this class."""

    __slots__ = ()


class MetricFigure(Struct, frozen=True, omit_defaults=True, gc=False):
    """A figure of one session other than throughput; `value` is None if the figure is missing or not finite.

    `source` is `log`, `telemetry` or `formula`. A loss also has the value that was printed `first`, and whether
    training `diverged`.
    """

    value: float | None
    unit: str
    source: str | None = None
    first_line: int | None = None
    last_line: int | None = None
    arithmetic: str | None = None
    first: float | UnsetType | None = UNSET
    diverged: bool | None = None
    reason: Reason | None = None


class FactValue(Struct, frozen=True, gc=False):
    """A fact's plain value, the source that states it, and the place in the source.

    The source is `run.json`, `log`, `beside` (a file next to the log that the layout names), `layout`, `reader` (a
    `facts.toml` or `--assume`), `folder` (a file next to the log that yields to it), `format`, or `derived` from other
    facts, which `where` then names.
    """

    value: Any
    source: str = ""
    where: str = ""


class Case(Struct, frozen=True):
    """The unit of comparison: the known facts of a case, and its options."""

    model: str | None = None
    framework: str | None = None
    hardware: str | None = None
    nodes: int | None = None
    devices: int | None = None
    batch_size: int | None = None
    precision: str | None = None
    options: dict[str, Plain] = {}

    def known(self) -> dict[str, Plain]:
        """Return the facts that are known, without the options."""
        return {name: value for name in CASE if (value := getattr(self, name)) is not None}


class Container(Struct, frozen=True, omit_defaults=True):
    """The image of a recipe, and the tool that ran it."""

    tool: str = ""
    image: str = ""
    digest: str = ""


class Recipe(Struct, frozen=True, omit_defaults=True):
    """The part of a run.json about the recipe that made it."""

    name: Text
    sha256: str = ""
    case: dict[str, str] = {}
    command: Words = ()
    setup: Words = ()
    lock: str = ""
    container: Container | None = None
    launcher: str = ""
    data: bool = False


class SiteRecord(Struct, frozen=True, omit_defaults=True):
    """Additions of a site to a recipe that may change a figure, without variables; see `runners/README.md`."""

    prologue: Words = ()
    container_arguments: Words = ()


class Records(Struct, frozen=True, omit_defaults=True):
    """The records that a runner expects: their format and least number.

    `no_figure` says why no figure could be computed from them when the run was finished.
    """

    format: str | None = None
    count: Amount | None = None
    at_least: Amount | None = None
    no_figure: str | None = None


class Node(Struct, frozen=True, omit_defaults=True):
    """One machine of several: `folder` is below that of the run, `gpus` are those chosen for this machine."""

    folder: str
    outcome: str | None = None
    exit_status: int | None = None
    gpus: str | None = None


class Origin(Struct, frozen=True):
    """The publisher of the logs that a layout describes: title and address."""

    title: str
    source: str


class RunProgress(Struct, frozen=True):
    """Progress of a run by its own counters: its last epoch or step, counted from 1, and their planned number."""

    unit: str
    done: int
    total: int


class Run(Struct, frozen=True, kw_only=True):
    """One session of a log with its facts, figures and problems: a line of the ledger, and of `--json`.

    `sound` says whether its own figures can be trusted, `published` whether results use them. Results do not use the
    figures of a second log of the same run (`duplicate_of`), nor those of a case with `missing` facts.
    """

    id: str = ""
    path: str
    sha256: str
    bytes: int = 0
    lines: int = 0
    session: int = 1
    sessions: int = 1
    format: str | None = None
    #: Present if no real log of the format's printer was read yet.
    unproven: Literal[True] | UnsetType = UNSET
    outcome: str = "completed"
    #: Line that states the outcome; 0 if the log does not state it, or contradicts run.json.
    outcome_line: int = 0
    #: Known if the log states the planned number.
    progress: RunProgress | None = None
    observations: int = 0
    case: Case = Case()
    facts: dict[str, FactValue] = {}
    environment: dict[str, Stated] = {}
    environment_details: EnvironmentDetails | None = None
    figures: Figures = field(default_factory=Figures)
    #: The rule of the headline figure; not the usual one if the log has only a final summary.
    rule: str = "sustained"
    metrics: dict[str, MetricFigure] = {}
    #: Witnesses of the headline figure in the order of WITNESSES. Without a headline figure, only a summary that the
    #: log's few records contradict.
    witnesses: tuple[Witness, ...] = ()
    #: Figures under the rules of others who published figures of this log; absent if nobody did.
    audit: Figures | UnsetType = UNSET
    problems: tuple[Problem, ...] = ()
    repeat: int | None = None
    clock: tuple[str, str] | None = None
    #: First and last time of the records that the headline counts; None if their lines have no date and time.
    measured_clock: tuple[str, str] | None = None
    telemetry: Telemetry | None = None
    suite: str | None = None
    published: bool = False
    sound: bool = False
    #: Publisher of the log; absent if the site's own publisher ran it.
    origin: Origin | UnsetType = UNSET
    #: Needed facts that nothing states; absent if the case is complete.
    missing: tuple[str, ...] | UnsetType = UNSET
    duplicate_of: str | None = None
    fingerprint: str | None = None
    trace: Trace | None = None
    pauses: Pauses | None = None
    evenness: Evenness | None = None
    argv: tuple[str, ...] | None = None
    environment_variables: dict[str, Plain] | None = None
    recipe: Recipe | None = None
    records: Records | None = None
    warnings: tuple[str, ...] | None = None
    disturbances: tuple[str, ...] | UnsetType = UNSET
    accept_disturbed: bool | UnsetType = UNSET
    secrets: tuple[str, ...] | UnsetType = UNSET
    site: SiteRecord | UnsetType = UNSET
    nodes: tuple[Node, ...] | None = None
    start: str | None = None
    end: str | None = None
    wall_seconds: int | float | None = None
    notes: str | None = None
    source: dict[str, Plain] | None = None

    @property
    def disturbed(self) -> bool:
        """Whether other work ran on its machine and nobody accepted that; such a run is left out of results."""
        return bool(self.disturbances) and not self.accept_disturbed

    @property
    def filled_in(self) -> Mapping[str, str]:
        """The facts that the log lacks and its reader, or a file of its folder, states, each with the place."""
        return {name: each.where for name, each in self.facts.items() if each.source in ("reader", "folder")}

    @property
    def fits_results(self) -> bool:
        """Whether results may use its figure, if no other log is of the same run."""
        return self.sound and not self.missing and not self.disturbed

    @property
    def unplaced(self) -> bool:
        """Whether its figure is shown and never compared, since its case is incomplete."""
        return self.sound and bool(self.missing) and not self.duplicate_of and self.outcome not in NO_FIGURE

    def figure(self, rule: str) -> Figure | None:
        """Return the figure under a rule, or None."""
        found = self.figures.get(rule)
        return found if isinstance(found, Figure) else None

    @property
    def headline(self) -> Figure | None:
        """The headline figure, published or not, or None."""
        return self.figure(self.rule)

    @property
    def all_figures(self) -> Mapping[str, Figure | NoFigure]:
        """The figures under every rule, those of an audit included."""
        return self.figures if self.audit is UNSET else {**self.audit, **self.figures}


class ResultMetric(Struct, frozen=True):
    """A figure other than throughput over the repeats of a case; only a loss has `diverged`.

    If `rule` names a score instead of a median, `value` is the score times `factor`, or absent for a `reason`.
    """

    value: float | None
    low: float | None
    high: float | None
    spread: float | None
    repeats: int
    unit: str
    diverged: bool | None = None
    hosts: int = 0
    spread_within: float | None = None
    spread_between: float | None = None
    rule: str = ""
    factor: float = 1.0
    reason: Reason | None = None


class Result(Struct, frozen=True, kw_only=True):
    """The figure of a case, framework version, benchmark round and rule, over its repeats; `value` is of the whole job.

    `baseline` is the result of one device to which `speedup` refers; None if this is a result of one device.
    """

    suite: str | None
    model: str | None
    framework: str | None
    hardware: str | None
    nodes: int | None
    devices: int | None
    batch_size: int | None
    precision: str | None
    options: dict[str, Plain]
    version: str | None = None
    round: str | None = None
    #: Who submitted its runs; None for one measured here.
    submitter: str | None = None
    unit: str = ""
    rule: str = "sustained"
    value: float | None = None
    low: float | None = None
    high: float | None = None
    spread: float | None = None
    repeats: int = 0
    #: Number of machines that ran the repeats, 0 if unknown; and the spreads within and between machines.
    hosts: int = 0
    spread_within: float | None = None
    spread_between: float | None = None
    #: The weakest evidence among its runs; None without a figure.
    witnesses: Support | None = None
    #: The coarsest resolution of its runs' figures (`Figure.resolution`).
    resolution: float | UnsetType = UNSET
    #: Present if no real log of the format of one of its runs was read yet.
    unproven: Literal[True] | UnsetType = UNSET
    #: Facts that a log lacks and its reader or folder states, each with the place; absent if the logs state all.
    assumed: dict[str, str] | UnsetType = UNSET
    #: The scope of the figure, and the needed facts that no source states; absent if the result is placed.
    scope: str | UnsetType = UNSET
    missing: tuple[str, ...] | UnsetType = UNSET
    run_ids: tuple[str, ...] = ()
    speedup: float | None = None
    speedup_reason: Reason | None = None
    baseline: Result | None = None
    efficiency: float | None = None
    outcome: str | None = None
    reason: Reason | None = None
    metrics: dict[str, ResultMetric] = {}

    def metric(self, name: str) -> float | None:
        """Return a figure other than throughput, or None."""
        found = self.metrics.get(name)
        return found.value if found else None

    @property
    def options_text(self) -> str:
        """The options in one line."""
        return ", ".join(f"{name}={value}" for name, value in sorted(self.options.items()))

    @property
    def diverged(self) -> bool:
        """Whether the loss of one of its runs diverged."""
        loss = self.metrics.get("loss")
        return bool(loss and loss.diverged)


def to_json(record: Struct) -> dict[str, Any]:
    """Return the document of a record. A case has only known facts."""
    found: dict[str, Any] = msgspec.to_builtins(record)
    if isinstance(record, Run):
        found["case"] = {name: value for name, value in found["case"].items() if value is not None}
    return found


def text_of(record: Struct) -> str:
    """Return the document of a record as one line of JSON with sorted keys: equal records give equal texts."""
    return json.dumps(to_json(record), sort_keys=True, ensure_ascii=False, allow_nan=False)


def from_json(document: Any, kind: type[Record]) -> Record:
    """Return the record of a document; unknown keys are ignored.

    Raises:
        msgspec.ValidationError: the document does not fit the record; the message names the place.
    """
    return msgspec.convert(document, kind, dec_hook=_decode)


def from_text(text: bytes | str, kind: type[Record]) -> Record:
    """Return the record of a JSON text.

    Raises:
        ValueError: the text is not valid JSON (`NaN` is not), or is nested too deep.
        msgspec.ValidationError: the document does not fit the record; the message names the place.
    """
    try:
        return from_json(msgspec.json.decode(text), kind)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def schema_of(kind: type[Struct]) -> dict[str, Any]:
    """Return the JSON Schema of a record."""
    (found,), parts = msgspec.json.schema_components([kind], schema_hook=_schema)
    _, figures = msgspec.json.schema_components([Figure, NoFigure])
    return {**found, "$defs": {**parts, **(figures if kind is Run else {})}}


def _decode(kind: type, document: Any) -> Any:
    """Decode `Figures`: an entry with a value is a Figure, any other a NoFigure."""
    if kind is not Figures:
        raise NotImplementedError(kind)
    if not isinstance(document, dict):
        raise TypeError("Expected `object`")
    return Figures({rule: _figure(each) for rule, each in document.items()})


def _figure(document: Any) -> Figure | NoFigure:
    if isinstance(document, dict) and document.get("value") is None:
        return msgspec.convert(document, NoFigure)
    return msgspec.convert(document, Figure)


def _schema(kind: type) -> dict[str, Any]:
    if kind is not Figures:
        raise NotImplementedError(kind)
    return {
        "type": "object",
        "additionalProperties": {"anyOf": [{"$ref": "#/$defs/Figure"}, {"$ref": "#/$defs/NoFigure"}]},
    }


def names_of(kind: type[Struct]) -> Sequence[str]:
    """Return the keys of a record in their order."""
    return kind.__struct_fields__
