"""MLPerf Training end to end: time and samples in each dialect, the scores of a round, and a real round."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from made_trees import Called
from msgspec.structs import replace

from perfledger.ingest.compute import results, rules
from perfledger.ingest.compute.measurement import measured
from perfledger.ingest.compute.metrics import metrics
from perfledger.ingest.published.publications import COLUMNS
from perfledger.ingest.read import layout
from perfledger.ingest.read.walk import walk
from perfledger.ingest.record.identity import identify
from perfledger.ingest.record.run import runs_of
from perfledger.parsers.engine.read import read
from perfledger.parsers.engine.session import Session
from perfledger.schema.records import FactValue, Figure, MetricFigure, NoFigure, Result, ResultMetric, Run
from tests.builders import run
from tests.corpus import corpus

BATCH = 64


def mllog(at: float, key: str, value: Any = None, **metadata: Any) -> str:
    """Return a line of MLPerf's JSON dialect, `at` seconds after a fixed time in 2026."""
    line = {"namespace": "", "time_ms": 1795168800000 + round(at * 1000), "event_type": "POINT_IN_TIME", "key": key}
    return ":::MLLOG " + json.dumps(line | {"value": value, "metadata": {"file": "t.py", "lineno": 7} | metadata})


def head(benchmark: str = "made_up", batch: int | None = BATCH) -> list[str]:
    lines = [mllog(-90, "submission_benchmark", benchmark), mllog(-89, "seed", 1795)]
    return [*lines, *([mllog(-88, "global_batch_size", batch)] if batch else [])]


def whole(lines: Sequence[str], end: float, status: str = "success", **more: Any) -> list[str]:
    return [mllog(0, "run_start"), *lines, mllog(end, "run_stop", None, status=status, **more)]


def session_of(lines: Sequence[str], folder: Path) -> Session:
    path = folder / "result_0.txt"
    path.write_text("".join(f"{each}\n" for each in lines))
    (session,) = read(path).sessions
    assert session.format.id == "frameworks.mlperf"
    return session


def case_of(session: Session) -> dict[str, Any]:
    return {name: each.value for name, each in session.facts.items()}


def figure(session: Session, rule: str = "sustained:skip=0") -> Figure | NoFigure:
    return rules.figure(rule, session, case_of(session))


def value(session: Session, rule: str = "sustained:skip=0") -> float:
    found = figure(session, rule)
    assert isinstance(found, Figure), found
    return found.value


def metrics_of(session: Session) -> dict[str, MetricFigure]:
    case = case_of(session)
    return metrics(session, case, rules.figure("sustained", session, case))


# Dialects. In each, 10 s of training on 640 samples and 5 s of evaluation alternate.


def amd(blocks: int = 6) -> Iterator[str]:
    """Yield AMD's events: `samples_count` counts from the start, and `step` of a speed counts samples."""
    for each in range(blocks):
        at, done = 15 * each, 640 * each
        yield mllog(at, "block_start", samples_count=done)
        yield mllog(at + 10, "tracked_stats", {"throughput": 64.0}, step=done + 640)
        yield mllog(at + 10, "block_stop", samples_count=done + 640)
        yield mllog(at + 10, "eval_start", samples_count=done + 640)
        yield mllog(at + 15, "eval_accuracy", 0.5, samples_count=done + 640)
        yield mllog(at + 15, "eval_stop", samples_count=done + 640)


def nemo(blocks: int = 6) -> Iterator[str]:
    """Yield NeMo's events: `samples_count` of a block is its size, and steps, block and evaluation print statistics."""
    yield mllog(-5, "tracked_stats", {"warmup_time": 80.5}, step=0)
    for each in range(blocks):
        at, step = 15 * each, 10 * each
        yield mllog(at, "block_start", samples_count=640, step=step)
        for one in range(10):
            done = {"step": float(step + one), "samples_count": float(BATCH * (step + one + 1))}
            yield mllog(at + one + 1, "tracked_stats", {"train_step_time": 1.0, "reduced_train_loss": 2.5}, **done)
        yield mllog(at + 10, "tracked_stats", {"train_step_time": 1.0}, samples_count=640)
        yield mllog(at + 10, "block_stop", samples_count=640, step=step + 10)
        yield mllog(at + 10, "eval_start", samples_count=BATCH * (step + 10), step=step + 10)
        yield mllog(at + 12, "tracked_stats", {"validation_step_time": 2.0}, step=10**6, samples_count=10**9)
        yield mllog(at + 15, "eval_accuracy", 2.25, samples_count=BATCH * (step + 10))
        yield mllog(at + 15, "eval_stop", samples_count=BATCH * (step + 10), step=step + 10)


def parts_of_epochs(stretches: int = 6) -> Iterator[str]:
    """Yield DLRM's events: the evaluations are within an epoch, and print the fraction of it that is done."""
    yield mllog(0, "train_samples", 6400, epoch_num=0.0)
    yield mllog(0, "epoch_start", epoch_num=0)
    for each in range(stretches):
        yield mllog(15 * each + 10, "eval_start", epoch_num=0.1 * (each + 1))
        yield mllog(15 * each + 15, "eval_accuracy", 0.75, epoch_num=0.1 * (each + 1))
        yield mllog(15 * each + 15, "eval_stop", epoch_num=0.1 * (each + 1))


def samples_as_epochs(stretches: int = 6) -> Iterator[str]:
    """Yield BERT's events, whose `epoch_num` counts samples."""
    yield mllog(0, "block_start", first_epoch_num=1, epoch_count=1)
    yield mllog(0, "epoch_start", epoch_num=0)
    for each in range(stretches):
        done = 640 * (each + 1)
        yield mllog(15 * each + 10, "eval_start", done, epoch_num=done)
        yield mllog(15 * each + 15, "eval_stop", done, epoch_num=done)
        yield mllog(15 * each + 15, "eval_accuracy", 0.5, epoch_num=done)


def blocks_of_epochs(blocks: int = 6) -> Iterator[str]:
    """Yield events of ResNet-50 on TPUs: a block states its epochs, and only blocks and evaluations have times."""
    yield mllog(0, "train_samples", 160)
    for each in range(blocks):
        yield mllog(15 * each, "block_start", first_epoch_num=4 * each + 1, epoch_count=4)
        yield mllog(15 * each + 10, "block_stop", first_epoch_num=4 * each + 1)
        yield mllog(15 * each + 10, "eval_start", epoch_num=4 * each + 4)
        yield mllog(15 * each + 15, "eval_stop", epoch_num=4 * each + 4)


def epochs_in_blocks(epochs: int = 6) -> Iterator[str]:
    """Yield events of ResNet-50 in MXNet: epochs are within blocks, and a block ends after the evaluation."""
    yield mllog(0, "train_samples", 640)
    for each in range(epochs):
        yield mllog(15 * each, "block_start", first_epoch_num=each + 1, epoch_count=1)
        yield mllog(15 * each, "epoch_start", epoch_num=each + 1)
        yield mllog(15 * each + 10, "epoch_stop", epoch_num=each + 1)
        yield mllog(15 * each + 10, "eval_start", epoch_num=each + 1)
        yield mllog(15 * each + 15, "eval_stop", epoch_num=each + 1)
        yield mllog(15 * each + 15, "block_stop", first_epoch_num=each + 1)


DIALECTS = {
    each.__name__: each for each in (amd, nemo, parts_of_epochs, samples_as_epochs, blocks_of_epochs, epochs_in_blocks)
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_speed_excludes_evaluations(dialect: str, tmp_path: Path) -> None:
    session = session_of([*head(), *whole(list(DIALECTS[dialect]()), 90)], tmp_path)
    assert value(session) == pytest.approx(64.0)
    assert session.ending.outcome == "completed"
    found = metrics_of(session)
    assert found["time_to_train"].value == 1.5
    assert found["samples_to_train"].value == 3840
    assert case_of(session)["seed"] == "1795"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_events_after_the_run_are_ignored(dialect: str, tmp_path: Path) -> None:
    """A submitter may log all its epochs again within milliseconds after the end."""
    burst = [mllog(90.1 + each / 1000, key, epoch_num=each, samples_count=10**6 * each)
             for each in range(1, 9) for key in ("epoch_start", "epoch_stop", "eval_start", "eval_stop")]  # fmt: skip
    session = session_of([*head(), *whole(list(DIALECTS[dialect]()), 90), *burst], tmp_path)
    assert value(session) == pytest.approx(64.0)


#: All epochs of a run, logged within milliseconds before its end.
BURST = [
    mllog(89.9 + each / 1000, key, epoch_num=each) for each in range(1, 9) for key in ("epoch_start", "epoch_stop")
]


def test_blocks_give_the_speed_if_all_epochs_are_logged_in_a_burst(tmp_path: Path) -> None:
    """Gaudi logs blocks as they pass, and the tags of all epochs at the end."""
    session = session_of([*head(), *whole([*blocks_of_epochs(), *BURST], 90)], tmp_path)
    assert value(session) == pytest.approx(64.0)


def test_an_evaluation_during_the_next_epoch_takes_no_time_from_it(tmp_path: Path) -> None:
    """RetinaNet: `train_samples` counts batches, and the run stops within an epoch once the target is met."""
    lines = [mllog(0, "train_samples", 100)]
    for each in range(5):
        at = 110 * each
        lines += [mllog(at, "epoch_start", epoch_num=each)]
        lines += [mllog(at + 5, "eval_stop", epoch_num=each)] if each else []
        lines += [mllog(at + 100, "epoch_stop", epoch_num=each), mllog(at + 100, "eval_start", epoch_num=each + 1)]
        lines += [mllog(at + 100, "tracked_stats", {"throughput": 64.5}, step=each + 1)] if each < 4 else []
    after = [mllog(446, "tracked_stats", {"throughput": 99.5}, step=5)]
    session = session_of([*head("retinanet"), *whole(lines[:-2], 445), *after], tmp_path)
    found = figure(session)
    assert isinstance(found, Figure)
    assert (found.value, found.used) == (pytest.approx(64.5), 4)
    assert rules.figure("reported", session, {}) == figure(session, "reported")
    assert isinstance(figure(session, "reported"), NoFigure)


def test_the_programs_own_timer_is_a_witness_of_the_clock(tmp_path: Path) -> None:
    for seconds, verdict in (("1.0", "agrees"), ("0.5", "disagrees")):
        lines = [line.replace('{"train_step_time": 1.0}', f'{{"train_step_time": {seconds}}}') for line in nemo()]
        session = session_of([*head(), *whole(lines, 90)], tmp_path)
        (found,) = (each for each in measured(session, case_of(session)).witnesses if each.kind == "summary")
        assert found.verdict == verdict


def test_the_benchmark_is_found_after_two_million_bytes(tmp_path: Path) -> None:
    """Thousands of ranks may print the start of their initialisation first."""
    early = [mllog(-100, "init_start")] * 15_000
    for benchmark, unit, length in (
        ("gpt3", "tokens/s", 1),
        ("llama31_8b", "tokens/s", 8192),
        ("made_up", "samples/s", 1),
    ):
        facts = [mllog(-80, "max_sequence_length", 8192)]
        session = session_of([*early, *head(benchmark), *facts, *whole(list(amd()), 90)], tmp_path)
        found = figure(session)
        assert isinstance(found, Figure)
        assert (found.value, found.unit) == (pytest.approx(64.0 * length), unit)


@pytest.mark.parametrize(
    ("dialect", "key", "used"),
    [
        ("blocks_of_epochs", "block_stop", 5),
        ("blocks_of_epochs", "eval_stop", 5),
        ("epochs_in_blocks", "epoch_stop", 3),
        ("samples_as_epochs", "eval_stop", 5),
        ("nemo", "block_start", 50),
        ("nemo", "block_stop", 50),
    ],
)
def test_a_lost_line_moves_no_figure(dialect: str, key: str, used: int, tmp_path: Path) -> None:
    """A stretch that seems much faster than others does not count: its seconds and samples do not belong together."""
    lines = list(DIALECTS[dialect]())
    lost = [at for at, line in enumerate(lines) if f'"{key}"' in line][2]
    del lines[lost]
    session = session_of([*head(), *whole(lines, 90)], tmp_path)
    found = figure(session)
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(64.0)
    assert found.used >= used - 1
    assert metrics_of(session)["samples_to_train"].value == 3840


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_run_whose_stamps_go_back_has_no_figure(dialect: str, tmp_path: Path) -> None:
    lines = whole(list(DIALECTS[dialect]()), 90)
    half = len(lines) // 2
    lines[half:] = [line.replace('"time_ms": 17951', '"time_ms": 17941') for line in lines[half:]]
    session = session_of([*head(), *lines], tmp_path)
    found, time = figure(session), metrics_of(session)["time_to_train"]
    assert isinstance(found, NoFigure)
    assert found.reason.code == "impossible_figure"
    assert found.reason.args["line"] == half + 1 + len(head())
    assert (time.value, getattr(time.reason, "code", "")) == (None, "impossible_figure")


# Time to train


def test_a_run_that_misses_its_target_has_no_time_to_train(tmp_path: Path) -> None:
    found = metrics_of(session_of([*head(), *whole(list(amd()), 90, "aborted")], tmp_path))
    assert found["time_to_train"].value is None
    assert getattr(found["time_to_train"].reason, "code", "") == "target_missed"
    assert "samples_to_train" not in found


def test_a_log_with_only_start_and_stop_gives_the_time_to_train(tmp_path: Path) -> None:
    root = tmp_path / "logs"
    root.mkdir()
    (root / "train.log").write_text("".join(f"{each}\n" for each in whole([], 600.0)))
    (run,) = read_round(root)
    assert run.metrics["time_to_train"].value == pytest.approx(10)
    assert "unread" not in {each.code for each in run.problems}


@pytest.mark.parametrize(("last", "minutes"), [(0.75, 1.5), (0.749, 1.5), (0.748, None)])
def test_a_log_of_2018_reached_its_target_if_its_last_accuracy_did(
    last: float, minutes: float | None, tmp_path: Path
) -> None:
    events = [(0, "run_start"), (2, "eval_target: 0.749"), (30, 'eval_accuracy: {"epoch": 4, "value": 0.7}')]
    events += [(60, f'eval_accuracy: {{"epoch": 6, "value": {last}}}'), (90, "run_stop")]
    lines = [f":::MLPv0.5.0 resnet {1795168800 + at}.5 (/w/log.py:49) {each}" for at, each in events]
    assert metrics_of(session_of(lines, tmp_path))["time_to_train"].value == minutes


@pytest.mark.parametrize(("status", "outcome"), [("success", "completed"), ("aborted", "missed")])
def test_a_run_may_reach_its_target_before_its_planned_steps(status: str, outcome: str, tmp_path: Path) -> None:
    """Megatron-LM's lines count up to 5,000 steps, and the run ends after 40."""
    steps = [
        f" iteration {step:8d}/    5000 | consumed samples: {64 * step:12d} | elapsed time per iteration (ms): 500.0 | "
        "learning rate: 1.0E-05 | global batch size:    64 | lm loss: 3.0E+00 | number of skipped iterations:   0 |"
        for step in range(1, 41)
    ]
    (tmp_path / "logs").mkdir()
    log = [*head("gpt3"), *whole(steps, 60, status)]
    (tmp_path / "logs" / "train.log").write_text("".join(f"{each}\n" for each in log))
    (run,) = read_round(tmp_path / "logs")
    assert (run.format, run.outcome) == ("dlperf.megatron", outcome)


def test_a_run_without_an_end_has_no_time_to_train(tmp_path: Path) -> None:
    session = session_of([*head(), *whole(list(amd()), 90)[:-1]], tmp_path)
    assert getattr(metrics_of(session)["time_to_train"].reason, "code", "") == "target_unknown"
    assert session.ending.outcome == "truncated"


def scored(minutes: Sequence[float | None], factor: float | None = None) -> ResultMetric:
    """Return the score of runs with these minutes; None is a run that missed its target."""
    facts = {"scaling_factor": FactValue(factor, "beside", "scaling.json:1")} if factor else {}
    metric = [MetricFigure(each, "min", "log" if each else None) for each in minutes]
    runs = [run(f"run-{number}") for number in range(len(minutes))]
    (found,) = results.results([
        replace(each, metrics={"time_to_train": one}, facts={**each.facts, **facts})
        for each, one in zip(runs, metric, strict=True)
    ])  # fmt: skip
    return found.metrics["time_to_train"]


def code(found: ResultMetric) -> str:
    return found.reason.code if found.reason else ""


def test_a_score_drops_the_fastest_and_the_slowest() -> None:
    found = scored([10.0, 30.0, 11.0, 12.0, 1.0])
    assert (found.value, found.rule, found.repeats) == (11.0, "olympic", 5)
    assert scored([10.0, 30.0, 11.0, 12.0, 1.0], 1.5).value == 16.5


def test_a_missed_target_is_the_slowest_run_and_two_leave_no_score() -> None:
    assert scored([10.0, None, 12.0, 14.0]).value == 13.0
    found = scored([10.0, None, 12.0, None])
    assert (found.value, code(found)) == (None, "too_few_scored")


def test_forty_runs_drop_four_at_each_end() -> None:
    assert scored([float(each) for each in range(1, 41)]).value == 20.5
    assert scored([*(float(each) for each in range(1, 37)), None, None, None, None]).value == sum(range(5, 37)) / 32


# A made-up round


def submission(root: Path, speeds: Sequence[float], factor: float | None = None) -> Path:
    """Write one system's result: a run per speed, which multiplies its usual time."""
    at = root / "training_results_v9.9" / "Maker" / "results" / "box_x2" / "made_up"
    at.mkdir(parents=True)
    systems = root / "training_results_v9.9" / "Maker" / "systems"
    systems.mkdir()
    about = {"number_of_nodes": "2", "accelerators_per_node": "4", "accelerator_model_name": "NVIDIA H100"}
    about |= {"framework": "PyTorch NVIDIA Release 25.09", "operating_system": "Made-up OS 1", "division": "closed"}
    (systems / "box_x2.json").write_text(json.dumps(about))
    if factor:
        (at / "scaling.json").write_text(json.dumps({"scaling_factor": factor}))
    for number, speed in enumerate(speeds):
        (at / f"result_{number}.txt").write_text("\n".join([*head(), *whole(list(amd()), 90 * speed)]) + "\n")
        power = at / "power" / f"result_{number}" / "node_0.txt"
        power.parent.mkdir(parents=True)
        power.write_text(mllog(0, "power_reading", 1000.0) + "\n")
    return root


def read_round(root: Path) -> list[Run]:
    mlperf = layout.load("mlperf")
    return identify([one for each in mlperf.logs_of(walk([root])).inputs for one in runs_of(each, mlperf, each.name)])


def test_a_submission_is_read_with_its_system_and_its_scaling_and_without_its_power(tmp_path: Path) -> None:
    runs = read_round(submission(tmp_path, (1.0, 1.1, 1.2, 2.0), 1.25))
    assert [each.problems for each in runs] == [()] * 4
    case = runs[0].case
    assert (case.framework, case.hardware, case.nodes, case.devices) == ("PyTorch NVIDIA", "H100", 2, 8)
    assert case.options == {"submitter": "Maker", "system": "box_x2"}
    assert runs[0].environment["os"] == "Made-up OS 1"
    (found,) = results.results(runs)
    assert (found.round, found.version) == ("v9.9", "25.09")
    assert found.metrics["time_to_train"].value == pytest.approx(1.5 * 1.15 * 1.25)


@pytest.mark.parametrize(
    ("printed", "problems"),
    [("NVIDIA H100 80GB HBM3", []), ("NVIDIA GH100 (H100)", ["contradiction"]), ("NVIDIA H200", ["contradiction"])],
)
def test_the_drivers_name_of_a_card_may_be_longer(printed: str, problems: list[str], tmp_path: Path) -> None:
    root = submission(tmp_path, (1.0,))
    (log,) = root.rglob("result_0.txt")
    about = {"number_of_nodes": "2", "accelerators_per_node": "4", "accelerator_model_name": printed}
    log.write_text(f":::SYSJSON {json.dumps(about, separators=(',', ':'))}\n{log.read_text()}")
    (found,) = read_round(root)
    assert [each.code for each in found.problems] == problems


def test_a_run_whose_speed_is_withheld_counts_in_the_score(tmp_path: Path) -> None:
    root = submission(tmp_path, (1.0, 1.1, 1.2))
    (log,) = root.rglob("result_1.txt")
    log.write_text(log.read_text().replace("64.0", "96.5"))
    runs = read_round(root)
    assert [each.code for run in runs for each in run.problems] == ["withheld"]
    (found,) = results.results(runs)
    assert found.metrics["time_to_train"].value == pytest.approx(1.65)
    assert found.repeats == 2


def test_a_run_that_missed_its_target_is_published(tmp_path: Path) -> None:
    root = submission(tmp_path, (1.0, 1.1, 1.2))
    (log,) = root.rglob("result_0.txt")
    log.write_text(log.read_text().replace("success", "aborted"))
    runs = read_round(root)
    assert [each.outcome for each in runs] == ["missed", "completed", "completed"]
    assert runs[0].published
    (found,) = results.results(runs)
    assert found.metrics["time_to_train"].value == pytest.approx(1.8)


PUBLISHED = """[[source]]
name = "Somebody"
title = { en = "Somebody", zh = "某人" }
address = "https://example.org/scores"
words = { en = "Scores.", zh = "成绩。" }
year = 2026
"""


def test_the_page_of_a_round_shows_scores_systems_and_runs(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    root = submission(tmp_path / "logs", (1.0, 1.1, 1.2, 2.0), 1.25) / "training_results_v9.9"
    (root / "published").mkdir()
    (root / "published" / "sources.toml").write_text(PUBLISHED)
    score = {"source": "Somebody", "model": "made_up", "options": "submitter=Maker; system=box_x2; round=v9.9"}
    score |= {"metric": "time_to_train", "unit": "min", "value": "2.156", "state": "measured"}
    with (root / "published" / "scores.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, restval="")
        writer.writeheader()
        writer.writerow(score)
    done = ingest("build", root, "--layout", "mlperf", "--out", tmp_path / "site")
    assert done.code == 0, done.err
    for language, shown in (("en", "Made-up OS 1"), ("zh", "训练至目标用时")):
        page = (tmp_path / "site" / language / "reports" / "round-v9-9.md").read_text("utf-8")
        assert shown in page
        for each in ("8 × H100", ">2.156<", "1.25", "Maker", "result_3.txt", ".html#L", 'data-value="2.15625"'):
            assert each in page, each
        index = (tmp_path / "site" / language / "reports" / "index.md").read_text("utf-8")
        assert "round-v9-9.md" in index
        audit = (tmp_path / "site" / language / "audit.md").read_text("utf-8")
        assert "Maker / box_x2" in audit
        assert 'data-f-verdict="reproduced"' in audit


# The round whose logs are in the corpus


@cache
def round_of() -> tuple[Run, ...]:
    found = walk([corpus("mlperf-v5.1")])
    mlperf = layout.load("mlperf")
    return tuple(identify([one for each in mlperf.logs_of(found).inputs for one in runs_of(each, mlperf, each.name)]))


def rows(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(corpus(f"mlperf-v5.1/{name}").read_text().splitlines()))


def run_at(path: str) -> Run:
    (found,) = (each for each in round_of() if each.path.endswith(f"/{path}"))
    return found


def test_every_log_of_the_round_is_published_with_its_minutes() -> None:
    expected = rows("expected.csv")
    assert len(expected) == 98
    for row in expected:
        found = run_at(row["path"])
        assert found.published, found.problems
        assert found.problems == ()
        assert found.metrics["time_to_train"].value == pytest.approx(float(row["minutes"]), abs=1e-9)
        assert found.facts["seed"].value == row["seed"]
        assert found.case.devices


def test_scores_of_the_round_are_the_published_ones() -> None:
    found: dict[tuple[Any, ...], Result] = {
        (each.options["submitter"], each.options["system"], each.model): each for each in results.results(round_of())
    }
    expected = rows("scores.csv")
    assert len(expected) == len(found) == 11
    for row in expected:
        score = found[row["org"], row["system"], row["benchmark"]].metrics["time_to_train"]
        assert score.value == pytest.approx(float(row["score"]), rel=1e-12)
        assert score.repeats == int(row["runs"])


def events(path: str) -> list[dict[str, Any]]:
    text = corpus(f"mlperf-v5.1/{path}").read_text("utf-8", "replace")
    return [json.loads(line.partition(":::MLLOG ")[2]) for line in text.splitlines() if ":::MLLOG {" in line]


def evaluated(path: str) -> float:
    """Return the minutes between the beginnings and the ends of evaluations."""
    times = [(each["key"], each["time_ms"]) for each in events(path) if each["key"] in ("eval_start", "eval_stop")]
    spans = zip(times[::2], times[1::2], strict=True)
    return sum(end - begin for (_, begin), (_, end) in spans) / 60000


def from_printed_numbers(row: dict[str, str]) -> float:
    """Compute the throughput of a log from the speeds that it prints, else from its times per step."""
    path, batch = row["path"], float(row["gbs"])
    length = 8192 if row["benchmark"] in ("llama31_8b", "llama31_405b") else 1
    if row["benchmark"] in ("dlrm_dcnv2", "rgat"):  # a speed of the whole run, its evaluations included
        minutes = float(row["minutes"]) - (0.55 if row["benchmark"] == "rgat" else 0)  # rgat loads its data first
        return float(row["median_throughput"]) * minutes / (minutes - evaluated(path))
    if row["median_throughput"]:
        return float(row["median_throughput"]) * length
    times = [each["value"]["train_step_time"] for each in events(path)
            if each["key"] == "tracked_stats" and "train_step_time" in each["value"]]  # fmt: skip
    return length * batch / median(times)


def test_the_throughput_of_every_benchmark_equals_that_of_its_printed_numbers() -> None:
    for row in rows("expected.csv"):
        found = run_at(row["path"]).figure("sustained")
        assert found is not None, row["path"]
        assert found.value == pytest.approx(from_printed_numbers(row), rel=0.02), row["path"]
