"""`python -m tests.fuzz.readers [NAME]...`: feed single readers with inputs that reach ever more of their code.

atheris (libFuzzer for Python) follows which lines an input reaches. It is installed by `make fuzz-readers` alone.
"""

from __future__ import annotations

import inspect
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.read import accelerators, change_notes, environment_json, layout, run_json
from perfledger.ingest.read.run_json import RunJsonFile
from perfledger.ingest.read.walk import Input
from perfledger.parsers.contract.telemetry import Faults
from perfledger.parsers.engine.clock import clocks, stamps, unwrapped
from perfledger.parsers.engine.registry import telemetry_formats
from perfledger.parsers.engine.scan import Noise, clean
from perfledger.parsers.engine.table import floats, lengths
from perfledger.parsers.engine.telemetry import recording
from perfledger.schema.records import RunJson, StatedFile

#: The modules whose lines count.
_FOLLOWED = (
    "perfledger.ingest.read.",
    "perfledger.ingest.common.",
    "perfledger.parsers.engine.",
    "perfledger.parsers.telemetry.",
)
#: No input is longer: nothing in these readers needs more to reach all of its code.
_LONGEST = 4_096


def _scan(data: bytes, _folder: Path) -> None:
    (chunk,) = clean(iter([(data, 1, 0, data.count(b"\n"))]), Noise())
    assert chunk.text.count(b"\n") == data.count(b"\n"), "cleaning must keep the lines"
    chunk.ranks([0, len(chunk.text)])


def _clock(data: bytes, _folder: Path) -> None:
    printed = data.split(b"\n")
    for convert in (clocks, floats, lengths):
        assert len(convert(printed)) == len(printed)
    unwrapped(clocks(printed))
    stamps(data, [0, len(data) // 2])


def _telemetry(data: bytes, _folder: Path) -> None:
    chunks = list(clean(iter([(data, 1, 0, data.count(b"\n"))]), Noise()))
    for format in telemetry_formats():
        format.claims(chunks[0].text)
        faults = Faults()
        recording(format, format.blocks(chunks, faults), faults)


def _toml(data: bytes, folder: Path) -> None:
    (folder / "accelerators.toml").write_bytes(data)
    accelerators.found([folder])
    (folder / "changes.toml").write_bytes(data)
    change_notes.found([folder])
    (folder / "layout.toml").write_bytes(data)
    layout.load.cache_clear()
    with suppress(UsageError):
        layout.load(str(folder / "layout.toml"))


def _json(data: bytes, folder: Path) -> None:
    log = folder / "train.log"
    for name in ("run.json", "environment.json"):
        (folder / name).write_bytes(data)
    found = run_json.of_log(log, "a/train.log")
    naming = RunJson("perfledger.run/1", files={"environment.json": StatedFile()})
    _, problems = environment_json.details_of(Input(log, "a/train.log"), RunJsonFile(naming))
    for each in [*found.problems, *problems]:
        assert each.code != "fault", each


READERS: Mapping[str, Callable[[bytes, Path], None]] = {
    "scan": _scan,
    "clock": _clock,
    "telemetry": _telemetry,
    "toml": _toml,
    "json": _json,
}
#: What the first inputs are: one of each kind that a reader knows.
SEEDS: Mapping[str, tuple[bytes, ...]] = {
    "scan": (b"[1,0]<stdout>:a\x1b[32mb\x08c\r\n[rank3]: \x00", b"2026-11-20T01:02:03.1Z a\n" * 4, b"node-1: a\n" * 4),
    "clock": (b"2026-11-20 13:14:40,123\n03:04:41.5\n0630 03:04:41.5\n1:02:03\n9 days, 21:49:18\n1,234.5\nnan\n107K",),
    "telemetry": (
        b"timestamp, index, utilization.gpu [%], memory.used [MiB]\n2026/11/20 13:14:40.123, 0, 97 %, 12002 MiB\n",
        b"97 %, 12002 MiB\n[N/A], 1 MiB\n",
        b"# gpu   pwr gtemp\n# Idx     W     C\n    0    70    50\n",
        (
            b"| NVIDIA-SMI 470.1 |\n|   0  Tesla V100  Off  | 00000000:00:1E.0 Off |   0 |\n"
            b"| N/A  30C  P0  24W / 300W |  0MiB / 16160MiB |  1% Default |\n"
        ),
    ),
    "toml": (
        b"[H100]\ndate = 2026-11-01\nwatts = 700\nprice = 2.50\n",
        b'[[path]]\ntemplate = "{model}/{nodes}"\nfacts = {}\n',
    ),
    "json": (
        b'{"schema": "perfledger.run/1", "case": {"devices": 8}}',
        b'{"schema": "perfledger.environment/1", "gpus": [{}]}',
    ),
}


def _follow(instrument: Callable[[Any], Any]) -> None:
    """Let atheris see the lines of our own functions; those of NumPy and others would take minutes to prepare."""
    for name, module in list(sys.modules.items()):
        if name.startswith(_FOLLOWED):
            for function in [each for each in vars(module).values() if inspect.isfunction(each)]:
                if function.__module__ == name:
                    instrument(function)


def guide(name: str, seconds: int) -> None:
    """Feed one reader, in this process, which ends with it; an input that fails is written to `.fuzz/`."""
    import atheris

    with tempfile.TemporaryDirectory(prefix="fuzz-") as scratch:
        first, folder = Path(scratch, "first"), Path(scratch, "read")
        first.mkdir()
        folder.mkdir()
        for number, seed in enumerate(SEEDS[name]):
            (first / str(number)).write_bytes(seed)
        kept = Path(".fuzz")
        kept.mkdir(exist_ok=True)
        options = [f"-max_total_time={seconds}", f"-max_len={_LONGEST}", f"-artifact_prefix={kept}/{name}-", "-seed=1"]
        _follow(atheris.instrument_func)
        atheris.Setup([sys.argv[0], *options, str(first)], lambda data: READERS[name](data, folder))
        atheris.Fuzz()


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...", type=click.Choice(list(READERS)))
@click.option("--seconds", default=60, show_default=True, help="For each reader.")
def main(names: tuple[str, ...], seconds: int) -> None:
    """Feed the named readers, or all of them, one after the other; exit with 1 if one fails."""
    if len(names) == 1:
        guide(names[0], seconds)
        return
    command = [sys.executable, "-m", "tests.fuzz.readers", "--seconds", str(seconds)]
    raise SystemExit(max(subprocess.run([*command, name]).returncode for name in names or READERS) > 0)


if __name__ == "__main__":
    main(prog_name="python -m tests.fuzz.readers")
