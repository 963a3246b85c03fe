"""Render tables, charts and pages, without knowing what they show."""
