"""Redaction: rules for the parts of a log that must not be published, and one function that removes them."""
