"""Printers of telemetry: files beside a log with samples of its devices or its machine."""
