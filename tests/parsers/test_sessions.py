"""Sessions: appended logs, starts without a step, and the facts and endings of each session."""

from __future__ import annotations

import re
import statistics
from pathlib import Path

import pytest

from perfledger.ingest.compute.one_run import one_run
from perfledger.parsers.engine.read import chunks, read
from tests.corpus import corpus, expected

BANNER = b"[2026/11/20 13:14:00] ppcls INFO: ==    PaddleClas is powered by PaddlePaddle !    ==\n"
CONFIG = b"[2026/11/20 13:14:00] ppcls INFO: Global : \nAMP : \n    use_amp : False\nTrain : \n    batch_size : %d\n"
CRASH = b"Traceback (most recent call last):\n  File x\nRuntimeError: CUDA out of memory.\n"


def record(step: int, ips: float) -> bytes:
    return (
        b"[2026/11/20 13:14:40] ppcls INFO: [Train][Epoch 1/1][Iter: %d/100]lr: 0.1, loss: 2.3, batch_cost: 0.2s, "
        b"reader_cost: 0.1, ips: %.2f samples/s, eta: 0:00:14\n" % (step, ips)
    )


def run(batch: int, *speeds: float) -> bytes:
    """Return the log of a run; its minute depends on its batch size."""
    return (
        BANNER.replace(b"13:14:00", b"13:%02d:00" % (batch % 60))
        + CONFIG % batch
        + b"".join(record(10 * i, each) for i, each in enumerate(speeds))
    )


def written(folder: Path, data: bytes) -> Path:
    path = folder / "train.log"
    path.write_bytes(data)
    return path


def test_a_pause_belongs_to_the_next_record(tmp_path: Path) -> None:
    evaluation = "step 3: train loss 1.0000, val loss 2.0000\n"
    line = "iter {}: loss 1.0000, time 100.00ms, mfu 1.00%\n"
    text = "tokens per iteration will be: 8\n" + evaluation
    text += "".join(line.format(step) + (evaluation if step in {0, 2, 3} else "") for step in range(4))
    (session,) = read(written(tmp_path, text.encode())).sessions
    # An evaluation before the first record is ignored. One after the last may belong to the last record.
    assert [each.row for each in session.records[0].stops()] == [1, 3, 4]


@pytest.mark.parametrize("end", [CRASH, b""])
def test_settings_of_a_program_without_a_step_do_not_count(end: bytes, tmp_path: Path) -> None:
    # The second program prints no banner.
    log = read(written(tmp_path, CONFIG % 8 + end + CONFIG % 16 + record(10, 1) + record(20, 2)))
    (session,) = log.sessions
    assert one_run(session) is None
    assert session.facts["batch_size"].value == 16


@pytest.mark.parametrize("size", [1, 100, 1000, 1 << 20])
def test_appended_runs_are_sessions(tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "__defaults__", (size,))
    path = written(tmp_path, run(8, 1, 2, 3) + run(16, 4, 5) + run(32) + run(64, 6) + run(128))
    found = read(path).sessions
    assert [each.number for each in found] == [1, 2, 3, 4, 5]
    assert [each.main["throughput"].tolist() for each in found] == [[1, 2, 3], [4, 5], [], [6], []]
    assert [each.facts["batch_size"].value for each in found] == [8, 16, 32, 64, 128]
    assert [(each.first_line, each.last_line) for each in found] == [(1, 9), (10, 17), (18, 23), (24, 30), (31, 36)]
    assert [each.facts["batch_size"].line for each in found] == [6, 15, 23, 29, 36]
    assert found[1].main.lines([0, 1]) == [16, 17]
    assert found[3].main.lines([0]) == [30]


@pytest.mark.parametrize("label", [b"", b"2026-11-20T08:00:00.123456789Z ", b"[1,0]<stdout>:"])
def test_lines_that_a_logger_prints_twice_count_once_in_each_appended_run(label: bytes, tmp_path: Path) -> None:
    lines = [label + each for each in (run(32, *range(100, 110)) + run(64, *range(200, 210))).splitlines(keepends=True)]
    twice = b"".join(each * 2 if b"[Train]" in each else each for each in lines)
    first, second = read(written(tmp_path, twice)).sessions
    assert first.records[0]["throughput"].tolist() == list(range(100, 110))
    assert second.records[0]["throughput"].tolist() == list(range(200, 210))


def test_ranks_that_all_start_make_one_session(tmp_path: Path) -> None:
    """Every rank prints the banner with a tag, and the log contains two runs."""
    lines = run(8, 1.0, 2.0).splitlines(keepends=True)
    tagged = b"".join(b"[1,%d]<stdout>:%s" % (rank, line) for line in lines for rank in (2, 0, 1))
    assert [len(each.main) for each in read(written(tmp_path, tagged * 2)).sessions] == [6, 6]


def test_starts_without_records_are_sessions(tmp_path: Path) -> None:
    path = written(tmp_path, run(8) + CRASH + run(4) + run(2, 5.0, 6.0))
    found = read(path).sessions
    assert [len(each.main) for each in found] == [0, 0, 2]
    assert [each.ending.outcome for each in found] == ["oom", "unread", "truncated"]
    assert found[0].ending.line == 9


def test_a_banner_that_repeats_within_a_second_is_of_another_rank(tmp_path: Path) -> None:
    """The ranks have no tags, and have not printed a record."""
    second = BANNER.replace(b"13:14:00", b"13:14:01")
    (session,) = read(written(tmp_path, BANNER + CONFIG % 8 + second + CONFIG % 8 + record(10, 1.0))).sessions
    assert (session.first_line, len(session.main), session.facts["batch_size"].value) == (1, 1, 8)


@pytest.mark.parametrize("between", [b"", record(10, 1.0)])
def test_a_banner_after_a_record_or_two_seconds_begins_another_run(between: bytes, tmp_path: Path) -> None:
    later = BANNER if between else BANNER.replace(b"13:14:00", b"13:14:02")
    found = read(written(tmp_path, BANNER + CONFIG % 8 + between + later + CONFIG % 8 + record(10, 1.0))).sessions
    assert [len(each.main) for each in found] == [len(between) // len(record(10, 1.0)), 1]


def test_a_log_without_records_is_a_session(tmp_path: Path) -> None:
    found = read(written(tmp_path, run(8))).sessions
    assert [(len(each.main), each.ending.outcome) for each in found] == [(0, "unread")]


def test_records_before_the_first_start_are_a_session(tmp_path: Path) -> None:
    """The start of the log is missing."""
    found = read(written(tmp_path, record(80, 7.0) + record(90, 8.0) + run(8, 1.0))).sessions
    assert [each.main["throughput"].tolist() for each in found] == [[7.0, 8.0], [1.0]]


def test_noise_before_the_first_start_is_not_a_session(tmp_path: Path) -> None:
    found = read(written(tmp_path, b"+ python train.py\nnoise\n" + run(8, 1.0))).sessions
    assert len(found) == 1
    assert (found[0].first_line, found[0].facts["batch_size"].line) == (1, 8)


def test_facts_belong_to_one_session(tmp_path: Path) -> None:
    plain = BANNER + record(10, 3.0)
    found = read(written(tmp_path, run(8, 1.0) + plain)).sessions
    assert found[0].facts["batch_size"].value == 8
    assert "batch_size" not in found[1].facts


def test_a_real_log_of_twenty_starts_has_twenty_sessions() -> None:
    """In a public log of PaddleClas 20 starts are appended, and five of them printed a step."""
    name = "ppcls/robinbg__PaddleClas__train.log"
    path = corpus(f"public/{name}")
    row = next(each for each in expected("expected-public") if each["file"] == name)
    log = read(path)
    assert [each.format.id for each in log.claims] == ["paddle.clas_dygraph"]
    assert len(log.sessions) == 20
    trained = [each for each in log.sessions if len(each.main)]
    assert len(trained) == 5
    assert all(each.ending.outcome != "completed" for each in log.sessions if not len(each.main))
    longest = max(trained, key=lambda each: len(each.main)).main
    steady = [value for value, step in zip(longest["throughput"], longest["step"], strict=True) if step > 0]
    assert "262.9978" in row.values()
    assert statistics.median(steady) == pytest.approx(262.9978, abs=1e-4)
    records = re.findall(rb"\[Train\]\[Epoch \d+/\d+\]\[Iter: \d+/", path.read_bytes())
    assert sum(len(each.main) for each in trained) == len(records)


@pytest.mark.parametrize("filler", [0, 9000, 20_000, 40_000])
def test_the_line_of_a_crash_does_not_depend_on_chunks(tmp_path: Path, filler: int) -> None:
    """Logs of about one and two MiB have their last lines in one chunk or in two."""
    data = run(8, 1.0, 2.0) + b"some warning that is printed for every step of the training\n" * filler + CRASH
    (session,) = read(written(tmp_path, data)).sessions
    assert (session.ending.outcome, session.ending.line) == ("oom", data.count(b"\n"))


def test_a_configuration_across_chunks_is_read_whole(tmp_path: Path) -> None:
    """The second run's banner ends one chunk, and its batch size begins the next."""
    filler = run(8, 1.0)
    filler += b"x" * ((1 << 20) - len(filler) - len(BANNER) - 60) + b"\n"
    path = written(tmp_path, filler + run(16, 2.0, 3.0))
    found = read(path).sessions
    assert [each.facts["batch_size"].value for each in found] == [8, 16]


LAUNCH = b"LAUNCH INFO 2026-11-20 13:13:59,033 -----------  Configuration  ----------------------\n"
NODES = b"LAUNCH INFO 2026-11-20 13:13:59,033 nnodes: %d\n"


@pytest.mark.parametrize("size", [1, 1000, 1 << 20])
def test_a_session_begins_with_the_lines_of_its_launcher(
    tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The launcher prints the number of machines before the program prints its banner."""
    monkeypatch.setattr(chunks, "__defaults__", (size,))
    log = LAUNCH + NODES % 1 + run(8, 1.0, 2.0) + b"saved\n" + LAUNCH + NODES % 4 + run(16, 3.0, 4.0)
    first, second = read(written(tmp_path, log)).sessions
    assert (first.facts["nodes"].value, second.facts["nodes"].value) == (1, 4)
    assert (first.last_line, second.first_line, second.facts["nodes"].line) == (11, 12, 13)
    assert first.main["throughput"].tolist() == [1.0, 2.0]
    assert second.main["throughput"].tolist() == [3.0, 4.0]


def test_a_crash_before_the_next_launch_stays_with_its_session(tmp_path: Path) -> None:
    log = LAUNCH + NODES % 1 + run(8, 1.0) + CRASH + LAUNCH + NODES % 4 + run(16, 3.0)
    first, second = read(written(tmp_path, log)).sessions
    assert (first.ending.outcome, second.ending.outcome) == ("oom", "truncated")
    assert second.facts["nodes"].value == 4


def test_lines_after_a_start_without_a_step_do_not_belong_to_the_next_session(tmp_path: Path) -> None:
    """The launcher's lines may be of the first start or of the second."""
    log = run(8) + LAUNCH + NODES % 4 + run(16, 3.0)
    first, second = read(written(tmp_path, log)).sessions
    assert "nodes" in first.facts
    assert "nodes" not in second.facts


WARNING = b"some warning that is printed for every step of the training\n"


def test_facts_are_looked_for_in_the_whole_session(tmp_path: Path) -> None:
    """The fact is neither in the first MiB nor in the last lines."""
    data = BANNER + WARNING * 40_000 + CONFIG % 8 + record(10, 1.0) + WARNING * 40_000
    (session,) = read(written(tmp_path, data)).sessions
    assert (session.facts["batch_size"].value, session.facts["batch_size"].line) == (8, 40_006)


def test_the_end_is_looked_for_in_the_whole_session(tmp_path: Path) -> None:
    step = b"2026-11-20 10:11:12,500 - root - INFO - step: %d  loss: 7.125  memory: 20.50GiB(25.88%%)  tps: 7,500\n"
    end = b"2026-11-20 10:12:12,500 - root - INFO - Training completed\n"
    (session,) = read(written(tmp_path, step % 1 + step % 2 + end + WARNING * 40_000)).sessions
    assert (session.ending.outcome, session.ending.line) == ("completed", 3)


def test_a_fact_that_changes_after_steps_shows_another_run(tmp_path: Path) -> None:
    log = CONFIG % 8 + record(10, 1.0) + CONFIG % 8 + record(20, 1.0) + CONFIG % 16 + record(30, 1.0)
    (session,) = read(written(tmp_path, log)).sessions
    restated = session.stated.restated
    assert restated is not None
    assert (restated.fact, restated.first.value, restated.second.value) == ("batch_size", 8, 16)
    assert (restated.first.line, restated.second.line) == (5, 17)


def test_a_fact_may_change_before_the_first_step(tmp_path: Path) -> None:
    """A configuration may be printed before and after it is overridden."""
    (session,) = read(written(tmp_path, BANNER + CONFIG % 16 + CONFIG % 8 + record(10, 1.0))).sessions
    assert session.stated.restated is None


def test_bars_of_other_tasks_are_not_records(tmp_path: Path) -> None:
    """Both runs print a complete bar of caching between the arguments and the start."""

    def trained(batch: int) -> bytes:
        return (
            b"Training/evaluation parameters TrainingArguments(bf16=True, fp16=False)\n"
            b"\r100%%|##########| 1/1 [00:00<00:00, 50.12it/s]\n***** Running training *****\n"
            b"  Instantaneous batch size per device = %d\n  Total optimization steps = 3\n"
            b"\r 33%%|###       | 1/3 [00:01<00:02,  1.00s/it]{'loss': 2.5, 'epoch': 0.3}\n"
            b"\r 66%%|######    | 2/3 [00:02<00:01,  1.00s/it]{'loss': 2.5, 'epoch': 0.6}\n"
            b"{'train_runtime': 3.0, 'train_samples_per_second': 4.0, 'train_steps_per_second': 1.0, 'epoch': 1.0}\n"
            % batch
        )

    found = read(written(tmp_path, trained(4) + trained(8))).sessions
    assert [each.facts["batch_size"].value for each in found] == [4, 8]
    assert [each.facts["precision"].value for each in found] == ["bf16", "bf16"]
    assert [each.main["step"].tolist() for each in found] == [[1, 2], [1, 2]]
    assert [(each.first_line, each.ending.outcome) for each in found] == [(1, "completed"), (9, "completed")]


def test_facts_are_looked_for_between_many_records(tmp_path: Path) -> None:
    """After the first MiB, lines of records are not searched, and the other lines still have their numbers."""
    records = b"".join(record(10 * each, 1.0) for each in range(20_000))
    late = b"[2026/11/20 13:14:00] ppcls INFO: train with paddle 2.4.1 and device Place(gpu:0)\n"
    (session,) = read(written(tmp_path, CONFIG % 8 + records + late + records + CONFIG % 16 + record(1, 1.0))).sessions
    assert (session.facts["framework_version"].value, session.facts["framework_version"].line) == ("2.4.1", 20_006)
    restated = session.stated.restated
    assert restated is not None
    assert (restated.second.value, restated.second.line) == (16, 40_011)
    assert len(session.main) == 40_001


LONG = b"x" * 10_000 + b"\n"


@pytest.mark.parametrize("lines", [0, 90, 300])
@pytest.mark.parametrize(("store", "scope"), [(b"local", "job"), (b"dist_sync", "node")])
def test_a_condition_depends_on_the_whole_session(lines: int, store: bytes, scope: str, tmp_path: Path) -> None:
    """MXNet's speeds are per worker if a line anywhere in the log shows a distributed store."""
    speed = b"INFO:root:Epoch[0] Batch [%d]\tSpeed: 640.00 samples/sec\taccuracy=0.5\n"
    log = speed % 20 + speed % 40 + LONG * lines + b"kv_store='%s'\n" % store + speed % 60
    (session,) = read(written(tmp_path, log)).sessions
    assert [(each.reading.scope, len(each)) for each in session.records if len(each)] == [(scope, 3)]


@pytest.mark.parametrize("lines", [0, 300])
def test_a_condition_may_depend_on_lines_of_several_chunks(
    lines: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "__defaults__", (1,))
    head = b"Devices:     ['/gpu:0']\nLayout optimizer: False\nVariables:   parameter_server\n"
    log = LONG * lines + head + b"10\timages/sec: 640.5 +/- 0.0 (jitter = 0.0)\t7.5\n"
    (session,) = read(written(tmp_path, log)).sessions
    assert [(each.reading.scope, len(each)) for each in session.records if len(each)] == [("job", 1)]
