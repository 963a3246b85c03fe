"""The typed records of every document that crosses a package: run.json, environment.json, ledger lines and results.

All are frozen; those that a run has by the dozen tell Python's collector of cycles that they are in none (`gc=False`).
`to_json` and `from_json` give and take the documents themselves, whose keys are those of the fields.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from perfledger.schema.vocabulary import CASE, COUNTS, NO_FIGURE, OUTCOMES, PRECISIONS

#: What JSON holds besides lists and objects.
Plain = bool | int | float | str | None
#: What a run.json says of a machine: a word, a number, or a list or an object of such.
Stated = Plain | list[Any] | dict[str, Any]
#: Values of facts by name, each of the type that the vocabulary gives it.
Facts = Mapping[str, Any]
#: Disturbances as runners wrote them among the warnings, before they had a key of their own.
_DISTURBED_BEFORE = re.compile(
    r"(?:node \d+: )?(?:the processors of this host are \d+ % busy before the run: something else computes here"
    r"|GPU \d+ is busy: processes on it .*)"
)
#: More entries than a runner writes.
_LONGEST_LIST = 1000

Text = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=1)]
Amount = Annotated[int, Meta(ge=0)]
#: A round is named in tables and addresses.
RoundName = Annotated[str, Meta(min_length=1, max_length=40, pattern=r"\S")]
Words = Annotated[tuple[str, ...], Meta(max_length=_LONGEST_LIST)]

Record = TypeVar("Record", bound=Struct)


class WrongError(ValueError):
    """A value that a record refuses. The message is `.key` followed by what is wrong with it."""


class Reason(Struct, frozen=True, gc=False):
    """Why there is no figure: a code of the words' table `reason`, and what its sentence names."""

    code: str
    args: dict[str, Any] = {}


class Problem(Struct, frozen=True, gc=False):
    """What is wrong with an input: a code of the words' table `problem`. `line` is 0 where no line is meant."""

    code: str
    path: str = ""
    line: int = 0
    args: dict[str, Any] = {}


class Figure(Struct, frozen=True, gc=False):
    """One figure of one session under one rule: value in `unit` at `scope`, and what it rests on."""

    value: Annotated[float, Meta(gt=0)]
    unit: str = ""
    scope: str = ""
    used: int = 0
    skipped: int = 0
    first_line: int = 0
    last_line: int = 0
    arithmetic: str = ""
    #: What the last printed digit counts, as a share of the figure; absent where it is finer than pages show.
    resolution: float | UnsetType = UNSET


class NoFigure(Struct, frozen=True, gc=False):
    """Why a session has no figure under a rule."""

    reason: Reason
    value: None = None


class Witness(Struct, frozen=True, omit_defaults=True, gc=False):
    """An independent way to the headline figure that the same log offers, and whether it agrees.

    `kind` is a key of `ingest.compute.measurement.WITNESSES`; `verdict` is `agrees`, `disagrees`, `silent` (with the
    `reason`), or `corrects` where the printed speed is known to be wrong and the witness gives the figure instead.
    `value` is what the witness gives in `unit`, `against` what the log prints; `difference` (of the printed one),
    `resolution` and `tolerance` are percent.
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


#: What a result's figure rests on: `agree`, the printed line and at least one witness; `line`, the printed line alone;
#: `corrects`, a witness in place of printed speeds that are known to be wrong.
Support = Literal["agree", "line", "corrects"]


class Figures(dict[str, Figure | NoFigure]):
    """Figures by rule. A class of its own because msgspec cannot tell two records in a union apart: `_decode` does."""

    __slots__ = ()


class MetricFigure(Struct, frozen=True, omit_defaults=True, gc=False):
    """A figure of one session other than throughput; `value` is None where there is none, or none that is finite.

    `source` is `log`, `telemetry` or `formula`. A loss has the value that was printed `first`, and says whether
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
    """A fact's plain value, the source that states it, and where in it.

    The source is `run.json`, `log`, `beside` (a file that the layout reads beside it), `layout`, `reader` (a
    `facts.toml` or `--assume`), `folder` (a file next to it that yields to it), `format`, or `derived` from other
    facts, which `where` then names.
    """

    value: Any
    source: str = ""
    where: str = ""


class Case(Struct, frozen=True):
    """What is compared: the facts of a case as far as they are known, and its options."""

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


class StatedCase(Struct, frozen=True):
    """The case of a run.json: what is known of it, each fact of its type."""

    model: Text | UnsetType = UNSET
    framework: Text | UnsetType = UNSET
    hardware: Text | UnsetType = UNSET
    nodes: Count | UnsetType = UNSET
    devices: Count | UnsetType = UNSET
    batch_size: Count | UnsetType = UNSET
    precision: str | UnsetType = UNSET
    options: dict[str, Plain] = {}

    def __post_init__(self) -> None:
        if self.precision is not UNSET:
            _one_of(".precision", self.precision, PRECISIONS)
        if self.devices is not UNSET and self.nodes is not UNSET and self.devices % self.nodes:
            raise WrongError(f".devices is {self.devices}, which {self.nodes} nodes cannot share")
        for name, value in self.options.items():
            _check_option(name, value)


class Container(Struct, frozen=True, omit_defaults=True):
    """The image that a recipe was run in, and the tool that ran it."""

    tool: str = ""
    image: str = ""
    digest: str = ""


class Recipe(Struct, frozen=True, omit_defaults=True):
    """What a run.json carries of the recipe that made it."""

    name: Text
    sha256: str = ""
    case: dict[str, str] = {}
    command: Words = ()
    setup: Words = ()
    lock: str = ""
    container: Container | None = None
    launcher: str = ""
    data: bool = False


def told_apart(warnings: Sequence[str], disturbances: Sequence[str] | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return warnings and disturbances of a run.json; one without a key for the latter has them among the former."""
    if disturbances is not None:
        return tuple(warnings), tuple(disturbances)
    found = tuple(filter(_DISTURBED_BEFORE.fullmatch, warnings))
    return tuple(each for each in warnings if each not in found), found


class SiteRecord(Struct, frozen=True, omit_defaults=True):
    """What a site added to a recipe that may change a figure, beside variables; see `runners/README.md`."""

    interpreter: str = ""
    prologue: Words = ()
    before: Words = ()
    after: Words = ()
    container_arguments: Words = ()
    interface: str = ""


class Records(Struct, frozen=True, omit_defaults=True):
    """The records that a runner asked for: of one format, and at least so many.

    `no_figure` says why no figure could be made of them when the run was finished.
    """

    format: str | None = None
    count: Amount | None = None
    at_least: Amount | None = None
    no_figure: str | None = None


class Node(Struct, frozen=True, omit_defaults=True):
    """How one machine of several ended; `folder` lies below that of the run, `gpus` are those chosen for it."""

    folder: str
    outcome: str | None = None
    exit_status: int | None = None
    gpus: str | None = None


class StatedFile(Struct, frozen=True):
    """What a run.json says of a file beside it."""

    sha256: str | None = None
    bytes: Amount | None = None


class RunJson(Struct, frozen=True):
    """A run.json: the whole contract with whoever ran the training, who states what is known and no more."""

    schema: Literal["perfledger.run/1"]
    case: StatedCase = StatedCase()
    outcome: str | None = None
    #: A trial with fewer iterations than its recipe asks for, of which nothing is published.
    smoke: bool = False
    #: What the random order of the runs that it was one of began with.
    order_seed: int | None = None
    suite: str | None = None
    format: str | None = None
    round: RoundName | None = None
    repeat: Count | None = None
    start: str | None = None
    end: str | None = None
    wall_seconds: int | float | None = None
    exit_status: int | None = None
    notes: str | None = None
    argv: tuple[str, ...] | None = None
    environment: dict[str, Stated] = {}
    environment_variables: dict[str, Plain] | None = None
    secrets: Words | None = None
    site: SiteRecord | None = None
    source: dict[str, Plain] | None = None
    files: dict[str, StatedFile] = {}
    recipe: Recipe | None = None
    records: Records | None = None
    warnings: Words | None = None
    disturbances: Words | None = None
    accept_disturbed: bool | None = None
    nodes: Annotated[tuple[Node, ...], Meta(max_length=_LONGEST_LIST)] | None = None

    def __post_init__(self) -> None:
        if self.outcome is not None:
            _one_of(".outcome", self.outcome, OUTCOMES)
        for name in self.files:
            _check_below(".files", name)
        for number, node in enumerate(self.nodes or ()):
            _check_below(f".nodes[{number}].folder", node.folder)
        if not isinstance((self.source or {}).get("modified", False), bool):
            raise WrongError(".source.modified is neither true nor false")


class EnvironmentDetails(Struct, frozen=True, omit_defaults=True):
    """What a run carries of an environment.json."""

    gpus: tuple[dict[str, int | float | str], ...] = ()
    topology: str = ""
    infiniband: tuple[str, ...] = ()
    packages_installed: tuple[str, ...] = ()


#: Limits of an environment.json, so that it fits a page. Redaction may make a line longer afterwards.
Line = Annotated[str, Meta(max_length=300)]
Lines = Annotated[tuple[Line, ...], Meta(max_length=2000)]
Device = Annotated[dict[Line, int | float | Line], Meta(max_length=40)]


class Environment(Struct, frozen=True):
    """An environment.json: what of a machine is too long for a fact of run.json."""

    schema: Literal["perfledger.environment/1"]
    gpus: Annotated[tuple[Device, ...], Meta(max_length=2000)] = ()
    topology: Annotated[str, Meta(max_length=15_000)] = ""
    infiniband: Lines = ()
    packages_installed: Lines = ()


class Trace(Struct, frozen=True):
    """The series of a run in a few hundred points, the first `skipped` of them in the warm-up."""

    step: tuple[float, ...]
    value: tuple[float, ...]
    unit: str
    skipped: int


class Pauses(Struct, frozen=True):
    """Records of the window that are no training steps, and what else took time in them, by `kinds`.

    `seconds` is what they took beyond training at the speed of the others, and `percent` its share of the window's
    time; None where that is not known.
    """

    records: int
    seconds: float | None
    percent: float | None
    kinds: tuple[str, ...]


class Evenness(Struct, frozen=True):
    """How even the speeds of the window's training records are.

    `slow` counts those below 80 % of the median; `change` is that of the second half's median against the first's.
    """

    records: int
    slow: int
    change: float


Number = int | float | None


class Sampled(Struct, frozen=True):
    """Figures of devices over a stretch of time, each with its `scope`; those that are `absent` have a reason there."""

    samples: int | None = None
    seconds: Number = None
    first: str | None = None
    last: str | None = None
    devices: int | None = None
    memory_peak_mib: Number = None
    memory_total_mib: Number = None
    power_peak_w: Number = None
    power_limit_w: Number = None
    temperature_peak_c: Number = None
    memory_temperature_peak_c: Number = None
    host_memory_peak_mib: Number = None
    host_memory_total_mib: Number = None
    load_peak: Number = None
    memory_mean_mib: Number = None
    utilisation_mean: Number = None
    memory_utilisation_mean: Number = None
    power_mean_w: Number = None
    temperature_mean_c: Number = None
    sm_clock_mean_mhz: Number = None
    graphics_clock_mean_mhz: Number = None
    memory_clock_mean_mhz: Number = None
    host_memory_mean_mib: Number = None
    load_mean: Number = None
    cpu_mean: Number = None
    disk_read_mean_mib_s: Number = None
    disk_written_mean_mib_s: Number = None
    energy_j: Number = None
    #: The longest time between two samples of one device; told of a measured window only.
    gap_s: float | UnsetType = UNSET
    scope: dict[str, str] = {}
    absent: dict[str, str] = {}


class TelemetryFile(Struct, frozen=True):
    """A file of samples, and what printed it."""

    path: str
    printer: str
    sha256: str


class Telemetry(Sampled, frozen=True):
    """What was sampled beside a run, in `window` from first to last record, in `measured` while those that count.

    `measured` is absent where the log's records have no date and time.
    """

    per_device: tuple[dict[str, str | int | float], ...] = ()
    window: Sampled | None = None
    measured: Sampled | UnsetType = UNSET
    files: tuple[TelemetryFile, ...] = ()
    devices_of_job: int | None = None
    part: str = ""
    printers: dict[str, str] = {}


class Origin(Struct, frozen=True):
    """Whose logs a layout describes: what they are called, and where they were published."""

    title: str
    source: str


class RunProgress(Struct, frozen=True):
    """How far a run came by its own counters: its last epoch or step, counted from 1, of how many."""

    unit: str
    done: int
    total: int


class Run(Struct, frozen=True, kw_only=True):
    """One session of a log with its facts, figures and problems: a line of the ledger, and of `--json`.

    `sound` says whether its own figures can be trusted, `published` whether results use them: not if another log is of
    the same run (`duplicate_of`), and not if facts of its case are `missing`.
    """

    id: str = ""
    path: str
    sha256: str
    bytes: int = 0
    lines: int = 0
    session: int = 1
    sessions: int = 1
    format: str | None = None
    #: Whether no real log of the format's printer was read yet; absent where one was.
    unproven: Literal[True] | UnsetType = UNSET
    outcome: str = "completed"
    #: Where the log says so; 0 where it says nothing, or something else than run.json.
    outcome_line: int = 0
    #: Where the log says how far it was to go.
    progress: RunProgress | None = None
    observations: int = 0
    case: Case = Case()
    facts: dict[str, FactValue] = {}
    environment: dict[str, Stated] = {}
    environment_details: EnvironmentDetails | None = None
    figures: Figures = field(default_factory=Figures)
    #: The rule of the headline figure: another than the house's where the log gives one final figure only.
    rule: str = "sustained"
    metrics: dict[str, MetricFigure] = {}
    #: What the same log offers beside the headline figure, in the order of WITNESSES; where there is none,
    #: only a summary that its few records contradict.
    witnesses: tuple[Witness, ...] = ()
    #: Figures under the rules by which others computed what they published; absent if no figures were published.
    audit: Figures | UnsetType = UNSET
    problems: tuple[Problem, ...] = ()
    repeat: int | None = None
    clock: tuple[str, str] | None = None
    #: The same of the records that the headline counts; None where their lines have no date and time.
    measured_clock: tuple[str, str] | None = None
    telemetry: Telemetry | None = None
    suite: str | None = None
    published: bool = False
    sound: bool = False
    #: Whose log it is; absent where whoever publishes the site ran it.
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
        """Whether other work ran on its machine, and nobody accepted that: it is kept, and left out of results."""
        return bool(self.disturbances) and not self.accept_disturbed

    @property
    def filled_in(self) -> Mapping[str, str]:
        """The facts that the log leaves open and its reader, or a file of its folder, fills in, each with where."""
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
        """Return the figure under a rule; None where there is none."""
        found = self.figures.get(rule)
        return found if isinstance(found, Figure) else None

    @property
    def headline(self) -> Figure | None:
        """The headline figure, be it published or not; None where there is none."""
        return self.figure(self.rule)

    @property
    def all_figures(self) -> Mapping[str, Figure | NoFigure]:
        """The figures under every rule, those of an audit included."""
        return self.figures if self.audit is UNSET else {**self.audit, **self.figures}


class ResultMetric(Struct, frozen=True):
    """A figure other than throughput over the repeats of a case; `diverged` is told of a loss only.

    Where `rule` names no median but a score, `value` is the score times `factor`, or absent for a `reason`.
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

    `baseline` is the result of one device that `speedup` is against; None for one of one device, which is its own.
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
    #: The machines that the repeats are of, 0 where none is stated; and the spreads within and between several.
    hosts: int = 0
    spread_within: float | None = None
    spread_between: float | None = None
    #: What the figure of the weakest of its runs rests on; None where there is no figure.
    witnesses: Support | None = None
    #: The coarsest of its runs' (`Figure.resolution`).
    resolution: float | UnsetType = UNSET
    #: Whether one of its runs is of a format of which no real log was read yet.
    unproven: Literal[True] | UnsetType = UNSET
    #: Facts that a log leaves open and its reader or folder fills in, each with where; absent if the logs state all.
    assumed: dict[str, str] | UnsetType = UNSET
    #: The scope of the figure, and the needed facts that nothing states; absent if the result is placed.
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
        """Return a figure other than throughput; None where there is none."""
        found = self.metrics.get(name)
        return found.value if found else None

    @property
    def options_text(self) -> str:
        """The options in one line."""
        return ", ".join(f"{name}={value}" for name, value in sorted(self.options.items()))

    @property
    def diverged(self) -> bool:
        """Whether the loss of a run behind the figure diverged."""
        loss = self.metrics.get("loss")
        return bool(loss and loss.diverged)


def to_json(record: Struct) -> dict[str, Any]:
    """Return the document of a record. A case leaves out what is not known."""
    found: dict[str, Any] = msgspec.to_builtins(record)
    if isinstance(record, Run):
        found["case"] = {name: value for name, value in found["case"].items() if value is not None}
    return found


def text_of(record: Struct) -> str:
    """Return the document of a record as one line of JSON with sorted keys: equal records give equal texts."""
    return json.dumps(to_json(record), sort_keys=True, ensure_ascii=False, allow_nan=False)


def from_json(document: Any, kind: type[Record]) -> Record:
    """Return the record of a document; keys that it does not know are ignored.

    Raises:
        msgspec.ValidationError: the document is no such record; the message names the place.
    """
    return msgspec.convert(document, kind, dec_hook=_decode)


def from_text(text: bytes | str, kind: type[Record]) -> Record:
    """Return the record of a JSON text.

    Raises:
        ValueError: the text is no JSON, is nested too deep, or holds numbers that are none.
        msgspec.ValidationError: it is no such record; the message names the place.
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
    """Decode `Figures`: what has a value is a Figure, the rest NoFigure."""
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


def _one_of(place: str, value: str, known: Mapping[str, Any]) -> None:
    if value not in known:
        near = difflib.get_close_matches(value, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise WrongError(f"{place} is {value!r}, not one of {', '.join(known)}{hint}")


def _check_option(name: str, value: Plain) -> None:
    """Refuse an option that counts as a fact and is none: `"accumulation": "8"` would multiply a text."""
    if name in CASE:
        raise WrongError(f".options.{name} is no option; it stands in the case itself")
    if name == "round":
        raise WrongError(".options.round is not an option; put `round` next to `case`")
    if name in COUNTS and (type(value) is not int or value < 1):
        raise WrongError(f".options.{name} is {value!r}, not a positive whole number")


def _check_below(place: str, name: str) -> None:
    """Refuse a path that does not lie below the run's folder: nothing else of the disk is looked at."""
    if not (name.isprintable() and (name == "." or not {"", ".", ".."} & set(name.split("/")))):
        raise WrongError(f"{place}: {name!r} is no path below the folder of the run")


def names_of(kind: type[Struct]) -> Sequence[str]:
    """Return the keys of a record in their order."""
    return kind.__struct_fields__
