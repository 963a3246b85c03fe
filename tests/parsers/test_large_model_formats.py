"""Formats of large models and of click-through rates: what no single sample line can show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ingest.compute import rules
from ingest.compute.metrics import metrics
from parsers.engine.read import Log, read
from parsers.engine.session import Session
from schema.records import Figure

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
#: Formats, and what stands in their lines of record alone, or in the last of them.
RECORD = {
    "dlperf.deepspeed": b"SamplesPerSec=",
    "dlperf.megatron": b"elapsed time per iteration",
    "dlperf.oneflow_gpt": b"| 450 ",
    "dlperf.oneflow_wdl": b" time ",
    "dlperf.oneflow_models_ctr": b"latency(ms): ",
    "dlperf.hugectr": b"Time(100 iters)",
    "dlperf.paddle_plsc": b" loss:",
}
#: Printers that do not announce themselves.
SILENT = {"dlperf.paddle_plsc"}
CASE = {"devices": 8, "nodes": 1, "batch_size": 4}


def golden(format_id: str) -> bytes:
    return (GOLDEN / format_id / "made-up.log").read_bytes()


def log_of(data: bytes | Sequence[str], folder: Path) -> Log:
    # What a session states is read again when asked for, so that every log stays where it is.
    path = folder / f"train{len(list(folder.iterdir()))}.log"
    path.write_bytes(data if isinstance(data, bytes) else "".join(f"{each}\n" for each in data).encode())
    return read(path)


def only(log: Log) -> Session:
    (session,) = log.sessions
    return session


def value(session: Session, rule: str = "sustained", **case: int) -> float:
    found = rules.figure(rule, session, CASE | case)
    assert isinstance(found, Figure), found
    return found.value


def reason(session: Session, rule: str = "sustained", **case: int) -> str:
    found = rules.figure(rule, session, case)
    assert not isinstance(found, Figure), found
    return found.reason.code


WRITERS: dict[str, Callable[[bytes], bytes]] = {
    "carriage returns": lambda data: data.replace(b"\n", b"\r\n"),
    "tags of mpirun": lambda data: b"".join(b"[1,0]<stdout>:" + each for each in data.splitlines(keepends=True)),
    "an empty head": lambda data: b"\n" * 40 + data,
    "no last newline": lambda data: data.rstrip(b"\n"),
    "a launcher's chatter": lambda data: b"WARNING: world size is 8, 100 iterations\n" * 3 + data,
}


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("format_id", RECORD)
def test_the_same_log_otherwise_written(format_id: str, writer: str, tmp_path: Path) -> None:
    plain = only(log_of(golden(format_id), tmp_path))
    log = log_of(WRITERS[writer](golden(format_id)), tmp_path)
    assert [each.format.id for each in log.claims] == [format_id]
    other = only(log)
    assert len(other.main) == len(plain.main)
    assert value(other) == value(plain)
    assert {name: each.value for name, each in other.facts.items()} == {
        name: each.value for name, each in plain.facts.items()
    }


@pytest.mark.parametrize("format_id", RECORD)
def test_a_file_cut_inside_its_last_record_yields_no_other_number(format_id: str, tmp_path: Path) -> None:
    data = golden(format_id)
    begin = data.rfind(b"\n", 0, data.rfind(RECORD[format_id])) + 1
    end = data.index(b"\n", begin)
    whole = only(log_of(data, tmp_path))
    throughputs = {
        tuple(round(each, 9) for each in _numbers(only(log_of(data[:cut], tmp_path))))
        for cut in range(begin + 1, end + 1, 3)
    }
    complete = tuple(round(each, 9) for each in _numbers(whole))
    assert throughputs <= {complete, complete[:-1]}
    assert complete[:-1] in throughputs


def _numbers(session: Session) -> list[float]:
    """What speeds are made of, record by record."""
    columns = ("throughput", "step_seconds", "duration", "samples", "clock")
    name = next(each for each in columns if each in session.main)
    return [float(each) for each in session.main[name]]


@pytest.mark.parametrize("format_id", sorted(set(RECORD) - SILENT))
def test_two_runs_in_one_file_are_two_runs(format_id: str, tmp_path: Path) -> None:
    one = only(log_of(golden(format_id), tmp_path))
    two = log_of(golden(format_id) * 2, tmp_path).sessions
    assert [len(each.main) for each in two] == [len(one.main)] * 2
    assert [value(each) for each in two] == [value(one)] * 2
    stated = {name: each.value for name, each in one.facts.items()}
    assert [{name: each.value for name, each in session.facts.items()} for session in two] == [stated] * 2


@pytest.mark.parametrize("format_id", sorted(set(RECORD) - SILENT))
def test_a_start_without_a_record_is_recognised(format_id: str, tmp_path: Path) -> None:
    data = golden(format_id)
    head = data[: data.rfind(b"\n", 0, data.index(RECORD[format_id].replace(b"450", b"50"))) + 1]
    log = log_of(head, tmp_path)
    assert [(each.format.id, each.records) for each in log.claims] == [(format_id, False)]


# DeepSpeed


def deepspeed(epoch: int, step: int, mean: float) -> str:
    return f"[2026-11-20 01:24:{step % 60:02d},852] [INFO] [timer.py:154:stop] {epoch}/{step}, SamplesPerSec={mean!r}"


def test_deepspeed_running_mean_is_undone(tmp_path: Path) -> None:
    """Of 8 samples each, 48 steps take 96 s, then 50 take 50 s and 50 take 100 s; printed means are since step 3."""
    taken = (96.0, 146.0, 246.0)
    lines = [deepspeed(0, step, 8 * (step - 2) / seconds) for step, seconds in zip((50, 100, 150), taken, strict=True)]
    session = only(log_of(lines, tmp_path))
    assert value(session) == pytest.approx(8 * 100 / 150)
    assert value(session, "sustained:skip=0") == pytest.approx(8 * 148 / 246)
    assert value(session, "sustained:skip=2") == pytest.approx(8 * 50 / 100)
    assert reason(session, "dlperf") == "window_not_reached"


def test_deepspeed_window_undoes_the_mean_that_dlperf_averaged(tmp_path: Path) -> None:
    """A slow start lasts in the mean: steps 3 to 100 take 2 s each, those after it 1 s."""
    lines = [
        deepspeed(0, step, 8 * (step - 2) / (2.0 * min(step - 2, 98) + max(step - 100, 0))) for step in range(3, 221)
    ]
    session = only(log_of(lines, tmp_path))
    assert value(session, "dlperf") == pytest.approx(8.0)
    assert value(session, "mean") < 7


def test_deepspeed_uses_no_mean_whose_start_it_cannot_tell(tmp_path: Path) -> None:
    first = [deepspeed(0, step, 10.0) for step in (10, 20, 30)]
    later = [deepspeed(1, step, 99.0) for step in (10, 20, 30)]
    session = only(log_of([*first, *later], tmp_path))
    assert len(session.records[2]) == 3
    assert value(session) == pytest.approx(10.0)
    assert session.records[2].lines([2]) == [3]
    assert reason(only(log_of(later, tmp_path)), devices=8, batch_size=1) == "no_records"


def test_deepspeed_that_begins_anew_without_a_word(tmp_path: Path) -> None:
    lines = [deepspeed(0, step, speed) for speed in (10.0, 20.0) for step in (10, 20, 30)]
    session = only(log_of(lines, tmp_path))
    assert value(session, "sustained:skip=0") == pytest.approx(2 * 28 / (28 / 10 + 28 / 20))


def test_deepspeed_lines_beside_those_of_the_program(tmp_path: Path) -> None:
    """Megatron-DeepSpeed prints both; the program's own lines are read."""
    log = log_of(golden("dlperf.megatron") + f"{deepspeed(0, 100, 463.5)}\n".encode(), tmp_path)
    assert [each.format.id for each in log.claims] == ["dlperf.megatron"]


def test_deepspeed_step_is_an_update(tmp_path: Path) -> None:
    """12 updates of 16 x 8 x 2 samples: at 160 per second, 1.6 s each, in two steps of 16 x 8."""
    session = only(log_of(golden("dlperf.deepspeed"), tmp_path))
    case = {name: each.value for name, each in session.facts.items()}
    found = metrics(session, case, rules.figure("sustained", session, case))
    assert found["memory"].value == 22.5 * 1024
    speeds = [160.0, 160.5, 161.0, 160.0, 80.0, 160.25, 161.5, 160.0, 162.0, 160.5]
    assert found["latency"].value == pytest.approx(1000 * sum(256 / each for each in speeds) / 20)


def test_deepspeed_pipeline(tmp_path: Path) -> None:
    lines = [
        f"steps: {step} loss: 7.5250 iter time (s): {256 / speed} samples/sec: {speed:.3f}"
        for step, speed in ((10, 16.0), (20, 64.0), (30, 128.0))
    ]
    session = only(log_of(lines, tmp_path))
    assert value(session) == pytest.approx(2 / (1 / 64 + 1 / 128))
    found = metrics(session, CASE, rules.figure("sustained", session, CASE))
    assert found["latency"].value is None
    assert found["latency"].reason.code == "no_accumulation"
    told = CASE | {"accumulation": 4}
    assert metrics(session, told, rules.figure("sustained", session, told))["latency"].value == pytest.approx(750.0)


# Megatron-LM


def megatron(step: int, milliseconds: float, fields: str = "", unit: str = "ms") -> str:
    return (
        f" iteration {step:8d}/     500 |{fields} elapsed time per iteration ({unit}): {milliseconds} |"
        f" learning rate: 1.5E-04 |"
    )


def test_megatron_samples_follow_what_was_consumed(tmp_path: Path) -> None:
    """The batch grows from 4 to 8 within the second interval: 4 x 4 and 6 x 8 samples, though the line says 8."""
    lines = [
        megatron(step, 1000.0, f" consumed samples: {consumed} |") + f" global batch size: {batch} | lm loss: 9.5E+00 |"
        for step, consumed, batch in ((10, 40, 4), (20, 104, 8), (30, 184, 8))
    ]
    session = only(log_of(lines, tmp_path))
    assert list(session.main["samples"]) == [40, 64, 80]
    assert value(session) == pytest.approx(144 / 20)


def test_megatron_without_consumed_samples(tmp_path: Path) -> None:
    lines = [f"{megatron(step, 2000.0)} global batch size: 6 | lm loss: 9.5E+00 |" for step in (100, 200, 300)]
    session = only(log_of(lines, tmp_path))
    assert value(session) == pytest.approx(3.0)


def test_megatron_that_prints_no_batch_needs_to_be_told(tmp_path: Path) -> None:
    lines = [
        f" iteration {step}/500000 | elapsed time per iteration (ms): 500.0 | learning rate 1.0E-05 | lm loss 8.2E+00 |"
        for step in (100, 200, 300)
    ]
    session = only(log_of(lines, tmp_path))
    assert reason(session, devices=8) == "no_batch_size"
    assert value(session, batch_size_of_job=512) == pytest.approx(1024.0)


def test_megatron_in_seconds_agrees_with_its_own_samples_per_second(tmp_path: Path) -> None:
    lines = [
        megatron(step, 1.25, f" consumed samples: {16 * step} | consumed tokens: {32768 * step} |", "s")
        + " global batch size: 16 | number of nan iterations: 0 | samples per second: 12.800 | TFLOPs: 24.75 |"
        for step in (10, 20, 30)
    ]
    session = only(log_of(lines, tmp_path))
    assert value(session) == pytest.approx(12.8)
    found = metrics(session, CASE, rules.figure("sustained", session, CASE))
    assert found["flops"].value == 24.75
    assert found["latency"].value == pytest.approx(1250.0)


def test_gpt_neox_says_how_many_samples_it_trains(tmp_path: Path) -> None:
    lines = [
        f" samples/sec: {speed} | iteration {step}/320000 | elapsed time per iteration (ms): {32000 / speed:.1f} |"
        " learning rate 9.375E-06 | approx flops per GPU: 24.5TFLOPS | lm_loss 1.0875E+01 | loss scale 65536.0 |"
        for step, speed in ((10, 8.0), (20, 16.0), (30, 32.0))
    ]
    session = only(log_of(lines, tmp_path))
    assert value(session) == pytest.approx(2 / (1 / 16 + 1 / 32))
    assert value(session, "mean") == pytest.approx(24.0)


def test_megatron_figures_beside_the_throughput(tmp_path: Path) -> None:
    """The first interval skipped all its iterations and has no loss; memory stands in lines of its own."""
    session = only(log_of(golden("dlperf.megatron"), tmp_path))
    case = {name: each.value for name, each in session.facts.items()}
    headline = rules.figure("sustained", session, case)
    assert isinstance(headline, Figure)
    found = metrics(session, case, headline)
    assert (found["loss"].first, found["loss"].value) == (11.75, 9.75)
    assert found["memory"].value == 9112.5
    s, l, h, v = 2048, 24, 2048, 51200  # noqa: E741
    flops = 96 * s * l * h**2 * (1 + s / (6 * h) + v / (16 * l * h)) * headline.value / 8 / 1e12
    assert found["flops"].value == pytest.approx(flops)


def test_megatron_states_what_its_arguments_say_and_nothing_of_other_lengths(tmp_path: Path) -> None:
    facts = only(log_of(golden("dlperf.megatron"), tmp_path)).facts
    assert (facts["sequence_length"].value, facts["hidden"].value) == (2048, 2048)
    text = golden("dlperf.megatron").replace(b"fp16 ........", b"bf16_ .......")
    facts = only(log_of(text.replace(b" 24\n", b" None\n"), tmp_path)).facts
    assert "layers" not in facts
    assert "precision" not in facts


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("turned", [False, True])
def test_batch_of_an_old_megatron_is_that_of_a_device_where_the_network_is_whole(
    size: int, turned: bool, tmp_path: Path
) -> None:
    arguments = ["  batch_size ...................... 4", "  lr .............................. 0.1"]
    arguments.append(f"  model_parallel_size ............. {size}")
    lines = ["-------------------- arguments --------------------", *arguments[:: -1 if turned else 1]]
    lines += ["  world_size ...................... 8", "---------------- end of arguments ----------------"]
    lines += [
        f" iteration {step}/500000 | elapsed time per iteration (ms): 500.0 | learning rate 1.0E-05 | lm loss 8.2E+00 |"
        for step in (100, 200, 300)
    ]
    facts = only(log_of(lines, tmp_path)).facts
    assert facts["devices"].value == 8
    assert (facts["batch_size"].value if "batch_size" in facts else None) == (4 if size == 1 else None)


# OneFlow GPT, Wide & Deep, HugeCTR


def test_oneflow_gpt_memory_is_the_most_that_was_seen(tmp_path: Path) -> None:
    session = only(log_of(golden("dlperf.oneflow_gpt"), tmp_path))
    found = metrics(session, CASE, rules.figure("sustained", session, CASE))
    assert found["memory"].value == 11808
    assert found["latency"].value == pytest.approx(1000 * sum((12.8, 12.5, 12.8, 12.8, 12.5, 12.8, 12.8, 13.0)) / 8)


def test_oneflow_wdl_with_dates_over_midnight(tmp_path: Path) -> None:
    """1000 steps from 23:59:58 to 00:00:08 are 10 ms each."""
    lines = [
        "100 time 2026-11-20 23:59:58.000000 loss 0.546875125",
        "600 time 2026-11-21 00:00:03.000000 loss 0.526875125",
        "600 eval_loss 0.484675125 eval_auc 0.76162425",
        "1100 time 2026-11-21 00:00:08.000000 loss 0.516875125",
    ]
    session = only(log_of(lines, tmp_path))
    assert value(session, "dlperf", batch_size_of_job=16384) == pytest.approx(1638400)
    found = metrics(session, CASE, rules.figure("sustained", session, CASE))
    assert found["latency"].value == pytest.approx(10.0)
    assert found["accuracy"].value == 0.76162425


def test_wdl_log_that_never_reaches_a_thousand_steps_has_no_figure_of_dlperf(tmp_path: Path) -> None:
    lines = [f"{step} time 17951637{step // 10:02d}.5000000 loss 0.546875125" for step in (100, 200, 300)]
    assert reason(only(log_of(lines, tmp_path)), "dlperf", batch_size_of_job=16384, devices=8) == "window_not_reached"


def test_ctr_models_state_their_devices_by_two_batches(tmp_path: Path) -> None:
    facts = only(log_of(golden("dlperf.oneflow_models_ctr"), tmp_path)).facts
    assert (facts["batch_size_of_job"].value, facts["batch_size"].value) == (16384, 2048)
    dlrm = golden("dlperf.oneflow_models_ctr").replace(b"deep_vocab_size", b"bottom_mlp ....")
    assert only(log_of(dlrm, tmp_path)).facts["model"].value == "DLRM"


def test_ranks_that_all_print_a_step_count_once(tmp_path: Path) -> None:
    lines = [
        f"[rank:{rank}] iter: {step}/900, loss: 0.078, latency(ms): {latency + rank} | 2026-11-20 13:19:02.848"
        for step, latency in ((100, 50.0), (200, 3.0), (300, 5.0))
        for rank in range(3)
    ]
    session = only(log_of(lines, tmp_path))
    assert value(session, "sustained") == pytest.approx(32 * 2 / (0.004 + 0.006))


DIALECTS = {
    "new": "[HCTR][16:16:20.027][INFO][RK0][main]: Iter: {} Time({} iters): {:.6f}s Loss: 0.136125 lr:0.004",
    "middle": "[HUGECTR][02:51:59][INFO][RANK0]: Iter: {} Time({} iters): {:.6f}s Loss: 0.125125 lr:0.001000",
    "old": "[19d22h10m18s][HUGECTR][INFO]: Iter: {} Time({} iters): {:.6f}s Loss: 0.124875",
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_hugectr_dialects_and_the_interval_that_the_line_states(dialect: str, tmp_path: Path) -> None:
    """Two lines of 100 iterations, then one of 50."""
    lines = [DIALECTS[dialect].format(*each) for each in ((100, 100, 9.0), (200, 100, 0.5), (250, 50, 0.3))]
    session = only(log_of(lines, tmp_path))
    assert value(session, batch_size_of_job=1024) == pytest.approx(1024 * 150 / 0.8)
    assert value(session, "dlperf", batch_size_of_job=1024) == pytest.approx(1024 * 150 / 0.8)
    assert len(session.main) == 3


def test_hugectr_announces_itself_once_with_and_without_arguments(tmp_path: Path) -> None:
    banner = "=" * 40 + "Model Init" + "=" * 40
    run = [banner, *(DIALECTS["new"].format(100 * n, 100, 0.5) for n in (1, 2, 3))]
    assert [len(each.main) for each in log_of([*run, *run], tmp_path).sessions] == [3, 3]
    assert len(log_of(golden("dlperf.hugectr") * 3, tmp_path).sessions) == 3
