"""The page of a log: which lines it shows, how they are marked, and that they stay text."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from perfledger.ingest.common.words import LANGUAGES, own, phrase
from perfledger.ingest.compute.results import results
from perfledger.ingest.site import addresses, builder
from perfledger.ingest.site.model import Site, site_of_runs
from perfledger.ingest.site.pages import log, pages
from perfledger.ingest.site.pages import run as run_page
from perfledger.ingest.site.run_tables import fact_line
from perfledger.schema.records import FactValue, Figures, NoFigure, Problem, Reason, Run
from perfledger.schema.redaction import redact
from perfledger.schema.redaction.rules import KINDS
from tests import builders
from tests.builders import edited

WORDS = own()
RESTART = {"reason": {"code": "steps_go_back", "args": {"first": "step 40", "second": "step 1"}}}
Shown = Callable[..., tuple[Site, Run]]


@pytest.fixture
def shown(tmp_path: Path) -> Shown:
    """Return a function that makes a site of one run with a log of the given bytes, and returns both."""

    def make(content: bytes, name: str = "train.log", **other: Any) -> tuple[Site, Run]:
        path = tmp_path / name
        path.write_bytes(content)
        run = builders.run("traced-1", **{"sha256": hashlib.sha256(content).hexdigest(), **other})
        return Site((run,), (), (), lambda _: (), logs={run.path: (path,)}), run

    return make


def text(site: Site, run: Run) -> str:
    return "\n".join(lines for _, lines in log.sections(run, log.visible_log(site, run)))


def line(written: str, number: int) -> str:
    """Return the HTML of one line without its anchors."""
    found = re.search(rf'<span id="L{number}"[^>]*>(?:<i id="[^"]+"></i>)*(.*?)\n</span>', written, re.DOTALL)
    assert found, f"no line {number}"
    return found[1]


def numbered(count: int) -> bytes:
    return b"".join(b"this is %d\n" % number for number in range(1, count + 1))


def test_a_short_log_is_shown_whole_with_the_lines_of_the_file(shown: Shown) -> None:
    site, run = shown(numbered(60))
    written = text(site, run)
    assert [int(each) for each in re.findall(r'<span id="L(\d+)"', written)] == [*range(1, 61)]
    assert all(line(written, number) == f"this is {number}" for number in range(1, 61))


def test_carriage_returns_and_form_feeds_do_not_count_as_lines(shown: Shown) -> None:
    site, run = shown(b"one\r\nbar 1\rbar 2\rbar 3\n\x0c\x0bthree\xe2\x80\xa8\xc2\x85\nfour")
    written = text(site, run)
    assert line(written, 1) == "one"
    assert line(written, 2) == "bar 1&#10;bar 2&#10;bar 3"
    assert "three" in line(written, 3)
    assert line(written, 4) == "four"
    assert log.visible_log(site, run).lines == 4


def test_a_long_log_is_shown_by_head_tail_and_linked_lines(shown: Shown) -> None:
    site, run = shown(numbered(40_000), lines=40_000)
    window = {"sustained": {"first_line": 9_000, "last_line": 31_000}}
    run = edited(run, figures=window, facts={"batch_size": {"where": "line 20000"}})
    found = log.visible_log(site, run)
    there = {each.number for span in found.ranges for each in span.lines}
    assert {1, log.HEAD, 9_000, 31_000, 20_000, 20_000 - log.AROUND, 40_000, 40_001 - log.TAIL} <= there
    assert not {log.HEAD + 1, 9_000 - log.AROUND - 1, 20_000 + log.AROUND + 1, 40_000 - log.TAIL} & there
    gaps = [each.skipped for each in found.ranges]
    assert sum(gaps) + len(there) + found.skipped == found.lines == 40_000
    written = text(site, run)
    assert line(written, 20_000) == "this is 20000"
    assert "counter-reset: pl-log 19987" in written


def test_every_anchor_that_is_linked_to_exists(shown: Shown) -> None:
    problem = {"code": "begun_anew", "path": "raw_logs/test/traced-1/train.log", "line": 7, "args": RESTART}
    for content in (numbered(60), numbered(5_000), b"changed since"):
        site, run = shown(content, problems=[problem], outcome="oom", outcome_line=4_990)
        if content == b"changed since":
            run = edited(run, sha256="0" * 64)
        run = edited(run, facts={"devices": {"source": "log", "where": "line 2"}})
        ids = set(re.findall(r'id="(L[^"]+)"', log.document(site, WORDS, run).decode()))
        assert {"L12-L43", "L3-L9", "L7", "L4990", "L2"} == {each.anchor for each in log.marks(run)}
        assert {each.anchor for each in log.marks(run)} <= ids


def test_the_window_and_the_lines_of_facts_problems_and_outcome_are_marked(shown: Shown) -> None:
    problem = {"code": "begun_anew", "path": "raw_logs/test/traced-1/train.log", "line": 50, "args": RESTART}
    site, run = shown(numbered(60), problems=[problem], outcome="oom", outcome_line=55)
    run = edited(run, facts={"devices": {"source": "log", "where": "line 2"}})
    written = text(site, run)
    classes = {int(number): said for number, said in re.findall(r'<span id="L(\d+)" class="([^"]+)"', written)}
    assert classes == {**dict.fromkeys(range(12, 44), "w"), 50: "p", 55: "o", 2: "f"}


def test_a_line_of_another_log_is_not_taken_for_one_of_this() -> None:
    assert fact_line(FactValue(8, "log", "line 148")) == 148
    assert fact_line(FactValue(8, "log", "raw_logs/other.log: line 148")) == 0
    run = builders.run("one-1", problems=[{"code": "empty", "path": "raw_logs/other.log", "line": 3, "args": {}}])
    assert sorted(each.kind for each in log.marks(run)) == ["other", "other", "other", "window"]


HOSTILE = [
    *(each.encode("utf-8", "replace") for each in builders.HOSTILE),
    b"<!-- --8<-- [end:lines-1] -->", b"</span></code></pre><script>alert(4)</script>",
    b"\xff\xfe\x80\x00\x01\x1b[31mred",
    b"klzzwxh:0001 \x02klzzwxh:0002\x03", b"<i id=\"L1\"></i>", b"\x1b]0;title\x07", b"{% raw %}{{ config }}",
]  # fmt: skip


@pytest.mark.parametrize("content", HOSTILE)
def test_a_hostile_line_stays_text(shown: Shown, content: bytes) -> None:
    site, run = shown(content + b"\nlast\n")
    written = text(site, run)
    ours = r'</?(?:pre|code|span|i|b)(?: [a-z]+="[\w :.;-]+")*>'
    inside = re.sub(ours, "", written, flags=re.MULTILINE)
    assert not set('<>"\x02\x03\x1b\x00') & set(inside)
    assert "--8<--" not in written
    assert written.count('id="L1"') == 1


@settings(deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_give_one_span_for_each_line(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.log"
    path.write_bytes(content or b"\n")
    content = path.read_bytes()
    run = builders.run("any-1", sha256=hashlib.sha256(content).hexdigest())
    site = Site((run,), (), (), lambda _: (), logs={run.path: (path,)})
    lines = content.count(b"\n") + (not content.endswith(b"\n"))
    assert [int(each) for each in re.findall(r'<span id="L(\d+)"', text(site, run))] == [*range(1, lines + 1)]


def test_secrets_are_taken_out_wherever_a_line_is_cut_or_coloured(shown: Shown) -> None:
    secret = b"hf_" + b"a1B2" * 10
    content = b"".join([
        b"token " + secret[:9] + b"\x1b[0m" + secret[9:] + b"\n",
        b"." * (log.FRONT - 10) + b" " + secret + b" " + b"." * 50_000 + b" " + secret + b"\n",
        b"api_key:\n   " + b"hunter2hunter2\n",
        b"x" * 1000 + b"\n",
        b"user at 10.1.2.3\n",
    ])  # fmt: skip
    site, run = shown(content)
    written = text(site, run)
    for each in (b"a1B2", b"hunter2", b"10.1.2.3"):
        assert each.decode() not in written
    assert "… +" in line(written, 2)


@pytest.mark.parametrize("before", [0, 4_960], ids=["shown", "between the shown lines"])
def test_a_log_with_a_private_key_is_hidden(shown: Shown, before: int) -> None:
    key = b"-----BEGIN RSA PRIVATE KEY-----\n" + b"MIIEsecretsecret\n" * 40 + b"-----END RSA PRIVATE KEY-----\n"
    site, run = shown(numbered(before) + key + numbered(30))
    assert log.visible_log(site, run).state == "private_key"
    assert text(site, run) == ""
    assert "contains a private key" in log.document(site, WORDS, run).decode()


def redacted(lines: list[str]) -> list[str]:
    """Return lines as a page shows them."""
    return redact.redacted_text(lines)[0]


@settings(deadline=None)
@given(st.lists(st.text(st.characters(exclude_characters="\n")), max_size=20))
def test_redaction_keeps_every_line_in_its_place(lines: list[str]) -> None:
    found = redacted([*lines, "password:", "hunter2"])
    assert len(found) == len(lines) + 2
    assert found[-1] != "hunter2"


def test_what_is_redacted_is_counted_by_kind(shown: Shown) -> None:
    token = "gh" + "p_" + "Qz7Wk3" * 6
    lines = f"a {token}\nat 10.0.0.1 and 10.0.0.2\nzgx-b7:1:2 [0] NCCL INFO x\nzgx-b7 again\n".encode()
    site, run = shown(lines)
    assert log.visible_log(site, run).taken == (("key", 1), ("address", 2), ("host", 2))
    assert line(text(site, run), 4) == "host-1 again"
    assert log.visible_log(*shown(numbered(9), "other.log")).taken == ()


def test_kinds_have_words() -> None:
    assert {f"taken.{kind}" for kind in KINDS} == {key for key in WORDS.entries if key.startswith("taken.")}


def test_a_long_line_is_cut_in_its_middle(shown: Shown) -> None:
    site, run = shown(b"ab " * 40_000 + b"the end\nnext\n")
    first = line(text(site, run), 1)
    front, more, back = re.split("<b>… \\+(.*) …</b>", first)
    assert front == "ab " * (log.FRONT // 3)
    assert back.endswith("ab the end")
    assert len(front) + int(more.replace(",", "")) + len(back) == 120_007
    assert line(text(site, run), 2) == "next"


def test_a_cut_word_is_hidden(shown: Shown) -> None:
    """Only the beginning of a secret shows that it is one."""
    token = "eyJhbGciOiJIUzI1NiJ9." + "x1Y2" * 400 + ".z3Z3"
    site, run = shown(("." * (log.FRONT - 60) + " " + token + " middle " + "," * 9000 + token + "\n").encode())
    assert "x1Y2" not in text(site, run)
    assert "z3Z3" not in text(site, run)


def test_a_huge_log_gives_a_small_page(shown: Shown) -> None:
    site, run = shown(b"x" * 3000 + b"\n" + (b"y" * 90 + b"\n") * 60_000)
    assert log.visible_log(site, run).lines == 60_001
    assert len(text(site, run)) < 200_000


def test_a_packed_log_is_shown_unpacked(shown: Shown) -> None:
    site, run = shown(gzip.compress(numbered(60)), "train.log.gz")
    assert line(text(site, run), 60) == "this is 60"


@pytest.mark.parametrize("state", ["changed", "unreadable", "gone"])
def test_a_log_that_changed_or_cannot_be_read_is_hidden(shown: Shown, state: str) -> None:
    site, run = shown(numbered(60))
    path = site.logs[run.path][0]
    if state == "changed":
        path.write_bytes(numbered(61))
    else:
        path.unlink()
    if state == "unreadable":
        path.mkdir()
    assert log.visible_log(site, run).state == ("changed" if state == "changed" else "unreadable")
    assert text(site, run) == ""


def test_the_log_that_was_read_is_shown_if_two_have_one_redacted_name(shown: Shown, tmp_path: Path) -> None:
    site, run = shown(numbered(60))
    other = tmp_path / "other.log"
    other.write_bytes(b"another\n")
    path = run.path
    both = Site((run,), (), (), lambda _: (), logs={path: (other, *site.logs[path])})
    assert line(text(both, run), 1) == "this is 1"


def test_a_pipe_is_never_opened(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe")
    run = builders.run("piped-1")
    site = Site((run,), (), (), lambda _: (), logs={run.path: (tmp_path / "pipe",)})
    assert log.visible_log(site, run).state == "unreadable"


def test_without_the_log_nothing_links_to_it() -> None:
    run = builders.run("one-1")
    site = Site((run,), (), (), lambda _: ())
    assert site.log_page(run) is None
    assert addresses.log_lines(site, run, 12, 43) is None


def test_the_proof_goes_from_the_log_to_the_figure(shown: Shown) -> None:
    site, run = shown(numbered(60))
    run = edited(run, facts={"batch_size": {"source": "log", "where": "line 3"}})
    for language, said in (("en", "lines 12–43"), ("zh", "第 12–43 行")):
        steps = run_page.steps(site, run)
        names = ("log", "format", "facts", "window", "rule", "arithmetic", "figure", "repeat_it")
        assert [each.name for each in steps] == [phrase(f"proof.{name}") for name in names]
        window = next(each for each in steps if each.name == phrase("proof.window"))
        assert WORDS.say(language, window.parts[0].text) == said
        assert window.parts[0].page == "../logs/traced-1.html#L12-L43"
        facts = next(each for each in steps if each.name == phrase("proof.facts"))
        assert "../logs/traced-1.html#L3" in [each.page for each in facts.parts]
        assert WORDS.say(language, steps[-2].parts[0].text) == "400.0 images/s"
        assert (steps[-1].code, steps[-1].parts[0].page) == (
            "python train.py --batch-size 64",
            "runs/traced-1.md#repeat",
        )


def test_the_repeats_of_a_run_are_those_of_its_result() -> None:
    """Runs of other versions, and runs that are in no table, do not count."""
    refused = {"code": "contradiction", "path": "x", "line": 1, "args": {}}
    runs = (
        builders.run("a-1", environment={"framework_version": "1.0"}),
        builders.run("a-2", environment={"framework_version": "1.0"}, repeat=2),
        builders.run("a-3", environment={"framework_version": "2.0"}),
        builders.run("a-4", environment={"framework_version": "1.0"}, published=False, problems=[refused]),
    )
    site = site_of_runs(runs)
    made = {each.path: each.context() for each in pages(site) if each.template == "run"}
    told = {path: [each.page for each in shown.repeats] for path, shown in made.items()}
    first, second, *others = ("runs/a-1.md", "runs/a-2.md", "runs/a-3.md", "runs/a-4.md")
    assert told == {first: [second], second: [first], **{each: [] for each in others}}
    assert [WORDS.say("en", each.text) for each in made[first].repeats] == ["run 2"]
    heading = WORDS.say("en", made[first].heading)
    assert heading == f"PyTorch, ResNet-50 v1.5, 1 × {builders.HARDWARE}, FP32, run 1"
    assert WORDS.say("en", made[first].configuration) == "batch size 64"
    counted = {each.run_ids[0]: each.repeats for each in results(runs)}
    assert counted == {"a-1": 2, "a-3": 1}


def test_a_run_without_a_figure_says_why(shown: Shown) -> None:
    site, run = shown(numbered(60))
    run = replace(run, figures=Figures(sustained=NoFigure(Reason("no_records"))))
    last = run_page.steps(site, run)[-1]
    assert "no training record" in WORDS.say("en", last.parts[0].text)
    assert "没有带速度或时间的训练记录" in WORDS.say("zh", last.parts[0].text)


def test_both_languages_link_to_one_page_of_a_log_that_names_the_run_in_both(shown: Shown, tmp_path: Path) -> None:
    site, _ = shown(numbered(60))
    out = tmp_path / "docs"
    builder.build(site, out, tmp_path / "cache.sqlite")
    for language in LANGUAGES:
        assert '<a href="../../logs/traced-1.html#L' in (out / language / "runs/traced-1.md").read_text("utf-8")
    page = (out / "logs/traced-1.html").read_text("utf-8")
    assert 'href="../runs/traced-1/"' in page
    assert 'href="../zh/runs/traced-1/"' in page
    assert len(re.findall(r'<span id="L\d+"', page)) == 60


def test_a_log_is_read_again_only_when_something_about_it_changed(
    shown: Shown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, run = shown(numbered(60))
    out, cache = tmp_path / "docs", tmp_path / "cache.sqlite"
    builder.build(site_of_runs([run], logs=site.logs), out, cache)
    read: list[Path] = []

    def recorded(path: Path) -> Any:
        read.append(path)
        return path.open("rb")

    monkeypatch.setattr(log, "open_log", recorded)
    assert not builder.build(site_of_runs([run], logs=site.logs), out, cache).written
    assert not read
    run = edited(run, facts={"batch_size": {"where": "line 5"}})
    written = builder.build(site_of_runs([run], logs=site.logs), out, cache).written
    assert "logs/traced-1.html" in written
    assert len(read) == 1


def test_a_lost_log_changes_its_page(shown: Shown, tmp_path: Path) -> None:
    site, run = shown(numbered(60))
    out, cache = tmp_path / "docs", tmp_path / "cache.sqlite"
    builder.build(site_of_runs([run], logs=site.logs), out, cache)
    site.logs[run.path][0].unlink()
    assert "logs/traced-1.html" in builder.build(site_of_runs([run], logs=site.logs), out, cache).written
    builder.build(site_of_runs([run], logs=site.logs), out, cache)
    page = (tmp_path / "docs/logs/traced-1.html").read_text("utf-8")
    assert "cannot be read now" in page
    assert "this is 1" not in page


def test_a_problem_leads_to_its_line_in_the_session_that_has_it(shown: Shown) -> None:
    site, first = shown(numbered(60), sessions=2)
    problem = Problem("begun_anew", first.path, 31, RESTART)
    second = replace(first, id="traced-2", session=2, problems=(problem,))
    both = Site((first, second), (), (), lambda _: (), logs=site.logs)
    assert addresses.problem_place(both, problem) == "../logs/traced-2.html#L31"
    assert addresses.problem_place(both, replace(problem, line=0, args={"x": 1})) == "runs/traced-1.md"
    said = [WORDS.say("en", each.what) for each in log.marks(second)]
    assert any("contains a second run, as this line shows" in each for each in said)
