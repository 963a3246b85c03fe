"""The site: results, runs and facts become pages, tables and charts, once for both languages."""
