"""The data of the page of all runs: columns that agree with the runs, in parts that change with their own runs only."""

from __future__ import annotations

import gzip
import html
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from perfledger.ingest.common import words
from perfledger.ingest.common.words import LANGUAGES, coded, phrase
from perfledger.ingest.site import run_tables
from perfledger.ingest.site.addresses import served
from perfledger.ingest.site.data import explorer
from perfledger.ingest.site.hardware_names import product
from perfledger.ingest.site.model import Site, precision_name
from perfledger.ingest.site.pages import runs as page
from perfledger.ingest.site.render.text import file_slug, plain
from perfledger.ingest.site.run_paging import Limits
from perfledger.schema.records import Run
from tests import builders
from tests.site import markup
from tests.site.test_scale import many, site_of

WORDS = words.load()
Rows = list[dict[str, Any]]


def files(site: Site) -> dict[str, bytes]:
    return explorer.files(site, WORDS)


def column(given: Any, count: int) -> list[Any]:
    """Return a column with an entry per run, as the page's script reads it."""
    if isinstance(given, list):
        return given
    assert len(given["at"]) == count
    return [given["of"][place] for place in given["at"]]


def rows_of(document: Mapping[str, Any]) -> Rows:
    count = len(document["id"]) if isinstance(document["id"], list) else 1
    columns = {name: column(each, count) for name, each in document.items()}
    assert {len(each) for each in columns.values()} == {count}
    return [{name: each[index] for name, each in columns.items()} for index in range(count)]


def rows(found: Mapping[str, bytes], *, details: bool = False) -> dict[str, dict[str, Any]]:
    """Return what all parts of the table hold, or those of details, by the run's id."""
    chosen = [content for name, content in found.items() if ("details_" in name) is details]
    held = [row for content in chosen for row in rows_of(json.loads(gzip.decompress(content)))]
    assert len({row["id"] for row in held}) == len(held)
    return {row["id"]: row for row in held}


def said(value: str | list[str], language: str) -> str:
    return value if isinstance(value, str) else value[LANGUAGES.index(language)]


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explorer, "SIZE", 20)
    monkeypatch.setattr(explorer, "MOST", 25)


# ---- columns ----


@pytest.mark.parametrize("runs", [builders.runs(), builders.hostile()], ids=["made up", "hostile"])
def test_the_columns_say_what_the_runs_say(runs: list[Run]) -> None:
    site = site_of(runs)
    found = rows(files(site))
    assert found.keys() == {run.id for run in runs}
    for run in runs:
        row, case = found[run.id], run.case
        assert row["page"].replace("*", row["slug"] or run.id) == served(site.page(run))
        assert row["log"] == plain(run.path)
        shown = (case.model, case.framework, product(case.hardware or ""), precision_name(case.precision))
        assert [said(row[name], "en") for name in ("model", "framework", "hardware", "precision")] == [
            plain(WORDS.say("en", each or "")) for each in shown
        ]
        assert dict(each.split("=", 1) for each in row["facts"].split("\n"))["devices"] == str(case.devices)
        assert [row[name] for name in ("devices", "batch_size")] == [case.devices, case.batch_size]
        assert row["machines"] is None
        assert row["date"] == "2026-01-01"


def test_facts_that_are_not_known_are_empty() -> None:
    facts = dict.fromkeys(("model", "framework", "hardware", "devices", "batch_size", "precision"))
    unknown = builders.edited(builders.run("unknown"), case=facts, start=None)
    row = rows(files(site_of([unknown, builders.run("known")])))["unknown"]
    assert [row[name] for name in (*facts, "date")] == [None] * 7
    assert row["facts"].split("\n") == [
        "model=other", "hardware=?", "precision=unknown", "devices=0", "framework=?", "outcome=completed"
    ]  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_shown_of_a_run_is_what_its_page_shows(built: Path, language: str) -> None:
    found = rows({each.name: each.read_bytes() for each in (built / "docs" / "data" / "explorer").iterdir()})
    assert len(found) == len(builders.runs())
    headlines = 0
    for row in found.values():
        text = (built / "docs" / language / "runs" / f"{row['id']}.md").read_text("utf-8")
        visible = html.unescape(re.sub(r"<[^>]+>", "", text))
        headline = re.search(r'class="pl-headline"><b>([^<]+)</b>([^<]*)', text)
        if row["figure"] is None:
            assert headline is None
            assert said(row["why"], language).rstrip(".。") in visible, row["id"]
        else:
            headlines += 1
            assert headline is not None, row["id"]
            assert (headline[1], headline[2].split()[0]) == (row["figure"], row["unit"])
        assert said(row["said"], language) in visible
    assert headlines == len(found) - 2


def test_options_and_outcomes_are_in_words_of_both_languages() -> None:
    early = {"unit": "epoch", "done": 3, "total": 90}
    run = builders.run("a", options={"dali": False, "threads": 2}, outcome="truncated", progress=early)
    (row,) = rows(files(site_of([run]))).values()
    assert row["options"] == ["DALI off, threads 2", "DALI 关闭、线程数 2"]
    assert row["said"] == ["ended early: epoch 3 of 90", "提前结束：第 3 个 epoch，共 90 个"]


def test_runs_on_several_machines_say_so() -> None:
    run = builders.edited(builders.run("a", devices=16), case={"nodes": 2})
    (row,) = rows(files(site_of([run]))).values()
    assert row["machines"] == ["16 on 2 machines", "2 机共 16 个设备"]


def test_a_run_without_a_page_leads_to_where_it_is_shown() -> None:
    site = site_of(many(60))
    others = [run for run in site.runs if not site.has_page(run)]
    assert len(others) == 40
    found = rows(files(site))
    for run in others:
        assert found[run.id]["page"] == "runs/?run=*"
        assert found[run.id]["page"].replace("*", run.id) == served(site.page(run))


# ---- what is shown on demand ----


def shown(site: Site) -> dict[str, dict[str, Any]]:
    """Return the details of all runs that have some, by the run's id."""
    return rows(files(site), details=True)


def test_details_are_of_the_runs_without_a_page_and_of_no_others() -> None:
    site = site_of([*many(60), *builders.hostile()])
    assert shown(site).keys() == {run.id for run in site.runs if not site.has_page(run)}
    assert not shown(site_of(many(20)))


def test_details_say_what_leads_from_a_figure_to_the_lines_of_its_log() -> None:
    site = site_of(many(60), shards={run.id: "made-up.jsonl" for run in many(60)})
    found = shown(site)
    for identifier, row in found.items():
        run = site.by_id[identifier]
        figure = run.figure("sustained")
        assert figure is not None
        assert (row["log"], row["sha256"], row["arithmetic"]) == (run.path, run.sha256[:12], figure.arithmetic)
        assert (row["figure"], row["unit"]) == (f"{figure.value:.1f}", figure.unit)
        assert row["window"] == [
            "lines 12–43, 32 records used, 8 excluded as warm-up",
            "第 12–43 行、采用 32 条记录，另有 8 条作为预热不计入",
        ]
        assert row["command"] == f"python -m ingest explain {run.path}"
        assert (row["shard"], row["session"], row["problems"]) == ("made-up.jsonl", None, None)
        assert said(row["tables"], "en") == "included"
    assert found["bert-base-case0009-2"]["report"] == "models/bert/"
    assert found["bert-base-case0009-2"]["title"] == [
        "PyTorch, BERT-base pre-training, 1 × Test accelerator (made up), FP32, batch size 64, Configuration 9, run 2",
        "PyTorch、BERT-base 预训练、1 × Test accelerator (made up)、FP32、单设备 batch size 64、配置 9、第 2 次",
    ]


def test_details_of_a_run_without_a_figure_say_why_and_what_is_wrong() -> None:
    path = "raw_logs/a b/train.log"
    args = {"fact": "devices", "first": 8, "first_source": "run.json", "second": 16, "second_source": "log"}
    troubles = (
        {"code": "empty", "path": path, "args": {}},
        {"code": "contradiction", "path": path, "line": 3, "args": args},
    )
    run = builders.run(
        "z-last", figures={"sustained": builders.absent("not_stated", missing="summary")}, problems=list(troubles),
        path=path, session=2, sessions=3, published=False,
    )  # fmt: skip
    site = site_of([*many(60), run], Limits(pages=1))
    row = shown(site)["z-last"]
    assert [row[name] for name in ("figure", "window", "arithmetic", "rule")] == [None] * 4
    assert row["session"] == ["session 2 of 3", "第 2 个会话（共 3 个）"]
    assert row["command"] == f"python -m ingest explain '{path}'"
    for language in LANGUAGES:
        told = [
            WORDS.say(language, phrase("explorer.problem", place=run_tables.place(each), said=coded("problem", each)))
            for each in run.problems
        ]
        assert said(row["problems"], language).split("\n") == told
        assert said(row["why"], language) == WORDS.say(language, run_tables.why_absent(run) or "")
    assert said(row["tables"], "en") == "not included"


def test_parts_of_details_are_small_and_in_the_order_of_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explorer, "DETAILED", 20)
    monkeypatch.setattr(explorer, "MOST_DETAILED", 25)
    parts = explorer.details(site_of(many(500)))
    assert 20 < len(parts) < 50
    assert max(len(each.runs) for each in parts) <= 25
    names = [file_slug(run.id) for each in parts for run in each.runs]
    assert names == sorted(names)
    assert [each.first for each in parts] == [file_slug(each.runs[0].id) for each in parts]
    assert len({each.details for each in parts}) == len(parts)


def test_what_many_runs_share_is_written_once() -> None:
    number = Limits().pages  # each has a page, and the list nothing more of it
    (content,) = files(site_of(many(number), Limits())).values()
    text = gzip.decompress(content)
    document = json.loads(text)
    assert document["framework"] == {"of": ["PyTorch"], "at": [0] * number}
    assert len(document["model"]["of"]) == 4
    assert text.count(b"BERT-base") == 1
    assert len(text) < 250 * number
    assert len(content) < len(text) / 5


# ---- parts ----


def test_runs_of_an_unknown_model_come_last() -> None:
    runs = [*builders.runs(), builders.edited(builders.run("a-unknown"), case={"model": None})]
    order = [run.id for part in explorer.parts(site_of(runs)) for run in part.runs]
    assert order[-1] == "a-unknown"
    assert order[:-1] == sorted(order[:-1], key=lambda each: next(run.case.model for run in runs if run.id == each))


@pytest.mark.usefixtures("small_parts")
def test_every_run_is_in_one_part_and_no_part_is_large() -> None:
    site = site_of(many(500))
    parts = explorer.parts(site)
    assert 20 < len(parts) < 50
    assert max(len(each.runs) for each in parts) <= 25
    assert sorted(run.id for each in parts for run in each.runs) == [run.id for run in site.runs]
    assert len({each.name for each in parts}) == len(parts)


def test_parts_of_very_many_runs_are_neither_many_nor_large() -> None:
    parts = list(explorer.cut([f"run-{number:06}" for number in range(40_000)], explorer.SIZE, explorer.MOST))
    assert max(map(len, parts)) <= explorer.MOST == 5000
    assert 8 <= len(parts) <= 20
    assert [each for part in parts for each in part] == [f"run-{number:06}" for number in range(40_000)]


@pytest.mark.usefixtures("small_parts")
def test_the_parts_do_not_depend_on_the_order_in_which_runs_were_read() -> None:
    runs = many(200)
    first = files(site_of(runs))
    site = Site(tuple(reversed(runs)), (), site_of([]).known, site_of([]).results, limits=site_of(runs).limits)
    assert files(site) == first == files(site_of(runs))


@pytest.mark.usefixtures("small_parts")
def test_a_changed_run_changes_its_part_alone() -> None:
    runs = many(300)
    before = files(site_of(runs))
    assert len(before) > 10
    for number in (0, 77, 299):
        changed = [builders.edited(run, start="2026-05-01T00:00:00Z") if at == number else run
                   for at, run in enumerate(runs)]  # fmt: skip
        after = files(site_of(changed))
        assert before.keys() == after.keys()
        changes = sorted(each for each in after if after[each] != before[each])
        assert len(changes) <= 2
        name, *details = changes
        assert all("/details_" in each for each in details)
        assert runs[number].id in rows({name: after[name]})


@pytest.mark.usefixtures("small_parts")
def test_one_more_run_changes_its_part_and_seldom_another() -> None:
    runs = many(1000)
    before = {each.name: each.runs for each in explorer.parts(site_of(runs))}
    changes = []
    for number in range(40):
        added = builders.run(f"bert-base-case{number * 5:04}-added", model="BERT-base")
        after = explorer.parts(site_of([*runs, added]))
        changes.append(sum(before.get(each.name) != each.runs for each in after))
    assert changes.count(1) >= 25
    assert sum(changes) / len(changes) < 4


# ---- the page ----


def config_of(path: Path) -> dict[str, Any]:
    (form,) = [each for each in markup.read(path).elements("form") if each.given.get("id") == "pl-explore"]
    found: dict[str, Any] = json.loads(form.given["data-config"])
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_names_the_parts_that_are_there_and_what_they_hold(built: Path, language: str) -> None:
    config = config_of(built / "docs" / language / "runs" / "index.md")
    folder = built / "docs" / "data" / "explorer"
    assert {f"{name}{explorer.ENDING}" for name, _ in config["parts"]} == {each.name for each in folder.iterdir()}
    for name, count in config["parts"]:
        held = rows_of(json.loads(gzip.decompress((folder / f"{name}{explorer.ENDING}").read_bytes())))
        assert len(held) == count
    assert config["language"] == language
    assert {key.partition(".")[0] for key in config["words"]} == {"explorer"}


def test_each_fact_can_be_chosen_among_the_values_of_the_runs() -> None:
    runs = [*builders.runs(), builders.edited(builders.run("no-precision"), case={"precision": None, "devices": None})]
    (found,) = page.pages(site_of(runs))
    groups = {each.name: each for each in found.context().chips}  # type: ignore[union-attr]
    listed = {name: groups[name].lists[0][1] for name in ("model", "hardware")}
    chips = {name: each.chips or listed[name] for name, each in groups.items()}
    words_of = {name: [WORDS.say("en", each.label) for each in of] for name, of in chips.items()}
    assert words_of["precision"] == ["FP32", "Mixed and half precision", "Precision not known"]
    assert words_of["devices"] == ["1", "8", "not known"]
    assert words_of["outcome"] == ["completed", "out of memory"]
    assert {each.value for each in chips["framework"]} == {run.case.framework for run in runs}
    assert all(sum(each.count or 0 for each in of) == len(runs) for of in chips.values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_scripts_the_page_of_few_runs_leads_to_each_of_them(built: Path, language: str) -> None:
    text = (built / "docs" / language / "runs" / "index.md").read_text("utf-8")
    below = text.partition('<div class="pl-explore-still"')[2]
    assert sorted(set(re.findall(r'href="([\w-]+)\.md"', below))) == sorted(run.id for run in builders.runs())
