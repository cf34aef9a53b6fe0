"""Honest evaluations of sums and means in float32: different orders, factors early or late."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from independent import Element

Array = Any
ONE = np.float32(1)


class Sums(NamedTuple):
    """Output elements of a case in float32, a row each; rows are filled up with zeros.

    ``alpha`` is what sums are multiplied by, or, for means, ``count`` what they are divided by.
    """

    left: Array
    right: Array
    alpha: Array
    count: Array
    bias: Array
    beta: Array
    is_mean: bool
    has_bias: bool

    @property
    def products(self) -> Array:
        """Products of the terms, each rounded once."""
        return self.left * self.right

    @property
    def scaled_bias(self) -> Array:
        """The bias times beta, rounded once."""
        return self.beta * self.bias


def sums(elements: list[Element], *, is_mean: bool) -> Sums:
    """Read elements of which float32 has the terms, bias and factors exactly."""
    longest = max(len(element.terms) for element in elements)
    pairs = np.zeros((2, len(elements), longest), "f4")
    for row, element in enumerate(elements):
        for column, pair in enumerate(element.terms):
            pairs[:, row, column] = [float(factor) for factor in pair]
    scales = [float(1 / e.scale if is_mean else e.scale) for e in elements]
    scale = np.array(scales, "f4")
    return Sums(
        left=pairs[0],
        right=pairs[1],
        alpha=np.ones_like(scale) if is_mean else scale,
        count=scale if is_mean else np.ones_like(scale),
        bias=np.array([float(e.bias or 0) for e in elements], "f4"),
        beta=np.array([float(e.bias_scale) for e in elements], "f4"),
        is_mean=is_mean,
        has_bias=any(e.bias is not None for e in elements),
    )


def forward(terms: Array) -> Array:
    """Add terms (elements, terms) from the first to the last."""
    total = np.zeros(len(terms), terms.dtype)
    for column in terms.T:
        total = total + column
    return total


def backward(terms: Array) -> Array:
    """Add terms from the last to the first."""
    return forward(terms[:, ::-1])


def shuffled(terms: Array) -> Array:
    """Add terms in an order drawn with a fixed seed."""
    return forward(np.random.default_rng(3).permuted(terms, axis=1))


def pairwise(terms: Array) -> Array:
    """Add the sums of both halves, and theirs likewise."""
    count = terms.shape[1]
    if count < 2:
        return forward(terms)
    return pairwise(terms[:, : count // 2]) + pairwise(terms[:, count // 2 :])


def lanes(terms: Array, count: int = 8) -> Array:
    """Add every eighth term in a lane, then the lanes."""
    partial_sums = [forward(terms[:, lane::count]) for lane in range(count)]
    return pairwise(np.stack(partial_sums, axis=1))


def blocks(terms: Array, size: int) -> Array:
    """Add blocks of neighbours, then their sums."""
    starts = range(0, max(terms.shape[1], 1), size)
    return forward(np.stack([forward(terms[:, i : i + size]) for i in starts], axis=1))


def largest_first(terms: Array) -> Array:
    """Add terms by falling magnitude, so that small ones are lost."""
    return forward(np.take_along_axis(terms, np.argsort(-abs(terms), axis=1), axis=1))


def one_sign_first(terms: Array) -> Array:
    """Add all positive terms before the negative: the largest partial sums, the worst order."""
    return forward(np.sort(terms, axis=1)[:, ::-1])


ORDERS: dict[str, Callable[[Array], Array]] = {
    "forward": forward,
    "backward": backward,
    "shuffled": shuffled,
    "pairwise": pairwise,
    "8 lanes": lanes,
    "blocks of 4": partial(blocks, size=4),
    "blocks of 16": partial(blocks, size=16),
    "blocks of 64": partial(blocks, size=64),
    "largest first": largest_first,
    "one sign first": one_sign_first,
}


def fused(a: Array, b: Array, c: Array) -> Array:
    """Return a * b + c by float64, in which the product is exact."""
    return (a.astype("f8") * b.astype("f8") + c.astype("f8")).astype("f4")


def fused_sum(left: Array, right: Array, start: Array) -> Array:
    """Add products to a start value by fused multiply-adds."""
    total = start
    for a, b in zip(left.T, right.T, strict=True):
        total = fused(a, b, total)
    return total


def with_bias(terms: Array, bias: Array, position: int) -> Array:
    """Insert the bias as a term."""
    return np.insert(terms, position, bias, axis=1)


def evaluations(case: Sums) -> Iterator[tuple[str, Array]]:
    """Yield the name and the float32 results of each honest evaluation."""
    yield from _late(case)
    yield from _early(case)
    yield from _fused(case)


def _late(case: Sums) -> Iterator[tuple[str, Array]]:
    """Add, then apply the factor, then add the bias."""
    for order, add in ORDERS.items():
        total = add(case.products)
        if case.is_mean:
            yield f"{order}, divided", total / case.count
            yield f"{order}, times reciprocal", total * (ONE / case.count)
        else:
            scaled = case.alpha * total
            yield f"{order}, bias last", scaled + case.scaled_bias
    if case.has_bias:
        total = forward(case.products)
        yield "forward, alpha fused with bias", fused(case.alpha, total, case.scaled_bias)
        yield "forward, beta fused", fused(case.beta, case.bias, case.alpha * total)


def _early(case: Sums) -> Iterator[tuple[str, Array]]:
    """Apply the factor to a factor of each term or to each product; add the bias anywhere."""
    alpha, count = case.alpha[:, None], case.count[:, None]
    if case.is_mean:
        reciprocal = ONE / count
        scaled = {"times reciprocal first": case.products * reciprocal}
        scaled["divided first"] = case.products / count
    elif (case.alpha == 1).all():
        scaled = {"": case.products} if case.has_bias else {}
    else:
        scaled = {
            "alpha on the left": (alpha * case.left) * case.right,
            "alpha on the right": case.left * (alpha * case.right),
            "alpha on products": alpha * case.products,
        }
    middle = case.left.shape[1] // 2
    positions = {"first": 0, "in the middle": middle, "last": case.left.shape[1]}
    for factor, terms in scaled.items():
        for order, add in ORDERS.items():
            if not case.has_bias:
                yield f"{order}, {factor}", add(terms)
                continue
            for where, position in positions.items():
                moved = with_bias(terms, case.scaled_bias, position)
                yield f"{order}, {factor}, bias {where}", add(moved)


def _fused(case: Sums) -> Iterator[tuple[str, Array]]:
    """Add products by fused multiply-adds."""
    zero = np.zeros_like(case.bias)
    total = fused_sum(case.left, case.right, zero)
    if case.is_mean:
        factors = np.broadcast_to(ONE / case.count[:, None], case.left.shape)
        yield "fused, reciprocals", fused_sum(case.left, factors, zero)
        return
    yield "fused, bias last", case.alpha * total + case.scaled_bias
    yield "fused, alpha fused", fused(case.alpha, total, case.scaled_bias)
    scaled = case.alpha[:, None] * case.left
    yield "fused, alpha early, bias first", fused_sum(scaled, case.right, case.scaled_bias)
    backwards = fused_sum(scaled[:, ::-1], case.right[:, ::-1], case.scaled_bias)
    yield "fused backward, alpha early, bias first", backwards
