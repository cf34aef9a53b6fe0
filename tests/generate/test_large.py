"""Unpublished large cases: many images and channels, in every type."""

from math import prod

from conformance.generate.large import CHANNELS, ELEMENTS, IMAGES, large_cases
from conformance.reference.build import build
from conformance.spec import loader
from conformance.spec.validity import violations


def test_there_is_one_of_each_type_beyond_what_is_published():
    spec = loader.find_spec("onnx.MaxPool-22")
    found = large_cases(spec, 5, every_rank=False)
    assert [one.types[spec.data.type] for one in found] == list(spec.types[spec.data.type])
    for case in found:
        shape = case.shapes[spec.data.name]
        assert IMAGES[0] <= shape[0] <= IMAGES[1]
        assert CHANNELS[0] <= shape[1] <= CHANNELS[1]
        assert ELEMENTS[0] <= prod(shape) <= ELEMENTS[1]
        assert not violations(spec, case)
    assert (
        build(spec, found[0]).answers[0].expected.shape[:2] == found[0].shapes[spec.data.name][:2]
    )


def test_another_seed_gives_others():
    spec = loader.find_spec("AvgPool-1")
    first, again, other = (large_cases(spec, one, every_rank=False) for one in (1, 1, 2))
    assert first == again
    assert not {one.id for one in first} & {one.id for one in other}
