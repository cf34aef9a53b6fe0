"""Backends with one known bug each, to be found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from conformance.backends.capabilities import Capabilities
from conformance.errors import Unsupported
from conformance.implementations import implementation_of, subject_of
from conformance.specification import case_from_inputs, find_spec, mutants_of, violations

Array = np.ndarray
Run = Callable[[str, list[Array], dict[str, Any]], Any]


class Mutant:
    """An implementation in Python and numpy of one operator, with mutants of the catalogue."""

    version = "1"

    def __init__(self, op: str, *ids: str) -> None:
        self.op, self.name = op, "+".join(ids) or "honest"
        self._spec = find_spec(op)
        bank = {fault.id: fault for fault in mutants_of(self._spec)}
        self._altered = implementation_of(self._spec, *(bank[one].change for one in ids))

    def run(self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> list[Array]:
        if op != self.op:
            raise Unsupported(f"{op} is not implemented")
        case = case_from_inputs(self._spec, list(inputs), attributes)
        if broken := violations(self._spec, case):
            raise ValueError("; ".join(one.message for one in broken))
        with np.errstate(all="ignore"):
            return list(subject_of(self._spec, case, inputs).under(self._altered))


class Function:
    """A function as a backend of one operator."""

    version = "1"
    capabilities = Capabilities()

    def __init__(self, op: str, name: str, run: Run) -> None:
        self.op, self.name, self._run = op, name, run

    def run(self, op: str, inputs: list[Array], attributes: dict[str, Any]) -> Any:
        if op != self.op:
            raise Unsupported(f"{op} is not implemented")
        return self._run(op, inputs, attributes)
