"""Compiles a model by TVM. Scripts contain this text, so it imports nothing of ours."""

from contextlib import nullcontext
from typing import Any

import onnx
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx


def run_model(inputs: Any, model: bytes, target: str, mark: Any = nullcontext) -> list[Any]:
    """Return the output of a serialised ONNX model, compiled for a target."""
    proto = onnx.load_model_from_string(model)
    with mark():
        executable = relax.build(from_onnx(proto), target=target)
        virtual_machine = relax.VirtualMachine(executable, tvm.cpu())
        tensors = [tvm.runtime.tensor(data) for data in inputs if data is not None]
        return [virtual_machine["main"](*tensors).numpy()]
