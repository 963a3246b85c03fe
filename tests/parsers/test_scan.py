"""The scanner: chunks of any size give the same text and line numbers, and tags and noise are removed."""

from __future__ import annotations

import gzip
import subprocess
from pathlib import Path

import pytest

from perfledger.parsers.engine import scan
from perfledger.parsers.engine.read import read
from perfledger.parsers.engine.scan import Noise, ScanError, chunks

RECORD = (
    b"2026-11-20 11:50:55 [INFO]\t[TRAIN] epoch: 3, iter: %d/900, loss: 2.0594, lr: 0.010000, batch_cost: 0.2000, "
    b"reader_cost: 0.00247, ips: %d.0000 samples/sec | ETA 00:00:00"
)
SPEED = b"[1,%d]<stderr>:2026-11-20 08:36:06,500:INFO: Epoch[0] Batch [%d]\tSpeed: %d.5 samples/sec\tLR: 0.0039936\t"
NOISE = (
    b"\x1b[32mcolour\x1b[0m", b" 10%|#   | 1/9\r 20%|##  | 2/9\r", b"nul \x00\x00 bytes", b"\xff\xfe\xe4\xbd broken",
    b"", b"back\x08\x08\x08\x08spaces", b"\x1b]0;title\x07", "进度 █████▌ 50%".encode(), b"windows\r",
)  # fmt: skip


def noisy(records: int) -> bytes:
    lines: list[bytes] = []
    for i in range(records):
        lines += [NOISE[i % len(NOISE)], b"\x1b[1m" + RECORD % (10 * i, i + 1) + b"\x1b[0m"]
    return b"\n".join(lines) + b"\n"


def text_of(path: Path, size: int) -> bytes:
    return b"".join(each.text for each in chunks(path, Noise(), size))


@pytest.mark.parametrize("size", [1, 2, 7, 64, 1000, 4096, 1 << 16])
def test_chunks_of_any_size_are_the_same_text(tmp_path: Path, size: int) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(noisy(40))
    whole = text_of(path, 1 << 20)
    assert b"\x1b" not in whole
    assert b"\x00" not in whole
    assert whole.count(b"\n") == 80
    assert text_of(path, size) == whole


@pytest.mark.parametrize("size", [1, 3, 100, 1 << 16])
def test_chunks_follow_each_other(tmp_path: Path, size: int) -> None:
    path = tmp_path / "train.log"
    data = noisy(30)[:-1]
    path.write_bytes(data)
    found = list(chunks(path, Noise(), size))
    line, offset = 1, 0
    for each in found:
        assert (each.first_line, each.offset) == (line, offset)
        assert data[offset : offset + each.bytes].count(b"\n") == each.lines
        line, offset = line + each.lines, offset + each.bytes
    assert offset == len(data)
    assert all(each.text.endswith(b"\n") for each in found[:-1])


def grep_numbers(path: Path, pattern: str) -> list[int]:
    """Return the line numbers that `grep -n` prints."""
    done = subprocess.run(["grep", "-an", pattern, path], capture_output=True, check=True)
    return [int(each.partition(b":")[0]) for each in done.stdout.splitlines() if each.partition(b":")[0].isdigit()]


@pytest.mark.parametrize("size", [1, 50, 777, 1 << 16])
def test_records_and_their_lines_do_not_depend_on_chunks(
    tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(noisy(25))
    defaults = chunks.__defaults__
    monkeypatch.setattr(chunks, "__defaults__", (size,))
    assert defaults == (scan.CHUNK,)
    (session,) = read(path).sessions
    assert session.main["throughput"].tolist() == [float(i + 1) for i in range(25)]
    assert session.main["step"].tolist() == [10.0 * i for i in range(25)]
    assert session.main.lines(list(range(25))) == grep_numbers(path, "TRAIN")
    assert session.main.lines([24, 0, 7, 7]) == [50, 2, 16, 16]
    for line in range(1, 53):
        assert session.main.before(line).tolist() == [each < line for each in session.main.lines(list(range(25)))]
    assert (session.first_line, session.last_line) == (1, 50)


def test_line_numbers_are_right_after_many_chunks(tmp_path: Path) -> None:
    """The log has several MiB, with noise before every record."""
    path = tmp_path / "train.log"
    path.write_bytes(b"".join(b"noise %d\n" % i * (i % 3) + RECORD % (i, i + 1) + b"\n" for i in range(20_000)))
    assert path.stat().st_size > 3 * scan.CHUNK
    (session,) = read(path).sessions
    numbers = grep_numbers(path, "TRAIN")
    wanted = [0, 1, 7000, 13_333, 19_999]
    assert session.main.lines(wanted) == [numbers[each] for each in wanted]
    assert session.main["throughput"].sum() == sum(range(1, 20_001))


def test_compressed_logs_are_the_same_log(tmp_path: Path) -> None:
    plain, packed = tmp_path / "train.log", tmp_path / "packed.log.gz"
    data = noisy(4000)
    plain.write_bytes(data)
    packed.write_bytes(gzip.compress(data))
    one, other = read(plain).sessions[0], read(packed).sessions[0]
    assert one.main["throughput"].tolist() == other.main["throughput"].tolist()
    assert one.main.lines([0, 1999, 3999]) == other.main.lines([0, 1999, 3999]) == [2, 4000, 8000]


def test_zst_is_read_or_the_message_names_the_missing_package(tmp_path: Path) -> None:
    path = tmp_path / "train.log.zst"
    try:
        import zstandard
    except ImportError:
        path.write_bytes(b"x")
        with pytest.raises(ScanError) as caught:
            read(path)
        assert "zstandard" in str(caught.value.details["cause"])
        return
    path.write_bytes(zstandard.compress(noisy(20)))
    assert len(read(path).sessions[0].main) == 20


TAGS = {
    "mpirun": b"[1,%d]<stdout>:",
    "mpirun with a date": b"Fri Nov 20 10:54:24 2026[1,%d]<stdout>:",
    "mpirun of stderr": b"[1,%d]<stderr>: ",
    "mpirun of Open MPI 5": b"[prterun-gpu-01.local-4711@1,%d]<stdout>: ",
    "mpirun of Open MPI 5 with processes": b"[1,%d][gpu-01:4712]<stdout>: ",
    "torchrun": b"[default%d]:",
    "torchrun of ranks": b"[rank%d]: ",
    "TorchX": b"[trainer5|%d]:",
    "horovodrun": b"[%d]<stdout>:",
    "SageMaker": b"[1,mpirank:%d,algo-2]<stdout>:",
    "srun --label": b"%d: ",
    "srun --label of a hundred": b" %d: ",
    "Intel MPI": b"[%d] ",
    "docker compose": b"worker-%d  | ",
    "SageMaker's local mode": b"algo-%d-1kcnw  | ",
    "SageMaker's local mode, other versions": b"a3ku9xqv1y-algo-%d-1kcnw_1 | ",
    "pods": b"[pod/train-%d/main] ",
    "Ray": b"(RayTrainWorker pid=77, ip=10.0.0.%d) ",
    "SkyPilot": b"\x1b[36m(worker1, rank=%d, pid=77, ip=10.0.0.9)\x1b[0m ",
    "SkyPilot of 2022": b"(node-2, worker1, rank=%d, pid=77, ip=10.0.0.9) ",
    "SkyPilot of before": b"(train-it rank=%d pid=77, ip=10.0.0.9) ",
    "NeMo-Run": b"pretraining/0 [default%d]:",
    "Determined AI": b"[2026-11-20T10:00:00.123456Z] 5c90a731 [rank=%d] || ",
    "Vertex AI": b"INFO\t2026-11-20 10:00:00 -0500\tworkerpool%d-0\t",
    "docker service": b"train_job.%d.k3xq9v0a1b2c@gpu-1    | ",
    "aws logs tail": b"2026-11-20T10:00:00.123000+00:00 resnet-2026-11/algo-%d-1795000000 ",
    "pdsh": b"node%d: ",
    "pdsh by address": b"10.0.0.%d: ",
}


@pytest.mark.parametrize("kind", TAGS)
def test_rank_tags_are_removed(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "train.log"
    lines = [TAGS[kind] % rank + RECORD % (10 * i, i + 1) for i in range(6) for rank in (0, 3, 11)]
    path.write_bytes(b"\n".join(lines) + b"\n")
    assert text_of(path, 64) == b"".join(RECORD % (10 * i, i + 1) + b"\n" for i in range(6) for _ in range(3))
    (session,) = read(path).sessions
    assert session.main.ranks().tolist() == [0, 3, 11] * 6
    assert session.main.lines([0, 17]) == [1, 18]


STAMPS = {
    "a container's log": b"2026-11-20T01:02:03.123456789Z ",
    "a node's log of a container": b"2026-11-20T01:02:03.123456789+01:00 stdout F ",
    "a pipeline": b"[2026-11-20T01:02:03.123Z] ",
    "GitLab": b"2026-11-20T01:02:03.123456Z 01O ",
    "GitLab, as the line goes on": b"2026-11-20T01:02:03.123456Z 0aE+",
    "SkyPilot on one node": b"(resnet-50.v1, pid=12345) ",
    "SkyPilot's head": b"(head, rank=0, pid=12345) ",
    "Ray's workers without a name": b"(pid=12345) ",
    "Jenkins": b"01:02:03  ",
    "what another program printed": b"[stderr] ",
    "ts": b"Nov 20 01:02:03 ",
    "the journal": b"Nov 20 01:02:03 node-1 python3[1234]: ",
    "the journal, precisely": b"Nov 20 01:02:03.123456 node-1 python3[1234]: ",
    "the journal with whole dates": b"Fri 2026-11-20 01:02:03 CET node-1 python3[1234]: ",
    "the journal with dates of ISO": b"2026-11-20T01:02:03+0100 node-1 python3[1234]: ",
    "syslog": b"2026-11-20T01:02:03.123456+01:00 node-1 trainer[1234]: ",
    "GitHub": b"2026-11-20T01:02:03.1234567Z ",
    "GitHub's command line": b"train\tRun the training\t2026-11-20T01:02:03.1234567Z ",
    "Determined AI of one process": b"[2026-11-20T01:02:03.123456Z] 5c90a731 || ",
    "Vertex AI's columns": b"ERROR     2026-11-20 01:02:03 +0100  workerpool0-0     ",
    "Airflow": b"[2026-11-20T01:02:03.123+0000] {subprocess.py:93} INFO - ",
    "Airflow before 2022": b"[2026-11-20 01:02:03,123] {bash_operator.py:157} INFO - ",
}


@pytest.mark.parametrize("kind", STAMPS)
@pytest.mark.parametrize("inner", [b"", b"[rank3]: ", b"[1,3]<stdout>:"])
def test_a_label_before_every_line_is_removed(tmp_path: Path, kind: str, inner: bytes) -> None:
    path = tmp_path / "train.log"
    lines = [STAMPS[kind] + inner + each for each in (b"epoch 1 loss: 2.5", b"", b"name : r50", b"GPU 0: V100")]
    path.write_bytes(b"\r\n".join(lines) + b"\r\n")
    (chunk,) = chunks(path, Noise())
    assert chunk.text == b"epoch 1 loss: 2.5\n\nname : r50\nGPU 0: V100\n"
    assert {rank for _, rank in chunk.tags} == ({3} if inner else {0})


def test_unlabelled_lines_between_labelled_ones_stay(tmp_path: Path) -> None:
    path = tmp_path / "slurm-1.out"
    own, labelled = b"Loading modules\n" * 3, b"2: loss: 2.5\n" * 9
    path.write_bytes(own + labelled)
    assert text_of(path, 1 << 20) == own + b"loss: 2.5\n" * 9


@pytest.mark.parametrize(
    "text",
    [
        b"10: loss 2.5\n" * 4 + b"Saving the model\n" * 6,
        # Lines at a quarter, a half and three quarters have a number, but most lines do not.
        (b"Saving model\n" * 10 + b"10: loss 2.5\n" * 8) * 3 + b"Saving model\n" * 10,
        b"epoch: 1, step: 10\n" * 9,
        b"Transformer | epoch 0 | step 20 |\n" * 9,
        b"INFO: loss 2.5\n" * 9,
        b"2026-11-20 01:02:03 loss 2.5\n" * 9,
        b"10:20:30 loss 2.5\n" * 9,
        b"".join(b"%02d:00:00 loss 2.5\n" % hour for hour in range(24)),
        b"".join(b"%d:loss 2.5\n" % step for step in (10, 20, 30)),
        b"".join(b"%d\t2.5\n" % step for step in [*range(10)] * 2),
        b"| 20 | 640 | 10240 |\n" * 9,
        # Not all lines have the indent of the first one.
        b"    loss: 2.5\n  epoch: 1\n" * 9,
        b"  loss: 2.5\n" * 9 + b"done\n",
        b"[0][loss]:0.5\n" * 9,
        b"1234567: loss\n" * 9,
        b"[1,algo-1]<stdout>:loss\n" * 9,
        b"algo-1-sort | 20 |\n" * 9,
        b"(loss, rank=0) 2.5\n" * 9,
        b"loss (head, rank=0, pid=7) 2.5\n" * 9,
        b"[2026-11-20 01:02:03] iteration 20/ 100 | loss 2.5\n" * 9,
        b"[2026-11-20 01:02:03] Epoch 1:  50%|##  | 5/10 [00:05<00:05,  1.00it/s]\n" * 9,
        b"2026-11-20 01:02:03.123 | INFO     | mod:fn:12 - loss 2.5\n" * 9,
        # A bar of the printer's own: other lines have no date.
        b"[2026-11-20 01:02:03]  50%|##  | 5/10\n" * 4 + b"loss 2.5\n" * 6,
    ],
)
def test_a_prefix_of_the_printer_itself_stays(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(text)
    assert text_of(path, 1 << 20) == text


@pytest.mark.parametrize("tag", [b"%d: ", b"[rank%d]: "])
def test_a_label_after_a_redrawn_bar_is_removed(tmp_path: Path, tag: bytes) -> None:
    """Some lines begin with a bar of another program. A second label on a line stays."""
    path = tmp_path / "train.log"
    lines = [tag % rank + RECORD % (10 * i, i + 1) for i in range(6) for rank in (0, 3, 11)]
    lines[7] = b" 10%|#   | 1/9\r 20%|##  | 2/9\r" + lines[7]
    lines[8] += b"\r" + tag % 5 + b"left"
    path.write_bytes(b"\n".join(lines) + b"\n")
    cleaned = text_of(path, 1 << 20).split(b"\n")
    assert cleaned[7] == b" 10%|#   | 1/9\r 20%|##  | 2/9\r" + RECORD % (20, 3)
    assert cleaned[8] == RECORD % (20, 3) + b"\r" + tag % 5 + b"left"
    (session,) = read(path).sessions
    assert session.main.ranks().tolist() == [0, 3, 11] * 6


def test_a_label_after_every_carriage_return_is_removed(tmp_path: Path) -> None:
    """SkyPilot adds a label after each carriage return."""
    path = tmp_path / "train.log"
    label = b"(worker1, rank=1, pid=77, ip=10.0.0.9) "
    parts = (b"loss 2.5\n", b"\r", b"  0%|    | 0/9\r", b" 11%|#   | 1/9\r", b"done (x, pid=7) \n", b"end\n")
    path.write_bytes(b"".join(label + each for each in parts))
    assert text_of(path, 1 << 20) == b"".join(parts)


def test_lines_of_gitlab_keep_their_blanks(tmp_path: Path) -> None:
    """The number of the stream is followed by a blank, or by a `+` without a blank."""
    path = tmp_path / "train.log"
    begins, goes_on = (b"2026-11-20T01:02:03.123456Z 01O" + each for each in (b" ", b"+"))
    path.write_bytes(begins + b"  name: r50\n" + goes_on + b" of 90\n" + goes_on + b"epochs\n" + begins + b"\n")
    assert text_of(path, 1 << 20) == b"  name: r50\n of 90\nepochs\n\n"


BAR = " {:3}%|█   | {}/300 [{:02}:{:02}<09:00,  {:.2f}s/it]\n"


def bar_of_trainer(*labels: bytes) -> bytes:
    """Return a log of the Hugging Face Trainer on hosts with these labels, in turns; step n takes n seconds."""
    lines = [b"***** Running training *****\n", b"  Total optimization steps = 300\n"]
    lines += [BAR.format(n // 3, n, *divmod(n * (n + 1) // 2, 60), n).encode() for n in range(1, 31)]
    return b"".join(
        label + each for each in [*lines, b"{'loss': 2.5, 'learning_rate': 5e-05, 'epoch': 0.1}\n"] for label in labels
    )


HOSTS = {
    "SageMaker": (b"[1,mpirank:0,algo-1]<stderr>:", b"[1,mpirank:8,algo-2]<stderr>:"),
    "SageMaker's local mode": (b"algo-1-abcde  | ", b"algo-2-fghij  | "),
    "SageMaker's local mode, other versions": (b"algo-1-abcde_1  | ", b"algo-2-fghij_1  | "),
    "SkyPilot": (b"(head, rank=0, pid=17894) ", b"(worker1, rank=1, pid=15406, ip=10.164.0.57) "),
    "Ray": (b"(RayTrainWorker pid=17894) ", b"(RayTrainWorker pid=15406, ip=10.164.0.2) "),
}


@pytest.mark.parametrize("kind", HOSTS)
def test_hosts_that_draw_the_same_bar_are_one_run(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(bar_of_trainer(*HOSTS[kind]))
    (session,) = read(path).sessions
    assert session.main["step"].tolist() == [float(n) for n in range(1, 31) for _ in HOSTS[kind]]
    assert session.main["clock"].tolist() == [n * (n + 1) / 2 for n in session.main["step"]]
    assert len(set(session.main.ranks()[::2].tolist())) == len(set(session.main.ranks()[1::2].tolist())) == 1
    assert len(set(session.main.ranks().tolist())) == 2
    assert session.main.lines([0, 1, 59]) == [5, 6, 64]


DATES = {
    "ts of seconds": b"[2026-11-20 01:02:03] ",
    "ts of milliseconds": b"2026-11-20T01:02:03.123 ",
    "loguru": b"2026-11-20 01:02:03.123 | INFO     | __main__:<module>:12 - ",
}


@pytest.mark.parametrize("kind", DATES)
def test_a_date_is_removed_only_from_bars(tmp_path: Path, kind: str) -> None:
    """On other lines the date may be the clock of their records."""
    path = tmp_path / "train.log"
    path.write_bytes(bar_of_trainer(DATES[kind]))
    log = path.read_bytes().splitlines(keepends=True)
    assert text_of(path, 1 << 20) == b"".join(each.replace(DATES[kind], b"") if b"%|" in each else each for each in log)
    (session,) = read(path).sessions
    assert session.main["step"].tolist() == [float(n) for n in range(1, 31)]
    assert session.main["clock"].tolist() == [n * (n + 1) / 2 for n in session.main["step"]]
    assert session.main.lines([0, 29]) == [3, 32]


def test_the_clock_of_dated_records_between_bars_stays(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    record = b"2026-11-20 11:50:%02d [INFO]\t" + RECORD.partition(b"\t")[2] + b"\n"
    bar = b"2026-11-20 11:50:%02d  50%%|##  | 5/10 [00:05<00:05,  1.00it/s]\n"
    path.write_bytes(b"".join(record % (n, 10 * n, n + 1) + bar % n for n in range(20)))
    (session,) = read(path).sessions
    assert (session.main.stamps() - session.main.stamps()[0]).tolist() == [float(n) for n in range(20)]


def test_a_date_is_removed_from_the_bar_of_torchtune(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    bar = "1|{0}|Loss: 1.25e-05:  {0:2}%|█   | {0}/99 [00:{0:02}<01:00,  1.00s/it]\n"
    path.write_bytes(b"".join(b"[2026-11-20 01:02:03] " + bar.format(n).encode() for n in range(1, 9)))
    assert text_of(path, 1 << 20) == "".join(bar.format(n) for n in range(1, 9)).encode()


def test_two_ranks_on_one_line_are_separated(tmp_path: Path) -> None:
    """A missing newline puts the next rank's tag inside a line."""
    path = tmp_path / "train.log"
    path.write_bytes(
        b"[1,0]<stderr>:16-bits training: False[1,4]<stderr>:" + SPEED[14:] % (1, 100) + b"[1,5]<stderr>:"
        + SPEED[14:] % (1, 200) + b"\nno tag " + SPEED[14:] % (2, 300) + b"\n"
    )  # fmt: skip
    (session,) = read(path).sessions
    assert session.main["throughput"].tolist() == [100.5, 200.5, 300.5]
    assert session.main.ranks().tolist()[:2] == [4, 5]
    assert session.main.lines([0, 1, 2]) == [1, 1, 2]


@pytest.mark.parametrize(
    ("printed", "left"),
    [
        (b"\x1b[1;31mred\x1b[0m", b"red"),
        (b"\x1b[2K\x1b[1Gline", b"line"),
        (b"\x1b[?25lhidden", b"hidden"),
        (b"\x1b]0;title\x07text", b"text"),
        (b"abc\x08\x08\x08xyz", b"xyz"),
        (b"\x08\x08x", b"x"),
        # Characters that are not overwritten stay, like the end of a bar that goes back to its middle.
        (b"[====] 9ms\x08\x08\x08\x08\x08\x08\x0849", b"[==49] 9ms"),
        (b"two\nlines\x08\x08\x08\x08\x08\x08\x08p\n", b"two\npines\n"),
        (b"1/9\x08\x08\x08\r9/9", b"1/9\r9/9"),
        (b"a\x00b", b"ab"),
        (b"[INFO] [1,2] <stdout>: stays", b"[INFO] [1,2] <stdout>: stays"),
        (b"plain \xe4\xbd\xa0 text", b"plain \xe4\xbd\xa0 text"),
        (b"\x1b alone", b"\x1b alone"),
    ],
)
def test_styles_and_backspaces_are_removed(tmp_path: Path, printed: bytes, left: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(printed + b"\n" + printed)
    assert text_of(path, 1 << 20) == left + b"\n" + left


def test_nul_bytes_are_counted(tmp_path: Path) -> None:
    path, noise = tmp_path / "x", Noise()
    path.write_bytes(b"a\x00b\x00\n" + b"text\n" * 100)
    list(chunks(path, noise))
    assert (noise.nul_bytes, noise.binary) == (2, False)
    path.write_bytes(bytes(range(256)) * 100)
    list(chunks(path, noise))
    assert noise.binary


def test_too_long_line_is_cut_and_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "LONGEST_LINE", 1000)
    path, noise = tmp_path / "x", Noise()
    path.write_bytes(b"one\n" + b"x" * 5000 + b"\nthree\n")
    found = list(chunks(path, noise, 100))
    assert set(noise.cut_lines) == {2}
    assert b"".join(each.text for each in found) == path.read_bytes()
    assert max(len(each.text) for each in found) <= 1100
    assert found[-1].first_line + found[-1].text.count(b"\n") - 1 == 3


def test_longest_line_is_not_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "LONGEST_LINE", 1000)
    path, noise = tmp_path / "x", Noise()
    path.write_bytes(b"x" * 900 + b"\n" + b"y" * 900)
    assert text_of(path, 100) == path.read_bytes()
    list(chunks(path, noise, 100))
    assert noise.cut_lines == []


@pytest.mark.parametrize(("make", "code"), [("missing", "unreadable"), ("folder", "not_a_file"), ("empty", "empty")])
def test_unreadable_paths_have_a_code(tmp_path: Path, make: str, code: str) -> None:
    path = tmp_path / "x"
    if make == "folder":
        path.mkdir()
    if make == "empty":
        path.touch()
    with pytest.raises(ScanError) as caught:
        read(path)
    assert caught.value.code == code


def test_records_have_only_the_columns_of_their_reading(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(noisy(3))
    records = read(path).sessions[0].main
    assert "throughput" in records
    assert "clock" not in records


@pytest.mark.parametrize("front", ["{rank}: {stamp}", "{stamp}{rank}: "])
def test_labels_of_ranks_next_to_a_stamp_are_read(front: str, tmp_path: Path) -> None:
    text = "".join(front.format(rank=n % 2, stamp="Nov 20 01:02:03 ") + f"word {n}\n" for n in range(12))
    path = tmp_path / "train.log"
    path.write_text(text)
    (chunk,) = chunks(path, Noise())
    assert chunk.text.decode() == "".join(f"word {n}\n" for n in range(12))
    places = [chunk.text.index(b"word %d" % n) for n in range(12)]
    assert chunk.ranks(places) == [0, 1] * 6
