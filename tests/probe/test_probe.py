"""What a probe says of kernels of known make: nothing false, and all that can be decided."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from known_kernels import F32, MAKES, SUMS, Array, Backend, Make, loop
from numpy.typing import NDArray

from conformance.dtypes import DTYPES
from conformance.probe.designs import candidates, space_of
from conformance.probe.models import Codes, codes
from conformance.probe.session import ProbeRequest, ProbeResult, probe
from conformance.probe.statements import CONSISTENT, DECIDED, INAPPLICABLE, NONE_LISTED, UNDECIDED
from conformance.run.inline import Inline
from conformance.specification import select_specs

FEW = (4, 9, 64)
"""Sizes of the quick tier; a row of 4096 and a square of 64 x 64 are asked by all others."""


def asked(make: Make, sizes: tuple[int, ...] = FEW) -> ProbeResult:
    question = ProbeRequest(sizes=sizes)
    specs = select_specs((make.op,))
    return probe(lambda _: Inline(Backend(make)), specs, question, elsewhere=False)


def test_there_are_twenty_and_ten_change_with_the_size() -> None:
    assert len(MAKES) >= 20
    assert sum(one.changes for one in MAKES) >= 10
    assert len({one.name for one in MAKES}) == len(MAKES)


@lru_cache(maxsize=64)
def fresh(dtype: str, size: int, side: int | None) -> tuple[Array, Codes]:
    """Inputs that no probe of these tests asks, and what each listed model predicts for them."""
    data = candidates(dtype, size, seed=77, attempt=0)[:48]
    return data, space_of(dtype, size, side).predict(data)


def agree(make: Make, window: str, size: int) -> NDArray[np.bool_]:
    """Which listed models give the kernel's bits on all fresh inputs."""
    data, predicted = fresh(make.dtype, size, None if window == "row" else round(size**0.5))
    with np.errstate(all="ignore"):
        right = codes(make.kernel(data), DTYPES[make.dtype])
    return np.asarray((predicted == right).all(axis=1))


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(one, id=one.name, marks=[pytest.mark.exhaustive] * (one.dtype == "bf16"))
        for one in MAKES
    ],
)
def test_nothing_false_and_all_that_can_be_decided(make: Make, exhaustive: bool) -> None:
    found = asked(make, () if exhaustive else FEW)
    said = [one for one in found.statements if one.property in make.known]
    assert {one.property for one in said} == set(make.known)
    for fit in found.fits:
        if fit.window not in make.windows:
            continue
        models = space_of(make.dtype, fit.sizes[0], None if fit.window == "row" else 2).models
        # What listed models give the kernel's bits on inputs that were not asked either?
        right = np.logical_and.reduce([agree(make, fit.window, size) for size in fit.sizes])
        assert right.any(), f"no listed model is the kernel at {fit.sizes}"
        told = {models[i].description for i in np.flatnonzero(right)}
        assert told & set(fit.models), "another model fits than the kernel's own"
        for one in said:
            of_sums = one.property in models[0].values
            if not of_sums or (one.window, one.sizes) != (fit.window, fit.sizes):
                continue
            can_be = {models[i].values.get(one.property, "") for i in np.flatnonzero(right)} - {""}
            if one.verdict in (DECIDED, CONSISTENT):
                assert set(one.values) <= can_be, "it could be decided further"
    for one in said:
        if one.window not in make.windows:
            continue
        assert one.verdict not in (UNDECIDED, NONE_LISTED), one
        for size in one.sizes:
            true = make.truth(one.property, size)
            # Below 9 elements several ways of adding are one and the same.
            if one.verdict != INAPPLICABLE and (size >= 9 or one.property not in SUMS):
                assert true in one.values, (one, size)
    decided = {
        (one.property, value)
        for one in said
        if one.verdict == DECIDED and one.window in make.windows
        for value in one.values
    }
    wanted = {(one, make.truth(one, size)) for one in make.known for size in (4, 64)}
    left = OPEN.get(make.name, set())
    assert wanted - decided <= left if exhaustive else wanted - decided == left


def twelve_lanes(x: Array) -> Array:
    total = loop(
        np.stack([loop(x[:, i::12], F32) for i in range(min(12, x.shape[1]))], axis=1), F32
    )
    return total / np.float32(x.shape[1])


def test_what_is_not_listed_contradicts_all_that_is() -> None:
    """Twelve lanes: no listed model has as many."""
    found = asked(Make("twelve", twelve_lanes, "f32", {}), (64,))
    sums = [one for one in found.statements if one.property in SUMS]
    assert {one.verdict for one in sums} == {NONE_LISTED}
    assert all(one.contradicted and one.shown_by for one in sums)
    assert {one.values for one in sums} == {()}
    assert [fit.models for fit in found.fits] == [(), ()]


DIVIDED = ("division", "divided")
OPEN: dict[str, set[tuple[str, str]]] = {
    "f16 in f32": {DIVIDED},
    "f16 cut off": {DIVIDED},
    "f16 in f16": {DIVIDED},
    "bf16 in bf16": {DIVIDED},
    "f16 from 64": {DIVIDED},
    "reciprocal from 9": {DIVIDED},
    "numpy": {("order", "pairwise")},
    "pairwise from 9": {("order", "pairwise")},
    "8 lanes from 64": {("lanes", "1"), ("order", "sequential")},
    "columns from 64": {("order", "sequential")},
}
"""What no input can decide at these sizes, since several listed models are one and the same."""
