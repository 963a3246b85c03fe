"""The command line: what it prints, and one message with exit status 2 for input that cannot be used."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys

import click
import pytest

from perfledger.runners import ingest_link, recipes
from perfledger.runners.cli import cli, main
from perfledger.runners.display import complain
from perfledger.runners.job import RunnerError
from perfledger.runners.nodes import printable
from tests.runners import quick
from tests.runners.agents import change_agent
from tests.runners.arrivals import arrive, begun
from tests.runners.home import RECORD, ROOT, folder_of, load, until
from tests.runners.node import ended


def test_list_names_every_recipe_with_its_device_and_launcher(capsys):
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = {line.split()[0]: line.split() for line in lines if line.startswith("  ")}
    assert sorted(rows) == recipes.names()
    for name, row in rows.items():
        loaded = recipes.load(recipes.find(name))
        assert row[1:3] == [loaded.device, loaded.launcher.name]
    assert "recipes:" in next(line for line in lines if not line.startswith("  "))


@pytest.mark.parametrize("name", ["resnet50-pytorch", "bert-ngc-pytorch", "transformer-big-paddlenlp"])
def test_show_prints_what_every_recipe_needs(capsys, name):
    chosen = recipes.load(recipes.find(name))
    assert main(["show", name]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"{name}: {chosen.title}\n")
    for text in (chosen.records.format, chosen.source.commit, chosen.setup.text.strip(), *chosen.setup.packages):
        assert text in shown
    for step in chosen.setup.steps:
        assert f"  $ {step}" in shown


def test_show_prints_the_case_option_of_each_case(capsys, write_recipe):
    path = write_recipe("true", batches="1, 2")
    assert main(["show", str(path)]) == 0
    choices = [line.split("--case ")[1] for line in capsys.readouterr().out.splitlines() if "--case" in line]
    assert len(choices) == 2
    for choice, slug in zip(choices, ("cpu-n1d1-bs1-fp32", "cpu-n1d1-bs2-fp32"), strict=True):
        assert main(["show", str(path), "--case", *shlex.split(choice)]) == 0
        assert [line for line in capsys.readouterr().out.splitlines() if line.startswith("cpu-")] == [slug]


@pytest.mark.parametrize("commit", ["", "c0ffee"])
def test_show_says_if_a_recipe_names_no_commit(capsys, write_recipe, commit):
    source = f'[source]\nrepository = "a/b"\ncommit = "{commit}"\nfolder = "sources"\n'
    assert main(["show", str(write_recipe("true", more=source))]) == 0
    assert ("source a/b at no stated commit, in sources" in capsys.readouterr().out) == (not commit)


def test_a_plan_prints_order_commands_and_time_and_starts_nothing(capsys, write_recipe, tmp_path):
    path = write_recipe("echo '$x'", batches="1, 2")
    assert main(["plan", str(path), "--repeats", "2", "--raw-logs", str(tmp_path / "raw")]) == 0
    lines = capsys.readouterr().out.splitlines()
    folders = [
        f"{folder_of(tmp_path, f'cpu-n1d1-bs{batch}-fp32')}/{n}" for batch, n in ((1, 1), (2, 1), (2, 2), (1, 2))
    ]
    assert lines[0] == "on this machine"
    assert lines[1:3] == [
        "cpu-n1d1-bs1-fp32 runs",
        """  OMP_NUM_THREADS=1 CASE='1 1 fp32 3 plain' bash -c 'echo '"'"'$x'"'"'' bash plain""",
    ]
    assert lines[4] == "cpu-n1d1-bs2-fp32 runs"
    assert [line.split("] ")[0] for line in lines[7:11]] == ["[1/4", "[2/4", "[3/4", "[4/4"]
    assert sorted(line.split("] ")[1] for line in lines[7:11]) == sorted(folders)
    assert lines[-1] == "in random order, another one each time without --seed"
    assert lines[-2] == "4 runs of 2 cases; one that takes longer than 1 min is stopped"
    assert not (tmp_path / "raw").exists()


def test_a_plan_names_the_hosts_without_asking_them(capsys, write_recipe):
    path = write_recipe("true")
    assert main(["plan", str(path), "--on", "ssh:a.invalid,b.invalid", "--case", "nodes=2,devices=2"]) == 0
    assert capsys.readouterr().out.startswith("on a.invalid, b.invalid\n")
    assert main(["plan", str(path), "--on", "ssh:a.invalid", "--case", "nodes=2,devices=2"]) == 2


def refusal(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the message of a command that must be refused without a traceback."""
    assert main(arguments) == 2
    message = capfd.readouterr().err
    assert message.startswith("runners: ")
    assert "Traceback" not in message
    return message


def test_an_unknown_recipe_is_answered_with_the_nearest(capfd):
    message = refusal(capfd, "run", recipes.names()[0] + "x")
    assert "there is no such recipe" in message
    assert recipes.names()[0] in message
    assert "there is no such file" in refusal(capfd, "show", "absent/x.toml")


def test_a_key_with_two_values_is_refused(capfd, write_recipe):
    path = str(write_recipe("true", batches="1, 2"))
    for twice in (["--case", "batch_size=1,batch_size=2"], ["--case", "batch_size=1", "--case", "batch_size=2"]):
        assert "--case batch_size=2: it is 1 already; write several values as" in refusal(capfd, "show", path, *twice)


def shown_cases(capfd, *words):
    assert main(["show", *words]) == 0
    return [line for line in capfd.readouterr().out.splitlines() if line.startswith("cpu-")]


def test_a_key_may_have_several_values(capfd, write_recipe):
    path = str(write_recipe("true", batches="1, 2, 4"))
    names = {batch: f"cpu-n1d1-bs{batch}-fp32" for batch in (1, 2, 4, 8)}
    assert shown_cases(capfd, path, "--case", "batch_size=1|8") == [names[1], names[8]]


def test_a_comma_that_no_key_follows_is_part_of_a_value(capsys, write_recipe):
    path = str(write_recipe("true", batches="1, 2"))
    for word in ("a,b", 'it\'s $(here), "b"', ""):
        assert main(["show", path, "--case", f"word={word}, batch_size=2"]) == 0
        shown = capsys.readouterr().out
        (choice,) = (line.split("--case ")[1] for line in shown.splitlines() if "--case" in line)
        assert f"word={word}" in shlex.split(choice)[0].split(",nodes")[0]
        assert main(["show", path, "--case", *shlex.split(choice)]) == 0
        assert capsys.readouterr().out == shown


def test_a_plan_refuses_a_case_before_printing(capfd, write_recipe):
    assert main(["plan", str(write_recipe("true")), "--case", "nodes=2,devices=2"]) == 2
    printed = capfd.readouterr()
    assert (printed.out, "it takes 2 nodes, and here is 1" in printed.err) == ("", True)


@pytest.mark.parametrize("tool", [[], ["--container", "docker"], ["--container", "apptainer"]])
def test_show_needs_no_data_folder(capsys, tool):
    assert main(["show", "resnet50-ngc-pytorch", *tool, "--case", "devices=1,precision=amp"]) == 0
    assert capsys.readouterr().out.rstrip().endswith(" /path/to/data")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--on", "moon"], "--on moon: this target is unknown"),
        (["--on", "ssh:-oProxyCommand=x"], "it names an invalid host"),
        (["--container", "docker"], "names no image"),
    ],
)
def test_an_unusable_target_or_tool_is_refused(capfd, write_recipe, tmp_path, words, said):
    assert said in refusal(capfd, "run", str(write_recipe("true")), "--raw-logs", str(tmp_path / "raw"), *words)
    assert not (tmp_path / "raw").exists()


@pytest.mark.usefixtures("bash")
def test_a_missing_package_starts_nothing(capfd, write_recipe, tmp_path):
    setup = f'[setup]\npython = "{sys.executable}"\npackages = ["pytest", "no-such-package"]\n'
    message = refusal(capfd, "run", str(write_recipe("true", more=setup)), "--raw-logs", str(tmp_path / "raw"))
    assert "lacks packages that this recipe needs: no-such-package;" in message
    assert not (tmp_path / "raw").exists()


@pytest.mark.usefixtures("bash")
def test_a_folder_that_cannot_be_made_is_an_error(capfd, write_recipe, tmp_path):
    (tmp_path / "file").write_text("in the way")
    message = refusal(capfd, "run", str(write_recipe("true")), "--raw-logs", str(tmp_path / "file"))
    assert "tiny/bash/cpu-n1d1-bs1-fp32/1: it cannot be made" in message
    assert "--raw-logs" in message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run"], "Missing argument 'RECIPE...'"),
        (["script", "-o", "job.pyz"], "Missing argument 'RECIPE'"),
        (["run", "x", "--until-ci", "0%"], "'0%' is not a percentage between 0 and 100, such as 2%"),
        (["run", "x", "--until-ci", "few"], "'few' is not a percentage"),
        (
            ["run", "resnet50-jax", "--until-ci", "2%", "--repeats", "3"],
            "--repeats: with --until-ci the figures say how many",
        ),
        (["run", "resnet50-jax", "--smoke", "--repeats", "3"], "--smoke: it tries each case once; leave --repeats and"),
        (["run", "x", "x"], "recipe x: it is named twice; --repeats says how often its cases run"),
        (["run", "x", "--repeats", "0"], "0 is not in the range x>=1"),
        (["run", "x", "--case", "key"], "'key' is not key=value,key=value; `show` prints the keys of a recipe"),
        (["run", "resnet50-jax", "--case", "devices=1", "--case", "colour=red"], "no key 'colour' to choose by"),
        (["plan", "resnet50-jax", "--data", "images"], "--data images: "),
        (["collect", "absent"], "absent' does not exist"),
        (["run", "x", "--round", "r" * 41], "is longer than 40 characters; shorten it"),
        (["run", "x", "--container", "chroot"], "'none', 'docker', 'podman', 'apptainer'"),
        (["run", "x", "--if-busy", "go"], "'refuse', 'wait', 'run', 'count'"),
        (["run", "x", "--repeats", "long"], "'long' is not a valid integer range"),
        (["run", "x", "--repeat", "2"], "'--repeats'"),
        (["fly"], "No such command 'fly'"),
        (["fly"], "Try 'python -m runners --help' for help."),
        (["shwo"], "'show'"),
        ([], "Commands:"),
    ],
)
def test_wrong_arguments_exit_with_2_and_a_remedy(capsys, arguments, message):
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("command", ["list", "show", "plan", "check", "run", "setup", "script", "collect"])
def test_every_command_and_option_has_a_help_text(capsys, command):
    assert main(["--help"]) == 0
    assert f"  {command}  " in capsys.readouterr().out
    assert main([command, "--help"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"Usage: python -m runners {command} ")
    assert all(parameter.help for parameter in cli.commands[command].params if isinstance(parameter, click.Option))


def test_as_a_module():
    command = [sys.executable, "-m", "runners", "run", "nope"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_python_that_is_too_old_is_refused():
    posing = "import runpy, sys; sys.version_info = (3, 9, 18); runpy.run_module('runners', run_name='__main__')"
    command = [sys.executable, "-c", posing, "list"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "runners: this Python is too old; use 3.11 or later, such as the one of `make site`\n"


def test_a_python_without_click_or_msgspec_is_refused():
    posing = "import runpy, sys; sys.modules['msgspec'] = None; runpy.run_module('runners', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", posing, "list"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "runners: this Python lacks msgspec; use the one of `make site`: . .venv/bin/activate\n"


#: Ends a while after it has printed most of a list, so that its reader has gone when Python prints the rest.
SLOW_END = """
import sys, time
from perfledger.runners import cli
invoke = cli.cli.invoke
cli.cli.invoke = lambda context: (invoke(context), time.sleep(0.5))[0]
sys.exit(cli.main(["list"]))
"""


@pytest.mark.parametrize("words", [("-m", "runners", "list"), ("-c", SLOW_END)], ids=["at once", "a while later"])
def test_a_closed_pipe_is_not_an_error(words):
    # Output waits in a buffer, as it does for most users.
    line = f"unset PYTHONUNBUFFERED; {shlex.join([sys.executable, *words])} | head -n 1"
    done = subprocess.run(["bash", "-c", line], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout.count("\n"), done.stderr) == (1, "")


@pytest.mark.usefixtures("bash")
def test_setup_runs_steps_in_the_work_folder_up_to_the_first_failure(capfd, write_recipe, tmp_path, monkeypatch):
    steps = ["echo ${work} >here", 'test {work} = "$PWD" && cat here', "echo 'it broke' >&2; exit 3", "touch after"]
    path = write_recipe("true", more=f"[setup]\nsteps = {json.dumps(steps[:2])}\n")
    work = tmp_path / "the work"
    assert main(["setup", str(path), "--work", str(work)]) == 0
    assert capfd.readouterr().out == f"this machine:\n+ {steps[0]}\n+ {steps[1]}\n{work}\n"
    # As a run looks for it: from the home folder on.
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert main(["setup", str(path), "--work", "a/b"]) == 0
    assert capfd.readouterr().out.endswith(f"{tmp_path}/home/a/b\n")
    path = write_recipe("true", more=f"[setup]\nsteps = {json.dumps(steps)}\n")
    assert main(["setup", str(path), "--work", str(work)]) == 2
    printed = capfd.readouterr()
    assert printed.err == "it broke\nrunners: this machine: a setup step failed (exit status 3)\n"
    assert [path.name for path in work.iterdir()] == ["here"]
    assert "it has no setup steps" in refusal(capfd, "setup", str(write_recipe("true")))


@pytest.mark.usefixtures("bash")
def test_setup_of_several_recipes_stops_at_one_that_fails(capfd, write_recipe, tmp_path):
    bad = write_recipe("true", more='[setup]\nsteps = ["exit 3"]\n').rename(tmp_path / "bad.toml")
    none = write_recipe("true").rename(tmp_path / "none.toml")
    good = write_recipe("true", more='[setup]\nsteps = ["echo done"]\n')
    words = ["--work", str(tmp_path / "work")]
    assert main(["setup", str(bad), str(good), *words]) == 2
    printed = capfd.readouterr()
    assert printed.out == "this machine:\n+ exit 3\n"
    assert printed.err == "runners: this machine: a setup step failed (exit status 3)\n"
    assert main(["setup", str(good), str(none), *words]) == 2
    printed = capfd.readouterr()
    assert printed.out == "", "what cannot be set up is said before anything is"
    assert "recipe none: it has no setup steps" in printed.err


@pytest.mark.usefixtures("bash")
def test_setup_prints_as_it_goes_and_ends_its_steps_on_ctrl_c(write_recipe, tmp_path):
    path = write_recipe("true", more='[setup]\nsteps = ["echo begun", "echo $$ >number && exec sleep 60"]\n')
    words = [sys.executable, "-m", "runners", "setup", str(path), "--work", str(tmp_path)]
    with subprocess.Popen(
        words, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout
        assert [process.stdout.readline() for _ in range(3)] == ["this machine:\n", "+ echo begun\n", "begun\n"]
        until(lambda: (tmp_path / "number").is_file() and (tmp_path / "number").read_text().endswith("\n"))
        step = int((tmp_path / "number").read_text())
        os.kill(step, 0)  # It is at work.
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "")
    assert ended(step)


@pytest.mark.usefixtures("bash")
def test_a_script_runs_with_python_alone_and_its_folder_can_be_collected(capfd, write_recipe, tmp_path):
    meeting = 'HOSTS = "{hosts}"\nMEET = "{master_address}:{master_port}"\n'
    path = write_recipe(f'{RECORD} record 1; echo "$HOSTS $MEET"', batches="1, 2", more=meeting)
    (tmp_path / "far").mkdir()
    output = ["-o", str(tmp_path / "far/job.pyz")]
    message = refusal(capfd, "script", str(path), *output)
    assert "a script is of one case, and these are 2:" in message
    assert [shlex.split(line)[-1].split(",")[2] for line in message.splitlines()[1:]] == [
        "batch_size=1",
        "batch_size=2",
    ]
    assert main(["script", str(path), "--case", "batch_size=2", "--raw-logs", "raw it's", *output]) == 0
    # Variables of the user must not set where the ranks meet.
    leaked = {"PERFLEDGER_HOSTS": "a,b", "PERFLEDGER_MASTER_ADDRESS": "far", "PERFLEDGER_MASTER_PORT": "1"}
    far = {"cwd": tmp_path / "far", "env": {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), **leaked}, "check": False}
    done = subprocess.run([sys.executable, "job.pyz"], text=True, capture_output=True, **far)
    assert done.returncode == 0
    next_step = f"at its end, copy {tmp_path}/far/raw it's/tiny/bash/cpu-n1d1-bs2-fp32/1 to the folder of raw logs on"
    assert next_step in done.stderr
    again = subprocess.run([sys.executable, "job.pyz"], text=True, capture_output=True, **far)
    assert (again.returncode, "is there already" in again.stderr) == (2, True)
    (tmp_path / "far/raw it's").rename(tmp_path / "raw")
    assert main(["collect", str(tmp_path / "raw")]) == 0
    run = load(folder_of(tmp_path, "cpu-n1d1-bs2-fp32") / "1/run.json")
    assert (run["outcome"], run["records"]["count"], run["case"]["batch_size"]) == ("completed", 1, 2)
    log = (folder_of(tmp_path, "cpu-n1d1-bs2-fp32") / "1/train.log").read_text()
    assert re.search(r"^localhost 127\.0\.0\.1:[0-9]{5}$", log, re.MULTILINE)


@pytest.mark.usefixtures("bash")
def test_a_script_records_what_its_check_has_found(write_recipe, tmp_path, monkeypatch):
    change_agent(monkeypatch, "        if share >= BUSY_PERCENT:", "        if share >= 0:")
    assert main(["script", str(write_recipe(f"{RECORD} record 1")), "-o", str(tmp_path / "job.pyz")]) == 0
    words = [sys.executable, "job.pyz"]
    done = subprocess.run(words, text=True, cwd=tmp_path, capture_output=True, check=True)
    assert "warning: the processors of this host are" in done.stderr
    assert main(["collect", str(tmp_path)]) == 0
    (path,) = tmp_path.rglob("run.json")
    assert "% busy before the run" in load(path)["disturbances"][0]


def test_a_script_of_two_nodes_is_refused(capfd, write_recipe, tmp_path):
    two = ["--case", "nodes=2,devices=2", "-o", str(tmp_path / "job.pyz")]
    message = refusal(capfd, "script", str(write_recipe("true")), *two)
    assert "a script is for one node, and this case takes 2" in message
    assert not (tmp_path / "job.pyz").exists()


@pytest.mark.usefixtures("bash")
def test_a_script_that_is_refused_leaves_nothing(write_recipe, tmp_path):
    path = write_recipe(command=["no-such-trainer"])
    assert main(["script", str(path), "-o", str(tmp_path / "job.pyz")]) == 0
    words = [sys.executable, "job.pyz"]
    done = subprocess.run(words, text=True, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 2
    assert "no-such-trainer is not on this host" in done.stderr
    assert not (tmp_path / "raw_logs/tiny/bash/cpu-n1d1-bs1-fp32/1").exists()


@pytest.fixture
def no_ingest(tmp_path, monkeypatch):
    """Make an `ingest` that cannot be started, as if its packages were not installed."""
    (tmp_path / "root/perfledger/ingest").mkdir(parents=True)
    (tmp_path / "root/perfledger/__init__.py").write_text("raise ImportError('regex is not installed')\n")
    monkeypatch.setattr(ingest_link, "TOP", tmp_path / "root")
    monkeypatch.setattr(ingest_link, "ask_ingest", quick.INGEST)


@pytest.mark.usefixtures("no_ingest")
def test_nothing_starts_if_ingest_cannot_be_run(capfd, write_recipe, tmp_path):
    message = refusal(capfd, "run", str(write_recipe("true")), "--raw-logs", str(tmp_path / "raw"))
    assert "`python -m ingest` fails: ImportError: regex is not installed (once it works, " in message
    assert not (tmp_path / "raw").exists()


@pytest.mark.usefixtures("no_ingest")
def test_a_run_stays_unfinished_if_ingest_cannot_be_run(capfd, write_recipe, tmp_path, monkeypatch):
    folder = begun(write_recipe("true"), tmp_path)
    arrive(folder, 0)
    assert "regex is not installed" in refusal(capfd, "collect", str(tmp_path / "raw"))
    assert (folder / "launch.json").exists()
    assert not (folder / "run.json").exists()
    monkeypatch.undo()
    assert main(["collect", str(tmp_path / "raw")]) == 0


def test_text_of_a_host_cannot_move_the_cursor(capfd):
    complain(RunnerError("host1: \033[2Jgone\r\nhost2: é 中文"))
    assert capfd.readouterr().err == "runners: host1:  [2Jgone\nhost2: é 中文\n"
    assert printable("a\033[2J\nb\x07") == "a [2J b"
