"""Read inputs: walk folders, decode run.json and layouts, merge facts, redact private details."""
