"""Reports that others published, rebuilt from their figures by declarations."""
