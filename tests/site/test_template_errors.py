"""Mistakes in templates, words, suites and declarations: one line of output with file, line, cause and remedy."""

from __future__ import annotations

import json
import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
from msgspec import Meta, Struct

from perfledger.ingest.common import toml_file, words
from perfledger.ingest.site.render.environment import TemplateError, located
from perfledger.schema.records import WrongValueError
from tests.site.projects import copy_code

ROOT = Path(__file__).resolve().parents[2]
CASE = Path("raw_logs/resnet50/pytorch/cpu-n1d1-bs8-fp32/1")
PAGE = Path("report_templates/pages/index.md.j2")
WORDS = Path("report_templates/words.toml")
SUITE = Path("report_templates/suites/resnet50.toml")
SHARED = Path("report_templates/reports/_shared.toml")


def at_the_end(added: str) -> Callable[[str], str]:
    return lambda text: text.rstrip("\n") + "\n" + added + "\n"


def on_top(added: str) -> Callable[[str], str]:
    return lambda text: added + "\n" + text


def instead_of(pattern: str, by: str) -> Callable[[str], str]:
    return lambda text: re.sub(pattern, by, text, count=1, flags=re.MULTILINE)


#: What is edited, how, and what is said of it: {line} is the last line of the edited file.
MISTAKES: dict[str, tuple[Path, Callable[[str], str], str]] = {
    "an unknown word, spelt nearly right": (
        PAGE,
        at_the_end('{{ w("nav.sumary") }}'),
        f"{PAGE}:{{line}}: .*{WORDS}:\\d+: \\[nav\\] has no entry 'sumary'; did you mean 'summary'.* add sumary = ",
    ),
    "a word of a table that is not there": (
        PAGE,
        at_the_end('{{ w("navv.summary") }}'),
        f"{PAGE}:{{line}}: .*{WORDS}:\\d+: there is no table \\[navv\\]; did you mean 'nav'",
    ),
    "a word without its argument": (
        PAGE,
        at_the_end('{{ w("index.runs_n") }}'),
        f"{PAGE}:{{line}}: .*{WORDS}:\\d+: index.runs_n: .*{{{{n}}}}",
    ),
    "a name that is not known": (
        PAGE,
        at_the_end("{{ langage }}"),
        f"{PAGE}:{{line}}: UndefinedError: 'langage' is undefined",
    ),
    "a statement that does not end": (
        PAGE,
        at_the_end("{% if language %}"),
        f"{PAGE}:{{line}}: Unexpected end of template",
    ),
    "a filter that is not there": (PAGE, at_the_end('{{ "x" | loud }}'), f"{PAGE}:{{line}}: No filter named 'loud'"),
    "a template that is not there": (
        PAGE,
        at_the_end('{% include "_scalin.md.j2" %}'),
        f"{PAGE}:{{line}}: TemplateNotFound: .*_scalin.md.j2",
    ),
    "a call with too little": (PAGE, at_the_end("{{ w() }}"), f"{PAGE}:{{line}}: TypeError: .*'key'"),
    "a word in one language": (
        WORDS,
        at_the_end('[made]\nup = { en = "x" }'),
        f"{WORDS}:{{line}}: made.up: no text in 'zh'",
    ),
    "a word above all tables": (WORDS, on_top("up = 1"), f"{WORDS}:1: up: expected a \\[table\\] of entries, got 1"),
    "a suite's key, spelt nearly right": (
        SUITE,
        on_top("framworks = []"),
        f"{SUITE}:1: framworks: unknown key; did you mean 'frameworks'",
    ),
    "a suite without models": (SUITE, instead_of(r"^models = .*", ""), f"{SUITE}:1: the key 'models' is missing"),
    "a suite's word in one language": (
        SUITE,
        instead_of(r"^summary = .*", 'summary = { zh = "甲" }'),
        f"{SUITE}:24: words.summary: no text in 'en'",
    ),
    "a spelling of two suites": (
        SUITE,
        instead_of(r"^models = \[", 'models = ["BERT base", '),
        "resnet50.toml:4: models: 'BERT base' is a spelling of .*bert.toml",
    ),
    "a shared block with an unknown key": (
        SHARED,
        at_the_end("[made]\nrowz = 1"),
        f"{SHARED}:{{line}}: made.rowz: unknown key; did you mean 'rows'",
    ),
}


#: Loads the modules of a copied project once, and runs a command in a fork of itself for each line of arguments.
SERVER = """
import json, os, sys
import pandas
from perfledger.ingest import build, cli
from perfledger.ingest.site import builder
from perfledger.ingest.site.render import jinja
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        sys.stderr = open("stderr.txt", "w", encoding="utf-8")
        sys.stdout = open(os.devnull, "w")
        code = cli.main(json.loads(line))
        sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@dataclass(frozen=True)
class Project:
    """A copy of the project with one log, whose pages are written, and the process that runs its commands."""

    folder: Path
    server: subprocess.Popen[str]

    def ingest(self, *arguments: str) -> tuple[int, str]:
        """Return the exit code of `python -m ingest` and its messages."""
        assert self.server.stdin
        assert self.server.stdout
        self.server.stdin.write(json.dumps(arguments) + "\n")
        self.server.stdin.flush()
        code = int(self.server.stdout.readline())
        return code, (self.folder / "stderr.txt").read_text("utf-8")

    @contextmanager
    def edited(self, path: Path, change: Callable[[str], str]) -> Iterator[int]:
        """Edit a file for a while, and yield its last line."""
        before = (self.folder / path).read_bytes()
        after = change(before.decode())
        assert after.encode() != before, "the mistake has to be there"
        (self.folder / path).write_text(after, "utf-8")
        yield len(after.rstrip("\n").split("\n"))
        (self.folder / path).write_bytes(before)


def written(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in (folder / "docs").rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    folder = tmp_path_factory.mktemp("mistakes")
    copy_code(folder)
    shutil.copytree(ROOT / CASE, folder / CASE)
    command = [sys.executable, "-c", SERVER]
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        found = Project(folder, server)
        assert found.ingest("raw_logs/") == (0, "")
        yield found


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_said_in_one_line_and_nothing_is_written(project: Project, mistake: str) -> None:
    path, change, message = MISTAKES[mistake]
    before = written(project.folder)
    with project.edited(path, change) as last:
        code, stderr = project.ingest("raw_logs/")
    assert code == 2, stderr
    wanted = message.replace("{line}", str(last)).replace("{{", "{").replace("}}", "}")
    assert re.fullmatch(f"ingest: .*{wanted}.*\n", stderr)
    assert written(project.folder) == before


def test_a_check_says_the_same(project: Project) -> None:
    """A check renders no page, so it meets no template."""
    path, change, _ = MISTAKES["a suite's key, spelt nearly right"]
    with project.edited(path, change):
        assert project.ingest("raw_logs/") == project.ingest("check", "raw_logs/")


def test_a_page_whose_template_is_gone_names_it(project: Project) -> None:
    template = project.folder / "report_templates" / "pages" / "audit.md.j2"
    away = template.rename(template.with_suffix(".away"))
    code, stderr = project.ingest("raw_logs/")
    away.rename(template)
    assert code == 2
    assert stderr == "ingest: TemplateNotFound: audit.md.j2\n"


def test_another_encoding_is_said_with_its_line(project: Project) -> None:
    for path in (PAGE, WORDS, SUITE):
        good = (project.folder / path).read_bytes()
        (project.folder / path).write_bytes(good + b"# caf\xe9\n")
        code, stderr = project.ingest("raw_logs/")
        (project.folder / path).write_bytes(good)
        line = good.count(b"\n") + 1
        assert (code, stderr) == (2, f"ingest: {path}:{line}: is not UTF-8; save the file in that encoding\n")


def test_an_error_in_an_included_template_names_that_one(project: Project) -> None:
    (project.folder / "report_templates" / "pages" / "_made.md.j2").write_text("\n\n{{ nobody }}\n", "utf-8")
    with project.edited(PAGE, at_the_end('{% include "_made.md.j2" %}')):
        _, stderr = project.ingest("raw_logs/")
    assert stderr.startswith("ingest: report_templates/pages/_made.md.j2:3: UndefinedError: 'nobody' is undefined")


def test_a_fault_of_ours_keeps_its_traceback() -> None:
    """An error of one of our modules is not reported as a mistake in the template."""
    from jinja2 import DictLoader, Environment

    def ours() -> None:
        raise ZeroDivisionError

    template = Environment(loader=DictLoader({"a.md.j2": "\n{{ ours() }}"})).get_template("a.md.j2")
    template.root_render_func.__code__ = template.root_render_func.__code__.replace(co_filename="a.md.j2")
    with pytest.raises(ZeroDivisionError), located():
        template.render(ours=ours)


TOML = '''# a comment = 1
top = 1

[table]
key = { inner = 1 }
text = """
key = 2
[not.a.header]
"""
"quoted key" = 3
list = [
  # key = 4
  "one",
  { two = 2 },
]
after = 5
[[row]]
a = 1
[[row]]
a = 2
[row.below]
b.c = 3
[[row.cell]]
d = 4
[[row.cell]]
d = 5
'''


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (("top",), 2), (("table",), 4), (("table", "key"), 5), (("table", "key", "inner"), 5), (("table", "text"), 6),
        (("table", "quoted key"), 10), (("table", "list"), 11), (("table", "list", 0), 13),
        (("table", "list", 1, "two"), 14), (("table", "after"), 16), (("row", 0), 17), (("row", 0, "a"), 18),
        (("row", 1, "a"), 20), (("row", 1, "below"), 21), (("row", 1, "below", "b", "c"), 22),
        (("row", 1, "cell", 0, "d"), 24), (("row", 1, "cell", 1, "d"), 26), (("nothing",), 1), (("row", 1, "no"), 19),
    ],
)  # fmt: skip
def test_the_line_of_a_key_is_known(tmp_path: Path, keys: toml_file.Keys, line: int) -> None:
    path = tmp_path / "made.toml"
    path.write_text(TOML, "utf-8")
    assert toml_file.read_tables(path).line(keys) == line


def test_the_lines_of_every_key_of_our_own_files_are_known() -> None:
    """Check that each key of a file is in the line that is reported for it."""
    files = sorted((ROOT / "report_templates").rglob("*.toml"))
    assert len(files) > 20
    for path in files:
        file = toml_file.read_tables(path)
        lines = file.source.split("\n")
        for keys, line in file._lines.items():
            if isinstance(keys[-1], str):
                assert keys[-1] in lines[line - 1], (path, keys, line)


def test_every_error_of_a_file_is_one_that_the_command_catches() -> None:
    from perfledger.ingest.common.errors import UsageError

    for kind in (toml_file.FileError, words.WordsError, TemplateError):
        assert issubclass(kind, UsageError)


class Inner(Struct, frozen=True, forbid_unknown_fields=True):
    count: Annotated[int, Meta(ge=1)] = 1
    choice: Annotated[str, toml_file.one_of("left", "right")] = "left"

    def __post_init__(self) -> None:
        if self.count == 13:
            raise WrongValueError(("count",), "13 is unlucky")


class Outer(Struct, frozen=True, forbid_unknown_fields=True):
    entries: dict[str, Inner] = {}
    chosen: dict[Annotated[str, toml_file.one_of("left", "right")], tuple[str, ...]] = {}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "[entries]\na = { count = 2 }\nb = { count = 0 }",
            ":3: entries.b.count: expected a positive whole number, got 0",
        ),
        ("[entries.a]\n[entries.b]\ncount = 13", ":3: entries.b.count: 13 is unlucky"),
        ("[entries.a]\n[entries.b]\ncuont = 1", ":3: entries.b.cuont: unknown key; did you mean 'count'?"),
        (
            '[entries.a]\nchoice = "lefd"',
            ":2: entries.a.choice: expected one of left, right, got 'lefd'; did you mean 'left'?",
        ),
        ('[chosen]\nleft = ["a"]\nup = ["b"]', ":3: chosen.up: unknown key: expected one of left, right, got 'up'"),
        ('[chosen]\nleft = ["a"]\nright = ["b", 1]', ":3: chosen.right[1]: expected a text, got 1"),
        ("entries = 1", ":1: entries: expected a table, got 1"),
    ],
)
def test_a_fault_below_a_key_of_a_dictionary_is_found(tmp_path: Path, text: str, fault: str) -> None:
    """msgspec names no key of a dictionary; without the key there is no line."""
    path = tmp_path / "made.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(toml_file.FileError) as error:
        toml_file.read(path, Outer)
    assert str(error.value) == f"{path}{fault}"


def test_an_error_survives_the_way_back_from_another_process() -> None:
    """Logs are read in several processes, and an error that cannot be pickled breaks the pool."""
    error = toml_file.FileError(Path("made.toml"), 3, "what is wrong")
    assert str(pickle.loads(pickle.dumps(error))) == str(error) == "made.toml:3: what is wrong"
