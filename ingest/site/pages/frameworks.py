"""The page of each framework over all models and hardware, for those who make it; and their list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from perfledger.ingest.common import numbers, project
from perfledger.ingest.common.words import LANGUAGES, Text, Words, phrase
from perfledger.ingest.compute.history import natural
from perfledger.ingest.compute.results import version
from perfledger.ingest.site import addresses, framework_tables, history, scorecards
from perfledger.ingest.site.audit_cases import AuditCase
from perfledger.ingest.site.data import badges
from perfledger.ingest.site.data.measured import newest_day
from perfledger.ingest.site.hardware_names import newest_first, product
from perfledger.ingest.site.model import Page, Site, framework_of, named
from perfledger.ingest.site.render import share
from perfledger.ingest.site.render.chart import Chart
from perfledger.ingest.site.render.share import Picture
from perfledger.ingest.site.render.table import Link, Table, cell
from perfledger.ingest.site.result_tables import day_of, representative
from perfledger.ingest.site.scorecards import Score
from perfledger.ingest.site.table_of import ColumnOf, table_of

#: Placeholder for the address of the site, which only its build knows.
SITE = "%SITE%/"
#: Badges of a page, at most.
BADGES = 5


@dataclass(frozen=True)
class FrameworksIndex:
    """The list of frameworks."""

    frameworks: Table | None


@dataclass(frozen=True)
class Badge:
    """A badge: its picture, its text, and the code that shows it."""

    path: str
    label: str
    code: str


@dataclass(frozen=True)
class FrameworkPage:
    """The page of a framework; with few comparisons, these come after the other results.

    `throughput` is what others published, and `cases` are those with a log. `picture` and `snippets` are by language.
    """

    framework: Text
    versions: Text
    facts: tuple[tuple[str, Text], ...]
    is_telling: bool
    ratios: Chart | None
    comparisons: Table | None
    newest: Table | None
    throughput: Table | None
    cases: tuple[AuditCase, ...]
    changed: Table | None
    models: tuple[Link, ...]
    histories: tuple[Link, ...]
    badges: tuple[Badge, ...]
    picture: Mapping[str, str]
    snippets: Mapping[str, str]
    audit_page: str


def pages(site: Site) -> list[Page]:
    """Return the list of frameworks, and a page for each."""
    described = phrase("nav.frameworks"), phrase("describe.frameworks")
    index = Page(addresses.FRAMEWORKS, "frameworks", *described, partial(_index, site), order=0)
    return [index, *(_page(site, each) for each in site.once(scorecards.frameworks))]


def _index(site: Site) -> FrameworksIndex:
    scores = site.once(scorecards.scores)
    results = Counter(row.framework for rows in site.rows.values() for row in rows if numbers.known(row.value))
    published = Counter(row.framework for row in site.published.rows if row.value is not None)
    columns = (
        ColumnOf[str](phrase("table.framework"), lambda each: cell(named(each), addresses.scorecard_page(site, each))),
        ColumnOf[str](phrase("scorecard.versions"), partial(_versions, site)),
        ColumnOf[str](phrase("scorecard.results"), lambda each: results[each] or None, True),
        ColumnOf[str](phrase("scorecard.comparisons"), lambda each: len(scores[each].compared) or None, True, "", True),
        ColumnOf[str](
            phrase("scorecard.clear_wins"),
            lambda each: (scores[each].is_telling and scores[each].count("clear_win")) or None, True, "", True,
        ),
        ColumnOf[str](
            phrase("scorecard.audited"), lambda each: len(framework_tables.audited(site, each)) or None, True, "", True
        ),
        ColumnOf[str](phrase("table.published"), lambda each: published[each] or None, True, "published", True),
    )  # fmt: skip
    return FrameworksIndex(table_of("frameworks", list(scores), columns))


def _page(site: Site, framework: str) -> Page:
    return Page(
        addresses.scorecard_page(site, framework),
        "scorecard",
        named(framework),
        phrase("describe.scorecard", framework=named(framework)),
        partial(_framework, site, framework),
        picture=partial(_picture, site, framework) if site.once(scorecards.scores)[framework].is_telling else None,
    )


def _framework(site: Site, framework: str) -> FrameworkPage:
    score = site.once(scorecards.scores)[framework]
    facts = [
        (len(score.compared), phrase("scorecard.n_comparisons")),
        (score.count("clear_win") if score.is_telling else 0, phrase("scorecard.n_clear_wins")),
        (len(framework_tables.audited(site, framework)), phrase("scorecard.n_audited")),
    ]
    slug, page = site.framework_slugs[framework], addresses.served(addresses.scorecard_page(site, framework))
    # The picture with a link to its page as Markdown; the build puts in the site's address.
    folders = {each: "" if each == LANGUAGES[0] else f"{each}/" for each in LANGUAGES}
    snippets = {
        each: f"[![{slug}]({SITE}{share.path(slug, each)})]({SITE}{folder}{page})" for each, folder in folders.items()
    }
    return FrameworkPage(
        framework=named(framework),
        versions=_versions(site, framework),
        facts=tuple((numbers.count(n), text) for n, text in facts if n),
        is_telling=score.is_telling,
        ratios=framework_tables.ratios(framework, score),
        comparisons=framework_tables.comparisons(site, score),
        newest=framework_tables.newest(site, framework),
        throughput=framework_tables.throughput(site, framework),
        cases=framework_tables.cases(site, framework),
        changed=framework_tables.changed(site, framework),
        models=_models(site, framework),
        histories=tuple(history.links(site, framework)),
        badges=tuple(_badges(site, framework, score)),
        picture={each: share.path(slug, each) for each in LANGUAGES} if score.is_telling else {},
        snippets=snippets,
        audit_page=addresses.audit_of(framework=framework),
    )


def _models(site: Site, framework: str) -> tuple[Link, ...]:
    """Return the models with results or published figures of a framework."""
    published = {row.suite for row in site.published.rows if row.framework == framework and row.value is not None}
    ours = {suite.id: {"framework": framework} for suite in site.shown if framework in site.frameworks(suite)}
    shown = (suite for suite in site.shown if suite.id in {*ours, *published})
    return tuple(Link(suite.title, addresses.model_page(suite, **ours.get(suite.id, {}))) for suite in shown)


def _versions(site: Site, framework: str) -> Text:
    """Return the oldest and the newest version that ran; empty if none is known."""
    found = sorted({version(run) or "" for run in site.counted if framework_of(run) == framework} - {""}, key=natural)
    ends = list(dict.fromkeys((*found[:1], *found[-1:])))
    return phrase("front.range", low=ends[0], high=ends[1]) if len(ends) > 1 else "".join(ends)


def _badges(site: Site, framework: str, score: Score) -> Iterator[Badge]:
    """Yield the badges of the best comparisons, and failing these of the newest results."""
    there = site.once(badges.with_badge).values()
    rows = [each.row for each in score.compared if each.kind in ("clear_win", "likely_win")] if score.is_telling else []
    mine = sorted((row for row in there if row.framework == framework), key=partial(day_of, site), reverse=True)
    for row in (row for row in (rows or mine)[:BADGES] if row in there):
        path, label = badges.path(row), badges.label(row)
        page = addresses.served(site.page(representative(site, row)))
        yield Badge(path, label, f"[![{label}]({SITE}{path})]({SITE}{page})")


def _picture(site: Site, framework: str, words: Words, language: str) -> Picture:
    score = site.once(scorecards.scores)[framework]
    by_hardware = dict.fromkeys(each.standing.hardware for each in score.compared)
    lines = tuple(
        phrase(
            "scorecard.picture_line",
            hardware=product(each),
            **_counted(Score(tuple(one for one in score.compared if one.standing.hardware == each))),
        )
        for each in sorted(by_hardware, key=newest_first)
    )
    about = project.project()
    named_site = " · ".join(filter(None, (about.title or "Perfledger", newest_day(site.runs), project.address())))
    return Picture(
        name=site.framework_slugs[framework],
        language=language,
        ink=framework,
        title=words.say(language, named(framework)),
        subtitle=words.say(language, phrase("scorecard.picture_about")),
        counts=score.counts,
        counted=words.say(language, phrase("scorecard.picture_counts", **_counted(score))),
        lines=tuple(words.say(language, each) for each in lines),
        foot=named_site,
    )  # fmt: skip


def _counted(score: Score) -> dict[str, int]:
    return dict(zip(("won", "close", "lost"), score.counts, strict=True))
