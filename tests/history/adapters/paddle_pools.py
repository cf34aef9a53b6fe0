"""Paddle's pools, which have the arguments of PyTorch's."""

from __future__ import annotations

import numpy as np

from conformance.backends import Capabilities, Exclusion, framework
from conformance.errors import Unsupported

OPERATORS = ("torch.avg_pool-2", "torch.max_pool-2", "torch.adaptive_avg_pool-2")


class Paddle:
    """Paddle's functions on the CPU."""

    name = "paddle"
    marked = True
    capabilities = Capabilities(
        operators=OPERATORS,
        dtypes=("f32", "f64"),
        excluding=(
            Exclusion("no dilations", "any(dilations != 1)", op="torch.max_pool-2"),
            Exclusion(
                "a divisor_override is of 2D and 3D pools",
                "divisor_override != 0 and axes == 1",
                op="torch.avg_pool-2",
            ),
        ),
    )

    def __init__(self) -> None:
        import paddle

        self.version = str(paddle.__version__)
        self._paddle = paddle

    def run(self, op, inputs, attributes):
        """Outputs of ``op``; what is invalid is refused by Paddle."""
        axes = inputs[0].ndim - 2
        words = {name: value for name, value in attributes.items() if value is not None}
        words.pop("dilation", None)
        if axes == 1:  # there a number, or a list of one
            words = {
                key: v[0] if isinstance(v, list) and len(v) == 1 else v for key, v in words.items()
            }
        if axes not in (1, 2, 3):
            raise Unsupported(f"rank {inputs[0].ndim}")
        function = f"{op.removeprefix('torch.').removesuffix('-2')}{axes}d"
        if op == "torch.avg_pool-2":
            words["exclusive"] = not words.pop("count_include_pad", True)
            if axes == 1:
                words.pop("divisor_override", None)
        if op == "torch.max_pool-2":
            words["return_mask"] = True
        if op == "torch.adaptive_avg_pool-2":
            words["output_size"] = inputs[1].tolist()
        with framework():
            called = getattr(self._paddle.nn.functional, function)
            result = called(self._paddle.to_tensor(inputs[0]), **words)
            if op == "torch.max_pool-2":
                return [result[0].numpy(), result[1].numpy().astype(np.int64)]
            return [result.numpy()]
