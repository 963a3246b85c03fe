"""Compare two states of the recorded results."""
