"""Measurements, as ratios within one run, on which the claims of speed rest. `make bench` runs them; no test does."""
