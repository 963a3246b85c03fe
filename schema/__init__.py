"""What `parsers`, `runners` and `ingest` share: the vocabulary, and the typed records of every document."""
