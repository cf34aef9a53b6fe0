"""Runs a model by ONNX Runtime. Scripts contain this text, so it imports nothing of ours."""

from contextlib import nullcontext
from typing import Any

import onnxruntime

CPU = "CPUExecutionProvider"
SILENT = 4  # errors are raised; they need not be logged too


def make_session(model: bytes, provider: str) -> Any:
    """Return a session of which the provider computes all; nothing is left to the CPU's."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = SILENT
    if provider != CPU:
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    return onnxruntime.InferenceSession(model, options, providers=[provider])


def run_model(inputs: Any, model: bytes, provider: str, mark: Any = nullcontext) -> list[Any]:
    """Return the outputs of a serialised model for its inputs ``X``, ``X1`` and so on."""
    with mark():
        session = make_session(model, provider)
        names = {node.name for node in session.get_inputs()}  # constants of the model are none
        given = {f"X{k or ''}": data for k, data in enumerate(inputs)}
        return list(session.run(None, {name: given[name] for name in names}))
