"""Of several bugs together those are named that the catalogue knows, and the others by place."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import tiers
from faulty import Kept, answered, bank, run, searched, vector

from conformance.diagnosis.explanation import Explanation
from conformance.diagnosis.locate_errors import locate_failures
from conformance.dtypes import Array
from conformance.implementations import implementation_of, subject_of
from conformance.model import FAILED, Result, Status, Vector
from conformance.specification import find_spec
from conformance.suite.entries import Entry

LOST = 17
"""What stands where nothing was written, which no mutant gives."""


def results(op: str, mutants: Sequence[str], group: int) -> list[Result]:
    """Those of a backend with some mutants that loses the rest of a row after full groups."""
    spec = find_spec(op)
    altered = implementation_of(spec, *(bank(op)[one].change for one in mutants))

    def made(one: Vector, _: list[Array]) -> list[Array]:
        given = [a.copy() for a in subject_of(spec, one.case, one.inputs, Kept()).under(altered)]
        for array in given:
            row = array.shape[-1]
            if row > group and row % group:
                array[..., row // group * group :] = LOST
        return given

    return answered(op, made, images)


def images(entry: Entry) -> bool:
    return entry.dtype == "f32" and entry.id.split("-")[1].count("x") == 3


def named(found: Sequence[Explanation]) -> set[str]:
    return {fault.id for one in found for fault in one.mutants}


@pytest.mark.parametrize(
    ("op", "mutants"),
    tiers.first(
        [
            ("onnx.AveragePool-22", ["divisor-counts-overhang", "same-lower-like-upper"]),
            ("MaxPool-14", ["dilations-ignored", "same-upper-like-lower"]),
            ("torch.avg_pool-2", ["kernel-1-ignores-strides", "end-pads-not-counted"]),
        ]
    ),
)
def test_a_lost_tail_hides_no_other_bug(op: str, mutants: list[str]) -> None:
    seen = results(op, mutants, 8)
    assert named(searched(op, seen)) == set(mutants)


def test_failures_with_a_lost_tail_alone_share_its_place() -> None:
    op, mutants = "onnx.AveragePool-22", ["divisor-counts-overhang", "same-lower-like-upper"]
    seen = results(op, mutants, 8)
    found = searched(op, seen)
    explained = {name for one in found for name in one.agreements}
    failed = [one for one in seen if one.status in FAILED and one.id not in explained]
    passed = [one for one in seen if one.status is Status.PASS]
    (there,) = locate_failures(
        find_spec(op), failed, passed, read=vector, precision={}, level="must"
    )
    assert str(there.shared.region) == (
        "only in the last elements of the last axis that fill no group of 8"
    )
    assert len(there.ids) == len(failed)
    rows = [vector(name).answers[0].expected.shape[-1] for name in explained]
    assert sum(one.with_more for one in found) == sum(n > 8 and n % 8 > 0 for n in rows) > 0


def test_the_name_is_about_types_that_were_asked() -> None:
    """Without vectors in bf16 sums in f16 are not said to be in bf16, too."""
    op, mutant = "onnx.AveragePool-22", "sums-of-f16-in-own-type"

    def asked(entry: Entry) -> bool:
        return entry.dtype == "f16" and entry.id.split("-")[1].count("x") == 2

    seen = list(run(op, [mutant], asked))
    (found,) = searched(op, seen)
    assert found.ids == (mutant,)
    alternatives = [fault.id for some in found.alternatives for fault in some]
    assert [name for name in alternatives if name.startswith("sums")] == ["sums-in-own-type"]
