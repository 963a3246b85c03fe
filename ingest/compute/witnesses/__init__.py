"""Witnesses: the independent ways to a figure that the same log offers, and whether they agree with it.

Each is generic: it uses the columns and facts that the log has, whatever printed them, and is silent where they do not
suffice. `ingest.compute.measurement` holds the figures of a session against all of them.
"""
