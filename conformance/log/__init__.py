"""The run log: JSON lines, written during a check and read by every report."""
