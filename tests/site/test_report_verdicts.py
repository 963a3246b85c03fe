"""Verdicts of the audit in rebuilt reports: a sign at each figure whose log was read, and a line that counts them."""

from __future__ import annotations

import html
import re
from functools import cache

import pytest

from perfledger.ingest.common import words
from perfledger.ingest.published.audit import OTHER_LOG, OTHER_RULE, REPRODUCED, UNSUPPORTED, Audited
from perfledger.ingest.site import addresses, report_verdicts
from perfledger.ingest.site.model import Site
from perfledger.ingest.site.pages import audit as audit_page
from perfledger.ingest.site.render import jinja
from tests.site.test_reports import LANGUAGES, cut_of, figures, markdown, named, site_of

WORDS = words.load()


@cache
def site() -> Site:
    return site_of(figures())


def of_verdict(verdict: str) -> Audited:
    return next(each for each in site().audited if each.run and each.verdict == verdict)


def shown(report: str, language: str) -> list[tuple[str, str, str]]:
    """Return address, words and sign of each verdict on a page."""
    page = markdown()[language, f"reports/{report}.md"]
    found = re.findall(r'<a class="pl-verdict[^"]*" href="([^"]+)" title="([^"]+)" aria-label="\2">([^<]+)</a>', page)
    return [tuple(map(html.unescape, each)) for each in found]


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_figure_with_a_log_has_a_sign_that_leads_to_its_row_of_the_audit(language: str) -> None:
    rows = cut_of(named("perf-resnet50")).rows
    wanted = {addresses.audit_anchor(each.row) for each in site().audited if each.run and each.row in rows}
    found = {address for address, _, _ in shown("perf-resnet50", language)}
    assert len(wanted) == 28
    assert {each.partition("#")[2] for each in found} == wanted
    (page,) = audit_page.pages(site())
    written = list(jinja.rendered(WORDS, page))[LANGUAGES.index(language)]
    assert [each for each in wanted if f'id="{each}"' not in written] == []


def test_a_line_counts_the_verdicts_of_a_report_and_leads_to_them() -> None:
    assert "28 of 46 printed values name a log" in markdown()["en", "reports/perf-resnet50.md"]
    found = report_verdicts.line(site(), cut_of(named("perf-resnet50")).rows)
    assert found
    assert [(sign, WORDS.say("en", each.text), each.page) for sign, each in found.counts] == [
        ("✓", "16 reproduced", "audit.md?source=PaddlePaddle%2FPerf&verdict=reproduced"),
        ("≈", "10 by another rule", "audit.md?source=PaddlePaddle%2FPerf&verdict=reproduced_by_another_rule"),
        ("", "2 not supported", "audit.md?source=PaddlePaddle%2FPerf&verdict=not_supported"),
    ]


@pytest.mark.parametrize(("language", "said"), [("en", "we recomputed none of them"), ("zh", "均未重新计算")])
def test_a_report_without_logs_says_so(language: str, said: str) -> None:
    assert said in markdown()[language, "reports/fluid-guide.md"]
    assert shown("fluid-guide", language) == []
    assert said not in markdown()[language, "reports/perf-deeplabv3p-pending.md"], "it has no values"


def test_the_sign_of_a_value_that_its_log_does_not_support_is_the_difference() -> None:
    found = of_verdict(UNSUPPORTED)
    assert found.house
    sign = report_verdicts.signs(site())[id(found.row)]
    assert str(sign.text).rstrip("%").lstrip("+−") == f"{abs(found.house.difference) * 100:.1f}"
    assert sign.tone == "warn"
    assert WORDS.say("en", sign.means).startswith("not supported by its log: the rule “sustained” gives ")


@pytest.mark.parametrize(
    ("verdict", "sign", "tone"), [(REPRODUCED, "✓", ""), (OTHER_RULE, "≈", ""), (OTHER_LOG, "≠", "warn")]
)
def test_other_verdicts_have_a_sign_with_words(verdict: str, sign: str, tone: str) -> None:
    found = report_verdicts.signs(site())[id(of_verdict(verdict).row)]
    assert (found.text, found.tone) == (sign, tone)
    assert WORDS.say("en", found.means).startswith(WORDS.text("en", f"verdict.{verdict}"))
