"""How strong a suite is: which faults it notices, which edges and pairs of edges it shows."""

PRECISION = "standard"
"""The precision at which vectors are held to notice faults."""
