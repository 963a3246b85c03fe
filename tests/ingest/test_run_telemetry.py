"""Telemetry of runs: the run that it belongs to, its figures, messages about ambiguity, and when it is read again."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from made_logs import run_json, seg
from made_trees import Called, unpacked

from perfledger.ingest.record import telemetry
from tests.site.tabled import rows_in

Ingest = Callable[..., Called]
START = dt.datetime(2026, 3, 1, 10, 0, 0)
#: Keys of every run with telemetry.
FIGURES = {
    "memory_peak_mib", "memory_mean_mib", "memory_total_mib", "utilisation_mean", "memory_utilisation_mean",
    "power_mean_w", "power_peak_w", "power_limit_w", "energy_j", "temperature_peak_c", "temperature_mean_c",
    "memory_temperature_peak_c", "sm_clock_mean_mhz", "graphics_clock_mean_mhz", "memory_clock_mean_mhz",
}  # fmt: skip

HEADER = "timestamp, index, utilization.gpu [%], memory.used [MiB], power.draw [W], temperature.gpu"
#: (second, device, utilisation, memory, power, temperature).
ROWS = [
    (0, 0, 80, 1000, 100.0, 50), (0, 1, 60, 2000, 200.0, 40),
    (2, 0, 90, 1200, 300.0, 55), (2, 1, 70, 2400, 200.0, 45),
    (4, 0, 100, 1100, 200.0, 60), (4, 1, 50, 2200, 100.0, 41),
]  # fmt: skip
#: Device 0: mean memory 1100, use 90, power 200, energy 2*200 + 2*250 J; device 1: 2200, 60, 500/3, 2*200 + 2*150 J.
EXPECTED = {
    "memory_peak_mib": 2400, "memory_mean_mib": 1650, "utilisation_mean": 75, "power_mean_w": (200 + 500 / 3) / 2,
    "power_peak_w": 300, "energy_j": 900 + 700, "temperature_peak_c": 60, "temperature_mean_c": (55 + 42) / 2,
}  # fmt: skip


def csv(rows: Iterable[Sequence[Any]] = ROWS, *, start: dt.datetime = START) -> str:
    lines = [
        f"{start + dt.timedelta(seconds=s):%Y/%m/%d %H:%M:%S}.000, {device}, {use} %, {mib} MiB, {watts:.2f} W, {heat}"
        for s, device, use, mib, watts, heat in rows
    ]
    return "\n".join([HEADER, *lines, ""])


def steady(seconds: int, *, start: dt.datetime = START, memory: int = 5000) -> str:
    return csv([(s, 0, 90, memory + s, 100.0, 50) for s in range(seconds)], start=start)


def log_of(folder: Path, name: str = "train.log", *, devices: int = 2, run: bool = True, **more: Any) -> Path:
    """Write a PaddleSeg log, which has no clock, and a run.json, and return the path of the log."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text("\n".join([*seg([8.0] * 6), f"log {folder.name}/{name}", ""]))
    if run:
        (folder / "run.json").write_text(json.dumps(run_json(devices=devices, **more)))
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "logs"


def test_figures_equal_those_computed_by_hand_and_are_on_the_page(root: Path, ingest: Ingest) -> None:
    log = log_of(root / "a/b/c/1")
    log.with_name("telemetry.csv").write_text(csv())
    called = ingest(root, "--json", "--out", root.parent / "docs")
    (line,) = called.lines
    found = line["telemetry"]
    assert (called.code, called.problems) == (0, [])
    assert {key: found[key] for key in EXPECTED} == pytest.approx(EXPECTED)
    assert {key for key in FIGURES if found[key] is not None} == set(EXPECTED)
    assert (found["samples"], found["devices"], found["seconds"]) == (6, 2, 4)
    assert (found["first"], found["last"]) == ("2026-03-01T10:00:00.000", "2026-03-01T10:00:04.000")
    assert found["files"][0]["path"] == "logs/a/b/c/1/telemetry.csv"
    assert line["metrics"]["memory"] == {"unit": "MiB", "value": 2400.0, "source": "telemetry"}
    for language, peak, sampled in (
        ("en", "Peak memory (MiB)", "Devices sampled: 2."),
        ("zh", "显存峰值（MiB）", "共采样 2 个设备。"),
    ):
        (page,) = [each.read_text("utf-8") for each in (root.parent / "docs" / language / "runs").glob("a-b-c-1*.md")]
        assert any(row.startswith(f"|{peak}|2,400|") for row in rows_in(page)), rows_in(page)
        assert sampled in page
        assert "logs/a/b/c/1/telemetry.csv" in page


@pytest.mark.parametrize("name", ["telemetry.csv", "gpu.csv", "nvidia-smi.log", "smi.txt", "monitor", "x.dat"])
def test_telemetry_is_recognised_by_its_content(name: str, root: Path, ingest: Ingest) -> None:
    log = log_of(root / "a/b/c/1")
    log.with_name(name).write_text(csv())
    called = ingest(root, "--json")
    (line,) = called.lines
    assert called.problems == []
    assert line["telemetry"]["memory_peak_mib"] == 2400


@pytest.mark.parametrize(("name", "content"), [("gpu.csv", "epoch,loss\n1,2.5\n"), ("losses.csv", "0, 98, 4000\n" * 9)])
def test_other_tables_are_ignored(name: str, content: str, root: Path, ingest: Ingest) -> None:
    log = log_of(root / "a/b/c/1")
    log.with_name(name).write_text(content)
    called = ingest(root, "--json")
    assert (called.problems, called.lines[0]["telemetry"]) == ([], None)


@pytest.mark.parametrize("content", [b"epoch,loss\n1,2.5\n", b"\0\1\2" * 500, b"", HEADER.encode() + b"\n"])
def test_a_telemetry_csv_with_other_content_is_a_problem(content: bytes, root: Path, ingest: Ingest) -> None:
    log = log_of(root / "a/b/c/1")
    log.with_name("telemetry.csv").write_bytes(content)
    called = ingest(root, "--json")
    assert called.code == 1
    assert called.codes == {"logs/a/b/c/1/telemetry.csv": "telemetry_unknown"}
    assert called.lines[0]["telemetry"] is None
    assert called.lines[0]["published"]


def test_faults_are_reported_with_their_line(root: Path, ingest: Ingest) -> None:
    log = log_of(root / "a/b/c/1")
    rows = csv().replace("2400 MiB", "-2400 MiB").replace("300.00 W", "nan")
    log.with_name("gpu.csv").write_text(rows)
    called = ingest(root, "--json")
    (problem,) = called.problems
    assert problem.startswith("logs/a/b/c/1/gpu.csv:4: has 2 values or lines that are not samples")
    found = called.lines[0]["telemetry"]
    assert (found["memory_peak_mib"], found["power_peak_w"]) == (2200, 200)


def test_telemetry_belongs_to_the_log_with_the_same_stem(root: Path, ingest: Ingest) -> None:
    for at, name in enumerate(("one", "two"), 1):
        log_of(root / "f", f"{name}.log", run=False)
        (root / "f" / f"{name}.csv").write_text(steady(4, memory=1000 * at))
    lines = ingest(root, "--json").lines
    assert [each["telemetry"]["memory_peak_mib"] for each in lines] == [1003, 2003]


def test_mem_belongs_to_the_log_of_its_name(root: Path, ingest: Ingest) -> None:
    for name in ("n1g1", "n1g8"):
        log_of(root / "log", f"{name}.log", run=False)
    (root / "log/n1g8.mem").write_text(f"max device0 memory usage is: {(8063 << 20) + 1048575}\n")
    called = ingest(root, "--json")
    first, second = called.lines
    assert first["telemetry"] is None
    found = second["telemetry"]
    assert (found["memory_peak_mib"], found["memory_mean_mib"], found["samples"]) == (8063, None, None)
    assert (found["devices"], found["seconds"], found["energy_j"]) == (1, None, None)
    assert not [each for each in called.problems if ".mem" in each]


def test_devices_that_the_run_did_not_use_are_a_problem(root: Path, ingest: Ingest) -> None:
    log = log_of(root / "a/b/c/1", devices=1)
    log.with_name("telemetry.csv").write_text(csv())
    called = ingest(root, "--json")
    assert called.lines[0]["telemetry"] is None
    assert [*called.codes.values()] == ["telemetry_devices"]
    assert "memory" not in called.lines[0]["metrics"]


def test_one_file_per_machine(root: Path, ingest: Ingest) -> None:
    log = log_of(root / "a/b/c/1", devices=4, nodes=2)
    log.with_name("telemetry.csv").write_text(csv())
    (log.parent / "node1").mkdir()
    (log.parent / "node1/telemetry.csv").write_text(csv([(s, d, u, m + 1, w, t) for s, d, u, m, w, t in ROWS]))
    called = ingest(root, "--json")
    found = called.lines[0]["telemetry"]
    assert called.problems == []
    assert (found["devices"], found["samples"], found["memory_peak_mib"]) == (4, 12, 2401)
    assert (found["energy_j"], found["memory_mean_mib"]) == (2 * 1600, 1650.5)


def test_two_files_of_one_machine_are_a_problem(root: Path, ingest: Ingest) -> None:
    log = log_of(root / "a/b/c/1", devices=2)
    dmon = "# gpu   pwr    sm\n# Idx     W     %\n    0   100    90\n    1   120    80\n"
    for name in ("dmon1.txt", "dmon2.txt"):
        log.with_name(name).write_text(dmon)
    called = ingest(root, "--json")
    assert called.lines[0]["telemetry"] is None
    assert called.codes == {"logs/a/b/c/1/dmon2.txt": "telemetry_parts"}


@pytest.mark.parametrize(
    "seconds", [(*range(10), *range(500, 510)), (0, 1, 2, 1, 2), (0,)], ids=["gap", "clock set back", "one sample"]
)
def test_no_energy_without_a_usable_clock(seconds: Sequence[int], root: Path, ingest: Ingest) -> None:
    log = log_of(root / "a/b/c/1", devices=1)
    log.with_name("gpu.csv").write_text(csv([(s, 0, 1, 1, 100.0, 1) for s in seconds]))
    found = ingest(root, "--json").lines[0]["telemetry"]
    assert (found["energy_j"], found["power_mean_w"]) == (None, 100)


def test_telemetry_is_read_again_only_if_it_changes(
    root: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, read = (root.parent / name for name in ("looked", "read"))
    for module, name, notes in ((telemetry, "claimant", looked), (telemetry, "read_telemetry", read)):
        real = getattr(module, name)
        notes.touch()

        def noted(path: Path, *more: Any, real: Any = real, notes: Path = notes) -> Any:
            with notes.open("a") as stream:  # several processes write
                stream.write(f"{path.name}\n")
            return real(path, *more)

        monkeypatch.setattr(module, name, noted)
    out = root.parent / "docs"
    for repeat in ("1", "2"):
        log_of(root / "a/b/c" / repeat, repeat=int(repeat))
    samples = root / "a/b/c/1/telemetry.csv"
    samples.write_text(csv())
    shard = out / "data/runs/a-b-c.jsonl"

    def noted_since(notes: Path) -> list[str]:
        found = sorted(notes.read_text().split())
        notes.write_text("")
        return found

    def peaks() -> list[float | None]:
        lines = [json.loads(each) for each in shard.read_text().splitlines()]
        return [(each["telemetry"] or {}).get("memory_peak_mib") for each in lines]

    assert ingest(root, "--out", out).code == 0
    assert (noted_since(looked), noted_since(read), peaks()) == (
        ["telemetry.csv", "train.log", "train.log"],
        ["telemetry.csv"],
        [2400, None],
    )
    assert "0 logs read" in ingest(root, "--out", out).out
    assert (noted_since(looked), noted_since(read)) == ([], [])
    samples.write_text(csv().replace("2400 MiB", "2500 MiB"))
    assert "2 logs read" in ingest(root, "--out", out).out
    assert (noted_since(looked), peaks()) == (["telemetry.csv", "train.log", "train.log"], [2500, None])
    (root / "a/b/c/2/gpu.csv").write_text(csv())
    ingest(root, "--out", out)
    assert peaks() == [2500, 2400]
    samples.unlink()
    assert ingest("check", root, "--out", out).code == 2
    ingest(root, "--out", out)
    assert peaks() == [None, 2400]


def test_names_of_hosts_and_serial_numbers_are_not_published(root: Path, ingest: Ingest) -> None:
    log = log_of(root / "a/b/c/1", devices=1)
    secret = "GPU-5d3c11f0-made-up"
    log.with_name("gpu.csv").write_text(f"uuid, memory.used [MiB]\n{secret}, 5 MiB\n")
    called = ingest(root, "--json", "--out", root.parent / "docs")
    assert called.lines[0]["telemetry"]["memory_peak_mib"] == 5
    assert secret not in called.out
    published = unpacked(root.parent / "docs")
    assert published
    assert [name for name, data in published.items() if secret.encode() in data] == []


#: File name, content, and the line in the message.
UNREAD = {
    "headerless": ("samples.csv", "2026/11/20 11:50:00.000, 0, 98 %, 4000 MiB\n" * 9, 1),
    "one column": ("a.csv", "\n4000 MiB\n, \n" + "4000 MiB, \n" * 9, 4),
    "dcgmi": ("dcgm.txt", "#Entity   GPUTL  MCUTL\nID\n" + "GPU 0     98     41\nGPU 1     97     40\n" * 9, 1),
}


@pytest.mark.parametrize(("name", "text", "line"), UNREAD.values(), ids=UNREAD)
def test_samples_that_no_format_reads_are_named_with_their_line(
    root: Path, ingest: Ingest, name: str, text: str, line: int
) -> None:
    (log_of(root / "a/b/c/1").parent / "run.json").unlink()
    (root / "a/b/c/1" / name).write_text(text)
    (problem,) = (each for each in ingest(root, "--json").problems if name in each)
    assert problem.startswith(f"logs/a/b/c/1/{name}:{line}: is or is named like telemetry"), problem
