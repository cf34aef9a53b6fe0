"""The oracle as a backend; checking a suite with it verifies the suite itself."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from typing import Any

from conformance import __version__
from conformance.backends.options import Option
from conformance.core.operator import Operator
from conformance.dtypes import Array
from conformance.errors import Unsupported
from conformance.specification import outputs, select_specs, shipped_specs


class Reference:
    """The oracle: exact results, each rounded once into its own type.

    ``specs`` are the specifications that it answers by: those of a suite (``suite.specs``), or by
    default those that are shipped; a path is that of a YAML file, beside the shipped ones.
    """

    name = "reference"
    version = __version__
    options = (Option("specs", "A specification of your own, a YAML file."),)
    specs = shipped_specs()

    def __init__(self, specs: Mapping[str, Operator] | str | None = None) -> None:
        if isinstance(specs, str):
            specs = ChainMap(select_specs([specs]), shipped_specs())  # type: ignore[arg-type] # only read
        if specs is not None:
            self.specs = specs

    def run(
        self, op: str, inputs: Sequence[Array | None], attributes: Mapping[str, Any]
    ) -> list[Array]:
        """Compute the outputs of ``op`` in their types.

        Raises:
            InvalidCase: its specification refuses the arguments.
            Unsupported: there is no specification of it.
        """
        spec = self.specs.get(op)
        if spec is None:
            raise Unsupported(
                f"no specification of {op} is shipped; name its file: reference?specs=FILE.yaml"
                if self.specs is type(self).specs
                else f"no specification of {op} is shipped, and the file given has another operator"
            )
        return outputs(spec, inputs, attributes)
