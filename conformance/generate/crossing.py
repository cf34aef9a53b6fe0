"""A case made of parts of two others."""

from __future__ import annotations

import random
from typing import Any

from conformance.generate.spelling import in_full, spelled
from conformance.model import Case
from conformance.spec.environment import dimensions
from conformance.spec.model import OpSpec


def cross(spec: OpSpec, a: Case, b: Case, chance: random.Random) -> Case:
    """A case with every part from one of two parents of the same rank; it may be invalid.

    Parts are the data (pattern, seed, types), batch and channels, the single attributes together,
    and what stands on each axis.
    """
    axes = len(a.shapes[spec.data.name]) - 2
    data, batch, single = (chance.choice((a, b)) for _ in range(3))
    by_axis = [chance.choice((a, b)) for _ in range(axes)]

    given = {id(parent): in_full(spec, parent) for parent in (a, b)}
    attributes: dict[str, Any] = {}
    for quantity in spec.attributes:
        if quantity.per_axis:
            attributes[quantity.name] = [
                given[id(parent)][quantity.name][axis] for axis, parent in enumerate(by_axis)
            ]
        else:
            attributes[quantity.name] = given[id(single)][quantity.name]
    shape: list[int] = []
    sizes = {id(parent): dimensions(spec, parent.shapes[spec.data.name]) for parent in (a, b)}
    for name in spec.data.shape:
        if spec.dims[name].per_axis:
            shape += [sizes[id(parent)][name][axis] for axis, parent in enumerate(by_axis)]
        else:
            shape.append(sizes[id(batch)][name])
    return Case(
        op=a.op,
        types=dict(data.types),
        shapes={spec.data.name: tuple(shape)},
        attributes=spelled(spec, attributes, data.seed),
        operands={
            o.name: tuple(parent.operands[o.name][axis] for axis, parent in enumerate(by_axis))
            for o in spec.operands
        },
        pattern=data.pattern,
        seed=data.seed,
    )
