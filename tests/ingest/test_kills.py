"""Kills at random moments: no file is torn, and the next run gives the bytes of a cold one without leftovers."""

from __future__ import annotations

import random
import shutil
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from calls import start, unfinished, wait
from made_logs import run_json, seg
from made_trees import contents, make_tree, write_run

Found = dict[str, bytes]
#: States before a build: no files, the pages of other logs, or no files and two reading processes.
WAYS = {"cold": (False, ()), "incremental": (True, ()), "processes": (False, ("--jobs", 2))}
SEED = 20260101


@dataclass(frozen=True)
class Place:
    """Logs, the files of their build, and the files of a build of the earlier logs."""

    top: Path
    whole: Found
    earlier: Found
    seconds: float

    @property
    def out(self) -> Path:
        return self.top / "docs"

    def clear(self, *, keep_earlier: bool) -> None:
        for name in ("docs", ".perfledger"):
            shutil.rmtree(self.top / name, ignore_errors=True)
            if keep_earlier:
                shutil.copytree(self.top / "before" / name, self.top / name)


def build(top: Path, *options: object) -> Found:
    call = start(top / "said", top / "logs", "--out", top / "docs", *options)
    assert call.code() == 0, call.said
    assert call.left() == []
    return contents(top / "docs")


def change(logs: Path) -> None:
    """Change one log, remove one, and add one."""
    write_run(logs, "seg/paddleseg/bs2/1", seg([2.0] * 12, batch=2), run=run_json(batch_size=2, repeat=1))
    shutil.rmtree(logs / "seg/paddleseg/fast")
    write_run(logs, "seg/paddleseg/new/1", seg([7.0] * 9, batch=3), run=run_json(batch_size=3))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, light_site: None) -> Place:
    top = tmp_path_factory.mktemp("kills")
    logs = make_tree(top / "logs")
    earlier = build(top)
    (top / "before").mkdir()
    for name in ("docs", ".perfledger"):
        shutil.move(top / name, top / "before" / name)
    change(logs)
    begun = time.monotonic()
    return Place(top, build(top), earlier, time.monotonic() - begun)


def torn(place: Place) -> list[str]:
    """Return the files that are neither in their earlier nor in their final state."""
    left = {str(each.relative_to(place.out)) for each in unfinished(place.out)}
    found = contents(place.out) if place.out.is_dir() and any(place.out.rglob("*.*")) else {}
    return [
        name
        for name, data in found.items()
        if name not in left and data not in (place.whole.get(name), place.earlier.get(name))
    ]


@pytest.mark.parametrize("way", WAYS)
def test_a_kill_tears_no_file_and_the_next_run_completes_all(place: Place, way: str, times: int) -> None:
    keep_earlier, options = WAYS[way]
    moments = random.Random(f"{SEED} {way}")
    met: Counter[str] = Counter()
    while met["killed"] < max(1, times):
        place.clear(keep_earlier=keep_earlier)
        call = start(place.top / "said", place.top / "logs", "--out", place.out, *options)
        time.sleep(moments.uniform(0, place.seconds))
        if not call.kill():
            continue  # it had ended
        met["killed"] += 1
        assert wait(lambda call=call: call.left() == []), "a process waits for ever for the one that was killed"  # type: ignore[misc]
        assert torn(place) == []
        met["with unfinished files"] += bool(unfinished(place.top))
        assert build(place.top, *options) == place.whole
        assert unfinished(place.top) == []
        notes = {each.name for each in (place.top / ".perfledger").rglob("*") if each.is_file()}
        # The last build has a note if no log changed within the last two seconds.
        assert notes - {"last_build.json"} == {"cache.sqlite", "lock", "sources.json"}
    print(f"{way}: {dict(met)}")
