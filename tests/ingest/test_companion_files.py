"""Files next to logs: a bad one becomes a problem that names it, and the rest is published."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from calls import start
from made_logs import run_json, seg
from made_trees import ROOT, Called, write_run

from perfledger.ingest import accept, against
from perfledger.ingest.common import documents, files, suites
from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.read import layout, plans
from perfledger.ingest.read.walk import COMPANIONS
from perfledger.ingest.record.store import FolderStore

#: Longer than any document may be.
HUGE = 200 << 20


def huge(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(HUGE)


def text(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


#: Bad text after the correct beginning of a document: a parser refuses it, or needs much memory or recursion for it.
TEXTS: Mapping[str, str] = {
    "nested": "[" * 3_000,
    "tables": '{"a":' * 3_000,
    "digits": "9" * 5_000,
    "hexadecimal": "0x" + "f" * 50_000,
}
#: Bad files without a correct beginning.
THINGS: Mapping[str, Callable[[Path], object]] = {
    "empty": text(b""),
    "zeros": text(b"\0" * 1_000),
    "dotted": text(b".".join([b"a"] * 40_000) + b" = 1\n"),
    "quoted": text(b" . ".join([b'"a b"'] * 40_000) + b" = 1\n"),
    "other encoding": text(b"a = \xff\xfe"),
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "folder": Path.mkdir,
    "dangling": lambda path: path.symlink_to("nowhere"),
    "loop": lambda path: path.symlink_to(path.name),
    "huge": huge,
}
#: Parts of the messages about some of them.
MESSAGES = {
    "pipe": "not a regular file, and was not opened",
    "device": "not a regular file, and was not opened",
    "folder": "not a regular file, and was not opened",
    "huge": f"it has {HUGE} bytes, and at most",
}
SOURCES = {"published/sources.toml": (ROOT / "raw_logs/published/sources.toml").read_text()}
TOML, JSON, CSV = "a = ", '{{"schema": "{}", "a": ', "a\n"


@dataclass(frozen=True)
class Kind:
    """A kind of document: its place in a tree, its first bytes, and the other files that it needs."""

    place: str
    begins: str
    needs: Mapping[str, str] = field(default_factory=dict)
    #: Faults that make the file look like another program's. They are not problems.
    as_other: frozenset[str] = frozenset()
    #: Whether the log is published without the document.
    optional: bool = True


#: All faults, for files that are not read if there is a run.json.
UNREAD = frozenset({*TEXTS, *THINGS})
KINDS: Mapping[str, Kind] = {
    "changes.toml": Kind("changes.toml", TOML, as_other=frozenset({"empty"})),
    "facts.toml": Kind("facts.toml", TOML, as_other=frozenset({"empty"})),
    "accelerators.toml": Kind("accelerators.toml", TOML, as_other=frozenset({"empty"})),
    "sources.toml": Kind("published/sources.toml", TOML),
    "table": Kind("published/{}.csv", CSV, SOURCES),
    "recomputed": Kind("published/recomputed/{}.jsonl", JSON.format(""), SOURCES, frozenset({"empty"})),
    # A JSON file without the schema's name belongs to another program.
    "plan": Kind(
        "plans/{}.json",
        JSON.format("perfledger.plan/1"),
        as_other=frozenset({"folder", "empty", "zeros", "dotted", "quoted", "other encoding", "huge"}),
    ),
    "telemetry.csv": Kind("1/telemetry.csv", CSV, as_other=frozenset({"folder"})),
    "run.json": Kind("1/run.json", JSON.format("perfledger.run/1"), optional=False),
    "environment.json": Kind("1/environment.json", JSON.format("perfledger.environment/1")),
    "launch.json": Kind("1/launch.json", JSON.format("perfledger.launch/1"), as_other=UNREAD),
    "submission.json": Kind("1/submission.json", JSON.format("perfledger.submission/1"), as_other=UNREAD),
    "expected.csv": Kind("1/expected.csv", CSV, as_other=UNREAD),
}
CASES = [(kind, fault) for kind in KINDS for fault in (*TEXTS, *THINGS)]


def put(path: Path, fault: str, begins: str = "") -> Path:
    """Write the faulty file of this name to the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if fault in TEXTS:
        path.write_text(begins + TEXTS[fault])
    else:
        THINGS[fault](path)
    return path


def made(top: Path, kind: str, fault: str) -> Path:
    """Make a tree with one log and one faulty document."""
    of, tree = KINDS[kind], top / f"{kind} {fault}"
    named = {"train.log": {}, **({"environment.json": {}} if kind == "environment.json" else {})}
    write_run(tree, "1", [*seg([4.0, *[20.0] * 9]), f"# {tree.name}"], run=run_json(model=tree.name, files=named))
    for name, content in of.needs.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(content)
    put(tree / of.place.format(fault), fault, of.begins)
    return tree


@pytest.fixture(scope="module")
def called(tmp_path_factory: pytest.TempPathFactory, light_site: None) -> Called:
    """Read all trees by one command, which may neither wait for a pipe nor use much memory."""
    top = tmp_path_factory.mktemp("documents")
    trees = [made(top, *each) for each in CASES]
    pages = int(Path("/proc/self/statm").read_text().split()[0])  # of tests that ran before in this process
    limit = pages * resource.getpagesize() + (2 << 30)
    call = start(
        top / "said", *trees, "--json", "--verbose", "--jobs", 1,
        before=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )  # fmt: skip
    code, lines = call.code_within(300), call.said.splitlines()
    runs, problems = ([each for each in lines if each.startswith("{") is is_run] for is_run in (True, False))
    return Called(code, "\n".join(runs), "\n".join(problems))


def test_the_cases_include_all_companion_files() -> None:
    assert {*COMPANIONS} <= {*KINDS}


@pytest.mark.parametrize(("kind", "fault"), CASES)
def test_a_bad_document_is_a_problem_and_the_rest_is_published(called: Called, kind: str, fault: str) -> None:
    assert called.code == 1
    of, tree = KINDS[kind], f"{kind} {fault}"
    (run,) = [each for each in called.lines if each["path"] == f"{tree}/1/train.log"]
    assert (run["published"], run["observations"]) == (of.optional, 10)
    place = of.place.format(fault)
    # Messages name others' figures and plans without the folder of the logs.
    name = "/".join(place.split("/")[-2:]) if place.startswith(("published", "plans")) else f"{tree}/{place}"
    found = [each for each in called.problems if each.startswith((name, f"{tree}/{place}"))]
    assert bool(found) == (fault not in of.as_other), found
    if place.endswith(".toml") or "published" in place:
        assert [each for each in found if MESSAGES.get(fault, "") in each] or fault in of.as_other, found


#: Documents that a command cannot do without: it ends, and its message says why.
NEEDED: Mapping[str, tuple[str, Callable[[Path], object]]] = {
    "layout": ("layout.toml", lambda path: layout.load.__wrapped__(str(path))),
    "suite": ("suite.toml", suites.suite_file),
    "baseline": ("results.json", lambda path: against.read(path, "throughput")),
    "manifest": ("submission.json", lambda path: accept.check(path.parent)),
}


@pytest.mark.parametrize("fault", [*TEXTS, *THINGS])
@pytest.mark.parametrize("kind", NEEDED)
def test_a_bad_document_that_a_command_needs_ends_it(kind: str, fault: str, tmp_path: Path) -> None:
    name, read = NEEDED[kind]
    path = put(tmp_path / name, fault, TOML if name.endswith(".toml") else '{"a": ')
    with pytest.raises(UsageError, match=name):
        read(path)


#: Readers of files that may be missing.
OWN: Mapping[str, Callable[[Path], object]] = {
    "plans": lambda path: plans.is_plans(path.parent),
    "ledger": lambda path: FolderStore(path.parent, Path()).get(path.name),
    "head": lambda path: documents.head(path, 4),
}


@pytest.mark.parametrize("fault", ["pipe", "device", "folder", "dangling", "loop"])
@pytest.mark.parametrize("kind", OWN)
def test_optional_files_are_ignored_unless_they_are_regular(kind: str, fault: str, tmp_path: Path) -> None:
    assert not OWN[kind](put(tmp_path / "plans" / "a.json", fault))


@pytest.mark.parametrize("fault", ["empty", "pipe", "device", "dangling", "huge"])
def test_writing_replaces_whatever_has_the_name_of_the_file(fault: str, tmp_path: Path) -> None:
    path = put(tmp_path / "a.json", fault)
    assert files.write_if_changed(path, b"{}")
    assert (path.read_bytes(), path.is_symlink()) == (b"{}", False)


def test_a_file_that_grows_while_it_is_read_is_not_read_further() -> None:
    """Files in /proc have a size of zero."""
    with pytest.raises(documents.DocumentError, match="at most 3 are read"):
        documents.read_bytes(Path("/proc/self/status"), 3)
