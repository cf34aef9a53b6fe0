"""Specifications: YAML, the expression language, mutants and strata."""
