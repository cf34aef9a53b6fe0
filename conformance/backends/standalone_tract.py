"""Runs a model by tract. Scripts contain this text, so it imports nothing of ours."""

from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tract


def run_model(inputs: Any, model: bytes, mark: Any = nullcontext) -> list[Any]:
    """Return the outputs of a serialised ONNX model."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "model.onnx"  # it reads models from files only
        file.write_bytes(model)
        with mark():
            runnable = tract.onnx().load(file).into_model().into_runnable()
            outputs = runnable.run([data for data in inputs if data is not None])
    return [output.to_numpy() for output in outputs]
