"""The run log: one JSON object a line, written while a check runs and read by every report."""
