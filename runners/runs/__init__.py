"""The life of one run at home: planned, claimed, started, attended, collected into `run.json`."""
