"""Data files for programs: results, changes, badges and problems."""
