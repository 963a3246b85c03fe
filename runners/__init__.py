"""Run a recipe and collect its raw log: `python -m runners list`, `show`, `run`.

No figure is computed here. A run leaves a folder with `train.log` as printed and a `run.json`, which is all that its
readers need (`runners/README.md`).
"""
