"""The wheel: its content, and its commands in empty folders and environments with only its requirements."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest

import perfledger

ROOT = Path(__file__).resolve().parents[1]
#: Real logs of three printers.
LOGS = (
    "resnet50/pytorch/cpu-n1d1-bs16-fp32/1",
    "pplcnet/paddleclas/cpu-n1d1-bs16-fp32-static/1",
    "lenet5/mindspore/cpu-n1d1-bs32-fp32/1",
)
#: Packages that the core does not need.
HEAVY = {"mkdocs", "material", "matplotlib", "pandas", "pyarrow", "jinja2", "yaml"}
BUILD = "import sys; from hatchling import build; build.build_wheel(sys.argv[1]); build.build_sdist(sys.argv[1])"
FORMAT = re.search(r"```python\n(.*?)```", (ROOT / "docs/guide/own-parts.md").read_text("utf-8"), re.DOTALL)


def built(folder: Path, source: Path = ROOT) -> dict[str, bytes]:
    """Return the wheel and the sdist of a source, by name."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    subprocess.run([sys.executable, "-c", BUILD, str(folder)], cwd=source, env=environment, check=True)
    return {each.name: each.read_bytes() for each in folder.iterdir()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    built(folder)
    return folder


@pytest.fixture(scope="module")
def wheel(made: Path) -> Path:
    return next(made.glob("*.whl"))


def needs(requirements: list[str], extra: str = "") -> Iterator[str]:
    """Yield the names of distributions that requirements name, and those that these need."""
    for each in requirements:
        name, _, condition = each.partition(";")
        if "extra" in condition and f'"{extra}"' not in condition.replace("'", '"'):
            continue
        bare = re.match(r"[\w.-]+", name)
        assert bare
        try:
            found = distribution(bare[0])
        except ModuleNotFoundError:
            continue  # of another system or Python
        yield found.name
        yield from needs(found.requires or [])


def environment(folder: Path, wheel: Path, extra: str = "") -> Path:
    """Install the wheel into an empty environment, and link its requirements from this one, without a download."""
    venv.create(folder, symlinks=True, with_pip=False)
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin/python"), "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (each for each in archive.namelist() if each.endswith("METADATA"))
        asked = re.findall(r"^Requires-Dist: (.*)$", archive.read(metadata).decode(), re.MULTILINE)
    for name in set(needs(asked, extra)):
        for file in distribution(name).files or ():
            top = file.parts[0]
            if top != ".." and not (packages / top).exists():
                (packages / top).symlink_to(Path(str(distribution(name).locate_file(top))))
    return folder


@pytest.fixture(scope="module")
def core(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment(tmp_path_factory.mktemp("core"), wheel)


@pytest.fixture(scope="module")
def full(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment(tmp_path_factory.mktemp("full"), wheel, "site")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder with nothing but `logs`, three real logs; its parent is the home."""
    for each in LOGS:
        shutil.copytree(ROOT / "raw_logs" / each, tmp_path / "here/logs" / each)
    return tmp_path / "here"


def variables(where: Path, place: Path) -> dict[str, str]:
    return {"PATH": f"{where}/bin:/usr/bin:/bin", "HOME": str(place.parent), "LANG": "C.UTF-8"}


def run(where: Path, place: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=place, env=variables(where, place), capture_output=True, text=True, check=False, timeout=120
    )


# --- What is in it ----------------------------------------------------------------------------------------------------


def test_the_wheel_has_one_top_level_name_and_hidden_files(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {each.partition("/")[0].partition("-")[0] for each in names} == {"perfledger"}
    wanted = {
        "perfledger/py.typed", "perfledger/ingest/cli/main.py", "perfledger/schema/vocabulary.toml",
        "perfledger/templates/mkdocs.yml", "perfledger/templates/theme/.icons/perfledger/logo.svg",
        "perfledger/templates/starter/.github/workflows/pages.yml", "perfledger/templates/starter/raw_logs/.gitkeep",
    }  # fmt: skip
    assert wanted <= set(names)
    assert [each for each in names if "/tests/" in each or ("/raw_logs/" in each and "starter" not in each)] == []


def test_wheel_and_sdist_are_the_same_each_time_and_the_sdist_gives_the_wheel(made: Path, tmp_path: Path) -> None:
    first = {each.name: each.read_bytes() for each in made.iterdir()}
    (sdist,) = made.glob("*.tar.gz")
    shutil.unpack_archive(sdist, tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()
    assert built(tmp_path / "again", source) == first


# --- The core ---------------------------------------------------------------------------------------------------------


def test_a_log_with_two_sessions_has_two_rows_and_conflicting_options_are_refused(core: Path, place: Path) -> None:
    log = (place / "logs" / LOGS[0] / "train.log").read_bytes()
    (place / "twice.log").write_bytes(log + log)
    rows = run(core, place, "perfledger", "twice.log").stdout.splitlines()[2:]
    assert [each.split("  ")[0] for each in rows] == ["twice.log, session 1", "twice.log, session 2"]
    refused = run(core, place, "perfledger", "logs", "--csv", "--json")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "give one of --json, --csv, --markdown, --cases and --format" in refused.stderr


def test_the_runners_call_themselves_as_they_are_installed(core: Path, place: Path) -> None:
    done = run(core, place, "python", "-m", "perfledger.runners", "run", "nope")
    assert "`python -m perfledger.runners list` prints them" in done.stderr


def test_the_core_alone_prints_figures_of_an_unknown_folder(core: Path, place: Path) -> None:
    before = sorted(place.rglob("*"))
    done = run(core, place, "perfledger", "logs")
    assert done.returncode == 0, done.stderr
    rows = done.stdout.splitlines()[2:]
    assert len(rows) == 3
    assert any(re.search(r"ResNet-50 v1\.5 +1 +29\.26 images/s +checked by clock, summary", each) for each in rows)
    assert json.loads(run(core, place, "perfledger", "logs", "--json").stdout)["runs"][0]["unit"]
    assert len(list(csv.reader(run(core, place, "perfledger", "logs", "--csv").stdout.splitlines()))) == 4
    assert run(core, place, "perfledger", "logs", "--markdown").stdout.startswith("| log ")
    assert sorted(place.rglob("*")) == before, "it writes nothing"


def test_the_core_exports_figures_for_services(core: Path, place: Path) -> None:
    found = {each: run(core, place, "perfledger", "logs", "--format", each).stdout for each in (
        "bencher", "github-action-benchmark", "openmetrics",
    )}  # fmt: skip
    (throughput,) = (each for name, each in json.loads(found["bencher"]).items() if name.startswith("ResNet-50"))
    assert throughput == {"throughput (images/s)": {"value": pytest.approx(29.2567, rel=1e-4)}}
    assert {each["unit"] for each in json.loads(found["github-action-benchmark"])} == {"images/s", "samples/s"}
    lines = found["openmetrics"].splitlines()
    assert lines[0] == "# TYPE perfledger_throughput gauge"
    assert lines[-1] == "# EOF"
    assert len([each for each in lines if each.startswith("perfledger_throughput{case=")]) == 3


def test_the_other_commands_of_the_core_work(core: Path, place: Path) -> None:
    log = f"logs/{LOGS[0]}/train.log"
    assert "29.2567" in run(core, place, "perfledger", "explain", log).stdout
    (place / "base.json").write_text(run(core, place, "perfledger", "logs", "--json").stdout, "utf-8")
    assert run(core, place, "perfledger", "against", "base.json", "logs").returncode == 0
    assert "keys and passwords found: 0" in run(core, place, "perfledger", "check-secrets", "logs").stdout
    assert run(core, place, "perfledger", "--version").stdout == f"perfledger {perfledger.__version__}\n"


def test_heavy_packages_are_not_imported(core: Path, place: Path) -> None:
    done = run(core, place, "python", "-X", "importtime", "-m", "perfledger", "logs")
    imported = {each.rpartition("|")[2].strip().partition(".")[0] for each in done.stderr.splitlines()}
    assert "perfledger" in imported
    assert imported & HEAVY == set()


def test_each_command_has_an_example(core: Path, place: Path) -> None:
    listed = re.findall(r"^  ([a-z][a-z-]+)  ", run(core, place, "perfledger", "--help").stdout, re.MULTILINE)
    assert {"figures", "explain", "build", "serve", "init", "pages", "against", "diff", "verify"} <= set(listed)
    lacking = [each for each in listed if "Example:" not in run(core, place, "perfledger", each, "--help").stdout]
    assert lacking == []


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("build logs", "so nothing was written: python -m pip install 'perfledger[site]'"),
        ("serve logs", "so nothing was written: python -m pip install 'perfledger[site]'"),
        ("serve logs --address localhost", "--address localhost: give HOST:PORT"),
        ("nowhere", "nowhere: no such file or folder"),
        ("empty", "no logs in the given paths"),
        ("new-suite net", "perfledger init DIR makes a folder with one"),
        ("explain logs", "explain logs: is a folder"),
    ],
)
def test_the_message_about_a_wrong_call_has_the_remedy(core: Path, place: Path, command: str, said: str) -> None:
    (place / "empty").mkdir()
    done = run(core, place, "perfledger", *command.split())
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_is_not_a_log_has_a_row_with_the_reason(core: Path, place: Path) -> None:
    (place / "notes.log").write_text("nothing of training\n", "utf-8")
    done = run(core, place, "perfledger", "notes.log")
    assert done.returncode == 1
    assert "is not recognized: no format matches any of its lines" in done.stdout
    assert "perfledger unwrap" in done.stdout, "commands are called as they are installed"


def test_windows_is_refused_in_words(core: Path, place: Path) -> None:
    program = "import sys; sys.platform = 'win32'; from perfledger.__main__ import main; main()"
    done = run(core, place, "python", "-c", program)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "WSL" in done.stderr


# --- Python -----------------------------------------------------------------------------------------------------------


def test_the_interface_in_python_reads_logs(full: Path, place: Path) -> None:
    program = (
        "import perfledger as pl; ledger = pl.read('logs'); run = ledger.runs[0]; values = ledger.results['value']; "
        "print(len(ledger.runs), ledger.problems, sorted(float(each) for each in values.round(2)), "
        "ledger.explain(run).split()[1], ledger._repr_html_().count('<tr>'))"
    )
    done = run(full, place, "python", "-c", program)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"3 () [29.26, 41.12, 450.56] logs/{LOGS[2]}/train.log 4\n"


def test_examples_in_the_interface_are_true() -> None:
    done = subprocess.run([sys.executable, "-m", "doctest", "perfledger/reading.py"], cwd=ROOT, check=False)
    assert done.returncode == 0


def test_the_message_without_pandas_names_the_package_to_install(core: Path, place: Path) -> None:
    done = run(core, place, "python", "-c", "import perfledger; perfledger.read('logs').results")
    assert done.stderr.splitlines()[-1].endswith("pandas is not installed: pip install 'perfledger[site]'")


# --- Sites ------------------------------------------------------------------------------------------------------------


def test_one_command_builds_a_finished_site(full: Path, place: Path) -> None:
    done = run(full, place, "perfledger", "build", "logs", "--site", "report")
    assert done.returncode == 0, done.stderr
    site = place / "report"
    assert sorted(each.name for each in place.iterdir()) == ["logs", "report"]
    for page in ("index.html", "zh/index.html", "models/resnet50/index.html"):
        assert 'href="http' not in (site / page).read_text("utf-8").partition("<nav")[0], "it opens from the disk"
    assert len(list(site.rglob("*.html"))) < 80
    shown = [each for each in (site / "formats").glob("*.html") if each.stem != "index"]
    assert len(shown) == 3, "the formats of its logs, and no others"
    assert "29.26" in (site / "zh/models/resnet50/index.html").read_text("utf-8")
    pages = "".join(each.read_text("utf-8") for each in site.rglob("*.html"))
    assert f"perfledger explain logs/{LOGS[0]}/train.log" in pages
    assert "python -m ingest" not in pages
    assert run(full, place, "perfledger", "verify", "report", "logs").returncode == 0
    (site / "old.html").touch()
    (place / "perfledger.toml").write_text('title = "Ours"\nlogo = "logo.svg"\n', "utf-8")
    (place / "logo.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>', "utf-8")
    assert run(full, place, "perfledger", "build", f"logs/{LOGS[2]}", "--site", "report").returncode == 0
    assert not (site / "old.html").exists()
    assert (site / "assets/publisher.svg").is_file()
    assert "<title>Ours" in (site / "index.html").read_text("utf-8")
    assert not (site / "models/resnet50").exists()


@pytest.mark.parametrize(
    ("site", "said"),
    [
        ("logs/site", "whose files are read as logs"),
        ("full", "has files that are not of a site of Perfledger"),
        ("file", "is a file; give a folder"),
        ("/proc/site", "give a folder that can be written"),
    ],
)
def test_a_place_for_a_site_that_is_refused(full: Path, place: Path, site: str, said: str) -> None:
    (place / "full").mkdir()
    (place / "full" / "thesis.tex").write_text("mine", "utf-8")
    (place / "file").touch()
    done = run(full, place, "perfledger", "build", "logs", "--site", site)
    assert done.returncode == 2
    assert said in done.stderr
    assert (place / "full" / "thesis.tex").read_text("utf-8") == "mine"
    assert sorted(each.name for each in place.iterdir()) == ["file", "full", "logs"]


def test_a_site_is_shown_and_ends_with_the_command(full: Path, place: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    command = ["perfledger", "serve", "logs", "--address", address]
    with subprocess.Popen(command, cwd=place, env=variables(full, place), stdout=subprocess.PIPE) as process:
        page, end = "", time.monotonic() + 60
        while "29.26" not in page and time.monotonic() < end:
            time.sleep(0.3)
            try:
                page = urllib.request.urlopen(f"http://{address}/models/resnet50/").read().decode()
            except OSError:
                continue
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    assert "29.26" in page
    assert [each.name for each in place.iterdir()] == ["logs"]


def test_init_makes_a_repository_for_a_lab(full: Path, place: Path) -> None:
    assert run(full, place, "perfledger", "init", "lab").returncode == 0
    lab = place / "lab"
    assert len((lab / "mkdocs.yml").read_text("utf-8").splitlines()) <= 10
    assert f"perfledger[site]=={perfledger.__version__}" in (lab / ".github/workflows/pages.yml").read_text("utf-8")
    shutil.copytree(place / "logs" / LOGS[0], lab / "raw_logs/1")
    (lab / "README.md").write_text("mine", "utf-8")
    settings = (
        'title = "Lab of examples"\nlanguages = ["zh"]\npublisher = "Example Lab"\n[layouts]\n"raw_logs" = "ours"\n'
    )
    (lab / "perfledger.toml").write_text(settings, "utf-8")
    (lab / "layouts").mkdir()
    layout = '[[path]]\ntemplate = "raw_logs/{repeat}/train.log"\nfacts = { round = "2026Q4" }\n'
    (lab / "layouts/ours.toml").write_text(layout, "utf-8")
    (lab / "words.toml").write_text('[nav]\nmodels = { en = "Networks", zh = "网络一览" }\n', "utf-8")
    (lab / "formats").mkdir()
    assert FORMAT, "the guide has an example of a format"
    (lab / "formats/trainer.py").write_text(FORMAT[1], "utf-8")
    (lab / "formats/broken.py").write_text('"""Broken."""\nimport nowhere\n', "utf-8")
    (lab / "raw_logs/2").mkdir()
    lines = (f"step {step} of 200: 512 images in 1.25 s\n" for step in range(20, 201, 20))
    (lab / "raw_logs/2/train.log").write_text("".join(lines), "utf-8")
    case = {"model": "Our net", "hardware": "A100", "devices": 8, "batch_size": 64}
    (lab / "raw_logs/2/run.json").write_text(json.dumps({"schema": "perfledger.run/1", "case": case}), "utf-8")

    done = run(full, lab, "python", "-m", "mkdocs", "build", "--strict")
    assert done.returncode == 0, done.stderr
    assert "formats/broken.py: ModuleNotFoundError: No module named 'nowhere'" in done.stderr
    front = (lab / "site/index.html").read_text("utf-8")
    assert "Lab of examples" in front
    assert "Example Lab" in front
    assert 'hreflang="en"' not in front
    assert "网络一览" in (lab / "site/models/index.html").read_text("utf-8")
    assert "2026Q4" in (lab / "docs/data/results.json").read_text("utf-8")
    assert "409.6" in (lab / "site/models/model-our-net/index.html").read_text("utf-8"), "512 images in 1.25 s"
    done = run(full, lab, "perfledger", "verify", "site", "raw_logs")
    assert done.returncode == 0, done.stderr
    done = run(full, lab, "perfledger", "new-suite", "our-net")
    assert "filled from 1 run of Our net" in done.stdout
    assert (lab / "suites/our-net.toml").is_file()
    assert run(full, place, "perfledger", "init", "lab").returncode == 0
    assert (lab / "README.md").read_text("utf-8") == "mine"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("titel = 'x'", "perfledger.toml:1: titel: unknown key; did you mean 'title'?"),
        ("title = 'x'\nlanguages = ['fr']", "perfledger.toml:2: languages[0]: expected one of en, zh, got 'fr'"),
        ("title = x", "perfledger.toml:1: is not TOML"),
        ("[layouts]\nold = 'dlpref'", "perfledger.toml:2: layouts.old: layout 'dlpref': there is no such layout"),
    ],
)
def test_a_broken_perfledger_toml_ends_the_command(core: Path, place: Path, text: str, said: str) -> None:
    (place / "perfledger.toml").write_text(text, "utf-8")
    done = run(core, place, "perfledger", "logs")
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
