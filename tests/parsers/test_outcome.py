"""How a run ended, as far as its log says."""

from __future__ import annotations

import pytest

from parsers.engine.outcome import ending

RECORD = b"some record\n"

OOM = [
    b"RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB",
    b"torch.cuda.OutOfMemoryError: CUDA out of memory.",
    b"tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor",
    b"RESOURCE_EXHAUSTED: Out of memory", b"MXNetError: cudaMalloc failed: CUDA_ERROR_OUT_OF_MEMORY",
    b"ResourceExhaustedError: Out of memory error on GPU 0.",
    b"terminate called after throwing an instance of 'std::bad_alloc'",
    b"[enforce fail at alloc_cpu.cpp:114] DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes",
]  # fmt: skip
CRASH = [
    b"Traceback (most recent call last):\n  File \"x.py\", line 1\nValueError: x", b"Segmentation fault (core dumped)",
    b"terminate called after throwing an instance of 'paddle::platform::EnforceNotMet'",
    b"torch.distributed.elastic.multiprocessing.errors.ChildFailedError:",
    b"mpirun noticed that process rank 3 with PID 0 on node x exited on signal 9 (Killed).",
    b"Primary job  terminated normally, but 1 process returned a non-zero exit code.",
]  # fmt: skip
STOPPED = [b"LAUNCH INFO Terminating with signal 15", b"Exit with signal 15", b"caught SIGTERM", b"KeyboardInterrupt"]


@pytest.mark.parametrize("message", OOM)
@pytest.mark.parametrize("records", [0, 30])
def test_out_of_memory(message: bytes, records: int) -> None:
    found = ending(RECORD * 3 + message + b"\n", 100, None, records)
    assert (found.outcome, found.line) == ("oom", 103)


@pytest.mark.parametrize("message", CRASH)
@pytest.mark.parametrize("records", [0, 30])
def test_a_crash(message: bytes, records: int) -> None:
    found = ending(RECORD + message + b"\n", 1, None, records)
    assert (found.outcome, found.line) == ("failed", 2)


@pytest.mark.parametrize("message", STOPPED)
def test_stopped_by_a_signal(message: bytes) -> None:
    assert ending(RECORD + message + b"\n", 1, None, 30).outcome == "truncated"
    assert ending(message + b"\n", 1, None, 0).outcome == "failed"


@pytest.mark.parametrize("message", [*OOM, *CRASH, *STOPPED])
def test_messages_after_the_end_do_not_count(message: bytes) -> None:
    """Launchers complain when the others leave; the printer had message that it was done."""
    assert ending(RECORD + message + b"\n", 1, True, 30).outcome == "completed"


def test_out_of_memory_comes_before_the_crash_it_causes() -> None:
    tail = CRASH[0] + b"\n" + OOM[0] + b"\n"
    assert ending(tail, 1, None, 5).outcome == "oom"


@pytest.mark.parametrize(
    ("ended", "records", "outcome"),
    [
        (None, 5, "completed"),
        (True, 5, "completed"),
        (False, 5, "truncated"),
        (None, 0, "failed"),
        (True, 0, "failed"),
        (False, 0, "failed"),
    ],
)
def test_outcome_without_messages(ended: bool | None, records: int, outcome: str) -> None:
    found = ending(RECORD * 5, 1, ended, records)
    assert (found.outcome, found.line) == (outcome, 0)


@pytest.mark.parametrize(
    "message", [b"killer whale", b"signal processing", b"Exit code 0", b"traceback", b"out of memory of him"]
)
def test_similar_messages_are_not_failures(message: bytes) -> None:
    assert ending(RECORD + message + b"\n", 1, None, 5).outcome == "completed"
