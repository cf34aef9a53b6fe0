"""PyTorch's functions, for PyTorch's own operators and those of OpenVINO and ONNX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace
from typing import Any

import numpy as np

from conformance.backends import torch_calls, torch_openvino, torch_products
from conformance.backends.capabilities import Capabilities, Exclusion
from conformance.backends.options import Option
from conformance.backends.standalone_call import StandaloneAdapter, StandaloneCall
from conformance.backends.torch_calls import Call
from conformance.backends.torch_products import ProductCall
from conformance.backends.versions import require_version
from conformance.dtypes import Array
from conformance.errors import BackendError, Unsupported

CAPABILITIES = Capabilities(
    operators=(
        *torch_calls.OPERATORS,
        *torch_openvino.OPERATORS,
        *(f"{family}-*" for family in torch_products.TABLE),
    ),
    dtypes=("f16", "bf16", "f32", "f64"),
    excluding=(
        *(
            Exclusion(
                op=op,
                when="length(size) == 3 and T in [f16, bf16]",
                reason="avg_pool3d has no kernel for half-precision types on the CPU",
            )
            for op in ("AvgPool-1", "torch.avg_pool-2", "torch.lp_pool-2")
        ),
        *torch_openvino.EXCLUDING,
        *torch_products.EXCLUDING,
    ),
)
DEVICE_CAPABILITIES = replace(
    CAPABILITIES, excluding=(*torch_openvino.EXCLUDING, *torch_products.EXCLUDING)
)
"""What is claimed of other devices than the CPU."""

DEVICE = Option("device", "Where it computes: cpu, cuda, cuda:1, mps, xpu.", default="cpu")
THREADS = Option("threads", "Threads on the CPU; without it PyTorch decides.", type=int)


class Torch(StandaloneAdapter):
    """PyTorch's functions, on the CPU or another device."""

    name = "torch"
    capabilities = CAPABILITIES
    options: tuple[Option, ...] = (DEVICE, THREADS)
    kernels = "eager"
    """The kernels that compute, see :func:`conformance.backends.standalone_torch.run_function`."""

    def __init__(self, *, device: str = "cpu", threads: int | None = None) -> None:
        import torch

        self.version = require_version("torch", torch.__version__, oldest="2.0")
        from conformance.backends import standalone_torch

        self._torch = torch
        self._calls = standalone_torch
        self._device = find_device(torch, device)
        self._threads = threads
        if self._device.type != "cpu":
            self.capabilities = DEVICE_CAPABILITIES
        if threads is not None:
            if threads < 1:
                raise BackendError(f"threads={threads}", hint="give the number of threads")
            torch.set_num_threads(threads)

    def environment(self) -> dict[str, str]:
        """Device, build and threads, which a result may depend on."""
        torch = self._torch
        return {
            "device": describe_device(torch, self._device),
            "threads": str(torch.get_num_threads()),
            "mkldnn": "available" if torch.backends.mkldnn.is_available() else "not available",
        }

    def call(
        self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> StandaloneCall:
        """Return the call that computes ``op``.

        Raises:
            Unsupported: there is none.
        """
        if torch_products.is_product(op):
            return self._product(torch_products.call(op, inputs, attributes))
        return self._call_of(_call(op, inputs, attributes))

    def _product(self, call: ProductCall) -> StandaloneCall:
        tensors = [None if tensor is None else astuple(tensor) for tensor in call.tensors]
        arguments = (call.function, tensors, dict(call.keywords), list(call.pads))
        settings = (self.kernels, str(self._device), self._threads)
        return StandaloneCall(self._calls.run_product, (*arguments, *settings))

    def _call_of(self, call: Call) -> StandaloneCall:
        index_type = call.index_type
        arguments = (call.function, call.arguments, dict(call.keywords), call.pads, index_type)
        settings = (self.kernels, str(self._device), self._threads)
        return StandaloneCall(self._calls.run_function, (*arguments, *settings))

    def _warm_up(self) -> None:
        """Call a function that all kernels have."""
        self._call_of(Call("relu")).outputs([np.zeros(1, np.float32)])


def find_device(torch: Any, name: str) -> Any:
    """Return the device of that name.

    Raises:
        BackendError: this PyTorch has none such.
    """
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).cpu()
    # A name that is none, a build without CUDA, and a device without this operator raise these.
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        why = str(error).partition("\n")[0][:200]
        devices = ["cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]
        if torch.backends.mps.is_available():
            devices.append("mps")
        raise BackendError(
            f"device={name}: PyTorch {torch.__version__} does not compute there: {why}",
            hint=f"this PyTorch finds: {', '.join(devices)}",
        ) from error
    return device


def describe_device(torch: Any, device: Any) -> str:
    """Describe a device, with what a result on it may depend on."""
    if device.type == "cpu":
        return f"CPU ({torch.backends.cpu.get_cpu_capability()})"
    if device.type == "cuda":
        return f"{device} ({torch.cuda.get_device_name(device)}, CUDA {torch.version.cuda})"
    return str(device)


def _call(op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Call:
    """The call that asks what ``op`` asks; Unsupported where none does."""
    axes = inputs[0].ndim - 2
    if axes not in (1, 2, 3):
        raise Unsupported(f"{op} on data of rank {inputs[0].ndim}")
    if op in torch_openvino.OPERATORS:
        return torch_openvino.call(op, axes, inputs[1:], attributes)
    if op in torch_calls.OPERATORS:
        return torch_calls.call(op, axes, inputs[1:], attributes)
    raise Unsupported(f"{op} is no function of PyTorch's")
