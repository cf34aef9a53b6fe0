"""Right kernels of the bank pass drawn cases of their operators, and there are enough bugs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from run import BANKS, Kernel, bugs, right

from conformance.core.answers import answers, readings
from conformance.core.data import inputs_of
from conformance.generate.cases import draw_cases
from conformance.grade.compare import compare, structure_mismatch
from conformance.model import Answer
from conformance.specification import find_spec

RIGHT = [pytest.param(kernel, id=kernel.name) for kernel in right()]


def accepts(answers: Sequence[Answer], outputs: Sequence[Any]) -> bool:
    """Return whether all outputs are accepted."""
    return not any(
        structure_mismatch(answer, output) or compare(answer, output, "standard").count
        for answer, output in zip(answers, outputs, strict=False)
    )


def refusing(kernel: Kernel, count: int) -> list[str]:
    """Return the drawn cases of which a kernel's outputs are accepted by no interpretation."""
    operator, refused = find_spec(kernel.op), []
    for case in draw_cases(operator, count, seed=4, dtypes=["f32"]):
        inputs = inputs_of(operator, case)
        outputs = [
            np.asarray(output, order="C")
            for output in kernel.run(case.op, inputs, dict(case.attributes))
        ]
        right = answers(operator, case, inputs)
        if not accepts(right, outputs) and not any(
            accepts(reading, outputs)
            for reading in readings(operator, case, inputs, right).values()
        ):
            refused.append(case.id)
    return refused


def test_there_are_two_hundred_bugs_of_many_operators() -> None:
    names = Counter(bug.name for bug in bugs())
    assert max(names.values()) == 1
    assert len(names) >= 200
    assert len({bug.op for bug in bugs()}) >= 55


def test_every_operator_has_a_right_kernel() -> None:
    assert all(bug.op in bank.RIGHT for bank in BANKS for bug in bank.BUGS.values())


@pytest.mark.parametrize("kernel", RIGHT)
def test_right_kernels_pass(kernel: Kernel) -> None:
    assert refusing(kernel, 6) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("kernel", RIGHT)
def test_right_kernels_pass_many_cases(kernel: Kernel) -> None:
    assert refusing(kernel, 60) == []
