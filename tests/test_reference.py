"""The reference of real logs: its sentences about moved runs, and a check that no figure has moved."""

from __future__ import annotations

from pathlib import Path

from tests import reference

ROW = dict.fromkeys(reference.COLUMNS, "") | {
    "path": "raw_logs/a/train.log", "session": "1", "outcome": "completed", "rule": "sustained", "value": "1.43",
    "unit": "images/s", "scope": "job",
}  # fmt: skip
KEY = reference.key_of(ROW)


def moved(before: dict[str, str] | None, now: dict[str, str] | None) -> list[str]:
    return list(reference.moved({KEY: before} if before else {}, {KEY: now} if now else {}))


def test_a_moved_figure_is_listed_with_its_ratio() -> None:
    (found,) = moved(ROW, ROW | {"value": "5.72"})
    assert found == (
        "raw_logs/a/train.log: 1.43 images/s (sustained, per job) -> 5.72 images/s (sustained, per job), 4 times"
    )


def test_a_lost_figure_is_listed_with_its_reason() -> None:
    (found,) = moved(ROW, ROW | {"value": "", "unit": "", "scope": "", "reason": "too_short", "problems": "too_few"})
    assert found.endswith("-> no figure (too_short); problems none -> too_few")


def test_a_log_that_is_not_here_is_skipped_and_a_removed_one_of_ours_is_not(tmp_path: Path) -> None:
    elsewhere = ROW | {"path": "corpus/public/train.log"}
    before = {reference.key_of(row): row for row in (ROW, elsewhere)}
    trees = [reference.Tree("raw_logs", reference.ROOT / "raw_logs"), reference.Tree("corpus/public", tmp_path)]
    assert reference.absent(before, {}, trees) == {reference.key_of(elsewhere)}


def test_no_figure_of_our_shortest_logs_has_moved() -> None:
    """The shortest log of each model and format; `make reference` reads all logs."""
    tree = reference.Tree("raw_logs", reference.ROOT / "raw_logs")
    shortest: dict[tuple[str, str], Path] = {}
    for path, format_id in sorted((row["path"], row["format"]) for row in reference.accepted().values()):
        log = reference.ROOT / path
        if log.is_relative_to(tree.path):
            model = log.relative_to(tree.path).parts[-5]
            shortest[model, format_id] = min(
                shortest.get((model, format_id), log), log, key=lambda each: each.stat().st_size
            )
    now = reference.computed_of_few(tree, shortest.values())
    assert len(now) >= 12
    before = {key: row for key, row in reference.accepted().items() if key in now}
    assert list(reference.moved(before, now)) == []


def test_no_figure_of_a_real_log_has_moved() -> None:
    before, trees = reference.accepted(), reference.trees()
    now = reference.computed(trees)
    skipped = reference.absent(before, now, trees)
    assert list(reference.moved({key: row for key, row in before.items() if key not in skipped}, now)) == []
