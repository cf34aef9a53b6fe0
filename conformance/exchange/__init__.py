"""Vectors for a device that no process here can reach, and the outputs that come back."""
