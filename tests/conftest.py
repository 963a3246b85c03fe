"""How many tests run at once."""

from __future__ import annotations

import os


def pytest_xdist_auto_num_workers() -> int:
    """Start two workers per core: half of the time, tests of runners and pages wait for hosts and browsers."""
    return 2 * (os.cpu_count() or 1)
