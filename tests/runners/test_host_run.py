"""The agent on a node, for real: outcomes, signals, and the files and processes that remain."""

from __future__ import annotations

import ast
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import pytest

from perfledger.runners import agent_link
from perfledger.runners.agent import run
from perfledger.runners.settings import Settings
from tests.runners import quick
from tests.runners.agents import modules, replacing
from tests.runners.node import Node, ended, kernel, polls, prepared, small_disk, tool

pytestmark = pytest.mark.usefixtures("bash")
# As TensorFlow prints it of an algorithm that it did not choose then.
RETRIED = "Allocator ran out of memory trying to allocate 2.25GiB. The caller indicates that this is not a failure"


@pytest.mark.parametrize("name", sorted(modules(quick.AGENT)))
def test_modules_of_the_agent_are_python_of_3_6(name):
    ast.parse(modules(quick.AGENT)[name], feature_version=(3, 6))


def test_packages_are_asked_by_one_module_as_an_argument():
    program = modules(quick.AGENT)["packages.py"]
    answer = subprocess.run([sys.executable, "-c", program, "cpu", "no"], capture_output=True, text=True, check=True)
    assert f"\n{agent_link.MARK}{{" in answer.stdout, answer


def test_a_completed_run_leaves_its_log_and_its_outcome(write_recipe, tmp_path):
    program = 'for i in 1 2 3; do echo "line $i"; done; echo "on stderr $OMP_NUM_THREADS" >&2; sleep 0.5'
    node = prepared(write_recipe(program), tmp_path / "job")
    assert node.run() == 0
    host = node.host()
    assert node.log() == "line 1\nline 2\nline 3\non stderr 1\n"
    assert host["schema"] == "perfledger.host/1"
    assert (host["exit_status"], host["outcome"]) == (0, "completed")
    assert set(host["files"]) == {"train.log", "telemetry.csv", "environment.json"}
    for name, stated in host["files"].items():
        content = (node.job / name).read_bytes()
        assert stated == {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    start, end = (datetime.fromisoformat(host[key]) for key in ("start", "end"))
    assert abs((end - start).total_seconds() - host["wall_seconds"]) <= 1
    assert host["wall_seconds"] >= 0.5
    facts = node.environment()["facts"]
    assert host["hardware"] == ", ".join(filter(None, (facts.get("cpu"), f"{facts['cores']} cores (CPU)")))
    assert not list(node.job.glob("*.partial"))


@pytest.mark.parametrize(
    ("program", "outcome", "status"),
    [
        ("echo going; exit 3", "failed", 3),
        ("kill -SEGV $$", "failed", 139),
        ("echo 'RESOURCE_EXHAUSTED: failed to allocate'; kill -ABRT $$", "oom", 134),
        ("echo 'CUDA out of memory, batch halved'; exit 0", "completed", 0),
        (f"echo '{RETRIED}'; exit 1", "failed", 1),
        (f"echo '{RETRIED}'; echo 'CUDA_ERROR_OUT_OF_MEMORY: out of memory'; exit 1", "oom", 1),
    ],
)
def test_outcomes(write_recipe, tmp_path, program, outcome, status):
    node = prepared(write_recipe(program), tmp_path / "job")
    assert node.run() == (0 if outcome == "completed" else 1)
    assert (node.host()["outcome"], node.host()["exit_status"]) == (outcome, status)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (b"RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB", True),
        (b"torch.OutOfMemoryError: of the device", True),
        (b"DefaultCPUAllocator: can't allocate memory", True),
        (b"numpy._core._exceptions._ArrayMemoryError: Unable to allocate 8.00 GiB", True),
        (b"slurmstepd: error: Detected 1 oom_kill event in StepId=1.0", True),
        (b"MemoryError", True),
        (b"loss 0.1, no more room", False),
        (b"a MemoryError was handled", False),
    ],
)
def test_words_of_frameworks_for_too_little_memory(line, found):
    assert bool(run.OUT_OF_MEMORY.search(line)) == found


def test_memory_that_runs_out_for_real_is_an_outcome(write_recipe, tmp_path):
    hungry = "blocks = []\nwhile True: blocks.append(bytearray(1 << 24))"
    program = f"ulimit -v 400000; exec {sys.executable} -c '{hungry}'"
    node = prepared(write_recipe(program), tmp_path / "job")
    assert node.run() == 1
    assert node.host()["outcome"] == "oom"
    assert "MemoryError" in node.log()


def test_a_rank_that_ran_out_of_memory_is_found_in_its_own_log(write_recipe, tmp_path):
    program = "mkdir $RANKS/0; echo 'CUDA out of memory' >$RANKS/0/stderr.log; exit 1"
    path = write_recipe(program)
    path.write_text(path.read_text() + 'RANKS = "{ranks}"\n', encoding="utf-8")
    node = prepared(path, tmp_path / "job")
    assert node.run() == 1
    assert node.host()["outcome"] == "oom"
    assert node.host()["files"]["ranks/0/stderr.log"]["bytes"] == 19


@pytest.mark.parametrize(
    ("program", "kills", "outcome"),
    [
        ("kill -KILL $$", 1, "oom"),
        ("kill -KILL $$", 0, "failed"),
        ("echo 'Signal 9 (SIGKILL) received by PID 12'; exit 1", 1, "oom"),
        ("echo 'no such file'; exit 1", 1, "failed"),
    ],
)
def test_out_of_memory_kills_of_the_kernel_are_distinguished(write_recipe, tmp_path, program, kills, outcome):
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/vmstat").write_text("oom_kill 3\n")
    node = prepared(
        write_recipe(f"echo oom_kill {3 + kills} >{tmp_path}/proc/vmstat; {program}"),
        tmp_path / "job",
        change=kernel(proc=tmp_path / "proc"),
    )
    assert node.run() == 1
    assert node.host()["outcome"] == outcome


def test_a_command_that_is_halted_goes_on_when_it_may(write_recipe, tmp_path):
    node = prepared(write_recipe('echo "$$"; kill -STOP "$$"; echo on; exit 7'), tmp_path / "job")
    with node.running() as process:
        command = int(node.log())
        assert any(Path(f"/proc/{command}/stat").read_text().split()[2] == "T" for _ in polls())
        time.sleep(0.5)
        os.kill(command, signal.SIGCONT)
        assert process.wait(20) == 1
    assert node.log() == f"{command}\non\n"
    assert (node.host()["outcome"], node.host()["exit_status"]) == ("failed", 7)


def test_ranks_are_listed_by_path_and_empty_logs_odd_names_and_links_are_left_aside(write_recipe, tmp_path):
    program = "cd $RANKS; mkdir -p a/0; : >a/0/stderr.log; echo x >a/0/stdout.log; "
    program += "echo y >'b c'; echo z >$'d\\ne'; ln -s /etc/passwd f"
    path = write_recipe(program)
    path.write_text(path.read_text() + 'RANKS = "{ranks}"\n', encoding="utf-8")
    node = prepared(path, tmp_path / "job")
    assert node.run() == 0
    assert [name for name in node.host()["files"] if name.startswith("ranks")] == ["ranks/a/0/stdout.log"]


def test_a_run_that_lasts_too_long_is_ended_with_all_it_started(write_recipe, tmp_path):
    node = prepared(write_recipe('sleep 300 & echo "$!"; sleep 300', timeout=1), tmp_path / "job")
    assert node.run() == 1
    assert (node.host()["outcome"], node.host()["exit_status"]) == ("timeout", 143)
    assert node.host()["wall_seconds"] >= 1
    assert ended(int(node.log()))


def test_a_run_that_ignores_its_timeout_is_killed(write_recipe, tmp_path):
    path = write_recipe("trap '' TERM; while :; do sleep 0.1; done", timeout=1)
    node = prepared(path, tmp_path / "job", change=replacing("GRACE_SECONDS = 300", "GRACE_SECONDS = 1"))
    assert node.run() == 1
    assert (node.host()["outcome"], node.host()["exit_status"]) == ("timeout", 137)


@pytest.mark.parametrize("start", ["sleep 300 &", "setsid sleep 300 &", "setsid bash -c 'sleep 300 & wait' &"])
def test_what_a_command_leaves_running_is_ended_in_other_sessions_too(write_recipe, tmp_path, start):
    node = prepared(write_recipe(f'{start} echo "$!"; sleep 0.3'), tmp_path / "job")
    assert node.run() == 0
    assert ended(int(node.log()))
    assert any(not marked(node) for _ in polls())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_asked_to_stop_ends_in_order(write_recipe, tmp_path, number):
    node = prepared(write_recipe('trap "echo tidy; exit 9" TERM; echo "$$"; sleep 300 & wait'), tmp_path / "job")
    with node.running() as process:
        os.kill(int((node.job / "pid").read_text()), number)
        process.communicate(timeout=60)
    assert process.returncode == 130
    assert (node.host()["outcome"], node.host()["exit_status"]) == ("stopped", 9)
    assert node.log().endswith("tidy\n")


def test_a_second_request_kills_a_command_that_ignores_the_first(write_recipe, tmp_path):
    node = prepared(write_recipe("trap '' TERM; echo deaf; while :; do sleep 0.1; done"), tmp_path / "job")
    with node.running() as process:
        process.terminate()
        time.sleep(0.5)
        assert process.poll() is None
        process.terminate()
        process.communicate(timeout=60)
    assert (node.host()["outcome"], node.host()["exit_status"]) == ("stopped", 137)


def test_a_request_that_comes_before_the_command_starts_nothing(write_recipe, tmp_path):
    path = write_recipe("echo started", more='[setup]\npython = "slow"\npackages = ["any"]\n')
    search = tool(tmp_path / "tools", "slow", f"echo $$ >{tmp_path}/slow; sleep 300")
    node = prepared(path, tmp_path / "job", PATH=search)
    with node.running(until=tmp_path / "slow") as process:
        process.terminate()
        process.communicate(timeout=60)
    assert process.returncode == 130
    assert (node.host()["outcome"], node.host()["exit_status"]) == ("stopped", 143)
    assert node.log() == ""
    assert ended(int((tmp_path / "slow").read_text()))


def test_when_the_agent_is_killed_its_command_sampler_and_files_go_too(write_recipe, tmp_path):
    (tmp_path / "trainer.txt").write_text("x")
    path = write_recipe('echo "$$"; setsid sleep 300 & sleep 300', more='[files]\n"t" = "trainer.txt"\n')
    node = prepared(path, tmp_path / "job")
    with node.running() as process:
        assert any(len(marked(node)) >= 2 for _ in polls())
        process.kill()
        process.wait()
        assert ended(int(node.log()))
    assert any(not marked(node) and not of_agent(node) for _ in polls())
    assert not (node.job / "host.json").exists()
    assert not (tmp_path / "perfledger.job.0").exists()


def test_when_the_agent_is_killed_while_it_asks_its_questions_go_too(write_recipe, tmp_path):
    path = write_recipe("echo started", more='[setup]\npython = "slow"\npackages = ["any"]\n')
    node = prepared(
        path, tmp_path / "job", PATH=tool(tmp_path / "tools", "slow", f"echo $$ >{tmp_path}/slow; sleep 300")
    )
    with node.running(until=tmp_path / "slow") as process:
        process.kill()
    assert any(not marked(node) and not of_agent(node) for _ in polls())


def test_a_run_whose_guard_was_killed_comes_to_its_end(write_recipe, tmp_path):
    node = prepared(write_recipe("echo begun; sleep 1"), tmp_path / "job")
    with node.running() as process:
        (guard,) = set(of_agent(node)) - {str(process.pid)}
        os.kill(int(guard), signal.SIGKILL)
        assert process.wait(20) == 0
    assert node.host()["outcome"] == "completed"


def test_a_program_that_is_not_there_any_more_has_failed_and_its_log_says_so(write_recipe, tmp_path):
    node = prepared(write_recipe(command=["no such program"]), tmp_path / "job")
    assert node.run() == 1
    assert (node.host()["outcome"], node.host()["exit_status"]) == ("failed", 127)
    assert node.log().startswith("no such program: No such file or directory")


def test_no_variable_of_the_user_becomes_the_folder_that_is_removed(write_recipe, tmp_path):
    (tmp_path / "mine").mkdir()
    settings = Settings(work=str(tmp_path))
    node = prepared(write_recipe("true"), tmp_path / "job", settings, scratch=str(tmp_path / "mine"))
    assert node.run() == 0
    assert (tmp_path / "mine").is_dir()


def test_no_run_overwrites_the_log_of_another(write_recipe, tmp_path):
    node = prepared(write_recipe("date +%N"), tmp_path / "job")
    assert node.run() == 0
    before = {path: path.read_bytes() for path in node.job.iterdir() if path.is_file() and path.name != "pid"}
    done = node.call()
    assert done.returncode == 2
    assert "its log is not overwritten" in done.stderr
    assert {path: path.read_bytes() for path in before} == before


def test_host_json_comes_last(write_recipe, tmp_path):
    node = prepared(write_recipe("echo begun; sleep 300"), tmp_path / "job")
    with node.running() as process:
        assert (node.job / "environment.json").exists()
        assert not list(node.job.glob("host.json*"))
        assert int((node.job / "pid").read_text()) == process.pid


def test_a_full_disk_leaves_no_file_that_looks_complete(write_recipe, tmp_path):
    with small_disk(tmp_path / "disk", "316k"):
        node = prepared(write_recipe("sleep 0.5; head -c 300000 /dev/zero; exit 0"), tmp_path / "disk/job")
        done = node.call()
        assert done.returncode == 3
        assert "is the disk full?" in done.stderr
        assert (node.job / "train.log").stat().st_size > 0
        assert not list(node.job.glob("host.json*"))


def test_a_disk_that_is_full_already_starts_nothing(write_recipe, tmp_path):
    with small_disk(tmp_path / "disk", "320k"):
        node = prepared(write_recipe("echo started"), tmp_path / "disk/job")
        (tmp_path / "disk/more").write_bytes(bytes(4096))
        subprocess.run(["dd", "if=/dev/zero", f"of={tmp_path}/disk/rest"], capture_output=True, check=False)
        done = node.call()
        assert done.returncode == 2
        assert "is the disk full?" in done.stderr
        assert not [path for path in node.job.glob("*.json*") if path.name != "job.json"]


@pytest.mark.parametrize(("rank", "printed"), [(0, "2 0 10.0.0.1,10.0.0.2 10.0.0.1:4,10.0.0.2:4\n"), (1, "")])
def test_where_one_node_starts_the_ranks_of_all_the_others_observe(write_recipe, tmp_path, rank, printed):
    command = ["{nodes}", "{node_rank}", "{hosts}", "{host_slots}"]
    path = write_recipe(command=command, shape="2n4d", more='\n[launcher]\nname = "mpirun"\n')
    starter = tool(tmp_path / "tools", "mpirun", 'while [ "$1" != 2 ]; do shift; done; echo "$*"')
    node = prepared(path, tmp_path / "job", rank=rank, hosts=("10.0.0.1", "10.0.0.2"), PATH=starter)
    if rank == 0:
        assert node.run() == 0
    else:
        with node.running(until=node.job / "telemetry.csv") as process:
            time.sleep(0.5)
            process.terminate()
            process.communicate(timeout=60)
        assert process.returncode == 0
    assert (node.host()["outcome"], node.host()["exit_status"]) == ("completed", 0)
    assert node.log() == printed


def test_an_observer_does_without_the_folder_that_the_first_node_has_removed(write_recipe, tmp_path):
    """Two nodes share it where they are on one machine, and where TMPDIR is on a network."""
    path = write_recipe(more='[launcher]\nname = "mpirun"\n', timeout=1, shape="2n4d")
    begins = "others = OtherWork(job)\n"
    late = replacing(begins, f"{begins}        shutil.rmtree(self.scratch)\n")
    impatient = replacing("PREPARE_SECONDS = 7200", "PREPARE_SECONDS = 1")
    node = prepared(path, tmp_path / "job", None, lambda text: late(impatient(text)), 1, ("10.0.0.1", "10.0.0.2"))
    assert node.run() == 0
    assert (node.host()["outcome"], node.log()) == ("completed", "")


def test_the_files_of_a_recipe_are_there_for_the_command_and_gone_afterwards(write_recipe, tmp_path):
    (tmp_path / "trainer.txt").write_text("it's $HOME\n\n", encoding="utf-8")
    path = write_recipe("cat 'sub folder/$(id).txt'; pwd", more='[files]\n"sub folder/$(id).txt" = "trainer.txt"\n')
    node = prepared(path, tmp_path / "job")
    assert node.run() == 0
    assert node.log() == f"it's $HOME\n\n{tmp_path}/perfledger.job.0\n"
    assert not list(tmp_path.glob("perfledger.*"))
    assert not of_agent(node)


def test_the_command_runs_in_an_empty_folder_in_its_sources_or_where_the_user_says(write_recipe, tmp_path):
    (tmp_path / "work/sources").mkdir(parents=True)
    work = Settings(work=str(tmp_path / "work"))
    source = '[source]\nfolder = "sources"\n'
    cases = {
        "a": ("", None, f"{tmp_path}/perfledger.a.0"),
        "b": ("", work, f"{tmp_path}/work"),
        "c": (source, work, f"{tmp_path / 'work'}/sources"),
    }
    for name, (more, settings, folder) in cases.items():
        path = write_recipe("pwd; touch left", more=more)
        node = prepared(path, tmp_path / name, settings)
        assert node.run() == 0
        assert node.log() == f"{folder}\n"
    assert not list(tmp_path.glob("perfledger.*"))


def test_a_scratch_folder_that_somebody_else_prepared_is_not_used(write_recipe, tmp_path):
    (tmp_path / "trainer.txt").write_text("x")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "perfledger.job.0").symlink_to(tmp_path / "elsewhere")
    path = write_recipe("true", more='[files]\n"t" = "trainer.txt"\n')
    done = prepared(path, tmp_path / "job").call()
    assert done.returncode == 2
    assert "set TMPDIR" in done.stderr
    assert (tmp_path / "perfledger.job.0").is_symlink()
    assert not list((tmp_path / "elsewhere").iterdir())


def test_the_commit_of_the_sources_is_that_of_their_checkout(write_recipe, tmp_path):
    commit = checkout(tmp_path / "work/sources")
    path = write_recipe("pwd", more='[source]\nfolder = "sources/sub"\n')
    for changed in (False, True):
        if changed:
            (tmp_path / "work/sources/sub/file").write_text("changed")
        node = prepared(path, tmp_path / f"job{changed}", Settings(work=str(tmp_path / "work")))
        assert node.run() == 0
        assert node.log() == f"{tmp_path / 'work'}/sources/sub\n"
        assert node.host()["source"] == {"commit": commit, "modified": changed}


def test_the_commit_is_that_at_the_start_and_what_git_does_not_say_is_left_out(write_recipe, tmp_path):
    commit = checkout(tmp_path / "work/sources")
    program = "echo y >file; git -c user.name=a -c user.email=a@b.c commit -qam second"
    path = write_recipe(program, more='[source]\nfolder = "sources/sub"\n')
    settings = Settings(work=str(tmp_path / "work"))
    node = prepared(path, tmp_path / "job", settings)
    assert node.run() == 0
    assert node.host()["source"] == {"commit": commit, "modified": False}
    path = tool(tmp_path / "tools", "git", f'[ "$1" != status ] || exit 1; exec {shutil.which("git")} "$@"')
    node = prepared(write_recipe("true", more='[source]\nfolder = "sources"\n'), tmp_path / "b", settings, PATH=path)
    assert node.run() == 0
    assert set(node.host()["source"]) == {"commit"}


def checkout(folder: Path) -> str:
    """Make a repository with one commit, and return its digest."""
    (folder / "sub").mkdir(parents=True)
    (folder / "sub/file").write_text("x")
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    return subprocess.check_output([*git, "rev-parse", "HEAD"], text=True).strip()


def marked(node: Node) -> list[str]:
    """Return the processes of the node's command."""
    return _processes(f"PERFLEDGER_COMMAND={node.request['identity']}.0.".encode(), "environ")


def of_agent(node: Node) -> list[str]:
    """Return the processes of the node's agent."""
    return _processes(f"\0{node.job}\0".encode(), "cmdline")


def _processes(text: bytes, file: str) -> list[str]:
    found = []
    for path in Path("/proc").glob(f"[0-9]*/{file}"):
        try:
            if text in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            continue
    return found
