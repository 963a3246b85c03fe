"""Telemetry: the dialects of every printer, cells without a figure, files that are not telemetry, and hostile files."""

from __future__ import annotations

import datetime as dt
import gzip
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from perfledger.parsers.contract.telemetry import QUANTITIES, Recording
from perfledger.parsers.engine.registry import telemetry_by_id, telemetry_formats
from perfledger.parsers.engine.scan import ScanError, chunks
from perfledger.parsers.engine.telemetry import claimant, read_telemetry
from tests.corpus import corpus

CSV = """\
timestamp, index, utilization.gpu [%], memory.used [MiB], power.draw [W], temperature.gpu, clocks.current.sm [MHz]
2026/03/01 23:59:59.250, 0, 91 %, 12001 MiB, 250.50 W, 61, 1380 MHz
2026/03/01 23:59:59.254, 1, 93 %, 12003 MiB, 240.25 W, 59, 1395 MHz
2026/03/02 00:00:00.250, 0, 97 %, 12005 MiB, 251.50 W, 62, 1380 MHz
2026/03/02 00:00:00.254, 1, 99 %, 11999 MiB, [N/A], 60, [Not Supported]
"""

DMON = """\
# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec   mclk   pclk
# Idx      W      C      C      %      %      %      %    MHz    MHz
    0     43     35      -      0      0      0      0    877    135
    1    251     61     70     98     40      0      0    877   1380
# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec   mclk   pclk
# Idx      W      C      C      %      %      %      %    MHz    MHz
    0    245     60      -     96     41      0      0    877   1380
    1    249     62     71     99     42      0      0    877   1380
"""

HEAD = "| Bus-Id        Disp.A | Volatile Uncorr. ECC |"
USAGE = "|         Memory-Usage | GPU-Util  Compute M. |"


def drawn(text: str, *widths: int) -> str:
    """Return a table of nvidia-smi from `text`, which abbreviates its rules and heads."""
    wide = sum(widths) + len(widths) - 1
    lines, heads = "+".join("-" * each for each in widths), "+".join("=" * each for each in widths)
    rules = {
        "--": f"+{lines}+",
        "|-": f"|{lines}|",
        "==": f"|{heads}|",
        "__": f"+{'-' * wide}+",
        "|=": f"|{'=' * wide}|",
    }
    return "".join(f"{rules.get(each, each)}\n" for each in text.replace("~h", HEAD).replace("~u", USAGE).splitlines())


#: Tables of drivers 418, 450, 535 and 550; each is wider than the one before.
TABLE_418 = drawn(
    """\
Tue Mar  3 06:37:48 2026
__
| NVIDIA-SMI 418.67       Driver Version: 418.67       CUDA Version: 10.1     |
|-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M~h
| Fan  Temp  Perf  Pwr:Usage/Cap~u
==
|   0  Tesla V100-SXM2...  On   | 00000000:3B:00.0 Off |                    0 |
| N/A   45C    P0   244W / 300W |  12001MiB / 16130MiB |     97%      Default |
--
|   1  GeForce GTX 108...  Off  | 00000000:1C:00.0  On |                  N/A |
| 30%   51C    P2   ERR! / 250W |    998MiB / 11178MiB |     N/A      Default |
--

__
| Processes:                                                       GPU Memory |
|  GPU       PID   Type   Process name                             Usage      |
|=
|    0     12345      C   python                                     11990MiB |
__
""",
    31,
    22,
    22,
)
TABLE_450 = drawn(
    """\
Tue Mar  3 06:37:49 2026
__
| NVIDIA-SMI 450.80.02    Driver Version: 450.80.02    CUDA Version: 11.0     |
|-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M~h
| Fan  Temp  Perf  Pwr:Usage/Cap~u
|                               |                      |               MIG M. |
==
|   0  A100-SXM4-40GB      On   | 00000000:07:00.0 Off |                   On |
| N/A   33C    P0   120W / 400W |  20011MiB / 40537MiB |     N/A      Default |
|                               |                      |              Enabled |
--

__
| MIG devices:                                                                |
+------------------+----------------------+-----------+-----------------------+
| GPU  GI  CI  MIG |         Memory-Usage |        Vol|         Shared        |
|      ID  ID  Dev |           BAR1-Usage | SM     Unc| CE  ENC  DEC  OFA  JPG|
|                  |                      |        ECC|                       |
|==================+======================+===========+=======================|
|  0    1   0   0  |  19999MiB / 20096MiB | 42      0 |  3   0    2    0    0 |
|                  |      4MiB / 32767MiB |           |                       |
+------------------+----------------------+-----------+-----------------------+
""",
    31,
    22,
    22,
)
TABLE_535 = drawn(
    """\
Tue Mar  3 06:37:50 2026
__
| NVIDIA-SMI 535.54.03              Driver Version: 535.54.03    CUDA Version: 12.2     |
|-----------------------------------------+----------------------+----------------------+
| GPU  Name                 Persistence-M ~h
| Fan  Temp   Perf          Pwr:Usage/Cap ~u
|                                         |                      |               MIG M. |
==
|   0  NVIDIA A100-SXM4-80GB          On  | 00000000:07:00.0 Off |                    0 |
| N/A   34C    P0             262W / 400W |  70004MiB / 81920MiB |     93%      Default |
|                                         |                      |             Disabled |
--
""",
    41,
    22,
    22,
)
TABLE_550 = drawn(
    """\
Tue Mar  3 06:37:51 2026
__
| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
==
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:1B:00.0 Off |                    0 |
| N/A   33C    P0            616W /  700W |   73310MiB /  81559MiB |    100%      Default |
|                                         |                        |             Disabled |
--
""",
    41,
    24,
    22,
)
HOST = """\
timestamp,load_1m,cpu_percent,memory_used_mib,memory_total_mib
2026-03-01T23:59:59Z,0.50,12.5,2048,24064
2026-03-02T00:00:00Z,1.25,100.0,2050,24064
"""
#: Our own CSV before and after the columns of disks were added.
WITH_DISKS = """\
timestamp,load_1m,cpu_percent,memory_used_mib,memory_total_mib,disk_read_mib_s,disk_written_mib_s
2026-03-01T23:59:59Z,0.50,12.5,2048,24064,310.5,0.0
"""
ACCELERATORS = """\
timestamp,device,name,power_w,utilisation_percent,memory_used_mib,memory_total_mib,temperature_c,memory_temperature_c,\
core_clock_mhz,memory_clock_mhz
2026-03-01T23:59:59Z,0,AMD Instinct MI300X,142,3,100,196592,41,36,132,900
2026-03-01T23:59:59Z,1,AMD Instinct MI300X,N/A,3,100,196592,41,N/A,132,900
"""
#: A simple text of each printer.
PLAIN = {
    "nvidia_smi_csv": CSV,
    "nvidia_smi_dmon": DMON,
    "nvidia_smi_table": TABLE_418,
    "nvidia_smi_pairs": "97 %, 12001 MiB\n93 %, 12003 MiB\n",
    "oneflow_mem": "max device0 memory usage is: 8455716863\n",
    "host_csv": HOST,
    "accelerator_csv": ACCELERATORS,
}


def of(tmp_path: Path, text: str | bytes, printer: str | None = None) -> Recording:
    """Read a text by the named format, else by the format that claims it."""
    path = tmp_path / "samples"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    claimed = claimant(path)
    assert printer is None or claimed == printer
    return read_telemetry(path, telemetry_by_id(claimed))


def column(given: Recording, quantity: str) -> list[float | None]:
    return [None if math.isnan(each) else each for each in given.values[quantity].tolist()]


def names(given: Recording) -> list[str]:
    return [given.devices[each] for each in given.device]


def test_every_telemetry_format_is_found_and_described() -> None:
    assert {each.id for each in telemetry_formats()} == set(PLAIN)
    for each in telemetry_formats():
        assert each.doc.strip()
        assert each.markers


@pytest.mark.parametrize("printer", PLAIN)
def test_file_is_claimed_by_one_telemetry_format(printer: str, tmp_path: Path) -> None:
    text = PLAIN[printer].encode()
    assert [each.id for each in telemetry_formats() if each.claims(text)] == [printer]
    assert len(of(tmp_path, text, printer)) > 0


@pytest.mark.parametrize("printer", PLAIN)
def test_no_format_of_logs_claims_telemetry(printer: str, tmp_path: Path) -> None:
    from perfledger.parsers.engine.read import read as read_log

    path = tmp_path / "samples"
    path.write_text(PLAIN[printer])
    assert read_log(path).claims == ()


def test_csv(tmp_path: Path) -> None:
    given = of(tmp_path, CSV, "nvidia_smi_csv")
    start = dt.datetime(2026, 3, 1, 23, 59, 59, 250_000, tzinfo=dt.UTC).timestamp()
    assert given.time.tolist() == pytest.approx([start, start + 0.004, start + 1, start + 1.004])
    assert given.dated
    assert given.faults == ()


class Printed(NamedTuple):
    """A file and its expected samples.

    Attributes:
        printer: the format that claims the file.
        names: the device of each sample, or None if the file names no devices.
        columns: the figures of each sample by quantity, or None without a figure.
        faults: code, line, count and column of each fault.
    """

    text: str
    printer: str
    names: list[str] | None
    columns: dict[str, list[float | None]]
    faults: tuple[tuple[str, int, int, str], ...] = ()


UNKNOWN = ("[N/A]", "[Not Supported]", "N/A", "ERR!", "[Unknown Error]", "[GPU requires reset]", "Unknown Error")
ROWS = "".join(f"0, {each} MiB\n" for each in range(30))
MEMORY = "memory.used [MiB]"
PRINTED = {
    "csv": Printed(
        CSV, "nvidia_smi_csv", ["0", "1", "0", "1"],
        {
            "memory_used": [12001, 12003, 12005, 11999],
            "utilisation": [91, 93, 97, 99],
            "power": [250.5, 240.25, 251.5, None],
            "temperature": [61, 59, 62, 60],
            "sm_clock": [1380, 1395, 1380, None],
        },
    ),
    "csv in any order and without units": Printed(
        "power.draw [W],memory.used [MiB],index,utilization.gpu [%]\r\n250.5,12001,3,91\r\n251.5,12005,3,97\r\n",
        "nvidia_smi_csv", ["3", "3"], {"power": [250.5, 251.5], "memory_used": [12001, 12005]},
    ),
    **{
        f"unknown value {cell}": Printed(
            f"index, memory.used [MiB], power.draw [W]\n0, 5 MiB, 9.5 W\n0, 7 MiB, {cell}\n",
            "nvidia_smi_csv", ["0", "0"], {"power": [9.5, None]},
        )
        for cell in UNKNOWN
    },
    **{
        f"unreadable value {cell}": Printed(
            f"index, {MEMORY}\n0, 5 MiB\n0, {cell}\n0, 6 MiB\n",
            "nvidia_smi_csv", ["0"] * 3, {"memory_used": [5, None, 6]}, (("values", 3, 1, MEMORY),),
        )
        # If all other cells have a unit, a cell without one was cut, perhaps inside its digits.
        for cell in ("nan", "inf", "-5 MiB", "1e9 MiB", "5 GiB", "5 MB", "5", "", "99999999999 MiB", "5 W", "120")
    },
    "utilisation above 100 %": Printed(
        "index, utilization.gpu [%]\n0, 100 %\n0, 101 %\n",
        "nvidia_smi_csv", ["0", "0"], {"utilisation": [100, None]}, (("values", 3, 1, "utilization.gpu [%]"),),
    ),
    "unknown unit": Printed(
        "index, memory.used [MB], utilization.gpu [%]\n0, 5 MB, 7 %\n",
        "nvidia_smi_csv", ["0"], {"utilisation": [7]}, (("values", 1, 1, "memory.used [MB]"),),
    ),
    "last line without a newline": Printed(
        f"index, {MEMORY}\n0, 12001\n0, 120", "nvidia_smi_csv", ["0"], {"memory_used": [12001]}
    ),
    "headers that repeat and change": Printed(
        "index, memory.used [MiB], utilization.gpu [%]\n0, 5 MiB, 50 %\n"
        "index, memory.used [MiB], utilization.gpu [%]\n0, 6 MiB, 60 %\n"
        "utilization.gpu [%], index, temperature.gpu, memory.used [MiB]\n70 %, 1, 44, 7 MiB\n",
        "nvidia_smi_csv", ["0", "0", "1"],
        {"memory_used": [5, 6, 7], "utilisation": [50, 60, 70], "temperature": [None, None, 44]},
    ),
    "rows of another width": Printed(
        f"index, {MEMORY}\n{ROWS}0, 1 MiB, 7\n0\n",
        "nvidia_smi_csv", ["0"] * 30, {"memory_used": [*range(30)]}, (("lines", 32, 2, ""),),
    ),
    "bus without an index": Printed(
        f"pci.bus_id, {MEMORY}\n00000000:1A:00.0, 5 MiB\n",
        "nvidia_smi_csv", ["00000000:1A:00.0"], {"memory_used": [5]},
    ),
    "rows without a device": Printed(
        f"name, {MEMORY}\nTesla T4, 5 MiB\nTesla T4, 6 MiB\n", "nvidia_smi_csv", None, {"memory_used": [5, 6]}
    ),
    "device that only some rows name": Printed(
        f"index, {MEMORY}\n0, 5 MiB\n{MEMORY}\n6 MiB\n", "nvidia_smi_csv", None, {"memory_used": [5, 6]}
    ),
    "hosts in one file": Printed(
        f"hostname, index, {MEMORY}\na, 0, 5 MiB\nb, 0, 6 MiB\n",
        "nvidia_smi_csv", ["a 0", "b 0"], {"memory_used": [5, 6]},
    ),
    **{
        name: Printed(f"index, {name} [W]\n0, 9.50 W\n", "nvidia_smi_csv", ["0"], {"power": [9.5]})
        for name in ("power.draw", "power.draw.average", "power.draw.instant")
    },
    "header without rows": Printed(f"timestamp, {MEMORY}\n", "nvidia_smi_csv", None, {}),
    "tags and colours": Printed(
        f"\x1b[32mindex, {MEMORY}\x1b[0m\n[1,0]<stdout>:0, 5 MiB\n[1,1]<stdout>:1, 6 MiB\n",
        "nvidia_smi_csv", ["0", "1"], {"memory_used": [5, 6]},
    ),
    "dmon": Printed(
        DMON, "nvidia_smi_dmon", ["0", "1", "0", "1"],
        {
            "power": [43, 251, 245, 249],
            "utilisation": [0, 98, 96, 99],
            "memory_utilisation": [0, 40, 41, 42],
            "memory_temperature": [None, 70, None, 71],
            "sm_clock": [135, 1380, 1380, 1380],
        },
    ),
    "dmon as csv": Printed(
        "#gpu, pwr, gtemp, sm\n#Idx, W, C, %\n0, 43, 35, 10\n1, 251, -, 98\n",
        "nvidia_smi_dmon", ["0", "1"], {"temperature": [35, None]},
    ),
    "pairs": Printed(
        "97 %, 12001 MiB\n [N/A], 12003 MiB\n\n",
        "nvidia_smi_pairs", None, {"utilisation": [97, None], "memory_used": [12001, 12003]},
    ),
    # Rounded down to MiB.
    **{
        f"mem {printed}": Printed(
            f"max device0 memory usage is: {printed}\n", "oneflow_mem", ["0"], {"memory_used": [mebibytes]}
        )
        for printed, mebibytes in (("8455716863", 8063), ("8455716864", 8064), ("0", 0))
    },
    **{
        f"mem, unreadable {printed[:9]}": Printed(
            f"max device0 memory usage is: {printed}\n", "oneflow_mem", None, {},
            (("values", 1, 1, "max device memory usage"),),
        )
        for printed in ("-1", "nan", "8e9", "", "8 GiB", "1" * 400)
    },
    "machine": Printed(
        HOST, "host_csv", None,
        {
            "load": [0.5, 1.25],
            "cpu": [12.5, 100.0],
            "host_memory_used": [2048, 2050],
            "host_memory_total": [24064, 24064],
        },
    ),
    "machine with disks": Printed(
        WITH_DISKS, "host_csv", None, {"cpu": [12.5], "disk_read": [310.5], "disk_written": [0.0]}
    ),
    "accelerators, of which the tool does not tell all": Printed(
        ACCELERATORS, "accelerator_csv", ["0", "1"],
        {"power": [142, None], "memory_temperature": [36, None], "graphics_clock": [132, 132]},
    ),
    **{
        f"machine, impossible value {cell}": Printed(
            HOST + f"2026-03-02T00:00:01Z,1.00,{cell},2050,24064\n",
            "host_csv", None, {"cpu": [12.5, 100.0, None]}, (("values", 4, 1, "cpu_percent"),),
        )
        for cell in ("101", "-1", "nan", "1e3", "x")
    },
    **{
        f"machine, clock not in UTC {clock}": Printed(
            HOST + f"{clock},1.00,5.0,2050,24064\n",
            "host_csv", None, {"cpu": [12.5, 100.0, 5.0]}, (("values", 4, 1, "timestamp"),),
        )
        for clock in ("2026-03-02T00:00:01", "2026-03-02T00:00:01+01:00", "1772409601", "")
    },
}  # fmt: skip


@pytest.mark.parametrize("name", PRINTED)
def test_the_samples_of_a_file_are_the_expected_ones(name: str, tmp_path: Path) -> None:
    each = PRINTED[name]
    given = of(tmp_path, each.text, each.printer)
    assert (names(given) if given.devices else None) == each.names
    assert {quantity: column(given, quantity) for quantity in each.columns} == each.columns
    assert tuple((fault.code, fault.line, fault.count, fault.column) for fault in given.faults) == each.faults
    assert given.format.peaks == (each.printer == "oneflow_mem")


def test_quantity_of_an_unknown_unit_is_left_out(tmp_path: Path) -> None:
    given = of(tmp_path, PRINTED["unknown unit"].text)
    assert "memory_used" not in given.values
    assert [each.printed for each in given.faults] == ["memory.used [MB]"]


def test_devices_are_named_by_index_then_bus_then_uuid(tmp_path: Path) -> None:
    text = f"uuid, pci.bus_id, index, {MEMORY}\n"
    text += "GPU-a, 00000000:1A:00.0, 0, 5 MiB\nGPU-b, 00000000:1B:00.0, 1, 6 MiB\n"
    given = of(tmp_path, text)
    assert given.devices == ("0", "1")


DMON_WITH_DATE = """\
#Date       Time        gpu     fb   bar1   pwr
#YYYYMMDD   HH:MM:SS    Idx     MB     MB     W
 20260301   23:59:59      0  12001      5   250
 20260302   00:00:01      0  12005      5   251
"""
DMON_WITH_TIME = """\
#Time        gpu    fb
#HH:MM:SS    Idx    MB
 23:59:59      0 12001
 00:00:01      0 12005
"""


@pytest.mark.parametrize(("text", "dated"), [(DMON_WITH_DATE, True), (DMON_WITH_TIME, False)])
def test_dmon_clock_passes_midnight(text: str, dated: bool, tmp_path: Path) -> None:
    given = of(tmp_path, text, "nvidia_smi_dmon")
    assert column(given, "memory_used") == [12001, 12005]
    assert given.dated == dated
    assert np.diff(given.time).tolist() == [2.0]


def test_host_clock_is_utc(tmp_path: Path) -> None:
    found = of(tmp_path, HOST, "host_csv")
    assert found.dated
    utc = [dt.datetime.fromtimestamp(each, dt.UTC).isoformat() for each in found.time]
    assert utc == ["2026-03-01T23:59:59+00:00", "2026-03-02T00:00:00+00:00"]
    later = of(tmp_path, HOST + "2026-03-02T00:00:01,1.00,5.0,2050,24064\n")
    assert math.isnan(later.time[2])


def test_rows_without_a_clock_have_no_times(tmp_path: Path) -> None:
    given = of(tmp_path, PRINTED["csv in any order and without units"].text)
    assert not given.dated
    assert np.isnan(given.time).all()


PMON = """\
# gpu        pid  type    sm   mem   enc   dec   command
# Idx          #   C/G     %     %     %     %   name
    0      12345     C    91    40     -     -   python
"""
WITHOUT_HEADER = ("12001 MiB, 97 %", "12001 MiB", "97 %, 40 %", "0, 97 %, 12001 MiB")
#: Lists of processes, and queries without a header, whose columns are unknown.
UNCLAIMED = {
    "pmon": PMON,
    **{f"no header, {row}": f"{row}\n" * 5 for row in WITHOUT_HEADER},
    "rows among other lines": CSV + "starting\n" * 4,
    "table in a shell trace": f"+ nvidia-smi\n{TABLE_418}+ python train.py\npython: can't open file\nexit\n",
    **{
        f"machine with the header {line}": f"{line}\n" + ",".join("1" * len(line.split(","))) + "\n"
        for line in ("timestamp,load_1m", "timestamp,load_1m,cpu_percent,memory_used_mib,memory_total", "load")
    },
}  # fmt: skip


@pytest.mark.parametrize("what", UNCLAIMED)
def test_file_is_not_claimed(what: str, tmp_path: Path) -> None:
    path = tmp_path / "samples"
    path.write_text(UNCLAIMED[what])
    assert claimant(path) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TABLE_418, [("0", 12001, 16130, 97, 244, 300, 45), ("1", 998, 11178, None, None, 250, 51)]),
        (TABLE_450, [("0", 20011, 40537, None, 120, 400, 33)]),
        (TABLE_535, [("0", 70004, 81920, 93, 262, 400, 34)]),
        (TABLE_550, [("0", 73310, 81559, 100, 616, 700, 33)]),
    ],
    ids=["418", "450 with MIG", "535", "550"],
)
def test_tables_of_each_driver_are_read(text: str, expected: list[tuple[object, ...]], tmp_path: Path) -> None:
    given = of(tmp_path, text, "nvidia_smi_table")
    quantities = ("memory_used", "memory_total", "utilisation", "power", "power_limit", "temperature")
    columns = [column(given, each) for each in quantities]
    assert list(zip(names(given), *columns, strict=True)) == expected
    assert given.faults == ()


def test_each_of_several_tables_has_its_time(tmp_path: Path) -> None:
    given = of(tmp_path, TABLE_418 + TABLE_450 + TABLE_535 + TABLE_550, "nvidia_smi_table")
    start = dt.datetime(2026, 3, 3, 6, 37, 48, tzinfo=dt.UTC).timestamp()
    assert given.time.tolist() == [start, start, start + 1, start + 2, start + 3]


def test_table_without_a_date_has_no_clock(tmp_path: Path) -> None:
    undated = TABLE_535.partition("\n")[2]
    given = of(tmp_path, TABLE_418 + undated, "nvidia_smi_table")
    assert np.isfinite(given.time).tolist() == [True, True, False]


def test_a_table_cut_inside_a_gpu_has_one_sample_less(tmp_path: Path) -> None:
    at = TABLE_418.index("|    998MiB")
    given = of(tmp_path, TABLE_418[: at + 6], "nvidia_smi_table")
    assert names(given) == ["0"]
    assert [each.code for each in given.faults] == ["lines"]


def seg(records: int) -> str:
    return "".join(
        f"2026-03-03 11:50:{i:02} [INFO]\t[TRAIN] epoch: 1, iter: {10 * i}/9999, loss: 2.0594, lr: 0.010000, "
        "batch_cost: 0.5000, reader_cost: 0.00247, ips: 8.0000 samples/sec | ETA 00:00:00\n"
        for i in range(1, records)
    )


@pytest.mark.parametrize("printer", PLAIN)
def test_a_log_that_contains_telemetry_is_not_claimed(printer: str, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(PLAIN[printer] + seg(9))
    assert claimant(path) == ""
    # Training may begin long after the telemetry.
    path.write_text(PLAIN[printer] * 1000 + seg(9))
    assert claimant(path) == ""


@pytest.mark.parametrize("name", ["public", "paddle-perf"])
def test_public_logs_are_not_claimed(name: str) -> None:
    """Some public logs contain a table of nvidia-smi."""
    logs = [each for each in sorted(corpus(name).rglob("*")) if each.is_file()]
    assert len(logs) > 20
    assert [each.name for each in logs if claimant(each)] == []


def test_compressed_telemetry_is_read(tmp_path: Path) -> None:
    path = tmp_path / "gpu.csv.gz"
    path.write_bytes(gzip.compress(CSV.encode()))
    assert claimant(path) == "nvidia_smi_csv"
    assert len(read_telemetry(path, telemetry_by_id("nvidia_smi_csv"))) == 4


HOSTILE = {
    "binary": b"\x00\x01\x7fELF memory. power.draw" * 500,
    "one huge line": b"memory.used [MiB]," * 6_000,
    "commas": b"memory.used [MiB]\n" + b"," * (2 << 14) + b"\n",
    "hashes": b"# gpu pwr\n" + b"# gpu " * 4_000,
    "bars": b"| NVIDIA-SMI 1 |\n" + b"|   0  x  | " + b"0" * (1 << 14) + b"|\n",
    "blanks": b"| NVIDIA-SMI 1 |\n|" + b" " * (1 << 14) + b"\n",
    "headers only": b"index, memory.used [MiB]\n" * 1_000,
    "a cut archive": gzip.compress(CSV.encode() * 99)[:90],
    "mem": b"max device0 memory usage is: " * 1_000,
}


def test_unreadable_files_are_not_claimed(tmp_path: Path) -> None:
    assert claimant(tmp_path / "missing.csv") == ""
    assert claimant(tmp_path) == ""
    with pytest.raises(ScanError):
        read_telemetry(tmp_path / "missing.csv", telemetry_by_id("nvidia_smi_csv"))


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_file_has_no_samples(what: str, tmp_path: Path) -> None:
    """test_pattern_growth measures the time of the patterns."""
    path = tmp_path / ("x.gz" if what == "a cut archive" else "x.csv")
    path.write_bytes(HOSTILE[what])
    claimed = claimant(path)
    assert not claimed or len(read_telemetry(path, telemetry_by_id(claimed))) == 0


@pytest.mark.parametrize(
    ("text", "samples"),
    [((TABLE_418 + TABLE_550) * 20, 60), ("\n".join([CSV.splitlines()[0], *CSV.splitlines()[1:3] * 500, ""]), 1000)],
    ids=["tables", "csv"],
)
def test_samples_are_read_across_chunks(
    text: str, samples: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "__defaults__", (5000,))
    given = of(tmp_path, text)
    assert (len(given), given.faults) == (samples, ())
    assert set(given.values) <= set(QUANTITIES)
    assert len(set(column(given, "memory_used"))) == (3 if samples == 60 else 2)
