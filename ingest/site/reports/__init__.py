"""Pages that rebuild the reports of others from their published figures."""
