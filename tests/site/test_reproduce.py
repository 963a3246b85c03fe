"""How to repeat a run: the commands from run.json, once per recipe, on the pages of models and runs."""

from __future__ import annotations

import html
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from perfledger.ingest.common.words import own, phrase
from perfledger.ingest.site import model_tables as tables
from perfledger.ingest.site import reproduce
from perfledger.ingest.site.model import site_of_runs
from perfledger.ingest.site.pages import run as run_page
from perfledger.ingest.site.result_lines import slices
from perfledger.schema.records import Run
from tests import builders
from tests.site import markup
from tests.site.shown import only

WORDS = own()
TOLD = builders.TOLD
AGAIN = (
    "python -m runners run resnet50-pytorch --on ssh:HOST1,HOST2 "
    "--case 'nodes=2,devices=2,batch_size=32,title=it'\"'\"'s $(here), \"b\"' --container docker --data /path/to/data"
)
EXECUTED = (
    "OMP_NUM_THREADS=1 TITLE='a b' docker run torchrun --node-rank '{node_rank}' train.py --title 'it'\"'\"'s $(here)'"
)


def told(identifier: str, batch_size: int = 64, **other: Any) -> Run:
    """Return a run on one machine by a recipe."""
    plain = {"case": {"batch_size": str(batch_size)}, "container": None, "data": False}
    recipe = {**TOLD["recipe"], **plain, **other.pop("recipe", {})}
    argv = ["python", "train.py", "--batch-size", str(batch_size)]
    variables = {"OMP_NUM_THREADS": "1"}
    return builders.run(
        identifier, batch_size=batch_size, recipe=recipe, argv=argv, environment_variables=variables, **other
    )


def blocks(*runs: Run) -> list[reproduce.Block]:
    return reproduce.blocks(site_of_runs(runs), runs)


def said(text: Any, language: str = "en") -> str:
    return WORDS.say(language, text)


def read(page: Path) -> str:
    """Return the readable text of a built page, with runs of white space folded."""
    return " ".join(markup.article(page / "index.html").text().split())


def test_a_recipe_is_shown_once_with_a_line_for_each_case() -> None:
    runs = [told(f"a-{size}-{repeat}", size, repeat=repeat) for size in (64, 128) for repeat in (1, 2, 3)]
    (block,) = blocks(*runs)
    assert block.again == tuple(
        f"python -m runners run resnet50-pytorch --on local --case batch_size={size}" for size in (128, 64)
    )
    assert said(block.title) == "PyTorch, recipe resnet50-pytorch (configurations: 2, runs: 6)"
    assert block.install == tuple(TOLD["recipe"]["setup"])
    assert block.setup == "python -m runners setup resnet50-pytorch --on local"
    assert [(each.code, each.run.text) for each in block.executed] == [
        ("OMP_NUM_THREADS=1 python train.py --batch-size 128", "a-128-1")
    ]
    assert [said(each) for each in block.facts] == [
        f"Code: test @ {'0' * 40}", "Launcher of the recipe (if it starts several ranks): torchrun",
    ]  # fmt: skip
    assert (block.more, block.hosts, block.late) == (0, False, False)


def test_a_recipe_that_changed_since_is_another() -> None:
    found = blocks(told("a-1"), told("a-2", 128), told("b-1", recipe={"sha256": "cd" * 32}))
    assert [len(each.again) for each in found] == [2, 1]


def test_a_case_on_one_device_that_needs_no_launcher_is_of_the_same_recipe() -> None:
    (block,) = blocks(told("a-1", recipe={"launcher": "plain"}), told("a-2", 128))
    assert len(block.again) == 2
    assert [said(each) for each in block.facts if "auncher" in said(each)] == [
        "Launcher of the recipe (if it starts several ranks): torchrun"
    ]


def test_what_completed_is_shown_as_it_was_executed() -> None:
    (block,) = blocks(told("a-1", 512, outcome="oom"), told("a-2", 64))
    assert block.executed[0].run.text == "a-2"


def test_runs_without_a_recipe_are_shown_by_their_commands() -> None:
    runs = [builders.run(f"a-{size}-{n}", batch_size=size) for size in (64, 128) for n in (1, 2)]
    found = blocks(*runs, told("z-1"))
    assert [bool(each.again) for each in found] == [True, False]
    block = found[1]
    assert said(block.title) == "PyTorch, without a recipe (configurations: 2, runs: 4)"
    assert [(each.code, [said(case).strip() for case in each.cases]) for each in block.executed] == [
        (f"python train.py --batch-size {size}", [f"1 device, batch size {size}, FP32"]) for size in (128, 64)
    ]
    assert (block.setup, block.install) == ("", ())


def test_a_run_without_a_known_command_has_no_block() -> None:
    assert blocks(builders.run("a-1", argv=None)) == []


def test_a_folder_of_data_is_left_to_the_reader() -> None:
    (block,) = blocks(told("a-1", recipe={"data": True}))
    assert block.again[0].endswith(" --case batch_size=64 --data /path/to/data")
    assert (block.data, blocks(told("a-1"))[0].data) == (True, False)


def test_no_more_cases_than_a_page_can_bear() -> None:
    many = [told(f"a-{size}", size) for size in range(1, 91)]
    (block,) = blocks(*many)
    assert (len(block.again), block.more) == (reproduce.CASES_SHOWN, 90 - reproduce.CASES_SHOWN)
    stated = [builders.run(f"b-{size}", batch_size=size) for size in range(1, 11)]
    (block,) = blocks(*stated)
    assert (len(block.executed), block.more) == (reproduce.COMMANDS_SHOWN, 10 - reproduce.COMMANDS_SHOWN)


def test_commands_are_those_of_a_shell() -> None:
    run = builders.edited(builders.run("a-1", **TOLD), case={"nodes": 2})
    assert (reproduce.command(run), reproduce.executed(run)) == (AGAIN, EXECUTED)
    words = shlex.split(AGAIN)
    assert words[7:9] == ["--case", 'nodes=2,devices=2,batch_size=32,title=it\'s $(here), "b"']
    (block,) = blocks(run)
    assert (block.hosts, block.late) == (True, True)
    assert block.setup.endswith("--on ssh:HOST1,HOST2")
    assert [said(each) for each in block.facts][:2] == [
        f"Code: example/trainer @ {'d' * 40}, with local changes",
        f"Image: example.org/torch:1@sha256:{'c' * 64}",
    ]


@pytest.mark.parametrize("language", ["", "zh/"])
@pytest.mark.parametrize("page", ["runs/logged-1/", "models/resnet50/"])
def test_the_pages_say_how_to_run_it_again(whole: Path, page: str, language: str) -> None:
    written = (whole / language / page / "index.html").read_text("utf-8")
    blocks = [
        html.unescape(each) for each in re.findall(r'<pre class="pl-code"[^>]*><code>(.*?)</code></pre>', written)
    ]
    assert AGAIN in blocks
    assert EXECUTED in blocks
    assert "\n".join(TOLD["recipe"]["setup"]) in blocks
    assert "python -m runners setup resnet50-pytorch --on ssh:HOST1,HOST2" in html.unescape(written)
    text = read(whole / language / page)
    for fact in (f"example/trainer @ {'d' * 40}", f"example.org/torch:1@sha256:{'c' * 64}"):
        assert fact in text
    assert ("with local changes" if not language else "有改动") in text
    assert ("with the folder of the data set" if not language else "请换成你机器上数据集所在的目录") in text


@pytest.mark.parametrize("language", ["", "zh/"])
def test_older_runs_say_that_they_have_no_recipe(whole: Path, language: str) -> None:
    text = read(whole / language / "models/resnet50/")
    assert ("taken from run.json" if not language else "以 run.json 所记为准") in text


def test_the_proof_ends_with_the_command_that_repeats_it() -> None:
    run = builders.edited(builders.run("a-1", **TOLD), case={"nodes": 2})
    last = run_page.steps(site_of_runs([run]), run)[-1]
    assert (last.name, last.code) == (phrase("proof.repeat_it"), AGAIN)
    plain = builders.run("a-2", argv=None)
    assert run_page.steps(site_of_runs([plain]), plain)[-1].name == phrase("proof.figure")


# ---- further facts of a run ----


@pytest.mark.parametrize(
    ("language", "wanted"),
    [
        ("", ["Launcher warnings", "at least 30; 40 found", "node1: stopped", "All installed packages (2)",
              "resnet50-pytorch (SHA-256 abababababab)", "mlx5_0: 100 Gb/sec", "NV12", "GPU ECC"]),
        ("zh/", ["启动器警告", "至少 30 条，实得 40 条", "node1：被中止", "全部已安装的软件包（2 个）",
                 "resnet50-pytorch (SHA-256 abababababab)", "mlx5_0: 100 Gb/sec", "NV12", "GPU ECC"]),
    ],
)  # fmt: skip
def test_the_page_of_a_run_shows_the_notes_of_the_runner(whole: Path, language: str, wanted: list[str]) -> None:
    text = read(whole / language / "runs/logged-1/")
    assert [each for each in wanted if each not in text] == []
    page = (whole / language / "runs/logged-1/index.html").read_text("utf-8")
    assert '<li lang="en">the power limits of the nodes differ: 300, 250</li>' in page


def test_a_warning_speaks_against_an_answer() -> None:
    runs = [
        told("a-1", warnings=["clocks differ"]),
        told("a-2", repeat=2),
        builders.run("b-1", framework="JAX", speed=1.0),
    ]
    site = site_of_runs(runs)
    (mark,) = [each for each in only(site).line.marks if "warnings" in each.page]
    assert (said(mark.text), mark.page) == ("1 run has launcher warnings", "runs/a-1.md#warnings")


def test_the_page_of_a_disturbed_run_says_that_it_is_left_out_and_why() -> None:
    busy = ["the processors of this host are 51 % busy before the run: something else computes here"]
    left_out = told("a-1", disturbances=busy, published=False, sound=True)
    counted = told("a-2", repeat=2, disturbances=busy, accept_disturbed=True)
    site = site_of_runs([left_out, counted, builders.run("b-1", framework="JAX", speed=1.0)])
    (sign,) = [each for each in run_page.signs(site, left_out) if each.parts[0].page == "runs/a-1.md#disturbances"]
    assert (said(sign.parts[0].text), said(sign.parts[0].text, "zh"), sign.tone) == (
        "excluded: disturbed by other work", "未收录：受其他任务干扰", "bad",
    )  # fmt: skip
    (page,) = [each for each in run_page.pages(site) if each.path == "runs/a-1.md"]
    shown = page.context()
    assert isinstance(shown, run_page.RunPage)
    assert (shown.run.disturbances, shown.run.disturbed) == (tuple(busy), True)
    # One that was accepted counts, and the answer that rests on it says so.
    (mark,) = [each for each in only(site).line.marks if "disturbances" in each.page]
    assert (said(mark.text), mark.page) == ("1 run has launcher warnings", "runs/a-2.md#disturbances")


def test_the_order_of_keys_in_a_run_json_changes_no_command() -> None:
    case = {"title": "x", "batch_size": "64", "threads": "1", "devices": "1", "nodes": "1"}
    texts = {
        reproduce.command(told("a-1", recipe={"case": dict(pairs)}))
        for pairs in (case.items(), sorted(case.items()), reversed(case.items()))
    }
    (text,) = texts
    assert text.endswith("--case nodes=1,devices=1,batch_size=64,threads=1,title=x")


@pytest.mark.parametrize(
    ("outcome", "shown"),
    [("short", ("too few records", "记录不足")), ("timeout", ("timed out", "超时")), ("stopped", ("stopped", "被中止")),
     ("oom", ("OOM", "OOM"))],
)  # fmt: skip
def test_the_cell_of_a_run_that_did_not_end_well_says_how_it_ended(outcome: str, shown: tuple[str, str]) -> None:
    site = site_of_runs([told("a-1", outcome=outcome), builders.run("b-1", framework="JAX")])
    suite = site.suite_of["a-1"]
    (of,) = slices(site, suite)
    cells = [each for row in tables.results(site, suite, of).rows for each in row]
    (entry,) = [each.entries[0] for each in cells if each.entries and each.entries[0].tone == "bad"]
    assert tuple(said(entry.text, language) for language in ("en", "zh")) == shown
    assert entry.page == "runs/a-1.md"
