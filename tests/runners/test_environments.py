"""The Python environment of a recipe: made by `setup` below --work, used by `run`, and never anybody else's."""

from __future__ import annotations

import hashlib
import json
import sys
from importlib.metadata import distribution, distributions
from pathlib import Path

import pytest

from perfledger.runners.cli import main
from perfledger.runners.settings import Settings
from tests.runners.home import RECORD
from tests.runners.node import prepared, tool

pytestmark = pytest.mark.usefixtures("bash")

#: A wheel is a zip file with these; this one has no module.
METADATA = "Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


@pytest.fixture
def wheel(tmp_path):
    """Return a function that makes a wheel without content."""
    import zipfile

    def make(name, version):
        path = tmp_path / f"{name}-{version}-py3-none-any.whl"
        info = f"{name}-{version}.dist-info"
        files = {f"{info}/METADATA": METADATA.format(name=name, version=version), f"{info}/WHEEL": WHEEL}
        rows = "".join(f"{file},,\n" for file in [*files, f"{info}/RECORD"])
        with zipfile.ZipFile(path, "w") as archive:
            for file, text in {**files, f"{info}/RECORD": rows}.items():
                archive.writestr(zipfile.ZipInfo(file), text)
        return path

    return make


@pytest.fixture
def uv(tmp_path, monkeypatch):
    """Put a fake uv on PATH, and return the file of its calls."""
    monkeypatch.setenv("PATH", tool(tmp_path / "tools", "uv", stand_in_for_uv(tmp_path / "uv.log")))
    return tmp_path / "uv.log"


def stand_in_for_uv(log: Path) -> str:
    """Return a bash program that does with Python's own tools what uv is asked for.

    It seeds an environment with a link to the pip of these tests: Python takes seconds to install one.
    """
    origin = distribution("pip").locate_file("")
    return f"""
echo "uv $*" >>{log}
if [ "$1" = venv ]; then
  "$4" -m venv --without-pip "$5" || exit
  ln -s {origin}/pip {origin}/pip-*.dist-info "$5"/lib/python3*/site-packages/
  printf '#!/bin/sh\nexec "%s" -m pip "$@"\n' "$5/bin/python" >"$5/bin/pip"
  exec chmod +x "$5/bin/pip"
fi
python=$4; shift 4; exec "$python" -m pip install "$@"
"""


def setup_table(*steps, packages=("mxstub",), more=""):
    return f"[setup]\npackages = {json.dumps(packages)}\nsteps = {json.dumps(steps)}\n{more}"


def installed_here():
    return sorted((each.name, each.version) for each in distributions())


@pytest.mark.usefixtures("uv")
def test_two_recipes_with_versions_that_exclude_each_other_live_side_by_side(write_recipe, wheel, tmp_path):
    before, work = installed_here(), tmp_path / "work"
    program = f"{RECORD} record 1; command -v python pip; python -c 'import sys; print(sys.prefix)'"
    for version in ("1.0", "2.0"):
        install = f"python -m pip install --no-index --no-deps {wheel('mxstub', version)}"
        path = write_recipe(program, more=setup_table(install)).rename(tmp_path / f"of-{version[0]}.toml")
        assert main(["setup", str(path), "--work", str(work)]) == 0
    assert installed_here() == before
    for version in ("1.0", "2.0"):
        name = f"of-{version[0]}"
        words = ["--work", str(work), "--raw-logs", str(tmp_path / f"raw{name}")]
        assert main(["run", str(tmp_path / f"{name}.toml"), *words]) == 0
        (found,) = (tmp_path / f"raw{name}").rglob("run.json")
        environment = json.loads(found.read_text())["environment"]
        assert (environment["packages"], environment["python_environment"]) == ({"mxstub": version}, name)
        folder = work / "environments" / name
        log = (found.parent / "train.log").read_text()
        assert log.endswith(f"{folder}/bin/python\n{folder}/bin/pip\n{folder}\n")


@pytest.mark.parametrize("place", ["/proc/none", "file", "file/below"])
def test_a_work_folder_that_cannot_be_made_is_named_and_no_step_is_blamed(write_recipe, tmp_path, capfd, place):
    (tmp_path / "file").touch()
    path = write_recipe(more=setup_table("true"))
    assert main(["setup", str(path), "--work", str(tmp_path / place)]) == 2
    said = f"this machine: {tmp_path / place} is no folder that can be written to, or made; name another with --work"
    assert said in capfd.readouterr().err


def test_without_a_setup_the_hosts_python_runs_and_missing_packages_are_named(write_recipe, tmp_path, capfd):
    path = write_recipe("true", more=setup_table("pip install mxstub"))
    assert main(["run", str(path), "--work", str(tmp_path / "work"), "--raw-logs", str(tmp_path / "raw")]) == 2
    said = "python lacks packages that this recipe needs: mxstub; `python -m runners setup` installs what"
    assert said in capfd.readouterr().err


@pytest.mark.usefixtures("uv")
def test_an_environment_of_other_steps_or_of_a_broken_setup_is_refused_and_made_again(
    write_recipe, wheel, tmp_path, capfd
):
    work = ["--work", str(tmp_path / "work")]
    install = f"pip install --no-index --no-deps {wheel('mxstub', '1.0')}"
    path = write_recipe("true", more=setup_table(install, "exit 3"))
    assert main(["setup", str(path), *work]) == 2
    stale = "is not of the recipe's present setup steps, or they did not finish; make it again with"
    run = ["run", str(path), *work, "--raw-logs", str(tmp_path / "raw")]
    assert main(run) == 2
    assert stale in capfd.readouterr().err
    write_recipe("true", more=setup_table(install))
    assert main(run) == 2
    assert stale in capfd.readouterr().err
    assert main(["setup", str(path), *work]) == 0
    assert main(run) == 1  # It runs, and prints no record.
    capfd.readouterr()
    # The environment stays: the second setup only runs the steps.
    assert main(["setup", str(path), *work]) == 0
    assert capfd.readouterr().out.startswith(f"this machine:\n+ {install}")


def test_a_step_that_would_install_elsewhere_is_stopped_by_pip(write_recipe, wheel, tmp_path, capfd):
    # A recipe that names a Python has no environment of its own: that Python is its owner's.
    path = write_recipe(
        "true",
        more=setup_table(f"/usr/bin/env -i {sys.executable} -c pass; env | grep ^PIP", more='python = "/bin/python"\n'),
    )
    assert main(["setup", str(path), "--work", str(tmp_path / "work")]) == 0
    assert "PIP_REQUIRE_VIRTUALENV=1" in capfd.readouterr().out
    assert not (tmp_path / "work/environments").exists()


@pytest.mark.parametrize("with_uv", [False, True])
def test_a_lock_is_installed_by_its_hashes(write_recipe, wheel, tmp_path, with_uv, request, only_run):
    log = request.getfixturevalue("uv") if with_uv else None
    built = wheel("mxstub", "1.0")
    lock = f"mxstub @ file://{built} --hash=sha256:{hashlib.sha256(built.read_bytes()).hexdigest()}\n"
    (tmp_path / "mx.lock").write_text(lock)
    path = write_recipe(f"{RECORD} record 1", more='[setup]\npackages = ["mxstub"]\nlock = "mx.lock"\n')
    work = ["--work", str(tmp_path / "work")]
    assert main(["setup", str(path), *work]) == 0
    assert main(["run", str(path), *work, "--raw-logs", str(tmp_path / "raw")]) == 0
    _, run = only_run()
    assert run["recipe"]["lock"] == hashlib.sha256(lock.encode()).hexdigest()
    if log:
        assert log.read_text().count("uv ") == 2


def test_a_lock_that_is_missing_is_refused(write_recipe, capfd):
    assert main(["setup", str(write_recipe("true", more='[setup]\nlock = "mx.lock"\n'))]) == 2
    assert "cannot be read: No such file or directory; paths begin at the recipe's folder" in capfd.readouterr().err


@pytest.mark.usefixtures("uv")
def test_a_lock_does_not_install_what_has_another_hash(write_recipe, wheel, tmp_path, capfd):
    (tmp_path / "mx.lock").write_text(f"mxstub @ file://{wheel('mxstub', '1.0')} --hash=sha256:{'0' * 64}\n")
    path = write_recipe("true", more='[setup]\npackages = ["mxstub"]\nlock = "mx.lock"\n')
    assert main(["setup", str(path), "--work", str(tmp_path / "work")]) == 2
    said = capfd.readouterr()
    assert "a setup step failed (exit status 1)" in said.err
    # In the words of pip, or of uv where this machine has it.
    assert any(each in said.out + said.err for each in ("DO NOT MATCH THE HASHES", "Hash mismatch"))


def test_the_preflight_asks_the_environment(write_recipe, tmp_path):
    # A program that is only in the environment's folder, as torchrun is.
    more = setup_table("pip", packages=(), more='[launcher]\nname = "torchrun"\nalways = true\n')
    path = write_recipe(command=["python", "t.py"], more=more)
    work = tmp_path / "work"
    node = prepared(path, tmp_path / "job", settings=Settings(work=str(work)), PATH="/usr/bin:/bin")
    assert "the program torchrun is not on this host" in node.check().refused
    folder = work / "environments/tiny"
    tool_folder = folder / "bin"
    tool_folder.mkdir(parents=True)
    for name in ("torchrun", "python"):
        tool(tool_folder, name, "true")
    made_by = node.request["spec"]["virtual_environment"]["made_by"]
    (folder / "perfledger.json").write_text(json.dumps({"made_by": made_by}))
    assert node.check().refused == ""


def test_setup_in_an_image_runs_the_steps_there(write_recipe, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", tool(tmp_path / "tools", "docker", f'echo "$@" >>{tmp_path}/docker.log'))
    image = '[container]\nimage = "maker/image:1"\n'
    path = write_recipe("true", more=image + setup_table("python -m pip install --target {work}/packages mxstub"))
    words = ["setup", str(path), "--work", str(tmp_path / "work"), "--container", "docker"]
    assert main(words) == 0
    called = (tmp_path / "docker.log").read_text()
    assert f"-v {tmp_path}/work:{tmp_path}/work" in called
    assert called.endswith('maker/image:1 bash -c python -m pip install --target "${work}"/packages mxstub\n')
    assert not (tmp_path / "work/environments").exists()
