"""Run a recipe and collect its raw log: `python -m runners list`, `show`, `run`.

Figures are computed by `ingest`. A run leaves a folder with its `train.log` and a `run.json` (`docs/guide/runs.md`).
"""
