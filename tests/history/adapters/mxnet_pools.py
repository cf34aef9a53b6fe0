"""MXNet's Pooling, for the pools of PyTorch, which have its arguments under other names."""

from __future__ import annotations

from conformance.backends import Capabilities, Exclusion, framework
from conformance.errors import Unsupported

AVERAGE, NORM = "torch.avg_pool-2", "torch.lp_pool-2"


class MxNet:
    """``mxnet.nd.Pooling`` on the CPU."""

    name = "mxnet"
    marked = True
    capabilities = Capabilities(
        operators=(AVERAGE, NORM),
        dtypes=("f16", "f32", "f64"),
        excluding=(
            Exclusion("no divisor_override", "divisor_override != 0", op=AVERAGE),
            Exclusion("powers are 1, 2 and 3", "p not in [1, 2, 3]", op=NORM),
        ),
    )

    def __init__(self) -> None:
        import mxnet

        self.version = str(mxnet.__version__)
        self._mxnet = mxnet

    def run(self, op, inputs, attributes):
        """Outputs of ``op``; what is invalid is refused by MXNet."""
        axes = inputs[0].ndim - 2
        words = {
            "kernel": _each(attributes["kernel_size"], axes),
            "pooling_convention": "full" if attributes.get("ceil_mode", False) else "valid",
        }
        words["stride"] = _each(attributes.get("stride") or words["kernel"], axes)
        if op == AVERAGE:
            words["pad"] = _each(attributes.get("padding", 0), axes)
            words["pool_type"] = "avg"
            words["count_include_pad"] = attributes.get("count_include_pad", True)
        elif op == NORM and attributes["norm_type"] in (1, 2, 3):
            words["pool_type"], words["p_value"] = "lp", int(attributes["norm_type"])
        else:
            raise Unsupported(f"{op} is not a call of Pooling here")
        with framework():
            data = self._mxnet.nd.array(inputs[0], dtype=inputs[0].dtype)
            return [self._mxnet.nd.Pooling(data, **words).asnumpy()]


def _each(given, axes):
    """A number for each axis."""
    return tuple(given) if isinstance(given, (list, tuple)) else (given,) * axes
