"""Programs that are asked at the same time, and those that do not answer."""

from __future__ import annotations

import errno
import os
import tempfile

import pytest

from runners.errors import RunnerError
from runners.places.ask import NO_ANSWER, Answer, Question, ask
from tests.runners.node import ended

pytestmark = pytest.mark.usefixtures("bash")


def bash_reads(text: str) -> Question:
    return Question(["bash", "-s"], text)


def test_each_is_asked_before_any_has_answered(tmp_path):
    meet = f"touch {tmp_path}/%d; until [ -e {tmp_path}/%d ]; do sleep 0.01; done; echo %d; echo on stderr >&2; exit %d"
    answers = ask([bash_reads(meet % (1, 2, 1, 3)), bash_reads(meet % (2, 1, 2, 0))], 20)
    assert answers == [Answer(3, "1\n", "on stderr\n"), Answer(0, "2\n", "on stderr\n")]


def test_who_does_not_answer_in_time_is_killed_and_the_others_count():
    slow, quick = ask([bash_reads("echo $$; exec sleep 300"), bash_reads("echo here")], 0.5)
    assert slow.status == NO_ANSWER
    assert ended(int(slow.output))
    assert quick.output == "here\n"


def test_an_answer_may_be_longer_than_a_pipe_holds_and_no_text():
    (answer,) = ask([bash_reads(r"head -c 300000 /dev/zero | tr '\0' x; printf '\xff'")], 20)
    assert answer.output == "x" * 300000 + "\ufffd"


def test_who_prints_without_end_is_killed_before_the_disk_is_full(monkeypatch):
    monkeypatch.setattr("runners.places.ask.LONGEST", 100_000)
    endless, quick = ask([bash_reads("echo $$; exec yes"), bash_reads("echo here")], 20)
    assert (endless.status, len(endless.output)) == (NO_ANSWER, 100_000)
    assert ended(int(endless.output.partition("\n")[0]))
    assert quick == Answer(0, "here\n", "")
    assert ask([bash_reads("head -c 200000 /dev/zero >&2")], 20)[0].status == NO_ANSWER


def test_the_allocation_that_we_were_started_in_does_not_speak_for_another_place(monkeypatch):
    for name in ("SLURM_JOB_ID", "SLURM_NTASKS", "PMI_RANK", "PMIX_RANK", "SLURM_CONF", "SBATCH_ACCOUNT"):
        monkeypatch.setenv(name, "1")
    (answer,) = ask([bash_reads("env | grep -E 'SLURM|PMI|SBATCH' | sort")], 20)
    assert answer.output == "SBATCH_ACCOUNT=1\nSLURM_CONF=1\n"


def test_a_background_process_that_keeps_standard_error_is_not_waited_for():
    (answer,) = ask([bash_reads("sleep 300 & echo $!")], 20)
    assert answer.status == 0
    assert ask([bash_reads(f"kill {answer.output}")], 20)[0].status == 0


def test_where_there_is_no_room_for_what_is_asked_the_message_says_so(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(RunnerError, match="No space left on device; make room, or set TMPDIR"):
        ask([bash_reads("true")], 20)


def test_where_a_program_is_missing_the_others_are_ended(tmp_path):
    waits = bash_reads(f"echo $$ >{tmp_path}/pid; sleep 300")
    with pytest.raises(RunnerError, match="no such program: it cannot be started here"):
        ask([waits, Question(["no such program"])], 20)
    assert not (tmp_path / "pid").exists() or ended(int((tmp_path / "pid").read_text()))
