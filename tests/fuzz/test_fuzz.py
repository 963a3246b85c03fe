"""A short part of `make fuzz` with a fixed seed, and every log that `make fuzz` found to be read wrongly."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from perfledger.ingest.record import run as record_run
from perfledger.parsers.engine.scan import unstyled
from tests.fuzz import minimise, mutations, operators, properties
from tests.parsers.golden import log_of

FOUND = sorted((Path(__file__).parent / "found").glob("*.log"))
#: Number of mutations of golden logs, in parts, so that a failure names its part.
PARTS, PER_PART, SEED = 6, 60, 20261122
#: Number of mutations of the corpora, if they exist.
OF_CORPORA = 150
#: Number of mutations of logs with many records.
OF_LONG_LOGS = 25
#: Mutated logs in one folder.
IN_FOLDER = 40


@pytest.fixture
def apart(tmp_path: Path) -> Iterator[mutations.Apart]:
    with closing(mutations.Apart(tmp_path)) as found:
        yield found


def not_slow(wrong: list[str]) -> list[str]:
    """Leave out delays and memory, which a busy machine may cause; `make fuzz` reports them."""
    return [each for each in wrong if not each.startswith(("slow", "memory"))]


def check(logs: list[Path], numbers: range, apart: mutations.Apart, least: int = 0) -> None:
    """Read mutations of short logs, or of logs of at least `least` bytes."""
    wrong = []
    for number in numbers:
        found = (mutations.long_mutation if least else mutations.mutation)(SEED, number, logs)
        if broken := not_slow(apart.wrong(found, found.damaged(logs, least))):
            wrong.append(f"{found.name}: {broken}\n  python -m tests.fuzz --seed {SEED} --first {number} --mutations 1")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("part", range(PARTS))
def test_mutated_goldens_are_read_as_they_must_be(part: int, apart: mutations.Apart) -> None:
    check(mutations.goldens(), range(part * PER_PART, (part + 1) * PER_PART), apart)


def test_mutated_logs_of_a_thousand_records_are_read_as_they_must_be(apart: mutations.Apart) -> None:
    """NumPy casts more than 500 elements by other code, which crashed."""
    check(mutations.goldens(), range(OF_LONG_LOGS), apart, least=1)


def test_a_lengthened_log_has_a_thousand_records_and_its_clock_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(mutations.lengthened(log_of("frameworks.monai")))
    (run,) = properties.runs(path)
    assert run.observations > mutations.MANY_RECORDS
    assert run.clock == ("2026-11-20T10:00:01.750", "2026-11-20T10:17:00.250")


def test_mutated_logs_of_the_corpora_are_read_as_they_must_be(apart: mutations.Apart) -> None:
    found = mutations.corpora()
    if not found:
        pytest.skip("no corpus is at hand: make corpus")
    check(found, range(OF_CORPORA), apart)


def test_a_native_crash_is_a_failure_of_one_mutation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(properties, "broken", lambda path: os.abort() if path.read_bytes() else [])
    found = mutations.Mutation(log_of("paddle.seg"), "", ())
    with closing(mutations.Apart(tmp_path)) as apart:
        assert apart.wrong(found, b"crash") == ["death: SIGABRT"]
        assert apart.wrong(found, b"") == []


def test_an_exception_is_a_failure_of_one_mutation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(properties, "broken", lambda path: [][1])
    with closing(mutations.Apart(tmp_path)) as apart:
        (wrong,) = apart.wrong(mutations.Mutation(log_of("paddle.seg"), "", ()), b"text")
    assert wrong.startswith("exception: {'kind': 'IndexError'")


def test_neighbours_of_a_log_that_ends_its_reader_are_read(tmp_path: Path) -> None:
    logs = mutations.goldens()
    found = (mutations.mutation(SEED, number, logs) for number in range(IN_FOLDER))
    assert properties.neighbours_lost([each.changed(each.damaged(logs)) for each in found], tmp_path / "logs") == []


def test_a_native_crash_in_a_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = record_run.read

    def crashes(path: Path) -> Any:
        return os.kill(os.getpid(), signal.SIGBUS) if path.name == "0001.log" else real(path)

    monkeypatch.setattr(record_run, "read", crashes)
    (wrong,) = properties.neighbours_lost([log.read_bytes() for log in mutations.goldens()[:5]], tmp_path / "logs")
    assert wrong.startswith("death: logs/0001.log: was not read: the process that read it ended (SIGBUS)")


@pytest.mark.parametrize("log", FOUND, ids=lambda path: path.stem)
def test_logs_that_were_read_wrongly_are_read_correctly(log: Path) -> None:
    assert not_slow(properties.broken(log)) == []


def test_seed_and_number_determine_a_mutation() -> None:
    logs = mutations.goldens()
    for number in range(40):
        first, again = (mutations.mutation(1, number, logs) for _ in range(2))
        assert (first, first.damaged(logs)) == (again, again.damaged(logs))


@pytest.mark.parametrize("name", [*operators.DAMAGES, *operators.HARMLESS])
def test_every_operator_changes_a_log(name: str) -> None:
    text, operator = log_of("paddle.clas_static").read_bytes(), {**operators.DAMAGES, **operators.HARMLESS}[name]
    assert any(operator(text, Random(seed)) != text for seed in range(5))
    operator(b"", Random(1))


def test_a_figure_that_moves_is_found(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(log_of("frameworks.nvlog").read_bytes())
    before = properties.runs(path)
    path.write_bytes(path.read_bytes().replace(b"16000.5", b"26000.5"))
    assert mutations.kind_of(properties.moved(before, path)) == "moved"


def test_another_rule_gives_the_headline_if_a_reason_says_why(tmp_path: Path) -> None:
    """Empty lines push the devices out of the head: without it only the figure at the end can be trusted."""
    path, text = tmp_path / "train.log", log_of("frameworks.tf_cnn_benchmarks").read_bytes()
    path.write_bytes(text)
    before = properties.runs(path)
    path.write_bytes(text.replace(b"\nVariables:", b"\n" * 30 + b"Variables:"))
    assert [run.rule for run in properties.runs(path)] == ["reported"]
    assert properties.moved(before, path) == []
    path.write_bytes(path.read_bytes().replace(b"1024.75", b"1024.5"))
    assert mutations.kind_of(properties.moved(before, path)) == "moved"


def test_a_problem_of_another_run_may_explain_a_lost_figure(tmp_path: Path) -> None:
    path, whole = tmp_path / "train.log", log_of("frameworks.axolotl").read_bytes()
    without_bars = b"".join(each for each in whole.splitlines(keepends=True) if b"%|" not in each)
    path.write_bytes(whole + without_bars)
    before = properties.runs(path)
    path.write_bytes(without_bars + without_bars)
    assert properties.moved(before, path) == []


def test_lines_with_labels_of_their_own_are_not_labelled(tmp_path: Path) -> None:
    """The first of two stamps is a label, and the second, which was read as a label before, becomes the clock."""
    log = log_of("frameworks.internlm")
    lines = [each for each in log.read_bytes().splitlines(keepends=True) if each.startswith(b"2026-11-20T")]
    text = b"".join([*lines[:3], *lines[-2:]])
    assert len(properties.labels(text)) == 5
    assert not_slow(mutations.Mutation(log, "", (), "labelled").wrong(text, tmp_path)) == []


def test_labels_of_lines_are_compared_if_other_lines_have_tags() -> None:
    """Few lines have a tag, and the labels are removed only if most lines have one."""
    few = b"0: step 1\n1: step 1\n[default5]:0: step 2\n1: step 2\n0: step 3\n1: step 3\n"
    assert properties.labels(few) == [3, 3, 11, 3, 3, 3]
    assert properties.labels(few.replace(b"\n", b"\n~~~~\n")) == [11]


def test_a_log_of_two_programs_may_become_that_of_one(tmp_path: Path) -> None:
    """Bars between the four lines of each of GluonCV's records leave those of PaddleClas."""
    path, log = tmp_path / "train.log", log_of("paddle.clas_dygraph")
    text = log_of("frameworks.gluon_cv_torch").read_bytes() + log.read_bytes()
    mutation = mutations.Mutation(log, "5", (), "bars")
    path.write_bytes(mutation.changed(text))
    assert [run.headline and run.format for run in properties.runs(path)] == ["paddle.clas_dygraph"]
    assert not_slow(mutation.wrong(text, tmp_path)) == []


def test_a_number_with_a_tag_of_mpirun_in_it_is_on_its_line(tmp_path: Path) -> None:
    path, text = tmp_path / "train.log", log_of("paddle.clas_dygraph").read_bytes()
    path.write_bytes(re.sub(rb"(?<=batch_cost: \d)", b"[1,3]<stdout>:", text))
    assert not_slow(properties.broken(path)) == []


@pytest.mark.parametrize("name", ["blank lines", "trailing blanks", "line ends"])
def test_a_cut_line_stays_cut(name: str) -> None:
    assert all(
        operators.HARMLESS[name](b"step 1\nspeed: 39", Random(seed)).endswith(b"\nspeed: 39") for seed in range(9)
    )


def test_text_that_backspaces_remove_is_invisible_on_short_lines() -> None:
    lines = b'{\n"epoch": 1\n}\n'
    shown = {unstyled(operators.HARMLESS["coloured"](lines, Random(seed))).replace(b" \n", b"\n") for seed in range(30)}
    assert shown == {lines}


@pytest.mark.parametrize("harmless", ["blank lines", "trailing blanks", "line ends", "bars", "redrawn"])
def test_harmless_changes_keep_a_summary_of_several_lines_whole(harmless: str) -> None:
    log = log_of("ngc.mxnet_resnet50")
    text = log.read_bytes()
    table = text[text.index(b"train.ips\n") :].strip()
    changed = {mutations.Mutation(log, str(seed), (), harmless).changed(text) for seed in range(5)}
    assert all(table in each for each in changed)
    assert changed != {text}


@pytest.mark.parametrize(
    ("format_id", "end"),
    [
        ("dlperf.oneflow_models_ctr", b"\t\n"),
        ("dlperf.oneflow_wdl", b"\n\n"),
        ("frameworks.diffusers", b"\t\n"),
        ("frameworks.autoresearch", b"\n \t\n"),
        ("frameworks.env_steps", b"\t\n"),
        ("frameworks.gaussian_splatting", b" \n"),
        ("frameworks.hf_iteration", b"\n" + b"~" * 2_000 + b"\n"),
        ("frameworks.horovod_synthetic", b"\n\n"),
        ("frameworks.lerobot", b"\t\n"),
        ("frameworks.maskrcnn_benchmark", b" \n"),
        ("frameworks.minillm", b"\n\n"),
        ("frameworks.parameter_golf", b"\n\n"),
    ],
)
def test_bytes_between_the_lines_of_two_runs_move_no_figure(format_id: str, end: bytes, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(log_of(format_id).read_bytes() * 2)
    before = properties.runs(path)
    path.write_bytes(path.read_bytes().replace(b"\n", end))
    assert not_slow(properties.moved(before, path)) == []
    assert len(properties.runs(path)) == len(before) == 2


def test_a_bar_after_the_brace_that_begins_a_document_merges_no_runs(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(log_of("frameworks.hf_results").read_bytes().replace(b"{\n", b"{\n 37%|###   | 37/100\n") * 2)
    assert [run.headline and run.headline.value for run in properties.runs(path)] == [4.996, 4.996]


def test_a_failing_log_is_made_small() -> None:
    text = b"".join(b"line %d\n" % number for number in range(500))
    assert minimise.minimal(text, lambda part: b"3" in part and b"499" in part) in (b"3499", b"4993")
