"""A host that sends files that it must not send: they are refused with a reason, and the other hosts go on."""

from __future__ import annotations

import io
import json
import sys
import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfledger.runners import nodes, record
from perfledger.runners.job import RunnerError
from perfledger.runners.ssh import Ssh
from perfledger.runners.transport import Job
from tests.runners.arrivals import arrive, begun, launched

HEAD = b'perfledger {"files": true}\n'


def member(name: str, content: bytes = b"text", **changes: object) -> tuple[tarfile.TarInfo, bytes]:
    made = tarfile.TarInfo(name)
    made.size = len(content)
    for key, value in changes.items():
        setattr(made, key, value)
    return made, content


def archive(*members: tuple[tarfile.TarInfo, bytes], format: int = tarfile.PAX_FORMAT) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=format) as file:
        for each, content in members:
            file.addfile(each, io.BytesIO(content))
    return HEAD + stream.getvalue()


def unpacked(sent: bytes, folder: Path) -> str:
    return nodes.unpack(io.BytesIO(sent), folder)


def chained_headers() -> bytes:
    """Return an archive of extended headers only, each about the next."""
    one = tarfile.TarInfo.create_pax_global_header({"comment": "x"})
    return HEAD + one * (2 * sys.getrecursionlimit())


REFUSED = {
    "headers without end": (chained_headers(), "its files are refused"),
    "huge": (archive()[: len(HEAD)] + member("train.log", size=1 << 40)[0].tobuf(), "take more than"),
    "cut off": (archive(member("train.log"))[:700], "is not complete"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_archive_that_could_do_harm_is_refused_with_its_reason(case, tmp_path):
    sent, said = REFUSED[case]
    folder = tmp_path / "node"
    folder.mkdir()
    fault = unpacked(sent, folder)
    assert said in fault
    assert [path.name for path in tmp_path.iterdir()] == ["node"]


@pytest.mark.parametrize("name", ["../x", "ranks/../../x", "/x", "x", "run.json", "ranks/.x", "ranks/" + "x" * 300])
def test_a_name_that_no_file_of_a_run_has_is_left_out(name, tmp_path):
    (tmp_path / "node").mkdir()
    assert not unpacked(archive(member(name), member("ranks/0")), tmp_path / "node")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["0"]


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, b"V"]
)
def test_links_and_devices_are_left_out_and_other_files_are_unpacked(kind, tmp_path):
    device = member("ranks", b"", type=kind, linkname="/etc", devmajor=1, devminor=8)
    assert not unpacked(archive(device, member("ranks/0"), member("train.log")), tmp_path)
    assert not any(path.is_symlink() for path in tmp_path.rglob("*"))
    assert (tmp_path / "ranks/0").read_bytes() == (tmp_path / "train.log").read_bytes() == b"text"


@pytest.mark.parametrize("limit", ["MOST_FILES", "MOST_BYTES"])
def test_files_are_limited_in_number_and_in_size(limit, tmp_path, monkeypatch):
    monkeypatch.setattr(nodes, limit, 3)
    assert "they are more than" in unpacked(archive(*(member(f"ranks/{n}", b"x") for n in range(4))), tmp_path)
    assert len(list(tmp_path.glob("ranks/*"))) == 3


def test_a_sparse_file_counts_with_the_size_that_it_would_have_here(tmp_path):
    sparse = member("train.log", b"", pax_headers={"GNU.sparse.realsize": str(1 << 50), "GNU.sparse.map": "0,0"})
    assert "take more than" in unpacked(archive(sparse), tmp_path)
    assert not list(tmp_path.iterdir())


def test_the_other_nodes_are_fetched_although_one_is_hostile(write_recipe, tmp_path, monkeypatch, bash):
    folder = begun(write_recipe("true"), tmp_path, nodes=2)
    sent = {0: REFUSED["cut off"][0], 1: archive(member("train.log"))}
    for rank, content in sent.items():
        (tmp_path / f"{rank}.tar").write_bytes(content)
    monkeypatch.setattr(Ssh, "argv", lambda _, rank: [bash, "-c", f"cat {tmp_path}/{rank}.tar"])
    begun_on = launched(folder)
    started = Job(begun_on.job, folder)
    with pytest.raises(RunnerError, match=r"host0\.invalid: .*is not complete"):
        begun_on.target.fetch(started)
    assert not started.node(0).exists()
    assert (started.node(1) / "train.log").read_bytes() == b"text"


BLOCK, SUM = tarfile.BLOCKSIZE, slice(148, 156)


def sealed(sent: bytes, changes: list[tuple[int, int]]) -> bytes:
    """Return an archive with bytes changed and with the checksums of its headers made right, so that it is read on."""
    changed = bytearray(sent)
    for at, value in changes:
        changed[at % len(sent)] = value
    for start in range(0, len(sent), BLOCK):
        block = changed[start : start + BLOCK]
        if sent[start + 257 : start + 262] == b"ustar":
            changed[start + SUM.start : start + SUM.stop] = b"%06o\0 " % tarfile.calc_chksums(block)[0]
    return bytes(changed)


@settings(max_examples=300, deadline=None)
@given(
    changes=st.lists(st.tuples(st.integers(0, 4096), st.integers(0, 255)), min_size=1, max_size=20),
    length=st.integers(0, 9000),
)
def test_unpacking_fails_with_a_message_for_any_archive(changes, length, tmp_path_factory):
    sent = archive(member("ranks", b"", type=tarfile.DIRTYPE), member("ranks/0" * 40), member("train.log"))
    changed = sealed(sent.removeprefix(HEAD), changes)[:length]
    top = tmp_path_factory.mktemp("sent")
    (top / "node").mkdir()
    assert isinstance(unpacked(HEAD + changed, top / "node"), str)
    assert [path.name for path in top.iterdir()] == ["node"]
    assert not any(path.is_symlink() for path in top.rglob("*"))


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "x" * 5000, "a\x00b", "", ".", "run.json", "launch.json"])
def test_links_that_host_json_names_are_neither_followed_nor_stored(name, write_recipe, tmp_path):
    folder = begun(write_recipe("true"), tmp_path)
    node = arrive(folder, 0)
    host = json.loads((node / "host.json").read_text())
    host["files"][name] = {"sha256": "0" * 64, "bytes": 1}
    (node / "host.json").write_text(json.dumps(host))
    assert name not in record.read_node(folder, 0, 0).files()


def test_a_run_among_the_logs_of_others_cannot_write_elsewhere(write_recipe, tmp_path):
    folder = begun(write_recipe("true"), tmp_path)
    (tmp_path / "elsewhere").mkdir()
    (folder / "incoming").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RunnerError, match="incoming in its folder is a link"):
        launched(folder)
