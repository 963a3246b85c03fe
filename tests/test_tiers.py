"""Files that `tiers.py` names exist: a test of a renamed file would run in the quick tier."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import tiers

FILES = {path.stem for path in Path(__file__).parent.rglob("test_*.py")}


@pytest.mark.parametrize("name", [*tiers.FILES, tiers.JOURNEYS])
def test_every_file_with_a_marker_exists(name: str) -> None:
    assert name in FILES
