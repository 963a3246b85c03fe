"""Printers whose logs DLPerf collects and no other wing reads."""
