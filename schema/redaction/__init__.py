"""Redaction: what must not be published of a log, as rules, and the one way by which it is taken out of every text."""
