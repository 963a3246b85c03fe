"""The address of every page, below a language's folder; the other modules ask here and put no paths together.

Only those of runs are in `run_paging`, which `Site.page` and `Site.log_page` ask.
"""

from __future__ import annotations

import re
from urllib.parse import urlencode

from perfledger.ingest.published.declarations import Report
from perfledger.ingest.published.publications import Published, options_cell
from perfledger.ingest.site import run_paging
from perfledger.ingest.site.model import Site, Suite
from perfledger.ingest.site.render.text import digest, slug
from perfledger.schema.records import Problem, Run

SUMMARY, MODELS, RUNS, REPORTS = "index.md", "models/index.md", "runs/index.md", "reports/index.md"
COMPARE, AUDIT, FORMATS, PROBLEMS = "compare.md", "audit.md", "formats/index.md", "problems.md"
FRAMEWORKS, HARDWARE = "frameworks/index.md", "hardware/index.md"
METHOD, GLOSSARY, RUNNING, DATA = "method.md", "glossary.md", "running.md", "data.md"
SUBMITTING = "submit.md"

#: The script that pages load which load data: where these are, and the pages.
SITE_SCRIPT = "assets/js/site.js"


def section(page: str, anchor: str) -> str:
    """Return the address of a section of a page."""
    return f"{page}#{anchor}"


def served(page: str | None) -> str | None:
    """Return the address of a page on the built site: `runs/x.md#y` is served as `runs/x/#y`."""
    if page is None:
        return None
    path = re.split("[?#]", page, maxsplit=1)[0]
    folder, _, last = path.removesuffix(".md").rpartition("/")
    return "".join(f"{each}/" for each in (folder, "" if last == "index" else last) if each) + page[len(path) :]


def model_folder(suite: Suite) -> str:
    """Return the folder of a model's pages, which is the address of its first page on the built site."""
    return f"models/{suite.id}/"


def model_page(suite: Suite, **choice: str | int) -> str:
    """Return the page of a model, with a choice of its chips: hardware, devices, precision, or framework."""
    return f"{model_folder(suite)}index.md" + (f"?{urlencode(choice)}" if choice else "")


def model_page_of(site: Site, run: Run) -> str | None:
    """Return the page of a run's model; None where none of its runs counts, so that it has no page."""
    suite = site.suite_of[run.id]
    return model_page(suite) if suite.id in {each.id for each in site.shown} else None


def history_page(suite: Suite) -> str:
    """Return the page of a model's results over time."""
    return f"{model_folder(suite)}history.md"


def scorecard_page(site: Site, framework: str) -> str:
    """Return the page of a framework over all models."""
    return f"frameworks/{site.framework_slugs[framework]}.md"


def hardware_page(site: Site, hardware: str) -> str:
    """Return the page of some hardware."""
    return f"hardware/{site.hardware_slugs[hardware]}.md"


def audit_anchor(row: Published) -> str:
    """Return the id of a published figure on the audit page; rows that are added elsewhere leave it as it is."""
    case = (row.model, row.framework, row.devices, row.batch_size, row.precision, options_cell(row.options))
    printed = (row.source, row.place, row.line, row.log, *case, row.metric, row.printed)
    return f"figure-{digest(repr(printed))[:12]}"


def audit_row(row: Published) -> str:
    """Return the address of a published figure on the audit page."""
    return section(AUDIT, audit_anchor(row))


def on_front_page(hardware: str) -> str:
    """Return the front page with one hardware chosen."""
    return f"{SUMMARY}?{urlencode({'hardware': hardware})}"


def report_page(report: Report) -> str:
    """Return the page of a report of published figures."""
    return f"reports/{report.id}.md"


def round_page(name: str) -> str:
    """Return the page of a benchmark round; of one without a name where no path names it."""
    return f"reports/round-{slug(name)}.md" if name else "reports/round.md"


def comparison(suite: Suite, hardware: str, group: str = "", devices: int = 0) -> str:
    """Return the compare page with the published figures of a model on some hardware, or of a part of them."""
    choice = {"axis": "framework", "model": suite.id, "hardware": hardware, "precision": group, "devices": devices}
    return f"{COMPARE}?{urlencode({name: each for name, each in choice.items() if each} | {'origin': 'all'})}"


def audit_of(**choice: str) -> str:
    """Return the audit with a choice of its filters: verdict, source, model, framework, or hardware."""
    return f"{AUDIT}?{urlencode(choice)}"


def format_page(name: str) -> str:
    """Return the page of a log format."""
    return f"formats/{slug(name)}.md"


def log_file(run: Run) -> str:
    """Return the page of a log, which both languages share, below the site's folder."""
    return run_paging.log_page(run).removeprefix("../")


def log_anchor(first: int, last: int) -> str:
    """Return the anchor of some lines of a log: `L161-L200`, or `L161`."""
    return f"L{first}" if first == last else f"L{first}-L{last}"


def log_lines(site: Site, run: Run, first: int | None, last: int | None = None) -> str | None:
    """Return the page of a run's log at some lines; None where it has none, or the lines are not known."""
    page, lines = site.log_page(run), line_range(first, last)
    return section(page, log_anchor(*lines)) if page and lines else None


def line_range(first: int | None, last: int | None = None) -> tuple[int, int] | None:
    """Return both ends if they are lines: a format that names none leaves 0, or nothing."""
    last = first if last is None else last
    return (first, last) if first and last and 1 <= first <= last else None


def problem_place(site: Site, problem: Problem) -> str | None:
    """Return the line of a problem in the log of the run that has it; failing that, a run of the same log."""
    runs = site.runs_at.get(problem.path, ())
    with_it = next((run for run in runs if problem in run.problems), None)
    return (log_lines(site, with_it, problem.line) if with_it else None) or (site.page(runs[0]) if runs else None)
