"""Runs a model by onnx's evaluator. Scripts contain this text, so it imports nothing of ours."""

from contextlib import nullcontext
from typing import Any

from onnx.reference import ReferenceEvaluator


def evaluate_model(inputs: Any, model: bytes, mark: Any = nullcontext) -> list[Any]:
    """Return the outputs of a serialised model for its inputs ``X``, ``X1`` and so on."""
    given = {f"X{k or ''}": data for k, data in enumerate(inputs) if data is not None}
    with mark():
        return list(ReferenceEvaluator(model).run(None, given))
