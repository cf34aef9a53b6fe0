"""Hold a bank of 105 realistic bugs in ONNX operators, beside honest kernels of those operators."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray
Kernel = Callable[[list["Array | None"], dict[str, Any]], list[Array]]
F32 = np.float32
TINY, HUGE = float(np.finfo(F32).tiny), float(np.finfo(F32).max)
GAMMA, ALPHA = 1.05070102214813232421875, 1.67326319217681884765625
POINT_01, POINT_2, SIXTH = (float(F32(v)) for v in (0.01, 0.2, 1 / 6))
RIGHT: dict[str, dict[str, Kernel]] = {}


@dataclass(frozen=True)
class Bug:
    """Describe one wrong kernel."""

    name: str
    op: str
    sentence: str
    named: str
    kernel: Kernel


BUGS: dict[str, Bug] = {}


def kernel(f: Callable[..., Array], compute: Any = None) -> Kernel:
    """Wrap a function of tensors and keywords, evaluated in type `compute`, as a kernel."""

    def run(inputs: list[Array | None], attributes: dict[str, Any]) -> list[Array]:
        given = {
            k: v.decode() if isinstance(v, bytes) else v if isinstance(v, str) else float(F32(v))
            for k, v in attributes.items()
        }
        kind = inputs[0].dtype
        if compute is not None and kind.kind == "f":
            inputs = [None if x is None else x.astype(compute) for x in inputs]
        with np.errstate(all="ignore"):
            return [np.array(f(*inputs, **given), dtype=kind)]

    return run


def bug(op: str, sentence: str, named: str) -> Callable[[Callable[..., Array]], Callable]:
    """Enter the decorated function into BUGS."""

    def enter(f: Callable[..., Array]) -> Callable[..., Array]:
        name = f.__name__.replace("_", "-")
        assert name not in BUGS, name
        BUGS[name] = Bug(name, op, sentence, named, kernel(f))
        return f

    return enter


# Elementary functions of the honest styles


def fused(a: Array, b: Array, c: Array) -> Array:
    """Round a * b + c once."""
    return np.asarray(np.float64(a) * np.float64(b) + np.float64(c), F32)


def exp_poly(x: Array) -> Array:
    """Evaluate exp by Cody-Waite reduction and a polynomial of degree 7."""
    n = np.rint(np.clip(x, -104, 89) * F32(1.44269504))
    r = np.clip(x, -104, 89) - n * F32(0.693359375) - n * F32(-2.12194440e-4)
    p = F32(1 / 5040)
    for c in (1 / 720, 1 / 120, 1 / 24, 1 / 6, 0.5):
        p = fused(p, r, F32(c))
    scaled = np.ldexp(1 + fused(r * r, p, r), np.nan_to_num(n).astype(np.int32))
    return np.where(np.isnan(x), x, scaled)


def expm1_poly(x: Array) -> Array:
    """Evaluate expm1 by the same reduction, keeping small results accurate."""
    n = np.rint(np.clip(x, -104, 89) * F32(1.44269504))
    r = np.clip(x, -104, 89) - n * F32(0.693359375) - n * F32(-2.12194440e-4)
    p = F32(1 / 40320)
    for c in (1 / 5040, 1 / 720, 1 / 120, 1 / 24, 1 / 6, 0.5):
        p = fused(p, r, F32(c))
    scale = np.ldexp(1.0, np.nan_to_num(n).astype(np.int32))
    return np.where(np.isnan(x), x, fused(fused(r * r, p, r), scale, scale - 1))


def tanh_poly(x: Array) -> Array:
    """Evaluate tanh from expm1 of -2|x|."""
    t = expm1_poly(-2 * np.abs(x))
    return np.copysign(-t / (t + 2), x)


def exp_by_exp2(x: Array) -> Array:
    """Evaluate exp as exp2 of x * log2(e), the rounding of that product made good."""
    t = x * F32(1.44269504)
    rest = fused(x, F32(1.44269504), -t) + x * F32(1.92596299e-8)
    p = np.exp2(t)
    fixed = fused(p, rest * F32(math.log(2)), p)
    return np.where(np.isfinite(p) & np.isfinite(x), fixed, p)


def expm1_by_exp2(x: Array) -> Array:
    """Evaluate expm1 from exp by Kahan's quotient."""
    u = exp_by_exp2(x)
    quotient = (u - 1) * (x / np.log(u))
    return np.where(u == 1, x, np.where((u - 1 == -1) | np.isinf(u), u - 1, quotient))


def log1p_kahan(x: Array) -> Array:
    """Evaluate log1p from log by Kahan's quotient."""
    u = 1 + x
    return np.where(u == 1, x, np.log(u) * (x / (u - 1)))


def div_newton(a: Array, b: Array) -> Array:
    """Divide by a reciprocal, a product and one Newton step, the extremes divided outright."""
    r = 1 / b
    q = a * r
    q = fused(r, fused(-b, q, a), q)
    safe = (np.abs(b) > 1e-30) & (np.abs(b) < 1e30) & (np.abs(q) > 1e-30) & (np.abs(q) < 1e30)
    return np.where(safe, q, a / b)


def erf64(x: Array) -> Array:
    """Evaluate erf in f64."""
    return np.vectorize(math.erf, otypes=[np.float64])(x).astype(x.dtype)


def erfc64(x: Array) -> Array:
    """Evaluate erfc in f64."""
    return np.vectorize(math.erfc, otypes=[np.float64])(x)


@dataclass(frozen=True)
class Maths:
    """Gather the elementary functions that a style uses."""

    exp: Callable[[Array], Array] = np.exp
    expm1: Callable[[Array], Array] = np.expm1
    log1p: Callable[[Array], Array] = np.log1p
    tanh: Callable[[Array], Array] = np.tanh
    div: Callable[[Array, Array], Array] = np.divide
    mad: Callable[[Array, Array, Array], Array] = lambda a, b, c: a * b + c


PLAIN = Maths()
STYLES = {
    "f64": PLAIN,
    "poly": Maths(exp=exp_poly, expm1=expm1_poly, tanh=tanh_poly),
    "exp2": Maths(exp=exp_by_exp2, expm1=expm1_by_exp2, log1p=log1p_kahan),
    "newton": Maths(div=div_newton),
    "fma": Maths(mad=fused),
}


def right(op: str, styles: str = "") -> Callable[[Callable[..., Array]], Callable[..., Array]]:
    """Enter the decorated function into RIGHT as "plain" and in the further styles named."""

    def enter(f: Callable[..., Array]) -> Callable[..., Array]:
        RIGHT[op] = {"plain": kernel(f)}
        for style in styles.split():
            styled = functools.partial(f, m=STYLES[style]) if style != "f64" else f
            RIGHT[op][style] = kernel(styled, np.float64 if style == "f64" else None)
        return f

    return enter


# Honest kernels


@right("Add-14", "f64")
def add(a: Array, b: Array) -> Array:
    """Add."""
    return np.add(a, b)


@right("Sub-14", "f64")
def sub(a: Array, b: Array) -> Array:
    """Subtract."""
    return np.subtract(a, b)


@right("Mul-14", "f64")
def mul(a: Array, b: Array) -> Array:
    """Multiply."""
    return np.multiply(a, b)


@right("Div-14", "f64 newton")
def div(a: Array, b: Array, m: Maths = PLAIN) -> Array:
    """Divide, integers toward zero."""
    if a.dtype.kind == "f":
        return m.div(a, b)
    q = a // b
    return q + ((q * b != a) & (b != 0) & ((a < 0) != (b < 0))).astype(a.dtype)


@right("PRelu-16", "f64")
def prelu(x: Array, slope: Array) -> Array:
    """Scale the negative elements by slope."""
    return np.where(x < 0, slope * x, x)


@right("Max-13", "f64")
def maximum(*xs: Array) -> Array:
    """Take the greatest of all inputs, NaN winning."""
    return functools.reduce(np.maximum, xs)


@right("Min-13", "f64")
def minimum(*xs: Array) -> Array:
    """Take the least of all inputs, NaN winning."""
    return functools.reduce(np.minimum, xs)


def bounds(x: Array, lo: Array | None, hi: Array | None) -> tuple[Array, Array]:
    """Fill in the bounds that Clip lacks."""
    info = (np.finfo if x.dtype.kind == "f" else np.iinfo)(F32 if x.dtype.kind == "f" else x.dtype)
    one = x.dtype.type
    return one(info.min) if lo is None else lo, one(info.max) if hi is None else hi


@right("Clip-13", "f64")
def clip(x: Array, lo: Array | None = None, hi: Array | None = None) -> Array:
    """Bound from below, then from above."""
    lo, hi = bounds(x, lo, hi)
    return np.minimum(hi, np.maximum(x, lo))


@right("Abs-13", "f64")
def absolute(x: Array) -> Array:
    """Clear the sign."""
    return np.abs(x)


@right("Neg-13", "f64")
def neg(x: Array) -> Array:
    """Flip the sign."""
    return np.negative(x)


@right("Sign-13", "f64")
def sign(x: Array) -> Array:
    """Take the sign, NaN for NaN."""
    return np.sign(x)


@right("Relu-14", "f64")
def relu(x: Array) -> Array:
    """Replace the negative elements by zero."""
    return np.maximum(x, x.dtype.type(0))


@right("LeakyRelu-16", "f64")
def leaky(x: Array, alpha: float = POINT_01) -> Array:
    """Scale the negative elements by alpha."""
    return np.where(x < 0, alpha * x, x)


@right("ThresholdedRelu-10", "f64")
def thresholded(x: Array, alpha: float = 1.0) -> Array:
    """Keep the elements above alpha."""
    return np.where(x > alpha, x, 0)


@right("Elu-6", "f64 poly exp2")
def elu(x: Array, alpha: float = 1.0, m: Maths = PLAIN) -> Array:
    """Evaluate Elu."""
    return np.where(x >= 0, x, alpha * m.expm1(np.minimum(x, 0)))


@right("Selu-6", "f64 poly exp2")
def selu(x: Array, alpha: float = ALPHA, gamma: float = GAMMA, m: Maths = PLAIN) -> Array:
    """Evaluate Selu."""
    return gamma * np.where(x > 0, x, alpha * m.expm1(np.minimum(x, 0)))


@right("Celu-12", "f64 poly exp2 newton")
def celu(x: Array, alpha: float = 1.0, m: Maths = PLAIN) -> Array:
    """Evaluate Celu."""
    inner = m.div(x, x.dtype.type(alpha))
    return np.maximum(x, 0) + np.minimum(0, alpha * m.expm1(inner))


@right("HardSigmoid-6", "f64 fma")
def hard_sigmoid(x: Array, alpha: float = POINT_2, beta: float = 0.5, m: Maths = PLAIN) -> Array:
    """Evaluate HardSigmoid."""
    return np.maximum(0, np.minimum(1, m.mad(x, alpha, beta)))


@right("HardSwish-14", "f64 fma")
def hard_swish(x: Array, m: Maths = PLAIN) -> Array:
    """Evaluate HardSwish."""
    return x * hard_sigmoid(x, SIXTH, 0.5, m)


@right("Sigmoid-13", "f64 poly exp2 newton")
def sigmoid(x: Array, m: Maths = PLAIN) -> Array:
    """Evaluate Sigmoid from exp of -|x|."""
    e = m.exp(-np.abs(x))
    return m.div(np.where(x < 0, e, x.dtype.type(1)), 1 + e)


@right("Tanh-13", "f64 poly")
def tanh(x: Array, m: Maths = PLAIN) -> Array:
    """Evaluate Tanh."""
    return m.tanh(x)


@right("Erf-13", "f64")
def erf(x: Array) -> Array:
    """Evaluate Erf."""
    return erf64(x)


def erf_poly(x: Array) -> Array:
    """Evaluate Erf by two minimax polynomials, one of them within exp."""
    t, s = np.abs(x), x * x
    far = F32(-1.72853470e-5)
    for c in (
        3.83197126e-4,
        -3.88396438e-3,
        2.42546219e-2,
        -1.06777877e-1,
        -6.34846687e-1,
        -1.28717512e-1,
    ):
        far = fused(far, np.minimum(t, 6), F32(c))
    near = F32(-5.96761703e-4)
    for c in (4.99119423e-3, -2.67681349e-2, 1.12819925e-1, -3.76125336e-1, 1.28379166e-1):
        near = fused(near, s, F32(c))
    bent = np.copysign(1 - exp_poly(fused(far, t, -t)), x)
    return np.where(t > 0.927734375, np.where(t > 6, np.sign(x), bent), fused(near, x, x))


RIGHT["Erf-13"]["poly"] = kernel(erf_poly)


@right("Exp-13", "f64 poly exp2")
def exp(x: Array, m: Maths = PLAIN) -> Array:
    """Evaluate Exp."""
    return m.exp(x)


@right("Log-13", "f64")
def log(x: Array) -> Array:
    """Evaluate Log."""
    return np.log(x)


RIGHT["Log-13"]["exp2"] = kernel(lambda x: np.log2(x) * F32(math.log(2)))


@right("Sqrt-13", "f64")
def sqrt(x: Array) -> Array:
    """Evaluate Sqrt."""
    return np.sqrt(x)


def sqrt_newton(x: Array) -> Array:
    """Evaluate Sqrt from the reciprocal root by one Newton step."""
    r = 1 / np.sqrt(x)
    y = x * r
    y = fused(r / 2, fused(-y, y, x), y)
    return np.where((x > 1e-30) & (x < 1e30), y, np.sqrt(x))


RIGHT["Sqrt-13"]["newton"] = kernel(sqrt_newton)


@right("Reciprocal-13", "f64 newton")
def reciprocal(x: Array, m: Maths = PLAIN) -> Array:
    """Evaluate Reciprocal."""
    return m.div(x.dtype.type(1), x)


@right("Softplus-1", "f64 poly exp2")
def softplus(x: Array, m: Maths = PLAIN) -> Array:
    """Evaluate Softplus from exp of -|x|."""
    return np.maximum(x, 0) + m.log1p(m.exp(-np.abs(x)))


@right("Softsign-1", "f64 newton")
def softsign(x: Array, m: Maths = PLAIN) -> Array:
    """Evaluate Softsign."""
    return m.div(x, 1 + np.abs(x))


@right("Mish-18", "f64 poly exp2")
def mish(x: Array, m: Maths = PLAIN) -> Array:
    """Evaluate Mish."""
    return x * m.tanh(softplus(x, m))


@right("Gelu-20", "f64 poly exp2 newton fma")
def gelu(x: Array, approximate: str = "none", m: Maths = PLAIN) -> Array:
    """Evaluate Gelu, the tails without cancellation."""
    if approximate == "tanh":
        u = math.sqrt(2 / math.pi) * x * m.mad(x * x, x.dtype.type(0.044715), x.dtype.type(1))
        return x * sigmoid(2 * u, m)
    return (0.5 * x * erfc64(np.float64(x) * -math.sqrt(0.5))).astype(x.dtype)


# Helpers of the bugs


def is_float(x: Array) -> bool:
    """Tell whether x holds floats."""
    return x.dtype.kind == "f"


def shape_of(*xs: Array) -> tuple[int, ...]:
    """Take the shape to which tensors broadcast."""
    return np.broadcast_shapes(*(x.shape for x in xs))


def fits(x: Array, shape: tuple[int, ...]) -> bool:
    """Tell whether x broadcasts to shape."""
    pairs = zip(x.shape[::-1], shape[::-1], strict=False)
    return x.ndim <= len(shape) and all(n in (1, m) for n, m in pairs)


def from_left(x: Array, shape: tuple[int, ...]) -> Array:
    """Align a tensor of lower rank with the leading axes of shape where it fits there."""
    left = x.reshape(x.shape + (1,) * (len(shape) - x.ndim))
    return left if fits(left, shape) else x


def coarse(x: Array, kept: int) -> Array:
    """Cut f32 down to `kept` bits after the leading one."""
    mask = np.uint32(0xFFFFFFFF << (23 - kept) & 0xFFFFFFFF)
    return (np.asarray(x, F32).view(np.uint32) & mask).view(F32)


def tail(out: Array, step: int, values: Array) -> Array:
    """Overwrite the last size mod step elements of out by those of values."""
    start = out.size - out.size % step
    flat = np.array(out).ravel()
    flat[start:] = values.ravel()[start:]
    return flat.reshape(out.shape)


def erf_as(x: Array) -> Array:
    """Evaluate erf by formula 7.1.26 of Abramowitz and Stegun, good to 1.5e-7 absolute."""
    t = 1 / (1 + F32(0.3275911) * np.abs(x))
    p = F32(1.061405429)
    for c in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        p = p * t + F32(c)
    return np.copysign(1 - p * t * np.exp(-x * x), x)


# Bugs of the binary operators


@bug(
    "Add-14",
    "The smaller operand is read at the output's linear index modulo its size, which is "
    "right only where its shape is a suffix of the output's ([C,1,1] is not).",
    "broadcast index: the smaller operand is cycled through, strides of inner axes ignored",
)
def add_cycles_smaller_operand(a: Array, b: Array) -> Array:
    shape = shape_of(a, b)
    return np.resize(a, shape) + np.resize(b, shape)


@bug(
    "Add-14",
    "A bias per channel ([C,1,1] or [1,C,1,1]) gets the channel index i / inner without "
    "modulo C, clamped, so that images after the first take the last channel's bias.",
    "per-channel broadcast: channel index not wrapped for batch n > 0",
)
def add_bias_only_for_first_image(a: Array, b: Array) -> Array:
    axes = [i for i, n in enumerate(b.shape) if n > 1]
    inner = math.prod(a.shape[axes[0] + a.ndim - b.ndim + 1 :]) if len(axes) == 1 else 1
    if a.shape != shape_of(a, b) or inner == 1:
        return add(a, b)
    index = np.minimum(np.arange(a.size) // inner, b.size - 1)
    return a + b.ravel()[index].reshape(a.shape)


@bug(
    "Add-14",
    "int32 operands are converted to f32, added and converted back, so that values "
    "beyond 2^24 lose their low bits.",
    "int32 arithmetic goes through f32; precision lost beyond 2^24",
)
def add_int32_through_float(a: Array, b: Array) -> Array:
    if a.dtype != np.int32:
        return add(a, b)
    return (a.astype(F32) + b.astype(F32)).astype(np.int64).astype(np.int32)


@bug(
    "Add-14",
    "The vector loop over equal shapes has no remainder loop: the last n mod 4 "
    "elements stay those of A.",
    "vector tail: last size mod 4 elements not processed",
)
def add_without_remainder_loop(a: Array, b: Array) -> Array:
    return tail(add(a, b), 4, a) if a.shape == b.shape else add(a, b)


@bug(
    "Add-14",
    "If both operands are broadcast at once ([3,1] + [1,4]), A is taken for contiguous "
    "in the output's order and cycled through.",
    "broadcasting of both operands at once: strides of A wrong",
)
def add_one_sided_broadcast(a: Array, b: Array) -> Array:
    shape = shape_of(a, b)
    return (np.resize(a, shape) if a.shape != shape != b.shape else a) + b


@bug(
    "Sub-14",
    "Operands are swapped so that the larger one comes first, and the result isn't "
    "negated: B - A if only A is broadcast.",
    "operands swapped when the first one is the broadcast one",
)
def sub_swapped_if_first_broadcast(a: Array, b: Array) -> Array:
    return b - a if a.shape != shape_of(a, b) == b.shape else a - b


@bug(
    "Sub-14",
    "The output shares A's buffer though A (rank 1 or more, shape a suffix of B's) is "
    "repeated over rows, so that each row subtracts from the row before.",
    "in-place reuse of A's buffer while A is broadcast; rows accumulate",
)
def sub_in_place_over_broadcast(a: Array, b: Array) -> Array:
    if b.ndim > a.ndim > 0 and a.shape == b.shape[-a.ndim :] and a.size:
        sums = np.cumsum(b.reshape(-1, a.size), axis=0, dtype=b.dtype)
        return (a.ravel() - sums).reshape(b.shape)
    return sub(a, b)


@bug(
    "Sub-14",
    "Unsigned subtraction saturates at 0 instead of wrapping around.",
    "unsigned integers: saturating subtract used where wrapping is due",
)
def sub_unsigned_saturates(a: Array, b: Array) -> Array:
    return np.where(a < b, a.dtype.type(0), a - b) if a.dtype.kind == "u" else sub(a, b)


@bug(
    "Sub-14",
    "B of lower rank is aligned with A's leading axes wherever its sizes fit there "
    "([4,4] - [4] goes by row).",
    "rank mismatch: shapes aligned from the left instead of the right",
)
def sub_aligned_from_left(a: Array, b: Array) -> Array:
    return a - from_left(b, a.shape) if b.ndim < a.ndim else a - b


@bug(
    "Sub-14",
    "The equal-shape loop keeps B's index in 16 bits: from element 65,536 on, B is "
    "read from its beginning again.",
    "large tensors: 16-bit index of B wraps at 65,536",
)
def sub_index_of_16_bits(a: Array, b: Array) -> Array:
    if a.shape != b.shape:
        return sub(a, b)
    return a - b.ravel()[np.arange(b.size) & 0xFFFF].reshape(b.shape)


@bug(
    "Mul-14",
    "Fast-math truncates both f32 operands to bf16 (8 significant bits) before the product.",
    "operands truncated to bf16; relative error up to 1.5e-2",
)
def mul_truncates_to_bf16(a: Array, b: Array) -> Array:
    return coarse(a, 7) * coarse(b, 7) if is_float(a) else mul(a, b)


@bug(
    "Mul-14",
    "int64 is lowered to int32: the product is that of the low words, sign-extended.",
    "int64 computed in 32 bits; products or operands beyond 2^31 wrong",
)
def mul_int64_in_32_bits(a: Array, b: Array) -> Array:
    return mul(a, b) if a.dtype != np.int64 else a.astype(np.int32) * b.astype(np.int32)


@bug(
    "Mul-14",
    "A product with a zero factor is taken for 0 even if the other factor is infinite or NaN.",
    "shortcut x * 0 = 0 drops NaN (0 * inf, 0 * NaN)",
)
def mul_zero_shortcut(a: Array, b: Array) -> Array:
    return (
        np.where((a == 0) | (b == 0), np.copysign(0, a) * np.copysign(1, b), a * b)
        if is_float(a)
        else mul(a, b)
    )


@bug(
    "Mul-14",
    "The output's size along an axis is the larger of both sizes, so that 0 against 1 "
    "gives 1 instead of 0: an empty tensor times [1,C] isn't empty.",
    "zero-size axis broadcast against 1 gives 1; output shape wrong",
)
def mul_empty_against_one(a: Array, b: Array) -> Array:
    rank = max(a.ndim, b.ndim)
    sides = ((1,) * (rank - x.ndim) + x.shape for x in (a, b))
    shape = tuple(max(n, m) for n, m in zip(*sides, strict=True))
    return mul(a, b) if shape == shape_of(a, b) else np.zeros(shape, a.dtype)


@bug(
    "Mul-14",
    "For rank above 4 the leading axes are folded into one and B's folded index is "
    "taken modulo B's folded size: wrong for B of [N,1,C,H,W] against [N,D,C,H,W].",
    "rank > 4: leading axes folded although B is broadcast along one of them",
)
def mul_folds_leading_axes(a: Array, b: Array) -> Array:
    if a.ndim < 5 or a.shape != shape_of(a, b) or not a.size:
        return mul(a, b)
    full = b.reshape((1,) * (a.ndim - b.ndim) + b.shape)
    full, outer = full.reshape(-1, *full.shape[-3:]), a.reshape(-1, *a.shape[-3:])
    return (outer * full[np.arange(len(outer)) % len(full)]).reshape(a.shape)


@bug(
    "Div-14",
    "Integer quotients are rounded down instead of toward zero: -7 / 2 = -4.",
    "integer division floors; negative quotients with a remainder are one too low",
)
def div_integers_floored(a: Array, b: Array) -> Array:
    return div(a, b) if is_float(a) else a // b


@bug(
    "Div-14",
    "The quotient is A times the hardware's 12-bit reciprocal estimate of B, without "
    "a Newton step.",
    "reciprocal estimate not refined; relative error up to 2e-4",
)
def div_by_reciprocal_estimate(a: Array, b: Array) -> Array:
    return a * coarse(1 / b, 12) if is_float(a) else div(a, b)


@bug(
    "Div-14",
    "A numerator of one element (c / X) is fused as a scale of X by 1 / c: the result is X / c.",
    "operands swapped when the numerator is a scalar",
)
def div_scalar_numerator_swapped(a: Array, b: Array) -> Array:
    return div(b, a) if a.size == 1 < b.size and is_float(a) else div(a, b)


@bug(
    "Div-14",
    "A float division by zero is guarded and gives 0 instead of an infinity or NaN.",
    "division by zero returns 0, not inf / NaN",
)
def div_by_zero_guarded(a: Array, b: Array) -> Array:
    return np.where(b == 0, F32(0), a / b) if is_float(a) else div(a, b)


@bug(
    "Div-14",
    "Axes of size 1 are squeezed out of B before broadcasting, so that [N,1] against "
    "[N,N] acts as [N], along the wrong axis.",
    "size-1 axes of B squeezed; [N,1] broadcast along the last axis",
)
def div_squeezes_divisor(a: Array, b: Array) -> Array:
    thin = b.squeeze()
    return div(a, thin) if fits(thin, a.shape) and fits(b, a.shape) else div(a, b)


@bug(
    "Div-14",
    "Integer quotients are the truncated product of A and the rounded f32 reciprocal "
    "of B, one too low for exact quotients such as 41 / 41.",
    "integer division through f32 reciprocal and truncation; exact quotients one too low",
)
def div_integers_by_reciprocal(a: Array, b: Array) -> Array:
    if is_float(a):
        return div(a, b)
    rough = np.trunc(a.astype(F32) * (1 / b.astype(F32)))
    return np.where(b == 0, div(a, b), rough.astype(a.dtype))


@bug(
    "PRelu-16",
    "A slope of lower rank is aligned with the leading axes of X wherever its sizes fit there.",
    "slope broadcast from the left instead of the right",
)
def prelu_slope_from_left(x: Array, slope: Array) -> Array:
    return prelu(x, from_left(slope, x.shape))


@bug(
    "PRelu-16",
    "The slope is read at the linear index modulo its size, as if channels were last, "
    "so that [C,1,1] runs along the last axis.",
    "slope per channel taken along the last axis (channels-last index)",
)
def prelu_slope_along_last_axis(x: Array, slope: Array) -> Array:
    return prelu(x, np.resize(slope, x.shape))


@bug(
    "PRelu-16",
    "Only the first slope is used, for all channels.",
    "slope shared: only element 0 of the slope is read",
)
def prelu_first_slope_for_all(x: Array, slope: Array) -> Array:
    return prelu(x, slope.ravel()[:1].reshape(())) if slope.size else prelu(x, slope)


@bug(
    "PRelu-16",
    "A slope of rank 1 with as many elements as axis 1 of X is laid along axis 1 "
    "(the rule of opset 6) though it belongs to the last axis.",
    "slope of rank 1 laid along channel axis 1, not the last axis",
)
def prelu_vector_slope_along_axis_1(x: Array, slope: Array) -> Array:
    if slope.ndim == 1 and x.ndim > 2 and slope.size == x.shape[1]:
        slope = slope.reshape((-1,) + (1,) * (x.ndim - 2))
    return prelu(x, slope)


@bug(
    "PRelu-16",
    "Computed as max(x, slope * x), which is right for slopes up to 1 only.",
    "max(x, slope * x) used; wrong for slopes above 1",
)
def prelu_as_maximum(x: Array, slope: Array) -> Array:
    return np.where(slope > 1, np.maximum(x, slope * x), prelu(x, slope))


@bug(
    "PRelu-16",
    "max(x, 0) + slope * min(x, 0) is computed by instructions that drop NaN, so that NaN gives 0.",
    "NaN input gives 0: NaN dropped by max / min",
)
def prelu_drops_nan(x: Array, slope: Array) -> Array:
    return np.where(np.isnan(x), F32(0), prelu(x, slope)) if is_float(x) else prelu(x, slope)


@bug(
    "Max-13",
    "a > b ? a : b (the semantics of SSE maxps) loses a NaN of the earlier operand.",
    "NaN in the first operand dropped by the order of comparison",
)
def max_by_sse(*xs: Array) -> Array:
    return functools.reduce(lambda a, b: np.where(a > b, a, b), xs)


@bug(
    "Max-13",
    "Inputs after the second have no influence on the values.",
    "variadic inputs: third and later inputs ignored",
)
def max_of_first_two(*xs: Array) -> Array:
    return np.broadcast_to(maximum(*xs[:2]), shape_of(*xs))


@bug(
    "Max-13",
    "The accumulator starts at numeric_limits<float>::min(), 1.2e-38, instead of "
    "lowest(): maxima that are negative or zero come out as 1.2e-38.",
    "accumulator initialised with the smallest positive float; negative maxima lost",
)
def max_starts_at_smallest_positive(*xs: Array) -> Array:
    return maximum(*xs, F32(TINY)) if is_float(xs[0]) else maximum(*xs)


@bug(
    "Max-13",
    "Unsigned integers are compared as signed ones: 200 counts as less than 100 in uint8.",
    "unsigned values compared as signed; upper half of the range wrong",
)
def max_unsigned_as_signed(*xs: Array) -> Array:
    kind = xs[0].dtype
    return (
        maximum(*(x.view(f"i{kind.itemsize}") for x in xs)).view(kind)
        if kind.kind == "u"
        else maximum(*xs)
    )


@bug(
    "Min-13",
    "fmin semantics: a NaN is dropped if any other operand is a number.",
    "NaN not propagated (fmin)",
)
def min_by_fmin(*xs: Array) -> Array:
    return functools.reduce(np.fmin, xs)


@bug(
    "Min-13",
    "The accumulator starts at FLT_MAX, so that a minimum of +inf (masks) comes out as 3.4e38.",
    "accumulator initialised with FLT_MAX instead of inf",
)
def min_starts_at_flt_max(*xs: Array) -> Array:
    return minimum(*xs, F32(HUGE)) if is_float(xs[0]) else minimum(*xs)


@bug(
    "Min-13",
    "The running minimum is kept in one buffer, which is read cyclically when a later "
    "input enlarges the shape: wrong unless it is a suffix of the larger shape.",
    "broadcast of the accumulated (first) operand: buffer cycled through, strides ignored",
)
def min_accumulator_cycled(*xs: Array) -> Array:
    return functools.reduce(lambda a, b: np.minimum(np.resize(a, shape_of(a, b)), b), xs)


@bug(
    "Min-13",
    "An operand with a middle axis of size 1 ([N,1,C] against [N,T,C]) gets stride 0 "
    "for the leading axis too: all n take its first row.",
    "middle-axis broadcast: leading stride of the operand zero, batch 0 read for all",
)
def min_middle_axis_loses_batch(*xs: Array) -> Array:
    shape = shape_of(*xs)
    return np.broadcast_to(
        minimum(
            *(
                x[:1]
                if x.ndim == len(shape) > 2
                and x.shape[-1] > 1
                and x.size
                and any(n == 1 < m for n, m in zip(x.shape[1:-1], shape[1:-1], strict=True))
                else x
                for x in xs
            )
        ),
        shape,
    )


@bug(
    "Clip-13",
    "Computed as max(min, min(x, max)), which gives min instead of max when min > max.",
    "order of the bounds: min applied last, wrong for min > max",
)
def clip_lower_bound_last(x: Array, lo: Array | None = None, hi: Array | None = None) -> Array:
    lo, hi = bounds(x, lo, hi)
    return np.maximum(lo, np.minimum(x, hi))


@bug(
    "Clip-13",
    "NaN is dropped by fmax and becomes the lower bound.",
    "NaN input gives min instead of NaN",
)
def clip_drops_nan(x: Array, lo: Array | None = None, hi: Array | None = None) -> Array:
    lo, hi = bounds(x, lo, hi)
    return np.fmin(hi, np.fmax(x, lo))


@bug(
    "Clip-13",
    "The importer skips an empty min input, so that a sole max is taken for min.",
    "optional inputs shifted: max without min acts as min",
)
def clip_sole_max_taken_as_min(x: Array, lo: Array | None = None, hi: Array | None = None) -> Array:
    return clip(x, hi, None) if lo is None else clip(x, lo, hi)


@bug(
    "Clip-13",
    "A missing max of a signed integer tensor defaults to FLT_MAX cast to the type, "
    "which yields its lowest value: everything is clipped to that.",
    "default max of integers wrong (FLT_MAX cast overflows)",
)
def clip_missing_integer_max(x: Array, lo: Array | None = None, hi: Array | None = None) -> Array:
    if hi is None and x.dtype.kind == "i":
        hi = x.dtype.type(np.iinfo(x.dtype).min)
    return clip(x, lo, hi)


@bug(
    "Clip-13",
    "The bounds are stored in f16: 0.1 becomes 0.09998, 1e5 becomes inf.",
    "bounds rounded to f16",
)
def clip_bounds_in_half(x: Array, lo: Array | None = None, hi: Array | None = None) -> Array:
    half = [
        v if v is None or not is_float(v) else v.astype(np.float16).astype(F32) for v in (lo, hi)
    ]
    return clip(x, *half)


# Bugs of the exact unary operators


@bug(
    "Abs-13",
    "x < 0 ? -x : x leaves -0 as it is, so that 1 / abs(-0) is -inf.",
    "abs of -0 keeps the sign bit",
)
def abs_keeps_negative_zero(x: Array) -> Array:
    return np.where(x < 0, -x, x) if x.dtype.kind != "u" else x


@bug(
    "Abs-13",
    "A tensor of rank 0 comes back with shape [1].",
    "rank 0 promoted to rank 1; output shape wrong",
)
def abs_promotes_rank_0(x: Array) -> Array:
    return np.abs(x).reshape(x.shape or (1,))


@bug(
    "Neg-13",
    "Computed as 0 - x, which turns 0 into +0 instead of -0.",
    "0 - x used; sign of zero wrong",
)
def neg_from_zero(x: Array) -> Array:
    return x.dtype.type(0) - x


@bug(
    "Neg-13",
    "The element count is passed in 16 bits: of n > 65,535 elements only n mod 65,536 "
    "are computed, the others stay 0.",
    "large tensors: count truncated to 16 bits, remaining elements not written",
)
def neg_count_of_16_bits(x: Array) -> Array:
    out = np.zeros(x.size, x.dtype)
    out[: x.size & 0xFFFF] = np.negative(x.ravel()[: x.size & 0xFFFF])
    return out.reshape(x.shape)


@bug(
    "Sign-13",
    "copysign(1, x) is used, so that zeros give 1 or -1 instead of 0.",
    "sign of zero is not 0",
)
def sign_by_copysign(x: Array) -> Array:
    return np.where(x == 0, np.copysign(1, x), sign(x)) if is_float(x) else sign(x)


@bug(
    "Sign-13",
    "x > 0 ? 1 : x == 0 ? 0 : -1 gives -1 for NaN.",
    "NaN gives -1 (falls into the last branch)",
)
def sign_of_nan_negative(x: Array) -> Array:
    return np.where(x > 0, 1, np.where(x == 0, 0, -1))


@bug(
    "Sign-13", "Magnitudes below 1e-6 count as zero.", "tolerance around zero: small values give 0"
)
def sign_with_tolerance(x: Array) -> Array:
    return np.where(np.abs(x) < 1e-6, F32(0), sign(x)) if is_float(x) else sign(x)


@bug("Relu-14", "maxps(x, 0) with the operands in this order gives 0 for NaN.", "NaN input gives 0")
def relu_drops_nan(x: Array) -> Array:
    return np.where(x > 0, x, x.dtype.type(0))


@bug(
    "Relu-14",
    "Lowered to Relu6: values above 6 come out as 6.",
    "upper clamp at 6 that Relu doesn't have",
)
def relu_clamped_at_six(x: Array) -> Array:
    return np.minimum(relu(x), x.dtype.type(6))


@bug(
    "Relu-14",
    "Computed as x * (x > 0), which gives NaN for -inf (masked logits).",
    "multiplication by a 0/1 mask: -inf gives NaN",
)
def relu_by_mask_product(x: Array) -> Array:
    return x * (x > 0).astype(x.dtype) + x.dtype.type(0)


@bug(
    "LeakyRelu-16",
    "A missing alpha defaults to 0.1 instead of 0.01.",
    "default of alpha is 0.1, not 0.01",
)
def leaky_default_tenfold(x: Array, alpha: float = 0.1) -> Array:
    return leaky(x, alpha)


@bug(
    "LeakyRelu-16",
    "alpha scales the positive elements and leaves the negative ones.",
    "alpha applied on the wrong side of zero",
)
def leaky_on_positive_side(x: Array, alpha: float = POINT_01) -> Array:
    return np.where(x > 0, alpha * x, x)


@bug(
    "LeakyRelu-16",
    "An alpha of 0 counts as missing (`alpha or 0.01`), so that 0.01 is used.",
    "alpha = 0 replaced by the default",
)
def leaky_zero_alpha_missing(x: Array, alpha: float = POINT_01) -> Array:
    return leaky(x, alpha or POINT_01)


@bug(
    "ThresholdedRelu-10",
    "x >= alpha is tested instead of x > alpha: x = alpha passes.",
    "comparison not strict: x equal to alpha is kept",
)
def thresholded_keeps_equal(x: Array, alpha: float = 1.0) -> Array:
    return np.where(x >= F32(alpha), x, F32(0))


@bug(
    "ThresholdedRelu-10",
    "Elements above the threshold give x - alpha (a soft threshold).",
    "alpha subtracted from the elements kept",
)
def thresholded_subtracts_alpha(x: Array, alpha: float = 1.0) -> Array:
    return np.where(x > alpha, x - F32(alpha), F32(0))


@bug(
    "ThresholdedRelu-10",
    "The result passes a Relu as well, so that a negative alpha doesn't let "
    "negative elements through.",
    "negative alpha: elements between alpha and 0 become 0",
)
def thresholded_never_negative(x: Array, alpha: float = 1.0) -> Array:
    return np.maximum(thresholded(x, alpha), F32(0))


# Bugs of the activations


@bug(
    "Elu-6",
    "alpha multiplies exp(x) only: alpha * exp(x) - 1 instead of alpha * (exp(x) - 1).",
    "parenthesis: alpha * exp(x) - 1; wrong for alpha other than 1",
)
def elu_alpha_within(x: Array, alpha: float = 1.0) -> Array:
    return np.where(x < 0, elu(x, alpha) + F32(alpha - 1), x)


@bug(
    "Elu-6",
    "exp(x) - 1 is computed as written, so that small negative x lose their digits "
    "(0 for |x| < 3e-8).",
    "cancellation near zero: expm1 is due",
)
def elu_cancels_near_zero(x: Array, alpha: float = 1.0) -> Array:
    return np.where(x < 0, alpha * (np.exp(np.minimum(x, 0)) - 1), x)


@bug(
    "Elu-6",
    "Both branches are computed and blended by a product with a 0/1 mask: where exp(x) "
    "overflows (x > 88.7), inf * 0 gives NaN.",
    "branch blend by mask product: exp overflow gives NaN for large x",
)
def elu_blended_by_product(x: Array, alpha: float = 1.0) -> Array:
    return np.maximum(x, 0) + alpha * np.expm1(x) * (x < 0)


@bug(
    "Elu-6",
    "The formula of Celu is used: alpha * (exp(x / alpha) - 1).",
    "x divided by alpha inside exp (Celu); wrong for alpha other than 1",
)
def elu_as_celu(x: Array, alpha: float = 1.0) -> Array:
    return celu(x, alpha)


@bug(
    "Selu-6",
    "The default constants are cut to gamma = 1.0507 and alpha = 1.6733.",
    "default constants truncated to five digits",
)
def selu_short_constants(x: Array, alpha: float = 1.6733, gamma: float = 1.0507) -> Array:
    return selu(x, alpha, gamma)


@bug(
    "Selu-6",
    "gamma multiplies the negative side only; positive elements are copied.",
    "gamma missing on the positive side",
)
def selu_gamma_only_below_zero(x: Array, alpha: float = ALPHA, gamma: float = GAMMA) -> Array:
    return np.where(x > 0, x, selu(x, alpha, gamma))


@bug(
    "Selu-6",
    "The attributes alpha and gamma are ignored; the default constants are built in.",
    "attributes alpha and gamma not read",
)
def selu_ignores_attributes(x: Array, **_: float) -> Array:
    return selu(x)


@bug(
    "Selu-6",
    "A table of exp ends at -8: more negative x give the value at -8, 0.03 % off.",
    "negative x clamped to -8 before exp; saturates early",
)
def selu_table_ends_at_minus_8(x: Array, alpha: float = ALPHA, gamma: float = GAMMA) -> Array:
    return selu(np.maximum(x, F32(-8)), alpha, gamma)


@bug(
    "Celu-12",
    "x isn't divided by alpha inside exp (the formula of Elu).",
    "division by alpha inside exp missing; wrong for alpha other than 1",
)
def celu_as_elu(x: Array, alpha: float = 1.0) -> Array:
    return elu(x, alpha)


@bug(
    "Celu-12",
    "exp(x / alpha) - 1 is computed as written: digits are lost for |x| much smaller "
    "than alpha, and alpha magnifies the error.",
    "cancellation for small x / alpha: expm1 is due",
)
def celu_cancels_for_small_ratio(x: Array, alpha: float = 1.0) -> Array:
    return np.maximum(x, 0) + np.minimum(0, alpha * (np.exp(x / alpha) - 1))


@bug(
    "Celu-12",
    "alpha is parsed as an integer: 1.5 becomes 1, and 0.5 becomes 0.",
    "alpha truncated to an integer",
)
def celu_integer_alpha(x: Array, alpha: float = 1.0) -> Array:
    return celu(x, float(int(alpha)))


@bug(
    "HardSigmoid-6",
    "The upper clamp at 1 is missing.",
    "min(1, ...) missing; large x give more than 1",
)
def hard_sigmoid_without_upper_clamp(x: Array, alpha: float = POINT_2, beta: float = 0.5) -> Array:
    return np.maximum(0, alpha * x + beta)


@bug(
    "HardSigmoid-6",
    "A missing alpha defaults to 1/6 (PyTorch) instead of 0.2.",
    "default of alpha is 1/6, not 0.2",
)
def hard_sigmoid_default_sixth(x: Array, alpha: float = SIXTH, beta: float = 0.5) -> Array:
    return hard_sigmoid(x, alpha, beta)


@bug(
    "HardSigmoid-6",
    "x is clamped to [-2.5, 2.5] instead of the result to [0, 1], which agrees "
    "for the default alpha and beta only.",
    "saturation points fixed at +-2.5 whatever alpha and beta are",
)
def hard_sigmoid_fixed_saturation(x: Array, alpha: float = POINT_2, beta: float = 0.5) -> Array:
    return hard_sigmoid(np.clip(x, -2.5, 2.5), alpha, beta)


@bug("HardSigmoid-6", "NaN is dropped by the clamps and gives 0.", "NaN input gives 0")
def hard_sigmoid_drops_nan(x: Array, alpha: float = POINT_2, beta: float = 0.5) -> Array:
    return np.where(np.isnan(x), F32(0), hard_sigmoid(x, alpha, beta))


@bug(
    "HardSwish-14",
    "relu6 is taken of x instead of x + 3: x * min(max(x, 0), 6) / 6.",
    "shift by 3 (beta) missing inside the clamp",
)
def hard_swish_without_shift(x: Array) -> Array:
    return x * np.clip(x, 0, 6) / 6


@bug("HardSwish-14", "1/6 is written as 0.1666.", "constant 1/6 truncated to 0.1666")
def hard_swish_short_sixth(x: Array) -> Array:
    return x * hard_sigmoid(x, 0.1666, 0.5)


@bug(
    "HardSwish-14",
    "The remainder after the 8-wide loop multiplies x by the gates of the vector "
    "before: the last n mod 8 of n > 8 elements are wrong.",
    "vector tail: last size mod 8 elements use gates of the preceding vector",
)
def hard_swish_stale_gates_in_tail(x: Array) -> Array:
    gates = hard_sigmoid(x, SIXTH, 0.5)
    return x * (tail(gates, 8, np.roll(gates.ravel(), 8)) if x.size > 8 else gates)


@bug(
    "Sigmoid-13",
    "Computed as exp(x) / (1 + exp(x)), which is inf / inf = NaN for x > 88.7.",
    "exp overflow: NaN for large positive x",
)
def sigmoid_overflows(x: Array) -> Array:
    return np.exp(x) / (1 + np.exp(x))


@bug(
    "Sigmoid-13",
    "Results for x < -16 are flushed to 0 (1.1e-7 and less, lost to a later log).",
    "negative tail flushed to 0 below -16",
)
def sigmoid_zero_below_minus_16(x: Array) -> Array:
    return np.where(x < -16, F32(0), sigmoid(x))


@bug(
    "Sigmoid-13",
    "The fast form 0.5 + 0.5 * x / (1 + |x|) stands for the sigmoid.",
    "softsign-based approximation instead of exp; error up to 0.08",
)
def sigmoid_by_softsign(x: Array) -> Array:
    return 0.5 + 0.5 * softsign(x)


@bug(
    "Sigmoid-13",
    "From 4,096 elements on, four threads take n / 4 elements each, and the n mod 4 "
    "remaining ones stay 0.",
    "parallel split: last size mod 4 elements of large tensors not computed",
)
def sigmoid_split_loses_rest(x: Array) -> Array:
    out = sigmoid(x)
    return tail(out, 4, np.zeros_like(out)) if x.size >= 4096 else out


@bug(
    "Tanh-13",
    "A rational function (Pade 7/6) on x clamped to +-4.97 is used, off by up to 1e-4.",
    "clamped rational approximation; error up to 1e-4 near |x| = 5",
)
def tanh_clamped_rational(x: Array) -> Array:
    t = np.clip(x, F32(-4.97), F32(4.97))
    s = t * t
    top = t * (135135 + s * (17325 + s * (378 + s)))
    return np.clip(top / (135135 + s * (62370 + s * (3150 + s * 28))), -1, 1)


@bug(
    "Tanh-13",
    "(exp(2x) - 1) / (exp(2x) + 1) is inf / inf = NaN for x > 44.4.",
    "exp overflow: NaN for large positive x",
)
def tanh_overflows(x: Array) -> Array:
    e = np.expm1(2 * x)
    return e / (e + 2)


@bug(
    "Tanh-13",
    "1 - 2 / (exp(2x) + 1) cancels near zero: tanh(1e-4) has 3 digits, tanh(1e-8) is 0.",
    "cancellation near zero: x itself is due for small x",
)
def tanh_cancels_near_zero(x: Array) -> Array:
    return 1 - 2 / (np.exp(2 * x) + 1)


@bug(
    "Erf-13",
    "Formula 7.1.26 of Abramowitz and Stegun is used for all x: its absolute error of "
    "1.5e-7 leaves few digits near zero (5 % off at 1e-6).",
    "erf approximation without relative accuracy near zero",
)
def erf_by_abramowitz_stegun(x: Array) -> Array:
    return erf_as(x)


@bug(
    "Erf-13",
    "erf(x) is replaced by tanh(1.128379 * x + 0.100914 * x^3), off by up to 4e-4.",
    "tanh approximation of erf; error up to 4e-4",
)
def erf_by_tanh(x: Array) -> Array:
    return np.tanh(x * (F32(1.1283792) + F32(0.1009136) * x * x))


@bug(
    "Erf-13",
    "The power series up to x^21, clamped to +-1, is used for all x: wrong from |x| = "
    "1.5 to 3, where it overshoots.",
    "power series with too few terms beyond |x| = 1.5",
)
def erf_by_power_series(x: Array) -> Array:
    t = np.clip(np.float64(x), -6, 6)
    terms = ((-1) ** k * t ** (2 * k + 1) / (math.factorial(k) * (2 * k + 1)) for k in range(11))
    return np.clip(2 / math.sqrt(math.pi) * sum(terms), -1, 1)


@bug(
    "Exp-13",
    "exp(x) is computed as (1 + x / 1024)^1024, off by x^2 / 2048.",
    "limit form of exp; relative error grows as x squared",
)
def exp_by_limit(x: Array) -> Array:
    return np.maximum(1 + np.float64(x) / 1024, 0) ** 1024


@bug(
    "Exp-13",
    "x is clamped to [-87.34, 88.38] first, so that exp(-inf) isn't 0 and exp(89) isn't inf.",
    "input clamped: no underflow to 0 and no overflow to inf",
)
def exp_clamped_input(x: Array) -> Array:
    return np.exp(np.clip(x, F32(-87.336544), F32(88.376263)))


@bug(
    "Exp-13",
    "exp2(x * 1.4427) is computed: log2(e) is cut to five digits.",
    "constant log2(e) truncated; relative error 3.4e-6 * x",
)
def exp_short_log2e(x: Array) -> Array:
    return np.exp2(x * F32(1.4427))


@bug(
    "Log-13",
    "x is raised to the smallest normal float first: log(0) gives -87.3 instead of -inf "
    "(denormal x give that too).",
    "log(0) finite: argument clamped to FLT_MIN",
)
def log_of_zero_finite(x: Array) -> Array:
    return np.log(np.where((x >= 0) & (x < TINY), F32(TINY), x))


@bug(
    "Log-13",
    "The series of log((1+s)/(1-s)) ends after s^3, which leaves an error of 6e-5.",
    "polynomial with too few terms; error 6e-5",
)
def log_two_terms(x: Array) -> Array:
    m, e = np.frexp(x)
    low = m < F32(math.sqrt(0.5))
    m, e = np.where(low, 2 * m, m), e - low
    s = (m - 1) / (m + 1)
    rough = e * F32(math.log(2)) + 2 * s * (1 + s * s / F32(3))
    return np.where((x > 0) & (x < np.inf), rough, np.log(x))


@bug(
    "Sqrt-13",
    "Computed as x * rsqrt(x), which is 0 * inf = NaN at zero (and inf * 0 at inf).",
    "x * rsqrt(x): NaN at 0 and inf",
)
def sqrt_of_zero_nan(x: Array) -> Array:
    return x * (1 / np.sqrt(x))


@bug(
    "Sqrt-13",
    "The 12-bit hardware estimate of 1 / sqrt(x) is used without a Newton step.",
    "rsqrt estimate not refined; relative error up to 2e-4",
)
def sqrt_by_estimate(x: Array) -> Array:
    return np.where((x > 0) & (x < np.inf), x * coarse(1 / np.sqrt(x), 12), np.sqrt(x))


@bug(
    "Reciprocal-13",
    "The 11-bit hardware estimate is used without a Newton step.",
    "reciprocal estimate not refined; relative error up to 5e-4",
)
def reciprocal_estimate(x: Array) -> Array:
    return coarse(1 / x, 11)


@bug(
    "Reciprocal-13",
    "The Newton step r * (2 - x * r) meets 0 * inf: 1 / 0 and 1 / inf are NaN.",
    "Newton step without treatment of 0 and inf: NaN",
)
def reciprocal_newton_nan(x: Array) -> Array:
    r = 1 / x
    return np.where(np.isfinite(r) & (r != 0), r, r * (2 - x * r))


@bug(
    "Softplus-1",
    "log1p(exp(x)) is computed as written and overflows to inf for x > 88.7.",
    "exp overflow: inf for large positive x",
)
def softplus_overflows(x: Array) -> Array:
    return np.where(x > 80, np.log1p(np.exp(x)), softplus(x))


@bug(
    "Softplus-1",
    "log(1 + exp(x)) without log1p loses the negative tail: 0 for x < -16.7.",
    "cancellation for negative x: log1p is due",
)
def softplus_loses_negative_tail(x: Array) -> Array:
    return np.where(x < 0, np.log(1 + np.exp(np.minimum(x, 0))), softplus(x))


@bug(
    "Softplus-1",
    "From x = 8 on, x itself is returned, too early by 3e-4.",
    "linear branch begins at 8, too early for f32",
)
def softplus_linear_from_8(x: Array) -> Array:
    return np.where(x > 8, x, softplus(x))


@bug(
    "Softsign-1",
    "The denominator 1 + |x| is held in f16: 3 digits, and inf (result 0) from |x| = 65,520.",
    "denominator rounded to f16",
)
def softsign_half_denominator(x: Array) -> Array:
    return x / (1 + np.abs(x)).astype(np.float16).astype(F32)


@bug(
    "Softsign-1",
    "The scalar loop for the last n mod 4 elements lacks the absolute value: x / (1 + x).",
    "vector tail: |x| missing for the last size mod 4 elements",
)
def softsign_tail_without_abs(x: Array) -> Array:
    return tail(softsign(x), 4, x / (1 + x))


@bug(
    "Mish-18",
    "e * (e + 2) / (e * (e + 2) + 2) with e = exp(x) is inf / inf = NaN for x > 44.",
    "exp overflow: NaN for large positive x",
)
def mish_overflows(x: Array) -> Array:
    e = np.exp(x)
    return x * (e * (e + 2) / (e * (e + 2) + 2))


@bug(
    "Mish-18",
    "The softplus uses log2 (the shader's native one) without the factor ln 2.",
    "logarithm of base 2 instead of e in softplus",
)
def mish_log_of_base_2(x: Array) -> Array:
    return x * np.tanh(softplus(x) / F32(math.log(2)))


@bug(
    "Gelu-20",
    "The tanh formula is used also for approximate = none, off by up to 5e-4.",
    "approximate = none computed by the tanh formula",
)
def gelu_always_tanh(x: Array, approximate: str = "none") -> Array:
    return gelu(x, "tanh")


@bug(
    "Gelu-20",
    "approximate = tanh is ignored and erf used, off by up to 5e-4.",
    "attribute approximate = tanh not honoured",
)
def gelu_never_tanh(x: Array, approximate: str = "none") -> Array:
    return gelu(x)


@bug(
    "Gelu-20",
    "The constant of the tanh formula is mistyped as 0.044175.",
    "constant 0.044715 mistyped in the tanh formula",
)
def gelu_mistyped_constant(x: Array, approximate: str = "none") -> Array:
    u = F32(math.sqrt(2 / math.pi)) * (x + F32(0.044175) * x * x * x)
    return x * sigmoid(2 * u) if approximate == "tanh" else gelu(x)


@bug(
    "Gelu-20",
    "The tanh of the tanh formula is (exp(2u) - 1) / (exp(2u) + 1), which is NaN for x above 10.",
    "exp overflow inside tanh: NaN for x > 10 with approximate = tanh",
)
def gelu_tanh_overflows(x: Array, approximate: str = "none") -> Array:
    e = np.exp(2 * F32(math.sqrt(2 / math.pi)) * (x + F32(0.044715) * x * x * x))
    return (
        np.where(np.isinf(e), x * (e / (e + 1)), gelu(x, approximate))
        if approximate == "tanh"
        else gelu(x)
    )


@bug(
    "Gelu-20",
    "1 + erf(x / sqrt 2) uses an erf of Abramowitz and Stegun (1.5e-7), whose error is "
    "all that remains in the negative tail: 4 % off at -5, 0 at -6.",
    "cancellation in the negative tail with a coarse erf; erfc is due",
)
def gelu_coarse_negative_tail(x: Array, approximate: str = "none") -> Array:
    rough = 0.5 * x * (1 + erf_as(x * F32(math.sqrt(0.5))))
    return np.where(x < -1, rough, gelu(x)) if approximate == "none" else gelu(x, approximate)


# Bugs that a suite may tolerate with reason: the document is silent on them (wrap-around of
# unsigned integers, NaN in comparisons and clamps, sign of zero), or onnxruntime itself evaluates
# the document's formula as written and is as far off near zero or in the tail
ARGUABLE = frozenset(
    (
        "sub-unsigned-saturates",
        "max-by-sse",
        "min-by-fmin",
        "clip-drops-nan",
        "relu-drops-nan",
        "prelu-drops-nan",
        "hard-sigmoid-drops-nan",
        "abs-keeps-negative-zero",
        "neg-from-zero",
        "elu-cancels-near-zero",
        "celu-cancels-for-small-ratio",
        "sigmoid-zero-below-minus-16",
        "gelu-coarse-negative-tail",
    )
)
assert BUGS.keys() >= ARGUABLE
