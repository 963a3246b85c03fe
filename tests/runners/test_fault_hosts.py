"""Real faults of hosts and connections; a part of a file is never taken for the whole."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import signal
import tarfile

import pytest

from perfledger.runners import nodes, ssh
from perfledger.runners.job import RunnerError
from perfledger.runners.ssh import Ssh
from tests.runners.clusters import link, namespaces, ssh_hosts
from tests.runners.jobs import host_python, planned
from tests.runners.node import ended, small_disk

pytestmark = pytest.mark.usefixtures("bash")
WAIT = 'echo begun; until [ -e "$PERFLEDGER_JOB/go" ]; do sleep 0.05; done; echo done'


@pytest.fixture
def host(tmp_path):
    with ssh_hosts(tmp_path, ["first"]) as (only,):
        yield only


def place(host):
    return Ssh((host.name,))


def there(host, started):
    return host.jobs / started.identity / "node0"


def finished(path, tmp_path, host, log=b"begun\n"):
    """Make a job that wrote only a log, and that recorded on its host that it had completed."""
    started = planned(path, place(host), tmp_path)
    folder = there(host, started)
    folder.mkdir(parents=True)
    (folder / "train.log").write_bytes(log)
    stated = {"train.log": {"sha256": hashlib.sha256(log).hexdigest(), "bytes": len(log)}}
    record = {"schema": "perfledger.host/1", "outcome": "completed", "files": stated}
    (folder / "host.json").write_text(json.dumps(record), encoding="utf-8")
    started.look()
    return started


def test_a_job_goes_on_while_its_host_is_out_of_reach(write_recipe, tmp_path, host):
    started = planned(write_recipe(WAIT), place(host), tmp_path)
    started.start()
    started.printing()
    host.cut()
    state = started.look()
    assert (state.kind, state.failed) == ("unreachable", False)
    assert state.cause.startswith("first: ")
    with pytest.raises(RunnerError, match=r"first: .*\nWhat runs there ends by itself after 60 s"):
        started.stop()
    with pytest.raises(RunnerError, match="first: "):
        started.fetch()
    assert not list(started.incoming.iterdir())
    (there(host, started) / "go").touch()
    host.start()
    state = started.over()
    assert (state.kind, state.last_line) == ("ended", "done")
    started.fetch()
    assert (started.node(0) / "train.log").read_text() == "begun\ndone\n"


def test_a_network_that_goes_silent_is_noticed_and_its_job_found_again(write_recipe, tmp_path, monkeypatch):
    monkeypatch.setitem(ssh.OPTIONS, "ServerAliveInterval", "1")
    monkeypatch.setitem(ssh.OPTIONS, "ServerAliveCountMax", "1")
    monkeypatch.setitem(ssh.OPTIONS, "ConnectTimeout", "1")
    with namespaces(tmp_path, 1) as (host,):
        started = planned(write_recipe(WAIT), place(host), tmp_path)
        started.start()
        started.printing()
        link(host, "down")
        for _ in range(2):
            state = started.look()
            assert state.kind == "unreachable"
            assert "it gave no answer" in state.cause
        link(host, "up")
        started.until(lambda state: state.kind == "running")
        (there(host, started) / "go").touch()
        assert started.over().last_line == "done"


# Ends the servers that a program was started by, up to the one that listens.
CUT = """
process=$$
while [ "$process" -gt 1 ]; do
  read -r _ name _ parent _ </proc/$process/stat
  [ "$name" != "(sshd)" ] || kill -KILL "$process"
  process=$parent
done
"""


@pytest.mark.parametrize(("then", "said"), [(CUT, "nothing of it was kept here"), ("", "the archive is not complete")])
def test_an_incomplete_archive_is_refused(write_recipe, tmp_path, host, monkeypatch, then, said):
    started = finished(write_recipe("true"), tmp_path, host, os.urandom(1000000))
    with monkeypatch.context() as patch:
        host_python(patch, tmp_path, f'python3 "$@" | head -c 300000; {then}')
        with pytest.raises(RunnerError, match=f"first: .*{said}"):
            started.fetch()
    assert not list(started.incoming.iterdir())
    host.cut()
    host.start()
    started.fetch()
    whole = (there(host, started) / "train.log").read_bytes()
    assert (started.node(0) / "train.log").read_bytes() == whole
    assert len(whole) == 1000000


def test_a_host_cannot_write_outside_its_folder(write_recipe, tmp_path, host, monkeypatch):
    evil = tmp_path / "evil.tar"
    with tarfile.open(evil, "w") as archive:
        for name in ("../outside", f"{tmp_path}/absolute", "ranks/0"):
            member = tarfile.TarInfo(name)
            member.size = 4
            archive.addfile(member, io.BytesIO(b"text"))
        for name, kind in (("soft", tarfile.SYMTYPE), ("hard", tarfile.LNKTYPE), ("pipe", tarfile.FIFOTYPE)):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
    started = finished(write_recipe("true"), tmp_path, host)
    host_python(monkeypatch, tmp_path, f"echo 'perfledger {{}}'; cat {evil}")
    started.fetch()
    assert [path.name for path in started.node(0).rglob("*") if path.is_file()] == ["0"]
    assert not list(tmp_path.rglob("outside")) + list(tmp_path.rglob("absolute"))
    assert not [path for path in started.run.folder.rglob("*") if path.is_symlink()]


def test_links_and_pipes_of_a_host_are_left_there(write_recipe, tmp_path, host):
    started = finished(write_recipe("true"), tmp_path, host)
    ranks = there(host, started) / "ranks"
    ranks.mkdir()
    os.mkfifo(ranks / "pipe")
    (ranks / "link").symlink_to("/etc/passwd")
    (ranks / "file").write_text("text\n")
    started.fetch()
    assert {path.name: path.read_text() for path in (started.node(0) / "ranks").iterdir()} == {"file": "text\n"}


def test_a_job_killed_on_its_host_is_lost_with_its_log(write_recipe, tmp_path, host):
    started = planned(write_recipe('echo "$$"; sleep 300'), place(host), tmp_path)
    started.start()
    process = int(started.printing().last_line)
    os.kill(int((there(host, started) / "pid").read_text()), signal.SIGKILL)
    state = started.over()
    assert (state.kind, state.failed) == ("lost", True)
    assert "as if killed" in state.cause
    started.stop()
    assert ended(process)
    started.fetch()
    # The shell's own start-up files may print before it.
    assert (started.node(0) / "train.log").read_text().splitlines()[-1] == str(process)
    assert not (started.node(0) / "host.json").exists()


def test_a_folder_that_vanished_from_its_host_is_said_to_be_gone(write_recipe, tmp_path, host):
    started = finished(write_recipe("true"), tmp_path, host)
    shutil.rmtree(host.jobs)
    state = started.look()
    assert (state.kind, state.cause) == ("lost", "its folder is not there any more")
    started.fetch()
    assert not list(started.node(0).iterdir())


def test_other_files_of_a_trainer_are_not_fetched(write_recipe, tmp_path, host):
    started = finished(write_recipe("true"), tmp_path, host)
    (there(host, started) / "host.json").unlink()
    (there(host, started) / "output").mkdir()
    (there(host, started) / "output/model").write_text("gigabytes")
    (there(host, started) / "machine").write_text("which\none\n")
    started.fetch()
    assert [path.name for path in started.node(0).iterdir()] == ["train.log"]


def test_a_line_without_end_is_not_read_into_memory(tmp_path):
    class Stream(io.BytesIO):
        longest = 0

        def readline(self, size=-1):
            line = super().readline(size)
            self.longest = max(self.longest, len(line))
            return line

        def __next__(self):
            return self.readline()

    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as file:
        file.addfile(tarfile.TarInfo("train.log"))
    stream = Stream(b"x" * 1_000_000 + b'\nperfledger {"files": true}\n' + archive.getvalue())
    assert nodes.unpack(stream, tmp_path) == ""
    assert (tmp_path / "train.log").exists()
    assert stream.longest <= nodes.LONGEST_LINE


def test_a_host_without_space_refuses_before_anything_starts(write_recipe, tmp_path, host):
    with small_disk(host.jobs, "8k"):
        started = planned(write_recipe("true"), place(host), tmp_path)
        with pytest.raises(RunnerError, match=r"first: .* the agent cannot be unpacked in .*: No space left on device"):
            started.start()
        assert not list(host.jobs.rglob("*.py"))


def test_a_disk_that_fills_up_ends_in_a_lost_job_with_its_partial_log(write_recipe, tmp_path, host):
    with small_disk(host.jobs, "80m"):
        fill = 'echo begun; cat /dev/zero >"$PERFLEDGER_JOB/fill" 2>/dev/null; echo never fits; sleep 0.5'
        started = planned(write_recipe(fill), place(host), tmp_path)
        started.start()
        state = started.over()
        assert (state.kind, state.cause) == ("lost", "there is no space left for what it writes")
        assert not (there(host, started) / "host.json").exists()
        (there(host, started) / "fill").unlink()
        started.fetch()
    # The host's login shell may say something of its own first.
    assert "begun\n" in (started.node(0) / "train.log").read_text()
    assert not (started.node(0) / "host.json").exists()


def test_if_the_local_disk_is_full_the_job_stays_on_its_host(write_recipe, tmp_path, host):
    started = finished(write_recipe("true"), tmp_path, host, b"x" * 1000000)
    with small_disk(started.incoming, "64k"):
        with pytest.raises(RunnerError, match="it cannot be written: No space left on device; make room"):
            started.fetch()
        assert not list(started.incoming.iterdir())
    started.fetch()
    assert (started.node(0) / "train.log").stat().st_size == 1000000


def test_a_fetch_that_was_killed_is_done_again(write_recipe, tmp_path, host):
    started = finished(write_recipe("true"), tmp_path, host)
    left = started.incoming / "node0.partial"
    left.mkdir(parents=True)
    (left / "train.log").write_text("beg")
    started.fetch()
    assert [path.name for path in started.incoming.iterdir()] == ["node0"]
    assert (started.node(0) / "train.log").read_text() == "begun\n"
    assert json.loads((started.node(0) / "host.json").read_text())["outcome"] == "completed"
