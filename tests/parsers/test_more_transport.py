"""Golden logs of the later printers as transport brings them: other line ends, tags, cuts, copies one after another."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.read import Log, read

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
MINE = (
    "more.detectron2", "more.fairseq", "more.fairseq_old", "more.keras", "more.lightning", "more.paddle_detection",
    "more.paddle_ocr", "more.tf_cnn_benchmarks", "more.tf_estimator",
)  # fmt: skip
#: Printers that do not announce themselves in this dialect: two runs in one file cannot be told apart.
SILENT = {"more.tf_estimator"}


def golden(format_id: str) -> bytes:
    return (GOLDEN / format_id / "made-up.log").read_bytes()


def log_of(data: bytes, folder: Path) -> Log:
    path = folder / "train.log"
    path.write_bytes(data)
    return read(path)


def columns(log: Log) -> list[dict[str, list[float]]]:
    """What every session's main records say, NaN as text so that it equals itself."""
    names = ("epoch", "step", "throughput", "step_seconds", "duration", "loss", "memory")
    return [
        {name: [str(each) for each in session.main[name]] for name in names if name in session.main}  # type: ignore[misc]
        for session in log.sessions
    ]


@pytest.mark.parametrize("format_id", MINE)
def test_line_ends_and_tags_change_nothing(format_id: str, tmp_path: Path) -> None:
    expected = columns(log_of(golden(format_id), tmp_path))
    assert expected
    assert all(expected[0].values())
    crlf = golden(format_id).replace(b"\n", b"\r\n")
    tagged = b"".join(b"[1,0]<stdout>:" + each for each in golden(format_id).splitlines(keepends=True))
    for data in (crlf, b"\n\n" + golden(format_id), golden(format_id) + b"\n" * 3):
        assert columns(log_of(data, tmp_path)) == expected
    if b"\r" not in golden(format_id):
        assert columns(log_of(tagged, tmp_path)) == expected


@pytest.mark.parametrize("format_id", MINE)
def test_two_runs_in_one_file(format_id: str, tmp_path: Path) -> None:
    expected = columns(log_of(golden(format_id), tmp_path))
    found = columns(log_of(golden(format_id) * 2, tmp_path))
    assert len(found) == (1 if format_id in SILENT else 2)
    assert format_id in SILENT or found == expected * 2


@pytest.mark.parametrize("format_id", MINE)
def test_a_cut_never_makes_a_number(format_id: str, tmp_path: Path) -> None:
    """Wherever the last record is cut, it is read as it was or not at all, and the others stay."""
    data = golden(format_id)
    (whole,) = columns(log_of(data, tmp_path))
    main = log_of(data, tmp_path).sessions[0].main
    last = main.lines([len(main) - 1])[0]
    lines = data.splitlines(keepends=True) if b"\r" not in data else [each + b"\n" for each in data.split(b"\n")]
    before, line = b"".join(lines[: last - 1]), lines[last - 1]
    lengths = set()
    for cut in range(len(line) // 2, len(line)):
        for found in columns(log_of(before + line[:cut], tmp_path)):
            for name, values in found.items():
                # What follows the speed on its line may be missing; it may not be another number.
                agree = [each in (kept, "nan") for each, kept in zip(values, whole[name], strict=False)]
                assert all(agree), (name, values, line[:cut])
            lengths.add(len(found.get("loss", ())))
    assert max(lengths) >= len(main) - 1
