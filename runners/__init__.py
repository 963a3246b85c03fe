"""Launches a recipe and brings home its raw log: `python -m runners list`, `show`, `run`.

Thin on purpose: no figure is computed here. What a run leaves behind is a folder with `train.log` as printed and a
`run.json`, the whole contract with whatever reads it (`runners/README.md`).
"""
