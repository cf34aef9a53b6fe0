"""PyTorch's pooling functions, for PyTorch's own operators and those of OpenVINO."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np

from conformance.backends import torch_calls, torch_openvino
from conformance.backends.capabilities import Capabilities, Exclusion
from conformance.backends.framework_call import framework
from conformance.backends.options import Option
from conformance.backends.torch_calls import Call
from conformance.backends.versions import require_version
from conformance.dtypes import Array
from conformance.errors import BackendError, Unsupported

BF16 = np.dtype(ml_dtypes.bfloat16)

CAPABILITIES = Capabilities(
    operators=torch_calls.OPERATORS + torch_openvino.OPERATORS,
    dtypes=("f16", "bf16", "f32", "f64"),
    ranks=(3, 4, 5),
    excluding=(
        *(
            Exclusion(
                op=op,
                when="axes == 3 and T in [f16, bf16]",
                reason="avg_pool3d has no kernel for half-precision types on the CPU",
            )
            for op in ("AvgPool-1", "torch.avg_pool-2", "torch.lp_pool-2")
        ),
        *torch_openvino.EXCLUDING,
    ),
)
DEVICE_CAPABILITIES = replace(CAPABILITIES, excluding=torch_openvino.EXCLUDING)
"""What is claimed of other devices than the CPU."""

DEVICE = Option("device", "Where it computes: cpu, cuda, cuda:1, mps, xpu.", default="cpu")
THREADS = Option("threads", "Threads on the CPU; without it PyTorch decides.", type=int)


class Torch:
    """PyTorch's pooling functions, on the CPU or another device."""

    name = "torch"
    capabilities = CAPABILITIES
    options: tuple[Option, ...] = (DEVICE, THREADS)
    marked = True
    converted = ("", "")
    """What scripts call on the data and on the result, to change their layout and back."""

    def __init__(self, *, device: str = "cpu", threads: int | None = None) -> None:
        import torch

        self.version = require_version("torch", torch.__version__, oldest="2.0")
        self._torch = torch
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

    def run(self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> list[Array]:
        """Compute ``op``; PyTorch itself refuses what is invalid (RuntimeError)."""
        call = _call(op, inputs, attributes)
        data = self._to_torch(inputs[0])
        with framework():
            result = self._answer(call, data.to(self._device))
            # A device works on its own: what it refuses may be told only when it is waited for.
            result = (
                result.cpu() if call.index_type is None else [tensor.cpu() for tensor in result]
            )
        if call.index_type is None:
            return [self._to_numpy(result)]
        values, indices = result
        return [self._to_numpy(values), indices.numpy().astype(call.index_type)]

    def reproduce(self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> str:
        """Write the same call as Python source, which sets ``outputs`` from ``inputs``."""
        call = _call(op, inputs, attributes)
        bf16 = inputs[0].dtype == BF16
        codes = ".view(np.int16)" if bf16 else ""
        typed = ".view(torch.bfloat16)" if bf16 else ""
        there, here = self.converted
        elsewhere = self._device.type != "cpu"
        away, home = (f".to({str(self._device)!r})", ".cpu()") if elsewhere else ("", "")
        back = ".view(torch.int16).numpy().view(ml_dtypes.bfloat16)" if bf16 else ".numpy()"
        words = [repr(argument) for argument in call.arguments]
        words += [f"{name}={value!r}" for name, value in call.keywords.items()]
        words.insert(0, f"data{there}")
        called = f"torch.nn.functional.{call.function}({', '.join(words)}){here}"
        lines = ["import torch", *(["import ml_dtypes"] if bf16 else [])]
        if self._threads is not None:
            lines.append(f"torch.set_num_threads({self._threads})")
        lines.append(f"data = torch.from_numpy(inputs[0]{codes}){typed}{away}")
        if call.pads:
            lines.append(f"data = torch.nn.functional.pad(data, {call.pads})")
        if call.index_type is None:
            lines += [f"result = {called}", f"outputs = [result{home}{back}]"]
        else:
            narrowed = f"indices{home}.numpy().astype(np.{np.dtype(call.index_type).name})"
            lines += [f"values, indices = {called}", f"outputs = [values{home}{back}, {narrowed}]"]
        return "\n".join(lines)

    def _answer(self, call: Call, data: Any) -> Any:
        return self._called(call, self._padded(call, data))

    def _padded(self, call: Call, data: Any) -> Any:
        return self._torch.nn.functional.pad(data, call.pads) if call.pads else data

    def _called(self, call: Call, data: Any) -> Any:
        function = getattr(self._torch.nn.functional, call.function)
        return function(data, *call.arguments, **call.keywords)

    def _to_torch(self, array: Array) -> Any:
        # Neither library knows the other's bf16; its codes pass as int16.
        if array.dtype == BF16:
            return self._torch.from_numpy(array.view(np.int16)).view(self._torch.bfloat16)
        return self._torch.from_numpy(array)

    def _to_numpy(self, tensor: Any) -> Array:
        if tensor.dtype == self._torch.bfloat16:
            codes: Array = tensor.view(self._torch.int16).numpy()
            return codes.view(BF16)
        array: Array = tensor.numpy()
        return array


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
    raise Unsupported(f"{op} is no pool of PyTorch's")
