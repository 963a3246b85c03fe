"""Printers from beyond the source reports' own harnesses: training frameworks and libraries as their users run them.

Their lines are shared by whole families of programs, so a format here says which family it reads and what its printers
leave unsaid.
"""
