"""TensorFlow's average pools on the CPU, which has kernels for data with the channels last."""

from __future__ import annotations

import numpy as np

from conformance.backends import Capabilities, Exclusion, framework
from conformance.errors import Unsupported

PADDING = {"same_upper": "SAME", "valid": "VALID"}


class TensorFlow:
    """``tf.nn.avg_pool1d``, ``avg_pool2d`` and ``avg_pool3d``, called one by one."""

    name = "tensorflow"
    marked = True
    capabilities = Capabilities(
        operators=("AvgPool-1",),
        dtypes=("f16", "bf16", "f32", "f64"),
        excluding=tuple(
            Exclusion(reason, when, op="AvgPool-1")
            for when, reason in (
                ("auto_pad not in [same_upper, valid]", "padding is SAME or VALID"),
                ("rounding_type != floor", "windows that overrun are left out"),
                ("auto_pad == same_upper and not exclude_pad", "padding is not counted"),
            )
        ),
    )

    def __init__(self) -> None:
        import tensorflow

        self.version = str(tensorflow.__version__)
        self._tensorflow = tensorflow

    def run(self, op, inputs, attributes):
        """Outputs of ``op``; what is invalid is refused by TensorFlow."""
        padding = PADDING.get(attributes.get("auto_pad", "explicit"))
        if op != "AvgPool-1" or padding is None:
            raise Unsupported("padding is SAME or VALID")
        axes = inputs[0].ndim - 2
        with framework():
            called = getattr(self._tensorflow.nn, f"avg_pool{axes}d")
            data = np.ascontiguousarray(np.moveaxis(inputs[0], 1, -1))
            found = called(data, attributes["kernel"], attributes["strides"], padding)
            return [np.ascontiguousarray(np.moveaxis(found.numpy(), -1, 1))]
