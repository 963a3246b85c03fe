"""Runs of several cases and recipes: their random order, repeats until the interval is narrow, trials, figures."""

from __future__ import annotations

import itertools
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from msgspec import structs

from perfledger.runners import batch, display, recipes, transport
from perfledger.runners import run as runs
from perfledger.runners.batch import Wanted, current_figure, rounds, until_narrow
from perfledger.runners.cases import select_cases
from perfledger.runners.cli import main
from perfledger.runners.command import plan_run
from perfledger.runners.job import RunnerError
from perfledger.runners.transport import Local
from perfledger.schema.figures import CaseFigure, FiguresFound
from tests.runners import home
from tests.runners.home import RECORD, ROOT, load
from tests.runners.test_end_to_end import RECIPE, TRAINER


def planned(write_recipe, tmp_path, batches="1, 2, 3, 4"):
    chosen = recipes.load(write_recipe("true", batches=batches))
    return [plan_run(chosen, case, tmp_path / "raw") for case in select_cases(chosen, {})]


def folders(runs):
    return [run.folder.parent.name for run in runs]


def in_order(firsts, repeats, seed):
    return [*rounds(firsts, seed, lambda _, made: made < repeats)]


def test_each_round_has_every_case_once_in_another_random_order(write_recipe, tmp_path):
    firsts = planned(write_recipe, tmp_path)
    runs = in_order(firsts, 6, 7)
    found = [folders(runs[start : start + 4]) for start in range(0, 24, 4)]
    assert [sorted(names) for names in found] == [sorted(folders(firsts))] * 6
    assert len(set(map(tuple, found))) > 3
    assert {run.folder.name for run in runs[-4:]} == {"6"}
    assert folders(in_order(firsts, 6, 7)) == folders(runs)
    assert folders(in_order(firsts, 6, 8)) != folders(runs)


@pytest.mark.parametrize("seed", range(5))
def test_no_case_runs_twice_in_a_row(write_recipe, tmp_path, seed):
    firsts = planned(write_recipe, tmp_path, batches="1, 2")
    names = folders(in_order(firsts, 20, seed))
    assert all(one != other for one, other in itertools.pairwise(names))


def test_cases_with_runs_already_have_as_many_fewer(write_recipe, tmp_path):
    firsts = planned(write_recipe, tmp_path)
    left = dict(zip((run.folder.parent for run in firsts), (1, 2, 0, 3), strict=True))
    names = folders(rounds(firsts, 0, lambda folder, made: made < left[folder]))
    assert Counter(names) == {folders(firsts)[0]: 1, folders(firsts)[1]: 2, folders(firsts)[3]: 3}
    assert names[-1] == folders(firsts)[3]


def figure(half_width, repeats, value=100.0, **more):
    interval = None if half_width is None else (value * (1 - half_width), value * (1 + half_width))
    runs = tuple(f"case/{number}/train.log" for number in range(1, repeats + 1))
    return CaseFigure(runs=runs, value=value, unit="images/s", repeats=repeats, interval=interval, **more)


@pytest.mark.parametrize(
    ("found", "made", "said"),
    [
        (figure(0.019, 7), 7, "±1.9 % after 7 repeats"),
        (figure(0.03, 7), 7, ""),
        (figure(0.17, 15), 15, "stopped at ±17 %: 15 repeats were allowed, and ±2 % asked"),
        (figure(None, 4), 4, ""),
        (None, 15, "stopped at no interval: 15 repeats were allowed, and ±2 % asked"),
    ],
)
def test_repeats_go_on_until_the_interval_is_narrow_or_all_are_made(found, made, said):
    assert Wanted(until_ci=0.02, max_repeats=15).verdict(found, made) == said


def supervised(figures):
    """Return a supervision with the figures of some cases."""
    return runs.Supervision(runs.StopSignals(), display.Progress(None), figures)


def test_only_cases_that_are_not_known_well_enough_go_on(write_recipe, tmp_path, capsys):
    firsts = planned(write_recipe, tmp_path, batches="1, 2")
    steady, noisy = (run.folder.parent for run in firsts)
    figures: dict[Path, FiguresFound] = {}
    made = Counter[Path]()
    for run in until_narrow(firsts, Wanted(until_ci=0.02, max_repeats=8), 0, supervised(figures), {}):
        folder = run.folder.parent
        made[folder] += 1
        assert run.folder.name == str(made[folder])
        width = None if made[folder] < 5 else 0.01 if folder == steady else 1 / made[folder]
        figures[folder] = FiguresFound(cases=(figure(width, made[folder]),))
    assert made == {steady: 5, noisy: 8}
    said = capsys.readouterr().out
    assert f"{steady}: ±1 % after 5 repeats" in said
    assert f"{noisy}: stopped at ±12 %: 8 repeats were allowed, and ±2 % asked" in said


def test_a_case_that_is_refused_is_not_said_to_have_had_all_its_repeats(write_recipe, tmp_path, capsys, monkeypatch):
    firsts = planned(write_recipe, tmp_path, batches="1, 2")
    good, bad = (run.folder.parent for run in firsts)
    figures: dict[Path, FiguresFound] = {}
    made = Counter[Path]()

    def launch(run, *_):
        made[run.folder.parent] += 1
        if run.folder.parent == bad:
            raise RunnerError("this machine: there is no torch")
        figures[good] = FiguresFound(cases=(figure(None if made[good] < 5 else 0.01, made[good]),))
        return "completed"

    monkeypatch.setattr(batch, "launch", launch)
    monkeypatch.setattr(batch, "checked_part", lambda spec: b"bad" if spec is firsts[1].spec else b"good")
    supervision = supervised(figures)
    monkeypatch.setattr(batch, "pause", lambda *_: None)
    runs = until_narrow(firsts, Wanted(until_ci=0.02, max_repeats=8), 0, supervision, {})
    assert batch.run_all(runs, 0, Local(), supervision) == batch.REFUSED
    assert made == {good: 5, bad: 1}
    said = capsys.readouterr().out
    assert f"{bad}: stopped: it was refused\n" in said
    assert f"{good}: ±1 % after 5 repeats" in said


def numbered(width, numbers, hardware):
    """Return the figure of some numbered runs of a case."""
    paths = tuple(f"case/{number}/train.log" for number in numbers)
    return structs.replace(figure(width, len(numbers)), runs=paths, hardware=hardware)


@pytest.mark.parametrize(("earlier", "made"), [([], 5), ([1, 2, 3, 4, 5], 0), ([1, 2, 3], 2)])
def test_earlier_runs_count_on_the_same_hardware_only(write_recipe, tmp_path, earlier, made):
    """On another machine, a case that is known well enough is measured from its beginning."""
    first = batch._repeat(*planned(write_recipe, tmp_path, batches="1"), later=10)
    folder = first.folder.parent
    here = numbered(None if len(earlier) < 5 else 0.01, earlier, "here")
    there = numbered(0.01, range(6, 11), "there")
    figures = {folder: FiguresFound(cases=(there, *([here] if earlier else [])))}
    numbers = [*earlier]
    for run in until_narrow([first], Wanted(until_ci=0.02, max_repeats=8), 0, supervised(figures), {folder: earlier}):
        assert len(numbers) < 8
        numbers.append(run.record.repeat)
        width = None if len(numbers) < 5 else 0.01
        figures[folder] = FiguresFound(cases=(there, numbered(width, numbers, "here")))
    assert len(numbers) - len(earlier) == made


def test_the_last_run_names_the_current_figure():
    rounds = [figure(None, 2, hardware="A", round=name, start=name) for name in ("2026Q1", "2026Q2")]
    other = figure(None, 2, hardware="B", round="2026Q4", start="2026Q4")
    now = CaseFigure(runs=("case/9/train.log",), value=3, unit="images/s", repeats=1, hardware="A", start="2026Q3")
    found = FiguresFound(cases=(*rounds, other, now))
    assert current_figure(found) == now


@pytest.fixture
def two_recipes(tmp_path):
    """Write two recipes of two frameworks around one trainer that takes its number of iterations."""
    (tmp_path / "trainer.py").write_text(TRAINER.replace("range(1, 21)", "range(1, int(sys.argv[2]) + 1)"))
    paths = []
    for name, framework in (("one", "PyTorch"), ("two", "Other")):
        text = RECIPE.format(python=f'"{sys.executable}"')
        text = text.replace('"{batch_size}"]', '"{batch_size}", "{iterations}"]').replace("PyTorch", framework)
        paths.append(tmp_path / f"{name}.toml")
        paths[-1].write_text(text.partition("[files]")[0] + FILES)
    return [str(path) for path in paths]


FILES = f"""[files]
"trainer.py" = "trainer.py"
"runners/__init__.py" = "{ROOT}/runners/__init__.py"
"runners/workloads/dllogger.py" = "{ROOT}/runners/workloads/dllogger.py"
"""


def begun(said):
    return [line.rsplit("/raw/resnet50/")[1] for line in said.splitlines() if re.match(r"\[\d", line)]


def test_several_recipes_run_in_one_random_order_and_end_with_a_table(two_recipes, tmp_path, capfd):
    words = ["run", *two_recipes, "--raw-logs", str(tmp_path / "raw"), "--seed", "3"]
    assert main(words) == 0
    said = capfd.readouterr().out
    names = begun(said)
    assert len(names) == 8
    assert [sorted(name.rpartition("/")[2] for name in names[start : start + 4]) for start in (0, 4)] == [
        ["1"] * 4, ["2"] * 4,
    ]  # fmt: skip
    assert {name.split("/")[0] for name in names[:4]} == {"pytorch", "other"}
    assert re.match(r"8 runs of 4 cases; [^\n]+\nin random order, seed 3\n", said)
    assert len(re.findall(r": completed, [\d.e+]+ images/s$", said, re.M)) == 8
    row = next(line for line in said.splitlines() if line.startswith("pytorch/cpu-n1d1-bs2-fp32 "))
    assert re.fullmatch(r"pytorch/\S+ +2 +[\d.e+]+ images/s +from 5 repeats on +[\d.]+ %\s*", row)
    assert f"next: python -m perfledger build {tmp_path}/raw --site site" in said
    runs = [load(path) for path in (tmp_path / "raw").rglob("run.json")]
    assert {run["order_seed"] for run in runs} == {3}


def test_two_recipes_that_write_into_one_folder_are_refused(two_recipes, tmp_path, capfd):
    shutil.copy(two_recipes[0], tmp_path / "again.toml")
    words = ["run", two_recipes[0], str(tmp_path / "again.toml"), "--raw-logs", str(tmp_path / "raw")]
    assert main(words) == 2
    assert "recipes one and again both write to " in capfd.readouterr().err


def test_a_plan_of_several_recipes_prints_what_starts_them_once(two_recipes, tmp_path, capsys):
    assert main(["plan", *two_recipes, "--raw-logs", str(tmp_path / "raw")]) == 0
    said = capsys.readouterr().out
    assert said.count("on this machine\n") == 1
    assert "8 runs of 4 cases" in said


def test_a_smoke_run_has_few_iterations_and_is_not_published(two_recipes, tmp_path, capfd):
    words = ["run", two_recipes[0], "--raw-logs", str(tmp_path / "raw")]
    assert main([*words, "--smoke"]) == 0
    said = capfd.readouterr().out
    assert "2 runs of 2 cases; one that takes longer than 1 min is stopped" in said
    assert said.count(": completed, 5 records read as ngc.pytorch_resnet50, about ") == 2
    assert said.count(" images/s; a smoke run, which no result counts") == 2
    assert "every case ran; leave --smoke out to measure" in said
    for path in (tmp_path / "raw").rglob("run.json"):
        run = load(path)
        assert (run["smoke"], run["outcome"], run["records"]["count"], run["argv"][-1]) == (True, "completed", 5, "5")
    done = subprocess.run(
        [sys.executable, "-m", "ingest", str(tmp_path / "raw"), "--out", str(tmp_path / "docs"), "--json"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count('"outcome": "trial"') == 2
    assert '"published": true' not in done.stdout
    assert (tmp_path / "docs/data/results.csv").read_text().count("\n") <= 1
    assert main([*words, "--resume", "--repeats", "1"]) == 0
    assert len(begun(capfd.readouterr().out)) == 2, "a trial is no repeat"


def test_a_smoke_run_needs_a_recipe_that_uses_its_iterations(write_recipe, tmp_path, capfd):
    path = write_recipe("true")
    path.write_text(
        path.read_text()
        .replace("{iterations}", "")
        .replace("iterations = 3", "iterations = 30")
        .replace("at_least = 1", "at_least = 30")
    )
    assert main(["run", str(path), "--smoke", "--raw-logs", str(tmp_path / "raw")]) == 2
    assert "nothing in the recipe uses {iterations}, so it would run as long as ever" in capfd.readouterr().err


def test_a_format_that_ingest_does_not_know_is_refused_before_the_run(write_recipe, tmp_path, capfd):
    path = write_recipe("true")
    usual = path.read_text()
    for unknown, meant in (("frameworks.hf_trianer", "frameworks.hf_"), ("nanoGPT", "frameworks.nanogpt`?")):
        path.write_text(usual.replace("ngc.pytorch_resnet50", unknown))
        for command in ("run", "check", "show"):
            more = ["--raw-logs", str(tmp_path / "raw")] if command == "run" else []
            assert main([command, str(path), *more]) == 2
            said = f"`records.format` is '{unknown}', which ingest does not know; did you mean `{meant}"
            assert said in capfd.readouterr().err
    assert not (tmp_path / "raw").exists()


NANOGPT = (
    'for i in $(seq 0 {iterations}); do printf "iter %d: loss 9.0000, time 200.%02dms, mfu 12.00%%\\n" $i $i; done'
)


@pytest.mark.parametrize("more", [[], ["--smoke"]])
def test_a_log_that_does_not_state_a_fact_is_answered_with_the_option_that_does(write_recipe, tmp_path, capfd, more):
    path = write_recipe(command=["bash", "-c", NANOGPT])
    text = (
        path.read_text()
        .replace("ngc.pytorch_resnet50", "frameworks.nanogpt")
        .replace("iterations = 3", "iterations = 160")
    )
    path.write_text(text)
    words = ["run", str(path), *more, "--raw-logs"]
    assert main([*words, str(tmp_path / "without")]) == 0
    said = capfd.readouterr().out
    assert "records read as frameworks.nanogpt" in said if more else "ms/step" in said
    assert "; add `sequence_length = ...` to [options] of the recipe" in said
    path.write_text(text.replace("[options]", "[options]\nsequence_length = 1024"))
    assert main([*words, str(tmp_path / "with")]) == 0
    said = capfd.readouterr().out
    assert "[options]" not in said
    assert "tokens/s" in said


def test_a_completed_run_without_a_figure_says_why(write_recipe, tmp_path, only_run, capfd):
    assert main(["run", str(write_recipe(f"{RECORD} record 1")), "--raw-logs", str(tmp_path / "raw")]) == 0
    _, run = only_run()
    assert run["outcome"] == "completed"
    assert "too few: 1 training record" in run["records"]["no_figure"]
    assert ": completed, and no figure: has no result: too few" in capfd.readouterr().out


def test_a_host_that_cannot_be_reached_is_asked_once(write_recipe, tmp_path, capfd, monkeypatch):
    asked = []
    usual = transport.ask_agents
    monkeypatch.setattr(transport, "ask_agents", lambda each, seconds: asked.append(seconds) or usual(each, seconds))
    path = write_recipe("true", batches="1, 2, 3, 4")
    words = ["run", str(path), "--on", "ssh:nowhere.invalid", "--repeats", "2", "--raw-logs", str(tmp_path / "raw")]
    assert main(words) == 2
    assert capfd.readouterr().err.count("nowhere.invalid: it gave no answer") == 1
    assert asked.count(transport.REQUEST_SECONDS["check"]) == 1
    assert not (tmp_path / "raw").exists()


def test_a_refusal_is_asked_for_once_for_cases_that_need_the_same(write_recipe, tmp_path, capfd):
    path = write_recipe(command=["no-such-trainer"], batches="1, 2, 3")
    assert main(["run", str(path), "--repeats", "2", "--raw-logs", str(tmp_path / "raw")]) == 2
    printed = capfd.readouterr()
    assert printed.err.count("the program no-such-trainer is not on this host") == 1
    assert not (tmp_path / "raw").exists()


def test_check_makes_the_checks_and_starts_nothing(write_recipe, tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["check", str(write_recipe("touch started", batches="1, 2"))]) == 0
    assert re.findall(r"^(\S+): can run$", capfd.readouterr().out, re.M) == ["cpu-n1d1-bs1-fp32"]
    assert main(["check", str(write_recipe(command=["no-such-trainer"]))]) == 2
    said = capfd.readouterr().err
    assert "cpu-n1d1-bs1-fp32: this machine: the program no-such-trainer is not on this host" in said
    assert not (tmp_path / "raw_logs").exists()
    assert not list(tmp_path.rglob("started"))


def test_a_run_waits_until_its_host_is_idle(write_recipe, tmp_path, capfd, monkeypatch):
    busy = transport.Warnings(("GPU 0 is busy",))
    answers = [busy, busy, transport.Warnings()]
    monkeypatch.setattr(transport.Local, "check", lambda *_: answers.pop(0))
    monkeypatch.setattr(runs, "IDLE_SECONDS", 0.01)
    words = ["run", str(write_recipe("true")), "--raw-logs", str(tmp_path / "raw"), "--if-busy", "wait"]
    assert main(words) == 1
    assert answers == []
    said = capfd.readouterr().out
    assert said.count("waiting until idle: GPU 0 is busy") == 1, "at once, and then once a minute"
    monkeypatch.setattr(transport.Local, "check", lambda *_: busy)
    monkeypatch.setattr(runs, "BUSY_SECONDS", 0.6)
    assert main([*words, "--repeats", "3"]) == 2
    error = capfd.readouterr().err
    assert "cpu-n1d1-bs1-fp32: not idle after 0 min: GPU 0 is busy; choose other hosts, or run it nevertheless" in error
    assert error.count("\n") == 1


def test_a_real_host_is_asked_whether_it_is_idle(write_recipe, tmp_path):
    (run,) = planned(write_recipe, tmp_path, batches="1")
    with home.running(write_recipe("echo begun; sleep 300"), tmp_path) as process:
        assert "another run measures here" in transport.Local().check(run, "idle").warnings[0]
        process.send_signal(signal.SIGTERM)
        process.wait()
    home.until(lambda: "another run" not in str(transport.Local().check(run, "idle")))


def test_without_a_terminal_the_state_is_printed_at_intervals(capsys, monkeypatch):
    progress = display.Progress(1)
    progress.state("running", "step 1")
    progress.state("busy", "waiting until idle: it computes")
    progress.state("busy", "waiting until idle: it computes")
    progress.state("unreachable", "out of reach for 5 s: n1")
    progress.state("running", "back")
    monkeypatch.setattr(display, "LIVE_SECONDS", 0)
    progress.state("running", "step 9")
    lines = [line.partition(":")[2][6:] for line in capsys.readouterr().out.splitlines()]
    assert lines == ["waiting until idle: it computes", "out of reach for 5 s: n1", "back", "step 9"]


def test_a_live_line_has_the_last_line_of_the_log(write_recipe, tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(display, "LIVE_SECONDS", 0.2)
    assert main(["run", str(write_recipe("echo step 1; sleep 1.5")), "--raw-logs", str(tmp_path / "raw")]) == 1
    assert "running: step 1\n" in capfd.readouterr().out


def test_stop_ends_an_orphaned_run_and_collects_it(write_recipe, tmp_path, capfd):
    with home.running(write_recipe(f"{RECORD} record 1; sleep 300"), tmp_path) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert main(["collect", "--stop", str(tmp_path / "raw")]) == 0
    (path,) = (tmp_path / "raw").rglob("run.json")
    assert (load(path)["outcome"], (path.parent / "train.log").stat().st_size > 0) == ("stopped", True)
    assert main(["collect", "--stop", str(tmp_path / "raw")]) == 0
    assert "nothing there is unfinished" in capfd.readouterr().out


def test_a_batch_size_that_does_not_fit_is_a_result_and_is_not_tried_again(write_recipe, tmp_path):
    program = f"{RECORD} record 1; [ $BATCH -le 5 ] || {{ echo 'CUDA out of memory'; exit 1; }}"
    path = write_recipe(program, batches="4", more='BATCH = "{batch_size}"\n')
    words = ["run", str(path), "--case", "batch_size=4|8", "--raw-logs", str(tmp_path / "raw")]
    assert main(words) == 1
    assert sorted(load(path)["outcome"] for path in (tmp_path / "raw").rglob("run.json")) == ["completed", "oom"]
    assert main([*words, "--resume"]) == 0
    assert not list((tmp_path / "raw").rglob("2/run.json"))
