"""Measurements, as ratios within one run, on which the claims of speed rest. `make bench` runs them; no test does."""

import perfledger.parsers  # noqa: F401 - first of all it refuses a Python that would misread logs
