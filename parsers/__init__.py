"""Formats quote: what one printer states on one log line, and nothing computed from it.

Nothing here opens a file for writing, reads a file name or knows the ingest layer.
"""
