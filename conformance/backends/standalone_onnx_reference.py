"""Runs a model by onnx's evaluator. Scripts contain this text, so it imports nothing of ours."""

from contextlib import nullcontext
from typing import Any

from onnx.reference import ReferenceEvaluator


def evaluate_model(inputs: Any, model: bytes, mark: Any = nullcontext) -> list[Any]:
    """Return the outputs of a serialised model for its inputs ``X``, ``X1`` and so on."""
    with mark():
        evaluator = ReferenceEvaluator(model)
        given = {f"X{k or ''}": data for k, data in enumerate(inputs)}
        # Constants of the model are no inputs.
        return list(evaluator.run(None, {name: given[name] for name in evaluator.input_names}))
