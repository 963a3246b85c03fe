"""What other programs read: results, changes and badges as files; the same figures as the pages show."""
