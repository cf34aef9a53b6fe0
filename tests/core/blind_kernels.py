"""Right kernels of sums of products, in plain numpy and f32: 2D convolutions, MatMul, Gemm.

Each is cut into small methods, so that a bug replaces a method under a condition. They are written
from ONNX's documents: nothing comes from a catalogue or from the oracle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from conformance import Unsupported
from conformance.backends import Capabilities

Array = NDArray[Any]
Attributes = Mapping[str, Any]
Pair = tuple[int, int]
f32 = np.float32


class Kernel:
    """A backend of one operator, in f32."""

    op: ClassVar[str]
    name: ClassVar[str] = "right"
    version: ClassVar[str] = "1"
    capabilities: ClassVar[Capabilities]

    def run(self, op: str, inputs: Sequence[Array | None], attributes: Attributes) -> list[Array]:
        """Compute the output of a valid call; raise Unsupported for another operator or type."""
        if op != self.op or any(array is not None and array.dtype != f32 for array in inputs):
            raise Unsupported(f"{self.name} has {self.op} in f32")
        with np.errstate(all="ignore"):
            return [np.ascontiguousarray(self.computed(inputs, attributes), f32)]

    def computed(self, inputs: Sequence[Array | None], attributes: Attributes) -> Array:
        """Compute the output."""
        raise NotImplementedError


@dataclass(frozen=True)
class WindowCall:
    """A call of a convolution, transposed or not: pairs are (height, width).

    ``x`` is [image, group, channel, row, column], ``w`` [group, filter, channel, row, column],
    ``bias`` [group, filter]. ``begin`` and ``end`` are the padding that results.
    """

    x: Array
    w: Array
    bias: Array | None
    attributes: Attributes
    strides: Pair
    dilations: Pair
    begin: Pair
    end: Pair
    out: Pair

    @property
    def groups(self) -> int:
        return int(self.w.shape[0])

    @property
    def filters(self) -> int:
        """Filters of a group."""
        return int(self.w.shape[1])

    @property
    def channels(self) -> int:
        """Input channels of a group."""
        return int(self.w.shape[2])

    @property
    def kernel(self) -> Pair:
        return self.w.shape[3], self.w.shape[4]

    @property
    def size(self) -> Pair:
        return self.x.shape[3], self.x.shape[4]

    @property
    def is_depthwise(self) -> bool:
        return self.groups > 1 and self.channels == 1

    @property
    def auto_pad(self) -> str:
        return str(self.attributes.get("auto_pad", "NOTSET"))

    def of_channels(self, first: int, stop: int) -> WindowCall:
        """The call over these channels of each group only."""
        return replace(self, x=self.x[:, :, first:stop], w=self.w[:, :, first:stop])


def pair(attributes: Attributes, name: str, default: int) -> Pair:
    """Return an attribute that has a number for each of two axes."""
    first, second = attributes.get(name) or (default, default)
    return first, second


def given_pads(attributes: Attributes) -> tuple[Pair, Pair]:
    """Return the attribute ``pads`` as what it has before and behind each axis."""
    top, left, bottom, right = attributes.get("pads") or (0, 0, 0, 0)
    return (top, left), (bottom, right)


class Windowed(Kernel):
    """What Conv and ConvTranspose have in common: for each output, which inputs meet which taps."""

    def computed(self, inputs: Sequence[Array | None], attributes: Attributes) -> Array:
        x, w, bias = (*inputs, None)[:3]
        assert x is not None
        assert w is not None
        y = self.output(self.call(x, w, bias, attributes))
        return y.reshape(y.shape[0], -1, *y.shape[3:])

    def call(self, x: Array, w: Array, bias: Array | None, attributes: Attributes) -> WindowCall:
        """Bring a call into the form of WindowCall."""
        raise NotImplementedError

    def reads(self, call: WindowCall, axis: int) -> NDArray[np.int64]:
        """Return [output, tap]: the position that is read, outside of the image where none is."""
        raise NotImplementedError

    def output(self, call: WindowCall) -> Array:
        """Compute [image, group, filter, row, column]."""
        total = self.sum(call)
        return total if call.bias is None else total + call.bias[:, :, None, None]

    def sum(self, call: WindowCall) -> Array:
        """Add up the products, tap by tap; taps outside of the image are left out."""
        n, groups, *_ = call.x.shape
        total = np.zeros((n, groups, call.w.shape[1], *call.out), f32)
        rows, columns = self.reads(call, 0), self.reads(call, 1)
        for u, v in np.ndindex(*call.kernel):
            i = np.flatnonzero((rows[:, u] >= 0) & (rows[:, u] < call.size[0]))
            j = np.flatnonzero((columns[:, v] >= 0) & (columns[:, v] < call.size[1]))
            taken = call.x[..., rows[i, u], :][..., columns[j, v]]
            products = np.einsum("ngcij,gmc->ngmij", taken, call.w[..., u, v])
            total[..., i[:, None], j] += products
        return total

    def products(self, call: WindowCall) -> tuple[Array, NDArray[np.bool_]]:
        """Return the products of each output in f64, where they are exact, and which there are.

        They are [image, group, filter, row, column, term] and [row, column, term].
        """
        rows, columns = self.reads(call, 0), self.reads(call, 1)
        inside = [(r >= 0) & (r < n) for r, n in zip((rows, columns), call.size, strict=True)]
        is_term = inside[0][:, None, :, None] & inside[1][None, :, None, :]
        is_term = np.broadcast_to(is_term[:, :, None], (*call.out, call.x.shape[2], *call.kernel))
        i, j = (np.clip(r, 0, n - 1) for r, n in zip((rows, columns), call.size, strict=True))
        taken = call.x[..., i[:, None, :, None], j[None, :, None, :]]
        taken = np.moveaxis(taken, 2, 4)[:, :, None].astype(np.float64)
        products = taken * call.w[None, :, :, None, None]
        terms = (*products.shape[:5], -1)
        is_term = is_term.reshape(*call.out, -1)
        return np.where(is_term, products.reshape(terms), 0.0), is_term


class Conv(Windowed):
    """onnx.Conv-22 of images."""

    op = "onnx.Conv-22"
    capabilities = Capabilities(operators=(op,), dtypes=("f32",), ranks=(4,))

    def call(self, x: Array, w: Array, bias: Array | None, attributes: Attributes) -> WindowCall:
        groups = attributes.get("group", 1)
        strides, dilations = (pair(attributes, name, 1) for name in ("strides", "dilations"))
        begin, end = given_pads(attributes)
        spans = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilations, strict=True)]
        auto_pad = attributes.get("auto_pad", "NOTSET")
        if auto_pad.startswith("SAME"):
            outs = [-(-n // s) for n, s in zip(x.shape[2:], strides, strict=True)]
            lacking = [
                max(0, (o - 1) * s + span - n)
                for o, s, span, n in zip(outs, strides, spans, x.shape[2:], strict=True)
            ]
            smaller, larger = (tuple((p + r) // 2 for p in lacking) for r in (0, 1))
            begin, end = (smaller, larger) if auto_pad == "SAME_UPPER" else (larger, smaller)
        out = [
            (x.shape[2 + axis] + begin[axis] + end[axis] - spans[axis]) // strides[axis] + 1
            for axis in range(2)
        ]
        return WindowCall(
            x.reshape(x.shape[0], groups, -1, *x.shape[2:]),
            w.reshape(groups, -1, *w.shape[1:]),
            None if bias is None else bias.reshape(groups, -1),
            attributes,
            strides,
            dilations,
            begin,
            end,
            (out[0], out[1]),
        )

    def reads(self, call: WindowCall, axis: int) -> NDArray[np.int64]:
        outputs, taps = np.arange(call.out[axis])[:, None], np.arange(call.kernel[axis])
        return outputs * call.strides[axis] + taps * call.dilations[axis] - call.begin[axis]


class ConvTranspose(Windowed):
    """onnx.ConvTranspose-22 of images."""

    op = "onnx.ConvTranspose-22"
    capabilities = Capabilities(operators=(op,), dtypes=("f32",), ranks=(4,))

    def call(self, x: Array, w: Array, bias: Array | None, attributes: Attributes) -> WindowCall:
        groups = attributes.get("group", 1)
        strides, dilations = (pair(attributes, name, 1) for name in ("strides", "dilations"))
        added = pair(attributes, "output_padding", 0)
        begin, end = given_pads(attributes)
        full = [
            (x.shape[2 + axis] - 1) * strides[axis]
            + added[axis]
            + (w.shape[2 + axis] - 1) * dilations[axis]
            + 1
            for axis in range(2)
        ]
        auto_pad = attributes.get("auto_pad", "NOTSET")
        wanted = attributes.get("output_shape")
        if auto_pad.startswith("SAME") and not wanted:
            wanted = [n * s for n, s in zip(x.shape[2:], strides, strict=True)]
        if wanted:
            surplus = [n - o for n, o in zip(full, wanted, strict=True)]
            smaller, larger = (tuple((p + r) // 2 for p in surplus) for r in (0, 1))
            begin, end = (smaller, larger) if auto_pad == "SAME_UPPER" else (larger, smaller)
        out = [full[axis] - begin[axis] - end[axis] for axis in range(2)]
        return WindowCall(
            x.reshape(x.shape[0], groups, -1, *x.shape[2:]),
            w.reshape(groups, -1, *w.shape[1:]).swapaxes(1, 2),
            None if bias is None else bias.reshape(groups, -1),
            attributes,
            strides,
            dilations,
            begin,
            end,
            (out[0], out[1]),
        )

    def reads(self, call: WindowCall, axis: int) -> NDArray[np.int64]:
        outputs, taps = np.arange(call.out[axis])[:, None], np.arange(call.kernel[axis])
        reached = outputs + call.begin[axis] - taps * call.dilations[axis]
        stride = call.strides[axis]
        return np.where(reached % stride == 0, reached // stride, -1)


@dataclass(frozen=True)
class ProductCall:
    """A call of MatMul: ``a`` is [matrix, row, k] and ``b`` [matrix, k, column].

    ``a_of`` and ``b_of`` say which of their matrices each matrix of the result is made of.
    """

    a: Array
    b: Array
    a_of: NDArray[np.int64]
    b_of: NDArray[np.int64]
    a_batch: tuple[int, ...]
    b_batch: tuple[int, ...]
    b_is_vector: bool


class MatMul(Kernel):
    """onnx.MatMul-13."""

    op = "onnx.MatMul-13"
    capabilities = Capabilities(operators=(op,), dtypes=("f32",), ranks=(2, 3, 4))

    def computed(self, inputs: Sequence[Array | None], attributes: Attributes) -> Array:
        a, b = inputs
        assert a is not None
        assert b is not None
        rows, columns = a.shape[-2:-1], b.shape[-1:] if b.ndim > 1 else ()
        a_is_vector, b_is_vector = a.ndim == 1, b.ndim == 1
        a = a[None] if a_is_vector else a
        b = b[:, None] if b_is_vector else b
        a_batch, b_batch = a.shape[:-2], b.shape[:-2]
        batch = np.broadcast_shapes(a_batch, b_batch)
        a_of, b_of = (
            np.broadcast_to(np.arange(prod(lead)).reshape(lead), batch).reshape(-1)
            for lead in (a_batch, b_batch)
        )
        a, b = a.reshape(-1, *a.shape[-2:]), b.reshape(-1, *b.shape[-2:])
        call = ProductCall(a, b, a_of, b_of, a_batch, b_batch, b_is_vector)
        return self.matrices(call).reshape(*batch, *rows, *columns)

    def matrices(self, call: ProductCall) -> Array:
        """Compute all matrices of the result."""
        return self.product(call.a[call.a_of], call.b[call.b_of])

    def product(self, a: Array, b: Array) -> Array:
        """Multiply [matrix, row, k] and [matrix, k, column]."""
        return np.einsum("pik,pkj->pij", a, b)


@dataclass(frozen=True)
class AffineCall:
    """A call of Gemm: ``a`` is [row, k] and ``b`` [k, column], transposed where that was wanted."""

    a: Array
    b: Array
    c: Array | None
    alpha: Any
    beta: Any
    trans_a: bool
    trans_b: bool


class Gemm(Kernel):
    """onnx.Gemm-13."""

    op = "onnx.Gemm-13"
    capabilities = Capabilities(operators=(op,), dtypes=("f32",), ranks=(2,))

    def computed(self, inputs: Sequence[Array | None], attributes: Attributes) -> Array:
        a, b, c = (*inputs, None)[:3]
        assert a is not None
        assert b is not None
        trans_a, trans_b = (bool(attributes.get(name, 0)) for name in ("transA", "transB"))
        alpha, beta = (f32(attributes.get(name, 1)) for name in ("alpha", "beta"))
        a, b = a.T if trans_a else a, b.T if trans_b else b
        return self.affine(AffineCall(a, b, c, alpha, beta, trans_a, trans_b))

    def affine(self, call: AffineCall) -> Array:
        """Compute alpha A B + beta C."""
        scaled = call.alpha * self.product(call.a, call.b)
        return scaled if call.c is None else scaled + call.beta * call.c

    def product(self, a: Array, b: Array) -> Array:
        """Multiply [row, k] and [k, column]."""
        return np.einsum("ik,kj->ij", a, b)


Order = Callable[[Array], Array]
"""Adds up exact products in f64 along their last axis, with f32 for a result."""


def reversed_order(products: Array) -> Array:
    """Add from the last product to the first."""
    total = np.zeros(products.shape[:-1], f32)
    for k in reversed(range(products.shape[-1])):
        total = total + products[..., k].astype(f32)
    return total


def blocks(products: Array) -> Array:
    """Add eight lanes side by side, as a vector unit does, and the lanes at the end."""
    lanes = np.zeros((*products.shape[:-1], 8), f32)
    for first in range(0, products.shape[-1], 8):
        block = products[..., first : first + 8].astype(f32)
        lanes[..., : block.shape[-1]] += block
    return reversed_order(lanes.astype(np.float64))


def pairwise(products: Array) -> Array:
    """Add halves that were added so before."""
    count = products.shape[-1]
    if count == 1:
        return products[..., 0].astype(f32)
    return pairwise(products[..., : count // 2]) + pairwise(products[..., count // 2 :])


def fused(products: Array) -> Array:
    """Add and multiply in one operation, with one rounding."""
    total = np.zeros(products.shape[:-1], f32)
    for k in range(products.shape[-1]):
        total = (total + products[..., k]).astype(f32)
    return total


def doubles(products: Array) -> Array:
    """Add in f64 and round once."""
    return products.sum(axis=-1).astype(f32)


def windowed_in(base: type[Windowed], order: Order) -> type[Windowed]:
    """Make a convolution that adds in an order."""

    class Ordered(base):  # type: ignore[misc, valid-type]
        def sum(self, call: WindowCall) -> Array:
            return order(self.products(call)[0])

    return Ordered


def im2col(base: type[Windowed]) -> type[Windowed]:
    """Make a convolution that gathers each window in a column, without the padding."""

    class Columns(base):  # type: ignore[misc, valid-type]
        def sum(self, call: WindowCall) -> Array:
            products, is_term = self.products(call)
            total = np.zeros(products.shape[:-1], f32)
            for i, j in np.ndindex(*call.out):
                kept = products[..., i, j, is_term[i, j]].astype(f32)
                total[..., i, j] = kept @ np.ones(kept.shape[-1], f32)
            return total

    return Columns


def bias_first(base: type[Windowed]) -> type[Windowed]:
    """Make a convolution whose accumulators begin with the bias."""

    class BiasFirst(base):  # type: ignore[misc, valid-type]
        def output(self, call: WindowCall) -> Array:
            products, _ = self.products(call)
            if call.bias is not None:
                first = call.bias[:, :, None, None, None].astype(np.float64)
                first = np.broadcast_to(first, (*products.shape[:-1], 1))
                products = np.concatenate([first, products], axis=-1)
            return reversed_order(products[..., ::-1])

    return BiasFirst


def product_in(base: type[Any], order: Order) -> type[Any]:
    """Make a product of matrices that adds in an order."""

    class Ordered(base):
        def product(self, a: Array, b: Array) -> Array:
            exact = a.astype(np.float64)[..., :, None, :] * b.swapaxes(-1, -2)[..., None, :, :]
            return order(exact)

    return Ordered


def blas(base: type[Any]) -> type[Any]:
    """Make a product of matrices that BLAS computes."""

    class Blas(base):
        def product(self, a: Array, b: Array) -> Array:
            return a @ b

    return Blas


class AlphaFirst(Gemm):
    """Gemm that scales A, and not the product."""

    def affine(self, call: AffineCall) -> Array:
        return super().affine(replace(call, a=call.alpha * call.a, alpha=f32(1)))


ORDERS: dict[str, Order] = {
    "reversed": reversed_order,
    "blocks": blocks,
    "pairwise": pairwise,
    "fused": fused,
}


def _windows(base: type[Windowed]) -> dict[str, type[Kernel]]:
    ordered = {name: windowed_in(base, order) for name, order in ORDERS.items()}
    return {"plain": base, **ordered, "im2col": im2col(base), "bias first": bias_first(base)}


def _products(base: type[Any]) -> dict[str, type[Kernel]]:
    ordered = {name: product_in(base, order) for name, order in ORDERS.items()}
    return {"plain": base, **ordered, "blas": blas(base)}


HONEST: dict[str, dict[str, type[Kernel]]] = {
    Conv.op: _windows(Conv),
    ConvTranspose.op: _windows(ConvTranspose),
    MatMul.op: {**_products(MatMul), "doubles": product_in(MatMul, doubles)},
    Gemm.op: {**_products(Gemm), "alpha first": AlphaFirst},
}
"""By operator the plain kernel, on which the bugs are built, and six others that are right, too."""
