"""How strong a suite is: which faults it notices, which edges and pairs of edges it shows."""
