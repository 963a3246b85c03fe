"""Facts that define cases, in the spellings of their printers."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from golden import GOLDEN, log_of

from perfledger.ingest.compute.measurement import measured
from perfledger.parsers.engine.read import read
from perfledger.parsers.engine.session import Session
from perfledger.schema.records import Figure, NoFigure


def printed_facts() -> Iterator[Any]:
    """Yield the format, the printed text and its facts of each `[[fact]]` in the samples of formats."""
    for path in sorted(GOLDEN.glob("*/samples.toml")):
        for number, fact in enumerate(tomllib.loads(path.read_text("utf-8")).get("fact", ()), 1):
            yield pytest.param(path.parent.name, fact["text"], fact["facts"], id=f"{path.parent.name}-{number}")


@pytest.mark.parametrize(("format_id", "printed", "facts"), list(printed_facts()))
def test_a_printer_states_a_fact(tmp_path: Path, format_id: str, printed: str, facts: dict[str, object]) -> None:
    # The golden log's own facts are removed, because the last value before the records counts.
    golden = log_of(format_id)
    lines = golden.read_text("utf-8").split("\n")
    first = min(each.lines([0])[0] for each in read(golden).sessions[0].records if len(each))
    path = tmp_path / "train.log"
    path.write_text("\n".join([printed, *lines[first - 1 :]]))
    session = read(path).sessions[0]
    assert session.format.id == format_id
    assert {name: session.facts[name].value for name in facts if name in session.facts} == facts


MASK_RCNN = """\
2026-11-20 16:37:23,000 maskrcnn_benchmark INFO: Loaded configuration file a.yaml
2026-11-20 16:37:23,000 maskrcnn_benchmark INFO:
SOLVER:
  IMS_PER_BATCH: 1
  MAX_ITER: 50000
TEST:
  IMS_PER_BATCH: 2

2026-11-20 16:37:23,100 maskrcnn_benchmark INFO: Running with config:
SOLVER:
  IMS_PER_BATCH: {batch}
  MAX_ITER: 600
TEST:
  IMS_PER_BATCH: 2
"""
MASK_RCNN_RECORD = (
    "2026-11-20 17:{minute:02}:{second:02},500 maskrcnn_benchmark.trainer INFO: eta: 0:07:21  iter: {step}  "
    "loss: 6.6000 (6.6075)  loss_box_reg: 0.0091 (0.0101)  time: 0.7000 (0.7000)  data: 0.1655 (0.2280)  "
    "lr: 0.000000  max mem: 7000\n"
)


def mask_rcnn(folder: Path, batch: int) -> Session:
    """Return a run of 600 iterations of 0.7 s whose wrapper prints 4 / 0.7 images/s."""
    clocks = {step: divmod(7 * step // 10, 60) for step in range(20, 601, 20)}
    records = (MASK_RCNN_RECORD.format(step=step, minute=minute, second=s) for step, (minute, s) in clocks.items())
    path = folder / "train.log"
    path.write_text(MASK_RCNN.format(batch=batch) + "".join(records) + "Training perf is: 5.714286 FPS\n")
    return read(path).sessions[0]


def test_settings_of_the_run_count_and_not_those_of_the_file(tmp_path: Path) -> None:
    session = mask_rcnn(tmp_path, 4)
    stated = {name: (each.value, each.line) for name, each in session.facts.items()}
    assert stated == {"batch_size_of_job": (4, 11), "total_steps": (600, 12)}
    found = measured(session, {"batch_size_of_job": 4, "devices": 1})
    assert isinstance(found.headline, Figure)
    assert found.headline.value == pytest.approx(4 / 0.7)
    assert {each.kind: each.verdict for each in found.witnesses}["summary"] == "agrees"


def test_a_figure_that_a_wrapper_contradicts_is_withheld(tmp_path: Path) -> None:
    found = measured(mask_rcnn(tmp_path, 1), {"batch_size_of_job": 1, "devices": 1}).headline
    assert isinstance(found, NoFigure)
    assert (found.reason.code, found.reason.args["witness"]) == ("withheld", "summary")


@pytest.mark.parametrize(("own", "steps"), [(b"  num_accumulation_steps: 16", 16), (b"  other: 16", 704)])
def test_the_launchers_trace_counts_if_the_trainer_does_not_state_accumulation(
    tmp_path: Path, own: bytes, steps: int
) -> None:
    path, traced = tmp_path / "train.log", b"+ num_accumulation_steps_phase1=704\n"
    path.write_bytes(traced + log_of("ngc.tensorflow_bert").read_bytes().replace(b"  num_accumulation_steps: 16", own))
    assert read(path).sessions[0].facts["accumulation"].value == steps


@pytest.mark.parametrize(
    ("sizes", "found"),
    [
        (
            "2, pipeline parallel size: 3, tensor parallel size: 5",
            {"devices": 30, "pipeline_parallel": 3, "tensor_parallel": 5},
        ),
        (
            "2, pipeline parallel size: 3, tensor parallel size: 5, weight parallel size: 1",
            {"devices": 30, "pipeline_parallel": 3, "tensor_parallel": 5},
        ),
        # "Tensor parallel" divides sequences here, and not weights.
        (
            "2, pipeline parallel size: 3, tensor parallel size: 5, weight parallel size: 10",
            {"devices": 30, "pipeline_parallel": 3},
        ),
    ],
)
def test_internlm_devices_follow_from_the_layout(tmp_path: Path, sizes: str, found: dict[str, int]) -> None:
    text = log_of("frameworks.internlm").read_text("utf-8")
    assert text.count("data parallel size: ") == 1
    head, rest = text.split("data parallel size: ")
    path = tmp_path / "train.log"
    path.write_text(f"{head}data parallel size: {sizes}\n{rest.partition(chr(10))[2]}")
    assert {name: each.value for name, each in read(path).sessions[0].facts.items()} == found


@pytest.mark.parametrize(
    ("layout", "devices"),
    [
        ("dp=2, pp=3, tp=5", 30),
        ("dp=2,\n    pp=3,\n    tp=5,\n    pp_engine=<a.B object at 0x7f>,\n    context_parallel_size=4", 120),
        ("dp=2, pp=3, tp=5, expert_parallel_size=1, context_parallel_size=4, enabled_moe=True", 120),
        # In 2024 experts had separate devices. Later releases list them first, and then share the devices.
        ("dp=2, pp=3, tp=5, recompute_layer=False, expert_parallel_size=4", 120),
        ("dp=2, pp=3, tp=5, expert_parallel_size=4, context_parallel_size=1", None),
    ],
)
def test_nanotron_devices_follow_from_the_layout(tmp_path: Path, layout: str, devices: int | None) -> None:
    text = log_of("frameworks.nanotron").read_text("utf-8")
    head, rest = text.split("ParallelismArgs(", 1)
    path = tmp_path / "train.log"
    path.write_text(f"{head}ParallelismArgs({layout}){rest.partition(')')[2]}")
    facts = read(path).sessions[0].facts
    assert ("devices" in facts) is (devices is not None)
    assert devices is None or facts["devices"].value == devices
