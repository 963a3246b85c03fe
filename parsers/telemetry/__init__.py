"""Printers of telemetry: files next to a log with samples of its devices or its machine."""
