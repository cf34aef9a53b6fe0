"""Unpublished large cases: many images and channels, in every type."""

import pytest

from conformance.generate.bounds import is_usable
from conformance.generate.cases import draw_cases
from conformance.generate.large import (
    CHANNELS,
    ELEMENTS,
    IMAGES,
    STEPS,
    large_cases,
    with_large,
)
from conformance.generate.pool import most_terms
from conformance.specification import build, find_spec, violations


@pytest.mark.parametrize("op", ["MaxPool-14", "AvgPool-1", "torch.avg_pool-2"])
def test_there_is_one_of_each_type_beyond_what_is_published(op):
    spec = find_spec(op)
    found = list(large_cases(spec, 5, every_rank=False))
    assert [one.types["T"] for one in found] == list(spec.types["T"])
    for case in found:
        shape = case.shapes["data"]
        assert shape[0] >= IMAGES[0]
        assert shape[1] >= CHANNELS[0]
        assert most_terms(spec, case) <= STEPS
        assert not violations(spec, case)
    assert build(spec, found[0]).answers[0].expected.shape[:2] == found[0].shapes["data"][:2]


def test_another_seed_gives_others():
    spec = find_spec("AvgPool-1")
    first, again, other = (list(large_cases(spec, one, every_rank=False)) for one in (1, 1, 2))
    assert first == again
    assert not {one.id for one in first} & {one.id for one in other}


@pytest.mark.parametrize("op", ["onnx.Conv-22", "onnx.MatMul-13"])
def test_one_of_each_type_is_as_large_in_terms(op):
    operator = find_spec(op)
    found = list(large_cases(operator, 5, every_rank=False))
    assert [case.dtype for case in found] == list(operator.types["T"])
    assert len({case.rank for case in found}) == 1
    for case in found:
        assert ELEMENTS[0] <= most_terms(operator, case) <= STEPS
        assert is_usable(operator, case)
    assert not {case.id for case in found} & {
        case.id for case in large_cases(operator, 6, every_rank=False)
    }


def test_large_vectors_stand_among_the_others():
    operator = find_spec("onnx.MatMul-13")
    small = [build(operator, case) for case in draw_cases(operator, 60, seed=1)]
    ids = [vector.id for vector in with_large(operator, iter(small), 5, "smoke")]
    large = [number for number, name in enumerate(ids) if name not in {v.id for v in small}]
    assert len(large) == len(operator.types["T"])
    assert large[0] < len(small) - len(large)
    few = with_large(operator, [], 5, "smoke", lambda case: case.dtype == "f32")
    assert [vector.case.dtype for vector in few] == ["f32"]
