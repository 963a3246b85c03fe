"""Telemetry: files beside a log with samples of its devices or its machine. One module per format.

The registry finds the modules that have a `FORMAT`, as it does for formats of training logs.
"""
