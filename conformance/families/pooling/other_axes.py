"""The outputs of mutants that take windows over other dimensions than the spatial ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod

from conformance.dtypes import Array
from conformance.families.pooling.facts import DataEnvironment


def viewed(env: DataEnvironment, made: Callable[[DataEnvironment], list[Array]]) -> list[Array]:
    """What is made of an environment, by its rule ``pooled``.

    For ``last_two`` the data are read as planes of their last two dimensions; of the others each
    stays, and an axis of one follows for every spatial one.
    """
    if env["pooled"] == "own":
        return made(env)
    spec, case = env.of
    shape = env.given_data.shape
    first, *others = shape[:-2]
    planes = env.given_data.reshape(first, prod(others), *shape[-2:])
    case = replace(case, shapes={**case.shapes, spec.data.name: planes.shape})
    definitions = {**env.definitions, "pooled": spec.definitions["pooled"]}
    found = made(DataEnvironment(spec, case, planes, definitions))
    return [one.reshape(first, *others, *(1,) * len(env.out)) for one in found]
