"""`submit` and `accept`: runs that are packed or refused, and files that a pull request may add."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from perfledger.ingest import accept, submit
from perfledger.ingest.cli import main
from perfledger.ingest.common.errors import UsageError
from perfledger.schema.submission import MANIFEST, identity, submitter_of
from tests.ingest.made_trees import unpacked

ROOT = Path(__file__).resolve().parents[2]
#: An undisturbed real run of ours.
SOURCE = ROOT / "raw_logs/resnet50/pytorch/cpu-n1d1-bs16-fp32/3"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return copied(tmp_path)


def copied(below: Path) -> Path:
    folder = below / "mine/resnet50/pytorch/case/1"
    shutil.copytree(SOURCE, folder)
    return folder


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> submit.Packed:
    """Return the submission of a run."""
    return submit.pack([copied(tmp_path_factory.mktemp("sound"))], "ada")


def edit(run: Path, **values: Any) -> None:
    path = run / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | values), "utf-8")


def append(run: Path, line: str) -> None:
    """Add a line to the log, and its new hash to run.json."""
    log = run / "train.log"
    log.write_text(log.read_text("utf-8") + line + "\n", "utf-8")
    data = log.read_bytes()
    edit(run, files={"train.log": {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}})


def states(checks: Any) -> dict[str, str]:
    return {each.name: each.state for each in checks}


def written(packed: submit.Packed) -> Any:
    return {f"{packed.place}/{name}": data for name, data in packed.files.items()}


def test_a_sound_run_is_packed_and_accepted(
    run: Path, sound: submit.Packed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["submit", str(run), "--submitter", "ada", "--to", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "[warn] round" in printed
    assert "[fail]" not in printed
    assert f"git add --force {sound.place} " in printed
    assert unpacked(out) == written(sound), "the same runs give the same bytes"
    assert "fail" not in states(accept.check(out / sound.place)).values()
    assert set(sound.files) == {MANIFEST, "resnet50/pytorch/case/1/run.json", "resnet50/pytorch/case/1/train.log"}
    assert submitter_of(f"{sound.place}/resnet50/pytorch/case/1/train.log") == "ada"


def test_a_submission_with_the_same_id_and_other_files_is_not_overwritten(sound: submit.Packed, tmp_path: Path) -> None:
    folder = submit.save(sound, tmp_path)
    assert submit.save(sound, tmp_path) == folder
    (folder / MANIFEST).write_bytes(b"mine")
    with pytest.raises(UsageError, match="is there with other files"):
        submit.save(sound, tmp_path)
    assert (folder / MANIFEST).read_bytes() == b"mine"


def test_a_file_in_place_of_the_folder_is_refused(sound: submit.Packed, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="Not a directory; give --to"):
        submit.save(sound, tmp_path / "file")


def test_runs_that_were_submitted_are_not_packed_again(sound: submit.Packed, tmp_path: Path) -> None:
    submit.save(sound, tmp_path)
    with pytest.raises(UsageError, match="no run"):
        submit.pack([tmp_path], "ada")


def test_names_are_redacted_and_hashes_are_updated(run: Path) -> None:
    append(run, "writing to /home/lovelace/checkpoints on 10.1.2.3")
    packed = submit.pack([run], "ada")
    assert not packed.refused, packed.checks
    log = packed.files["resnet50/pytorch/case/1/train.log"]
    assert b"lovelace" not in log
    assert b"10.1.2.3" not in log
    stated = json.loads(packed.files[MANIFEST])["files"]["resnet50/pytorch/case/1/train.log"]
    assert stated["original"] == hashlib.sha256((run / "train.log").read_bytes()).hexdigest()
    document = json.loads(packed.files["resnet50/pytorch/case/1/run.json"])
    assert document["files"]["train.log"] == {"sha256": stated["sha256"], "bytes": len(log)}


@pytest.mark.parametrize(
    ("values", "check"),
    [
        ({"case": {"model": "X"}}, "run.json"),
        ({"start": None}, "run.json"),
        ({"files": {"train.log": {"sha256": "0" * 64}}}, "figures"),
    ],
)
def test_unsuitable_runs_are_refused(
    run: Path, tmp_path: Path, values: dict[str, Any], check: str, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(run, **values)
    assert main(["submit", str(run), "--submitter", "ada", "--to", str(tmp_path / "out")]) == 2
    (line,) = [each for each in capsys.readouterr().out.splitlines() if each.startswith(f"[fail] {check}: ")]
    assert "Remedy: " in line
    assert not (tmp_path / "out").exists()


UNCOUNTED: list[tuple[dict[str, Any], str, str]] = [
    ({"outcome": "failed"}, "its outcome is failed", "run.json"),
    ({"disturbances": ["GPU 0 is busy: processes on it 7"]}, "was disturbed (GPU 0 is busy", "disturbed"),
    ({"disturbances": ["x"], "accept_disturbed": True}, "was disturbed (x), which counts here", "disturbed"),
    ({"smoke": True}, "is a trial", "disturbed"),
]


@pytest.mark.parametrize(("values", "why"), [each[:2] for each in UNCOUNTED])
def test_a_run_that_would_not_count_is_left_out(
    run: Path,
    sound: submit.Packed,
    tmp_path: Path,
    values: dict[str, Any],
    why: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # The documentation leaves a trial next to the submitted runs.
    other = run.with_name("2")
    shutil.copytree(run, other)
    edit(other, **values)
    assert main(["submit", str(run.parent), "--submitter", "ada", "--to", str(tmp_path / "out")]) == 0
    assert f"left out: {other}: {why}" in capsys.readouterr().out
    assert unpacked(tmp_path / "out") == written(sound)
    with pytest.raises(UsageError, match=re.escape(f"{other}: {why}")):
        submit.pack([other], "ada")


def test_the_message_about_many_excluded_runs_counts_them(run: Path) -> None:
    edit(run, smoke=True)
    for number in range(2, 8):
        shutil.copytree(run, run.with_name(str(number)))
    with pytest.raises(
        UsageError, match=r"none of these runs can be submitted: .*/1: is a trial; .*; and 4 more\. Rem"
    ):
        submit.pack([run.parent], "ada")


@pytest.mark.parametrize(("values", "check"), [(each[0], each[2]) for each in UNCOUNTED])
def test_a_run_that_would_not_count_is_not_accepted(
    run: Path, values: dict[str, Any], check: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submit, "_why_left_out", lambda _run: "")
    edit(run, **values)
    assert states(submit.pack([run], "ada").checks)[check] == "fail"


def test_a_key_is_refused_and_never_printed(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = "ghp" + "_" + "k3T9" * 9
    append(run, f"token {key}")
    # Redaction would remove the key, but its owner must know that a log contains it, and revoke it.
    assert main(["submit", str(run), "--submitter", "ada"]) == 2
    printed = capsys.readouterr()
    assert "[fail] keys: resnet50/pytorch/case/1/train.log:" in printed.out
    assert key not in printed.out + printed.err


def test_wrong_calls_end_the_command(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no run"):
        submit.pack([tmp_path], "ada")
    with pytest.raises(UsageError, match="--submitter"):
        submit.pack([SOURCE], "../ada")
    with pytest.raises(UsageError, match="ingest submit"):
        accept.check(tmp_path)


# ---- pull requests ----


@pytest.fixture
def clone(sound: submit.Packed, tmp_path: Path) -> Path:
    """Make a repository whose head adds a sound submission to its first commit."""
    root = tmp_path / "clone"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "README.md").write_text("x", "utf-8")
    commit(root)
    git(root, "tag", "base")
    submit.save(sound, root)
    return root


def git(root: Path, *words: str) -> None:
    named = {f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(["git", *words], cwd=root, check=True, env={**os.environ, **named}, capture_output=True)


def commit(root: Path) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-qm", "x")


def submission(root: Path) -> Path:
    return next(root.rglob(MANIFEST)).parent


def accepted(root: Path) -> tuple[int, str]:
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as errors:
        code = main(["accept", str(root), "--base", "base"])
    return code, out.getvalue() + errors.getvalue()


def test_a_sound_pull_request_is_accepted_and_has_a_preview(clone: Path, tmp_path: Path) -> None:
    commit(clone)
    words = ["accept", str(clone), "--base", "base", "--bring", str(tmp_path / "base")]
    done = subprocess.run([sys.executable, "-m", "ingest", *words], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done
    assert (tmp_path / "base" / submission(clone).relative_to(clone) / MANIFEST).is_file()


def test_a_pull_request_without_a_submission_is_left_to_others(clone: Path) -> None:
    shutil.rmtree(clone / "raw_logs")
    (clone / "code.py").write_text("x", "utf-8")
    commit(clone)
    assert accepted(clone)[0] == 0


def test_files_outside_the_submission_are_refused(clone: Path) -> None:
    (clone / "README.md").write_text("y", "utf-8")
    (clone / "raw_logs/resnet50").mkdir()
    (clone / "raw_logs/resnet50/train.log").write_text("y", "utf-8")
    commit(clone)
    code, output = accepted(clone)
    assert code == 1
    assert "README.md: lies elsewhere" in output
    assert "raw_logs/resnet50/train.log: lies elsewhere" in output


def test_a_line_break_in_a_name_does_not_end_the_line(clone: Path) -> None:
    (clone / "raw_logs/submitted/x\n# APPROVED by maintainers\n~~~~").write_text("y", "utf-8")
    commit(clone)
    code, output = accepted(clone)
    assert code == 1
    assert r"raw_logs/submitted/x\n# APPROVED by maintainers\n~~~~: lies elsewhere" in output
    assert not [line for line in output.splitlines() if line.startswith(("#", "~"))]


@pytest.mark.parametrize(("login", "code", "said"), [
    ("ada", 0, "[pass] author"),
    ("Ada", 0, "[pass] author"),
    ("mallory", 1, "the author is mallory. Remedy: pack with `--submitter mallory`"),
    ("ad", 1, "the author is ad."),
    ("", 0, "[warn] author: the submitter was not compared"),
])  # fmt: skip
def test_the_folder_must_name_the_author(
    clone: Path, monkeypatch: pytest.MonkeyPatch, login: str, code: int, said: str
) -> None:
    commit(clone)
    monkeypatch.setenv(accept.AUTHOR_VARIABLE, login)
    found, output = accepted(clone)
    assert (found, said in output) == (code, True), output


def test_an_earlier_submission_stays(clone: Path) -> None:
    commit(clone)
    git(clone, "tag", "-f", "base")
    log = next(submission(clone).rglob("train.log"))
    log.write_text(log.read_text("utf-8") + "x", "utf-8")
    commit(clone)
    code, output = accepted(clone)
    assert (code, "changes or removes a file" in output) == (1, True)


@pytest.mark.parametrize("what", ["link", "extra", "altered", "renamed", "script", "manifest"])
def test_files_that_differ_from_the_manifest_are_refused(clone: Path, what: str) -> None:
    folder = submission(clone)
    log = next(folder.rglob("train.log"))
    if what == "link":
        log.unlink()
        log.symlink_to("/etc/hostname")
    elif what == "extra":
        log.with_name("more.log").write_text("x", "utf-8")
    elif what == "altered":
        log.write_text(log.read_text("utf-8").replace("1", "9", 1), "utf-8")
    elif what == "renamed":
        folder.rename(folder.with_name("0" * 12))
    elif what == "script":
        add(folder, "a/evil.sh", b"echo")
    else:
        (folder / MANIFEST).write_text("{}", "utf-8")
    commit(clone)
    code, output = accepted(clone)
    assert code == 1, output
    assert "[fail]" in output


def add(folder: Path, name: str, data: bytes) -> None:
    """Add a file and its entry in the manifest, so that only its name is wrong."""
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(data)
    path = folder / MANIFEST
    document = json.loads(path.read_text("utf-8"))
    document["files"][name] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    path.write_text(json.dumps(document), "utf-8")
    folder.rename(folder.with_name(identity({each: one["sha256"] for each, one in document["files"].items()})))


def test_the_workflow_runs_no_code_of_the_pull_request() -> None:
    text = (ROOT / ".github/workflows/submission.yml").read_text("utf-8")
    assert "pull_request_target" not in text
    assert "secrets." not in text
    assert "contents: read" in text
    assert "working-directory: head" not in text
    assert 0 < text.find("echo '~~~~text' >> ") < text.find("tee -a "), "names of files are fenced in the summary"
    assert f"{accept.AUTHOR_VARIABLE}: ${{{{ github.event.pull_request.user.login }}}}" in text
