"""`new-format` drafts a format from a log that no format reads."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from perfledger.ingest import new_format
from perfledger.ingest.common.errors import UsageError
from perfledger.parsers.contract import Reading
from perfledger.parsers.engine import registry
from perfledger.parsers.engine.proposal import proposals
from perfledger.parsers.engine.read import read

#: 64 images in 250 ms are 256 images/s.
LINES = "".join(
    f"[run {step:>4}/400] ep=1 cost={3 - step / 400:.4f} | lr 3.0e-4 | 250.0 ms/batch | 256.0 img/s | mem 41.2 GB\n"
    for step in range(10, 210, 10)
)
TEMPLATE = (
    "[run {step}/{total_steps}] ep={epoch} cost={_} | lr {_} | {step_seconds:ms}/batch | {throughput} img/s "
    "| mem {memory:GB}"
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "perfledger.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "train.log"
    path.write_text(f"OurTrainer 2.0 on 8 devices\n{LINES}done\n")
    return path


def usual(_: str, default: str) -> str:
    return default


def answers(*given: str) -> new_format.Ask:
    left = iter(given)
    return lambda _, default: next(left) or default


def made(project: Path) -> registry.Format:
    return registry._format_of(registry._loaded(project / "formats" / "ours.py"), "own.ours", registry.Format)


def test_the_drafted_format_reads_the_log(project: Path, log: Path) -> None:
    report = new_format.create("ours", log, usual)
    assert "reads 20 of 20 such lines" in report
    format = made(project)
    assert [each.pattern for each in format.readings] == [TEMPLATE]
    assert (format.main.unit, format.main.scope) == ("images/s", "job")
    records = read(log, format).sessions[0].main
    assert records["throughput"].tolist() == [256.0] * 20
    assert records["step_seconds"].tolist() == [0.25] * 20
    assert records["step"].tolist()[:2] == [10, 20]


def test_the_golden_folder_contains_samples_and_records(project: Path, log: Path) -> None:
    new_format.create("ours", log, usual)
    golden = project / "formats" / "golden" / "ours"
    samples = tomllib.loads((golden / "samples.toml").read_text())
    format = made(project)
    for each in samples["line"]:
        assert format.main.finder.search(f"{each['text']}\n".encode())
        assert (each["values"]["throughput"], each["values"]["step_seconds"]) == (256, 0.25)
    assert all(not format.main.finder.search(each["text"].encode()) for each in samples["miss"])
    assert (golden / "records.csv").read_text().splitlines()[:2] == [
        "line,step,total_steps,epoch,step_seconds,throughput,memory", "2,10,400,1,0.25,256,42188.8",
    ]  # fmt: skip
    assert (golden / "train.log").read_text() == log.read_text()


def test_answers_change_names_unit_and_scope(project: Path, log: Path) -> None:
    new_format.create("ours", log, answers("1", "4=loss 7=_", "samples/s", "device"))
    main = made(project).main
    assert main.pattern == (
        "[run {step}/{total_steps}] ep={epoch} cost={loss} | lr {_} | {step_seconds:ms}/batch | {_} img/s "
        "| mem {memory:GB}"
    )
    assert (main.unit, main.scope) == ("samples/s", "device")


def test_a_corrected_name_is_not_also_that_of_its_proposal(project: Path, log: Path) -> None:
    new_format.create("ours", log, answers("1", "4=throughput", "", ""))
    assert "cost={throughput} | lr {_} | {step_seconds:ms}/batch | {_} img/s" in str(made(project).main.pattern)


@pytest.mark.parametrize(
    ("line", "template"),
    [
        ("step {n} loss 2.{n} speed 12.{n}K tok/s", "step {step} loss {loss} speed {throughput:short} tok/s"),
        ("step {n} time 1.{n} min 9{n} img/s", "step {step} time {_} min {throughput} img/s"),
        ("step {n} mem 41.{n}G 9{n} img/s", "step {step} mem {_}G {throughput} img/s"),
        ("step {n} took 0.{n}s/step", "step {step} took {step_seconds:s}/step"),
        ('{{"step": {n}, "time": 1.{n}}}', '{{"step": {step}, "time": {step_seconds}}}'),
        ('{{"step": {n}, "took_ms": 1.{n}}}', '{{"step": {step}, "took_ms": {step_seconds:in ms}}}'),
        ("step {n} time (ms): 1.{n}", "step {step} time (ms): {step_seconds:in ms}"),
        # The unit of a wait for data is that of a step, too, and any count per second is a speed.
        ("step {n} 9{n} utt/s data 0.{n} s", "step {step} {throughput} utt/s data {reader_seconds:s}"),
    ],
)
def test_units_without_a_conversion_are_not_read_as_other_units(line: str, template: str, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(f"{line.format(n=n)}\n" for n in (3, 5, 4, 6)))
    found = proposals(path)[0]
    assert found.template([each.name for each in found.numbers]) == template
    assert Reading(template).finder.search(path.read_bytes())


def test_a_time_that_only_grows_is_read_as_time_since_the_start(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(f"Step {n}/90; ppl: {9 - n / 10}; 300/400 tok/s; {n * 7} sec\n" for n in range(1, 9)))
    assert [each.name for each in proposals(path)[0].numbers] == [
        "step", "total_steps", "_", "_", "throughput", "elapsed",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (("7",), "'7' is not one of these lines; give a number from 1 to 1"),
        (("1", "4=speed"), "'4=speed' is not NUMBER=NAME"),
        (("1", "4=step 5=step"), "two numbers have one name"),
        (("1", "6=_ 7=_"), "no number is a time or a speed"),
        (("1", "", "parsecs"), "'parsecs' is not one of"),
        (("1", "", "", "rack"), "'rack' is not one of job, node, device"),
    ],
)
def test_after_a_wrong_answer_no_file_is_written(project: Path, log: Path, given: tuple[str, ...], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        new_format.create("ours", log, answers(*given))
    assert not (project / "formats").exists()


def test_an_unsuitable_log_is_refused(project: Path, log: Path) -> None:
    other = project / "other.log"
    other.write_text("one\ntwo\nthree\n")
    with pytest.raises(UsageError, match="no line repeats with changing numbers"):
        new_format.create("ours", other, usual)
    other.write_text("".join(f"iter {n}: loss 2.5, time 125.50ms, mfu 40.12%\n" for n in range(9)))
    with pytest.raises(UsageError, match=r"frameworks\.nanogpt reads other\.log already"):
        new_format.create("ours", Path("other.log"), usual)
    with pytest.raises(UsageError, match="give a name of small letters"):
        new_format.create("Our-Trainer", log, usual)
    new_format.create("ours", log, usual)
    with pytest.raises(UsageError, match=r"formats/ours\.py is there already"):
        new_format.create("ours", log, usual)
