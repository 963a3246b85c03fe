"""Who may import whom: `parsers` and `runners` stand alone, `ingest` reads `parsers`, pages know no Python of ours."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MAY_IMPORT = {"parsers": {"parsers"}, "runners": {"runners"}, "ingest": {"ingest", "parsers"}}
#: Top-level packages of ours that no layer may take from either.
OURS = {"bench", "docs", "ingest", "parsers", "report_templates", "runners", "tests"}
#: Slow to import, so that only the function that needs one imports it: `--help` and most runs do without.
HEAVY = {"jinja2", "matplotlib", "mkdocs", "pandas"}


def modules(layer: str) -> list[Path]:
    found = sorted((ROOT / layer).rglob("*.py"))
    assert found, f"no module under {layer}/: the test would hold nothing"
    return found


def imported(nodes: Iterator[ast.AST] | list[ast.stmt], package: str) -> Iterator[tuple[str, int]]:
    """The top-level package and the line of every import among the nodes."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name.partition(".")[0], node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (package if node.level else (node.module or "").partition(".")[0]), node.lineno


def run_at_import(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when the module is imported: bodies of classes, `if` and `try` too, of functions not."""
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(statement, ast.If) and ast.unparse(statement.test).endswith("TYPE_CHECKING"):
            yield from run_at_import(statement.orelse)
            continue
        yield statement
        for block in ("body", "orelse", "finalbody"):
            yield from run_at_import(getattr(statement, block, []))
        for branch in [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]:
            yield from run_at_import(branch.body)


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes(), filename=str(path))


def foreign(path: Path, layer: str) -> list[str]:
    taken = imported(ast.walk(parse(path)), layer)
    return [f"{path}:{line}: {layer} imports {name}" for name, line in taken if name in OURS - MAY_IMPORT[layer]]


def heavy(path: Path, layer: str) -> list[str]:
    taken = imported(list(run_at_import(parse(path).body)), layer)
    return [f"{path}:{line}: imports {name} at the top" for name, line in taken if name in HEAVY]


@pytest.mark.parametrize("layer", MAY_IMPORT)
def test_a_layer_imports_only_what_lies_below_it(layer: str) -> None:
    assert [line for path in modules(layer) for line in foreign(path, layer)] == []


def of_pages(path: Path) -> list[str]:
    """What a module takes from those that build the site."""
    taken = [each for each in ast.walk(parse(path)) if isinstance(each, ast.ImportFrom)]
    names = {f"{each.module}.{alias.name}" for each in taken for alias in each.names}
    return sorted(name for name in names if name.startswith(("ingest.site", "ingest.reports")))


def test_figures_know_no_page() -> None:
    """Only the command calls what builds the site: whoever changes a page can change no figure."""
    engine = sorted((ROOT / "ingest").glob("*.py"))
    assert len(engine) > 20
    assert {path.stem: of_pages(path) for path in engine if of_pages(path)} == {"cli": ["ingest.site.builder"]}


@pytest.mark.parametrize("layer", ["ingest", "parsers"])
def test_heavy_packages_are_imported_where_they_are_used(layer: str) -> None:
    assert [line for path in modules(layer) for line in heavy(path, layer)] == []


def test_runners_import_little_that_is_installed() -> None:
    """The launcher needs click and msgspec, and runs without tqdm; the host agent needs the standard library alone.
    Workloads run elsewhere, with what they train.
    """
    for path in (path for path in modules("runners") if "workloads" not in path.parts):
        known = set() if path.name == "host_agent.py" else {"runners", "click", "msgspec", "tqdm"}
        taken = imported(ast.walk(parse(path)), "runners")
        assert [f"{path}:{line}: {name}" for name, line in taken if name not in known | sys.stdlib_module_names] == []


def test_what_reaches_hosts_knows_no_recipes() -> None:
    """`job.py` is the seam of the runners: below it nobody knows recipes, cases or the command line."""
    above = {"recipe", "cases", "command", "batch", "max_batch", "output", "cli"}
    below = [path for path in (ROOT / "runners").glob("*.py") if path.stem not in above and path.stem != "__main__"]
    assert {"job", "run", "transport"} <= {path.stem for path in below}
    nodes = [(path.name, node) for path in below for node in ast.walk(parse(path)) if isinstance(node, ast.ImportFrom)]
    taken = [(name, part) for name, node in nodes for part in [str(node.module), *(each.name for each in node.names)]]
    assert [each for each in taken if each[1].rpartition("runners.")[2] in above] == []


def test_pages_know_no_python_but_hooks_that_import_nothing_of_ours() -> None:
    beside_pages = [path for folder in ("docs", "report_templates") for path in (ROOT / folder).rglob("*.py")]
    assert beside_pages
    assert {path.parent for path in beside_pages} == {ROOT / "report_templates" / "hooks"}
    taken = [(path, name, line) for path in beside_pages for name, line in imported(ast.walk(parse(path)), "hooks")]
    assert [f"{path}:{line}: imports {name}" for path, name, line in taken if name in OURS] == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import ingest.runs", ["ingest"]),
        ("def f():\n    from runners.cases import Case", ["runners"]),
        ("from parsers import scan\nfrom . import registry", []),
    ],
)
def test_a_foreign_import_is_seen(source: str, expected: list[str], tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(source, encoding="utf-8")
    assert [line.rpartition(" ")[2] for line in foreign(path, "parsers")] == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import pandas as pd", ["pandas"]),
        (
            "try:\n    from matplotlib.figure import Figure\nexcept ImportError:\n    import jinja2",
            ["matplotlib", "jinja2"],
        ),
        ("def f():\n    import pandas", []),
        ("class A:\n    def f(self):\n        import pandas\n    import mkdocs", ["mkdocs"]),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pandas", []),
    ],
)
def test_a_heavy_import_is_seen(source: str, expected: list[str], tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(source, encoding="utf-8")
    assert [line.split()[2] for line in heavy(path, "ingest")] == expected
