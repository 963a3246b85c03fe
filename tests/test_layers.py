"""The rules for imports: all may import `schema`, `ingest` may import `parsers`, and hooks import little of ours."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MAY_IMPORT = {
    "schema": {"schema"},
    "parsers": {"parsers", "schema"},
    "runners": {"runners", "schema"},
    "ingest": {"ingest", "parsers", "schema"},
}
#: Our top-level packages; a layer must not import them.
OURS = {"bench", "docs", "ingest", "parsers", "report_templates", "runners", "schema", "tests"}
#: The packages of `ingest` in the order of the data; each imports only earlier ones.
ORDER = {
    name: place
    for place, names in enumerate(
        (("common",), ("read",), ("compute",), ("record",), ("diff", "published"), ("site",), ("commands",))
    )
    for name in names
}
#: Packages with a slow import. Only functions that need one import it, so that `--help` is fast.
HEAVY = {"jinja2", "matplotlib", "mkdocs", "pandas"}


def modules(layer: str) -> list[Path]:
    found = sorted((ROOT / layer).rglob("*.py"))
    assert found, f"no module under {layer}/: the test would hold nothing"
    return found


def within(module: str) -> str:
    """Return the name of one of our modules within the repository."""
    return module.removeprefix("perfledger.")


def imported(nodes: Iterator[ast.AST] | list[ast.stmt], package: str) -> Iterator[tuple[str, int]]:
    """Yield top-level package and line of every import among the nodes."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((within(alias.name).partition(".")[0], node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (package if node.level else within(node.module or "").partition(".")[0]), node.lineno


def run_at_import(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that run at import, including bodies of classes, `if` and `try`, without functions."""
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


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes(), filename=str(path))


def foreign(path: Path, layer: str) -> list[str]:
    taken = imported(ast.walk(parse(path)), layer)
    return [f"{path}:{line}: {layer} imports {name}" for name, line in taken if name in OURS - MAY_IMPORT[layer]]


def heavy(path: Path, layer: str) -> list[str]:
    taken = imported(list(run_at_import(parse(path).body)), layer)
    return [f"{path}:{line}: imports {name} at the top" for name, line in taken if name in HEAVY]


@pytest.mark.parametrize("layer", MAY_IMPORT)
def test_a_layer_imports_only_lower_layers(layer: str) -> None:
    assert [line for path in modules(layer) for line in foreign(path, layer)] == []


def package(module: str) -> str:
    """Return the package of `ingest` that contains a module; modules outside the packages are the commands."""
    parts = within(module).split(".")
    return parts[1] if len(parts) > 1 and parts[1] in ORDER else "commands"


def upward_imports(path: Path, order: Mapping[str, int]) -> list[str]:
    """Return the imports of later packages in the order of the data."""
    mine = package(".".join(path.relative_to(ROOT).with_suffix("").parts))
    found = []
    for node in ast.walk(parse(path)):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("perfledger.ingest"):
            continue
        for alias in node.names:
            other = package(f"{node.module}.{alias.name}")
            if other != mine and order[other] >= order[mine]:
                found.append(f"{path}:{node.lineno}: {mine} imports {other}")
    return found


def test_the_packages_of_ingest_import_in_the_order_of_the_data() -> None:
    folders = {path.name for path in (ROOT / "ingest").iterdir() if (path / "__init__.py").exists()}
    assert folders == set(ORDER) - {"commands"} | {"cli"}
    assert [line for path in modules("ingest") for line in upward_imports(path, ORDER)] == []


@cache
def file_imports() -> dict[str, set[str]]:
    """Return the imports of each of our modules, including late imports and those for types."""
    names = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for layer in MAY_IMPORT
        for path in modules(layer)
    }
    found: dict[str, set[str]] = {}
    for name in names:
        path = ROOT / f"{name.replace('.', '/')}.py"
        path = path if path.exists() else ROOT / name.replace(".", "/") / "__init__.py"
        taken = [each for each in ast.walk(parse(path)) if isinstance(each, ast.ImportFrom)]
        below = name if path.stem == "__init__" else name.rpartition(".")[0]
        full = {
            f"{module}.{alias.name}"
            for each in taken
            for module in [f"{below}.{each.module or ''}".rstrip(".") if each.level else within(each.module or "")]
            for alias in each.names
        }
        found[name] = {each for one in full for each in (one, one.rpartition(".")[0])} & names - {name}
    return found


def package_imports() -> dict[str, set[str]]:
    """Return the imports of each of our packages; a nested package counts as a part of its parent.

    `__main__` is left out, since it is not imported.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for name, taken in file_imports().items():
        if name.endswith(".__main__"):
            continue
        mine = package_with(name)
        found[mine] |= {package_with(each) for each in taken} - {mine}
    return found


def package_with(module: str) -> str:
    """Return the package of a module, such as `parsers.engine`, or the layer of a module directly in it."""
    layer, *below = module.split(".")
    return f"{layer}.{below[0]}" if below and any((ROOT / layer / below[0]).glob("*.py")) else layer


def circles(imports: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return the part of a graph of imports that remains after modules without imports are removed repeatedly."""
    left = dict(imports)
    while free := {name for name, taken in left.items() if not taken & left.keys()}:
        left = {name: taken for name, taken in left.items() if name not in free}
    return left


def test_no_module_imports_itself_through_others() -> None:
    """Modules in a circle cannot be understood one by one."""
    assert circles(file_imports()) == {}


def test_no_package_imports_itself_through_others() -> None:
    """Packages that import each other are one package in several folders."""
    assert circles(package_imports()) == {}


@pytest.mark.parametrize("layer", ["ingest", "parsers"])
def test_only_functions_import_heavy_packages(layer: str) -> None:
    assert [line for path in modules(layer) for line in heavy(path, layer)] == []


def test_runners_import_little_that_is_installed() -> None:
    """The launcher needs click and msgspec, and the agent only the standard library and its own modules.

    Workloads are excluded, since they import the framework that they measure.
    """
    for path in (path for path in modules("runners") if "workloads" not in path.parts):
        known = {"runners"} if path.parent.name == "agent" else {"perfledger", "runners", "schema", "click", "msgspec"}
        taken = imported(ast.walk(parse(path)), "runners")
        assert [f"{path}:{line}: {name}" for name, line in taken if name not in known | sys.stdlib_module_names] == []


def test_modules_below_the_job_import_no_recipes() -> None:
    """Modules below `job.py` must not depend on recipes, cases or the command line."""
    data = {"recipes", "matrix", "toml_errors", "cases", "settings"}
    above = {*data, "command", "wrappers", "cli"}
    below = [path for path in (ROOT / "runners").glob("*.py") if path.stem not in above and path.stem != "__main__"]
    assert {"job", "batch", "run", "transport"} <= {path.stem for path in below}
    nodes = [(path.name, node) for path in below for node in ast.walk(parse(path)) if isinstance(node, ast.ImportFrom)]
    taken = [(name, part) for name, node in nodes for part in [str(node.module), *(each.name for each in node.names)]]
    assert [each for each in taken if each[1].rpartition("runners.")[2] in above] == []


def test_the_vocabulary_imports_only_the_standard_library() -> None:
    """Other programs that start runs may import its names without our dependencies."""
    path = ROOT / "schema" / "vocabulary.py"
    taken = {name for name, _ in imported(ast.walk(parse(path)), "schema")}
    assert taken
    assert taken <= {*sys.stdlib_module_names}


#: Imports that hooks may have: words, the check for old pages, the encoder of text, and the records of data files.
#: Ingest makes the content of pages.
HOOKS_IMPORT = {
    "perfledger import ",
    "perfledger.ingest.common",
    "perfledger.ingest.site.render.text",
    "perfledger.schema.results",
}


def test_hooks_are_the_only_python_in_docs_and_templates_and_import_little_of_ours() -> None:
    python_files = [path for folder in ("docs", "report_templates") for path in (ROOT / folder).rglob("*.py")]
    assert python_files
    assert {path.parent for path in python_files} == {ROOT / "report_templates" / "hooks"}
    taken = [(path, node) for path in python_files for node in ast.walk(parse(path))]
    ours = [
        f"{path}:{node.lineno}: imports {name}"
        for path, node in taken
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [f"{node.module} import {each.name}" for each in node.names]
            if isinstance(node, ast.ImportFrom)
            else [each.name for each in node.names]
        )
        if name.startswith("perfledger") or name.partition(".")[0] in OURS
    ]
    assert ours
    assert [each for each in ours if not each.partition(": imports ")[2].startswith(tuple(HOOKS_IMPORT))] == []


def twice_defined(files: Iterable[Path]) -> dict[str, list[str]]:
    """Return the places of every class name that is defined more than once."""
    places = defaultdict(list)
    for path in files:
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path}:{node.lineno}")
    return {name: found for name, found in places.items() if len(found) > 1}


def test_a_class_name_is_defined_once_in_the_product() -> None:
    files = [path for package in (*MAY_IMPORT, "bench", "report_templates") for path in (ROOT / package).rglob("*.py")]
    assert twice_defined(files) == {}, "one name for two things: rename one of the classes"
