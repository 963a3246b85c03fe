"""Units of speeds that follow from other lines: tokens, clips, one device, or one phase of a step."""

from __future__ import annotations

from pathlib import Path

import pytest

from perfledger.ingest.compute import rules
from perfledger.parsers.engine.read import read
from perfledger.parsers.engine.session import Session
from perfledger.schema.records import Figure, NoFigure


def session_of(folder: Path, *lines: str) -> Session:
    path = folder / "train.log"
    path.write_text("".join(f"{each}\n" for each in lines))
    (session,) = read(path).sessions
    return session


def figure(session: Session, **case: int) -> Figure:
    found = rules.figure("median", session, case)
    assert isinstance(found, Figure), found
    return found


def mlperf(benchmark: str) -> list[str]:
    event = (
        ':::MLLOG {"namespace": "", "time_ms": %d, "event_type": "POINT_IN_TIME", "key": "%s", "value": %s, '
        '"metadata": {"step": %d}}'
    )
    speeds = (event % (1795169472500 + step, "tracked_stats", '{"throughput": 131072.5}', step) for step in range(1, 9))
    return [event % (1795169472500, "submission_benchmark", f'"{benchmark}"', 0), *speeds]


@pytest.mark.parametrize(
    ("benchmark", "unit"), [("gpt3", "tokens/s"), ("llama2_70b_lora", "samples/s"), ("bert", "samples/s")]
)
def test_mlperf_counts_gpt_in_tokens(tmp_path: Path, benchmark: str, unit: str) -> None:
    found = figure(session_of(tmp_path, *mlperf(benchmark)), sequence_length=2048)
    assert (found.value, found.unit) == (131072.5, unit)


@pytest.mark.parametrize(("argument", "unit"), [("num_segments=1", "clips/s"), ("num_gpus=8", "images/s")])
def test_samples_of_action_recognition_are_clips(tmp_path: Path, argument: str, unit: str) -> None:
    speeds = [f"Epoch[000] Batch [{step:04}]/[0055]\tSpeed: 45.500000 samples/sec\t accuracy=25.0\t loss=2.7\t lr=0.01"
              for step in range(9)]  # fmt: skip
    found = figure(session_of(tmp_path, f"Namespace(batch_size=8, lr_mode='step', model='x', {argument})", *speeds))
    assert (found.value, found.unit) == (45.5, unit)


COMMAND = "[2026-11-20 10:00:00,100] [INFO] [runner.py:555:main] cmd = /usr/bin/python -u main.py %s"
TIMER = (
    "[2026-11-20 10:00:{0:02},000] [INFO] [timer.py:199:stop] epoch=0/micro_step={0}/global_step={0}, "
    "RunningAvgSamplesPerSec=90.8, CurrSamplesPerSec=90.8, MemAllocated=4.34GB, MaxMemAllocated=12.81GB"
)
WHOLE = (
    "End-to-End => Latency: 3.81s, TFLOPs: 58.25, Samples/sec: 4.20, Time/seq 0.24s, Batch Size: 16, Total Seq. "
    "Length: 512"
)
ACTOR = COMMAND % "--actor_model_name_or_path facebook/opt-1.3b --critic_model_name_or_path x"


#: Line of the hybrid engine about a whole step, from one generation to the next.
ENGINE = (
    "|E2E latency=5.00s |Gather latency=0.00s (0.00%) |Generate time=1.75s (35.00%) |Training time=2.00s (40.00%) "
    "|Others=1.25 (25.00%)|CurSamplesPerSec=12.80 |AvgSamplesPerSec=12.50"
)


def test_the_whole_step_counts_if_it_has_three_phases(tmp_path: Path) -> None:
    # Generation and training take 3.81 s, without the scoring between them.
    lines = [each for step in range(1, 9) for each in (ENGINE, TIMER.format(step), WHOLE)]
    session = session_of(tmp_path, ACTOR, *lines)
    assert session.facts["model"].value == "opt-1.3b"
    found = figure(session, devices=4)
    assert (found.value, found.unit, found.scope) == (12.8, "samples/s", "job")


def test_generation_and_training_alone_give_no_figure(tmp_path: Path) -> None:
    lines = [each for step in range(1, 9) for each in (TIMER.format(step), WHOLE)]
    found = rules.figure("median", session_of(tmp_path, ACTOR, *lines), {"devices": 4})
    assert isinstance(found, NoFigure)
    assert found.reason.args == {"missing": "whole_step"}


def test_three_phases_without_the_whole_step_give_no_figure(tmp_path: Path) -> None:
    session = session_of(tmp_path, ACTOR, *map(TIMER.format, range(1, 9)))
    assert isinstance(rules.figure("median", session, {"devices": 4}), NoFigure)


def test_the_timer_counts_if_one_network_is_trained(tmp_path: Path) -> None:
    lines = [COMMAND % "--model_name_or_path facebook/opt-350m", *map(TIMER.format, range(1, 9))]
    assert figure(session_of(tmp_path, *lines)).value == 90.8
