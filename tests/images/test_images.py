"""Backends of f32 images alone, as most are: each that has a bug is refused by the shipped core.

Eight bugs are changes of the numpy adapter. The bank beside this file was written from documents
alone, by someone who had seen neither the catalogue of mutants nor the suite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import bank
import pytest
import tiers

import conformance
from conformance.backends import Capabilities
from conformance.backends.numpy import NumPy
from conformance.dtypes import Array
from conformance.model import FAILED

Run = Callable[[str, Sequence[Array], Mapping[str, Any]], list[Array]]


@dataclass
class Images:
    """A backend of one operator on f32 images."""

    op: str
    call: Run
    name: str = "images"
    version: str = "1"

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(operators=(self.op,), dtypes=("f32",), ranks=(4,))

    def run(self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> list[Array]:
        return self.call(op, inputs, attributes)


def same_upper_as_lower(inputs: Sequence[Array], given: dict[str, Any]) -> list[Array]:
    if given.get("auto_pad") == "same_upper":
        given["auto_pad"] = "same_lower"
    return NumPy().run("AvgPool-1", inputs, given)


def tail_dropped(lanes: int) -> Callable[[Sequence[Array], dict[str, Any]], list[Array]]:
    """Rows are written so many elements at a time, and what is left is not."""

    def run(inputs: Sequence[Array], given: dict[str, Any]) -> list[Array]:
        (out,) = NumPy().run("AvgPool-1", inputs, given)
        width = out.shape[-1]
        if width > lanes:
            out[..., width // lanes * lanes :] = 0
        return [out]

    return run


def kernel_1_ignores_pads(inputs: Sequence[Array], given: dict[str, Any]) -> list[Array]:
    if set(given["kernel"]) == {1}:
        given["pads_begin"] = given["pads_end"] = [0, 0]
    return NumPy().run("AvgPool-1", inputs, given)


def rows_in_blocks_of_4(inputs: Sequence[Array], given: dict[str, Any]) -> list[Array]:
    (out,) = NumPy().run("AvgPool-1", inputs, given)
    rows = out.shape[-2]
    if rows > 4:
        out[..., rows // 4 * 4 :, :] = 0
    return [out]


def strides_swapped(inputs: Sequence[Array], given: dict[str, Any]) -> list[Array]:
    return NumPy().run("AvgPool-1", inputs, given | {"strides": given["strides"][::-1]})


def square_kernels(inputs: Sequence[Array], given: dict[str, Any]) -> list[Array]:
    """The code for square kernels is taken for all."""
    return NumPy().run("AvgPool-1", inputs, given | {"kernel": [given["kernel"][0]] * 2})


CHANGED = {
    "same_upper as same_lower": same_upper_as_lower,
    **{f"tail of {lanes} dropped": tail_dropped(lanes) for lanes in (8, 16, 32)},
    "kernel 1 ignores pads": kernel_1_ignores_pads,
    "rows in blocks of 4": rows_in_blocks_of_4,
    "strides swapped": strides_swapped,
    "square kernels": square_kernels,
}


AT_SHOULD = {"torch_avg_divides_overrun_by_kernel"}
"""PyTorch's document leaves these divisors open, so at level must they are allowed."""


def graded(op: str, call: Run, level: str = "must") -> conformance.Run:
    return conformance.check(tiers.core(), Images(op, call), ops=[op], level=level)


def wrong(run: conformance.Run) -> int:
    """How many value vectors fail."""
    return sum(one.reject is None and one.status in FAILED for one in run.results)


@pytest.mark.parametrize("bug", tiers.first(list(CHANGED)))
def test_a_changed_adapter_is_refused(bug: str) -> None:
    def call(_: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> list[Array]:
        return CHANGED[bug](inputs, dict(attributes))

    assert wrong(graded("AvgPool-1", call))


@pytest.mark.parametrize("bug", tiers.first(list(bank.BUGS)))
def test_a_bug_of_the_bank_is_refused(bug: str) -> None:
    op, run = bank.BUGS[bug]
    assert wrong(graded(op, run, "should" if bug in AT_SHOULD else "must"))


@pytest.mark.parametrize("op", tiers.first(list(bank.RIGHT)))
def test_what_is_right_is_conformant(op: str) -> None:
    run = graded(op, bank.RIGHT[op])
    assert [result.message for result in run.results if result.status == "fail"] == []
    assert run.conformant
