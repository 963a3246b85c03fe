"""Logs in object stores: they give the same bytes as a folder, are fetched once, and refusals become problems."""

from __future__ import annotations

import http.server
import shutil
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest
from made_logs import run_json, seg
from made_trees import Called, snapshot, write_run

from perfledger.ingest.common.processes import Death
from perfledger.ingest.read import objects
from perfledger.ingest.read.objects import StoredObject
from perfledger.ingest.record import reader, remote
from perfledger.ingest.record.folders import FolderRead
from perfledger.ingest.record.remote import StoredFolder

pytest.importorskip("obstore", reason="obstore is not installed")

Ingest = Callable[..., Called]
SECRET = "not-to-be-printed-1234567890"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Start a server of S3, and yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    if (program := shutil.which("moto_server")) is None:
        pytest.skip("there is no moto_server, which serves S3")
    command = [program, "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                request("GET", address)
                break
            except OSError:
                time.sleep(0.1)
        yield address
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def s3(server: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, str], str]:
    """Return a function that copies a folder into a bucket and returns its address."""
    objects._client.cache_clear()
    environment = {
        "AWS_ENDPOINT_URL": server, "AWS_ACCESS_KEY_ID": "anybody", "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1", "AWS_ALLOW_HTTP": "true",
    }  # fmt: skip
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    request("POST", f"{server}/moto-api/reset")
    request("PUT", f"{server}/bucket")

    def put(folder: Path, name: str = "") -> str:
        name = name or folder.name
        for path in sorted(each for each in folder.rglob("*") if each.is_file()):
            key = quote(f"{name}/{path.relative_to(folder).as_posix()}")
            request("PUT", f"{server}/bucket/{key}", path.read_bytes())
        return f"s3://bucket/{name}"

    return put


def request(method: str, address: str, body: bytes | None = None) -> None:
    headers = {"Content-Type": "application/octet-stream"}
    with urllib.request.urlopen(urllib.request.Request(address, body, headers, method=method)) as answer:
        answer.read()


@pytest.fixture
def rich(tree: Path) -> Path:
    """Return a tree with more than logs: telemetry, a run of two machines, a file that is not a log, odd names."""
    telemetry = "timestamp, index, utilization.gpu [%]\n" + "".join(
        f"2026/11/20 13:14:{at:02}.000, 0, 90 %\n" for at in range(30)
    )
    write_run(tree, "with telemetry/1", seg([9.0] * 8, batch=4), run=run_json(model="t"))
    (tree / "with telemetry" / "1" / "telemetry.csv").write_text(telemetry, "utf-8")
    (tree / "nodes" / "node-1").mkdir(parents=True)
    write_run(tree, "nodes/1", seg([9.0] * 8, batch=4), run=run_json(model="n"))
    (tree / "nodes" / "1" / "rank1.log").write_text("", "utf-8")
    (tree / "LICENSE").write_text("none\n", "utf-8")
    (tree / "ünï cöde%20#").mkdir()
    (tree / "ünï cöde%20#" / "a.log").write_text("nothing\n", "utf-8")
    (tree / "weights.pt").write_bytes(b"\0" * 10_000)
    (tree / "alone").mkdir()
    (tree / "alone" / "gpu.csv").write_text(telemetry, "utf-8")
    return tree


@pytest.mark.parametrize("options", [(), ("--jobs", 2), ("--on", "dask", "--jobs", 2)], ids=["here", "two", "dask"])
def test_a_store_gives_the_same_bytes_as_the_folder(
    rich: Path, ingest: Ingest, s3: Callable[..., str], options: tuple[object, ...]
) -> None:
    if "dask" in options:
        pytest.importorskip("distributed", reason="Dask is not installed")
    here, there = ingest(rich, "--json"), ingest(s3(rich), "--json", *options)
    assert there.out == here.out
    assert sorted(there.problems) == sorted(here.problems)
    assert there.code == here.code
    assert len(here.lines) > 5
    assert here.problems


def test_the_site_is_the_same_and_shows_the_lines_of_logs(
    tree: Path, tmp_path: Path, ingest: Ingest, s3: Callable[..., str]
) -> None:
    for where, out in ((tree, "here"), (s3(tree), "there")):
        assert ingest(where, "--out", tmp_path / out / "docs").code == 0
    here, there = (
        {name: data for name, (data, _) in snapshot(tmp_path / each / "docs").items()} for each in ("here", "there")
    )
    assert there == here
    assert any(name.startswith("logs/") for name in here)


def test_the_ledger_may_be_in_a_store(tree: Path, tmp_path: Path, ingest: Ingest, s3: Callable[..., str]) -> None:
    """A second call writes nothing into the store, and the runs of a removed log disappear from it."""
    logs, place = s3(tree), "s3://bucket/ledger/of/mine"
    out, plain = tmp_path / "out" / "docs", tmp_path / "plain" / "docs"
    assert ingest(logs, "--out", out, "--ledger", place).code == 0
    assert ingest(tree, "--out", plain).code == 0
    (first,) = objects.object_folder(place).listed()
    assert first.name.endswith(".parquet")
    assert not (out / "data" / "runs").exists()
    assert (out / "data/results.json").read_bytes() == (plain / "data/results.json").read_bytes()
    called = ingest(logs, "--out", out, "--ledger", place)
    assert "0 logs read" in called.out
    assert objects.object_folder(place).listed() == [first]
    assert ingest("check", logs, "--out", out, "--ledger", place).code == 0
    shutil.rmtree(tree / "seg/paddleseg/fast")
    assert ingest("check", tree, "--out", out, "--ledger", place).code == 2
    ingest(tree, "--out", out, "--ledger", place)
    assert objects.object_folder(place).listed() != [first]


class Refusing(http.server.BaseHTTPRequestHandler):
    """Forward requests to the server of S3, except those for refused objects."""

    target = ""
    refused: Callable[[str], int] = staticmethod(lambda _path: 0)

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        if status := type(self).refused(self.path):
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
        asked = urllib.request.Request(f"{self.target}{self.path}", headers=headers, method=self.command)
        try:
            answer = urllib.request.urlopen(asked)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            body = answer.read()
        self.send_response(answer.status)
        for name in ("ETag", "Last-Modified", "Content-Type"):
            if name in answer.headers:
                self.send_header(name, answer.headers[name])
        self.send_header(
            "Content-Length", answer.headers.get("Content-Length") if self.command == "HEAD" else str(len(body))
        )
        self.end_headers()
        self.wfile.write(body if self.command != "HEAD" else b"")

    do_HEAD = do_GET


@pytest.fixture
def refusing(
    server: str, s3: object, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[Callable[[str], int]], None]]:
    """Return a function that sets how the store answers: it maps a path to a status, or to 0 for the object."""
    handler = type("Handler", (Refusing,), {"target": server})
    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{proxy.server_port}")
    monkeypatch.setattr(objects, "_RETRIES", 1)
    objects._client.cache_clear()

    def refuse(status: Callable[[str], int]) -> None:
        handler.refused = staticmethod(status)  # type: ignore[attr-defined]

    yield refuse
    proxy.shutdown()
    proxy.server_close()
    objects._client.cache_clear()


@pytest.fixture
def fetched(refusing: Callable[[Callable[[str], int]], None]) -> list[str]:
    """Return a list to which the name of each fetched object below `logs` is added."""
    names: list[str] = []

    def note(path: str) -> int:
        bare = unquote(path.partition("?")[0])
        names.extend([bare.removeprefix("/bucket/logs/")] if bare.startswith("/bucket/logs/") else [])
        return 0

    refusing(note)
    return names


@pytest.fixture
def put(server: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str, bytes], None]:
    """Return a function that writes an object directly to the server, since the proxy does not forward writing."""

    def write(address: str, name: str, data: bytes) -> None:
        with monkeypatch.context() as patched:
            patched.setenv("AWS_ENDPOINT_URL", server)
            objects._client.cache_clear()
            objects._client(address).put(name, data)
        objects._client.cache_clear()

    return write


def test_only_changed_objects_are_fetched_again(
    tree: Path, tmp_path: Path, ingest: Ingest, s3: Callable[..., str], fetched: list[str],
    put: Callable[[str, str, bytes], None],
) -> None:  # fmt: skip
    address, out = s3(tree), tmp_path / "out" / "docs"
    assert ingest(address, "--out", out, "--jobs", 1).code == 0
    assert "weights.pt" not in fetched
    assert set(fetched) >= {path.relative_to(tree).as_posix() for path in tree.rglob("train.log")}
    before = snapshot(out)
    fetched.clear()
    assert ingest(address, "--out", out, "--jobs", 1).code == 0
    assert fetched == []
    assert snapshot(out) == before
    log = next(path for path in sorted(tree.rglob("train.log")))
    put(address, log.relative_to(tree).as_posix(), log.read_bytes() + b"\n")
    assert ingest(address, "--out", out, "--jobs", 1).code == 0
    assert log.relative_to(tree).as_posix() in fetched
    assert not set(fetched) >= {path.relative_to(tree).as_posix() for path in tree.rglob("train.log")}


def test_checkpoints_are_not_fetched(rich: Path, ingest: Ingest, s3: Callable[..., str], fetched: list[str]) -> None:
    ingest(s3(rich), "--json", "--jobs", 1)
    assert fetched
    assert "weights.pt" not in fetched


def test_a_ledger_that_the_store_refuses_ends_the_command(
    tree: Path, tmp_path: Path, ingest: Ingest, refusing: Any, s3: Callable[..., str]
) -> None:
    s3(tree)
    refusing(lambda _path: 403)
    called = ingest(tree, "--out", tmp_path / "docs", "--ledger", "s3://bucket/ledger")
    assert called.code == 2
    assert "403" in called.err
    assert SECRET not in called.err
    assert not (tmp_path / "docs").exists()


@pytest.mark.parametrize(
    ("status", "problem"),
    [(403, ("unreadable", "access is denied")), (500, ("unreadable", "500")), (404, ("changing", ""))],
)
def test_an_object_that_the_store_refuses_is_a_problem_of_that_log(
    tree: Path, ingest: Ingest, s3: Callable[..., str], refusing: Any, status: int, problem: tuple[str, str]
) -> None:
    address = s3(tree)
    refusing(lambda path: status if "bs4/1/train.log" in path and "list-type" not in path else 0)
    called = ingest(address, "--json", "--jobs", 1)
    lost = [each for each in called.lines if each["path"].endswith("bs4/1/train.log")]
    code, cause = problem
    assert [[one["code"] for one in each["problems"]] for each in lost] == [[code]] * len(lost)
    assert lost
    assert cause in called.err
    assert SECRET not in called.err + called.out
    others = [each for each in called.lines if each not in lost]
    assert others == [each for each in ingest(tree, "--json").lines if not each["path"].endswith("bs4/1/train.log")]


def test_a_log_whose_run_json_is_refused_is_not_read(
    tree: Path, ingest: Ingest, s3: Callable[..., str], refusing: Any
) -> None:
    """The facts in the document may change the figure, so it does not count as missing."""
    address = s3(tree)
    refusing(lambda path: 503 if "bs4/1/run.json" in path else 0)
    called = ingest(address, "--json", "--jobs", 1)
    lost = [each for each in called.lines if "bs4/" in each["path"]]
    assert lost
    assert all([one["code"] for one in each["problems"]] == ["unreadable"] for each in lost)
    assert "run.json" in called.err
    assert not any(each["published"] for each in lost)


def test_a_folder_is_a_store_too(tree: Path, ingest: Ingest) -> None:
    assert ingest(f"file://{tree}", "--json").out == ingest(tree, "--json").out


def test_a_log_that_ends_its_reader_is_a_problem_of_that_log(tree: Path) -> None:
    write_run(tree, "seg/paddleseg/bs2/crash", seg([9.0] * 12, batch=2), run=run_json(batch_size=2, repeat=3))
    store = objects.object_folder(f"file://{tree}/seg/paddleseg/bs2")
    (folder,), _ = remote.listed({"bs2": store}, "perfledger", lambda _: ())

    def read(job: StoredFolder) -> FolderRead | Death:
        return Death(-signal.SIGSEGV) if "bs2/crash/train.log" in job.logs else job.read()

    found = reader.read_again(folder, read)
    assert [(each.path, [one.code for one in each.problems]) for each in found.runs["bs2"]] == [
        ("bs2/1/train.log", []),
        ("bs2/2/train.log", []),
        ("bs2/crash/train.log", ["reader_died"]),
    ]
    assert (found.problems, found.passed_over) == ([], [])


def test_an_object_that_is_replaced_while_it_is_read_gives_no_figure(
    tree: Path, s3: Callable[..., str], tmp_path: Path
) -> None:
    store = objects.object_folder(s3(tree))
    (first, *_) = [each for each in store.listed() if each.name.endswith("train.log")]
    stale = StoredObject(first.name, first.size, '"0123456789abcdef0123456789abcdef"')
    failed = store.fetch([first, stale], tmp_path / "fetched")
    assert list(failed) == [first.name]
    assert objects.has_changed(failed[first.name])
    short = StoredObject(first.name, first.size + 1, first.tag)
    assert objects.has_changed(store.fetch([short], tmp_path / "fetched")[first.name])
    assert not (tmp_path / "fetched" / first.name).exists()


def test_one_object_is_read_alone(tree: Path, ingest: Ingest, s3: Callable[..., str]) -> None:
    s3(tree)
    log = next(iter(sorted(tree.rglob("train.log")))).relative_to(tree).as_posix()
    (run,), (same,) = ingest(f"s3://bucket/logs/{log}", "--json").lines, ingest(tree / log, "--json").lines
    assert run | {"path": ""} == same | {"path": ""}
    assert run["case"]["hardware"] == "made-up", "which its run.json says"


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("ftp://host/logs", "of no kind that can be read"),
        ("s3://user:secret@bucket/logs", "credentials in the environment"),
        ("s3://bucket/logs?X-Amz-Signature=secret", "credentials in the environment"),
        ("s3://", "names no bucket"),
        ("s3://no-such-bucket/logs", "404"),
    ],
)
def test_an_address_that_cannot_be_read_is_refused_without_its_secrets(
    tmp_path: Path, ingest: Ingest, s3: object, address: str, said: str
) -> None:
    called = ingest(address, "--out", tmp_path / "docs")
    assert called.code == 2
    assert said in called.err
    assert "secret" not in called.err
    assert not (tmp_path / "docs").exists()


class WebDav(http.server.SimpleHTTPRequestHandler):
    """Serve files, and list folders like WebDAV if `lists` is true."""

    lists = True

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def do_PROPFIND(self) -> None:
        """List the folder and all below it."""
        if not self.lists:
            self.send_error(405)
            return
        top = Path(self.translate_path(self.path))
        found = "".join(map(self.response, sorted(each for each in top.rglob("*") if each.is_file())))
        body = f'<?xml version="1.0"?><D:multistatus xmlns:D="DAV:">{found}</D:multistatus>'.encode()
        self.send_response(207)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def response(self, path: Path) -> str:
        """Return the entry of a file in a list."""
        at = path.stat()
        name = quote(path.relative_to(self.directory).as_posix())
        return (
            f"<D:response><D:href>/{name}</D:href><D:propstat><D:prop>"
            f"<D:getlastmodified>{self.date_time_string(at.st_mtime)}</D:getlastmodified>"
            f"<D:getcontentlength>{at.st_size}</D:getcontentlength><D:resourcetype/>"
            f"</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>"
        )


@pytest.fixture
def web(tree: Path) -> Iterator[Callable[..., str]]:
    """Return a function that serves the folder above the tree, and returns an address there."""
    servers = []

    def serve(below: str, *, lists: bool) -> str:
        handler = type("Handler", (WebDav,), {"lists": lists})
        made = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), lambda *given: handler(*given, directory=str(tree.parent))
        )
        threading.Thread(target=made.serve_forever, daemon=True).start()
        servers.append(made)
        return f"http://127.0.0.1:{made.server_port}/{below}"

    yield serve
    for each in servers:
        each.shutdown()
        each.server_close()


def test_a_web_server_with_listings_gives_the_same_bytes(tree: Path, ingest: Ingest, web: Callable[..., str]) -> None:
    here, there = ingest(tree, "--json"), ingest(web(tree.name, lists=True), "--json")
    assert there.out == here.out
    assert (there.code, there.problems) == (here.code, here.problems)


def test_a_web_server_without_listings_gives_single_logs(tree: Path, ingest: Ingest, web: Callable[..., str]) -> None:
    log = f"{tree.name}/seg/paddleseg/fast/1/train.log"
    (run,), (same,) = ingest(web(log, lists=False), "--json").lines, ingest(tree.parent / log, "--json").lines
    assert run | {"path": ""} == same | {"path": ""}
    refused = ingest(web(tree.name, lists=False), "--json")
    assert refused.code == 2
    assert "cannot be listed" in refused.err


def test_objects_that_cannot_be_fetched_keep_their_earlier_figures(
    tree: Path, tmp_path: Path, ingest: Ingest, s3: Callable[..., str], refusing: Any
) -> None:
    """Each of these objects is a problem."""
    address, out = s3(tree), tmp_path / "docs"
    assert ingest(address, "--out", out, "--jobs", 1).code == 0
    before = (out / "data" / "results.json").read_bytes()
    shutil.rmtree(tmp_path / ".perfledger")  # so that all would be fetched again
    refusing(lambda path: 0 if "list-type" in path else 503)
    called = ingest(address, "--out", out, "--jobs", 1)
    assert called.code == 1
    assert "503" in called.err
    assert (out / "data" / "results.json").read_bytes() == before
