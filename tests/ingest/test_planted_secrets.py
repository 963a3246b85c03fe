"""A hundred kinds of secrets, planted in all inputs: they appear in no file and no message."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import made_runs
import pytest
from made_logs import run_json, seg
from made_trees import contents, write_run

from perfledger.ingest.published.publications import COLUMNS
from tests.planted_secrets import PLANTED, TOKEN, Planted
from tests.site.conftest import ROOT

TEXTS = [each for group in PLANTED.values() for each in group]
#: Every site contains shorter texts; other tests try such secrets.
SHORT = 6
#: Number of first characters of a long key, which must not appear even alone.
BEGIN = 16
WANTED = {secret[:BEGIN] for each in TEXTS for secret in each.secrets if len(secret) >= SHORT}


def one_line(each: Planted) -> str:
    return each.text.replace("\n", "\\n")


def file_names() -> Iterator[str]:
    """Yield names of files that together contain every planted text that is possible in a name."""
    # The name begins and ends with a word, because text directly after a key or a host becomes a part of it.
    name = "of"
    for each in TEXTS:
        if "/" in each.text or "\n" in each.text or not each.text.isascii() or len(each.text) > 200:
            continue
        if len(name) + len(each.text) > 200:
            yield f"{name} of"
            name = "of"
        name += f" {each.text}"
    yield f"{name} of"


def batched(given: Iterable[str], size: int) -> Iterator[list[str]]:
    found = iter(given)
    while some := list(islice(found, size)):
        yield some


def plant(root: Path) -> None:
    """Write a tree of logs with every planted text in logs, names, run.json, environment, telemetry and tables."""
    texts = [one_line(each) for each in TEXTS]
    records = seg([4.0, *[5.0 + n / 10 for n in range(10)]])
    log = [*(line for each in TEXTS for line in each.text.split("\n")), *records, *texts]
    write_run(root, "seg/paddleseg/in-log/1", log, run=run_json(batch_size=2))
    stated = {
        "argv": ["python", "train.py", *texts],
        "environment_variables": {f"V{n}": text for n, text in enumerate(texts)} | dict.fromkeys(texts, "x"),
        "notes": "\n".join(each.text for each in TEXTS[:60]),
        "warnings": texts,
        "source": {"repository": f"https://me:{TOKEN}@example.com/x.git", "commit": "0" * 40},
        "environment": {"cpu": "made-up", "cores": 2, "gpu": texts[0], "packages": dict.fromkeys(texts, texts[5])},
    }
    environment = {**made_runs.ENVIRONMENT, "infiniband": texts, "packages_installed": texts, "topology": texts[3]}
    environment["facts"] = {"cpu": texts[7], "driver": texts[9]}
    telemetry = "timestamp,name,power.draw [W]\n" + "".join(
        f'2026-11-20 08:00:{n % 60:02}.000,"{text}",{100 + n}.0 W\n' for n, text in enumerate(texts)
    )
    made_runs.write(
        root / "resnet50" / "pytorch" / "in-run" / "1",
        files={"environment.json": json.dumps(environment), "telemetry-gpu.csv": telemetry},
        **stated,
    )
    for number, names in enumerate(batched(file_names(), 5), start=1):
        folder = root.joinpath("seg", "paddleseg", *names, str(number))
        folder.mkdir(parents=True)
        (folder / f"{names[0]}.log").write_text("\n".join(records if number < 4 else texts), "utf-8")
        (folder / f"{names[-1]}.csv").write_text(telemetry, "utf-8")
    (root / "seg" / "wrong").mkdir()
    (root / "seg" / "wrong" / "run.json").write_text(json.dumps({"case": dict.fromkeys(texts, texts[2])}), "utf-8")
    (root / "seg" / "wrong" / "train.log").write_text("\n".join(records), "utf-8")
    publish(root / "published", texts)


def publish(folder: Path, texts: list[str]) -> None:
    folder.mkdir()
    source = '[made_up]\ntitle = "Made up"\n' + f'place = "{TOKEN}"\n'
    (folder / "sources.toml").write_text(source, "utf-8")
    with (folder / "made-up.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        writer.writerows([text] * len(COLUMNS) for text in texts)


def left(outputs: dict[str, bytes]) -> list[tuple[str, str]]:
    """Return each file that contains a part of a secret, and the part."""
    pattern = re.compile("|".join(map(re.escape, sorted(WANTED, key=len, reverse=True))).encode())
    found = []
    for name, data in outputs.items():
        text = name.encode() + b"\n" + (gzip.decompress(data) if name.endswith(".gz") else data)
        found += [(name, match[0].decode()) for match in pattern.finditer(text)]
    return found


def test_planted_secrets_are_not_in_the_output(tmp_path: Path) -> None:
    plant(tmp_path / "logs")
    command = [sys.executable, "-m", "ingest", "logs", "--out", "docs", "--json"]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=False
    )
    assert done.returncode == 1, done.stderr.decode()
    assert len(done.stdout.splitlines()) >= 5
    outputs = {"stdout": done.stdout, "stderr": done.stderr, **contents(tmp_path / "docs")}
    # MkDocs makes pages, feed and search only from these files.
    assert {"logs/", "en/", "zh/"} <= {f"{name.partition('/')[0]}/" for name in outputs}
    assert left(outputs) == []


def test_a_remaining_secret_would_be_found() -> None:
    assert left({"a": b"x hunter22 y", "b.gz": gzip.compress(b"zoltan")}) == [("a", "hunter22"), ("b.gz", "zoltan")]
    with pytest.raises(AssertionError):
        assert left({"hunter22": b""}) == []
