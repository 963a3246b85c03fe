"""nccl-tests: bus bandwidth is size over time by the formula of the operation, only at the largest size."""

from __future__ import annotations

import pytest

from perfledger.ingest.compute import rules
from perfledger.parsers.engine.read import read
from perfledger.schema.records import Figure

DEVICES, GIB = 8, 1 << 30
HEAD = """# nccl-tests version 2.18.3 nccl-headers=22809 nccl-library=22809
# Collective test starting: ./build/all_reduce_perf
# nThread 1 nGpus 1 minBytes 8589934592 maxBytes 8589934592 step: 1048576(bytes) warmup iters: 5 iters: 20 \
agg iters: 1 validation: 1 graph: 0 unalign: 0
#
# Using devices
{ranks}#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     {time}   algbw   busbw  #wrong \
    {time}   algbw   busbw  #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
"""
RANK = "#  Rank {n:2d} Group  0 Pid  14840 on      node1 device {n:2d} [0000:0{n}:00] NVIDIA H100 80GB HBM3\n"
TIMES = [41000.0 + 100 * n for n in range(10)]


def row(microseconds: float, size: int = 8 * GIB, wrong: str = "0") -> str:
    algorithm = size / microseconds / 1000
    bus = algorithm * 2 * (DEVICES - 1) / DEVICES
    half = f"  {microseconds:7.0f}  {algorithm:6.2f}  {bus:6.2f}  {wrong:>6}"
    return f"{size:12d}  {size // 2:12d}  bfloat16     sum      -1{half}{half}\n"


@pytest.fixture
def sessions_of(tmp_path):
    def sessions(rows, time="time", tag="", listed=DEVICES):
        ranks = "".join(RANK.format(n=n) for n in range(listed))
        text = HEAD.format(ranks=ranks, time=time) + "".join(rows) + "# Avg bus bandwidth    : 1.5 \n"
        path = tmp_path / "train.log"
        path.write_text("".join(tag + line for line in text.splitlines(keepends=True)))
        return read(path).sessions

    return sessions


def sustained(session):
    return rules.figure("sustained", session, {name: each.value for name, each in session.facts.items()})


@pytest.mark.parametrize("tag", ["", "[1,0]<stdout>:"])
def test_the_figure_is_the_bus_bandwidth_of_each_device_at_the_largest_size(sessions_of, tag):
    rows = [text for took in TIMES for text in (row(9999, GIB), row(took))]
    (session,) = sessions_of(rows, tag=tag)
    facts = {name: each.value for name, each in session.facts.items()}
    case = {"model": "all_reduce", "devices": DEVICES, "batch_size": 8, "precision": "bf16"}
    assert facts.items() >= case.items()
    figure = sustained(session)
    # Two of ten tables are warm-up, and the others have equal weight.
    of_device = sum(8 * GIB / each / 1000 * 14 / 8 for each in TIMES[2:]) / 8
    assert isinstance(figure, Figure)
    assert (figure.used, figure.scope) == (8, "job")
    assert figure.value / DEVICES == pytest.approx(of_device, rel=1e-4)


def test_devices_follow_from_the_last_rank_after_any_output_of_the_library(tmp_path):
    rows = "".join(row(took) for took in TIMES)
    library = "".join(f"node1:14840:14840 [0] NCCL INFO Channel {n:02d}/1024 : 0 1 2 3 4 5 6 7\n" for n in range(1024))
    head = HEAD.format(ranks="".join(RANK.format(n=n) for n in range(DEVICES)) + library, time="time")
    path = tmp_path / "train.log"
    path.write_text(head + rows)
    (session,) = read(path).sessions
    assert session.facts["devices"].value == DEVICES


def test_rows_that_are_wrong_do_not_count(sessions_of):
    bad = {"wrong": "3"}
    (session,) = sessions_of([row(took, **(bad if n % 2 else {})) for n, took in enumerate(TIMES * 2)])
    assert len(session.main) == 10
    for every in ([row(took, **bad) for took in TIMES], [row(9999, GIB), *(row(took, **bad) for took in TIMES)]):
        assert not [each for session in sessions_of(every) for each in session.records if len(each)]


def test_a_table_alone_is_the_tools_own_figure(sessions_of):
    (session,) = sessions_of([row(9999, GIB), row(TIMES[0])])
    case = {name: each.value for name, each in session.facts.items()}
    figure = rules.figure("reported", session, case)
    assert isinstance(figure, Figure)
    assert figure.value / DEVICES == pytest.approx(8 * GIB / TIMES[0] / 1000 * 14 / 8, rel=1e-4)
    (repeated,) = sessions_of(map(row, TIMES))
    assert not isinstance(rules.figure("reported", repeated, case), Figure)


@pytest.mark.parametrize("amd", [False, True])
def test_tables_before_2022_have_no_root(amd, tmp_path):
    path = tmp_path / "train.log"
    head = HEAD.format(ranks="".join(RANK.format(n=n) for n in range(DEVICES)), time="time").replace("   root", "")
    head = "".join(each for each in head.splitlines(keepends=True) if "nccl-tests" not in each)
    told = "# nThreads: 1 nGpus: 8 nRanks: 1 minBytes: 8589934592 maxBytes: 8589934592 step: 2(factor) warmupIters: 5"
    head = (
        head.replace("# nThread 1 nGpus 1 minBytes 8589934592 maxBytes 8589934592 step: 1048576(bytes)", told)
        if amd
        else head
    )
    rows = row(9999, GIB) + row(TIMES[0], wrong="4e-07")
    path.write_text(f"{head}{rows.replace('      -1', '')}# Avg bus bandwidth    : 1.5 \n")
    (session,) = read(path).sessions
    case = {name: each.value for name, each in session.facts.items()}
    assert (case["devices"], case["batch_size"], case["precision"], case.get("framework") == "RCCL") == (
        8,
        8,
        "bf16",
        amd,
    )
    figure = rules.figure("reported", session, case)
    assert isinstance(figure, Figure)
    assert figure.value / DEVICES == pytest.approx(8 * GIB / TIMES[0] / 1000 * 14 / 8, rel=1e-4)


def test_results_that_were_not_checked_count(sessions_of):
    (session,) = sessions_of([row(took, wrong="N/A") for took in TIMES])
    assert sustained(session).used == 8


def test_times_of_the_processor_give_no_bandwidth(sessions_of):
    assert not [
        each for session in sessions_of(map(row, TIMES), time="cputime") for each in session.records if len(each)
    ]


def test_a_difference_below_the_tools_bound_is_not_a_wrong_result(sessions_of):
    """Older releases print the largest difference instead of the number of wrong elements."""
    for printed, right in (("1e-03", 10), ("0e+00", 10), ("2e-02", 0), ("1e+00", 0)):
        found = sessions_of([row(took, wrong=printed) for took in TIMES])
        assert sum(len(each) for session in found for each in session.records) == right
    single = [row(took, wrong="1e-03").replace("bfloat16", "   float") for took in TIMES]
    assert not [each for session in sessions_of(single) for each in session.records if len(each)]


def test_the_sum_of_several_operations_counts(sessions_of):
    both = [text for took in TIMES for text in (row(took), row(2 * took).replace("     sum", "    prod"))]
    (session,) = sessions_of(both)
    (alone,) = sessions_of(map(row, TIMES))
    assert sustained(session).value == sustained(alone).value
    (other,) = sessions_of([row(took).replace("     sum", "     max") for took in TIMES])
    assert sustained(other).value == sustained(alone).value


@pytest.mark.parametrize(
    ("limits", "size", "gib"),
    [
        ("minBytes 1048576 maxBytes 134217728 step: 2(factor)", 128 << 20, None),
        ("minBytes 8 maxBytes 10000000000 step: 2(factor)", 8 * GIB, 8),
        ("minBytes 1073741824 maxBytes 5368709120 step: 3(factor)", 3 * GIB, 3),
        ("minBytes 1073741824 maxBytes 5900000000 step: 1073741824(bytes)", 5 * GIB, 5),
        ("minBytes 6442450944 maxBytes 6442450944 step: 0(bytes)", 6 * GIB - 96, 6),
    ],
)
def test_the_largest_message_need_not_be_the_limit_nor_whole_gibibytes(sessions_of, monkeypatch, limits, size, gib):
    """The largest message is the last that the step reaches, rounded down to a multiple of the devices."""
    asked = "minBytes 8589934592 maxBytes 8589934592 step: 1048576(bytes)"
    monkeypatch.setitem(globals(), "HEAD", HEAD.replace(asked, limits))
    (session,) = sessions_of([row(took * size / (8 * GIB), size) for took in TIMES])
    assert sustained(session).used == 8
    assert (session.facts["batch_size"].value if "batch_size" in session.facts else None) == gib


def test_amds_copy_names_rccl(sessions_of):
    (session,) = sessions_of(["rccl-tests: Version develop:0123abc\n", *map(row, TIMES)])
    assert session.facts["framework"].value == "RCCL"


@pytest.mark.parametrize("library", ["NCCL", "CUDA"])
def test_a_failure_of_the_library_is_a_failure_of_the_run(library, tmp_path):
    path = tmp_path / "train.log"
    head = HEAD.format(ranks="".join(RANK.format(n=n) for n in range(DEVICES)), time="time")
    path.write_text(
        f"{head}{''.join(map(row, TIMES))}node1: Test {library} failure all_reduce.cu:41 'unhandled error'\n"
    )
    (session,) = read(path).sessions
    assert session.ending.outcome == "failed"
