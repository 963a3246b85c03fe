"""Mutated logs: `python -m tests.fuzz` reads real logs with bytes changed, and looks for what must never happen.

A mutation is made from a seed and its number alone, so that it can be made again. `operators` change bytes,
`properties` say what must hold of every log however damaged it is, and `minimise` makes a failing log small.
"""
