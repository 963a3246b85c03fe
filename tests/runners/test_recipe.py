"""Recipes as files: their keys and folders, and the message for one that is wrong."""

from __future__ import annotations

import hashlib

import pytest

from perfledger.runners import cases, recipes
from perfledger.runners.job import RequiredRecords, RunnerError
from perfledger.runners.recipes import Image, Launcher, RecipeSource, Setup
from tests.runners.written import loaded, written

WHOLE = """
[launcher]
name = "mpirun"
arguments = ["--bind-to", "none"]
always = true
[options]
xla = false
[slots.flags]
by = "precision"
fp32 = ""
amp = ["--amp", "--b={batch_size}"]
[environment_variables]
THREADS = "4"
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
    found = recipes.load(path)
    assert (found.name, found.label, found.notes, found.cool_down_seconds) == ("tiny", "x", "n", 5)
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert found.launcher == Launcher("mpirun", ("--bind-to", "none"), True)
    assert found.records == RequiredRecords("ngc.dllogger", 2, "first")
    assert found.slots == {
        "flags": {"by": "precision", "fp32": "", "amp": ("--amp", "--b={batch_size}")},
    }
    assert found.environment_variables == {"THREADS": "4"}
    assert found.sent == {"sub/t.py": tmp_path / "../t.py"}
    assert found.container == Image("host/image:1", f"sha256:{'0' * 64}", ("--x",))
    assert found.setup == Setup("python3.10", ("torch",), ("git clone {work}",), "Words.")
    assert found.source == RecipeSource("a/b", "c0ffee", "b/c")


def test_white_space_stays_in_values_for_the_command(tmp_path):
    found = loaded(tmp_path, [" a "], more='[options]\nword = " x "\n[environment_variables]\nA = " y "\n')
    assert (found.command, found.options, found.environment_variables) == ((" a ",), {"word": " x "}, {"A": " y "})


def test_the_defaults_of_a_recipe(tmp_path):
    found = loaded(tmp_path, ["a"])
    assert (found.label, found.notes, found.cool_down_seconds, found.container) == ("", "", 0, None)
    assert found.launcher == Launcher("plain", (), False)
    assert found.setup == Setup("python", (), (), "")
    (table,) = found.tables
    assert table == {"shape": ("1n1d",), "batch_size": (8,), "precision": ("fp32",)}


SHORT = """
suite = "gpt2"
model = "GPT-2 124M"
framework = "PyTorch"
command = ["python", "train.py", "--batch-size", "{batch_size}", "--max-iters", "{iterations}"]
iterations = 200
records = { format = "frameworks.nanogpt", at_least = 10 }
files = { "." = "nanoGPT" }
options = { sequence_length = 1024 }
matrix = { batch_size = [8, 16], precision = "bf16" }
"""


def test_seven_keys_are_required_and_tables_may_be_on_one_line(tmp_path):
    (tmp_path / "nanoGPT/data").mkdir(parents=True)
    for name in ("train.py", "data/prepare.py"):
        (tmp_path / "nanoGPT" / name).write_text("")
    path = tmp_path / "mine.toml"
    path.write_text(SHORT)
    found = recipes.load(path)
    assert (found.title, found.device, found.repeats, found.timeout_seconds) == (
        "GPT-2 124M in PyTorch",
        "gpu",
        5,
        3600,
    )
    assert {*found.sent} == {"train.py", "data/prepare.py"}
    assert [case.slug for case in cases.select_cases(found, {})] == ["gpu-n1d1-bs8-bf16", "gpu-n1d1-bs16-bf16"]
    path.write_text("\n".join(line for line in SHORT.splitlines() if not line.startswith(("files", "options"))))
    recipes.load(path)
    for key in ("suite", "model", "framework", "command", "iterations", "records", "matrix"):
        path.write_text("\n".join(line for line in SHORT.splitlines() if not line.startswith(key)))
        with pytest.raises(RunnerError, match=f"the key `{key}` is missing; add it"):
            recipes.load(path)


TABLES = "[[matrix]]\nbatch_size = 8\nprecision = 'fp32'\n[[matrix]]\nbatch_size = 16\nprecision = 'fp32'\n"


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        (("suite", "suit"), 3, "`suit` is not a key of a recipe; did you mean `suite`?"),
        (('suite = "tiny"\n', ""), 1, "the key `suite` is missing; add it"),
        (('title = "', 'colour = "red"\ntitle = "'), 2, "`colour` is not a key of a recipe; the keys here are title"),
        (('title = "', 'name = "red"\ntitle = "'), 2, "`name` is not a key of a recipe"),
        (("[records]", "[recrods]"), 13, "`recrods` is not a key of a recipe; did you mean `records`?"),
        (("[matrix]", "[[matrx]]"), 18, "`matrx` is not a key of a recipe; did you mean `matrix`?"),
        (("at_least", "at_lest"), 15, "`records.at_lest` is not a key of a recipe; did you mean `at_least`?"),
        (("at_least = 2", ""), 13, "the key `records.at_least` is missing"),
        (("[records]", "[container]\n[records]"), 13, "the key `container.image` is missing"),
        (("iterations = 3", "iterations = 0"), 7, "`iterations` must be a whole number from 1"),
        (("iterations = 3", "iterations = true"), 7, "`iterations` must be a whole number from 1"),
        (("iterations = 3", "cool_down_seconds = -1"), 7, "`cool_down_seconds` must be a whole number from"),
        (('suite = "tiny"', 'suite = "../up"'), 3, "`suite` must be the name of a folder"),
        (('model = "Loop"', 'model = " "'), 5, "`model` must be a text that is not empty"),
        (('model = "Loop"', 'model = "Loop"\nnotes = 3'), 6, "`notes` must be a text"),
        (('framework = "Bash"', 'framework = "飞桨"'), 4, "`framework` must be a name with a letter"),
        (('device = "gpu"', 'device = "v100"'), 6, "`device` must be cpu or gpu"),
        (('command = ["a"]', 'command = ["--lr {lr}"]'), 10, "`command` names {lr}, which has no value; a slot here"),
        (('command = ["a"]', 'command = ["{batchsize}"]'), 10, "did you mean `batch_size`?"),
        (('command = ["a"]', 'command = ["--b={batch_size"]'), 10, "`command` is '--b={batch_size', whose { belongs"),
        (('command = ["a"]', 'command = ["{batch-size}"]'), 10, "whose { belongs to no slot; a slot is {name} in"),
        (('command = ["a"]', 'command = ["{shape}"]'), 10, "`command` names {shape}, which has no value"),
        (('command = ["a"]', "command = []"), 10, "`command` must be a list of texts, the program first"),
        (('command = ["a"]', 'command = [1, "a"]'), 10, "`command` must be a list of texts"),
        (("[records]", '[environment_variables]\nA = "{"\n[records]'), 14, "`environment_variables.A` is '{', whose"),
        (("[records]", '[environment_variables]\nA = "{x}"\n[records]'), 14, "`environment_variables.A` names {x}"),
        (("[records]", "[environment_variables]\nA = [1]\n[records]"), 13, "`environment_variables` must be a table"),
        (("[records]", '[environment_variables]\n"A B" = "x"\n[records]'), 13, "by names of environment variables"),
        (("[records]", '[launcher]\narguments = ["{x}"]\n[records]'), 14, "`launcher.arguments` names {x}, which has"),
        (("[records]", '[launcher]\nname = "torchrnu"\n[records]'), 14, "one of plain, torchrun, torch.distributed.la"),
        (("[records]", '[slots.x]\nby = "nodes"\n1 = ["{y}"]\n[records]'), 13, "`slots.x` names {y}, which has no"),
        (("[records]", "[slots]\nx = 1\n[records]"), 13, "`slots` must be tables, each with `by`, and a text or"),
        (("[records]", '[slots.x]\nfp32 = "a"\n[records]'), 13, "`slots.x.by` must be one of"),
        (("[records]", '[slots.precision]\nby = "nodes"\n[records]'), 13, "`slots.precision` is taken, or is not a"),
        (("[records]", '[data]\nlayout = "x"\n[records]'), 14, "`data.layout` must be a list of texts"),
        (("[records]", '[files]\nx = ""\n[records]'), 13, "`files` must be a table: a path without a"),
        (("[records]", '[files]\n"/etc/x" = "x"\n[records]'), 13, "`files` must be a table: a path without a"),
        (("[records]", '[container]\nimage = "a:{hosts}"\n[records]'), 14, "`container.image` names {hosts}"),
        (("[records]", '[container]\nimage = "a@b"\n[records]'), 14, "its digest goes to `container.digest`"),
        (("[records]", '[container]\nimage = "a"\ndigest = "sha256:1"\n[records]'), 15, "`container.digest` must be"),
        (("[records]", '[source]\nfolder = "../up"\n[records]'), 14, "`source.folder` must be a path"),
        (("\n[records]", "options = 3\n[records]"), 12, "`options` must be a table"),
        (("[records]", "[options]\nnodes = 2\n[records]"), 14, "`options.nodes` is taken, or is not a name"),
        (("[records]", "[options]\nA-b = 2\n[records]"), 14, "`options.A-b` is taken, or is not a name"),
        (("batch_size = [8]", ""), 18, "`matrix.batch_size` is missing or empty; state at least one value"),
        (("batch_size = [8]", "batch_size = []"), 19, "`matrix.batch_size` is missing or empty"),
        (("batch_size = [8]", "batch_size = [[1]]"), 18, "`matrix` must be a table or several"),
        (("batch_size = [8]", "batch_size = [8, 8]"), 19, "`matrix.batch_size` states no value, or one twice"),
        (("batch_size = [8]", "batch_size = [0]"), 19, "`matrix.batch_size` is 0, but must be a whole number from 1"),
        (("batch_size = [8]", "batch_size = [true]"), 19, "`matrix.batch_size` is True, but must be a whole number"),
        (
            ('precision = ["fp32"]', 'precision = ["int4"]'), 20,
            "must be one of fp32, tf32, fp32_tf32, amp, fp16, bf16, fp8, mxfp8, nvfp4, int8",
        ),
        (("[matrix]", '[matrix]\nshape = ["1n0d"]'), 19, "`matrix.shape` is '1n0d', but must be nodes and"),
        (("[matrix]", "[matrix]\ndevices = [2]"), 19, "`matrix.devices` is taken, or is not a name"),
    ],
)  # fmt: skip
def test_an_error_in_a_recipe_names_file_line_and_key(tmp_path, change, line, message):
    path = written(tmp_path, ["a"])
    before = path.read_text(encoding="utf-8")
    path.write_text(before.replace(*change, 1), encoding="utf-8")
    assert path.read_text(encoding="utf-8") != before
    with pytest.raises(RunnerError) as error:
        recipes.load(path)
    assert str(error.value).startswith(f"{path}:{line}: ")
    assert message in str(error.value)


def test_a_recipe_that_is_not_toml_is_refused_with_line_and_column(tmp_path):
    path = written(tmp_path, ["a"])
    path.write_text(path.read_text(encoding="utf-8").replace("title", "title title", 1), encoding="utf-8")
    with pytest.raises(RunnerError, match=r"tiny\.toml:2: is not TOML: Expected '=' .* \(at line 2, col"):
        recipes.load(path)


def test_the_line_of_a_key_is_found_after_long_texts_and_in_the_right_table(tmp_path):
    program = 'command = ["bash", "-c", """\niterations = 9\n[matrix]\nx = 1\n"""]\n'
    tables = TABLES.replace("batch_size = 16", "batch_size = 0")
    path = written(tmp_path, ["a"], matrix=tables)
    text = path.read_text(encoding="utf-8").replace('command = ["a"]\n', program)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RunnerError) as error:
        recipes.load(path)
    line = text.splitlines().index("batch_size = 0") + 1
    assert str(error.value).startswith(f"{path}:{line}: `matrix.batch_size` is 0, but")
    title = 'title = """\niterations = 8\n"""'
    text = text.replace('title = "Lines"', title).replace("iterations = 3", "iterations = 0")
    path.write_text(text.replace("batch_size = 0", "batch_size = 8"), encoding="utf-8")
    with pytest.raises(RunnerError, match=r"tiny\.toml:9: `iterations` must be"):
        recipes.load(path)


def test_files_can_name_a_folder(tmp_path):
    for name in ("trainer/a.py", "trainer/sub/b.py", "trainer/c.txt", "trainer/__pycache__/a.pyc", "trainer/.hidden"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert loaded(tmp_path, ["a"], more='[files]\n"." = "trainer"\n"all" = "trainer/sub"\n').sent == {
        "a.py": tmp_path / "trainer/a.py",
        "c.txt": tmp_path / "trainer/c.txt",
        "sub/b.py": tmp_path / "trainer/sub/b.py",
        "all/b.py": tmp_path / "trainer/sub/b.py",
    }
    (tmp_path / "empty").mkdir()
    with pytest.raises(RunnerError, match=r"`files\.x` is 'empty', and no file is there"):
        loaded(tmp_path, ["a"], more='[files]\nx = "empty"\n')


@pytest.mark.parametrize("name", ["fp8", "mxfp8", "nvfp4", "int8"])
def test_narrow_formats_are_precisions(tmp_path, name):
    (table,) = loaded(tmp_path, ["a"], f'[matrix]\nbatch_size = 8\nprecision = "{name}"\n').tables
    assert table["precision"] == (name,)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ("matrix = 3\n", "`matrix` must be a table or several"),
        ("matrix = []\n", "`matrix` is empty; state at least"),
    ],
)
def test_a_matrix_is_a_table_or_several(tmp_path, matrix, message):
    with pytest.raises(RunnerError) as error:
        loaded(tmp_path, ["a"], matrix="", head=matrix)
    assert message in str(error.value)


def test_a_matrix_key_must_be_in_all_tables_or_an_option(tmp_path):
    tables = TABLES.replace("batch_size = 16", "batch_size = 16\nxla = [true, false]")
    with pytest.raises(RunnerError, match=r"`matrix\.xla` is in one table and not in all; add it to them or"):
        loaded(tmp_path, ["a"], matrix=tables)
    found = loaded(tmp_path, ["{batch_size} {xla}"], matrix=tables, more="[options]\nxla = false\n")
    assert len(found.tables) == 2


def test_a_file_that_is_not_utf8_or_is_absent_is_refused(tmp_path):
    (tmp_path / "x.toml").write_bytes(b'title = "\xff"')
    with pytest.raises(RunnerError, match=r"x\.toml:1: is not UTF-8; save the file in that encoding"):
        recipes.load(tmp_path / "x.toml")
    with pytest.raises(RunnerError, match=r"y\.toml: this recipe cannot be read: .*No such file"):
        recipes.load(tmp_path / "y.toml")


def test_recipes_are_found_by_name_in_whatever_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(recipes, "FOLDER", tmp_path)
    for name in ("b", "wing/a", "wing/deep/resnet50-x"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"{name}.toml").touch()
    assert recipes.names() == ["a", "b", "resnet50-x"]
    assert recipes.find("a") == tmp_path / "wing/a.toml"
    assert recipes.find(str(tmp_path / "b.toml")) == tmp_path / "b.toml"
    with pytest.raises(RunnerError, match=r"resnet50_x: there is no such recipe.*did you mean `resnet50-x`\?"):
        recipes.find("resnet50_x")
    with pytest.raises(RunnerError, match=r"zzz: there is no such recipe.*`python -m runners list` prints them"):
        recipes.find("zzz")
    with pytest.raises(RunnerError, match=r"other\.toml: there is no such file; "):
        recipes.find("other.toml")


def test_two_recipes_with_one_name_are_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(recipes, "FOLDER", tmp_path)
    for wing in ("x", "y"):
        (tmp_path / wing).mkdir()
        (tmp_path / wing / "same.toml").touch()
    with pytest.raises(RunnerError, match=r"y/same\.toml: .*x/same\.toml has the same name; rename one"):
        recipes.names()
