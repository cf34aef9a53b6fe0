"""Samples that PyTorch tests its operators with agree with the core."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from conformance.core.evaluate import Evaluation
from conformance.core.loader import load_operator
from conformance.core.real import Machine
from conformance.dtypes import DTYPES
from conformance.errors import InvalidCase

pytestmark = pytest.mark.needs("torch")

CONV, TRANSPOSED = "torch.conv-2", "torch.conv_transpose-2"
OPS = {
    "matmul": "torch.matmul-2",
    "nn.functional.linear": "torch.linear-2",
    **{f"nn.functional.conv{axes}d": CONV for axes in (1, 2, 3)},
    **{f"nn.functional.conv_transpose{axes}d": TRANSPOSED for axes in (1, 2, 3)},
}


@pytest.fixture(scope="module")
def op_infos() -> dict[str, Any]:
    pytest.importorskip("expecttest")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
    return {info.name: info for info in op_db if info.name in OPS}


def evaluated(op: str, sample: Any) -> Evaluation:
    """Evaluate a sample by the core."""
    operator = load_operator(op)
    keywords = dict(sample.kwargs)
    tensors = [sample.input, *sample.args]
    if "bias" in keywords:
        tensors.append(keywords.pop("bias"))
    arrays = [None if t is None else t.detach().contiguous().numpy() for t in tensors]
    attributes = {k: list(v) if isinstance(v, tuple) else v for k, v in keywords.items()}
    inputs = dict(zip(operator.tensors, arrays, strict=False))
    return Evaluation(operator, attributes, inputs, Machine(DTYPES["f32"]))


def disagreements(info: Any) -> Iterator[str]:
    import torch

    for sample in info.sample_inputs("cpu", torch.float32):
        output = info.op(sample.input, *sample.args, **sample.kwargs).numpy()
        (interval,) = evaluated(OPS[info.name], sample).intervals()
        if output.shape != interval.lo.shape:
            yield f"{sample}: {output.shape}, not {interval.lo.shape}"
        elif not ((interval.lo <= output) & (output <= interval.hi)).all():
            yield f"{sample}: other values"


@pytest.mark.filterwarnings("ignore:Using padding='same'")
@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("matmul", 15),
        ("nn.functional.linear", 18),
        ("nn.functional.conv1d", 10),
        ("nn.functional.conv2d", 30),
        ("nn.functional.conv3d", 20),
        ("nn.functional.conv_transpose1d", 10),
        ("nn.functional.conv_transpose2d", 12),
        ("nn.functional.conv_transpose3d", 10),
    ],
)
def test_samples_agree(op_infos: dict[str, Any], name: str, count: int) -> None:
    import torch

    samples = list(op_infos[name].sample_inputs("cpu", torch.float32))
    assert len(samples) >= count  # newer versions may have more
    assert list(disagreements(op_infos[name])) == []


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_what_pytorch_refuses_the_core_refuses(op_infos: dict[str, Any], axes: int) -> None:
    errors = list(op_infos[f"nn.functional.conv{axes}d"].error_inputs("cpu"))
    assert errors
    accepted = []
    for error in errors:
        try:
            evaluated(CONV, error.sample_input)
        except (InvalidCase, ValueError):
            continue
        accepted.append(str(error.error_regex))
    assert accepted == []
