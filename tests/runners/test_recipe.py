"""Recipes as files: what they hold, where they lie, and what is said of one that is wrong."""

from __future__ import annotations

import hashlib

import pytest

from runners.cases import recipe
from runners.cases.parts import Container, Launch, Records, Setup, Source
from runners.cases.slots import Lookup
from runners.errors import RunnerError
from tests.runners.written import loaded, written

WHOLE = """
[launcher]
name = "mpirun"
arguments = ["--bind-to", "none"]
always = true
[options]
xla = false
[slots]
every = 10
[slots.flags]
by = "precision"
fp32 = ""
amp = ["--amp", "--b={batch_size}"]
[environment_variables]
THREADS = 4
[files]
"sub/t.py" = "../t.py"
[container]
image = "host/image:1"
digest = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
arguments = ["--x"]
[setup]
python = "python3.10"
packages = ["torch"]
steps = ["git clone {work}"]
text = "Words."
[source]
repository = "a/b"
commit = "c0ffee"
folder = "b/c"
"""


def test_every_key_of_a_recipe_is_read(tmp_path):
    path = written(tmp_path, ["a", "b"], more=WHOLE, head='label = "x"\nnotes = "n"\ncool_down_seconds = 5')
    found = recipe.load(path)
    assert (found.name, found.label, found.notes, found.cool_down_seconds) == ("tiny", "x", "n", 5)
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert found.launcher == Launch("mpirun", ("--bind-to", "none"), True)
    assert found.records == Records("ngc.dllogger", 2, "first")
    assert found.slots == {
        "every": 10,
        "flags": Lookup("precision", {"fp32": "", "amp": ("--amp", "--b={batch_size}")}),
    }
    assert found.environment_variables == {"THREADS": "4"}
    assert found.files == {"sub/t.py": tmp_path / "../t.py"}
    assert found.container == Container("host/image:1", f"sha256:{'0' * 64}", ("--x",))
    assert found.setup == Setup("python3.10", ("torch",), ("git clone {work}",), "Words.")
    assert found.source == Source("a/b", "c0ffee", "b/c")


def test_what_a_recipe_leaves_out_is_plain(tmp_path):
    found = loaded(tmp_path, ["a"])
    assert (found.label, found.notes, found.cool_down_seconds, found.container) == ("", "", 0, None)
    assert found.launcher == Launch("plain", (), False)
    assert found.setup == Setup("python", (), (), "")
    assert found.matrix == ({"shape": ("1n1d",), "batch_size": (8,), "precision": ("fp32",)},)


TABLES = "[[matrix]]\nbatch_size = 8\nprecision = 'fp32'\n[[matrix]]\nbatch_size = 16\nprecision = 'fp32'\n"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("suite", "suit"), "the key `suite` is missing; add it"),
        (('title = "', 'colour = "red"\ntitle = "'), "`colour` is no key of a recipe"),
        (("iterations = 3", "iterations = 0"), "`iterations` is 0, but must be at least 1"),
        (("iterations = 3", "iterations = true"), "`iterations` is True, but must be of type int"),
        (('suite = "tiny"', 'suite = "../up"'), "`suite` is '../up', but names a folder"),
        (('suite = "tiny"', 'suite = ""'), "`suite` is '', but must not be empty"),
        (('model = "Loop"', 'model = " "'), "`model` is '', but must not be empty"),
        (('format = "ngc.dllogger"', 'format = ""'), "`records.format` is '', but must not be empty"),
        (('framework = "Bash"', 'framework = "飞桨"'), "`framework` is '飞桨', but names a folder too"),
        (('device = "gpu"', 'device = "v100"'), "`device` is 'v100', but must be one of cpu, gpu"),
        (('device = "gpu"', 'device = "gpu"\nlabel = "a/b"'), "`label` is 'a/b', but names a folder"),
        (('command = ["a"]', 'command = ["--lr {lr}"]'), "`command` names {lr}, which has no value; a slot there"),
        (('command = ["a"]', 'command = ["{shape}"]'), "`command` names {shape}, which has no value"),
        (("[records]", '[launcher]\narguments = ["{x}"]\n[records]'), "`launcher.arguments` names {x}, which has no"),
        (("[records]", '[environment_variables]\nA = "{x}"\n[records]'), "`environment_variables.A` names {x}, which"),
        (("[records]", '[slots.x]\nby = "nodes"\n1 = ["{y}"]\n[records]'), "`slots.x` names {y}, which has no value"),
        (("[records]", '[slots]\nx = 1\ny = "{x}"\n[records]'), "`slots.y` names {x}, which has no value"),
        (("[records]", '[files]\nx = ""\n[records]'), "`files.x` is '', but must not be empty"),
        (('command = ["a"]', "command = []"), "`command` is [], but must be a list of words"),
        (('command = ["a"]', 'command = [1, "a"]'), "`command` is [1, 'a'], but must be a list of words"),
        (('command = ["a"]', 'command = ["a\\u0000"]'), "`command` holds a NUL byte"),
        (("at_least = 2", ""), "the key `records.at_least` is missing"),
        (("at_least = 2", 'at_least = 2\nnode = "all"'), "`records.node` is 'all', but must be one of first, last"),
        (("[records]", '[launcher]\nname = "slurm"\n[records]'), "`launcher.name` is 'slurm', but must be one of"),
        (("[records]", "[launcher]\nalways = 1\n[records]"), "`launcher.always` is 1, but must be of type bool"),
        (("[records]", "[container]\n[records]"), "the key `container.image` is missing"),
        (("[records]", '[container]\nimage = "--privileged"\n[records]'), "`container.image` is '--privileged', but"),
        (("[records]", '[container]\nimage = "a@b"\n[records]'), "its digest goes to `container.digest`"),
        (("[records]", '[container]\nimage = "a"\ndigest = "sha256:1"\n[records]'), "`container.digest` is 'sha256:1'"),
        (("[records]", '[source]\nfolder = "../up"\n[records]'), "`source.folder` is '../up', but must be a path"),
        (("[records]", '[files]\n"/etc/x" = "x"\n[records]'), "`files./etc/x` is '/etc/x', but must be a path"),
        (("[records]", '[environment_variables]\n"A B" = "x"\n[records]'), "that is no name of an environment"),
        (("[records]", "[environment_variables]\nA = [1]\n[records]"), "`environment_variables.A` is [1], but"),
        (("[records]", "[options]\nnodes = 2\n[records]"), "`options.nodes` is 2, but its name is taken"),
        (("[records]", "[options]\nwork = 2\n[records]"), "`options.work` is 2, but its name is taken"),
        (("[records]", "[options]\nA-b = 2\n[records]"), "`options.A-b` is 2, but its name is taken or no name"),
        (("[records]", "[options]\nx = nan\n[records]"), "`options.x` is nan, but must be a string, a number"),
        (("[records]", "[slots]\nprecision = 2\n[records]"), "`slots.precision` is 2, but its name is taken"),
        (("[records]", '[slots.x]\nfp32 = "a"\n[records]'), "`slots.x.by` is None, but must be of type str"),
        (("[records]", '[slots.x]\nby = "colour"\n[records]'), "`slots.x.by` is 'colour', but must be one of"),
        (("batch_size = [8]", ""), "`matrix.batch_size` is missing or empty"),
        (("batch_size = [8]", "batch_size = []"), "`matrix.batch_size` is missing or empty"),
        (("batch_size = [8]", "batch_size = [[1]]"), "`matrix.batch_size` is [1], but must be a string, a number"),
        (("batch_size = [8]", "batch_size = [8, 8]"), "`matrix.batch_size` is [8, 8], but states a value twice"),
        (("batch_size = [8]", "batch_size = [0]"), "`matrix.batch_size` is 0, but must be a whole number from 1"),
        (("batch_size = [8]", "batch_size = [true]"), "`matrix.batch_size` is True, but must be a whole number from 1"),
        (('precision = ["fp32"]', 'precision = ["int8"]'), "`matrix.precision` is 'int8', but must be one of fp32"),
        (("[matrix]", '[matrix]\nshape = ["1n0d"]'), "`matrix.shape` is '1n0d', but must be nodes and"),
        (("[matrix]", "[matrix]\ndevices = [2]"), "`matrix.devices` is [2], but its name is taken"),
        (("title", "title title"), "this recipe cannot be read: Expected '=' after a key in a key/value pair (at line"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_recipe_is_said_with_its_path_and_key(tmp_path, change, said):
    path = written(tmp_path, ["a"])
    before = path.read_text(encoding="utf-8")
    path.write_text(before.replace(*change, 1), encoding="utf-8")
    assert path.read_text(encoding="utf-8") != before
    with pytest.raises(RunnerError) as error:
        recipe.load(path)
    assert str(error.value).startswith(f"{path}: ")
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        ("matrix = 3\n", "`matrix` is 3, but must be a table or several"),
        ("matrix = []\n", "`matrix` is [], but must be a table or several"),
        ("matrix = [3]\n", "`matrix` is [3], but must be a table or several"),
    ],
)
def test_a_matrix_is_a_table_or_several(tmp_path, matrix, said):
    with pytest.raises(RunnerError) as error:
        loaded(tmp_path, ["a"], matrix="", head=matrix)
    assert said in str(error.value)


def test_a_key_of_one_table_is_in_all_of_them_or_an_option(tmp_path):
    tables = TABLES.replace("batch_size = 16", "batch_size = 16\nxla = [true, false]")
    with pytest.raises(RunnerError, match=r"`matrix\.xla` is in one table and not in all; add it to them or"):
        loaded(tmp_path, ["a"], matrix=tables)
    assert len(loaded(tmp_path, ["a"], matrix=tables, more="[options]\nxla = false\n").matrix) == 2


def test_a_file_that_is_no_utf8_or_is_not_there_is_said(tmp_path):
    (tmp_path / "x.toml").write_bytes(b'title = "\xff"')
    with pytest.raises(RunnerError, match=r"x\.toml: this recipe cannot be read: .*utf-8"):
        recipe.load(tmp_path / "x.toml")
    with pytest.raises(RunnerError, match=r"y\.toml: this recipe cannot be read: .*No such file"):
        recipe.load(tmp_path / "y.toml")


def test_recipes_are_found_by_name_in_whatever_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(recipe, "FOLDER", tmp_path)
    for name in ("b", "wing/a", "wing/deep/resnet50-x"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"{name}.toml").touch()
    assert recipe.names() == ["a", "b", "resnet50-x"]
    assert recipe.find("a") == tmp_path / "wing/a.toml"
    assert recipe.find(str(tmp_path / "b.toml")) == tmp_path / "b.toml"
    with pytest.raises(RunnerError, match=r"resnet50_x: there is no such recipe.*did you mean resnet50-x\?"):
        recipe.find("resnet50_x")
    with pytest.raises(RunnerError, match=r"zzz: there is no such recipe.*`python -m runners list` prints them"):
        recipe.find("zzz")
    with pytest.raises(RunnerError, match=r"other\.toml: there is no such recipe"):
        recipe.find("other.toml")


def test_two_recipes_of_one_name_are_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(recipe, "FOLDER", tmp_path)
    for wing in ("x", "y"):
        (tmp_path / wing).mkdir()
        (tmp_path / wing / "same.toml").touch()
    with pytest.raises(RunnerError, match=r"y/same\.toml: .*x/same\.toml has the same name; rename one"):
        recipe.names()
