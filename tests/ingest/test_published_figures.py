"""Published figures of others: all are in our tables, unchanged, and an invalid row is a problem."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import pytest
from made_trees import ROOT, Called, make_tree

from perfledger.ingest.common import words
from perfledger.ingest.published import publications
from perfledger.ingest.published.notes import notes, written
from perfledger.ingest.published.publications import COLUMNS, OPTIONAL, Published
from perfledger.ingest.published.slices import fact
from perfledger.parsers.contract.fact import FACTS
from perfledger.schema.vocabulary import OPTIONS
from tests.corpus import expected

FOLDER = ROOT / "raw_logs" / "published"
ROWS = publications.read([FOLDER]).rows
#: Our tables, and the number of figures in the table that each was made from.
TABLES = {"dlperf.csv": 2526, "paddle-perf.csv": 308, "paddle-2019-2021.csv": 94}
#: Cells in the edition of DeepLabV3P's report that prints no figures.
PENDING = 18
SOURCE = """
[[source]]
name = "Made up"
title = { en = "Made up", zh = "虚构" }
address = "https://example.org/made-up"
page = "https://example.org/made-up/{path}"
log = "https://example.org/made-up/{path}"
year = 2026
words = { en = "No figure was measured.", zh = "数字均为虚构。" }
rules = [{ logs = "logs/*", rule = "mean:skip=2" }]
"""
GOOD = {
    "source": "Made up", "place": "README.md", "line": "7", "log": "logs/one.log", "model": "DeepLabV3P",
    "framework": "PaddlePaddle", "framework_source": "", "hardware": "made-up", "nodes": "1", "devices": "1",
    "batch_size": "4", "printed_batch_size": "8", "row_batch_size": "16", "precision": "fp32",
    "printed_precision": "tf32", "label": "(O2)", "options": "clip=no; xla=yes", "metric": "throughput",
    "unit": "samples/s", "value": "20.50", "state": "measured", "speedup": "1.00", "note": "",
}  # fmt: skip

Figure = tuple[str, ...]


def folder(
    path: Path, rows: Iterable[dict[str, str]], *, source: str = SOURCE, header: Iterable[str] = COLUMNS
) -> Path:
    """Make a folder of published figures with one table."""
    path.mkdir(parents=True, exist_ok=True)
    (path / "sources.toml").write_text(source, "utf-8")
    with (path / "made-up.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(header), extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path


@cache
def collected(name: str) -> list[dict[str, str]]:
    found = expected(f"published/{name.removesuffix('.csv')}")
    assert len(found) == TABLES[name]
    return found


def figure_collected(row: dict[str, str]) -> Figure:
    """Return the cells of a collected row that our table must contain letter by letter."""
    place = row.get("source_file") or row.get("where") or row.get("source") or ""
    batch = row["batch_size_per_device"]
    return (place, row["nodes"], row["devices"], batch, row["value"], row.get("speedup", ""), row.get("log", ""))


def figure_of_ours(row: dict[str, str]) -> Figure:
    place = row["place"] if row["source"] in {"DLPerf", "PaddlePaddle/Perf"} else row["source"]
    return (place, row["nodes"], row["devices"], row["batch_size"], row["value"], row["speedup"], row["log"])


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


@cache
def ours(name: str) -> list[dict[str, str]]:
    return rows_of((FOLDER / name).read_text("utf-8"))


@pytest.mark.parametrize("name", TABLES)
def test_no_figure_is_lost_or_altered(name: str) -> None:
    found = Counter(map(figure_of_ours, ours(name)))
    assert found == Counter(map(figure_collected, collected(name)))


def test_a_cell_without_a_figure_has_a_state() -> None:
    states = Counter((row.source, row.state) for row in ROWS)
    assert states["DLPerf", "oom"] == 26
    assert all(row.printed and row.value is not None for row in ROWS if row.state == "measured")
    assert not any(row.printed for row in ROWS if row.state != "measured")


def test_all_rows_are_valid_and_belong_to_a_suite() -> None:
    found = publications.read([FOLDER])
    assert found.problems == ()
    assert sum(TABLES.values()) == 2928
    assert len(found.rows) == 2928 + PENDING
    assert {row.model for row in found.rows if row.suite is None} == set()


#: Options that only tables state. All others have the names of the contract.
ONLY_PUBLISHED = {
    "case", "repeat", "date", "test", "version", "logs", "batches", "micro_batches", "samples", "parameters_billion",
    "model_parallel_size", "dataset", "data", "dataloader_workers", "loss_scale", "graph_kernel_fusion",
    "gradient_accumulation",
}  # fmt: skip


def test_options_have_the_same_names_in_figures_and_in_logs() -> None:
    named = {name for row in ROWS for name in row.options}
    assert named - ONLY_PUBLISHED <= OPTIONS | {"batch_size_of_job"}
    assert named >= ONLY_PUBLISHED
    assert not ONLY_PUBLISHED & FACTS.keys()
    assert {row.options["parallel"] for row in ROWS if "parallel" in row.options} == {
        "data_parallel", "model_parallel", "partial_fc",
    }  # fmt: skip


def test_published_files_name_no_folder_of_a_machine() -> None:
    for path in FOLDER.rglob("*"):
        if path.is_file():
            assert not re.search(r"/(home|root|workspace|Users|mnt|data\d?)/", path.read_text("utf-8")), path


def printed_case(row: Published) -> tuple[str, ...]:
    return tuple(fact(row, key) for key in ("batch_size", "row_batch_size", "precision"))


def test_values_stay_as_printed(tmp_path: Path) -> None:
    (row,) = publications.read([folder(tmp_path, [GOOD])]).rows
    assert (row.printed, row.value, row.speedup) == ("20.50", 20.5, "1.00")
    assert row.model == "DeepLabV3+"
    assert row.options == {"clip": "no", "xla": "yes"}
    written = rows_of(publications.table([row]).decode())
    assert written == [GOOD | {"model": "DeepLabV3+"}]
    # Printed settings are separate from the case.
    assert (row.batch_size, row.precision, row.label) == (4, "fp32", "(O2)")
    assert printed_case(row) == ("8", "16", "tf32")


def test_a_table_may_lack_the_columns_of_printed_settings(tmp_path: Path) -> None:
    """Old tables do not have these columns."""
    old = [name for name in COLUMNS if name not in OPTIONAL]
    found = publications.read([folder(tmp_path, [GOOD], header=old)])
    assert found.problems == ()
    (row,) = found.rows
    assert printed_case(row) == ("4", "4", "fp32")
    assert (row.printed_batch_size, row.row_batch_size, row.printed_precision, row.label) == (None, None, "", "")


def test_every_note_has_its_sentence_in_both_languages() -> None:
    known = words.load()
    assert not [each for row in ROWS for each in notes(row) if not known.has(f"note.{each.key}")]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", []),
        ("printed_unit=MB", [("printed_unit", "MB")]),
        ("oom_at=256; Measured again; a=b=c", [("oom_at", "256"), ("", "Measured again"), ("a", "b=c")]),
        ("Batch = 4", [("", "Batch = 4")]),
    ],
)
def test_notes_are_codes_with_values_or_free_text(text: str, wanted: list[tuple[str, str]]) -> None:
    assert list(written(text)) == wanted


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"source": "Nobody"}, "source: unknown source 'Nobody'; known are Made up"),
        ({"state": "maybe"}, "state: expected one of measured, not_measured, oom, pending, got 'maybe'"),
        ({"precision": "fp33"}, "got 'fp33'; did you mean 'fp32'?"),
        (
            {"unit": "ms"},
            "unit: expected images/s or items/s or samples/s or sequences/s or tokens/s or words/s for throughput, got",
        ),
        ({"value": "fast"}, "value: expected a positive number, got 'fast'"),
        ({"speedup": "twice"}, "speedup: expected a positive number, got 'twice'"),
        ({"value": "٣"}, "value: expected a positive number, got '٣'"),
        ({"state": "oom"}, "value: expected no value with the state oom, got '20.50'"),
        ({"devices": "0"}, "devices: expected a positive whole number, got '0'"),
        ({"printed_batch_size": "4"}, "printed_batch_size: expected nothing where it is the batch_size, got '4'"),
        ({"row_batch_size": "8"}, "row_batch_size: expected nothing where it is the batch size of the figure, got '8'"),
        ({"batch_size": ""}, "printed_batch_size: expected nothing without a batch_size, got '8'"),
        ({"printed_precision": "fp32"}, "printed_precision: expected nothing where it is the precision, got 'fp32'"),
        ({"nodes": "9" * 5000}, "nodes: expected a positive whole number, got '999"),
        ({"options": "clip"}, "options: expected name=value; name=value, got 'clip'"),
    ],
)
def test_an_invalid_row_is_a_problem_and_the_others_are_read(
    tmp_path: Path, change: dict[str, str], cause: str
) -> None:
    found = publications.read([folder(tmp_path / "published", [GOOD, GOOD | change, GOOD])])
    assert [row.row for row in found.rows] == [2, 4]
    (problem,) = found.problems
    assert (problem.code, problem.path, problem.line) == ("published_row", "published/made-up.csv", 3)
    assert cause in problem.args["cause"]


def test_a_row_with_another_number_of_cells_is_a_problem(tmp_path: Path) -> None:
    path = folder(tmp_path / "published", [GOOD]) / "made-up.csv"
    path.write_text(path.read_text("utf-8") + "Made up,README.md\n", "utf-8")
    found = publications.read([path.parent])
    assert len(found.rows) == 1
    assert [(each.line, each.args["cause"]) for each in found.problems] == [
        (3, "the row has another number of cells than the header")
    ]


DIFFERS = "its columns differ from those of other tables"


@pytest.mark.parametrize(
    ("header", "cause"),
    [
        ([*COLUMNS, "extra"], "unknown: extra"),
        ([each for each in COLUMNS if each != "state"], "missing: state"),
        ([*COLUMNS[1:], COLUMNS[0]], "another order"),
    ],
)
def test_a_table_with_unexpected_columns_is_not_used(tmp_path: Path, header: list[str], cause: str) -> None:
    found = publications.read([folder(tmp_path / "published", [GOOD], header=header)])
    assert found.rows == ()
    assert [(each.code, each.args["cause"]) for each in found.problems] == [("wrong_file", f"{DIFFERS}: {cause}")]


@pytest.mark.parametrize(
    ("before", "after", "line", "cause"),
    [
        ('zh = "虚构"', 'zh = ""', 4, "source[0].title: no text in 'zh'"),
        ('name = "Made up"\n', "", 2, "source[0]: the key 'name' is missing"),
        ("mean:skip=2", "average", 10, "no rule 'average'"),
        ("https://example.org/made-up/{path}", "javascript:alert(1)", 6, "source[0].page: expected an address that"),
        ("https://example.org/made-up/{path}", "https://example.org/{place}", 6, "no placeholder but {path}, got"),
        ("https://example.org/made-up/{path}", "https://example.org/{path.x}", 6, "no placeholder but {path}, got"),
        ("https://example.org/made-up/{path}", "https://example.org/{0}", 6, "no placeholder but {path}, got"),
    ],
)
def test_an_invalid_source_is_a_problem_with_its_line(
    tmp_path: Path, before: str, after: str, line: int, cause: str
) -> None:
    assert before in SOURCE
    found = publications.read([folder(tmp_path / "published", [GOOD], source=SOURCE.replace(before, after))])
    problem = found.problems[0]
    assert (problem.code, problem.path, problem.line) == ("wrong_file", "published/sources.toml", line)
    assert cause in problem.args["cause"]
    assert found.rows == ()


RECORD = '{"path": "a", "sha256": "b", "case": {%s}, "figures": {"sustained": {"value": %s}}}'


@pytest.mark.parametrize(
    "line",
    [
        "no json", "[]", "{}", '{"figures": {}, "case": {}, "path": "a"}', '{"figures": []}', "[" * 100_000,
        '{"path": "a", "sha256": "b", "case": {}, "figures": {"sustained": 5}}',
        '{"path": 5, "sha256": "b", "case": {}, "figures": {}}',
        RECORD % ('"options": 3', 5), RECORD % ('"model": 3', 5), RECORD % ('"devices": "8"', 5),
        RECORD % ("", '"fast"'), RECORD % ("", "1e999"), RECORD % ("", "-5"), (RECORD % ("", 5))[:-20],
    ],
)  # fmt: skip
def test_an_invalid_record_is_a_problem(tmp_path: Path, line: str) -> None:
    path = folder(tmp_path / "published", [GOOD])
    (path / "recomputed").mkdir()
    (path / "recomputed" / "logs.jsonl").write_text(f"{line}\n", "utf-8")
    found = publications.read([path])
    assert [(each.code, each.line) for each in found.problems] == [("published_row", 1)]
    assert found.recorded == ()


def test_a_record_is_read(tmp_path: Path) -> None:
    path = folder(tmp_path / "published", [GOOD])
    (path / "recomputed").mkdir()
    (path / "recomputed" / "logs.jsonl").write_text(RECORD % ('"devices": 8, "model": "BERT-base", "options": {}', 5.5))
    found = publications.read([path])
    assert (len(found.recorded), found.problems) == (1, ())


def test_rows_have_addresses_of_pages_and_logs() -> None:
    source = publications.read([FOLDER]).sources["PaddlePaddle/Perf"]
    row = next(each for each in ROWS if each.source == source.name and each.place.startswith("README.md (root)"))
    assert source.address_of(row) == "https://github.com/PaddlePaddle/Perf/blob/e7a07c4/README.md"
    assert source.address_of_log(row) == f"https://github.com/PaddlePaddle/Perf/blob/e7a07c4/{row.log}"
    dlperf = next(each for each in ROWS if each.source == "DLPerf" and each.line == "124")
    address = publications.read([FOLDER]).sources["DLPerf"].address_of(dlperf)
    assert address == "https://github.com/Oneflow-Inc/DLPerf/blob/c89430bac6/README.md#L124"


def test_a_log_has_the_rules_of_its_source() -> None:
    found = publications.read([FOLDER])
    log = "Transformer/OtherReports/PyTorch/logs/V100_LOG/transformer_pytorch_bs5120_fp16_gpu8"
    assert found.rules_of(f"elsewhere/{log}") == found.rules_of(log) == ("mean:skip=44",)
    assert found.rules_of("elsewhere/train.log") == ()


def test_the_command_and_the_page_of_problems_report_a_bad_row(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    make_tree(tmp_path / "logs")
    folder(tmp_path / "logs" / "published", [GOOD, GOOD | {"value": "fast"}])
    done = ingest(tmp_path / "logs", "--out", tmp_path / "docs")
    assert done.code == 1
    assert any(
        line.startswith("published/made-up.csv:3: is invalid: value: expected a positive number, got 'fast'")
        for line in done.problems
    )
    page = (tmp_path / "docs" / "zh" / "problems.md").read_text("utf-8")
    assert "published/made-up.csv:3" in page
