"""Runs: sends vectors to a backend in worker processes, and writes the log."""
