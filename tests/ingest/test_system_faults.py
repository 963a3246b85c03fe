"""Faults of the system during a build: full disks, other runs, changing logs, clocks, killed processes, odd files.

docs/guide/faults.md names these tests. `--times` is how often tests of random moments are tried.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from calls import PEAK, start, wait
from made_logs import run_json, seg
from made_trees import ROOT, Called, contents, make_tree, write_run

from perfledger.ingest.common import files as common_files
from perfledger.ingest.common import lock
from perfledger.ingest.record import folders, reader
from perfledger.ingest.record import run as record_run

Ingest = Callable[..., Called]
LOG = "seg/paddleseg/bs2/1/train.log"
#: Two logs of equal length with different figures.
SLOW, FAST = (("".join(f"{each}\n" for each in seg([speed] * 12, batch=2))).encode() for speed in (5.0, 9.0))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, light_site: None) -> dict[str, bytes]:
    """Return the files of a cold build; they do not depend on the folder of the tree."""
    top = tmp_path_factory.mktemp("whole")
    return cold(make_tree(top / "logs"))


def cold(tree: Path) -> dict[str, bytes]:
    """Return the files of a build of the current tree without the files of an earlier run."""
    top = tree.parent / "cold"
    shutil.rmtree(top, ignore_errors=True)
    call = start(tree.parent / "said", tree, "--out", top / "docs")
    assert call.code() in (0, 1), call.said
    return contents(top / "docs")


def figure(called: Called, log: str = LOG) -> Any:
    (run,) = (each for each in called.lines if each["path"].endswith(log))
    return run["figures"].get("mean", {}).get("value")


def is_whole(out: Path, *states: Mapping[str, bytes]) -> bool:
    """Return whether each file is complete, which means equal to the file in one of the states."""
    found = contents(out) if any(each.is_file() for each in out.rglob("*")) else {}
    return all(data in [state.get(name) for state in states] for name, data in found.items())


def spread(sizes: Sequence[int], count: int) -> list[int]:
    """Return `count` of the sizes, evenly spread over them."""
    return [sizes[(2 * each + 1) * len(sizes) // (2 * count)] for each in range(count)]


# --- Disks and folders ------------------------------------------------------------------------------------------------


def test_a_file_that_may_not_grow_ends_the_run_and_the_next_completes_it(
    tree: Path, whole: dict[str, bytes], times: int
) -> None:
    """A limit of the size of files acts like a full disk or a quota, and fails at a file of each size."""
    out, said = tree.parent / "docs", tree.parent / "said"
    # The message itself needs 1000 bytes.
    sizes = [each for each in sorted({len(data) for data in whole.values()}) if each > 1000]
    for size in spread(sizes[:-1], max(1, times)):
        shutil.rmtree(out, ignore_errors=True)
        shutil.rmtree(tree.parent / ".perfledger", ignore_errors=True)
        limit = (size, resource.RLIM_INFINITY)
        call = start(
            said, tree, "--out", out, before=lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        )
        assert (call.code(), is_whole(out, whole)) == (2, True), call.said
    call = start(said, tree, "--out", out)
    assert call.code() == 0, call.said
    assert contents(out) == whole


@contextmanager
def mounted(folder: Path, *options: str) -> Iterator[None]:
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", folder], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("a small file system can be mounted by root only")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def test_a_full_disk_of_any_size_ends_the_run_and_the_next_completes_it(
    tree: Path, whole: dict[str, bytes], ingest: Ingest, times: int
) -> None:
    top = tree.parent / "disk"
    kib = sum(-(-len(data) // 4096) * 4 for data in whole.values())
    for size in spread(range(8, kib), max(1, times)):
        with mounted(top, f"size={size}k"):
            called = ingest(tree, "--out", top / "docs")
            assert called.code == 2, f"{size} of {kib} KiB"
            assert "No space left on device" in called.problems[-1]
            assert is_whole(top / "docs", whole), f"{size} of {kib} KiB"
            subprocess.run(["mount", "-o", "remount,size=64m", top], check=True)
            assert ingest(tree, "--out", top / "docs").code == 0
            assert contents(top / "docs") == whole


def test_a_read_only_folder_is_named_and_stays_unchanged(tree: Path, ingest: Ingest) -> None:
    top = tree.parent / "disk"
    with mounted(top, "size=64m"):
        assert ingest(tree, "--out", top / "docs").code == 0
        before = contents(top)
        (tree / LOG).write_bytes(FAST)
        subprocess.run(["mount", "-o", "remount,ro", top], check=True)
        called = ingest(tree, "--out", top / "docs")
        assert (called.code, contents(top)) == (2, before)
        assert called.problems[0].startswith(f"ingest: {top}/.perfledger/docs/lock: Read-only file system")
        assert ingest("check", tree, "--out", top / "docs").code == 2, "the data are stale"


def test_a_folder_of_logs_that_vanishes_is_a_problem(
    tree: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = reader.Processes.read

    def vanished(*given: Any) -> Any:
        shutil.rmtree(tree / "seg/paddleseg/bs2")
        return real(*given)

    monkeypatch.setattr(reader.Processes, "read", vanished)
    called = ingest(tree, "--json")
    assert called.code == 1
    assert [each.split(":")[0] for each in called.problems] == [f"logs/seg/paddleseg/bs2/{n}/train.log" for n in (1, 2)]
    assert [each["published"] for each in called.lines] == [False, False, True, True, True]


def test_a_folder_of_pages_that_vanishes_ends_the_run_and_the_next_restores_it(
    tree: Path, ingest: Ingest, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, real = tree.parent / "docs", os.replace
    left = [20]

    def vanished(*given: Any) -> None:
        left[0] -= 1
        if not left[0]:
            shutil.rmtree(out)
        real(*given)

    monkeypatch.setattr(os, "replace", vanished)
    called = ingest(tree, "--out", out)
    assert called.code == 2
    assert "No such file or directory; what was written before is complete" in called.problems[-1]
    assert ingest(tree, "--out", out).code == 0
    assert contents(out) == whole


def test_output_that_cannot_be_printed_is_a_failure(tree: Path) -> None:
    with Path("/dev/full").open("w") as stream:
        done = subprocess.run(
            [sys.executable, "-m", "ingest", tree, "--json"], cwd=ROOT, check=False,
            stdout=stream, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert "No space left on device" in done.stderr


# --- Other runs -------------------------------------------------------------------------------------------------------


def begins(file: Path, text: str) -> bool:
    return file.exists() and file.read_text().startswith(text)


def test_concurrent_runs_wait_for_each_other_and_print_it(tree: Path, whole: dict[str, bytes], times: int) -> None:
    out = tree.parent / "docs"
    for runs in [2, 4] * (times // 4) or [4]:
        shutil.rmtree(out, ignore_errors=True)
        shutil.rmtree(tree.parent / ".perfledger", ignore_errors=True)
        with lock.held(out):  # so that they all wait, whichever is the fastest
            calls = [start(tree.parent / f"said{each}", tree, "--out", out) for each in range(runs)]
            said = f"ingest: {out}: another process is writing there; waiting"
            for each in calls:
                assert wait(partial(begins, each.log, said)), each.said
            assert not out.exists()
        assert [each.code() for each in calls] == [0] * runs, [each.said for each in calls]
        assert contents(out) == whole


def test_a_lock_ends_with_the_process_that_has_it(tmp_path: Path) -> None:
    at = tmp_path / "said"

    def hold() -> None:
        with lock.held(tmp_path / "docs"):
            at.with_name("held").touch()
            time.sleep(600)

    call = start(at, before=hold)
    assert wait(at.with_name("held").exists)
    call.kill()
    with lock.held(tmp_path / "docs"):
        assert (tmp_path / ".perfledger/docs/lock").is_file()


# --- Logs that change -------------------------------------------------------------------------------------------------


def grow(log: Path) -> None:
    with log.open("ab") as stream:
        stream.write(FAST)


def shrink(log: Path) -> None:
    log.write_bytes(log.read_bytes()[:300])


def swap(log: Path) -> None:
    """Change the bytes, and neither size nor time, like a copy that preserves times."""
    at = log.stat()
    log.write_bytes(FAST)
    os.utime(log, ns=(at.st_atime_ns, at.st_mtime_ns))


CHANGES = (grow, shrink, swap, Path.unlink)


def test_a_log_that_changes_while_it_is_read_gives_no_figure(
    tmp_path: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each change happens before and after the log is read. It leaves no trace in the cache."""
    tree, real = tmp_path / "logs", reader.read_job
    logs = [
        write_run(tree, f"seg/{n}/1", SLOW + b"#%d\n" % n, run=run_json(batch_size=2))
        for n in range(2 * len(CHANGES) + 1)
    ]

    def changed(job: Any) -> Any:
        number = int(job.inputs[0].name.split("/")[2])
        change = CHANGES[number % 4] if number < 8 else lambda _: None
        if number < 4:
            change(logs[number])
        found = real(job)
        if number >= 4:
            change(logs[number])
        return found

    with monkeypatch.context() as patched:
        patched.setattr(reader, "read_job", changed)
        called = ingest(tree, "--out", tmp_path / "docs", "--json")
    assert called.code == 1
    assert [each.partition(" or was")[0] for each in called.problems] == [
        f"logs/seg/{n}/1/train.log: changed" for n in range(8)
    ]
    assert [bool(each["figures"]) for each in called.lines] == [False] * 8 + [True]
    again = ingest(tree, "--out", tmp_path / "docs", "--json")
    assert again.lines == ingest(tree, "--json").lines
    assert figure(again, "seg/2/1/train.log") == figure(again, "seg/6/1/train.log") == 9.0
    assert contents(tmp_path / "docs") == cold(tree)

    # The result of an earlier reading stays.
    logs[8].write_bytes(FAST)
    monkeypatch.setattr(reader, "read_job", lambda job: (real(job), grow(logs[8]))[0])
    called = ingest(tree, "--out", tmp_path / "docs", "--json")
    assert called.codes["logs/seg/8/1/train.log"] == "changing"
    assert figure(called, "seg/8/1/train.log") == 5.0


def test_a_change_that_keeps_size_and_time_is_detected(tree: Path, ingest: Ingest, times: int) -> None:
    """Times of files are a few milliseconds coarse, so two quick changes may have the same time."""
    out = tree.parent / "docs"
    for number in range(max(3, times)):
        for data, speed in ((SLOW, 5.0), (FAST, 9.0)):
            (tree / LOG).write_bytes(data)
            os.utime(tree / LOG, ns=(10**18 + number, 10**18))
            assert figure(ingest(tree, "--json", *(["--out", out] if number == 0 else []))) == speed


def test_the_hash_of_a_file_that_just_changed_is_not_reused(
    tree: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tree.parent / "docs"
    size, *times, inode = common_files.stamp(tree / LOG) or []
    stamps = {tree / LOG: [size, *(each // 10**9 * 10**9 for each in times), inode]}  # as some file systems count
    monkeypatch.setattr(folders, "stamp", lambda path: stamps.get(path) or common_files.stamp(path))
    (tree / LOG).write_bytes(SLOW)
    assert figure(ingest(tree, "--out", out, "--json")) == 5.0
    (tree / LOG).write_bytes(FAST)
    assert figure(ingest(tree, "--out", out, "--json")) == 9.0, "the same stamp, just now"


def test_a_log_that_could_not_be_read_once_is_read_the_next_time(
    tree: Path, ingest: Ingest, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure in the cache would stay there, because its key is the unchanged bytes of the log."""
    real, out = Path.open, tree.parent / "docs"

    def refused(path: Path, *given: Any, **named: Any) -> Any:
        if path == tree / LOG and not hashing[0]:
            raise OSError(24, "Too many open files", str(path))
        return real(path, *given, **named)

    hashing, hashed = [False], folders.file_hash

    def hash_of(path: Path) -> str:
        hashing[0] = True
        try:
            return hashed(path)
        finally:
            hashing[0] = False

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", refused)
        patched.setattr(folders, "file_hash", hash_of)
        called = ingest(tree, "--out", out)
    assert (called.code, len(called.problems)) == (1, 1), called.err
    assert "Too many open files" in called.problems[0]
    assert ingest(tree, "--out", out).err == ""
    assert contents(out) == whole


# --- Clocks -----------------------------------------------------------------------------------------------------------

#: Start of these years in seconds since 1970.
YEARS = {1901: -2177452800, 2099: 4070908800}


def test_clocks_of_other_centuries_change_nothing(
    tree: Path, whole: dict[str, bytes], ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files are from one century, the clock is in the other, and then the clock is right again."""
    out = tree.parent / "docs"
    for files, now in (YEARS.values(), reversed(YEARS.values())):
        for path in tree.rglob("*"):
            os.utime(path, (files, files))
        with monkeypatch.context() as patched:
            patched.setattr(time, "time", lambda now=now: float(now))
            patched.setattr(time, "time_ns", lambda now=now: now * 10**9)
            assert ingest(tree, "--out", out).code == 0
            assert contents(out) == whole
            (tree / LOG).write_bytes(FAST)
            os.utime(tree / LOG, (files, files))
            assert figure(ingest(tree, "--json")) == 9.0
            make_tree(tree)
    assert ingest(tree, "--out", out).code == 0
    assert contents(out) == whole


# --- Processes, open files and memory ---------------------------------------------------------------------------------


def dies_over(*names: str, number: int = signal.SIGSEGV) -> Callable[[Path], Any]:
    """Return a reader that ends its process at logs in folders of these names, like a crash of native code."""
    real = record_run.read

    def read(path: Path) -> Any:
        if os.getpid() != TESTS and path.parent.name in names:
            os.kill(os.getpid(), number)
        return real(path)

    return read


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("names", "number"), [(("4",), signal.SIGSEGV), (("4",), signal.SIGKILL), (("1", "2", "9"), signal.SIGBUS)]
)
def test_a_log_that_ends_its_reader_is_a_problem_of_that_log(
    tmp_path: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch, names: Sequence[str], number: int, jobs: int
) -> None:
    logs = tmp_path / "logs"
    for repeat in range(1, 10):
        write_run(logs, f"seg/case/{repeat}", SLOW + b"#%d\n" % repeat, run=run_json(batch_size=2, repeat=repeat))
    write_run(logs, "seg/other/11", FAST, run=run_json(batch_size=2, model="other"))
    out, whole = tmp_path / "docs", ingest(logs, "--json").lines
    lost = [f"logs/seg/case/{name}/train.log" for name in names]
    with monkeypatch.context() as patched:
        patched.setattr(record_run, "read", dies_over(*names, number=number))
        called = ingest(logs, "--out", out, "--json", "--jobs", jobs)
    assert called.code == 1
    assert [each.partition(": ")[0] for each in called.problems] == lost
    reason = f"the process that read it ended ({signal.Signals(number).name})"
    assert all(reason in each for each in called.problems)
    assert [each for each in called.lines if each["path"] not in lost] == [
        each for each in whole if each["path"] not in lost
    ]
    assert [each["path"] for each in called.lines if not each["published"]] == lost
    assert ingest(logs, "--out", out, "--json").lines == whole, "a death is not remembered"


def test_an_interruption_while_logs_are_read_leaves_no_process(tree: Path) -> None:
    marker = tree.parent / "reading"

    def waits(_path: Path) -> None:
        marker.touch()
        time.sleep(600)

    def slowly() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it for what runs in the background
        record_run.read = waits  # type: ignore[assignment]

    call = start(tree.parent / "said", tree, "--json", "--jobs", 2, before=slowly)
    assert wait(marker.exists)
    os.killpg(call.pid, signal.SIGINT)  # as a terminal does: to all processes
    assert call.code() == 130
    assert call.said.strip() == "ingest: interrupted; every file is either as before or complete"
    assert wait(lambda: call.left() == [])


#: The process of the tests, and a file that marks that a reading process was killed.
TESTS, KILLED = os.getpid(), {"file": Path("/nowhere")}


_read = reader.read_job


def kill_once(job: Any) -> Any:
    if os.getpid() != TESTS and not KILLED["file"].exists():
        KILLED["file"].touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return _read(job)


def test_a_reader_that_is_killed_once_loses_nothing(
    tree: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log that it read is unknown, so all remaining logs are read again."""
    killed = tree.parent / "killed"
    monkeypatch.setitem(KILLED, "file", killed)
    monkeypatch.setattr(reader, "read_job", kill_once)
    called = ingest(tree, "--json", "--jobs", 2)
    assert (called.code, called.err) == (0, "")
    assert killed.exists()
    assert called.lines == ingest(tree, "--json").lines


def limited(kind: int, limit: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(kind, (limit, limit))


@pytest.mark.parametrize("jobs", [4])
def test_64_open_files_are_enough(tree: Path, whole: dict[str, bytes], jobs: int) -> None:
    out = tree.parent / "docs"
    before = limited(resource.RLIMIT_NOFILE, 64)
    call = start(tree.parent / "said", tree, "--out", out, "--jobs", jobs, before=before)
    assert call.code() == 0, call.said
    assert contents(out) == whole


def test_too_few_open_files_are_one_message(tree: Path) -> None:
    call = start(tree.parent / "said", tree, "--out", tree.parent / "docs", before=limited(resource.RLIMIT_NOFILE, 9))
    assert call.code() == 2
    assert "Too many open files" in call.said
    assert "Traceback" not in call.said


def with_memory(tree: Path, limit: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ingest", tree, "--out", tree.parent / "docs"], cwd=ROOT, capture_output=True, text=True,
        preexec_fn=limited(resource.RLIMIT_AS, limit), check=False,
    )  # fmt: skip


def test_600_mb_of_memory_are_enough(tree: Path) -> None:
    done = with_memory(tree, 600 * 10**6)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tree.parent / "docs/en/index.md").is_file()


def test_less_memory_is_one_message(tree: Path) -> None:
    done = with_memory(tree, 550 * 10**6)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert "550 MB of address space is too little, so nothing was written: allow 600 MB" in done.stderr
    assert not (tree.parent / "docs").exists()


def test_a_log_that_needs_more_memory_than_there_is_is_a_problem_of_that_log(
    tree: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = record_run.read

    def short(path: Path) -> Any:
        if path == tree / LOG:
            raise MemoryError
        return real(path)

    monkeypatch.setattr(record_run, "read", short)
    called = ingest(tree, "--json")
    assert called.code == 1
    assert [each.partition(";")[0] for each in called.problems] == [
        f"logs/{LOG}: cannot be read (Cannot allocate memory)"
    ]


# --- Odd files --------------------------------------------------------------------------------------------------------


def test_devices_are_not_opened(tree: Path, ingest: Ingest) -> None:
    for name in ("zero", "null", "random"):
        (tree / f"{name}.log").symlink_to(f"/dev/{name}")
    called = ingest(tree, "--json")
    assert called.code == 1
    assert [each.partition(" (")[0] for each in called.problems] == [
        f"logs/{name}.log: is neither a file nor a folder" for name in ("null", "random", "zero")
    ]
    assert len(called.lines) == 5


def test_a_maze_of_links_is_walked_once(tree: Path, ingest: Ingest) -> None:
    """Twelve folders each have links to all twelve, so there are more paths than can be walked."""
    folders = [tree / f"maze/{number:02}" for number in range(12)]
    for number, folder in enumerate(folders):
        write_run(folder, "x/1", seg([4.0 + number] * 12, batch=4), run=run_json(batch_size=4))
    for folder in folders:
        for other in folders:
            (folder / f"to{other.name}").symlink_to(other)
    called = ingest(tree, "--json", "--verbose")
    assert called.code == 1
    assert sorted(each["path"] for each in called.lines if "/maze/" in each["path"]) == [
        f"logs/maze/{number:02}/x/1/train.log" for number in range(12)
    ]
    # Each folder has one link to itself; the other links lead to folders that are read under their own names.
    assert len(called.problems) == 12
    assert {*called.codes.values()} == {"link_loop"}


def test_a_maze_within_a_run_is_walked_once(tree: Path, ingest: Ingest) -> None:
    run = (tree / LOG).parent
    folders = [run / f"maze/{number:02}" for number in range(12)]
    for folder in folders:
        folder.mkdir(parents=True)
    for folder in folders:
        for other in folders:
            (folder / f"to{other.name}").symlink_to(other)
    called = ingest(tree, "--json", "--verbose")
    assert len(called.lines) == 5
    assert len(called.problems) == 12


def test_a_linked_folder_is_read_under_its_own_name(tree: Path, ingest: Ingest) -> None:
    (tree / "seg/paddleseg/a-latest").symlink_to("bs2")
    called = ingest(tree, "--json")
    assert called.problems == []
    assert len(called.lines) == 5
    assert all(each["published"] for each in called.lines)


def test_3000_levels_of_folders_are_a_problem(tree: Path, ingest: Ingest) -> None:
    here = os.open(tree, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=here)
        deeper = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(here)
    try:
        called = ingest(tree, "--out", tree.parent / "docs", "--json")
        assert called.code == 1
        assert len(called.lines) == 5
        (problem,) = called.problems
        assert "cannot be read (it is more than 100 folders deep)" in problem
    finally:
        subprocess.run(["rm", "-rf", tree / "d"], check=True)  # Python's own removal is recursive


NAMES = [
    b"new\nline.log", b"carriage\rreturn.log", b"tab\t.log", b"\x1b[31mred.log", b"bell\x07.log", b"quote'.log",
    b'double".log', b"back\\slash.log", b"back`tick.log", b"dollar$HOME.log", b"$(touch owned).log", b";semicolon.log",
    b"--strict", b"-rf", b"-", b"#hash.log", b"%s%n.log", b"{{ 7*7 }}.log", b"<b>.log", b"a|b.log", b"[x](y).log",
    b"*.log", b"?.log", b"..x", b"...", b" leading.log", b"trailing.log ", b"trailing.", b"con", b"nul.log",
    b"caf\xe9.log", b"\xff\xfe.log", "\U0001f600.log".encode(), b"x" * 251 + b".log",
]  # fmt: skip


def test_34_odd_names_are_read(tree: Path, ingest: Ingest) -> None:
    """All files are in one folder, and each name is also that of a folder."""
    odd = tree / "odd"
    for number, name in enumerate(NAMES):
        (odd / "files").mkdir(parents=True, exist_ok=True)
        (odd / "files" / os.fsdecode(name)).write_bytes(
            b"".join(SLOW.splitlines(True)[: 8 + number % 4]) + b"#%d\n" % number
        )
        write_run(
            odd / "folders" / os.fsdecode(name), "1", SLOW + b"#%d\n" % number, run=run_json(batch_size=number + 1)
        )
    out = tree.parent / "docs"
    called = ingest(tree, "--out", out, "--json")
    assert "Traceback" not in called.err
    assert all(each.isprintable() for each in called.problems)
    read = [each for each in called.lines if each["path"].startswith("logs/odd/")]
    hidden = [each for each in NAMES if each.startswith(b".")]
    assert len(read) == 2 * (len(NAMES) - len(hidden)), "names that begin with a point are hidden, as everywhere"
    assert len({each["id"] for each in called.lines}) == len(called.lines)
    assert all(path.name.isprintable() and path.name.isascii() for path in out.rglob("*"))
    assert not (ROOT / "owned").exists()
    assert ingest(tree, "--out", out).out.splitlines()[-1].startswith(f"{out}/: 0 files written")


# --- Large files, only if `--times` is given -------------------------------------------------------------------------


@pytest.fixture
def measured(times: int, tree: Path) -> Callable[..., tuple[int, list[str], int]]:
    """Return a function that reads the tree and returns exit code, problems, and peak memory in MiB."""
    if not times:
        pytest.skip("takes minutes: make faults")

    def call(*options: object) -> tuple[int, list[str], int]:
        begun = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", PEAK, tree, "--jobs", "1", *map(str, options)], cwd=ROOT, check=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        *problems, peak = done.stderr.splitlines()
        print(f"{time.monotonic() - begun:.0f} s, {int(peak) >> 10} MiB, exit code {done.returncode}")
        return done.returncode, problems, int(peak) >> 10

    return call


Measured = Callable[..., tuple[int, list[str], int]]


def test_a_sparse_file_of_10_gib_needs_little_memory(measured: Measured, tree: Path) -> None:
    with (tree / "sparse.log").open("wb") as stream:
        stream.truncate(10 << 30)
    code, problems, peak = measured("--json")
    assert (code, [each.partition(":")[0] for each in problems]) == (1, ["logs/sparse.log"])
    assert peak < 150


def test_a_line_of_1_gib_needs_little_memory(measured: Measured, tree: Path) -> None:
    block = (SLOW.splitlines()[0][:60] * (1 << 15))[: 1 << 20]
    with (tree / "line.log").open("wb") as stream:
        stream.writelines([block] * 1024)
    code, problems, peak = measured("--json")
    assert (code, [each.partition(":")[0] for each in problems]) == (1, ["logs/line.log"])
    assert peak < 256


def test_50000_small_logs_are_published(measured: Measured, tree: Path) -> None:
    shutil.rmtree(tree)
    for number in range(50_000):
        run = run_json(batch_size=2, repeat=number + 1)
        write_run(tree, f"{number // 100:03}/{number % 100:02}", SLOW + b"#%d\n" % number, run=run)
    code, problems, peak = measured("--out", tree.parent / "docs")
    assert (code, problems) == (0, [])
    (row,) = json.loads((tree.parent / "docs/data/results.json").read_bytes())["results"]
    assert row["repeats"] == 50_000
    assert peak < 4096
