"""Telemetry: every printer's dialects, what is no figure, what is no telemetry, and files that want to do harm."""

from __future__ import annotations

import datetime as dt
import gzip
import math
import time
from pathlib import Path

import numpy as np
import pytest

from parsers.contract.telemetry import QUANTITIES, Recording
from parsers.engine.registry import telemetry_by_id, telemetry_formats
from parsers.engine.scan import ScanError
from parsers.engine.telemetry import claimant, read_telemetry
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
    """Return a table of nvidia-smi, whose rules and heads are abbreviated in `text`."""
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


#: Drivers 418, 450, 535 and 550 draw their tables each a little wider.
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
#: One text per printer, in its plainest form.
PLAIN = {
    "nvidia_smi_csv": CSV,
    "nvidia_smi_dmon": DMON,
    "nvidia_smi_table": TABLE_418,
    "nvidia_smi_pairs": "97 %, 12001 MiB\n93 %, 12003 MiB\n",
    "oneflow_mem": "max device0 memory usage is: 8455716863\n",
    "host_csv": HOST,
}


def of(tmp_path: Path, text: str | bytes, printer: str | None = None) -> Recording:
    """Read a file, which its format must claim unless it is named here."""
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
    from parsers.engine.read import read as read_log

    path = tmp_path / "samples"
    path.write_text(PLAIN[printer])
    assert read_log(path).claims == ()


def test_csv(tmp_path: Path) -> None:
    given = of(tmp_path, CSV, "nvidia_smi_csv")
    assert names(given) == ["0", "1", "0", "1"]
    assert column(given, "memory_used") == [12001, 12003, 12005, 11999]
    assert column(given, "utilisation") == [91, 93, 97, 99]
    assert column(given, "power") == [250.5, 240.25, 251.5, None]
    assert column(given, "temperature") == [61, 59, 62, 60]
    assert column(given, "sm_clock") == [1380, 1395, 1380, None]
    start = dt.datetime(2026, 3, 1, 23, 59, 59, 250_000, tzinfo=dt.UTC).timestamp()
    assert given.time.tolist() == pytest.approx([start, start + 0.004, start + 1, start + 1.004])
    assert given.dated
    assert given.faults == ()


def test_csv_in_any_order_and_without_units(tmp_path: Path) -> None:
    text = "power.draw [W],memory.used [MiB],index,utilization.gpu [%]\r\n250.5,12001,3,91\r\n251.5,12005,3,97\r\n"
    given = of(tmp_path, text, "nvidia_smi_csv")
    assert (names(given), given.dated) == (["3", "3"], False)
    assert column(given, "power") == [250.5, 251.5]
    assert column(given, "memory_used") == [12001, 12005]
    assert np.isnan(given.time).all()


@pytest.mark.parametrize(
    "cell", ["[N/A]", "[Not Supported]", "N/A", "ERR!", "[Unknown Error]", "[GPU requires reset]", "Unknown Error"]
)
def test_unknown_value_is_nan_without_a_fault(cell: str, tmp_path: Path) -> None:
    text = f"index, memory.used [MiB], power.draw [W]\n0, 5 MiB, 9.5 W\n0, 7 MiB, {cell}\n"
    given = of(tmp_path, text, "nvidia_smi_csv")
    assert (column(given, "power"), given.faults) == ([9.5, None], ())


@pytest.mark.parametrize(
    "cell", ["nan", "inf", "-5 MiB", "1e9 MiB", "5 GiB", "5 MB", "5", "", "99999999999 MiB", "5 W"]
)
def test_unreadable_value_is_a_fault(cell: str, tmp_path: Path) -> None:
    text = f"index, memory.used [MiB]\n0, 5 MiB\n0, {cell}\n0, 6 MiB\n"
    given = of(tmp_path, text, "nvidia_smi_csv")
    assert column(given, "memory_used") == [5, None, 6]
    (fault,) = given.faults
    assert (fault.code, fault.line, fault.count, fault.column) == ("values", 3, 1, "memory.used [MiB]")


def test_utilisation_above_100_percent_is_a_fault(tmp_path: Path) -> None:
    given = of(tmp_path, "index, utilization.gpu [%]\n0, 100 %\n0, 101 %\n")
    assert column(given, "utilisation") == [100, None]


def test_unknown_unit_is_a_fault(tmp_path: Path) -> None:
    given = of(tmp_path, "index, memory.used [MB], utilization.gpu [%]\n0, 5 MB, 7 %\n", "nvidia_smi_csv")
    assert "memory_used" not in given.values
    assert [(each.code, each.line, each.printed) for each in given.faults] == [("values", 1, "memory.used [MB]")]


def test_last_line_without_newline_is_no_sample(tmp_path: Path) -> None:
    given = of(tmp_path, "index, memory.used [MiB]\n0, 12001\n0, 120")
    assert column(given, "memory_used") == [12001]


def test_cut_value_inside_the_file_is_a_fault(tmp_path: Path) -> None:
    """Where all cells bear their unit, one that does not was cut, perhaps inside its digits."""
    given = of(tmp_path, "index, memory.used [MiB]\n0, 12001 MiB\n0, 120\n0, 12003 MiB\n")
    assert column(given, "memory_used") == [12001, None, 12003]
    assert [each.line for each in given.faults] == [3]


def test_headers_that_repeat_and_change(tmp_path: Path) -> None:
    text = (
        "index, memory.used [MiB], utilization.gpu [%]\n0, 5 MiB, 50 %\n"
        "index, memory.used [MiB], utilization.gpu [%]\n0, 6 MiB, 60 %\n"
        "utilization.gpu [%], index, temperature.gpu, memory.used [MiB]\n70 %, 1, 44, 7 MiB\n"
    )
    given = of(tmp_path, text, "nvidia_smi_csv")
    assert names(given) == ["0", "0", "1"]
    assert column(given, "memory_used") == [5, 6, 7]
    assert column(given, "utilisation") == [50, 60, 70]
    assert column(given, "temperature") == [None, None, 44]


def test_rows_of_another_width_are_faults(tmp_path: Path) -> None:
    rows = "".join(f"0, {each} MiB\n" for each in range(30))
    given = of(tmp_path, f"index, memory.used [MiB]\n{rows}0, 1 MiB, 7\n0\n", "nvidia_smi_csv")
    assert len(given) == 30
    assert [(each.code, each.line, each.count) for each in given.faults] == [("lines", 32, 2)]


def test_devices_are_named_by_index_then_bus_then_uuid(tmp_path: Path) -> None:
    text = "uuid, pci.bus_id, index, memory.used [MiB]\n"
    text += "GPU-a, 00000000:1A:00.0, 0, 5 MiB\nGPU-b, 00000000:1B:00.0, 1, 6 MiB\n"
    given = of(tmp_path, text)
    assert given.devices == ("0", "1")
    assert given.ids == {"0": "GPU-a", "1": "GPU-b"}
    assert of(tmp_path, "pci.bus_id, memory.used [MiB]\n00000000:1A:00.0, 5 MiB\n").devices == ("00000000:1A:00.0",)


def test_rows_without_a_device_name_have_no_devices(tmp_path: Path) -> None:
    given = of(tmp_path, "name, memory.used [MiB]\nTesla T4, 5 MiB\nTesla T4, 6 MiB\n", "nvidia_smi_csv")
    assert (given.devices, column(given, "memory_used")) == ((), [5, 6])


def test_hosts_in_one_file(tmp_path: Path) -> None:
    given = of(tmp_path, "hostname, index, memory.used [MiB]\na, 0, 5 MiB\nb, 0, 6 MiB\n", "nvidia_smi_csv")
    assert given.devices == ("a 0", "b 0")


@pytest.mark.parametrize("name", ["power.draw", "power.draw.average", "power.draw.instant"])
def test_power_by_any_of_its_names(name: str, tmp_path: Path) -> None:
    assert column(of(tmp_path, f"index, {name} [W]\n0, 9.50 W\n"), "power") == [9.5]


def test_a_header_without_rows(tmp_path: Path) -> None:
    assert len(of(tmp_path, "timestamp, memory.used [MiB]\n", "nvidia_smi_csv")) == 0


def test_tags_and_colours_are_removed(tmp_path: Path) -> None:
    text = "\x1b[32mindex, memory.used [MiB]\x1b[0m\n[1,0]<stdout>:0, 5 MiB\n[1,1]<stdout>:1, 6 MiB\n"
    assert column(of(tmp_path, text, "nvidia_smi_csv"), "memory_used") == [5, 6]


def test_dmon(tmp_path: Path) -> None:
    given = of(tmp_path, DMON, "nvidia_smi_dmon")
    assert names(given) == ["0", "1", "0", "1"]
    assert column(given, "power") == [43, 251, 245, 249]
    assert column(given, "utilisation") == [0, 98, 96, 99]
    assert column(given, "memory_utilisation") == [0, 40, 41, 42]
    assert column(given, "memory_temperature") == [None, 70, None, 71]
    assert column(given, "sm_clock") == [135, 1380, 1380, 1380]
    assert given.faults == ()


def test_dmon_with_memory_and_date(tmp_path: Path) -> None:
    text = """\
#Date       Time        gpu     fb   bar1   pwr
#YYYYMMDD   HH:MM:SS    Idx     MB     MB     W
 20260301   23:59:59      0  12001      5   250
 20260302   00:00:01      0  12005      5   251
"""
    given = of(tmp_path, text, "nvidia_smi_dmon")
    assert column(given, "memory_used") == [12001, 12005]
    assert given.dated
    assert np.diff(given.time).tolist() == [2.0]


def test_dmon_with_the_time_alone_passes_midnight(tmp_path: Path) -> None:
    text = "#Time        gpu    pwr\n#HH:MM:SS    Idx      W\n 23:59:59      0     10\n 00:00:01      0     11\n"
    given = of(tmp_path, text, "nvidia_smi_dmon")
    assert not given.dated
    assert np.diff(given.time).tolist() == [2.0]


def test_dmon_as_csv(tmp_path: Path) -> None:
    text = "#gpu, pwr, gtemp, sm\n#Idx, W, C, %\n0, 43, 35, 10\n1, 251, -, 98\n"
    given = of(tmp_path, text, "nvidia_smi_dmon")
    assert (names(given), column(given, "temperature")) == (["0", "1"], [35, None])


def test_pmon_counts_processes_and_is_not_claimed(tmp_path: Path) -> None:
    text = "# gpu        pid  type    sm   mem   enc   dec   command\n"
    text += "# Idx          #   C/G     %     %     %     %   name\n"
    text += "    0      12345     C    91    40     -     -   python\n"
    path = tmp_path / "samples"
    path.write_text(text)
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
def test_tables(text: str, expected: list[tuple[object, ...]], tmp_path: Path) -> None:
    given = of(tmp_path, text, "nvidia_smi_table")
    quantities = ("memory_used", "memory_total", "utilisation", "power", "power_limit", "temperature")
    columns = [column(given, each) for each in quantities]
    assert list(zip(names(given), *columns, strict=True)) == expected
    assert given.faults == ()


def test_tables_one_after_the_other(tmp_path: Path) -> None:
    given = of(tmp_path, TABLE_418 + TABLE_450 + TABLE_535 + TABLE_550, "nvidia_smi_table")
    start = dt.datetime(2026, 3, 3, 6, 37, 48, tzinfo=dt.UTC).timestamp()
    assert given.time.tolist() == [start, start, start + 1, start + 2, start + 3]


def test_table_without_a_date_has_no_clock(tmp_path: Path) -> None:
    undated = TABLE_535.partition("\n")[2]
    given = of(tmp_path, TABLE_418 + undated, "nvidia_smi_table")
    assert np.isfinite(given.time).tolist() == [True, True, False]


def test_tables_across_chunks(tmp_path: Path) -> None:
    path = tmp_path / "samples"
    text = (TABLE_418 + TABLE_550) * 1200
    path.write_text(text)
    assert path.stat().st_size > 2 << 20
    given = read_telemetry(path, telemetry_by_id(claimant(path)))
    assert (len(given), given.faults) == (3600, ())


def test_a_table_cut_inside_a_gpu_has_one_sample_less(tmp_path: Path) -> None:
    at = TABLE_418.index("|    998MiB")
    given = of(tmp_path, TABLE_418[: at + 6], "nvidia_smi_table")
    assert names(given) == ["0"]
    assert [each.code for each in given.faults] == ["lines"]


def test_pairs(tmp_path: Path) -> None:
    given = of(tmp_path, "97 %, 12001 MiB\n [N/A], 12003 MiB\n\n", "nvidia_smi_pairs")
    assert (given.devices, column(given, "utilisation")) == ((), [97, None])
    assert column(given, "memory_used") == [12001, 12003]


@pytest.mark.parametrize("text", ["12001 MiB, 97 %\n", "12001 MiB\n", "97 %, 40 %\n", "0, 97 %, 12001 MiB\n"])
def test_other_headerless_queries_are_not_claimed(text: str, tmp_path: Path) -> None:
    path = tmp_path / "samples"
    path.write_text(text * 5)
    assert claimant(path) == ""


@pytest.mark.parametrize(("printed", "mebibytes"), [("8455716863", 8063), ("8455716864", 8064), ("0", 0)])
def test_mem_is_rounded_down_to_mebibytes(printed: str, mebibytes: int, tmp_path: Path) -> None:
    given = of(tmp_path, f"max device0 memory usage is: {printed}\n", "oneflow_mem")
    assert given.format.peaks
    assert (given.devices, column(given, "memory_used")) == (("0",), [mebibytes])


@pytest.mark.parametrize("printed", ["-1", "nan", "8e9", "", "8 GiB", "1" * 400])
def test_mem_with_an_unreadable_value(printed: str, tmp_path: Path) -> None:
    given = of(tmp_path, f"max device0 memory usage is: {printed}\n", "oneflow_mem")
    assert len(given) == 0
    assert [each.line for each in given.faults] == [1]


def seg(records: int) -> str:
    return "".join(
        f"2026-03-03 11:50:{i:02} [INFO]\t[TRAIN] epoch: 1, iter: {10 * i}/9999, loss: 2.0594, lr: 0.010000, "
        "batch_cost: 0.5000, reader_cost: 0.00247, ips: 8.0000 samples/sec | ETA 00:00:00\n"
        for i in range(1, records)
    )


@pytest.mark.parametrize("printer", PLAIN)
def test_log_that_holds_telemetry_is_not_claimed(printer: str, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(PLAIN[printer] + seg(9))
    assert claimant(path) == ""
    # Nor does it become telemetry where training began long after.
    path.write_text(PLAIN[printer] * 1000 + seg(9))
    assert claimant(path) == ""


def test_table_in_a_shell_trace_is_not_claimed(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("+ nvidia-smi\n" + TABLE_418 + "+ python train.py\npython: can't open file\nexit\n")
    assert claimant(path) == ""


def test_public_logs_with_a_table_are_not_claimed() -> None:
    folder = corpus("public")
    logs = [each for each in sorted(folder.rglob("*")) if each.is_file()]
    assert any(b"| NVIDIA-SMI " in each.read_bytes() for each in logs)
    assert [each.name for each in logs if claimant(each)] == []


def test_no_log_of_the_corpus_is_claimed() -> None:
    folder = corpus("paddle-perf")
    logs = [each for each in sorted(folder.rglob("*")) if each.is_file()]
    assert len(logs) > 80
    assert [each.name for each in logs if claimant(each)] == []


def test_host_csv(tmp_path: Path) -> None:
    found = of(tmp_path, HOST, "host_csv")
    assert (found.devices, found.dated, len(found)) == ((), True, 2)
    assert [column(found, each) for each in ("load", "cpu")] == [[0.5, 1.25], [12.5, 100.0]]
    assert [column(found, f"host_memory_{each}") for each in ("used", "total")] == [[2048, 2050], [24064, 24064]]
    utc = [dt.datetime.fromtimestamp(each, dt.UTC).isoformat() for each in found.time]
    assert utc == ["2026-03-01T23:59:59+00:00", "2026-03-02T00:00:00+00:00"]


@pytest.mark.parametrize("cell", ["101", "-1", "nan", "1e3", "x"])
def test_impossible_host_values_are_faults(cell: str, tmp_path: Path) -> None:
    found = of(tmp_path, HOST + f"2026-03-02T00:00:01Z,1.00,{cell},2050,24064\n")
    assert column(found, "cpu") == [12.5, 100.0, None]
    assert [(each.code, each.line, each.column) for each in found.faults] == [("values", 4, "cpu_percent")]


@pytest.mark.parametrize("clock", ["2026-03-02T00:00:01", "2026-03-02T00:00:01+01:00", "1772409601", ""])
def test_host_clock_not_in_utc_is_a_fault(clock: str, tmp_path: Path) -> None:
    found = of(tmp_path, HOST + f"{clock},1.00,5.0,2050,24064\n")
    assert math.isnan(found.time[2])
    assert [(each.code, each.column) for each in found.faults] == [("values", "timestamp")]


@pytest.mark.parametrize(
    "line", ["timestamp,load_1m", "timestamp,load_1m,cpu_percent,memory_used_mib,memory_total", "load"]
)
def test_host_csv_with_another_header_is_not_claimed(line: str, tmp_path: Path) -> None:
    path = tmp_path / "samples"
    path.write_text(f"{line}\n" + ",".join("1" * len(line.split(","))) + "\n")
    assert claimant(path) != "host_csv"


def test_compressed_telemetry(tmp_path: Path) -> None:
    path = tmp_path / "gpu.csv.gz"
    path.write_bytes(gzip.compress(CSV.encode()))
    assert claimant(path) == "nvidia_smi_csv"
    assert len(read_telemetry(path, telemetry_by_id("nvidia_smi_csv"))) == 4


HOSTILE = {
    "binary": b"\x00\x01\x7fELF memory. power.draw" * 5000,
    "one huge line": b"memory.used [MiB]," * 600_000,
    "commas": b"memory.used [MiB]\n" + b"," * (2 << 20) + b"\n",
    "hashes": b"# gpu pwr\n" + b"# gpu " * 400_000,
    "bars": b"| NVIDIA-SMI 1 |\n" + b"|   0  x  | " + b"0" * (1 << 20) + b"|\n",
    "blanks": b"| NVIDIA-SMI 1 |\n|" + b" " * (1 << 20) + b"\n",
    "headers only": b"index, memory.used [MiB]\n" * 40_000,
    "a cut archive": gzip.compress(CSV.encode() * 99)[:90],
    "mem": b"max device0 memory usage is: " * 40_000,
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_files_are_left_in_time(what: str, tmp_path: Path) -> None:
    path = tmp_path / ("x.gz" if what == "a cut archive" else "x.csv")
    path.write_bytes(HOSTILE[what])
    began = time.perf_counter()
    claimed = claimant(path)
    found = read_telemetry(path, telemetry_by_id(claimed)) if claimed else None
    assert time.perf_counter() - began < 5
    assert found is None or len(found) == 0


def test_unreadable_files_are_not_claimed(tmp_path: Path) -> None:
    assert claimant(tmp_path / "missing.csv") == ""
    assert claimant(tmp_path) == ""
    with pytest.raises(ScanError):
        read_telemetry(tmp_path / "missing.csv", telemetry_by_id("nvidia_smi_csv"))


def test_thousands_of_rows_are_read_in_time(tmp_path: Path) -> None:
    head, *rows = CSV.splitlines()[:3]
    path = tmp_path / "samples"
    path.write_text("\n".join([head, *(rows * 50_000), ""]))
    began = time.perf_counter()
    given = read_telemetry(path, telemetry_by_id(claimant(path)))
    assert time.perf_counter() - began < 10
    assert len(given) == 100_000
    assert given.values["memory_used"].mean() == 12002
    assert set(given.values) <= set(QUANTITIES)
