"""A short part of `make fuzz`, the same in every run, and every input that it ever found to be read wrongly."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.fuzz import minimise, mutations, operators, properties
from tests.parsers.golden import log_of

FOUND = sorted((Path(__file__).parent / "found").glob("*.log"))
#: So many mutations of golden logs, in parts, so that a failure names its part; `make fuzz` reads many more.
PARTS, PER_PART, SEED = 6, 60, 20261122
#: Of the corpora, where they are at hand, and of long logs.
OF_CORPORA, OF_LONG_LOGS = 150, 25


def not_slow(wrong: list[str]) -> list[str]:
    """Leave out what a busy machine may do; `make fuzz` tells it."""
    return [each for each in wrong if not each.startswith(("slow", "memory"))]


def check(logs: list[Path], numbers: range, folder: Path) -> None:
    """Read mutations; what is wrong comes with the command that makes it again and writes a small log of it."""
    wrong = []
    for number in numbers:
        found = mutations.mutation(SEED, number, logs)
        if told := not_slow(found.wrong(found.damaged(logs), folder)):
            wrong.append(f"{found.name}: {told}\n  python -m tests.fuzz --seed {SEED} --first {number} --mutations 1")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("part", range(PARTS))
def test_mutated_goldens_are_read_as_they_must_be(part: int, tmp_path: Path) -> None:
    check(mutations.goldens(), range(part * PER_PART, (part + 1) * PER_PART), tmp_path)


def test_mutated_logs_of_a_thousand_records_are_read_as_they_must_be(tmp_path: Path) -> None:
    """NumPy casts more than 500 elements in another way, in which it crashed."""
    logs = mutations.goldens()
    wrong = {
        found.name: told
        for found in (mutations.long_mutation(SEED, number, logs) for number in range(OF_LONG_LOGS))
        if (told := not_slow(found.wrong(found.damaged(logs), tmp_path)))
    }
    assert not wrong


def test_a_lengthened_log_has_a_thousand_records(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(mutations.lengthened(log_of("paddle.seg")))
    assert max(run.observations for run in properties.runs(path)) > mutations.MANY_RECORDS


def test_mutated_logs_of_the_corpora_are_read_as_they_must_be(tmp_path: Path) -> None:
    found = mutations.corpora()
    if not found:
        pytest.skip("no corpus is at hand: make corpus")
    check(found, range(OF_CORPORA), tmp_path)


@pytest.mark.parametrize("log", FOUND, ids=lambda path: path.stem)
def test_what_was_found_once_is_read_as_it_must_be(log: Path) -> None:
    assert not_slow(properties.broken(log)) == []


def test_a_mutation_is_the_same_whenever_it_is_made() -> None:
    logs = mutations.goldens()
    for number in range(40):
        first, again = (mutations.mutation(1, number, logs) for _ in range(2))
        assert (first, first.damaged(logs)) == (again, again.damaged(logs))


@pytest.mark.parametrize("name", [*operators.DAMAGES, *operators.HARMLESS, *operators.OF_LONG_LOGS])
def test_every_operator_changes_a_log(name: str) -> None:
    text, operator = (
        log_of("paddle.clas_static").read_bytes(),
        {**operators.DAMAGES, **operators.HARMLESS, **operators.OF_LONG_LOGS}[name],
    )
    assert any(operator(text, Random(seed)) != text for seed in range(5))
    operator(b"", Random(1))


def test_a_figure_that_moves_is_found(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(log_of("frameworks.nvlog").read_bytes())
    before = properties.runs(path)
    path.write_bytes(path.read_bytes().replace(b"16000.5", b"26000.5"))
    assert mutations.kind_of(properties.moved(before, path)) == "moved"


def test_a_failing_log_is_made_small() -> None:
    text = b"".join(b"line %d\n" % number for number in range(500))
    assert minimise.minimal(text, lambda part: b"3" in part and b"499" in part) in (b"3499", b"4993")
