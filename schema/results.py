"""The records of `results.json`: every result of a site, measured here from logs or published by others.

`RESULTS_VERSION` is raised when a key is removed or changes its meaning; keys may be added at any time.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from perfledger.schema.records import Amount, Count, Plain, Support, Text

RESULTS_VERSION = 1

Positive = Annotated[float, Meta(gt=0)]
NotNegative = Annotated[float, Meta(ge=0)]
Address = Annotated[str, Meta(pattern="^https://")]
Day = Annotated[str, Meta(extra_json_schema={"format": "date"})]
Condition = Text | Annotated[tuple[Text, ...], Meta(min_length=2, extra_json_schema={"uniqueItems": True})]


class Both(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A text in English and Chinese."""

    en: Annotated[Text, Meta(description="English.")]
    zh: Annotated[Text, Meta(description="Chinese.")]


class PrintedCase(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Values that a place prints and that differ from the case, since the log does; and a text next to the figure."""

    batch_size: Annotated[Count | UnsetType, Meta(description="Samples per device and step.")] = UNSET
    row_batch_size: Annotated[
        Count | UnsetType, Meta(description="Samples per device and step in the head of the row; the cell has its own.")
    ] = UNSET
    precision: Annotated[str | UnsetType, Meta(description="A precision of the vocabulary.")] = UNSET
    label: Annotated[str | UnsetType, Meta(description="Text beside the figure, such as `(O2)`.")] = UNSET


_Printed = Annotated[
    PrintedCase | UnsetType, Meta(description="What is printed there, where it is not what the case says.")
]


class Place(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A place that prints a figure."""

    address: Annotated[Address | None, Meta(description="Address of the page where the figure stands, where known.")]
    place: Annotated[str, Meta(description="Page and heading.")]
    line: Annotated[str | None, Meta(description="Line or lines, where known.")]
    printed: _Printed = UNSET


class Source(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who published a result, and where."""

    name: Annotated[str, Meta(description="Name of the source, as in published.csv.")]
    title: Both
    address: Annotated[Address | None, Meta(description="Address of the page where the figure stands, where known.")]
    place: Annotated[str, Meta(description="Page and heading.")]
    line: Annotated[str | None, Meta(description="Line or lines, where known.")]
    trainer: Annotated[
        str | None,
        Meta(description="Repository and version of the trainer, as far as the source says."),
    ]
    printed: _Printed = UNSET
    also: Annotated[tuple[Place, ...], Meta(description="Further places that print the same figures.")]


class Metric(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A figure other than throughput: the median over the repeats, or their score where `rule` names one."""

    value: Annotated[float | None, Meta(description="Null if it is not a finite number.")]
    text: Annotated[str | None, Meta(description="As the pages show it.")]
    unit: Annotated[str, Meta(description="Unit; empty where it has none.")]
    better: Annotated[Literal["higher", "lower"], Meta(description="Whether more or less of it is better.")]
    low: Annotated[
        float | UnsetType | None,
        Meta(description="Lowest of the repeats. This key and the following are absent in published figures."),
    ] = UNSET
    high: Annotated[float | UnsetType | None, Meta(description="Highest of the repeats.")] = UNSET
    spread: Annotated[
        float | UnsetType | None,
        Meta(description="Sample standard deviation of the repeats over their mean; null for fewer than two."),
    ] = UNSET
    range: Annotated[
        str | UnsetType | None,
        Meta(description="Lowest to highest of the repeats, as the pages show them; null for fewer than two."),
    ] = UNSET
    repeats: Annotated[Amount | UnsetType, Meta(description="Runs behind the value.")] = UNSET
    rule: Annotated[
        str | UnsetType,
        Meta(
            description="`olympic` for a score: the mean without the fastest and the slowest run, times `factor`. "
            "Absent for a median."
        ),
    ] = UNSET
    factor: Annotated[
        Positive | UnsetType, Meta(description="Scaling factor in a score, as its benchmark round states it.")
    ] = UNSET
    sources: Annotated[
        tuple[str, ...] | UnsetType,
        Meta(
            description="Where it was read: `log`, `telemetry`, `formula`. Figures from different sources are not "
            "compared."
        ),
    ] = UNSET


class ReasonText(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why a figure is absent."""

    code: Annotated[str, Meta(description="Kind of reason.")]
    args: Annotated[dict[str, Any], Meta(description="What it is about.")]
    text: Both


_Condition = Condition | UnsetType


class Conditions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Conditions that comparable results should share; each is a text, or all distinct texts of its runs."""

    cpu: Annotated[_Condition, Meta(description="Processor.")] = UNSET
    cuda: Annotated[_Condition, Meta(description="CUDA version.")] = UNSET
    cudnn: Annotated[_Condition, Meta(description="cuDNN version.")] = UNSET
    driver: Annotated[_Condition, Meta(description="Driver of the device.")] = UNSET
    gpu_ecc: Annotated[_Condition, Meta(description="Whether GPU memory uses ECC, as the driver reports it.")] = UNSET
    image: Annotated[_Condition, Meta(description="Container image, by its digest if that is known.")] = UNSET
    kernel: Annotated[_Condition, Meta(description="Kernel of the operating system.")] = UNSET
    nccl: Annotated[_Condition, Meta(description="NCCL version.")] = UNSET
    os: Annotated[_Condition, Meta(description="Operating system.")] = UNSET
    power_limit: Annotated[
        _Condition, Meta(description="Power limit of the device, as the host states it, or in watts.")
    ] = UNSET
    python: Annotated[_Condition, Meta(description="Python version.")] = UNSET
    topology: Annotated[_Condition, Meta(description="How the devices are connected.")] = UNSET


class RunLink(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run of a result."""

    id: Annotated[str, Meta(description="Name of the run, as in runs/*.jsonl.")]
    page: Annotated[str | None, Meta(description="Its page below the folder of a language; null if it has none.")]
    date: Annotated[Day | None, Meta(description="Date of its start; null if unknown.")]
    log: Annotated[str, Meta(description="Path of its log.")]
    sha256: Annotated[str, Meta(description="Hash of the bytes of its log, empty where they could not be read.")]


class ResultRecord(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One result."""

    id: Annotated[
        Annotated[str, Meta(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")],
        Meta(
            description="Stable id: the name of the case, and ten characters of a hash of its case, unit, framework "
            "version and round. New runs do not change it."
        ),
    ]
    origin: Annotated[
        Literal["measured", "published"],
        Meta(description="`measured`: computed here from logs; `published`: what others printed."),
    ]
    suite: Annotated[str, Meta(description="The page of the model that shows it.")]
    title: Annotated[Both, Meta(description="Title of that page.")]
    model: Annotated[str | None, Meta(description="Network.")]
    framework: Annotated[str | None, Meta(description="Framework or library that trained.")]
    framework_version: Annotated[
        str | None,
        Meta(
            description="Version of the framework as the run states it, otherwise of the package it is installed "
            "as; null if neither is known. Different versions are different results."
        ),
    ]
    hardware: Annotated[str | None, Meta(description="Device, as the host or the source names it.")]
    nodes: Annotated[Count | None, Meta(description="Machines; null if unknown.")]
    devices: Annotated[Count | None, Meta(description="Devices of the whole job; null if unknown.")]
    batch_size: Annotated[Count | None, Meta(description="Samples per device and step; null if unknown.")]
    precision: Annotated[
        str | None,
        Meta(description="A precision of the vocabulary, such as `fp32` or `bf16`; null if unknown."),
    ]
    group: Annotated[
        str,
        Meta(description="Group of precisions that the pages show together, `half` for `amp`, `fp16` and `bf16`."),
    ]
    options: Annotated[
        dict[str, Plain],
        Meta(description="Further options of the case, such as `xla`, `sequence_length`."),
    ]
    round: Annotated[
        str | None,
        Meta(description="Benchmark round: as the run states it; of a published result its source and year."),
    ]
    submitter: Annotated[
        str | UnsetType,
        Meta(description="Who submitted its logs; absent where they were measured here, and in published results."),
    ] = UNSET
    source: Annotated[Source | None, Meta(description="Who published it and where; null for what was measured here.")]
    rule: Annotated[
        str | None,
        Meta(
            description="Rule by which the figure was computed from the log; null for published results, whose "
            "rule is not known."
        ),
    ]
    unit: Annotated[str | None, Meta(description="Unit of the throughput; null if unknown.")]
    value: Annotated[
        Positive | None,
        Meta(
            description="Throughput of the whole job in `unit`: the median over the repeats, not rounded. Null "
            "if there is none; `reason` then says why."
        ),
    ]
    text: Annotated[
        str | None,
        Meta(
            description="The value as the pages show it: rounded to what its spread supports; a published value as it "
            "was printed."
        ),
    ]
    range: Annotated[
        str | None,
        Meta(
            description="Lowest to highest of the repeats, as the pages show them; null for fewer than two, and for "
            "published results."
        ),
    ]
    low: Annotated[Positive | None, Meta(description="Lowest of the repeats.")]
    high: Annotated[Positive | None, Meta(description="Highest of the repeats.")]
    spread: Annotated[
        NotNegative | None,
        Meta(description="Sample standard deviation of the repeats over their mean; null for fewer than two."),
    ]
    repeats: Annotated[Amount, Meta(description="Runs with a figure.")]
    hosts: Annotated[
        Count | UnsetType,
        Meta(
            description="Machines of one kind that the runs were made on. The value is the median of their medians. "
            "This key and the following are absent where no run states its machine."
        ),
    ] = UNSET
    spread_within: Annotated[
        NotNegative | UnsetType | None,
        Meta(
            description="Standard deviation within machines, pooled, over the mean; null where none of several ran "
            "twice."
        ),
    ] = UNSET
    spread_between: Annotated[
        NotNegative | UnsetType | None,
        Meta(description="Standard deviation of the machines' medians over their mean; null for one machine."),
    ] = UNSET
    witnesses: Annotated[
        Support | None,
        Meta(
            description="What the figure of the weakest of its runs rests on: `agree`, the printed line and at least "
            "one independent witness in the log; `line`, the printed line alone; `corrects`, a witness in place of a "
            "printed speed that is known to be wrong. Null for published results, and where there is no figure."
        ),
    ]
    unproven: Annotated[
        Literal[True] | UnsetType,
        Meta(
            description="Present where the format of a run's log stands on its printer's source alone, and no real log "
            "of it was read yet."
        ),
    ] = UNSET
    assumed: Annotated[
        dict[str, str] | UnsetType,
        Meta(
            description="Facts that the logs leave open and that their reader, or a file next to them, states; each "
            "with file and line. Absent if the logs state all facts."
        ),
    ] = UNSET
    placed: Annotated[
        Literal[False] | UnsetType,
        Meta(
            description="Present if the case is incomplete: then the figure is of one run, covers `scope`, and is not "
            "compared."
        ),
    ] = UNSET
    missing: Annotated[
        tuple[str, ...] | UnsetType,
        Meta(description="Facts that the log of a result that is not placed does not state."),
    ] = UNSET
    scope: Annotated[
        str | UnsetType,
        Meta(
            description="Scope of the value of a result that is not placed, as the vocabulary names it. Absent if "
            "the result has no value, and in placed results, which are of the job."
        ),
    ] = UNSET
    speedup: Annotated[
        Positive | None,
        Meta(
            description="Against one device of the same case, version and round; for published results the printed one."
        ),
    ]
    efficiency: Annotated[Positive | None, Meta(description="Speed-up over devices.")]
    speedup_reason: Annotated[
        ReasonText | None,
        Meta(description="Why there is no speed-up; null if there is one, and for published results."),
    ]
    metrics: Annotated[dict[str, Metric], Meta(description="Figures other than throughput.")]
    outcome: Annotated[
        str | None,
        Meta(
            description="How the runs ended: `completed`, `oom` (out of memory), `failed`, `timeout`, `stopped`, "
            "`short` (fewer records than the recipe asks for), `missed` (it ended without reaching its "
            "target), `truncated` (no end was seen), `unread` (no step could be read); of published results also "
            "`pending`."
        ),
    ]
    reason: Annotated[ReasonText | None, Meta(description="Why there is no value; null if there is one.")]
    conditions: Annotated[
        Conditions,
        Meta(
            description="Conditions that comparable results should share: each is a text, or all distinct texts where "
            "the runs differ. Unknown ones are left out."
        ),
    ]
    diverged: Annotated[bool, Meta(description="Whether the loss diverged in one of the runs.")]
    runs: Annotated[
        tuple[RunLink, ...],
        Meta(description="The runs behind the figure, the repeats; empty for published results."),
    ]
    page: Annotated[str, Meta(description="Page that shows the result, below the folder of a language.")]


def _null(*names: str) -> dict[str, Any]:
    return {name: {"type": "null"} for name in names}


def _kind(kind: str, *names: str) -> dict[str, Any]:
    return {name: {"type": kind} for name in names}


def _if(key: str, condition: dict[str, Any], then: dict[str, Any], otherwise: dict[str, Any]) -> dict[str, Any]:
    return {
        "if": {"properties": {key: condition}},
        "then": {"properties": then},
        "else": {"properties": otherwise},
    }


#: Constraints across keys: a figure has a text, an absent one a reason, and a measured one has runs.
_CONSISTENT = {
    "allOf": [
        _if(
            "value",
            {"type": "null"},
            _null("text", "low", "high", "spread", "speedup", "efficiency", "witnesses")
            | _kind("object", "reason")
            | {"repeats": {"const": 0}},
            _kind("string", "unit", "text")
            | _kind("number", "low", "high")
            | _null("reason")
            | {"repeats": {"minimum": 1}},
        ),
        _if(
            "origin",
            {"const": "measured"},
            _null("source") | _kind("string", "rule") | {"runs": {"minItems": 1}},
            _kind("object", "source") | _null("rule", "framework_version", "witnesses") | {"runs": {"maxItems": 0}},
        ),
    ]
}


class ChangedBy(Struct, frozen=True, kw_only=True):
    """A run that changed a result, with its page below the folder of a language."""

    id: str
    page: str | None


class ChangeRecord(Struct, frozen=True, kw_only=True):
    """A line of `changes.json`: the figure of a result that is `new` or has `moved`."""

    date: str
    kind: Literal["moved", "new"]
    result: str
    title: Both
    model: str | None
    framework: str | None
    framework_version: str | None
    round: str | None
    hardware: str | None
    nodes: int | None
    devices: int | None
    batch_size: int | None
    precision: str | None
    options: dict[str, Plain]
    unit: str | None
    page: str
    before: float | None
    after: float
    before_text: str | None
    after_text: str
    share: float | None
    share_text: str | None
    grade: str | None
    runs: tuple[ChangedBy, ...]


class ResultsDocument(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every result of a site: measured here from logs, and published by others.

    `version` is raised when a key is removed or changes its meaning. Keys may be added at any time, so readers should
    ignore those they do not know.
    """

    schema: Annotated[Literal["results.schema.json"], Meta(description="Where this schema lies, relative to the file.")]
    version: Annotated[Literal[1], Meta(description="Version of this schema.")]
    results: Annotated[
        tuple[Annotated[ResultRecord, Meta(extra_json_schema=_CONSISTENT)], ...],
        Meta(description="The results: the measured ones, then the published ones, by id."),
    ]
