"""The additions of a site to recipes: checked key by key, used on the nodes, recorded, and without secrets."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from perfledger.runners import settings
from perfledger.runners.cases import select_cases
from perfledger.runners.cli import main
from perfledger.runners.cli.series import at_site
from perfledger.runners.command import plan_run
from perfledger.runners.job import RunnerError, texts
from perfledger.runners.recipes import load
from perfledger.runners.settings import Settings
from perfledger.runners.slurm import Partition, Slurm
from perfledger.runners.ssh import Ssh
from perfledger.runners.transport import Local
from tests.runners.agents import replacing
from tests.runners.home import RECORD, folder_of, running
from tests.runners.home import load as load_json
from tests.runners.jobs import planned
from tests.runners.node import prepared, small_disk

pytestmark = pytest.mark.usefixtures("bash")

QUOTED = '[hosts."gpu1.example.com"]\n# far\naddress = "10.0.0.1 "\n'

SECRET = "hush-0123456789-hush"
STARS = "*" * len(SECRET)


@pytest.fixture
def write_site(tmp_path, monkeypatch):
    """Return a function that writes a site file into the present folder."""
    monkeypatch.chdir(tmp_path)

    def write(text):
        path = Path("site.toml")
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def run_tiny(write_recipe, tmp_path, only_run):
    """Return a function that runs a program and returns its run.json and its log."""

    def run(program, *more, status=0, **recipe):
        path = write_recipe(f"{RECORD} record 1; {program}", **recipe)
        assert main(["run", str(path), "--raw-logs", str(tmp_path / "raw"), *more]) == status
        folder, found = only_run()
        return found, (folder / "train.log").read_text()

    return run


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (QUOTED, "3: `hosts.address` must be an address"),
        ("[host.local]\n", "1: `host` is not a key of a site file; did you mean `hosts`?"),
        ('[hosts]\nlocal = "x"\n', "1: `hosts` must be a table"),
        ('[hosts.local]\nprolog = ["x"]\n', "2: `hosts.prolog` is not a key of a site file; did you mean `prologue`?"),
        ('[hosts.local]\nprologue = "x"\n', "2: `hosts.prologue` must be a list of texts"),
        ('[hosts.local]\nsbatch = ["x"]\n', "2: `hosts.local.sbatch` is not for hosts; leave it out"),
        ('[partitions.gpu]\naddress = "a"\n', "2: `partitions.gpu.address` is not for partitions; leave it out"),
        ("[hosts.local.environment_variables]\nA = [1]\n", "1: `hosts.environment_variables` must be a table of texts"),
        (
            '[hosts.local.environment_variables]\nHF_TOKEN = "hf_x"\n',
            "leave it out and run with --secret HF_TOKEN",
        ),
        ('[hosts.local.data]\ndefault = "d"\n', "1: `hosts.data` must be a table of absolute paths"),
        ("[hosts.local\n", "1: is not TOML: "),
    ],
)  # fmt: skip
def test_a_wrong_site_is_refused_with_line_key_and_remedy(write_site, write_recipe, tmp_path, capfd, text, said):
    path = write_site(text)
    assert main(["run", str(write_recipe("true")), "--raw-logs", str(tmp_path / "raw")]) == 2
    refused = capfd.readouterr().err
    assert refused.startswith(f"runners: {path}:")
    assert said in refused
    assert not (tmp_path / "raw").exists()


def test_a_site_file_that_is_named_must_exist_and_one_in_the_present_folder_is_found(write_site):
    assert settings.find_site("") == settings.SiteFile()
    write_site('[hosts.local]\nprologue = ["true"]\n')
    assert settings.find_site("").of("hosts", ["local"]).prologue == ("true",)
    with pytest.raises(RunnerError, match=r"none\.toml: this site file cannot be read: .*No such file"):
        settings.find_site("none.toml")


def test_variables_prologue_and_data_are_in_force_and_recorded(write_site, run_tiny, tmp_path):
    (tmp_path / "data").mkdir()
    write_site(f"""
[hosts.local]
prologue = ["echo loaded", "export FROM_PROLOGUE='a b'", "export BOTH=prologue"]
data.default = "{tmp_path}/data"
[hosts.local.environment_variables]
BOTH = "site"
MINE = "{{site}}"
OMP_NUM_THREADS = "3"
""")
    run, log = run_tiny('echo "$FROM_PROLOGUE|$BOTH|$MINE|$OMP_NUM_THREADS"', "--env", "MINE=cli=1")
    assert log.endswith("a b|site|cli=1|3\n")
    del run["environment_variables"]["CASE"]
    assert run["environment_variables"] == {"OMP_NUM_THREADS": "3", "BOTH": "site", "MINE": "cli=1"}
    assert run["site"] == {"prologue": ["echo loaded", "export FROM_PROLOGUE='a b'", "export BOTH=prologue"]}
    assert run["recipe"]["data"] is True


def test_a_prefix_comes_before_the_command_and_is_an_option_of_the_case(write_site, run_tiny, tmp_path):
    write_site('[hosts.local]\nprefix = ["env", "PLACE=a b"]\n')
    run, log = run_tiny('echo "at $PLACE"')
    assert log.endswith("at a b\n")
    assert run["case"]["options"] == {"word": "plain", "threads": 1, "prefix": "env 'PLACE=a b'"}
    assert run["argv"][:2] == ["env", "PLACE=a b"]
    (found,) = folder_of(tmp_path).parent.glob("cpu-n1d1-bs1-fp32-prefix-env-place-a-b-*/1/run.json")
    assert found.is_file()


def test_a_prefix_is_inside_of_a_container(tmp_path, write_recipe, write_site):
    place = settings.find_site(str(write_site('[hosts.local]\nprefix = ["numactl", "--membind=1"]\n'))).of(
        "hosts", ["local"]
    )
    recipe = load(write_recipe("true", more='[container]\nimage = "i"\n'))
    case = select_cases(recipe, {})[0]
    for container in ("docker", "apptainer", "none"):
        argv = texts(plan_run(recipe, case, tmp_path, Settings(container=container, place=place)).spec.argv)
        assert argv[argv.index("numactl") :][:3] == ["numactl", "--membind=1", "bash"]


def test_secrets_reach_the_command_and_are_nowhere_else(write_recipe, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("MY_TOKEN", SECRET)
    argv = f"cat /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n' >{tmp_path}/cmdlines"
    path = write_recipe(f'{RECORD} record 1; {argv}; echo "it is $MY_TOKEN"; printf %s "$MY_TOKEN" | wc -c')
    run = ["run", str(path), "--raw-logs", str(tmp_path / "raw"), "--secret", "MY_TOKEN"]
    assert main(run) == 0
    folder = folder_of(tmp_path) / "1"
    assert (folder / "train.log").read_text().endswith(f"it is {STARS}\n{len(SECRET)}\n")
    assert load_json(folder / "run.json")["secrets"] == ["MY_TOKEN"]
    holding = [each for each in tmp_path.rglob("*") if each.is_file() and SECRET.encode() in each.read_bytes()]
    assert holding == []
    said = capfd.readouterr()
    assert SECRET not in said.out + said.err
    assert main(["plan", run[1], "--secret", "MY_TOKEN"]) == 0
    assert SECRET not in capfd.readouterr().out


def test_a_log_is_masked_where_a_copy_has_no_space(write_recipe, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", SECRET)
    with small_disk(tmp_path / "jobs", "1m"):
        program = 'echo "it is $MY_TOKEN"; head -c 600k /dev/zero; echo "and $MY_TOKEN"'
        node = prepared(write_recipe(program), tmp_path / "jobs", settings=Settings(secrets=("MY_TOKEN",)))
        assert node.run() == 0
        said = (node.job / "train.log").read_bytes()
        assert said.split(bytes(600 << 10)) == [f"it is {STARS}\n".encode(), f"and {STARS}\n".encode()]


def test_a_log_that_cannot_be_masked_is_a_warning(write_recipe, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", SECRET)
    change = replacing("def mask(path", 'def mask(*_):\n    raise OSError(13, "Permission denied")\n\n\ndef _mask(path')
    node = prepared(write_recipe("echo 1"), tmp_path / "jobs", Settings(secrets=("MY_TOKEN",)), change)
    assert node.run() == 0
    said = "secrets in train.log could not be masked (Permission denied); look before you publish it"
    assert node.host()["warnings"] == [said]


@pytest.mark.parametrize("fails_in", ["check", "run"])
def test_a_prologue_that_fails_shows_no_secret(write_site, write_recipe, tmp_path, monkeypatch, capsys, fails_in):
    monkeypatch.setenv("MY_TOKEN", SECRET)
    again = f"test -e {tmp_path}/once" if fails_in == "run" else "true"
    line = f"if {again}; then echo no $MY_TOKEN >&2; false; else touch {tmp_path}/once; fi"
    write_site(f"[hosts.local]\nprologue = ['{line}']\n")
    words = ["--raw-logs", str(tmp_path / "raw"), "--secret", "MY_TOKEN"]
    status = main(["run", str(write_recipe(f"{RECORD} record 1")), *words])
    assert status == {"check": 2, "run": 1}[fails_in]
    said = capsys.readouterr()
    assert "a line of the site's prologue failed (exit status 1): no ***" in said.out + said.err
    assert "as if killed" not in said.out
    assert "may show" not in said.out  # nothing was logged
    holding = [each for each in tmp_path.rglob("*") if each.is_file() and SECRET.encode() in each.read_bytes()]
    assert holding == []


def test_a_lost_log_that_may_show_a_secret_is_said_to(write_recipe, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", SECRET)
    path = write_recipe('echo "it is $MY_TOKEN"; sleep 300')
    with running(path, tmp_path, "--secret", "MY_TOKEN") as runner:
        pid = next(tmp_path.rglob("node0/pid"))
        os.kill(int(pid.read_text()), signal.SIGKILL)
        assert runner.wait() == 1
    warnings = load_json(folder_of(tmp_path) / "1/run.json")["warnings"]
    assert "a log may show the value of MY_TOKEN; look into it before you publish it" in warnings


def test_the_line_of_a_run_that_goes_on_shows_no_secret(write_recipe, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", SECRET)
    path = write_recipe('printf %s "it is $MY_TOKEN now"; sleep 300')
    started = planned(path, Local(), tmp_path, settings=Settings(secrets=("MY_TOKEN",)))
    started.start()
    try:
        started.printing()
        assert started.look().last_line == "(not shown: the run has secrets)"
    finally:
        started.stop()


def test_a_secret_is_named_in_a_container_and_never_by_value(write_recipe, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", SECRET)
    recipe = load(write_recipe("true", more='[container]\nimage = "i"\n'))
    settings = Settings(container="docker", secrets=("MY_TOKEN",))
    argv = texts(plan_run(recipe, select_cases(recipe, {})[0], tmp_path, settings).spec.argv)
    assert argv[argv.index("MY_TOKEN") - 1] == "-e"
    assert SECRET not in " ".join(argv)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--secret", "NOT_SET_AT_ALL"], "secret NOT_SET_AT_ALL: it is not set here; export it, one line of "),
        (["--secret", "SHORT_ONE"], "secret SHORT_ONE: its value cannot be masked in a log"),
        (["--secret", "MY_KEY"], "secret MY_KEY: its value cannot be masked in a log"),
        (["--secret", f"MY_TOKEN={SECRET}"], "it takes the name of an environment variable, without its value"),
        (["--env", f"HF_TOKEN={SECRET}"], "--env HF_TOKEN: it looks like a secret, and its value would be published"),
        (["--env", "=x"], "'=x' is not NAME=VALUE"),
    ],
)  # fmt: skip
def test_secrets_and_variables_that_cannot_be_are_refused_without_their_value(
    write_recipe, tmp_path, capfd, monkeypatch, more, said
):
    monkeypatch.setenv("SHORT_ONE", "1234567")
    monkeypatch.setenv("MY_KEY", "begin\n0123456789\nend")
    assert main(["run", str(write_recipe("true")), "--raw-logs", str(tmp_path / "raw"), *more]) == 2
    refused = capfd.readouterr().err
    assert said in refused
    assert SECRET not in refused
    assert not (tmp_path / "raw").exists()


@pytest.mark.parametrize(
    ("variable", "is_refused"),
    [
        ('HF_TOKEN = "x"', True), ('WANDB_API_KEY = "0"', True), ('DB_PASSWORD = "y"', True),
        ('URL = "https://me:hunter2hunter2@example.org/x"', True), (f'AUTH = "ghp_{"0123456789abcdefghij" * 2}"', True),
        ('MAX_TOKENS = "128"', False), ('TOKENIZERS_PARALLELISM = "false"', False), ('HF_TOKEN = ""', False),
    ],
)  # fmt: skip
def test_a_recipe_that_states_a_secret_is_refused(write_recipe, variable, is_refused):
    path = write_recipe("true", more=f"{variable}\n")  # The tiny recipe ends in [environment_variables].
    if not is_refused:
        assert load(path)
        return
    with pytest.raises(RunnerError, match=r"toml:\d+: .* looks like a secret, .* run with --secret"):
        load(path)


def test_a_site_names_addresses_and_arguments_of_sbatch(write_site):
    path = write_site("""
[hosts.one]
address = "10.0.0.1"
[hosts.other]
prologue = ["true"]
[partitions.gpu]
sbatch = ["--account=mine"]
prologue = ["true"]
""")

    def placed(target):
        return at_site(target, str(path))

    assert placed(Ssh(("one", "two")))[1].addresses == ("10.0.0.1", "")
    with pytest.raises(RunnerError, match=r"`hosts.one.prologue` and `hosts.other.prologue` of the site file differ"):
        placed(Ssh(("one", "other")))
    place, partition = placed(Partition("gpu", ("--account=other",)))
    assert (place.prologue, partition.sbatch) == (("true",), ("--account=mine", "--account=other"))
    job = Slurm(("n1", "n2"), "7", "gpu")
    assert (placed(job)[0].prologue, placed(job)[1]) == (("true",), job)
    assert placed(Local())[1] == Local()


def test_a_standalone_run_asks_for_its_secrets(write_recipe, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", SECRET)
    path = write_recipe(f'{RECORD} record 1; echo "it is $MY_TOKEN"')
    script = tmp_path / "job.pyz"
    assert main(["script", str(path), "--secret", "MY_TOKEN", "--raw-logs", "raw", "-o", str(script)]) == 0
    with zipfile.ZipFile(script) as archive:
        assert SECRET not in archive.read("job.json").decode()
    monkeypatch.delenv("MY_TOKEN")
    here = {"cwd": tmp_path, "capture_output": True, "text": True, "check": False}
    refused = subprocess.run([sys.executable, "job.pyz"], **here)
    assert refused.returncode == 2
    assert "the secret MY_TOKEN is not set here; export it where the run is started" in refused.stderr
    monkeypatch.setenv("MY_TOKEN", SECRET)
    assert subprocess.run([sys.executable, "job.pyz"], **here).returncode == 0
    (log,) = (tmp_path / "raw").rglob("train.log")
    assert log.read_text().endswith(f"it is {STARS}\n")
    spec = json.loads((log.parent / "job.json").read_text())["spec"]
    assert spec["secrets"] == ["MY_TOKEN"]
