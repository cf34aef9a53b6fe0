"""Diagnosis of failures: mutants with the same outputs, or what the failing cases share."""
