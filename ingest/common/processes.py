"""Processes that read logs, this one too: others end with the one that started them, however that ends."""

from __future__ import annotations

import gc
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from threading import Thread


def pool(count: int, *, anew: bool = False) -> ProcessPoolExecutor:
    """Return so many processes; with `anew`, none is a copy of this one, whose threads a library may need.

    By themselves they would wait for work for ever once the process that gives it is killed: each holds a copy of the
    pipe's other end, so none sees the end of it.
    """
    context = get_context("spawn") if anew else None
    return ProcessPoolExecutor(count, mp_context=context, initializer=_begin)


def keep_objects() -> None:
    """Look for garbage less often: most objects live until the end, and looking took a tenth of a large build."""
    gc.set_threshold(50_000, 20, 50)


def _begin() -> None:
    keep_objects()
    Thread(target=_wait, daemon=True).start()


def _wait() -> None:
    if (parent := parent_process()) is not None:
        parent.join()
        os._exit(1)
