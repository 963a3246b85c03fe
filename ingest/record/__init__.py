"""Turn logs into run records, and keep them in the ledger."""
