"""`--diff REV`: which figures moved since a revision, as Markdown; over real repositories of git."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from made_logs import run_json, seg
from made_trees import Called, write_run

from perfledger.ingest.diff.text import LIMIT
from perfledger.schema.records import to_json
from tests import builders

Ingest = Callable[..., Called]
Line = dict[str, Any]


def run(name: str, **about: Any) -> Line:
    """Return a line of a ledger as JSON; lines of earlier versions may lack keys."""
    return to_json(builders.run(name, **about))


def git(folder: Path, *arguments: str) -> str:
    """Run a git command that must succeed, with its own committer."""
    named = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", "-C", str(folder), *named, *arguments], capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def write(repository: Path, lines: Sequence[Line]) -> None:
    """Write a ledger of one shard."""
    path = repository / "docs" / "data" / "runs" / "made-up.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), "utf-8")


def commit(repository: Path, lines: Sequence[Line]) -> None:
    write(repository, lines)
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "ledger", "--allow-empty")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    return folder


@pytest.fixture
def between(repository: Path, ingest: Ingest) -> Callable[..., str]:
    """Return the text about two states of the ledger, the first of them committed."""

    def said(before: Sequence[Line], after: Sequence[Line], language: str = "en") -> str:
        commit(repository, before)
        write(repository, after)
        called = ingest("diff", "HEAD", "--out", repository / "docs", "--language", language)
        assert (called.code, called.err) == (0, "")
        return called.out

    return said


def table(text: str, title: str) -> list[list[str]]:
    """Return the rows of the table below a heading, without its head."""
    part = re.split(r"\n(?=#### |<details><summary>\D)", text)
    found = [each for each in part if each.startswith(("#### " + title, "<details><summary>" + title))]
    assert len(found) == 1, f"{len(found)} sections {title!r} in:\n{text}"
    rows = [line.strip("| ").split(" | ") for line in found[0].splitlines() if line.startswith("| ")]
    return [each for each in rows if not re.fullmatch("-+", each[0])][1:]


def repeats(*speeds: float, name: str = "a", **more: Any) -> list[Line]:
    return [run(f"{name}-{number}", speed=speed, repeat=number, **more) for number, speed in enumerate(speeds, 1)]


def test_a_move_is_reported_with_both_figures_and_its_share(between: Callable[..., str]) -> None:
    text = between(repeats(400.0), repeats(420.0))
    [[result, before, after, change, spread, _]] = table(text, "Changed (1)")
    assert result.startswith("**ResNet-50 v1.5** · PyTorch · Test accelerator (made up) · devices: 1 · batch size: 64")
    assert (before, after, change) == ("400.0 images/s", "420.0 images/s", "+5.0%")
    assert spread == "too close to call"
    assert "- changed: 1 (clear: 0, likely: 0, too close to call: 1)\n" in text
    assert "- unchanged: 0\n" in text
    assert "No result changed" not in text


def test_the_biggest_moves_are_first_and_slower_ones_have_a_minus(between: Callable[..., str]) -> None:
    cases = {"a": 1, "b": 2, "c": 4}
    before = [run(name, devices=devices, speed=100.0) for name, devices in cases.items()]
    after = [run(name, devices=cases[name], speed=speed) for name, speed in (("a", 101.0), ("b", 70.0), ("c", 110.0))]
    assert [each[3] for each in table(between(before, after), "Changed (3)")] == ["−30.0%", "+10.0%", "+1.0%"]


def test_figures_with_equal_rounded_values_are_shown_exactly(between: Callable[..., str]) -> None:
    [[_, before, after, change, *_]] = table(between(repeats(400.0), repeats(400.004)), "Changed (1)")
    assert (before, after, change) == ("400 images/s", "400.004 images/s", "+0.001%")


def test_a_report_without_changes_says_so(between: Callable[..., str]) -> None:
    lines = [*repeats(400.0), *repeats(80.0, name="b", devices=8)]
    last_digit = [{**each, "figures": json.loads(json.dumps(each["figures"]))} for each in lines]
    last_digit[0]["figures"]["sustained"]["value"] = 400.0000000001
    text = between(lines, last_digit)
    assert "**No result changed.**" in text
    assert "- unchanged: 2\n" in text
    assert "| ---" not in text


def test_a_figure_that_moved_with_the_same_logs_was_computed_differently(between: Callable[..., str]) -> None:
    assert table(between(repeats(400.0), repeats(410.0)), "Changed (1)")[0][5] == "1, unchanged: computed differently"


def test_new_and_missing_results_show_whether_their_logs_are_new_or_missing(between: Callable[..., str]) -> None:
    text = between(repeats(400.0), repeats(90.0, name="b", precision="amp"))
    assert [each[1:] for each in table(text, "New (1)")] == [["90.00 images/s", "new logs"]]
    assert [each[1:] for each in table(text, "Removed (1)")] == [["400.0 images/s", "its logs were removed"]]
    assert "No result changed" not in text


CONTRADICTION = {
    "code": "contradiction",
    "path": "raw_logs/test/a-1/train.log",
    "line": 3,
    "args": {"fact": "nodes", "first": 1, "first_source": "run.json", "second": 2, "second_source": "log"},
}


@pytest.mark.parametrize(
    ("language", "gone", "why"),
    [("en", "Removed (1)", "has conflicting values for machines"), ("zh", "消失（1）", "机器数前后矛盾")],
)
def test_a_run_that_is_no_longer_published_has_a_reason(
    between: Callable[..., str], language: str, gone: str, why: str
) -> None:
    after = [{**each, "published": False, "problems": [CONTRADICTION]} for each in repeats(400.0)]
    text = between(repeats(400.0), after, language)
    assert why in table(text, gone)[0][2]
    title = {"en": "New problems (1)", "zh": "新出现的问题（1）"}
    [[place, sentence]] = table(text, title[language])
    assert place == "raw_logs/test/a-1/train.log:3"
    assert why in sentence


def test_a_solved_problem_is_reported(between: Callable[..., str]) -> None:
    before = [{**each, "problems": [CONTRADICTION]} for each in repeats(400.0)]
    assert "has conflicting values" in table(between(before, repeats(400.0)), "Solved problems (1)")[0][1]


@pytest.mark.parametrize(
    ("language", "title", "said"),
    [("en", "Changed outcome (1)", "out of memory"), ("zh", "结果状态改变（1）", "显存/内存不足")],
)
def test_a_changed_outcome_is_not_a_move(between: Callable[..., str], language: str, title: str, said: str) -> None:
    after = [{**each, "outcome": "oom", "figures": {}} for each in repeats(400.0)]
    text = between(repeats(400.0), after, language)
    assert table(text, title)[0][1:] == ["400.0 images/s", said]
    assert "changed: 0" in text or "数值变化：0" in text


def test_the_same_logs_under_another_description_are_not_a_new_result(between: Callable[..., str]) -> None:
    text = between(repeats(400.0), repeats(400.0, batch_size=128))
    [[was, now, before, after, change]] = table(text, "Same runs, described differently (1)")
    assert ("batch size: 64" in was, "batch size: 128" in now) == (True, True)
    assert (before, after, change) == ("400.0 images/s", "400.0 images/s", "0.0%")
    assert "- new: 0\n- removed: 0\n" in text


def test_a_split_result_is_marked(between: Callable[..., str]) -> None:
    one, other = repeats(400.0, 404.0)
    text = between([one, other], [one, {**other, "case": {**other["case"], "precision": "amp"}}])
    assert table(text, "Changed (1)")[0][5] == "2 → 1"
    assert [each[2] for each in table(text, "New (1)")] == ["these logs belonged to another result"]
    back = between([one, {**other, "case": {**other["case"], "precision": "amp"}}], [one, other])
    assert [each[2] for each in table(back, "Removed (1)")] == ["its logs belong to another result now"]


def test_a_problem_whose_words_are_gone_is_named_by_its_code(between: Callable[..., str]) -> None:
    before = [{**each, "problems": [{"code": "of_old", "path": "x.log", "line": 0}]} for each in repeats(400.0)]
    assert table(between(before, repeats(400.0)), "Solved problems (1)") == [["x.log", "of_old"]]


def test_other_metrics_are_compared_too(between: Callable[..., str]) -> None:
    def using(memory: float) -> list[Line]:
        return [{**each, "metrics": {"memory": {"value": memory, "unit": "MiB"}}} for each in repeats(400.0)]

    text = between(using(1000.0), using(1500.0))
    [row] = table(text, "Other metrics that changed (1)")
    assert row[1:] == ["Peak memory per device", "1,000 MiB", "1,500 MiB", "+50.0%"]
    assert "No result changed" not in text


def test_ledgers_of_earlier_versions_are_read(between: Callable[..., str]) -> None:
    late = ("metrics", "fingerprint", "sound", "clock", "telemetry", "facts", "environment", "suite", "session")
    before = [{name: value for name, value in each.items() if name not in late} for each in repeats(400.0)]
    after = [{**each, "environment": {}} for each in repeats(420.0)]
    assert table(between(before, after), "Changed (1)")[0][3] == "+5.0%"


def test_both_languages_have_the_same_numbers(repository: Path, ingest: Ingest) -> None:
    commit(repository, [*repeats(400.0, 404.0), *repeats(5.0, name="b", devices=2), *repeats(7.0, name="c", devices=4)])
    write(repository, [*repeats(500.0, 501.0), *repeats(5.5, name="b", devices=2), *repeats(9.0, name="d", devices=8)])
    said = {}
    for language in ("en", "zh"):
        text = ingest("diff", "main", "--out", repository / "docs", "--language", language).out
        said[language] = re.findall(r"[-+−]?\d[\d.,]*(?:%| images/s)", text)
        assert f"<!-- perfledger-diff {language} -->" in text
    assert said["en"] == said["zh"]
    assert len(said["en"]) == 10


def test_published_figures_of_others_are_counted_by_row(repository: Path, ingest: Ingest) -> None:
    commit(repository, repeats(400.0))
    other = repository / "docs" / "data" / "published.csv"
    other.write_text("source,value\na,1\nb,2\n", "utf-8")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "published")
    other.write_text("source,value\na,1\nb,3\nc,4\n", "utf-8")
    text = ingest("diff", "HEAD", "--out", repository / "docs").out
    assert "- rows of results published by others: 2 new, 1 removed\n" in text
    assert "published figures" not in ingest("diff", "HEAD", "--out", repository / "docs", "--language", "zh").out


def many(count: int, speed: float) -> list[Line]:
    return [
        run(f"many-{n}", batch_size=n, speed=speed * (1 + n / count), options={"name": "x" * 99})
        for n in range(1, count)
    ]


def test_long_tables_are_folded(between: Callable[..., str]) -> None:
    text = between(many(40, 100.0), many(40, 150.0))
    assert len(table(text.partition("<details>")[0], "Changed (39)")) == 12
    folded = text.partition("<details><summary>27 more</summary>\n\n")[2].partition("\n\n</details>")[0]
    assert len([line for line in folded.splitlines() if line.startswith("| **")]) == 27


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_comment_fits_githubs_limit_and_lists_what_it_left_out(between: Callable[..., str], language: str) -> None:
    text = between(many(600, 100.0), many(600, 150.0), language)
    assert LIMIT * 0.7 < len(text.encode()) <= LIMIT < 65_536
    shown = sum(line.startswith("| **") for line in text.splitlines())
    left = re.findall(r"^(\d+) more were omitted|^另有 (\d+) 项因", text, re.MULTILINE)
    assert [shown + int(one or other) for one, other in left] == [599]
    assert re.search(r"(changed: |数值变化：)599", text)


HOSTILE = "x|y `z` @alice #12 <script> </details> [a](b) ![i](u) *b* _c_ $d$ \u202ereversed\x07 \\|"


def test_text_from_logs_is_neither_markup_nor_a_mention(between: Callable[..., str]) -> None:
    text = between([], repeats(400.0, model=HOSTILE, options={"o": HOSTILE}))
    [[result, figure, why]] = table(text, "New (1)")
    assert (figure, why) == ("400.0 images/s", "new logs")
    assert not re.search(r"[`<>\[\]|$\u202e\x07]", result)
    assert not re.search(r"@alice|#12\b", result)


def test_a_report_ingest_wrote_is_compared_with_the_one_before(repository: Path, ingest: Ingest) -> None:
    logs = repository / "raw_logs"
    for speed, committed in ((5.0, True), (6.0, False)):
        write_run(logs, "seg/paddleseg/bs2/1", seg([1.0, *[speed] * 9], batch=2), run=run_json(batch_size=2))
        assert ingest(logs, "--out", repository / "docs").code == 0
        if committed:
            git(repository, "add", "docs")
            git(repository, "commit", "-qm", "pages")
    text = ingest("diff", "main", "--out", repository / "docs").out
    assert table(text, "Changed (1)")[0][3] == "+20.0%"


def test_the_revision_may_be_a_branch_a_tag_or_an_ancestor(repository: Path, ingest: Ingest) -> None:
    commit(repository, repeats(400.0))
    git(repository, "tag", "first")
    commit(repository, repeats(420.0))
    git(repository, "branch", "second")
    for rev, moved in (("first", 1), ("HEAD~1", 1), ("second", 0)):
        text = ingest("diff", rev, "--out", repository / "docs").out
        assert f"- changed: {moved} " in text
        assert git(repository, "rev-parse", rev)[:10] in text


def refused(called: Called) -> str:
    """Return the one line that a refused call prints."""
    assert (called.code, called.out) == (2, "")
    assert len(called.problems) == 1
    return called.problems[0]


@pytest.mark.parametrize("rev", ["no-such-branch", "--output=x", "", "main:docs", "HEAD..main"])
def test_an_unknown_revision_is_named_with_a_remedy(repository: Path, ingest: Ingest, rev: str) -> None:
    commit(repository, repeats(400.0))
    said = refused(ingest("diff", "--out", repository / "docs", "--", rev))
    assert said.startswith(f"ingest: diff {rev}: git knows no such revision")
    assert "git fetch origin main" in said


def test_a_revision_before_the_first_pages_is_refused(repository: Path, ingest: Ingest) -> None:
    git(repository, "commit", "-qm", "empty", "--allow-empty")
    write(repository, repeats(400.0))
    assert "holds no" in refused(ingest("diff", "HEAD", "--out", repository / "docs"))


def test_a_folder_without_a_repository_is_refused(
    tmp_path: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    write(tmp_path / "loose", repeats(400.0))
    said = refused(ingest("diff", "HEAD", "--out", tmp_path / "loose" / "docs"))
    assert "not a git repository" in said
    assert "clone" in said


def test_a_folder_without_a_ledger_is_refused(repository: Path, ingest: Ingest) -> None:
    assert "run python -m ingest" in refused(ingest("diff", "HEAD", "--out", repository / "docs"))


def test_missing_git_is_named(repository: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(repository, repeats(400.0))
    monkeypatch.setenv("PATH", "/nowhere")
    assert "install it" in refused(ingest("diff", "HEAD", "--out", repository / "docs"))


def test_a_shallow_clone_and_a_wrong_name_have_different_messages(
    repository: Path, ingest: Ingest, tmp_path: Path
) -> None:
    commit(repository, repeats(400.0))
    commit(repository, repeats(420.0))
    git(tmp_path, "clone", "-q", "--depth", "1", repository.as_uri(), "clone")
    said = refused(ingest("diff", "HEAD~1", "--out", tmp_path / "clone" / "docs"))
    assert "shallow" in said
    assert "git fetch --unshallow" in said


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("{", "is not JSON"), ("[]", "is no line of a ledger"), ('{"case": []}', "is no line of a ledger"),
        ('{"figures": {"sustained": {"value": "fast"}}}', "is no line of a ledger"),
        ('{"problems": [{}]}', "is no line of a ledger"),
    ],
)  # fmt: skip
def test_a_broken_ledger_is_named_by_file_and_line(repository: Path, ingest: Ingest, written: str, why: str) -> None:
    commit(repository, repeats(400.0))
    path = repository / "docs" / "data" / "runs" / "made-up.jsonl"
    path.write_text(path.read_text("utf-8") + written + "\n", "utf-8")
    said = refused(ingest("diff", "HEAD", "--out", repository / "docs"))
    assert f"made-up.jsonl:2: {why}" in said
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "broken")
    write(repository, repeats(400.0))
    assert f"HEAD:{repository / 'docs'}/data/runs/made-up.jsonl:2: {why}" in refused(
        ingest("diff", "HEAD", "--out", repository / "docs")
    )
