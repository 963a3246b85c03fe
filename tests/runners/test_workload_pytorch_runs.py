"""The PyTorch workloads as programs: what they print is read, in one process and in two; skipped without PyTorch."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from perfledger.parsers.engine.read import read
from perfledger.parsers.engine.session import Session

pytest.importorskip("torch", reason="PyTorch is not installed; the workloads are tested where it is")

ROOT = Path(__file__).parents[2]
RESNET50 = ["-m", "runners.workloads.resnet50_pytorch", "--batch-size", "2", "--image-size", "32", "--iterations", "5"]
BERT = ["-m", "runners.workloads.bert_pytorch", "--batch-size", "2", "--sequence-length", "16", "--iterations", "5"]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "--no-python"]
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2"]
SECONDS = 240


def environment() -> dict[str, str]:
    """Ours without what a launcher might have set."""
    kept = {name: value for name, value in os.environ.items() if "RANK" not in name and "WORLD" not in name}
    return {**kept, "OMP_NUM_THREADS": "1"}


def log_of(tmp_path: Path, arguments: list[str], launcher: list[str] | None = None) -> Path:
    """Return the log of a training that must complete."""
    path = tmp_path / f"train{len(list(tmp_path.iterdir()))}.log"
    with path.open("wb") as log:
        argv = [*(launcher or []), sys.executable, *arguments]
        done = subprocess.run(argv, cwd=ROOT, env=environment(), stdout=log, timeout=SECONDS)
    assert done.returncode == 0
    return path


def the_session(path: Path, format_id: str) -> Session:
    """Return the one session of a log that only this format claims."""
    found = read(path)
    assert [claim.format.id for claim in found.claims] == [format_id]
    (session,) = found.sessions
    return session


def facts(session: Session) -> dict[str, Any]:
    return {name: quoted.value for name, quoted in session.facts.items()}


def refused(arguments: list[str]) -> str:
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment(), capture_output=True, text=True)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_resnet50_log_is_read_with_its_facts_and_figures(tmp_path):
    path = log_of(tmp_path, [*RESNET50, "--precision", "bf16"])
    session = the_session(path, "ngc.pytorch_resnet50")
    assert facts(session) == {"model": "resnet50", "batch_size": 2, "devices": 1, "data_format": "NCHW"}
    assert session.main["step"].tolist() == [1, 2, 3, 4, 5]
    printed = [float(each) for each in re.findall(r"Iteration: .*total_ips : ([\d.]+)", path.read_text())]
    assert session.main["throughput"].tolist() == printed
    assert session.ending.outcome == "completed"


def test_a_bert_log_is_read_with_its_facts_and_figures(tmp_path):
    path = log_of(tmp_path, [*BERT, "--accumulation", "2"])
    session = the_session(path, "frameworks.dllogger")
    assert facts(session) == {
        "model": "BERT-base", "batch_size": 2, "batch_size_of_job": 4, "accumulation": 2, "devices": 1,
        "sequence_length": 16, "precision": "fp32",
    }  # fmt: skip
    (records,) = (each for each in session.records if each.reading.span == "interval" and "throughput" in each)
    assert records["step"].tolist() == [1, 2, 3, 4, 5]
    seconds = [float(each) for each in re.findall(r'step_time": ([\d.]+)', path.read_text())]
    assert records["throughput"].tolist() == pytest.approx([4 / each for each in seconds], rel=1e-3)
    whole = re.search(r'training_sequences_per_second": ([\d.]+), "raw_train_time": ([\d.]+)', path.read_text())
    assert float(whole[2]) == pytest.approx(sum(seconds), rel=1e-3)
    assert float(whole[1]) == pytest.approx(5 * 4 / sum(seconds), rel=1e-3)


def test_the_printed_seconds_are_those_that_passed(tmp_path):
    text = log_of(tmp_path, BERT).read_text()
    stamps = [float(each) for each in re.findall(r'timestamp": "([\d.]+)".*step_time', text)]
    seconds = [float(each) for each in re.findall(r'step_time": ([\d.]+)', text)]
    passed = stamps[-1] - stamps[0]
    assert 0.7 * passed < sum(seconds[1:]) <= passed + 0.01


@pytest.mark.parametrize("every", [2, 5])
def test_a_line_of_several_iterations_has_their_mean(tmp_path, every):
    session = the_session(log_of(tmp_path, [*RESNET50, "--print-every", str(every)]), "ngc.pytorch_resnet50")
    assert session.main["step"].tolist() == list(range(every, 6, every))


@pytest.mark.parametrize("launcher", [TORCHRUN, MPIRUN], ids=["torchrun", "mpirun"])
def test_two_processes_train_one_network_and_the_first_alone_prints(tmp_path, launcher):
    if not shutil.which(launcher[0]):
        pytest.skip(f"{launcher[0]} is not installed")
    path = log_of(tmp_path, RESNET50, launcher)
    session = the_session(path, "ngc.pytorch_resnet50")
    assert facts(session) == {
        "model": "resnet50",
        "batch_size": 2,
        "devices": 2,
        "precision": "fp32",
        "data_format": "NCHW",
    }
    assert session.main["step"].tolist() == [1, 2, 3, 4, 5]
    alone = the_session(log_of(tmp_path, RESNET50), "ngc.pytorch_resnet50").main["loss"].tolist()
    together = session.main["loss"].tolist()
    # The first process begins with the same batch and network; from then on the gradient is of the other's images too.
    assert together[0] == pytest.approx(alone[0], rel=1e-3)
    assert together[2:] != pytest.approx(alone[2:], rel=1e-3)


def test_two_processes_accumulate_and_count_the_sequences_of_both(tmp_path):
    path = log_of(tmp_path, [*BERT, "--accumulation", "2"], TORCHRUN)
    stated = facts(the_session(path, "frameworks.dllogger"))
    assert (stated["devices"], stated["batch_size"], stated["batch_size_of_job"]) == (2, 2, 8)
    rates = re.findall(r'train\.sequences_per_second": ([\d.]+)', path.read_text())
    seconds = re.findall(r'step_time": ([\d.]+)', path.read_text())
    assert [float(each) for each in rates] == pytest.approx([8 / float(each) for each in seconds], rel=1e-3)


def test_memory_that_runs_out_ends_it_in_pytorch_s_own_words():
    argv = [sys.executable, *RESNET50, "--batch-size", "2000000000"]
    done = subprocess.run(argv, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 1
    assert "can't allocate memory" in done.stderr


def test_a_request_to_end_is_obeyed_at_once():
    argv = [sys.executable, *RESNET50, "--iterations", "100000"]
    with subprocess.Popen(argv, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert "PARAMETER" in process.stdout.readline()
        assert "Iteration: 1 " in process.stdout.readline()
        process.terminate()
        assert process.wait(10) == -signal.SIGTERM


def test_what_cannot_be_trained_is_refused_before_anything_is_printed():
    assert "no CPU has it" in refused([*RESNET50, "--precision", "tf32"])
    assert "600 tokens are not 2 to 512" in refused([*BERT, "--sequence-length", "600"])
    assert "yes is neither true nor false" in refused([*BERT, "--compile", "yes"])
    assert "0 is not a whole number from 1" in refused([*BERT, "--batch-size", "0"])
