"""The reference of the family ``pooling``: any mean or maximum over windows, by its rules."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import DTYPES, Array
from conformance.model import Answer, Case
from conformance.reference import maximum, mean
from conformance.reference.facts import DataEnvironment
from conformance.reference.variants import definitions_of
from conformance.spec.model import OpSpec, OutputSpec, Variant


def environment(
    spec: OpSpec, case: Case, data: Array, variants: Iterable[Variant] = ()
) -> DataEnvironment:
    """The values of one case with its data, under the rules that ``variants`` replace."""
    return DataEnvironment(spec, case, data, definitions_of(spec, variants))


def answers(env: DataEnvironment, spec: OpSpec, case: Case) -> tuple[Answer, ...]:
    """What each output must be."""
    open_mask: NDArray[np.bool_] = np.asarray(env["open"], dtype=np.bool_)
    if env["reduce"] == "mean":
        return tuple(mean.answer(env, output, open_mask) for output in spec.outputs)
    return tuple(
        maximum.answer(env, output, dtype_of(spec, output, case), open_mask)
        for output in spec.outputs
    )


def outputs(
    env: DataEnvironment, spec: OpSpec, case: Case, *, dtype: str | None = None
) -> list[Array]:
    """The values of each output alone, in its own type, or all floating ones in ``dtype``."""
    found = []
    for output in spec.outputs:
        own = dtype_of(spec, output, case)
        if output.holds == "index":
            found.append(maximum.indices(env, own))
        elif env["reduce"] == "mean":
            found.append(mean.values(env, dtype or own))
        else:
            found.append(maximum.values(env).astype(DTYPES[dtype or own].numpy))
    return found


def dtype_of(spec: OpSpec, output: OutputSpec, case: Case) -> str:
    """The type of an output: a type variable's, or what an attribute says."""
    if output.type in case.types:
        return case.types[output.type]
    for quantity in spec.attributes:
        if quantity.name == output.type:
            return str(case.attributes.get(quantity.name, quantity.default))
    raise KeyError(output.type)
