"""A second implementation of sums and means, written from the ONNX documents alone.

It is slow and plain: loops over exact fractions, element by element. It shares no code with
``conformance.core``, which is tested against it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

ZERO, ONE = Fraction(0), Fraction(1)

Index = tuple[int, ...]


class Format(NamedTuple):
    """A binary format: digits of the significand, exponents of its first and last binade."""

    digits: int
    emin: int
    emax: int

    @property
    def quantum(self) -> int:
        """The exponent of the smallest subnormal."""
        return self.emin - self.digits + 1

    @property
    def infinity(self) -> int:
        """The code of infinity."""
        return (self.emax - self.emin + 2) << (self.digits - 1)


FORMATS = {
    "f16": Format(11, -14, 15),
    "bf16": Format(8, -126, 127),
    "f32": Format(24, -126, 127),
    "f64": Format(53, -1022, 1023),
}


def power(exponent: int) -> Fraction:
    """Return 2**exponent, exactly."""
    return Fraction(2) ** exponent


def rounded(value: Fraction, form: Format, ties: str = "even") -> int:
    """Round to nearest and return the ordinal: the code of the magnitude, with the sign.

    Args:
        ties: "even", "down" or "up": where a value goes that is midway between two neighbours.
    """
    magnitude = abs(value)
    if not magnitude:
        return 0
    exponent = max(_binade(magnitude), form.emin)
    scaled = magnitude / power(exponent - form.digits + 1)
    significand, remainder = divmod(scaled.numerator, scaled.denominator)
    twice = 2 * remainder
    away = {"even": significand % 2 == 1, "down": value < 0, "up": value > 0}[ties]
    significand += twice > scaled.denominator or (twice == scaled.denominator and away)
    # A significand that has become 2**digits carries into the exponent, up to infinity.
    code = ((exponent - form.emin) << (form.digits - 1)) + significand
    code = min(code, form.infinity)
    return code if value > 0 else -code


def _binade(magnitude: Fraction) -> int:
    """Return the exponent of the largest power of two that is not above a positive number."""
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    return exponent if power(exponent) <= magnitude else exponent - 1


def ordinals(array: Any) -> list[int]:
    """Return the ordinals of an array's elements, as :func:`rounded` numbers them."""
    bits = 8 * array.dtype.itemsize
    sign = 1 << (bits - 1)
    codes = array.reshape(-1).view(f"u{bits // 8}").tolist()
    return [sign - code if code & sign else code for code in codes]


@dataclass(frozen=True)
class Tensor:
    """An array of fractions in row-major order."""

    shape: Index
    values: list[Fraction]

    def __getitem__(self, index: Iterable[int]) -> Fraction:
        position = 0
        for i, extent in zip(index, self.shape, strict=True):
            position = position * extent + i
        return self.values[position]

    def padded(self, index: Index) -> Fraction:
        """Return an element, or zero outside."""
        inside = all(0 <= i < extent for i, extent in zip(index, self.shape, strict=True))
        return self[index] if inside else ZERO

    def broadcast(self, index: Index) -> Fraction:
        """Return the element that broadcasting repeats at an index of the larger shape."""
        aligned = index[len(index) - len(self.shape) :]
        return self[[i if n > 1 else 0 for i, n in zip(aligned, self.shape, strict=True)]]


def tensor(array: Any) -> Tensor:
    """Read an array of any element type exactly."""
    return Tensor(array.shape, [Fraction(x) for x in array.astype("f8").reshape(-1).tolist()])


Term = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Element:
    """An output element: ``scale`` times the sum of its products, plus a scaled bias.

    A plain number is a product with 1. Padding has zeros among the products.
    """

    terms: list[Term]
    scale: Fraction = ONE
    bias: Fraction | None = None
    bias_scale: Fraction = ONE

    @property
    def value(self) -> Fraction:
        """The exact value."""
        total = sum((a * b for a, b in self.terms), ZERO)
        return self.scale * total + self.bias_scale * (self.bias or ZERO)


class Output(NamedTuple):
    """An output tensor; an element is None where it is a mean of nothing."""

    shape: Index
    elements: list[Element | None]


Attributes = Mapping[str, Any]
Inputs = Mapping[str, Any]


def indices(shape: Iterable[int]) -> Iterator[Index]:
    """Yield all indices of a shape, in row-major order."""
    return product(*map(range, shape))


def evaluate(operator: str, attributes: Attributes, inputs: Inputs) -> Output:
    """Evaluate an operator; inputs are arrays by name, None where one is left out."""
    present = {name: tensor(array) for name, array in inputs.items() if array is not None}
    return OPERATORS[operator](attributes, present)


def matmul(attributes: Attributes, inputs: dict[str, Tensor]) -> Output:
    """Multiply matrices as ``numpy.matmul`` does."""
    a, b = inputs["A"], inputs["B"]
    rows = a.shape[-2:-1]  # nothing for a vector, whose dimension is added and removed again
    columns = b.shape[-1:] if len(b.shape) > 1 else ()
    batch = _broadcast_shape(a.shape[:-2], b.shape[:-2])
    elements = []
    for index in indices((*batch, *rows, *columns)):
        where, i, j = _split(index, len(batch), len(rows))
        terms = [
            (a.broadcast((*where, *i, k)), b.broadcast((*where, k, *j))) for k in range(a.shape[-1])
        ]
        elements.append(Element(terms))
    return Output((*batch, *rows, *columns), elements)


def _broadcast_shape(a: Index, b: Index) -> Index:
    rank = max(len(a), len(b))
    pairs = zip((1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b, strict=True)
    return tuple(n if m == 1 else m for m, n in pairs)


def _split(index: Index, first: int, second: int) -> tuple[Index, Index, Index]:
    return index[:first], index[first : first + second], index[first + second :]


def gemm(attributes: Attributes, inputs: dict[str, Tensor]) -> Output:
    """Compute alpha * A' * B' + beta * C."""
    a, b, c = inputs["A"], inputs["B"], inputs.get("C")
    flip_a, flip_b = attributes.get("transA", False), attributes.get("transB", False)
    m, depth = reversed(a.shape) if flip_a else a.shape
    n = b.shape[0] if flip_b else b.shape[1]
    alpha, beta = (_stored(attributes.get(name, 1.0)) for name in ("alpha", "beta"))
    elements = []
    for i, j in indices((m, n)):
        terms = [
            (a[(k, i) if flip_a else (i, k)], b[(j, k) if flip_b else (k, j)]) for k in range(depth)
        ]
        elements.append(Element(terms, alpha, c.broadcast((i, j)) if c else None, beta))
    return Output((m, n), elements)


def _stored(number: float) -> Fraction:
    """Return the number that an attribute of type FLOAT keeps."""
    form, value = FORMATS["f32"], Fraction(number)
    exponent, significand = divmod(abs(rounded(value, form)), 1 << (form.digits - 1))
    if exponent:  # it is normal, so that its first digit is not written
        significand += 1 << (form.digits - 1)
        exponent -= 1
    magnitude = significand * power(exponent + form.quantum)
    return magnitude if value > 0 else -magnitude


class Axis(NamedTuple):
    """The windows along a spatial axis."""

    size: int
    kernel: int
    stride: int
    dilation: int
    begin: int
    end: int
    count: int

    def tap(self, window: int, offset: int) -> int:
        """Return the position that an offset of a window lies at; negative before the input."""
        return window * self.stride + offset * self.dilation - self.begin


def _axes(attributes: Attributes, sizes: Index, kernel: Index) -> list[Axis]:
    """Lay out the windows of each spatial axis, by explicit or automatic padding."""
    rank = len(sizes)
    auto_pad = attributes.get("auto_pad", "NOTSET")
    axes = []
    for i, (size, width) in enumerate(zip(sizes, kernel, strict=True)):
        stride, dilation = (_per_axis(attributes, k, rank, 1)[i] for k in ("strides", "dilations"))
        begin, end = (_per_axis(attributes, k, rank, 0)[i] for k in ("pads_begin", "pads_end"))
        span = (width - 1) * dilation + 1
        if auto_pad == "NOTSET":
            room = size + begin + end - span
            count = room // stride + 1
            # The last window may be cut off, but it begins before the padding at the end.
            if attributes.get("ceil_mode", False) and room % stride:
                count += count * stride < size + begin
        elif auto_pad == "VALID":
            begin = end = 0
            count = (size - span) // stride + 1
        else:
            count = (size + stride - 1) // stride
            total = max((count - 1) * stride + span - size, 0)
            begin = total // 2 if auto_pad == "SAME_UPPER" else total - total // 2
            end = total - begin
        axes.append(Axis(size, width, stride, dilation, begin, end, count))
    return axes


def _per_axis(attributes: Attributes, name: str, rank: int, default: int) -> list[int]:
    return list(attributes.get(name, [default] * rank))


def conv(attributes: Attributes, inputs: dict[str, Tensor]) -> Output:
    """Convolve: correlate a padded input with the filters of its group."""
    x, w, bias = inputs["X"], inputs["W"], inputs.get("B")
    maps, channels, *kernel = w.shape
    maps_per_group = maps // attributes.get("group", 1)
    axes = _axes(attributes, x.shape[2:], tuple(kernel))
    shape = (x.shape[0], maps, *(axis.count for axis in axes))
    elements = []
    for n, m, *window in indices(shape):
        first = m // maps_per_group * channels
        terms = []
        for c, *offset in indices(w.shape[1:]):
            at = tuple(map(Axis.tap, axes, window, offset))
            terms.append((x.padded((n, first + c, *at)), w[(m, c, *offset)]))
        elements.append(Element(terms, bias=bias[(m,)] if bias else None))
    return Output(shape, elements)


def conv_transpose(attributes: Attributes, inputs: dict[str, Tensor]) -> Output:
    """Spread each input element over the output, by the filters of its group."""
    x, w, bias = inputs["X"], inputs["W"], inputs.get("B")
    rank, group, (batch, channels, *sizes) = len(x.shape) - 2, attributes.get("group", 1), x.shape
    maps_per_group, *kernel = w.shape[1:]
    stride, dilation = (_per_axis(attributes, k, rank, 1) for k in ("strides", "dilations"))
    begin, end, extra = (
        _per_axis(attributes, k, rank, 0) for k in ("pads_begin", "pads_end", "output_padding")
    )
    out = [
        stride[i] * (sizes[i] - 1)
        + extra[i]
        + (kernel[i] - 1) * dilation[i]
        + 1
        - begin[i]
        - end[i]
        for i in range(rank)
    ]
    shape = (batch, maps_per_group * group, *out)
    terms: dict[Index, list[Term]] = {index: [] for index in indices(shape)}
    for n, c, *at in indices(x.shape):
        first = c // (channels // group) * maps_per_group
        for m, *offset in indices(w.shape[1:]):
            to = [at[i] * stride[i] + offset[i] * dilation[i] - begin[i] for i in range(rank)]
            target = (n, first + m, *to)
            if target in terms:
                terms[target].append((x[(n, c, *at)], w[(c, m, *offset)]))
    elements = [Element(terms[i], bias=bias[i[1:2]] if bias else None) for i in terms]
    return Output(shape, list(elements))


def reduce_sum(attributes: Attributes, inputs: dict[str, Tensor]) -> Output:
    """Sum over axes, over all of them if none is listed."""
    return _reduce(attributes, inputs["X"], mean=False)


def reduce_mean(attributes: Attributes, inputs: dict[str, Tensor]) -> Output:
    """Average over axes, over all of them if none is listed."""
    return _reduce(attributes, inputs["X"], mean=True)


def _reduce(attributes: Attributes, x: Tensor, *, mean: bool) -> Output:
    rank = len(x.shape)
    axes = {axis % rank for axis in attributes.get("axes") or range(rank)}
    terms: dict[Index, list[Term]] = {}
    for index in indices(x.shape):
        remaining = tuple(0 if axis in axes else i for axis, i in enumerate(index))
        terms.setdefault(remaining, []).append((x[index], ONE))
    shape = [1 if axis in axes else n for axis, n in enumerate(x.shape)]
    if not attributes.get("keepdims", True):
        shape = [n for axis, n in enumerate(shape) if axis not in axes]
    elements = [Element(t, Fraction(1, len(t)) if mean else ONE) for t in terms.values()]
    return Output(tuple(shape), list(elements))


def average_pool(attributes: Attributes, inputs: dict[str, Tensor]) -> Output:
    """Average each window over the input, or over the padded input with count_include_pad."""
    x, kernel = inputs["X"], tuple(attributes["kernel"])
    axes = _axes(attributes, x.shape[2:], kernel)
    shape = (*x.shape[:2], *(axis.count for axis in axes))
    elements: list[Element | None] = []
    for n, c, *window in indices(shape):
        taps = [tuple(map(Axis.tap, axes, window, offset)) for offset in indices(kernel)]
        terms = [(x.padded((n, c, *tap)), ONE) for tap in taps]
        counted = sum(
            _counts(axes, tap, attributes.get("count_include_pad", False)) for tap in taps
        )
        elements.append(Element(terms, Fraction(1, counted)) if counted else None)
    return Output(shape, elements)


def _counts(axes: list[Axis], tap: Index, with_padding: bool) -> bool:
    """Return whether a mean counts a position: padding perhaps, what lies beyond it never."""
    return all(
        (-axis.begin <= i < axis.size + axis.end) if with_padding else (0 <= i < axis.size)
        for axis, i in zip(axes, tap, strict=True)
    )


OPERATORS = {
    "MatMul": matmul,
    "Gemm": gemm,
    "Conv": conv,
    "ConvTranspose": conv_transpose,
    "ReduceMean": reduce_mean,
    "ReduceSum": reduce_sum,
    "AveragePool": average_pool,
}


class Spread(NamedTuple):
    """The error of a plain sum of products that is added in any order.

    Attributes:
        mass: the sum of magnitudes.
        grid: exponent of a power of two that all products are multiples of.
        relative: the largest error without underflow.
        underflow: what underflow may add to it.
    """

    mass: Fraction
    grid: int
    relative: Fraction
    underflow: Fraction

    def is_exact(self, form: Format, grid: int) -> bool:
        """Return whether a format has every partial sum of products on a grid."""
        return grid >= form.quantum and self.mass <= power(form.digits + grid)


def spread(element: Element, form: Format) -> Spread:
    """Bound the error of a plain sum, of which a format keeps products and sums."""
    products = [a * b for a, b in element.terms if a * b]
    count, mass = len(products), sum(map(abs, products), ZERO)
    relative = count * power(-form.digits) * mass
    return Spread(mass, grid_of(products), relative, (2 * count + 1) * power(form.quantum))


def grid_of(numbers: Iterable[Fraction]) -> int:
    """Return the exponent of the largest power of two that all numbers are multiples of."""
    return min((_last_binade(x) for x in numbers if x), default=0)


def _last_binade(number: Fraction) -> int:
    numerator, denominator = abs(number.numerator), number.denominator
    return (numerator & -numerator).bit_length() - denominator.bit_length()
