"""Keras on PyTorch: its own padding around PyTorch's pools."""

from __future__ import annotations

import os

from conformance.backends import Capabilities, Exclusion, framework
from conformance.errors import Unsupported

WORDS = {"same_upper": "same", "valid": "valid"}
OPERATORS = {"AvgPool-1": "average_pool", "MaxPool-1": "max_pool"}


CAPABILITIES = Capabilities(
    operators=tuple(OPERATORS),
    dtypes=("f32", "f64"),
    excluding=(
        *(
            Exclusion(reason, when, op=op)
            for op in OPERATORS
            for when, reason in (
                ("auto_pad not in [same_upper, valid]", "padding is same or valid"),
                ("rounding_type != floor", "windows that overrun are left out"),
            )
        ),
        Exclusion(
            "padding is not counted",
            "auto_pad == same_upper and not exclude_pad",
            op="AvgPool-1",
        ),
    ),
)


class Keras:
    """``keras.ops.average_pool`` and ``max_pool`` with the backend torch."""

    name = "keras"
    marked = True
    capabilities = CAPABILITIES

    def __init__(self) -> None:
        os.environ["KERAS_BACKEND"] = "torch"
        import keras

        self.version = str(keras.__version__)
        self._keras = keras

    def run(self, op, inputs, attributes):
        """Outputs of ``op``; what is invalid is refused by Keras."""
        padding = WORDS.get(attributes.get("auto_pad", "explicit"))
        if padding is None:
            raise Unsupported("padding is same or valid")
        with framework():
            called = getattr(self._keras.ops, OPERATORS[op])
            result = called(
                inputs[0],
                tuple(attributes["kernel"]),
                tuple(attributes["strides"]),
                padding,
                "channels_first",
            )
            return [self._keras.ops.convert_to_numpy(result)]
