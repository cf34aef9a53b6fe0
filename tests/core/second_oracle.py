"""Compute ONNX operators exactly, element by element, as a second opinion for another oracle.

Every result is the mathematical value of the document's formula before rounding to the output type.
"""

import functools
import itertools
import math
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]

# An int, a Fraction, an mpmath.mpf of what is irrational, or a float that is nan, inf or -inf.
Value = Any
Shape = tuple[int, ...]
Index = tuple[int, ...]
Attributes = dict[str, Any]

NAN = math.nan
INFINITY = math.inf
ZERO = Fraction(0)
ONE = Fraction(1)
HALF = Fraction(1, 2)
INTEGER_RANGES = {
    "i8": (-(2**7), 2**7 - 1),
    "u8": (0, 2**8 - 1),
    "i32": (-(2**31), 2**31 - 1),
    "i64": (-(2**63), 2**63 - 1),
}
LARGEST = {
    "f16": Fraction(65504),
    "bf16": Fraction((2**8 - 1) * 2**120),
    "f32": Fraction((2**24 - 1) * 2**104),
    "f64": Fraction((2**53 - 1) * 2**971),
}
STASH_TYPES = {1: "f32", 10: "f16", 11: "f64", 16: "bf16"}


@dataclass
class Tensor:
    """Holds the exact elements of an array in row-major order."""

    shape: Shape
    elements: list[Value]
    dtype: str

    def at(self, index: Sequence[int]) -> Value:
        """Return the element at a full index."""
        position = 0
        for size, coordinate in zip(self.shape, index, strict=True):
            if not 0 <= coordinate < size:
                raise IndexError(f"{tuple(index)} is outside {self.shape}")
            position = position * size + coordinate
        return self.elements[position]

    def broadcast_at(self, index: Sequence[int]) -> Value:
        """Return the element that broadcasting shows at an index of the larger shape."""
        tail = index[len(index) - len(self.shape) :]
        return self.at([0 if size == 1 else i for size, i in zip(self.shape, tail, strict=True)])


Inputs = Sequence[Tensor | None]
Operator = Callable[[Inputs, Attributes], list[Tensor]]


def from_numpy(array: Any, dtype: str) -> Tensor:
    """Make a Tensor from a numpy array without loss."""
    flat = array.reshape(-1)
    if dtype in INTEGER_RANGES:
        return Tensor(tuple(array.shape), [int(e) for e in flat], dtype)
    numbers = [float(e) for e in flat]
    return Tensor(
        tuple(array.shape), [Fraction(e) if math.isfinite(e) else e for e in numbers], dtype
    )


# ---------------------------------------------------------------- arithmetic on values


def special(value: Value) -> bool:
    """Tell whether a value is nan or infinite."""
    return isinstance(value, float)


def is_nan(value: Value) -> bool:
    """Tell whether a value is nan."""
    return isinstance(value, float) and math.isnan(value)


def is_mpf(value: Value) -> bool:
    """Tell whether a value is a high-precision approximation."""
    return isinstance(value, mpmath.mpf)


def big(value: Value) -> Value:
    """Convert a finite value to mpf at the current precision."""
    return value if is_mpf(value) else mpmath.mpf(value.numerator) / value.denominator


def sign(value: Value) -> float:
    """Return -1.0, 0.0, 1.0 or nan."""
    return NAN if is_nan(value) else float(value > 0) - float(value < 0)


def add(a: Value, b: Value) -> Value:
    """Add two values."""
    if special(a) or special(b):
        return (a if special(a) else 0.0) + (b if special(b) else 0.0)
    return big(a) + big(b) if is_mpf(a) or is_mpf(b) else a + b


def negate(a: Value) -> Value:
    """Change the sign of a value, exactly."""
    return mpmath.fneg(a, exact=True) if is_mpf(a) else -a


def subtract(a: Value, b: Value) -> Value:
    """Subtract the second value from the first."""
    return add(a, negate(b))


def multiply(a: Value, b: Value) -> Value:
    """Multiply two values."""
    if special(a) or special(b):
        return (a if special(a) else sign(a)) * (b if special(b) else sign(b))
    if a == 0 or b == 0:
        return ZERO
    return big(a) * big(b) if is_mpf(a) or is_mpf(b) else a * b


def divide(a: Value, b: Value) -> Value:
    """Divide the first value by the second, taking a zero divisor as positive."""
    if special(b):
        return NAN if is_nan(b) or special(a) else ZERO
    if special(a):
        return a * (sign(b) or 1.0)
    if b == 0:
        return NAN if a == 0 else sign(a) * INFINITY
    if a == 0:
        return ZERO
    return big(a) / big(b) if is_mpf(a) or is_mpf(b) else Fraction(a) / b


def less(a: Value, b: Value) -> bool:
    """Compare two values, neither of which is nan."""
    if (is_mpf(a) or is_mpf(b)) and not special(a) and not special(b):
        return bool(big(a) < big(b))
    return bool(a < b)


def maximum(a: Value, b: Value) -> Value:
    """Return the larger value, or nan if either is nan."""
    if is_nan(a) or is_nan(b):
        return NAN
    return b if less(a, b) else a


def minimum(a: Value, b: Value) -> Value:
    """Return the smaller value, or nan if either is nan."""
    if is_nan(a) or is_nan(b):
        return NAN
    return b if less(b, a) else a


def total(values: Iterable[Value]) -> Value:
    """Add up values, starting from zero."""
    result: Value = 0
    for value in values:
        result = add(result, value)
    return result


def exponential(x: Value) -> Value:
    """Raise e to a value."""
    if special(x):
        return ZERO if x == -INFINITY else x
    return ONE if x == 0 else exponential_at(x, mpmath.mp.prec)


@functools.lru_cache(maxsize=4096)
def exponential_at(x: Value, bits: int) -> Value:
    """Remember exponentials, since each sum of a softmax needs them all again."""
    with mpmath.workprec(bits):
        return mpmath.exp(big(x))


def exponential_minus_one(x: Value) -> Value:
    """Raise e to a value and subtract one without cancellation."""
    if special(x):
        return -ONE if x == -INFINITY else x
    return ZERO if x == 0 else mpmath.expm1(big(x))


def log_of_one_plus(x: Value) -> Value:
    """Take the logarithm of one plus a non-negative value."""
    if special(x):
        return x
    return ZERO if x == 0 else mpmath.log1p(big(x))


def square_root(x: Value) -> Value:
    """Take the square root, exactly where it is rational."""
    if special(x):
        return NAN if x == -INFINITY else x
    if x < 0:
        return NAN
    top, bottom = math.isqrt(x.numerator), math.isqrt(x.denominator)
    if top * top == x.numerator and bottom * bottom == x.denominator:
        return Fraction(top, bottom)
    return mpmath.sqrt(big(x))


def error_function(x: Value) -> Value:
    """Evaluate erf."""
    if special(x):
        return NAN if is_nan(x) else Fraction(int(sign(x)))
    return ZERO if x == 0 else mpmath.erf(big(x))


def complementary_error_function(x: Value) -> Value:
    """Evaluate one minus erf without cancellation."""
    if special(x):
        return NAN if is_nan(x) else ONE - int(sign(x))
    if (
        x > 10**100
    ):  # mpmath fails here, and the first term of the asymptotic series is good to 600 bits
        return mpmath.exp(negate(multiply(big(x), x))) / (big(x) * mpmath.sqrt(mpmath.pi))
    return ONE if x == 0 else mpmath.erfc(big(x))


def power(base: Value, exponent: Fraction) -> Value:
    """Raise a rational or special base to a rational exponent as IEEE pow does."""
    if exponent == 0:
        return ONE
    if special(base):
        result = math.pow(base, float(exponent))
        return Fraction(result) if math.isfinite(result) else result
    if base == 0:
        return ZERO if exponent > 0 else INFINITY
    if base < 0 and exponent.denominator != 1:
        return NAN
    root, degree = Fraction(base), exponent.denominator
    while degree > 1 and not is_mpf(root):
        root, degree = square_root(root), degree // 2
    if is_mpf(root):
        return mpmath.exp(big(exponent) * mpmath.log(big(base)))
    return root**exponent.numerator


def magnitude(value: Value) -> int:
    """Estimate the absolute base-two logarithm of a rational value."""
    if special(value) or value == 0:
        return 0
    return abs(int(value.numerator).bit_length() - int(value.denominator).bit_length())


def evaluate(formula: Callable[[], Value], operands: Sequence[Value]) -> Value:
    """Evaluate a formula at growing precision until its value settles to 200 bits."""
    bits = 320 + 4 * max([magnitude(v) for v in operands], default=0)
    with mpmath.workprec(bits):
        value = formula()
    while is_mpf(value):
        bits *= 2
        if bits > 2**20:
            raise ArithmeticError("the formula does not settle")
        with mpmath.workprec(bits):
            finer = formula()
            if finer != 0 and abs(finer - value) <= mpmath.ldexp(abs(finer), -200):
                return finer
        value = finer
    return value


def stored(value: Value, dtype: str) -> Value:
    """Truncate and wrap a value for an integer type, or leave it alone."""
    if dtype not in INTEGER_RANGES:
        return value if special(value) or is_mpf(value) else Fraction(value)
    low, high = INTEGER_RANGES[dtype]
    return (int(value) - low) % (high - low + 1) + low


def single(value: float) -> Fraction:
    """Round a decimal default to the f32 value that the document stores."""
    rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    return Fraction(rounded)


# ---------------------------------------------------------------- inputs, attributes, shapes


def optional(inputs: Inputs, position: int) -> Tensor | None:
    """Return an input, or None where it is left out."""
    return inputs[position] if position < len(inputs) else None


def required(inputs: Inputs, position: int) -> Tensor:
    """Return an input that must be there."""
    tensor = optional(inputs, position)
    if tensor is None:
        raise ValueError(f"input {position} is missing")
    return tensor


def real(attributes: Attributes, name: str, default: float) -> Fraction:
    """Return a float attribute exactly."""
    return Fraction(attributes[name]) if name in attributes else single(default)


def text(attributes: Attributes, name: str, default: str) -> str:
    """Return a string attribute."""
    value = attributes.get(name, default)
    return value.decode() if isinstance(value, bytes) else str(value)


def indices(shape: Shape) -> list[Index]:
    """List all indices of a shape in row-major order."""
    return list(itertools.product(*[range(size) for size in shape]))


def build(shape: Shape, dtype: str, element: Callable[[Index], Value]) -> Tensor:
    """Build a tensor from a function of the index."""
    return Tensor(shape, [stored(element(index), dtype) for index in indices(shape)], dtype)


def copy(shape: Shape, dtype: str, element: Callable[[Index], Value]) -> list[Tensor]:
    """Build the single output of an operator that only moves elements."""
    return [Tensor(shape, [element(index) for index in indices(shape)], dtype)]


def positive_axis(axis: int, rank: int) -> int:
    """Count a negative axis from the back."""
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is outside rank {rank}")
    return axis + rank if axis < 0 else axis


def positive_axes(axes: Iterable[int], rank: int) -> set[int]:
    """Count negative axes from the back."""
    return {positive_axis(axis, rank) for axis in axes}


def replaced(index: Sequence[int], axis: int, coordinate: int) -> Index:
    """Replace one coordinate of an index."""
    return (*index[:axis], coordinate, *index[axis + 1 :])


def broadcast_shape(shapes: Sequence[Shape]) -> Shape:
    """Find the common shape of multidirectional broadcasting."""
    rank = max(len(shape) for shape in shapes)
    result = [1] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, start=rank - len(shape)):
            if size != 1 and result[axis] not in (1, size):
                raise ValueError(f"{list(shapes)} cannot be broadcast")
            result[axis] = result[axis] if size == 1 else size
    return tuple(result)


def kept_shape(shape: Shape, axes: set[int]) -> Shape:
    """Set the reduced axes of a shape to one."""
    return tuple(1 if axis in axes else size for axis, size in enumerate(shape))


def members(kept: Index, shape: Shape, axes: set[int]) -> list[Index]:
    """List the indices that are reduced into one kept index."""
    return list(
        itertools.product(
            *[range(size) if axis in axes else [kept[axis]] for axis, size in enumerate(shape)]
        )
    )


def along(x: Tensor, axes: set[int], function: Callable[[list[Index]], list[Value]]) -> Tensor:
    """Replace each group of elements along axes by what a function makes of it."""
    table: dict[Index, Value] = {}
    for kept in indices(kept_shape(x.shape, axes)):
        group = members(kept, x.shape, axes)
        table.update(zip(group, function(group), strict=True))
    return build(x.shape, x.dtype, lambda index: table[index])


def along_axis(
    x: Tensor, axis: int, function: Callable[[list[Value]], list[Value]]
) -> list[Tensor]:
    """Replace the values along one axis by what a function makes of them."""
    axes = positive_axes([axis], len(x.shape))
    return [along(x, axes, lambda group: function([x.at(i) for i in group]))]


def reduce(
    x: Tensor, axes: set[int], keep: bool, dtype: str, function: Callable[[list[Value]], Value]
) -> Tensor:
    """Reduce a tensor along axes with a function of the reduced values."""
    kept = kept_shape(x.shape, axes)
    result = build(kept, dtype, lambda k: function([x.at(i) for i in members(k, x.shape, axes)]))
    if not keep:
        result.shape = tuple(size for axis, size in enumerate(x.shape) if axis not in axes)
    return result


# ---------------------------------------------------------------- elementwise operators


def broadcasting(function: Callable[..., Value]) -> Operator:
    """Make an operator of any number of broadcast inputs."""

    def operator(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
        """Apply the function to the broadcast inputs."""
        tensors = [required(inputs, position) for position in range(len(inputs))]
        shape = broadcast_shape([t.shape for t in tensors])
        return [
            build(
                shape, tensors[0].dtype, lambda i: function(*[t.broadcast_at(i) for t in tensors])
            )
        ]

    return operator


def unary(function: Callable[[Value, Attributes], Value]) -> Operator:
    """Make an operator of one input from a function of one value."""

    def operator(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
        """Apply the function to each element."""
        x = required(inputs, 0)
        return [
            build(
                x.shape,
                x.dtype,
                lambda i: evaluate(lambda: function(x.at(i), attributes), [x.at(i)]),
            )
        ]

    return operator


def largest(*values: Value) -> Value:
    """Return the largest of one or more values, or nan if any is nan."""
    result = values[0]
    for value in values[1:]:
        result = maximum(result, value)
    return result


def parametric_relu(x: Value, slope: Value) -> Value:
    """Scale negative values by the slope."""
    return multiply(slope, x) if is_nan(x) or x < 0 else x


def clip(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
    """Limit values to an interval that defaults to the finite range of the type."""
    x, lower, upper = required(inputs, 0), optional(inputs, 1), optional(inputs, 2)
    lowest, highest = INTEGER_RANGES.get(x.dtype) or (-LARGEST[x.dtype], LARGEST[x.dtype])
    low = lower.elements[0] if lower is not None else lowest
    high = upper.elements[0] if upper is not None else highest
    return [build(x.shape, x.dtype, lambda i: minimum(high, maximum(x.at(i), low)))]


def sigmoid(x: Value) -> Value:
    """Evaluate 1 / (1 + exp(-x))."""
    return divide(ONE, add(ONE, exponential(negate(x))))


def gelu(x: Value, attributes: Attributes) -> Value:
    """Evaluate either form of Gelu, rewritten against cancellation."""
    if text(attributes, "approximate", "none") == "tanh":
        cubic = add(x, multiply(Fraction(44715, 10**6), multiply(x, multiply(x, x))))
        return multiply(x, sigmoid(multiply(mpmath.sqrt(8 / mpmath.pi), cubic)))
    scaled = divide(x, square_root(Fraction(2)))
    return multiply(multiply(HALF, x), complementary_error_function(negate(scaled)))


def mish(x: Value) -> Value:
    """Evaluate Mish. With t = e^x it equals x / (1 + 2 / (t * (t + 2)))."""
    t = exponential(x)
    return multiply(x, divide(ONE, add(ONE, divide(2 * ONE, multiply(t, add(t, 2 * ONE))))))


def selu(x: Value, attributes: Attributes) -> Value:
    """Evaluate Selu."""
    gamma = real(attributes, "gamma", 1.05070102214813232421875)
    alpha = real(attributes, "alpha", 1.67326319217681884765625)
    return multiply(gamma, x if x > 0 else multiply(alpha, exponential_minus_one(x)))


def celu(x: Value, attributes: Attributes) -> Value:
    """Evaluate max(0, x) + min(0, alpha * (exp(x / alpha) - 1))."""
    alpha = real(attributes, "alpha", 1.0)
    return add(
        maximum(ZERO, x), minimum(ZERO, multiply(alpha, exponential_minus_one(divide(x, alpha))))
    )


def hard_sigmoid(x: Value, attributes: Attributes) -> Value:
    """Evaluate max(0, min(1, alpha * x + beta))."""
    alpha, beta = real(attributes, "alpha", 0.2), real(attributes, "beta", 0.5)
    return maximum(ZERO, minimum(ONE, add(multiply(alpha, x), beta)))


# ---------------------------------------------------------------- reductions


def mean(values: list[Value]) -> Value:
    """Average values."""
    return divide(total(values), len(values))


def squares(values: list[Value]) -> list[Value]:
    """Square each value."""
    return [multiply(v, v) for v in values]


def euclidean_norm(values: list[Value]) -> Value:
    """Take the root of the sum of squares."""
    squared = total(squares(values))
    return evaluate(lambda: square_root(squared), [squared])


def product(values: list[Value]) -> Value:
    """Multiply values, starting from one."""
    result: Value = 1
    for value in values:
        result = multiply(result, value)
    return result


def log_sum_exp(values: list[Value]) -> Value:
    """Evaluate log(sum(exp(values))) as the largest value plus a logarithm."""
    plain = total(exponential(v) for v in values)
    if special(plain):
        return plain
    if plain == 0:
        return -INFINITY
    peak = max(values)
    rest = list(values)
    rest.remove(peak)
    return add(peak, log_of_one_plus(total(exponential(subtract(v, peak)) for v in rest)))


def reduction(function: Callable[[list[Value]], Value]) -> Operator:
    """Make a reduction whose axes are an attribute."""

    def operator(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
        """Reduce along the axes of the attribute, or along all."""
        x = required(inputs, 0)
        axes = positive_axes(attributes.get("axes") or range(len(x.shape)), len(x.shape))
        return [reduce(x, axes, bool(attributes.get("keepdims", 1)), x.dtype, function)]

    return operator


def reduce_sum(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
    """Sum along the axes of the second input."""
    x, given = required(inputs, 0), optional(inputs, 1)
    chosen = [] if given is None else given.elements
    if not chosen and not attributes.get("noop_with_empty_axes", 0):
        chosen = list(range(len(x.shape)))
    axes = positive_axes(chosen, len(x.shape))
    return [reduce(x, axes, bool(attributes.get("keepdims", 1)), x.dtype, total)]


def reduce_max(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
    """Take the maximum along axes, where nothing gives the least value of the type."""
    least = INTEGER_RANGES.get(required(inputs, 0).dtype, (-INFINITY,))[0]
    return reduction(lambda values: largest(*values) if values else least)(inputs, attributes)


def position_of_largest(values: list[Value], last: bool) -> int:
    """Find the first or last largest value, where nan counts as the largest."""
    peak = largest(*values)
    hits = [i for i, v in enumerate(values) if v == peak or (is_nan(v) and is_nan(peak))]
    return hits[-1] if last else hits[0]


def arg_max(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
    """Find the index of the largest value along an axis."""
    x = required(inputs, 0)
    axes = positive_axes([attributes.get("axis", 0)], len(x.shape))
    last = bool(attributes.get("select_last_index", 0))
    keep = bool(attributes.get("keepdims", 1))
    return [reduce(x, axes, keep, "i64", lambda values: position_of_largest(values, last))]


# ---------------------------------------------------------------- softmax family


def softmax_at(values: list[Value], i: int) -> Value:
    """Divide one exponential by the sum of all."""
    return divide(exponential(values[i]), total(exponential(v) for v in values))


def log_softmax_at(values: list[Value], i: int) -> Value:
    """Take the logarithm of one softmax value without cancellation."""
    if special(values[i]):
        return -INFINITY if softmax_at(values, i) == 0 else NAN
    others = total(exponential(v) for v in values[:i] + values[i + 1 :])
    return negate(log_of_one_plus(divide(others, exponential(values[i]))))


def normalized_exponential(function: Callable[[list[Value], int], Value]) -> Operator:
    """Make an operator along an axis from a function of the values and a position."""

    def operator(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
        """Apply the function at each position along the axis."""
        return along_axis(
            required(inputs, 0),
            attributes.get("axis", -1),
            lambda values: [
                evaluate(functools.partial(function, values, i), values) for i in range(len(values))
            ],
        )

    return operator


def hardmax(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
    """Mark the first maximum along an axis."""
    return along_axis(
        required(inputs, 0),
        attributes.get("axis", -1),
        lambda values: [
            Fraction(int(i == position_of_largest(values, False))) for i in range(len(values))
        ],
    )


# ---------------------------------------------------------------- normalization


def scaled_quotient(x: Value, squared: Value, scale: Value, bias: Value) -> Value:
    """Evaluate x / sqrt(squared) * scale + bias."""
    return evaluate(
        lambda: add(multiply(divide(x, square_root(squared)), scale), bias),
        [x, squared, scale, bias],
    )


def variance(values: list[Value]) -> Value:
    """Average the squared differences from the mean."""
    middle = mean(values)
    return mean(squares([subtract(v, middle) for v in values]))


def normalize(
    x: Tensor,
    axes: set[int],
    epsilon: Fraction,
    scale: Callable[[Index], Value],
    bias: Callable[[Index], Value],
) -> Tensor:
    """Normalize along axes to zero mean and unit variance, then scale and shift."""

    def function(group: list[Index]) -> list[Value]:
        """Normalize one group."""
        values = [x.at(i) for i in group]
        middle, squared = mean(values), add(variance(values), epsilon)
        return [
            scaled_quotient(subtract(x.at(i), middle), squared, scale(i), bias(i)) for i in group
        ]

    return along(x, axes, function)


def layer_normalization(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
    """Normalize over the trailing axes, and return the mean and inverse deviation too."""
    x, scale, bias = required(inputs, 0), required(inputs, 1), optional(inputs, 2)
    rank = len(x.shape)
    axes = set(range(positive_axis(attributes.get("axis", -1), rank), rank))
    epsilon = real(attributes, "epsilon", 1e-5)
    stash = STASH_TYPES[attributes.get("stash_type", 1)]
    y = normalize(
        x, axes, epsilon, scale.broadcast_at, bias.broadcast_at if bias else lambda i: ZERO
    )
    deviation = reduce(
        x,
        axes,
        True,
        stash,
        lambda values: scaled_quotient(ONE, add(variance(values), epsilon), ONE, ZERO),
    )
    return [y, reduce(x, axes, True, stash, mean), deviation]


def instance_normalization(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
    """Normalize each channel of each instance."""
    x, scale, bias = required(inputs, 0), required(inputs, 1), required(inputs, 2)
    axes = set(range(2, len(x.shape)))
    return [
        normalize(
            x,
            axes,
            real(attributes, "epsilon", 1e-5),
            lambda i: scale.at([i[1]]),
            lambda i: bias.at([i[1]]),
        )
    ]


def group_normalization(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
    """Normalize each group of channels of each instance."""
    x, scale, bias = required(inputs, 0), required(inputs, 1), required(inputs, 2)
    groups = attributes["num_groups"]
    size = x.shape[1] // groups
    if size * groups != x.shape[1]:
        raise ValueError("the groups do not divide the channels")
    split = Tensor((x.shape[0], groups, size, *x.shape[2:]), x.elements, x.dtype)
    y = normalize(
        split,
        set(range(2, len(split.shape))),
        real(attributes, "epsilon", 1e-5),
        lambda i: scale.at([i[1] * size + i[2]]),
        lambda i: bias.at([i[1] * size + i[2]]),
    )
    return [Tensor(x.shape, y.elements, x.dtype)]


def rms_normalization(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
    """Divide by the root mean square over the trailing axes, then scale."""
    x, scale = required(inputs, 0), required(inputs, 1)
    rank = len(x.shape)
    axes = set(range(positive_axis(attributes.get("axis", -1), rank), rank))
    epsilon = real(attributes, "epsilon", 1e-5)

    def function(group: list[Index]) -> list[Value]:
        """Normalize one group."""
        squared = add(mean(squares([x.at(i) for i in group])), epsilon)
        return [scaled_quotient(x.at(i), squared, scale.broadcast_at(i), ZERO) for i in group]

    return [Tensor(x.shape, along(x, axes, function).elements, scale.dtype)]


def batch_normalization(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
    """Normalize each channel with the given mean and variance."""
    if attributes.get("training_mode", 0):
        raise ValueError("the definition that this is compared with has no training mode")
    x, scale, bias, middle, spread = [required(inputs, position) for position in range(5)]
    epsilon = real(attributes, "epsilon", 1e-5)

    def element(index: Index) -> Value:
        """Normalize one element."""
        c = [index[1] if len(index) > 1 else 0]
        difference = subtract(x.at(index), middle.at(c))
        return scaled_quotient(difference, add(spread.at(c), epsilon), scale.at(c), bias.at(c))

    return [build(x.shape, x.dtype, element)]


def lp_normalization(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
    """Divide by the sum norm or the Euclidean norm along an axis."""
    order = attributes.get("p", 2)

    def function(values: list[Value]) -> list[Value]:
        """Normalize the values along the axis."""
        positive = [abs(v) for v in values] if order == 1 else squares(values)
        norm = total(positive)
        if norm == 0:
            return [ZERO for _ in values]
        if order == 1:
            return [divide(v, norm) for v in values]
        return [scaled_quotient(v, norm, ONE, ZERO) for v in values]

    return along_axis(required(inputs, 0), attributes.get("axis", -1), function)


def local_response_normalization(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
    """Divide by a power of the sum of squares over neighbouring channels."""
    x, size = required(inputs, 0), attributes["size"]
    alpha, beta = real(attributes, "alpha", 0.0001), real(attributes, "beta", 0.75)
    bias = real(attributes, "bias", 1.0)

    def element(index: Index) -> Value:
        """Normalize one element."""
        first = max(0, index[1] - (size - 1) // 2)
        last = min(x.shape[1] - 1, index[1] + size // 2)
        region = [x.at(replaced(index, 1, c)) for c in range(first, last + 1)]
        base = add(bias, multiply(alpha / size, total(squares(region))))
        return evaluate(lambda: divide(x.at(index), power(base, beta)), [x.at(index), base])

    return [build(x.shape, x.dtype, element)]


def mean_variance_normalization(epsilon: Fraction) -> Operator:
    """Make the operator with a number that is added to the standard deviation."""

    def operator(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
        """Subtract the mean and divide by the standard deviation."""
        x = required(inputs, 0)

        def quotient(difference: Value, squared: Value) -> Value:
            """Divide by the standard deviation."""
            return divide(difference, add(square_root(squared), epsilon))

        def function(group: list[Index]) -> list[Value]:
            """Normalize one group."""
            values = [x.at(i) for i in group]
            middle, squared = mean(values), variance(values)
            differences = [subtract(v, middle) for v in values]
            return [
                evaluate(functools.partial(quotient, d, squared), [d, squared]) for d in differences
            ]

        axes = attributes.get("axes", [0, 2, 3])
        return [along(x, positive_axes(axes, len(x.shape)), function)]

    return operator


# ---------------------------------------------------------------- operators that move elements


def transpose(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
    """Permute the axes."""
    x = required(inputs, 0)
    axes = list(range(len(x.shape)))
    order = list(attributes.get("perm", axes[::-1]))
    shape = tuple(x.shape[axis] for axis in order)
    return copy(shape, x.dtype, lambda i: x.at([i[order.index(axis)] for axis in axes]))


def padded_source(place: int, low: int, high: int, mode: str) -> int | None:
    """Find the source coordinate in low..high for a place on an axis, or None."""
    if low <= place <= high:
        return place
    if mode == "constant":
        return None
    if low > high:
        raise ValueError("there is nothing to pad from")
    if mode == "edge" or low == high:
        return min(max(place, low), high)
    while not low <= place <= high:
        place = 2 * low - place if place < low else 2 * high - place
    return place


def pad(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
    """Pad or crop both ends of each axis."""
    x, pads, constant = required(inputs, 0), required(inputs, 1).elements, optional(inputs, 2)
    rank, mode = len(x.shape), text(attributes, "mode", "constant")
    fill = constant.elements[0] if constant is not None else stored(0, x.dtype)
    before, after = pads[:rank], pads[rank:]
    shape = tuple(size + b + a for size, b, a in zip(x.shape, before, after, strict=True))
    if min(shape, default=0) < 0:
        raise ValueError("more is removed than there is")

    def element(index: Index) -> Value:
        """Return the source element or the constant."""
        source = [
            padded_source(i - b, max(0, -b), size - 1 - max(0, -a), mode)
            for i, b, a, size in zip(index, before, after, x.shape, strict=True)
        ]
        return fill if None in source else x.at([s for s in source if s is not None])

    return copy(shape, x.dtype, element)


def slice_range(size: int, start: int, end: int, step: int) -> range:
    """Clamp the start and end of a slice as the document says."""
    start = start + size if start < 0 else start
    end = end + size if end < 0 else end
    if step > 0:
        return range(min(max(start, 0), size), min(max(end, 0), size), step)
    if size == 0:
        return range(0)
    return range(min(max(start, 0), size - 1), min(max(end, -1), size - 1), step)


def slice_tensor(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
    """Take every step-th element between start and end along axes."""
    x, starts, ends = (
        required(inputs, 0),
        required(inputs, 1).elements,
        required(inputs, 2).elements,
    )
    axes, steps = optional(inputs, 3), optional(inputs, 4)
    chosen = axes.elements if axes is not None else list(range(len(starts)))
    strides = steps.elements if steps is not None else [1] * len(starts)
    ranges = [range(size) for size in x.shape]
    for start, end, axis, step in zip(starts, ends, chosen, strides, strict=True):
        place = positive_axis(axis, len(x.shape))
        ranges[place] = slice_range(x.shape[place], start, end, step)
    shape = tuple(len(r) for r in ranges)
    return copy(
        shape, x.dtype, lambda index: x.at([r[i] for r, i in zip(ranges, index, strict=True)])
    )


def gather(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
    """Take the slices along an axis that the indices name."""
    x, chosen = required(inputs, 0), required(inputs, 1)
    axis = positive_axis(attributes.get("axis", 0), len(x.shape))
    end = axis + len(chosen.shape)
    shape = (*x.shape[:axis], *chosen.shape, *x.shape[axis + 1 :])

    def element(index: Index) -> Value:
        """Return the element of the slice that is named."""
        place = positive_axis(chosen.at(index[axis:end]), x.shape[axis])
        return x.at((*index[:axis], place, *index[end:]))

    return copy(shape, x.dtype, element)


def scatter_elements(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
    """Update elements of a copy at the places that the indices name."""
    x, places, updates = required(inputs, 0), required(inputs, 1), required(inputs, 2)
    axis = positive_axis(attributes.get("axis", 0), len(x.shape))
    functions: dict[str, Callable[[Value, Value], Value]] = {
        "none": lambda old, new: new,
        "add": add,
        "mul": multiply,
        "max": maximum,
        "min": minimum,
    }
    function = functions[text(attributes, "reduction", "none")]
    table = {index: x.at(index) for index in indices(x.shape)}
    for index in indices(places.shape):
        target = replaced(index, axis, positive_axis(places.at(index), x.shape[axis]))
        table[target] = stored(function(table[target], updates.at(index)), x.dtype)
    return copy(x.shape, x.dtype, lambda index: table[index])


def depth_to_space(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
    """Move depth into spatial blocks."""
    x, block = required(inputs, 0), attributes["blocksize"]
    batch, channels, height, width = x.shape
    depth = channels // (block * block)
    column_first = text(attributes, "mode", "DCR") == "CRD"

    def element(index: Index) -> Value:
        """Return the source of one output element."""
        n, c, h, w = index
        inner = h % block * block + w % block
        channel = c * block * block + inner if column_first else inner * depth + c
        return x.at((n, channel, h // block, w // block))

    return copy((batch, depth, height * block, width * block), x.dtype, element)


def tile(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
    """Repeat the tensor along each axis."""
    x, repeats = required(inputs, 0), required(inputs, 1).elements
    shape = tuple(size * count for size, count in zip(x.shape, repeats, strict=True))
    return copy(
        shape, x.dtype, lambda index: x.at([i % s for i, s in zip(index, x.shape, strict=True)])
    )


def concat(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
    """Join tensors along an axis."""
    tensors = [required(inputs, position) for position in range(len(inputs))]
    first = tensors[0]
    axis = positive_axis(attributes["axis"], len(first.shape))
    if len({replaced(t.shape, axis, 0) for t in tensors}) > 1:
        raise ValueError("the shapes differ outside the axis")
    sources = [(t, place) for t in tensors for place in range(t.shape[axis])]

    def element(index: Index) -> Value:
        """Return the element of the tensor that covers the index."""
        tensor, place = sources[index[axis]]
        return tensor.at(replaced(index, axis, place))

    return copy(replaced(first.shape, axis, len(sources)), first.dtype, element)


def trilu(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
    """Keep the upper or lower triangle and set the rest to zero."""
    x, diagonal = required(inputs, 0), optional(inputs, 1)
    k = diagonal.elements[0] if diagonal is not None else 0
    upper = bool(attributes.get("upper", 1))

    def element(index: Index) -> Value:
        """Return the element or zero."""
        offset = index[-1] - index[-2]
        return x.at(index) if (offset >= k if upper else offset <= k) else stored(0, x.dtype)

    return copy(x.shape, x.dtype, element)


def one_hot(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
    """Insert an axis that is on where the index points and off elsewhere."""
    chosen, depth, values = required(inputs, 0), required(inputs, 1), required(inputs, 2)
    axis = positive_axis(attributes.get("axis", -1), len(chosen.shape) + 1)
    size = int(depth.elements[0])
    off, on = values.elements

    def element(index: Index) -> Value:
        """Compare the coordinate on the new axis with the index."""
        place = chosen.at(index[:axis] + index[axis + 1 :])
        hit = not special(place) and int(place) in (index[axis], index[axis] - size)
        return on if hit else off

    return copy((*chosen.shape[:axis], size, *chosen.shape[axis:]), values.dtype, element)


def reverse_sequence(inputs: Inputs, attributes: Attributes) -> list[Tensor]:
    """Reverse the first elements of each sequence of a batch."""
    x, lengths = required(inputs, 0), required(inputs, 1)
    batch, time = attributes.get("batch_axis", 1), attributes.get("time_axis", 0)

    def element(index: Index) -> Value:
        """Return the mirrored element inside the sequence and the same one beyond it."""
        length = lengths.at([index[batch]])
        return x.at(
            replaced(index, time, length - 1 - index[time]) if index[time] < length else index
        )

    return copy(x.shape, x.dtype, element)


OPERATORS: dict[str, Operator] = {
    "Add-14": broadcasting(add),
    "Div-14": broadcasting(divide),
    "Max-13": broadcasting(largest),
    "Clip-13": clip,
    "PRelu-16": broadcasting(parametric_relu),
    "Sqrt-13": unary(lambda x, _: square_root(x)),
    "Exp-13": unary(lambda x, _: exponential(x)),
    "Erf-13": unary(lambda x, _: error_function(x)),
    "Sigmoid-13": unary(lambda x, _: sigmoid(x)),
    "Softplus-1": unary(lambda x, _: log_of_one_plus(exponential(x))),
    "Gelu-20": unary(gelu),
    "Mish-18": unary(lambda x, _: mish(x)),
    "Selu-6": unary(selu),
    "Celu-12": unary(celu),
    "HardSigmoid-6": unary(hard_sigmoid),
    "ReduceSum-13": reduce_sum,
    "ReduceMean-13": reduction(mean),
    "ReduceL2-13": reduction(euclidean_norm),
    "ReduceLogSumExp-13": reduction(lambda values: evaluate(lambda: log_sum_exp(values), values)),
    "ReduceProd-13": reduction(product),
    "ReduceMax-13": reduce_max,
    "ArgMax-13": arg_max,
    "Softmax-13": normalized_exponential(softmax_at),
    "LogSoftmax-13": normalized_exponential(log_softmax_at),
    "Hardmax-13": hardmax,
    "LayerNormalization-17": layer_normalization,
    "InstanceNormalization-6": instance_normalization,
    "GroupNormalization-21": group_normalization,
    "RMSNormalization-23": rms_normalization,
    "BatchNormalization-15": batch_normalization,
    "LpNormalization-1": lp_normalization,
    "LRN-13": local_response_normalization,
    "MeanVarianceNormalization-13": mean_variance_normalization(ZERO),
    "MeanVarianceNormalization-13 body": mean_variance_normalization(single(1e-9)),
    "Transpose-13": transpose,
    "Pad-13": pad,
    "Slice-13": slice_tensor,
    "Gather-13": gather,
    "ScatterElements-18": scatter_elements,
    "DepthToSpace-13": depth_to_space,
    "Tile-13": tile,
    "Concat-13": concat,
    "Trilu-14": trilu,
    "OneHot-11": one_hot,
    "ReverseSequence-10": reverse_sequence,
}
