"""The oracle of the family ``pooling``: means, maxima and norms over windows, by their rules."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import DTYPES, Array
from conformance.families.pooling import lp, machine, maximum, mean
from conformance.families.pooling.facts import DEPENDS, DataEnvironment
from conformance.families.pooling.many import WindowBatch
from conformance.families.pooling.other_axes import viewed
from conformance.families.pooling.windows import WindowEnvironment
from conformance.families.pooling.windows import is_whole as is_whole
from conformance.model import OPEN_BIT, Answer, Case
from conformance.reference.subject import values_of
from conformance.spec.case_environment import Evaluable
from conformance.spec.case_table import Table
from conformance.spec.model import OpSpec, OutputSpec

ADDED = {"mean": mean, "lp": lp}
"""What the rule ``reduce`` can be where elements are added up."""


LARGE = 1 << 18
"""Outputs of a wrong shape with more taps are not worked out: the shape tells enough."""

depends = DEPENDS


def environment(
    spec: OpSpec, case: Case, inputs: Sequence[Array], definitions: Mapping[str, Evaluable]
) -> DataEnvironment:
    """The values of one case with its data."""
    return DataEnvironment(spec, case, inputs[0], definitions)


def case_environment(spec: OpSpec, case: Case) -> WindowEnvironment:
    """The values of one case without its data."""
    return WindowEnvironment(spec, case)


def batch(table: Table) -> WindowBatch:
    """Many cases at once."""
    return WindowBatch(table)


def shape(env: DataEnvironment) -> tuple[int, ...]:
    """The shape of the outputs."""
    return (*env.data.shape[:2], *env.out)


def too_large(
    env: DataEnvironment, right: DataEnvironment, shapes: Collection[tuple[int, ...]]
) -> tuple[int, ...] | None:
    """The shape of outputs of many taps, if it is neither the right one nor in ``shapes``."""
    found = shape(env)
    of_interest = env.out == right.out or found in shapes
    return found if not of_interest and _taps(env) > LARGE else None


def _taps(env: DataEnvironment) -> int:
    """At least how many taps all windows of all planes have; an empty window counts for one."""
    per_axis = (np.maximum(env.along("taps", axis), 1).sum() for axis in range(len(env.out)))
    return prod(env.data.shape[:2]) * prod(map(int, per_axis))


def answers(env: DataEnvironment, spec: OpSpec) -> tuple[Answer, ...]:
    """What each output must be."""
    open_mask: NDArray[np.bool_] = np.asarray(env["open"], dtype=np.bool_)
    if env["reduce"] in ADDED:
        added = ADDED[env["reduce"]]
        return tuple(added.answer(env, output, open_mask) for output in spec.outputs)
    return tuple(
        maximum.answer(env, output, dtype_of(spec, output, env), open_mask)
        for output in spec.outputs
    )


_COMPUTED = {
    "mean": ("divisor", "zero_divisor", "factor", "accumulator", "quotient", "rounding", "nan"),
    "lp": (
        *("divisor", "zero_divisor", "factor", "accumulator", "quotient", "rounding", "nan"),
        *("power", "root", "powers_of", "negative_root"),
    ),
    "max": ("order", "begins"),
}
_ALWAYS = ("reduce", "passes_through", "conversion", "subnormals", "infinities")
PLACED = ("image", "channel", "written", "unwritten")
"""The rules that say where what was computed is put."""


def made_of(env: DataEnvironment, spec: OpSpec) -> tuple[str, ...]:
    """The rules that :func:`computed` depends on, beside the elements that windows read."""
    index = (
        ("index", "index_axes") if any(output.holds == "index" for output in spec.outputs) else ()
    )
    return (*_ALWAYS, *_COMPUTED[env["reduce"]], *index)


def outputs(env: DataEnvironment, spec: OpSpec, *, dtype: str | None = None) -> list[Array]:
    """The values of each output alone, in its own type, or all floating ones in ``dtype``."""
    return viewed(env, lambda one: placed(one, computed(one, spec, dtype=dtype)))


def remembered(env: DataEnvironment, spec: OpSpec, kept: dict[Any, list[Array]]) -> list[Array]:
    """The outputs in their own types; what they are made of makes the same ones again."""
    return viewed(env, lambda one: _remembered(one, spec, kept))


def _remembered(env: DataEnvironment, spec: OpSpec, kept: dict[Any, list[Array]]) -> list[Array]:
    types = (dtype_of(spec, output, env) for output in spec.outputs)
    rules = (*env.windows, *types, *values_of(env, made_of(env, spec)))
    if rules not in kept:
        kept[rules] = computed(env, spec)
    where = (*rules, *values_of(env, PLACED))
    if where not in kept:
        kept[where] = placed(env, kept[rules])
    return kept[where]


def computed(env: DataEnvironment, spec: OpSpec, *, dtype: str | None = None) -> list[Array]:
    """What is worked out for each element of each output, wherever it is then put."""
    found = []
    for output in spec.outputs:
        own = dtype_of(spec, output, env)
        if output.holds == "index":
            found.append(maximum.indices(env, own))
            continue
        if env["reduce"] in ADDED:
            values = ADDED[env["reduce"]].values(env, dtype or own)
        else:
            asked = dtype if dtype and DTYPES[own].is_float else own
            values = maximum.values(env).astype(DTYPES[asked].numpy)
        values = machine.over_zero(env, machine.without_subnormals(env, values))
        found.append(machine.without_infinities(env, values))
    return found


def ends(env: DataEnvironment, spec: OpSpec, precision: str) -> list[Array]:
    """For each output the lower and then the upper end of what ``precision`` accepts."""
    return viewed(env, lambda one: placed(one, _ends(one, spec, precision)))


def _ends(env: DataEnvironment, spec: OpSpec, precision: str) -> list[Array]:
    """The ends before they are put into their places.

    Where the rules name an accumulator, it bounds what is accepted, whatever ``precision`` says; a
    result that is cut off and an index are accepted alone.
    """
    if env["accumulator"] != "exact":
        return [machine.over_zero(env, end) for end in ADDED[env["reduce"]].ends(env)]
    if env["rounding"] != "nearest":
        return [end for values in computed(env, spec) for end in (values, values)]
    found: list[Array] = []
    for answer in answers(env, spec):
        if answer.rounded is None:
            found += [answer.expected, answer.expected]
        else:
            interval = (machine.without_infinities(env, end) for end in answer.interval(precision))
            found += (machine.over_zero(env, end) for end in interval)
    return found


def placed(env: DataEnvironment, found: list[Array]) -> list[Array]:
    """What was computed, each element where the rules put it."""
    return [machine.placed(env, output) for output in found]


def unspecified(env: DataEnvironment, spec: OpSpec, precision: str | None = None) -> list[Array]:
    """For each output which elements have no value to check: by the rule ``open``, and where
    partial sums may overflow at a ``precision``, if one is given.
    """
    return viewed(env, lambda one: _unspecified(one, spec, precision))


def _unspecified(env: DataEnvironment, spec: OpSpec, precision: str | None) -> list[Array]:
    mask = np.broadcast_to(np.asarray(env["open"], np.bool_), shape(env))
    found = [
        maximum.laid_out(env, mask) if output.holds == "index" else mask for output in spec.outputs
    ]
    exact = env["reduce"] in ADDED and env["accumulator"] == "exact" and env.dtype.is_float
    if precision is None or not exact:
        return found
    graded = (one.open for one in answers(env, spec))
    return [
        mask if bits is None else mask | (bits & OPEN_BIT[precision] != 0)
        for mask, bits in zip(found, graded, strict=True)
    ]


def dtype_of(spec: OpSpec, output: OutputSpec, env: DataEnvironment) -> str:
    """The type of an output: a type variable's, or what an attribute says."""
    if output.type in spec.types:
        return str(env[output.type])
    return str(env[output.type.replace("-", "_")])
