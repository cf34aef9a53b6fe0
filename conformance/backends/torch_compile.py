"""PyTorch's functions, compiled by its inductor: a graph for each call.

A call takes a few seconds, most of them in the compiler, which has to be there: that of C++ for the
CPU.
"""

from __future__ import annotations

from conformance.backends.torch import Torch


class TorchCompile(Torch):
    """PyTorch's functions, compiled by its inductor."""

    name = "torch-compile"
    kernels = "inductor"

    def __init__(self, *, device: str = "cpu", threads: int | None = None) -> None:
        super().__init__(device=device, threads=threads)
        # The first graph takes a minute or two more than any other, which no vector should pay for.
        self._warm_up()

    def environment(self) -> dict[str, str]:
        """Build, threads and compiler, which a result may depend on."""
        return {**super().environment(), "compiler": self.kernels}
