"""Figures that others published: reading, audit and report declarations."""
