"""Shared tools: files, TOML files, words in both languages, number formatting, suites, problems and errors."""
