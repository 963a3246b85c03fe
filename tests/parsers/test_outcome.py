"""Outcomes of runs by the messages in their logs."""

from __future__ import annotations

import pytest

from perfledger.parsers.engine.counters import Counters
from perfledger.parsers.engine.outcome import Ending, ending, message

RECORD = b"some record\n"

OOM = [
    b"RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB",
    b"torch.cuda.OutOfMemoryError: CUDA out of memory.",
    b"tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor",
    b"RESOURCE_EXHAUSTED: Out of memory", b"MXNetError: cudaMalloc failed: CUDA_ERROR_OUT_OF_MEMORY",
    b"ResourceExhaustedError: Out of memory error on GPU 0.",
    b"terminate called after throwing an instance of 'std::bad_alloc'",
    b"[enforce fail at alloc_cpu.cpp:114] DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes",
    b"RuntimeError: HIP out of memory. Tried to allocate 2.00 GiB",
    b"RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB",
    b"slurmstepd: error: Detected 1 oom-kill event(s) in StepId=7.0. Some of your processes may have been killed",
    b"slurmstepd: error: Detected 2 oom_kill events in StepId=7.batch.",
]  # fmt: skip
CRASH = [
    b"Traceback (most recent call last):\n  File \"x.py\", line 1\nValueError: x", b"Segmentation fault (core dumped)",
    b"terminate called after throwing an instance of 'paddle::platform::EnforceNotMet'",
    b"torch.distributed.elastic.multiprocessing.errors.ChildFailedError:",
    b"mpirun noticed that process rank 3 with PID 0 on node x exited on signal 9 (Killed).",
    b"prterun noticed that process rank 1 with PID 7 on node x exited on signal 11 (Segmentation fault).",
    b"prterun detected that one or more processes exited with non-zero status,\nthus causing the job to be terminated.",
    b"srun: error: gpu01: task 3: Exited with exit code 1",
    b"Primary job  terminated normally, but 1 process returned a non-zero exit code.",
]  # fmt: skip
STOPPED = [b"LAUNCH INFO Terminating with signal 15", b"Exit with signal 15", b"caught SIGTERM", b"KeyboardInterrupt"]

ALL, HALF = Counters("step", 100, 100, reached=True), Counters("step", 50, 100, reached=False)


def of(text: bytes, end_line: int = 0, progress: Counters | None = None, records: int = 30) -> Ending:
    return ending(message(text, 1 + text.count(b"\n")), end_line, progress, records)


@pytest.mark.parametrize("said", OOM)
@pytest.mark.parametrize("records", [0, 30])
def test_a_message_about_missing_memory_is_oom(said: bytes, records: int) -> None:
    assert of(RECORD * 3 + said + b"\n", records=records) == Ending("oom", 4)


@pytest.mark.parametrize("said", CRASH)
@pytest.mark.parametrize("records", [0, 30])
def test_a_crash_is_a_failure(said: bytes, records: int) -> None:
    assert of(RECORD + said + b"\n", records=records) == Ending("failed", 2)


@pytest.mark.parametrize("said", STOPPED)
def test_a_run_stopped_by_a_signal_is_truncated_or_failed(said: bytes) -> None:
    assert of(RECORD + said + b"\n").outcome == "truncated"
    assert of(said + b"\n", records=0).outcome == "failed"


@pytest.mark.parametrize("said", [*OOM, *CRASH, *STOPPED])
def test_messages_after_the_end_do_not_count(said: bytes) -> None:
    """Launchers may print errors after the program has printed its end."""
    assert of(RECORD + said + b"\n", end_line=1) == Ending("completed", 1)


def test_crash_after_an_end_without_records_is_a_failure() -> None:
    assert of(b"done\n" + CRASH[0] + b"\n", end_line=1, records=0) == Ending("failed", 2)


@pytest.mark.parametrize("said", [*OOM, *CRASH])
def test_the_last_step_does_not_outweigh_a_crash(said: bytes) -> None:
    assert of(RECORD + said + b"\n", progress=ALL).outcome != "completed"


def test_out_of_memory_comes_before_the_crash_it_causes() -> None:
    assert of(CRASH[0] + b"\n" + OOM[0] + b"\n").outcome == "oom"


@pytest.mark.parametrize(
    ("end_line", "progress", "records", "outcome"),
    [
        (3, None, 5, "completed"),
        (0, ALL, 5, "completed"),
        (3, HALF, 5, "completed"),  # It stopped where it was meant to, such as at a time limit of its own.
        (0, HALF, 5, "truncated"),
        (0, None, 5, "truncated"),
        (0, None, 0, "unread"),
        (3, None, 0, "unread"),
    ],
)
def test_completed_needs_evidence(end_line: int, progress: Counters | None, records: int, outcome: str) -> None:
    assert of(RECORD * 5, end_line, progress, records) == Ending(outcome, end_line)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "said", [b"killer whale", b"signal processing", b"Exit code 0", b"traceback", b"out of memory of him"]
)
def test_similar_messages_are_not_failures(said: bytes) -> None:
    assert of(RECORD + said + b"\n", progress=ALL).outcome == "completed"
