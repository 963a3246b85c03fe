"""What lies beside a log and says how the devices fared: one module per printer, none of which reads training logs.

The modules with a `PRINTER` are the registry, as those with a `FORMAT` are of the logs.
"""
