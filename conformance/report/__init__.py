"""Reports from run logs: one module per format, each a function of the log alone."""
