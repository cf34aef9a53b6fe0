"""Explains one output element: its window, the taps that count, the divisor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

from conformance.dtypes import Array
from conformance.errors import InvalidCase
from conformance.families.pooling.facts import DataEnvironment
from conformance.model import Case
from conformance.reference import facts
from conformance.spec.model import OpSpec, RuleChange


@dataclass(frozen=True)
class Window:
    """The window of one output element.

    ``index`` is the element's in the output (N, C, *out). ``coordinates`` lists for each axis the
    positions of the taps, counted from the first element of the data, so that those on padding
    are negative or beyond ``size``; ``read`` the positions that they read, by the rule ``reads``;
    ``counted`` which of them are taken. ``plane`` is the image and the channel that they are in.
    ``pads`` are the padding before and after the data of each axis: what the specification defines
    as ``pad_begin`` and ``pad_end``, 0 where it defines none. ``values`` has those that count, by
    their coordinates. ``divisor`` is None for an operator that does not average. What is not
    ``written`` does not come from the window at all.
    """

    index: tuple[int, ...]
    size: tuple[int, ...]
    plane: tuple[int, int]
    coordinates: tuple[tuple[int, ...], ...]
    read: tuple[tuple[int, ...], ...]
    counted: tuple[tuple[bool, ...], ...]
    pads: tuple[tuple[int, int], ...]
    values: dict[tuple[int, ...], Any]
    divisor: int | None
    written: bool = True

    @property
    def taps(self) -> int:
        """How many taps count."""
        return prod(sum(one) for one in self.counted)

    def cells(self) -> Iterator[tuple[tuple[int, ...], Any]]:
        """Every tap in row-major order: its coordinates, and its value or None on padding."""
        for at in product(*self.coordinates):
            yield at, self.values.get(at)


def window(
    spec: OpSpec,
    case: Case,
    inputs: Sequence[Array],
    index: tuple[int, ...],
    variants: tuple[RuleChange, ...] = (),
) -> Window:
    """The window of the output element ``index`` (N, C, *out) of a valid case.

    ``variants`` replace rules of the specification, as the readings of a document do.
    Raises :class:`~conformance.errors.InvalidCase` for an element that the output has not.
    """
    data = inputs[0]
    env = facts(spec, case, inputs, variants)
    assert isinstance(env, DataEnvironment)
    shape = (*data.shape[:2], *env.out)
    if len(index) != len(shape) or not all(0 <= i < n for i, n in zip(index, shape, strict=True)):
        raise InvalidCase(f"{spec.op}: an output of shape {shape} has no element {index}")
    coordinates, read, counted = [], [], []
    for axis, number in enumerate(index[2:]):
        start, taps, step = (int(env.along(n, axis)[number]) for n in ("start", "taps", "step"))
        coordinates.append(tuple(start + t * step for t in range(taps)))
        positions, flags = env.listed(axis)
        read.append(tuple(int(at) for at in positions[number][:taps]))
        counted.append(tuple(bool(c) for c in flags[number][:taps]))

    def here(name: str) -> Any:
        return np.broadcast_to(np.asarray(env[name]), shape)[index]

    image, channel = (
        int(np.clip(here(name), 0, extent - 1))
        for name, extent in zip(("image", "channel"), shape, strict=False)
    )
    taken = (
        [(at, place) for at, place, counts in zip(*axis, strict=True) if counts]
        for axis in zip(coordinates, read, counted, strict=True)
    )
    values = {
        tuple(at for at, _ in taps): data[(image, channel, *(place for _, place in taps))]
        for taps in product(*taken)
    }
    # Elements are put in their places last: the divisor is that of the plane that is read.
    divisor = None
    if env["reduce"] == "mean":
        grid = np.broadcast_to(np.asarray(env["divisor"]), shape)
        divisor = int(grid[(image, channel, *index[2:])])
    return Window(
        index=index,
        size=tuple(env.per_axis("size")),
        plane=(image, channel),
        coordinates=tuple(coordinates),
        read=tuple(read),
        counted=tuple(counted),
        pads=_pads(spec, env),
        values=values,
        divisor=divisor,
        written=bool(here("written")),
    )


def described(seen: Window, inputs: Sequence[Array]) -> dict[str, Any] | None:
    """A window as JSON data for pictures; None for one without taps, which has no place, and for
    an element that is not written.

    ``input`` is the plane of the data (N, C, *size) that it reads, as a nested list of floats over
    the spatial axes. For each axis ``positions`` are what the taps read, ``counts`` which of them
    are taken, ``pads`` the padding ``[begin, end]``. ``divisor`` is left out for an operator that
    does not average.
    """
    if not (all(seen.coordinates) and seen.written):
        return None
    found: dict[str, Any] = {
        "input": inputs[0][seen.plane].astype(float).tolist(),
        "positions": [list(at) for at in seen.read],
        "counts": [list(counted) for counted in seen.counted],
        "pads": [list(pads) for pads in seen.pads],
    }
    return found if seen.divisor is None else {**found, "divisor": seen.divisor}


def _pads(spec: OpSpec, env: DataEnvironment) -> tuple[tuple[int, int], ...]:
    """The padding of each axis, of a specification that speaks of it by these names."""
    sides = []
    for name in ("pad_begin", "pad_end"):
        kind = spec.definitions[name].kind if name in spec.definitions else None
        known = kind is not None and kind.type == "int" and kind.is_case
        sides.append(env.per_axis(name) if known else (0,) * int(env["axes"]))
    return tuple((int(begin), int(end)) for begin, end in zip(*sides, strict=True))
