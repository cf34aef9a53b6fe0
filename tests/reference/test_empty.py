"""Nothing to pool: no images, no channels, no outputs. Answers have their shapes and no element."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import conformance
from conformance.core.answers import answers
from conformance.errors import InvalidCase
from conformance.specification import case_from_inputs, find_spec, shipped_operators, violations

POOLS = [op for op in shipped_operators() if "Pool" in op or "_pool" in op]

GIVEN: dict[str, dict[str, Any]] = {
    "onnx.": {"kernel_shape": [2, 2]},
    "torch.": {"kernel_size": [2, 2]},
    "": {"kernel": [2, 2], "strides": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0]},
}


def inputs_of(op: str, shape: tuple[int, ...]) -> tuple[list[Any], dict[str, Any]]:
    data = np.zeros(shape, np.float32)
    if "daptive" in op:
        return [data, np.array([2, 3])], {}
    if "Global" in op:
        return [data], {}
    given = dict(next(given for name, given in GIVEN.items() if op.startswith(name)))
    if "AvgPool" in op:
        given["exclude-pad"] = True
    return [data], given


@pytest.mark.parametrize("shape", [(0, 2, 3, 4), (2, 0, 3, 4)])
@pytest.mark.parametrize("op", POOLS)
def test_no_image_or_no_channel(op: str, shape: tuple[int, ...]) -> None:
    spec = find_spec(op)
    inputs, given = inputs_of(op, shape)
    case = case_from_inputs(spec, inputs, given)
    if violations(spec, case):
        with pytest.raises(InvalidCase):
            conformance.reference(op, inputs, given)
        return
    one, _ = inputs_of(op, (1, 1, *shape[2:]))
    like = conformance.reference(op, one, given)
    found = conformance.reference(op, inputs, given)
    assert [a.shape for a in found] == [(*shape[:2], *a.shape[2:]) for a in like]
    for answer, array in zip(answers(spec, case, inputs), found, strict=True):
        assert answer.expected.shape == array.shape


@pytest.mark.parametrize("sizes", [(0, 2), (2, 0)])
@pytest.mark.parametrize("op", [op for op in POOLS if "daptive" in op])
def test_an_output_of_no_elements(op: str, sizes: tuple[int, int]) -> None:
    data = np.ones((1, 1, 4, 4), np.float32)
    for array in conformance.reference(op, [data, np.array(sizes)], {}):
        assert array.shape == (1, 1, *sizes)
