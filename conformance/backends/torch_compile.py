"""PyTorch's pooling functions, compiled by its inductor: a graph for each call.

A call takes a few seconds, most of them in the compiler, which has to be there: that of C++ for the
CPU.
"""

from __future__ import annotations

from typing import Any

from conformance.backends.torch import Torch
from conformance.backends.torch_calls import Call


class TorchCompile(Torch):
    """PyTorch's pooling functions, compiled by its inductor."""

    name = "torch-compile"
    compiler = "inductor"

    def __init__(self, *, device: str = "cpu", threads: int | None = None) -> None:
        super().__init__(device=device, threads=threads)
        # The first graph takes a minute or two more than any other, which no vector should pay for.
        self._answer(Call("relu"), self._torch.zeros(1, device=self._device))

    def environment(self) -> dict[str, str]:
        """Build, threads and compiler, which a result may depend on."""
        return {**super().environment(), "compiler": self.compiler}

    def _answer(self, call: Call, data: Any) -> Any:
        # PyTorch compiles a function only a few times over, so earlier graphs are forgotten.
        self._torch.compiler.reset()
        compiled = self._torch.compile(super()._answer, backend=self.compiler, fullgraph=True)
        return compiled(call, data)
