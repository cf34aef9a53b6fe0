"""The oracle as a backend; checking a suite with it verifies the suite itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from conformance import __version__
from conformance.errors import Unsupported
from conformance.reference import evaluate
from conformance.spec.loader import shipped
from conformance.spec.model import OpSpec

Array = NDArray[Any]


class Reference:
    """The oracle: exact results, each rounded once into its own type.

    ``specs`` are the specifications that it answers by: those of a suite (``suite.specs``), or by
    default those that are shipped.
    """

    name = "reference"
    version = __version__
    specs = shipped()

    def __init__(self, specs: Mapping[str, OpSpec] | None = None) -> None:
        if specs is not None:
            self.specs = specs

    def run(self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> list[Array]:
        """Outputs of ``op`` in their own types.

        Raises InvalidCase for what its specification refuses, and Unsupported without one.
        """
        spec = self.specs.get(op)
        if spec is None:
            raise Unsupported(f"no specification of {op} is shipped")
        return evaluate(spec, list(inputs), attributes, exact=False)
