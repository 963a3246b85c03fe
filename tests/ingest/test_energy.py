"""Energy per sample: mean power of all devices divided by throughput, computed by hand, or the reason without it."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_logs import run_json
from made_trees import Called

Ingest = Callable[..., Called]
START = dt.datetime(2026, 11, 20, 11, 50)
#: A record every 5 s has 10 steps with 4 samples, so 8 samples/s. Two are warm-up, so that 10 s to 55 s count.
RECORDS, EVERY = 11, 5.0


def write(folder: Path, samples: list[tuple[float, int, float]], *, devices: int = 2, records: int = RECORDS) -> Path:
    """Write a PaddleSeg log of one device's speed, 8 samples/s, and power samples (second, device, watts)."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        f"{START + dt.timedelta(seconds=EVERY * (each + 1)):%Y-%m-%d %H:%M:%S} [INFO]\t[TRAIN] epoch: 1, "
        f"iter: {10 * (each + 1)}/{10 * records}, loss: 2.0594, lr: 0.010000, batch_cost: 0.500000, "
        "reader_cost: 0.00247, ips: 8.0000 samples/sec | ETA 00:00:00"
        for each in range(records)
    ]
    (folder / "train.log").write_text("\n".join([*lines, ""]), "utf-8")
    (folder / "run.json").write_text(json.dumps(run_json(devices=devices)), "utf-8")
    rows = [
        f"{START + dt.timedelta(seconds=second):%Y/%m/%d %H:%M:%S}.000, {device}, "
        f"{'[N/A]' if math.isnan(watts) else f'{watts:.2f} W'}"
        for second, device, watts in samples
    ]
    (folder / "telemetry.csv").write_text("\n".join(["timestamp, index, power.draw [W]", *rows, ""]), "utf-8")
    return folder


def watts(second: float) -> float:
    """Return the power of a device; it is high during the warm-up and after the last record, which must not count."""
    return 200.0 if 10 <= second <= 55 else 900.0


def samples(every: int = 1, devices: int = 2, until: int = 70) -> list[tuple[float, int, float]]:
    return [(s, each, watts(s) + 100 * each) for s in range(0, until, every) for each in range(devices)]


def metrics(called: Called) -> dict[str, Any]:
    (line,) = called.lines
    found: dict[str, Any] = line["metrics"]
    return found


def test_energy_covers_the_records_of_the_window(tmp_path: Path, ingest: Ingest) -> None:
    """Two devices need 200 W and 300 W and train 8 samples/s each: 500 W / 16 samples/s."""
    root = write(tmp_path / "logs/a/b/c/1", samples()).parents[3]
    called = ingest(root, "--json", "--out", tmp_path / "docs")
    found = metrics(called)
    assert found["energy_per_sample"]["value"] == pytest.approx(31.25)
    assert found["samples_per_joule"]["value"] == pytest.approx(0.032)
    assert found["energy_per_sample"]["source"] == "telemetry"
    measured = called.lines[0]["telemetry"]["measured"]
    assert (measured["samples"], measured["seconds"]) == (92, 45)
    assert measured["energy_j"] == 500 * 45
    assert measured["first"] == "2026-11-20T11:50:10.000"
    (result,) = json.loads((tmp_path / "docs/data/results.json").read_text("utf-8"))["results"]
    assert result["metrics"]["energy_per_sample"]["sources"] == ["telemetry"]
    table = (tmp_path / "docs/data/results.csv").read_text("utf-8").splitlines()
    row = dict(zip(table[0].split(","), table[1].split(","), strict=True))
    assert (row["energy_per_sample_J"], row["samples_per_joule"]) == ("31.25", "0.032")
    for language, name, column in (
        ("en", "Energy per sample", "While records that count"),
        ("zh", "每样本能耗", "计入的记录期间"),
    ):
        (page,) = (tmp_path / "docs" / language / "runs").glob("a-b-c-1*.md")
        assert {name, column} <= {each for each in (name, column) if each in page.read_text("utf-8")}
        assert any(name in each.read_text("utf-8") for each in (tmp_path / "docs" / language / "models").rglob("*.md"))


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (samples(devices=1), "energy_devices"),
        ([each for each in samples() if each[0] in (10, 20, 42, 55)], "energy_few"),
        ([each for each in samples() if not 20 < each[0] < 40], "energy_few"),
        (samples(until=40), "energy_clock"),
        ([(s + 3600, device, power) for s, device, power in samples()], "energy_clock"),
        ([(s, device, power if s < 40 or device else math.nan) for s, device, power in samples()], "energy_few"),
    ],
)
def test_insufficient_samples_of_power_give_no_energy(
    tmp_path: Path, ingest: Ingest, given: list[tuple[float, int, float]], reason: str
) -> None:
    root = write(tmp_path / "logs/a/b/c/1", given).parents[3]
    called = ingest(root, "--json")
    found = metrics(called)["energy_per_sample"]
    assert (found["value"], found["reason"]["code"]) == (None, reason)
    if any(math.isnan(power) for _, _, power in given):
        assert called.lines[0]["telemetry"]["energy_j"] is None


def test_energy_per_token_covers_the_seconds_of_the_window(tmp_path: Path, ingest: Ingest) -> None:
    """Times have whole seconds. In the window the power is 300 W at 1,000 tokens/s, and outside it is 900 W."""
    folder = tmp_path / "logs/a/b/c/1"
    folder.mkdir(parents=True)
    ends = [START + dt.timedelta(milliseconds=500 + 800 * each) for each in range(12)]
    head = (
        "root - INFO - Trainer is initialized with local batch size 1, global batch size 1, gradient accumulation "
        "steps 1, sequence length 800, total steps 12 (warmup 2)"
    )
    lines = [
        f"[titan] {START:%Y-%m-%d %H:%M:%S},000 - {head}",
        *(
            f"[titan] {end:%Y-%m-%d %H:%M:%S},{end.microsecond // 1000:03} - root - INFO - step: {number:2}  loss: "
            f"10.02091  grad_norm:  1.0938  memory:  1.50GiB(1.87%)  tps: 1,000  tflops: 10.00  mfu: 1.01%"
            for number, end in enumerate(ends, start=1)
        ),
        f"[titan] {ends[-1] + dt.timedelta(seconds=2):%Y-%m-%d %H:%M:%S},000 - root - INFO - Training completed",
        "",
    ]
    (folder / "train.log").write_text("\n".join(lines), "utf-8")
    stated = run_json(devices=1, batch_size=1, format="frameworks.torchtitan")
    (folder / "run.json").write_text(json.dumps(stated), "utf-8")
    # Two of the twelve records are warm-up, so 1.3 s to 9.3 s count, with samples at 2 s to 9 s.
    rows = [
        f"{START + dt.timedelta(seconds=s):%Y/%m/%d %H:%M:%S}.000, 0, {300 if 2 <= s <= 9 else 900}.00 W"
        for s in range(14)
    ]
    (folder / "telemetry.csv").write_text("\n".join(["timestamp, index, power.draw [W]", *rows, ""]), "utf-8")
    called = ingest(tmp_path / "logs", "--json", "--out", tmp_path / "docs")
    found = metrics(called)
    assert called.lines[0]["measured_clock"] == ["2026-11-20T11:50:01.300", "2026-11-20T11:50:09.300"]
    assert found["energy_per_token"]["value"] == pytest.approx(0.3)
    assert found["tokens_per_joule"]["value"] == pytest.approx(1000 / 300)
    assert "energy_per_sample" not in found
    table = (tmp_path / "docs/data/results.csv").read_text("utf-8").splitlines()
    row = dict(zip(table[0].split(","), table[1].split(","), strict=True))
    assert (row["energy_per_token_J"], row["energy_per_sample_J"]) == ("0.3", "")


def test_a_run_without_power_has_no_metric_of_energy(tmp_path: Path, ingest: Ingest) -> None:
    folder = write(tmp_path / "logs/a/b/c/1", [])
    (folder / "telemetry.csv").unlink()
    assert "energy_per_sample" not in metrics(ingest(folder.parents[3], "--json"))
