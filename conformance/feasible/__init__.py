"""Feasibility: whether coverage targets can hold together, as a proof or a possible case.

:class:`Prover` needs z3, which the extra ``generate`` installs; importing this package does not.
"""

from conformance.feasible.answers import CaseLimits, Feasible, Infeasible, Unknown
from conformance.feasible.prover import Prover

__all__ = ["CaseLimits", "Feasible", "Infeasible", "Prover", "Unknown"]
