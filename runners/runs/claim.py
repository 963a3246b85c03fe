"""The folder of a run: taken in one step, with its `launch.json` in it, and taken back where nothing ran."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from runners.errors import RunnerError
from runners.runs.launch_file import NAME, lock
from runners.runs.plan import Run, next_repeat


@contextmanager
def claimed(run: Run, content: Callable[[Run], Mapping[str, Any]]) -> Iterator[tuple[Run, Mapping[str, Any]]]:
    """Makes the folder of a run and attends it; yields the run with the number it got, and its `launch.json`.

    Where another took that number meanwhile, the run has the next one. Raises RunnerError where the folder cannot be
    made.
    """
    parents = [run.folder.parent, *run.folder.parent.parents]
    absent = [folder for folder in parents if not folder.exists()]
    made = run.folder.parent / f".claim.{os.getpid()}"
    try:
        run, document, file = _claim(run, made, content)
        with file:
            yield run, document
    finally:
        shutil.rmtree(made, ignore_errors=True)
        _drop_empty(absent)


def disclaim(folder: Path) -> None:
    """Takes back the folder of a run that was refused; one that holds a log stays as it is, for nothing deletes one."""
    if not any(path.stat().st_size for path in folder.rglob("train.log")):
        shutil.rmtree(folder)


def _claim(run: Run, made: Path, content: Callable[[Run], Mapping[str, Any]]) -> tuple[Run, Mapping[str, Any], IO[str]]:
    try:
        made.mkdir(parents=True, exist_ok=True)
        while True:
            document = content(run)
            file = _written(made / NAME, document)
            lock(file, run.folder)
            if _renamed(made, run.folder):
                return run, document, file
            file.close()
            number = next_repeat(run.folder.parent)
            run = replace(run, repeat=number, folder=run.folder.parent / str(number))
    except OSError as error:
        raise RunnerError(
            f"{run.folder}: it cannot be made: {error.strerror}; make room there, or name another place with --raw-logs"
        ) from error


def _written(path: Path, content: Mapping[str, Any]) -> IO[str]:
    file = path.open("w", encoding="utf-8")
    json.dump(content, file, indent=1, ensure_ascii=False)
    file.flush()
    os.fsync(file.fileno())
    return file


def _renamed(made: Path, folder: Path) -> bool:
    """Whether the folder got its name; not where another has it."""
    try:
        if not folder.exists():
            made.rename(folder)
            return True
    except OSError:
        if not folder.exists():
            raise
    return False


def _drop_empty(folders: list[Path]) -> None:
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:
            return
