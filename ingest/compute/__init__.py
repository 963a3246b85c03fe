"""Compute figures from observations: series, rules, metrics and results."""
