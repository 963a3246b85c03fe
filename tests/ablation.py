"""`python -m tests.ablation`: find mechanisms that no real log needs.

Without a name, the tool watches each function of the named modules while it reads all real logs. It lists the functions
that always returned their neutral value: they could be removed. With names such as `ingest.compute.ranks:restarts`,
these functions return their neutral value, and the tool prints the rows of the reference that moved.

The annotation determines the neutral value: False, None, an empty collection, an array of False, or the first argument
with the returned type.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import wraps
from importlib import import_module
from typing import Any

import click
import numpy as np

from perfledger.ingest.read import layout as layouts
from perfledger.ingest.read.walk import walk
from perfledger.ingest.record.run import runs_of
from perfledger.parsers.engine.registry import formats
from tests import reference

#: Modules whose functions are watched if none are named.
MODULES = (
    "ingest/compute",
    "ingest/record",
    "parsers/contract",
    "parsers/engine",
)
_ARRAYS = ("NDArray[np.bool_]", "Flags", "Kinds")
_EMPTY: dict[str, Callable[[], Any]] = {
    "bool": bool, "None": lambda: None, "str": str, "bytes": bytes, "list": list, "tuple": tuple, "dict": dict,
    "Iterator": lambda: iter(()), "Iterable": lambda: iter(()), "Mapping": dict, "set": set,
}  # fmt: skip
Neutral = Callable[..., Any]


def functions(modules: tuple[str, ...]) -> Iterator[tuple[str, Any, Neutral]]:
    """Yield name, function and neutral replacement for each function of some modules that has one."""
    for top in modules:
        path = reference.ROOT / top
        for each in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            name = ".".join(each.relative_to(reference.ROOT).with_suffix("").parts).removesuffix(".__init__")
            for key, value in vars(import_module(f"perfledger.{name}")).items():
                own = (
                    inspect.isfunction(inspect.unwrap(value))
                    and getattr(value, "__module__", "") == f"perfledger.{name}"
                )
                if own and (neutral := neutral_of(value)):
                    yield f"{name}:{key}", value, neutral


def neutral_of(function: Any) -> Neutral | None:
    """Return a function with the neutral value that replaces another, or None if the annotation has no such value."""
    signature = inspect.signature(function)
    returned = str(signature.return_annotation)
    if returned.endswith("| None"):
        return lambda *_a, **_k: None
    if returned in _ARRAYS:
        return lambda *given, **_k: np.zeros(_length(given[0]), dtype=np.uint8 if returned == "Kinds" else np.bool_)
    same = [name for name, each in signature.parameters.items() if str(each.annotation) == returned]
    if same and returned not in ("bool", "str", "bytes", "int", "float"):
        return lambda *given, **named: signature.bind(*given, **named).arguments[same[0]]
    made = _EMPTY.get(returned.partition("[")[0])
    return (lambda *_a, **_k: made()) if made else None


def _length(given: Any) -> int:
    return len(given) if hasattr(given, "__len__") else 0


def replace_everywhere(function: Any, other: Any) -> None:
    """Replace a function in all modules and classes of the product."""
    for module in list(sys.modules.values()):
        if not (getattr(module, "__name__", "") or "").startswith("perfledger."):
            continue
        for key, value in list(vars(module).items()):
            if value is function:
                setattr(module, key, other)
            elif isinstance(value, dict):
                value.update({name: other for name, each in value.items() if each is function})


def is_same(one: Any, other: Any) -> bool:
    """Return whether two values are equal; arrays by elements, and records with arrays only if they are identical."""
    if one is other:
        return True
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.shape == other.shape and bool(((one == other) | ((one != one) & (other != other))).all())
    try:
        return type(one) is type(other) and bool(one == other)
    except ValueError:  # the truth of an array
        return False


def watched(function: Any, neutral: Neutral, seen: Counter[str]) -> Any:
    """Return a function that counts its calls, and the calls that do not return the neutral value."""

    @wraps(function)
    def watching(*given: Any, **named: Any) -> Any:
        result = function(*given, **named)
        if hasattr(result, "__next__"):
            result = list(result)
            seen["effects"] += bool(result)
            seen["calls"] += 1
            return iter(result)
        seen["calls"] += 1
        seen["effects"] += not is_same(result, neutral(*given, **named))
        return result

    return watching


def read_all(trees: list[reference.Tree]) -> dict[reference.Key, reference.Row]:
    """Read all logs in this process, which has the replaced functions; duplicates are not marked."""
    formats()
    found = {}
    for tree in trees:
        named = layouts.load(tree.layout)
        for each in named.logs_of(walk([tree.path], [tree.name.rpartition("/")[2]])).inputs:
            for run in runs_of(each, named, each.name):
                faults = [problem for problem in run.problems if problem.code == "fault"]
                if faults:
                    raise click.ClickException(f"{each.name}: {faults[0].args}")
                row = reference.row_of(tree, run)
                found[reference.key_of(row)] = row
    return found


@click.command()
@click.argument("names", nargs=-1, metavar="[MODULE:FUNCTION]...")
@click.option("--modules", default=",".join(MODULES), show_default=True, help="Files or folders to watch.")
def main(names: tuple[str, ...], modules: str) -> None:
    """List the functions that no real log needs, or replace some and print the rows that move."""
    found = list(functions(tuple(modules.split(","))))
    if not names:
        seen: dict[str, Counter[str]] = defaultdict(Counter)
        for name, function, neutral in found:
            replace_everywhere(function, watched(function, neutral, seen[name]))
        read_all(reference.trees())
        for name, _, _ in found:
            if seen[name]["calls"] and not seen[name]["effects"]:
                click.echo(f"{name}: {seen[name]['calls']} calls, no effect")
        return
    before = read_all(reference.trees())
    known = {name: (function, neutral) for name, function, neutral in found}
    for name in names:
        if name not in known:
            raise click.ClickException(f"{name}: no such function, or its neutral value is not known")
        replace_everywhere(*known[name])
    for sentence in reference.moved(before, read_all(reference.trees())):
        click.echo(sentence)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main(prog_name="python -m tests.ablation")
