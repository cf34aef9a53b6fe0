"""Backends that raise where a known bug has no outputs are said to have it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from conformance.diagnosis.explain_exceptions import explain_exceptions
from conformance.failure_kind import FailureKind
from conformance.model import Case, Result, Status
from conformance.specification import build, find_spec, mutants_of

CONV = find_spec("onnx.Conv-22")
SAME = ("SAME_UPPER", "SAME_LOWER")


def case(mode: str, dilations: tuple[int, int], channels: int) -> Case:
    attributes = {"auto_pad": mode, "dilations": list(dilations)}
    shapes = {"X": (1, channels, 6, 6), "W": (1, channels, 2, 2)}
    return Case(CONV.op, {"T": "f32"}, shapes, attributes, {}, "whole+whole+whole")


VECTORS = {
    vector.id: vector
    for vector in (
        build(CONV, case(*values))
        for values in product(("NOTSET", *SAME, "VALID"), ((1, 1), (2, 2), (1, 2)), (1, 3))
    )
}


def names(raises: Callable[[Case], bool], message: str = "no such kernel") -> list[set[str]]:
    """The names for a backend that raises in some cases, candidates together."""
    results = [
        Result(id, CONV.op, Status.ERROR, message=message, kind=FailureKind.RAISED)
        if raises(vector.case)
        else Result(id, CONV.op, Status.PASS)
        for id, vector in VECTORS.items()
    ]
    explained = explain_exceptions(CONV, results, mutants_of(CONV), read=VECTORS.__getitem__)
    return [{*e.ids, *(m.id for ms in e.alternatives for m in ms)} for e in explained]


def is_dilated(asked: Case) -> bool:
    return max(asked.attributes["dilations"]) > 1


def test_what_refuses_the_same_cases_is_named() -> None:
    ((name, *others),) = names(lambda c: c.attributes["auto_pad"] in SAME and is_dilated(c))
    assert (name, others) == ("crash-same-with-dilation", [])


@pytest.mark.parametrize(
    "raises",
    [
        is_dilated,  # more than the known bug
        lambda c: c.attributes["auto_pad"] == "SAME_UPPER" and is_dilated(c),  # less
        lambda c: c.attributes["auto_pad"] in SAME,
    ],
)
def test_what_refuses_other_cases_is_not(raises: Callable[[Case], bool]) -> None:
    assert all("crash-same-with-dilation" not in candidates for candidates in names(raises))
