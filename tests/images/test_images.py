"""Backends of f32 images alone, as most are: each that has a bug is refused by the shipped core.

Eight bugs are changes of the numpy adapter. The bank beside this file was written from documents
alone, by someone who had seen neither the catalogue of mutants nor the suite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import bank
import pytest
import tiers

import conformance
from conformance.backends import Capabilities
from conformance.backends.numpy import NumPy
from conformance.dtypes import Array
from conformance.grade.judge import judge
from conformance.model import FAILED, Vector
from conformance.run.inline import execute

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
    return conformance.check(tiers.of(op), Images(op, call), level=level, findings=False)


@cache
def images(op: str) -> tuple[Vector, ...]:
    """The value vectors that such a backend is asked, read once for all backends."""
    core = tiers.of(op)
    return tuple(
        core.read(entry)
        for entry in core.manifest.vectors
        if (entry.kind, entry.dtype) == ("value", "f32") and tiers.rank(entry) == 4
    )


def failing(op: str, call: Run, level: str = "must") -> Iterator[str]:
    """The value vectors that a check refuses, one after another, without all else that it does."""
    return (one.id for one in images(op) if fails(op, call, one, level))


def fails(op: str, call: Run, one: Vector, level: str = "must") -> bool:
    """Whether a check refuses a vector."""
    outcome = execute(Images(op, call), one)
    return judge(one, outcome, level=level, precision={}).status in FAILED


def changed(bug: str) -> Run:
    def call(_: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> list[Array]:
        return CHANGED[bug](inputs, dict(attributes))

    return call


def test_a_check_refuses_the_same_vectors() -> None:
    call = changed("strides swapped")
    refused = {
        one.id
        for one in graded("AvgPool-1", call).results
        if one.reject is None and one.status in FAILED
    }
    assert refused == {*failing("AvgPool-1", call)}


@pytest.mark.parametrize("bug", tiers.first(list(CHANGED)))
def test_a_changed_adapter_is_refused(bug: str) -> None:
    assert any(failing("AvgPool-1", changed(bug)))


@pytest.mark.parametrize("bug", tiers.first(list(bank.BUGS)))
def test_a_bug_of_the_bank_is_refused(bug: str) -> None:
    op, run = bank.BUGS[bug]
    assert any(failing(op, run, "should" if bug in AT_SHOULD else "must"))


@pytest.mark.parametrize("op", tiers.first(list(bank.RIGHT)))
def test_what_is_right_is_conformant(op: str) -> None:
    run = graded(op, bank.RIGHT[op])
    assert [result.message for result in run.results if result.status == "fail"] == []
    assert run.conformant
