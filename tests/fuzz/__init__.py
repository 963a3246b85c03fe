"""Mutated logs: `python -m tests.fuzz` reads real logs with changed bytes, and finds broken properties.

A seed and a number determine a mutation, so it can be repeated. `operators` change bytes, `properties` check how a log
is read, and `minimise` makes a failing log small.
"""
