"""Questions of one window each: the data at its beginning, counted padding behind it.

So asked of AvgPool-1, the divisor may be any number from that of the taps on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from honest import Evaluation
from numpy.typing import NDArray
from windows import Windows

from conformance.core.answers import answers, readings
from conformance.dtypes import DTYPES
from conformance.grade.judge import judge
from conformance.grade.outcome import Ending, Outcome
from conformance.model import OPEN_BIT, Case, Status, Vector
from conformance.specification import find_spec

Array = NDArray[Any]
FLOATS = ("f16", "bf16", "f32", "f64")
SPEC = find_spec("AvgPool-1")


def question(data: Array, dtype: str, divisor: int) -> Vector:
    """The vector of one window with ``data`` (n elements) and a divisor of at least n."""
    case = Case(
        op=SPEC.op,
        types={"T": dtype},
        shapes={"data": (1, 1, len(data))},
        attributes={
            "kernel": [divisor],
            "strides": [1],
            "pads_begin": [0],
            "pads_end": [divisor - len(data)],
            "exclude-pad": False,
            "auto_pad": "explicit",
            "rounding_type": "floor",
        },
    )
    data = data.reshape(1, 1, -1)
    base = answers(SPEC, case, [data])
    others = readings(SPEC, case, [data], base)
    return Vector(case.id, case, "must", (), "", "", (data,), base, others)


def answer(vector: Vector, evaluation: Evaluation) -> Array:
    """What an evaluation gives for the window, left alone by the padding: (1, 1, 1)."""
    data = vector.inputs[0]
    divisor = np.array([[vector.case.attributes["kernel"]]])
    counted = (np.ones((1, data.size), np.bool_),)
    dtype = DTYPES[vector.case.types["T"]]
    return evaluation.answer(Windows(data[:, :, None], divisor, counted, dtype))


def accepted(vector: Vector, got: Array, precision: str, level: str = "should") -> bool:
    outcome = Outcome(Ending.RETURNED, [got])
    asked = dict.fromkeys(FLOATS, precision)
    return judge(vector, outcome, level=level, precision=asked).status is Status.PASS


def used(vector: Vector, got: Array, precision: str) -> float:
    """The distance from the rounded result over the width accepted; 0 where nothing is graded."""
    answer = vector.answers[0]
    row = DTYPES[answer.dtype]
    lo, hi = answer.interval(precision)
    assert answer.rounded is not None
    if answer.open is not None and answer.open.item() & OPEN_BIT[precision]:
        return 0.0
    distance = row.ulp_distance(got, answer.rounded).item()
    return float(distance / (row.ulp_distance(lo, hi).item() + 1))
