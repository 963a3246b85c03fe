"""The search for the largest batch size: the sizes that are tried, and a real search."""

from __future__ import annotations

import os
import signal

import pytest

from perfledger.runners import recipe
from perfledger.runners.batch import largest_fitting, next_size, smallest_sizes
from perfledger.runners.cli import main
from perfledger.runners.recipe import select_cases
from tests.runners.home import RECORD, Runner, folder_of, load, running, until


def tried(smallest: int, border: int) -> tuple[list[int], int]:
    """Return the sizes tried where those up to `border` fit, and the largest that was found."""
    fits: set[int] = set()
    fails: set[int] = set()
    sizes = []
    while size := next_size(smallest, fits, fails):
        sizes.append(size)
        (fits if size <= border else fails).add(size)
    return sizes, largest_fitting(fits, fails)


@pytest.mark.parametrize(
    ("smallest", "border", "sizes", "found"),
    [
        (32, 100, [32, 64, 128, 96, 112, 104], 96),
        (32, 128, [32, 64, 128, 256, 192, 160, 144, 136], 128),
        (1, 1, [1, 2], 1),
        (1, 13, [1, 2, 4, 8, 16, 12, 14, 13], 13),
        (12, 30, [12, 24, 48, 32], 24),
        (64, 40, [64, 32, 48, 40], 40),
        (8, 0, [8, 4, 2, 1], 0),
        (8, 3, [8, 4, 2, 3], 3),
    ],
)
def test_sizes_are_doubled_until_memory_runs_out_then_halved_in_between(smallest, border, sizes, found):
    assert tried(smallest, border)[1] == found
    assert tried(smallest, border)[0] == sizes


def test_the_limit_is_found_to_the_step():
    for border in range(300):
        sizes, found = tried(16, border)
        assert found == (border if border <= 16 else border // 8 * 8)
        assert len(sizes) == len(set(sizes)) <= 12


def test_a_failure_below_a_size_that_fits_counts():
    assert largest_fitting({8, 32}, {16}) == 8
    assert next_size(8, {8, 32}, {16}) == 12


def test_one_search_for_cases_that_differ_in_the_batch_size_only(write_recipe):
    path = write_recipe("true", batches="4, 2, 8")
    path.write_text(path.read_text().replace('precision = ["fp32"]', 'precision = ["fp32", "amp"]'))
    chosen = recipe.load(path)
    found = smallest_sizes(chosen, select_cases(chosen, {}))
    assert [(case.precision, case.batch_size) for case in found] == [("fp32", 2), ("amp", 2)]


@pytest.fixture
def hungry(write_recipe):
    """Write a recipe whose program has memory for a batch of five."""
    program = f"{RECORD} record 1; [ $BATCH -le 5 ] || {{ echo 'CUDA out of memory'; exit 1; }}"
    return write_recipe(program, batches="4, 8", more='BATCH = "{batch_size}"\n')


@pytest.mark.usefixtures("bash")
def test_each_attempt_is_a_run_and_the_result_is_printed(hungry, tmp_path, capfd):
    words = ["run", str(hungry), "--find-max-batch", "--raw-logs", str(tmp_path / "raw")]
    assert main(words) == 0
    said = capfd.readouterr().out
    sentence = "the largest batch size that completed is 5; the smallest that ran out of memory is 6"
    assert sentence in said
    outcomes = {
        int(path.parts[-3].split("-bs")[1].split("-")[0]): load(path)["outcome"]
        for path in (tmp_path / "raw").rglob("run.json")
    }
    assert outcomes == {4: "completed", 8: "oom", 6: "oom", 5: "completed"}
    assert main([*words, "--resume"]) == 0
    assert sentence in capfd.readouterr().out
    assert not list((tmp_path / "raw").rglob("2/run.json"))


@pytest.mark.usefixtures("bash")
def test_a_search_ends_at_its_bound(write_recipe, tmp_path, capfd):
    path = write_recipe(f"{RECORD} record 1", batches="1, 2")
    words = ["run", str(path), "--find-max-batch", "--raw-logs", str(tmp_path / "raw")]
    assert main([*words, "--max-batch", "4"]) == 0
    said = capfd.readouterr().out
    assert "the largest batch size that completed is 4; larger ones were not tried, for the search goes up to 4" in said
    assert sorted(folder.name.split("-")[2] for folder in folder_of(tmp_path).parent.iterdir()) == ["bs1", "bs2", "bs4"]
    assert main([*words, "--resume"]) == 0
    assert "the largest batch size that completed is 128; larger ones were not tried" in capfd.readouterr().out
    assert main(["run", str(path), "--max-batch", "4"]) == 2


@pytest.mark.usefixtures("bash")
def test_probes_with_fewer_iterations_are_trials(write_recipe, tmp_path, capfd):
    program = f'{RECORD} for n in $(seq "$2"); do record $n; done; [ $BATCH -le 2 ] || {{ echo OutOfMemory; exit 1; }}'
    command = ["bash", "-c", program.replace("{", "{{").replace("}", "}}"), "bash", "{word}", "{iterations}"]
    path = write_recipe(batches="1", command=command, more='BATCH = "{batch_size}"\n')
    path.write_text(path.read_text().replace("at_least = 1", "at_least = 3"))
    words = ["run", str(path), "--find-max-batch", "--raw-logs", str(tmp_path / "raw"), "--case", "iterations=1"]
    assert main(words) == 0
    assert (
        "the largest batch size that completed is 2; the smallest that ran out of memory is 3" in capfd.readouterr().out
    )
    runs = [load(path) for path in sorted((tmp_path / "raw").rglob("run.json"))]
    assert {(run["outcome"], run.get("smoke", False)) for run in runs} == {("completed", True), ("oom", False)}
    assert main([*words, "--resume"]) == 0
    assert not list((tmp_path / "raw").rglob("2/run.json")), "the same probes count"
    assert main([*words[:-1], "iterations=3", "--resume"]) == 0
    assert len(list((tmp_path / "raw").rglob("2/run.json"))) == 2, "a probe with all iterations is another"


@pytest.mark.usefixtures("bash")
def test_resume_waits_for_an_attempt_that_still_runs(write_recipe, tmp_path):
    program = (
        f"{RECORD} record 1; until [ -e {tmp_path}/go ] || [ $BATCH -gt 4 ]; do sleep 0.1; done; "
        "[ $BATCH -le 4 ] || { echo 'CUDA out of memory'; exit 1; }"
    )
    path = write_recipe(program, batches="4", more='BATCH = "{batch_size}"\n')
    with running(path, tmp_path, "--find-max-batch") as process:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    again = Runner(path, tmp_path, "--find-max-batch", "--resume")
    until(lambda: "\n" in again.said()[0])
    assert again.said()[0].splitlines()[0].endswith("cpu-n1d1-bs4-fp32/1")
    (tmp_path / "go").touch()
    assert again.wait() == 0
    assert "the largest batch size that completed is 4;" in again.said()[0]
    assert [path.name for path in folder_of(tmp_path, "cpu-n1d1-bs4-fp32").iterdir()] == ["1"]


@pytest.mark.usefixtures("bash")
def test_an_outcome_other_than_completed_or_oom_ends_the_search(write_recipe, tmp_path, capfd):
    path = write_recipe("exit 3", batches="4")
    assert main(["run", str(path), "--find-max-batch", "--raw-logs", str(tmp_path / "raw")]) == 1
    said = capfd.readouterr().out
    assert "no batch size completed; the search ended early: batch size 4 came to `failed`" in said
    assert [path.name for path in folder_of(tmp_path).parent.iterdir()] == ["cpu-n1d1-bs4-fp32"]
