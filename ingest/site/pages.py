"""Which pages there are: for each its path, template, title and context."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ingest.common.numbers import quantity
from ingest.common.words import TEMPLATES, Text, phrase
from ingest.compute import comparison
from ingest.compute.results import counts
from ingest.compute.results import repeats as repeats_of
from ingest.compute.rules import HEADLINE
from ingest.site import audit, caveats, charts, log, provenance, reproduce, summary, tables, telemetry
from ingest.site.data import badges, changes
from ingest.site.model import (
    Site,
    Suite,
    framework_of,
    hardware_of,
    named,
    ordered,
)
from ingest.site.render import colours
from ingest.site.reports import model
from ingest.site.run_paging import Listed
from ingest.site.tables import group_name
from schema.records import Problem, Run, text_of

RUNS_SHOWN = 100  # by the page of a model; the pages of runs list them all
REPEATS_SHOWN = 20
PROBLEMS_SHOWN = 50  # of one kind


#: What the page that compares says: tables of the words file, all of them by key.
COMPARE_WORDS = (
    "chart", "compare", "environment", "fact", "metric", "option", "precision", "published_metric", "report", "rule",
    "site", "source", "table",
)  # fmt: skip
COMPARE_SCRIPTS = (
    "assets/vendor/chart.umd.min.js",
    *(f"assets/js/compare{each}.js" for each in ("-rules", "-board", "-address", "-words", "-chart", "")),
)


@dataclass(frozen=True)
class Page:
    """One page in both languages; `context` is called once, when the page is rendered.

    `order` and `group` say where it stands in the navigation; `scripts` are assets that this page alone loads.
    `log` is the run of which it shows the log.
    """

    path: str
    template: str
    title: Text
    description: Text
    context: Callable[[], Mapping[str, Any]]
    searched: bool = True
    order: int | None = None
    group: str | None = None
    scripts: tuple[str, ...] = ()
    log: Run | None = None


def pages(site: Site) -> list[Page]:
    """All pages of the site."""
    found = [_index(site), _models(site), _runs(site), _formats(site), _problems(site), _audit(site), _compare(site)]
    found += [_plain(site, "method", "method.md"), _plain(site, "running", "running.md"), _data(site)]
    for suite in site.shown:
        found.append(_model(site, suite))
        found += [_framework(site, suite, each) for each in _frameworks(site, suite)]
    repeats = _repeats(site)
    found += [_run(site, run, repeats.get(run.id, ())) for run in site.runs if site.has_page(run)]
    found += [_log(site, run) for run in site.runs if site.log_page(run)]
    return found + [_run_list(site, each) for each in site.lists]


def _plain(site: Site, name: str, path: str) -> Page:
    described = phrase(f"nav.{name}"), phrase(f"describe.{name}")
    return Page(path, name, *described, lambda: {"limits": site.limits})


def _data(site: Site) -> Page:
    described = phrase("nav.data"), phrase("describe.data")
    return Page(
        "data.md",
        "data",
        *described,
        lambda: {
            "limits": site.limits,
            "moved": changes.MOVED,
            "badges": badges.listed(site),
            "badges_at_most": badges.AT_MOST,
        },
    )


def _index(site: Site) -> Page:
    published = [run for run in site.runs if counts(run)]
    return Page(
        "index.md",
        "index",
        phrase("nav.summary"),
        phrase("describe.index"),
        lambda: {
            "hardware": [_summary(site, each) for each in _hardware(site, published)],
            "others": model.others(site),
            "others_figures": len(site.published.rows),
            "suites": site.shown,
            "runs": len(site.runs),
            "published": sum(run.published for run in published),
            "problems": len(all_problems(site)),
            **summary.LIMITS,
        },
    )


def _hardware(site: Site, published: Sequence[Run]) -> list[str]:
    """Hardware with several frameworks and more runs comes first: that is what a reader comes for."""
    names = {hardware_of(run) for run in published}

    def weight(name: str) -> tuple[int, int, str]:
        runs = [run for run in published if hardware_of(run) == name]
        return (-len({framework_of(run) for run in runs}), -len(runs), name)

    return sorted(names, key=weight)


def _summary(site: Site, hardware: str) -> Mapping[str, Any]:
    parts = summary.parts(site, hardware)
    return {"name": named(hardware, "site.unknown_hardware"), "tally": summary.tally(parts), "parts": parts}


def _models(site: Site) -> Page:
    numbers_of = {suite.id: len([r for r in site.runs_of(suite) if r.published]) for suite in site.shown}
    figures = {suite.id: len(site.published.by_suite.get(suite.id, ())) for suite in site.shown}
    frameworks = {s.id: [(each, _framework_path(site, s, each)) for each in _frameworks(site, s)] for s in site.shown}
    return Page(
        "models/index.md",
        "models",
        phrase("nav.models"),
        phrase("describe.models"),
        lambda: {
            "suites": [
                {
                    "title": suite.title,
                    "page": f"models/{suite.id}/index.md",
                    "words": suite.words,
                    "runs": numbers_of[suite.id],
                    "figures": figures[suite.id],
                    "frameworks": [(named(each), path) for each, path in frameworks[suite.id]],
                }
                for suite in site.shown
            ],
        },
    )


def _model(site: Site, suite: Suite) -> Page:
    runs = site.runs_of(suite)
    described = phrase("describe.model", title=suite.title)
    return Page(
        f"models/{suite.id}/index.md",
        "model",
        suite.title,
        described,
        lambda: {
            **_report(site, suite, runs),
            "answers": [
                (named(hardware, "site.unknown_hardware"), part)
                for hardware in _hardware(site, [run for run in runs if counts(run)])
                if (part := summary.part(site, suite, hardware)).answers
            ],
            **summary.LIMITS,
            "charts": charts.of_suite(site, suite),
            "notes": caveats.notes(site, suite),
            "reports": model.reports_of(site, suite),
            "published": model.published_tables(site, suite),
            "pages": [(named(each), _framework_path(site, suite, each)) for each in _frameworks(site, suite)],
        },
        order=suite.order,
    )


def _framework(site: Site, suite: Suite, framework: str) -> Page:
    runs = tuple(run for run in site.runs_of(suite) if framework_of(run) == framework)
    about = {"title": suite.title, "framework": named(framework)}
    return Page(
        _framework_path(site, suite, framework),
        "framework",
        phrase("title.framework", **about),
        phrase("describe.framework", **about),
        lambda: {
            **_report(site, suite, runs, framework),
            "framework": named(framework),
            "model_page": f"models/{suite.id}/index.md",
        },
    )


def _report(site: Site, suite: Suite, runs: Sequence[Run], only: str | None = None) -> Mapping[str, Any]:
    """What a model's page and a framework's page have in common."""
    found = [
        (hardware, group, tuple(row for row in rows if only is None or (row.framework or "") == only))
        for hardware, group, rows in tables.sections(site, suite)
    ]
    found = [each for each in found if each[2]]
    rows = tuple(row for _, _, chosen in found for row in chosen)
    published = [run for run in runs if run.published]
    shown = [each for each in _frameworks(site, suite) if only in (None, each)]
    made = {each: reproduce.blocks(site, [run for run in published if framework_of(run) == each]) for each in shown}
    return {
        "suite": suite,
        "unit": tables.units(rows) or suite.unit,
        "devices": ", ".join(map(str, sorted({row.devices for row in rows if row.devices is not None}))),
        "precisions": [tables.precision(each) for each in _precisions(suite, rows)],
        "options": _options(rows),
        "batch_sizes": tables.batch_sizes(suite, rows),
        "machines": tables.machines(published),
        "software": tables.software(suite, published),
        "several_machines": sum((run.case.nodes or 1) > 1 for run in published),
        "reproduce": [block for blocks in made.values() for block in blocks],
        "without_command": [named(each) for each, blocks in made.items() if not blocks],
        "own": _own(site, suite, rows),
        "comparison": [
            (
                named(h, "site.unknown_hardware"),
                group_name(g),
                tables.units(chosen),
                tables.comparison(site, suite, chosen),
            )
            for h, g, chosen in found
            if len({row.framework for row in chosen}) > 1
        ],
        "scaling": [
            (named(h, "site.unknown_hardware"), group_name(g), table)
            for h, g, chosen in found
            if (table := tables.scaling(site, suite, chosen))
        ],
        "largest": [
            (named(h, "site.unknown_hardware"), group_name(g), table)
            for h, g, chosen in found
            if (table := tables.largest(site, suite, chosen))
        ],
        "beside": [
            (named(h, "site.unknown_hardware"), group_name(g), tables.beside(site, suite, chosen))
            for h, g, chosen in found
        ],
        "logs": tables.run_list(site, _first(site, runs), brief=True),
        "more_logs": max(0, len(runs) - RUNS_SHOWN),
    }


def _own(site: Site, suite: Suite, rows: Sequence[Any]) -> list[Mapping[str, Any]]:
    """Each framework's own tables: one per hardware."""
    return [
        {
            "name": named(framework),
            "page": _framework_path(site, suite, framework),
            "tables": [
                (
                    named(hardware, "site.unknown_hardware"),
                    tables.units(chosen),
                    tables.of_framework(site, suite, chosen),
                )
                for hardware in sorted({row.hardware or "" for row in rows})
                if (chosen := [r for r in rows if (r.hardware or "") == hardware and (r.framework or "") == framework])
            ],
        }
        for framework in ordered({row.framework or "" for row in rows}, suite.frameworks)
    ]


def _options(rows: Sequence[Any]) -> list[str]:
    """Every option with the values that it takes."""
    found: dict[str, set[str]] = {}
    for row in rows:
        for name, value in row.options.items():
            found.setdefault(name, set()).add(quantity(value))
    return [f"{name} = {' | '.join(sorted(found[name]))}" for name in sorted(found)]


def _precisions(suite: Suite, rows: Sequence[Any]) -> list[str]:
    return ordered({row.precision or "" for row in rows}, [each for group in suite.groups.values() for each in group])


def _frameworks(site: Site, suite: Suite) -> list[str]:
    return ordered({framework_of(run) for run in site.runs_of(suite) if counts(run)}, suite.frameworks)


def _framework_path(site: Site, suite: Suite, framework: str) -> str:
    return f"models/{suite.id}/{site.framework_slugs[framework]}.md"


def _first(site: Site, runs: Sequence[Run]) -> list[Run]:
    """As many runs as a page shows, those with pages of their own before others; in the order of the runs."""
    shown = {run.id for run in sorted(runs, key=lambda run: not site.has_page(run))[:RUNS_SHOWN]}
    return [run for run in runs if run.id in shown]


def _runs(site: Site) -> Page:
    return Page(
        "runs/index.md",
        "runs",
        phrase("nav.runs"),
        phrase("describe.runs"),
        lambda: {
            "count": len(site.runs),
            "logs": len({run.path for run in site.runs}),
            "published": sum(run.published for run in site.runs),
            "limits": site.limits,
            "lists": bool(site.lists),
            "tables": [
                (
                    named(each, "site.unknown_hardware"),
                    (tables.lists_of if site.lists else tables.run_list)(
                        site, [run for run in site.runs if hardware_of(run) == each]
                    ),
                )
                for each in sorted({hardware_of(run) for run in site.runs})
            ],
        },
    )


def _run_list(site: Site, listed: Listed) -> Page:
    """Runs of one suite, with enough of each to follow its figure to the lines of its log."""
    runs = [site.by_id[each] for each in listed.runs]
    suite = site.suite_of[listed.runs[0]]
    mine = [each.path for each in site.lists if each.suite == suite.id]
    before, after = ([*mine, None][mine.index(listed.path) + step] for step in (-1, 1))
    shown = suite.id in {each.id for each in site.shown}
    about = {"title": suite.title, "first": listed.runs[0]}
    return Page(
        listed.path,
        "run_list",
        phrase("title.run_list", **about),
        phrase("describe.run_list", **about),
        lambda: {
            "heading": phrase("title.run_list", **about),
            "suite_title": suite.title,
            "suite_page": f"models/{suite.id}/index.md" if shown else None,
            "first": listed.runs[0],
            "last": listed.runs[-1],
            "count": len(runs),
            "by_rule": phrase("runs.by_rule", rule=phrase(f"rule.{HEADLINE}")),
            "path": runs[0].path,
            "runs": tables.run_entries(site, runs),
            "before": before,
            "after": after,
        },
        searched=False,
    )


def _run(site: Site, run: Run, repeats: Sequence[Run]) -> Page:
    suite = site.suite_of[run.id]
    shown = suite.id in {each.id for each in site.shown}
    others = [each for each in repeats if each.id != run.id]
    chart = charts.of_run(run)
    # A log that tells a run again names the log that counts, by its path.
    original = site.by_path.get(run.duplicate_of or "")
    title = phrase("title.run", run=run.id)
    return Page(
        site.page(run),
        "run",
        title,
        phrase("describe.run"),
        lambda: {
            "run": run,
            "chart_of_run": chart,
            "headline": run.figure(HEADLINE),
            "suite_title": suite.title,
            "suite_page": f"models/{suite.id}/index.md" if shown else None,
            "signs": provenance.signs(site, run, others),
            "steps": provenance.steps(site, run),
            "figures": tables.figure_table(site, run),
            "metrics": tables.metric_table(site, run),
            "facts": tables.case_table(site, run),
            "environment": tables.environment_table(run),
            "details": tables.details(run),
            "reproduce": reproduce.blocks(site, [run]),
            "telemetry": telemetry.section(run),
            "provenance": tables.provenance(site, run),
            "problems": tables.problem_list(site, run.problems),
            "warnings": run.warnings or (),
            "repeats": [(each.id, site.page(each)) for each in others[:REPEATS_SHOWN]],
            "more_repeats": max(0, len(others) - REPEATS_SHOWN),
            "difference": caveats.difference(run),
            "original": (original.id, site.page(original)) if original else None,
        },
        searched=False,
    )


def _log(site: Site, run: Run) -> Page:
    """The lines of a run's log, with what rests on them; in parts, where it is long."""
    about = {"run": run.id}
    suite = site.suite_of[run.id]
    return Page(
        site.log_page(run) or "",
        "log",
        phrase("title.log", **about),
        phrase("describe.log", **about),
        lambda: {
            "run": run,
            "run_page": site.page(run),
            "suite_title": suite.title,
            "file": log.file(run),
            "shown": (shown := log.shown(site, run)),
            "loose": log.loose(run, shown),
            "marks": log.mark_table(site, run),
        },
        searched=False,
        scripts=("assets/js/log.js",),
        log=run,
    )


def _repeats(site: Site) -> Mapping[str, Sequence[Run]]:
    """Of each run that stands in a table, those behind the same result: of its version, round and unit."""
    return {run.id: alike for alike in repeats_of(site.runs) for run in alike}


def _problems(site: Site) -> Page:
    everything = all_problems(site)
    kinds = _kinds(everything)
    return Page(
        "problems.md",
        "problems",
        phrase("nav.problems"),
        phrase("describe.problems"),
        lambda: {
            "count": len(everything),
            "shown": PROBLEMS_SHOWN,
            "kinds": [
                (kind, tables.problem_list(site, found[:PROBLEMS_SHOWN]), max(0, len(found) - PROBLEMS_SHOWN))
                for kind, found in kinds.items()
            ],
        },
    )


def _kinds(problems: Sequence[Problem]) -> Mapping[str, list[Problem]]:
    """Problems by their code, the most frequent first; few problems are of no kind, and all are shown."""
    if len(problems) <= PROBLEMS_SHOWN:
        return {"": [*problems]} if problems else {}
    found: dict[str, list[Problem]] = {}
    for each in problems:
        found.setdefault(each.code, []).append(each)
    return dict(sorted(found.items(), key=lambda item: (-len(item[1]), item[0])))


def all_problems(site: Site) -> list[Problem]:
    """Return problems of runs and of no run, once each, by path and line."""
    found = [*(each for run in site.runs for each in run.problems), *site.problems]
    unique = {text_of(each): each for each in found}
    return [unique[key] for key in sorted(unique, key=lambda key: (unique[key].path, unique[key].line, key))]


def _audit(site: Site) -> Page:
    return Page(
        "audit.md",
        "audit",
        phrase("nav.audit"),
        phrase("describe.audit"),
        lambda: audit.context(site),
    )


def _compare(site: Site) -> Page:
    """Results chosen in the page; they come from `data/results.json`, so the page itself holds names alone."""
    config = {
        "suites": {each.id: {"workload": each.workload} for each in site.known},
        "rules": comparison.rules(),
        "inks": _inks({*map(framework_of, site.runs), *(row.framework for row in site.published.rows)}),
    }
    models = [(suite.title, f"models/{suite.id}/index.md") for suite in site.shown]
    return Page(
        "compare.md",
        "compare",
        phrase("nav.compare"),
        phrase("describe.compare"),
        lambda: {"config": config, "word_tables": COMPARE_WORDS, "models": models},
        scripts=COMPARE_SCRIPTS,
    )


def _inks(frameworks: Iterable[str]) -> Mapping[str, Any]:
    found = {each: colours.ink(each) for each in sorted(frameworks)}
    return {
        name: {"light": ink.light, "dark": ink.dark, "hatch": ink.hatch, "marker": ink.marker}
        for name, ink in found.items()
    }


def _formats(site: Site) -> Page:
    runs: dict[str, int] = {}
    for run in site.runs:
        runs[str(run.format)] = runs.get(str(run.format), 0) + 1
    return Page(
        "formats.md",
        "formats",
        phrase("nav.formats"),
        phrase("describe.formats"),
        lambda: {
            "formats": _described_formats(runs),
            "telemetry": telemetry.printers(),
        },
    )


def _described_formats(runs: Mapping[str, int]) -> list[Mapping[str, Any]]:
    from parsers.contract import NearMiss, Sample
    from parsers.engine.registry import formats

    chinese = tomllib.loads((TEMPLATES / "formats.zh.toml").read_text("utf-8"))
    return [
        {
            "said": {"zh": chinese[each.id]} if each.id in chinese else {},
            "id": each.id,
            "title": each.title,
            "doc": each.doc,
            "readings": each.readings,
            "runs": runs.get(each.id, 0),
            "facts": list(dict.fromkeys(fact.name for fact in each.facts)),
            "samples": [sample for sample in each.samples if isinstance(sample, Sample)],
            "misses": [miss for miss in each.samples if isinstance(miss, NearMiss)],
        }
        for each in formats()
    ]
