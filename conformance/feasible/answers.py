"""Results of the prover, and its limits."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.model import Case


@dataclass(frozen=True)
class CaseLimits:
    """How large a case may be.

    ``elements`` bounds the elements of the data and of an output (N * C * prod(size) and
    N * C * prod(out), neither empty), and the magnitude of every other whole number of the case.
    """

    elements: int = 1 << 18


@dataclass(frozen=True)
class Infeasible:
    """No valid case shows all the edges.

    ``uses`` names what cannot hold together, sorted: ``edge ceil-exact``, ``require kernel-fits``,
    ``domain size`` (what a quantity may legally be), ``limit elements``, ``data nan_taps`` (what a
    pattern can hold), ...
    """

    uses: tuple[str, ...]


@dataclass(frozen=True)
class Feasible:
    """A valid case that shows the edges as far as they do not speak of the data.

    Whether its data show them too depends on its seed, and may fail for all of them.
    """

    case: Case


@dataclass(frozen=True)
class Unknown:
    """Neither was found; ``why`` is a sentence."""

    why: str
