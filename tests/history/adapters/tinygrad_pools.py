"""tinygrad's pools, which have the arguments of PyTorch's; compiled by the LLVM that is installed
(libLLVM)."""

from __future__ import annotations

import os

import numpy as np

from conformance.backends import Capabilities, Exclusion, framework

AVERAGE, MAXIMUM = "torch.avg_pool-2", "torch.max_pool-2"


class Tinygrad:
    """``Tensor.avg_pool2d`` and ``max_pool2d``, which pool any number of axes."""

    name = "tinygrad"
    marked = True
    capabilities = Capabilities(
        operators=(AVERAGE, MAXIMUM),
        dtypes=("f16", "f32", "f64"),
        excluding=(Exclusion("no divisor_override", "divisor_override != 0", op=AVERAGE),),
    )

    def __init__(self) -> None:
        os.environ["LLVM"] = "1"
        from importlib.metadata import version

        from tinygrad import Tensor

        self.version = version("tinygrad")
        self._tensor = Tensor

    def run(self, op, inputs, attributes):
        """Outputs of ``op``; what is invalid is refused by tinygrad."""
        axes = inputs[0].ndim - 2
        words = {key: _each(value, axes) for key, value in attributes.items() if value is not None}
        with framework():
            data = self._tensor(inputs[0])
            if op == AVERAGE:
                return [data.avg_pool2d(**words).numpy()]
            values, indices = data.max_pool2d(return_indices=True, **words)
            return [values.numpy(), indices.numpy().astype(np.int64)]


def _each(given, axes):
    """A number for each axis; a word that is true or false is left."""
    if isinstance(given, list):
        return tuple(given)
    return (given,) * axes if isinstance(given, int) and not isinstance(given, bool) else given
