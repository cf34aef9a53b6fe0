"""Views of run logs: one module a format, each a function of the log alone."""
