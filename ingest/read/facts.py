"""Facts of a case from five sources, strongest first: `run.json`, the log, files next to it, the layout, the reader.

If two of the first four disagree, the caller gets the contradiction. Facts that the layout states of all its logs, and
facts of the reader, only fill in facts that the others leave open.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perfledger.ingest.common import suites
from perfledger.ingest.read.beside import BESIDE, PathFacts
from perfledger.parsers.engine.statements import Quoted
from perfledger.schema.records import Case, Facts, FactValue, Problem, Stated
from perfledger.schema.vocabulary import CASE, FACTS, NEEDED, OPTIONS, PRECISIONS

#: The job's samples per step replace the batch size per device if the model is split over devices.
_BATCH_OF_JOB = "batch_size_of_job"
#: The source of a fact that a log's path states by its layout.
_LAYOUT = "layout"
#: The source of a fact that follows from others.
DERIVED = "derived"
#: The facts that say how many devices share samples.
CUTS = ("tensor_parallel", "pipeline_parallel", "context_parallel")
_MAKERS = frozenset({"nvidia", "tesla", "quadro", "geforce"})
#: How people and printers write that an option is on or off.
_SWITCHES = {**dict.fromkeys(("true", "on", "yes"), True), **dict.fromkeys(("false", "off", "no"), False)}


@dataclass(frozen=True)
class Contradiction:
    """Two sources that state different values of one fact; the stronger first."""

    fact: str
    first: FactValue
    second: FactValue


@dataclass(frozen=True)
class Merged:
    """Facts by name with their source, and the contradictions between sources."""

    stated: Mapping[str, FactValue]
    contradictions: tuple[Contradiction, ...]
    #: Values of sources that only fill in, if they differ from the value that is used.
    differences: tuple[Contradiction, ...] = ()
    #: Which of the facts are options of the case.
    options: frozenset[str] = OPTIONS
    #: Which of them follow from the records themselves, and so say nothing about these.
    of_records: frozenset[str] = frozenset()

    def value(self, name: str) -> Any:
        """Return a fact's value, None if no source states it."""
        return self.stated[name].value if name in self.stated else None

    def case(self) -> Case:
        """Return what is compared: known facts of the case, and its options."""
        found = {name: self.stated[name].value for name in CASE if name in self.stated}
        options = {name: each.value for name, each in self.stated.items() if self._parts_cases(name, each.value)}
        if "batch_size" not in found and _BATCH_OF_JOB in self.stated:
            options[_BATCH_OF_JOB] = self.value(_BATCH_OF_JOB)
        return Case(**found, options=dict(sorted(options.items())))

    def _parts_cases(self, name: str, value: Any) -> bool:
        """Return whether a fact is an option of the case; a usual value is as if nobody had stated it."""
        usual = FACTS[name].usual if name in FACTS else None
        return name in self.options and (usual is None or value != usual)

    def for_rules(self) -> Facts:
        """Return every fact that a rule may need."""
        return {name: each.value for name, each in self.stated.items()}


def merge(
    run_json: Mapping[str, Stated],
    log: Mapping[str, Quoted],
    of_path: PathFacts,
    implied: Mapping[str, str],
    format_id: str = "",
) -> Merged:
    """Merge the sources of one run.

    Args:
        run_json: `case` of run.json, empty without one.
        log: facts that the log states.
        of_path: facts of the log by its path, by files next to it, and by its reader.
        implied: what the format itself says (framework), weaker than everything.
        format_id: the format of the log, which says what a printed name of a model means.
    """
    of_log = {name: FactValue(each.value, "log", f"line {each.line}") for name, each in log.items()}
    of_log, differences = _without_default(of_log, of_path.beside)
    sources: list[Mapping[str, FactValue]] = [
        {name: FactValue(value, "run.json", "run.json") for name, value in run_json.items()},
        of_log,
        *of_path.beside,
        {name: FactValue(value, _LAYOUT, f"layout {of_path.layout}") for name, value in (of_path.path or {}).items()},
    ]
    merged, found = _merged(sources, format_id)
    contradictions = [each for each in found if not (each.second.source == _LAYOUT and each.fact in of_path.weak)]
    differences += [each for each in found if each not in contradictions]
    if of_path.reader:
        by_reader = _derived(of_path.reader, format_id)
        open_facts = {name: each for name, each in by_reader.items() if name not in merged}
        filled, more = _merged([*sources, open_facts], format_id)
        new = [each for each in more if each not in found]
        differences += new or _differences(merged, by_reader)
        merged = merged if new else filled
    merged |= {
        name: FactValue(value, "format", "format") for name, value in implied.items() if value and name not in merged
    }
    stated_options = run_json.get("options")
    named = frozenset(stated_options) if isinstance(stated_options, dict) else frozenset()
    return Merged(merged, tuple(contradictions), tuple(differences), OPTIONS | named)


def _merged(
    sources: Sequence[Mapping[str, FactValue]], format_id: str
) -> tuple[dict[str, FactValue], list[Contradiction]]:
    """Return the facts of sources, the strongest first, and those that follow from them; and their contradictions."""
    merged: dict[str, FactValue] = {}
    contradictions = []
    for facts in (_derived(each, format_id) for each in sources):
        for name, stated in facts.items():
            known = merged.setdefault(name, stated)
            if not agree(name, known, stated):
                contradictions.append(Contradiction(name, known, stated))
            elif name == "model" and not suites.suite_of_name(known.value):  # A log's word, for a name of ours.
                merged[name] = stated
    _derive_missing(merged, {name for each in sources for name in each})
    return merged, [*contradictions, *_machines(merged), *_batches(merged)]


def _differences(merged: Mapping[str, FactValue], by_reader: Mapping[str, FactValue]) -> list[Contradiction]:
    there = ((name, merged[name], each) for name, each in by_reader.items() if name in merged)
    return [Contradiction(name, known, each) for name, known, each in there if not agree(name, known, each)]


def _without_default(
    of_log: dict[str, FactValue], beside: Sequence[Mapping[str, FactValue]]
) -> tuple[dict[str, FactValue], list[Contradiction]]:
    """Drop the one machine that a log prints by default, if the papers of the run have several.

    The log of a job on two machines says 1 where the launcher does not set the number: HPE's DLRM in MLPerf v5.0.
    """
    stated = next((each["nodes"] for each in beside if "nodes" in each), None)
    printed = of_log.get("nodes")
    if not (stated and printed and printed.value == 1 < stated.value):
        return of_log, []
    kept = {name: each for name, each in of_log.items() if name != "nodes"}
    return kept, [Contradiction("nodes", stated, printed)]


def _machines(merged: Mapping[str, FactValue]) -> list[Contradiction]:
    """Compare the devices of the job with those of all its machines, where one source states all three."""
    nodes, devices, each = (merged.get(name) for name in ("nodes", "devices", "devices_per_node"))
    if not nodes or not devices or not each or devices.value == nodes.value * each.value:
        return []
    if not devices.source == nodes.source == each.source:
        return []
    product = computed(nodes.value * each.value, nodes=nodes, devices_per_node=each)
    return [Contradiction("devices", devices, product)]


def _batches(merged: dict[str, FactValue]) -> list[Contradiction]:
    """Derive batch sizes per device and of the job from the strongest source that states one.

    Devices that share a network have no batch size of their own; a log may print that of their group as theirs.
    """
    job, each, devices = (merged.get(name) for name in (_BATCH_OF_JOB, "batch_size", "devices"))
    if job and each and not devices and _all_devices(merged, job, each):
        steps = {"accumulation": merged["accumulation"]} if "accumulation" in merged else {}
        batches = job.value // each.value // (steps["accumulation"].value if steps else 1)
        merged["devices"] = computed(batches, batch_size_of_job=job, batch_size=each, **steps)
    if not job or not devices:
        return []
    if not each and job.value % devices.value == 0 and not _is_cut(merged):
        merged["batch_size"] = computed(job.value // devices.value, batch_size_of_job=job, devices=devices)
    if each and _printed_of_group(merged, job, each, devices):
        del merged["batch_size"]
        return []
    groups = max(1, devices.value // _cut(merged))
    if not each or job.value % (each.value * groups) == 0:
        return []
    return [Contradiction(_BATCH_OF_JOB, job, computed(each.value * groups, batch_size=each, devices=devices))]


def _all_devices(merged: Mapping[str, FactValue], job: FactValue, each: FactValue) -> bool:
    """Return whether one batch is the other times the devices, and the accumulation: both from one source.

    If it does not fill the machines, devices share samples, and the log does not state how many do.
    """
    steps = merged["accumulation"].value if "accumulation" in merged else 1
    batches, rest = divmod(job.value, each.value * steps)
    fills = "devices_per_node" not in merged or batches % merged["devices_per_node"].value == 0
    alike = job.source == each.source and batches > 0 and rest == 0
    return alike and (steps == 1 or _is_of_update(merged, job)) and fills and not _is_cut(merged)


#: Largest difference between the samples of all steps and those of all epochs, as a share.
_PART = 0.05


def _is_of_update(merged: Mapping[str, FactValue], job: FactValue) -> bool:
    """Return whether the job's batch contains all samples of an update: the stated steps then take all epochs.

    Each epoch may end with a part of a batch; where that is most of it, one without the accumulation would fit, too.
    """
    names = ("data_set_size", "total_epochs", "total_steps", "accumulation")
    if not all(name in merged for name in names):
        return False
    samples, epochs, steps, accumulated = (merged[name].value for name in names)
    part, ratio = job.value / samples, steps * job.value / (samples * epochs)
    return bool(1 - _PART <= ratio <= 1 + _PART + part and 1 / accumulated + part < 1 - _PART)


def _printed_of_group(merged: Mapping[str, FactValue], job: FactValue, each: FactValue, devices: FactValue) -> bool:
    """Return whether the log, which states all of them, prints the batch size of devices that share samples."""
    steps = merged.get("accumulation")
    stated = all(one.source == "log" for one in (job, each, devices, *([steps] if steps else [])))
    return stated and shares_samples(job.value, each.value, devices.value, steps.value if steps else 1)


def shares_samples(job: int, each: int, devices: int, steps: int) -> bool:
    """Return whether a step has fewer batches than devices, and divides them: some seem to share the samples of each.

    Trainers print the batch of such a group as that of a device. A job's batch that contains one of each device,
    although batches are accumulated, may leave out the accumulation instead.
    """
    groups, rest = divmod(job, each * steps)
    left_out = steps > 1 and job == each * devices
    return rest == 0 and 0 < groups < devices and devices % groups == 0 and not left_out


def _is_cut(merged: Mapping[str, FactValue]) -> bool:
    """Return whether devices share samples: the network is split within its layers or between them, or the sequence."""
    return _cut(merged) != 1


def _cut(merged: Mapping[str, FactValue]) -> int:
    """Return how many devices share samples, as far as that is stated."""
    return math.prod(merged[name].value for name in CUTS if name in merged)


def _derived(facts: Mapping[str, FactValue], format_id: str) -> dict[str, FactValue]:
    """Return one source's facts as facts of a case."""
    found = {name: each for name, each in facts.items() if name not in {"gpu", "options"}}
    if options := facts.get("options"):
        found |= {name: _with(options, value) for name, value in options.value.items()}
    printed = {name: each for name, each in found.items() if name in OPTIONS}
    found |= {name: _with(each, _SWITCHES.get(str(each.value).lower(), each.value)) for name, each in printed.items()}
    if model := found.get("model"):
        spelled = str(model.value)
        of_log = model.source == "log"
        found["model"] = _with(model, suites.model_printed(format_id, spelled) if of_log else suites.model(spelled))
    names = [each for each in (found.pop("hardware", None), facts.get("gpu")) if each and hardware(str(each.value))]
    if names:
        found["hardware"] = _with(names[0], hardware(str(names[0].value)))
    _devices(found)
    return found


def _devices(found: dict[str, FactValue]) -> None:
    """Complete nodes, devices and devices per node from any two of them."""
    nodes, devices, each = (found.get(name) for name in ("nodes", "devices", "devices_per_node"))
    if devices is None and nodes and each:
        found["devices"] = computed(nodes.value * each.value, nodes=nodes, devices_per_node=each)
    elif nodes is None and devices and each and devices.value % each.value == 0:
        found["nodes"] = computed(devices.value // each.value, devices=devices, devices_per_node=each)
    elif nodes is None and devices and devices.value == 1:
        found["nodes"] = computed(1, devices=devices)


def _derive_missing(merged: dict[str, FactValue], stated: set[str]) -> None:
    """Derive what no source states from the facts that are stated, whichever sources they are from."""
    for name in {"nodes", "devices"} - stated:
        merged.pop(name, None)
    _devices(merged)


def _with(stated: FactValue, value: Any) -> FactValue:
    return FactValue(value, stated.source, stated.where)


def computed(value: Any, **origins: FactValue) -> FactValue:
    """Return a fact that nobody states, with the facts that it follows from and the place of each.

    It never has the place of one of them alone, which says something else.
    """
    stated = (each.where if each.source == DERIVED else f"{name} ({each.where})" for name, each in origins.items())
    return FactValue(value, DERIVED, ", ".join(dict.fromkeys(stated)))


def agree(name: str, known: FactValue, other: FactValue) -> bool:
    """Return whether two values of a fact are compatible; a weaker source may use the looser word."""
    if name == "framework" or known.value == other.value:  # A framework may have several names.
        return True
    if isinstance(known.value, str) and isinstance(other.value, str) and _is_same_word(name, known.value, other.value):
        return True
    if name == "precision":
        return _family(known.value) == _family(other.value)
    if name == "hardware" and BESIDE in (known.source, other.source):
        # Who describes a machine by hand names its cards in full, or in other words than the driver.
        return _card(str(known.value)) == _card(str(other.value))
    return name not in {*CASE, *OPTIONS, "devices_per_node", "round", _BATCH_OF_JOB}


def _family(precision: str) -> str:
    """Return the family of a precision; a weaker source may use a looser word of it."""
    return PRECISIONS[precision].family if precision in PRECISIONS else precision


def _is_same_word(name: str, known: str, other: str) -> bool:
    """Return whether two words differ in case only, or in that a card or a network is named less fully."""
    if name == "model" and suites.model(known) == suites.model(other):
        return True
    one, two = known.lower().replace(" ", "-"), other.lower().replace(" ", "-")
    shorter, longer = sorted((one, two), key=len)
    return one == two or (name == "hardware" and longer.startswith(f"{shorter}-"))


def _card(name: str) -> str:
    """Return the part of a card's name that its makers share with people: `h100` of `NVIDIA H100-SXM5-80GB`."""
    words = re.split(r"[^a-z0-9]+", name.lower())
    return next((each for each in words if re.search(r"[0-9]", each)), name)


def contradiction(path: str, found: Contradiction, **more: str) -> Problem:
    """Return the problem that names a fact, both values and both sources."""
    return _named("contradiction", path, found, **more)


def difference(path: str, found: Contradiction) -> Problem:
    """Return the note that a source which only fills in states something else; the first value is used."""
    return _named("fact_differs", path, found)


def _named(code: str, path: str, found: Contradiction, **more: str) -> Problem:
    line = int(found.first.where.removeprefix("line ")) if found.first.where.startswith("line ") else 0
    return Problem(code, path, line, {
        "fact": found.fact, "first": str(found.first.value), "first_source": found.first.where,
        "second": str(found.second.value), "second_source": found.second.where, **more,
    })  # fmt: skip


#: Words that name a family of devices: a name of such words alone was cut.
_FAMILIES = _MAKERS | {"rtx", "gtx", "amd", "radeon", "instinct", "graphics", "device", "gpu"}
#: Words of a tool that fails to print a name.
_FAILURE = re.compile(r"\b(?:fail(?:ed|ure)?|error|unable|could ?n[o']t|not (?:found|supported)|unknown)\b", re.I)


def hardware(printed: str) -> str:
    """Return a device's name without its maker, so that all sources give one name: `Tesla V100-SXM2-32GB`.

    It is empty if the text is a family alone, which is a cut name, or the message of a tool that failed.
    """
    words = printed.split()
    if all(each.lower() in _FAMILIES for each in words) or _FAILURE.search(printed):
        return ""
    while len(words) > 1 and words[0].lower() in _MAKERS:
        words = words[1:]
    return " ".join(words)


def missing(known: Iterable[str], options: Iterable[str] = ()) -> list[str]:
    """Return facts of a case that no source states; the job's batch size can replace that of a device.

    Args:
        known: names of the facts that are stated.
        options: names of the case's options.
    """
    stated = {*known, *({"batch_size"} if _BATCH_OF_JOB in {*known, *options} else ())}
    return [name for name in NEEDED if name not in stated]
