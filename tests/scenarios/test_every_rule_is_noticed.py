"""Each adopted rule has a vector in the shipped suite that a backend breaking just it fails.

The names (W2, A4, D8, ...) are those of docs/semantics.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import tiers
from broken import (
    accepting,
    float_borders,
    honest,
    infinite_padding,
    lowest_for_infinity,
    nan_for_empty,
    narrow_sums,
    replacing,
    signed_zeros,
    with_attributes,
    with_inputs,
    with_outputs,
)
from verdicts import verdicts

import conformance
from conformance.model import FAILED
from conformance.specification import broken_conditions, find_spec
from conformance.suite.recorded_cases import read_recorded_cases, recorded_cases_file

AVG, ADAPTIVE_AVG, ADAPTIVE_MAX = "AvgPool-1", "AdaptiveAvgPool-8", "AdaptiveMaxPool-8"
ADAPTIVE = (ADAPTIVE_AVG, ADAPTIVE_MAX)
SHOWN = (AVG, *ADAPTIVE)
"""An operator for each kind of rule; of the others each known bug is killed."""
SHIPPED = {op: find_spec(op) for op in tiers.core().manifest.ops}

FINISH = "define.result.finish"
CLIPPED = "total / where(counts_pads, prod(max(0, min(taps, padded_end - start))), terms)"
WHOLE = "total / where(exclude_pad, terms, prod(taps))"
VALID_FLOOR = "where(auto_pad == valid, span // strides + 1, original)"
SAME_FLOOR = "where(same, ceil_div(size, strides), original)"


def windows(op: str, **changed: str) -> dict[str, str]:
    """Another text of where windows start or end, in each definition of an operator."""
    return {
        f"define.{definition}.with.{name}": text
        for definition in SHIPPED[op].define
        for name, text in changed.items()
    }


RULES: list[tuple[str, str, dict[str, str]]] = [
    (
        "W2 explicit: begin pads at both ends",
        AVG,
        {"let.pad_end": "where(explicitly, given_begin, original)"},
    ),
    (
        "W2 valid: given pads used",
        AVG,
        {
            "let.pad_begin": "where(auto_pad == valid, given_begin, original)",
            "let.pad_end": "where(auto_pad == valid, given_end, original)",
        },
    ),
    (
        "W2 same: given pads used",
        AVG,
        {
            "let.pad_begin": "where(same, given_begin, original)",
            "let.pad_end": "where(same, given_end, original)",
        },
    ),
    (
        "W2 same: not clamped at zero",
        AVG,
        {"let.same_total": "(ceil_div(size, strides) - 1) * strides + extent - size"},
    ),
    (
        "W2 same_upper like same_lower",
        AVG,
        {"let.pad_begin": "where(same, same_total - same_total // 2, original)"},
    ),
    ("W3 floor: rounded up", AVG, {"let.out": "ceil_div(span, strides) + 1"}),
    (
        "W3 the formula as printed",
        AVG,
        {"let.out": "size + pad_begin + pad_end - taps // strides + 1"},
    ),
    ("W3 all axes sized like the first", AVG, {"let.out": "entry(original, 0) + 0 * size"}),
    ("W4 ceil: rounded down", AVG, {"let.out": "span // strides + 1"}),
    (
        "W4 ceil: one more where the stride divides",
        AVG,
        {"let.out": "where(upward, span // strides + 2, original)"},
    ),
    (
        "W4 a window that starts in the end padding dropped",
        AVG,
        {"let.out": "where((original - 1) * strides - pad_begin >= size, original - 1, original)"},
    ),
    ("W5 valid ignores ceil", AVG, {"let.out": VALID_FLOOR}),
    ("W6 same ignores ceil", AVG, {"let.out": SAME_FLOOR}),
    ("A1 divides by n + 1", AVG, {FINISH: "total / (where(counts_pads, prod(taps), terms) + 1)"}),
    ("A2 exclude-pad true ignored", AVG, {"let.counts_pads": "has_pads"}),
    ("A3 padding never counted", AVG, {FINISH: "total / terms"}),
    (
        "A3 padding counted on padded axes only",
        AVG,
        {
            FINISH: "total / where(counts_pads, prod(where(pad_begin + pad_end > 0, taps, "
            "max(0, min(taps, size - start) - max(0, -start)))), terms)"
        },
    ),
    ("A4 clipped at the padded input", AVG, {FINISH: CLIPPED}),
    ("A5 whole kernel without padding", AVG, {FINISH: WHOLE}),
    ("windows start at the end padding", AVG, windows(AVG, start="i * strides - pad_end")),
    (
        "windows move by the largest stride",
        AVG,
        windows(AVG, start="i * max(strides) - pad_begin"),
    ),
    ("the last tap is left out", AVG, {"define.result.over.k": "max(1, taps - 1)"}),
    (
        "the first element is left out",
        AVG,
        {"define.result.term": "where(all(x > 0 or size == 1), original, 0)"},
    ),
    *(
        row
        for op in ADAPTIVE
        for row in [
            (
                "D1 ends rounded down",
                op,
                windows(op, end="max(start + 1, (i + 1) * size // out)"),
            ),
            (
                "D1 one size for all windows",
                op,
                windows(op, end="min(size, start + ceil_div(size, out))"),
            ),
            (
                "D1 starts rounded up",
                op,
                windows(
                    op,
                    start="min(size - 1, ceil_div(i * size, out))",
                    end="max(start + 1, original)",
                ),
            ),
            (
                "D1 windows a stride apart",
                op,
                windows(
                    op,
                    start="min(size - 1, i * max(1, size // out))",
                    end="min(size, start + max(1, size // out))",
                ),
            ),
            (
                "D1 the last border of 4097 to 4098",
                op,
                windows(op, start="where(size > 4096 and i == out - 1, original - 1, original)"),
            ),
            (
                "D2 elements not repeated",
                op,
                windows(op, end="where(out > size, start + 1, original)"),
            ),
        ]
    ),
    ("D3 divides by the nominal size", ADAPTIVE_AVG, {FINISH: "total / prod(ceil_div(size, out))"}),
    ("D3 does not divide", ADAPTIVE_AVG, {FINISH: "total"}),
    *(
        (label, ADAPTIVE_MAX, {"define.indices.finish": text})
        for label, text in [
            ("D7 index within the window", "flat(x - start, end - start)"),
            ("D7 index with the channel", "original + c * prod(size)"),
            ("D7 index with the image", "original + n * prod(size)"),
            ("D7 index in rows of the output", "flat(x, out)"),
        ]
    ),
    ("D8 the last of equals", ADAPTIVE_MAX, {"define.indices.combine": "last_max"}),
]


def reversed_lists(*names: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda attributes: {name: attributes[name][::-1] for name in names}


def odd_pixel_at_end(auto_pad: str) -> str:
    return "same_upper" if auto_pad == "same_lower" else auto_pad


def dropped_nan(data: Any) -> Any:
    return np.where(np.isnan(data), data.dtype.type(0), data)


def flipped_infinity(outputs: list[Any]) -> list[Any]:
    return [np.where(np.isinf(outputs[0]), -outputs[0], outputs[0]), *outputs[1:]]


def through_f32(data: Any) -> Any:
    with np.errstate(all="ignore"):
        return data.astype(np.float32).astype(data.dtype)


def one_type(kind: str, output: int) -> Callable[[list[Any]], list[Any]]:
    def change(outputs: list[Any]) -> list[Any]:
        with np.errstate(all="ignore"):
            return [a.astype(kind) if i == output else a for i, a in enumerate(outputs)]

    return change


BACKENDS: list[tuple[str, str, Callable[..., Any]]] = [
    ("W1 kernel height and width swapped", AVG, with_attributes(reversed_lists("kernel"))),
    ("W1 strides swapped", AVG, with_attributes(reversed_lists("strides"))),
    ("W1 pads of the other axis", AVG, with_attributes(reversed_lists("pads_begin", "pads_end"))),
    (
        "W2 begin and end swapped",
        AVG,
        with_attributes(lambda a: {"pads_begin": a["pads_end"], "pads_end": a["pads_begin"]}),
    ),
    (
        "W2 same_lower like same_upper",
        AVG,
        with_attributes(lambda a: {"auto_pad": odd_pixel_at_end(a.get("auto_pad", "explicit"))}),
    ),
    ("W4 floor where ceil is asked", AVG, with_attributes(lambda a: {"rounding_type": "floor"})),
    ("A2 exclude-pad ignored", AVG, with_attributes(lambda a: {"exclude-pad": False})),
    ("A2 exclude-pad always", AVG, with_attributes(lambda a: {"exclude-pad": True})),
    ("A6 zero times infinity", AVG, infinite_padding),
    *((f"A6 NaN is dropped, {op}", op, with_inputs(dropped_nan)) for op in (AVG, ADAPTIVE_AVG)),
    *((f"A6 infinity flipped, {op}", op, with_outputs(flipped_infinity)) for op in SHOWN),
    *((f"A10 always f32, {op}", op, with_outputs(one_type("f4", 0))) for op in SHOWN),
    ("W8 NaN for counted padding alone", AVG, nan_for_empty),
    ("A8 sums in the element type", ADAPTIVE_AVG, narrow_sums),
    *((f"A13 f64 through f32, {op}", op, with_inputs(through_f32)) for op in SHOWN),
    ("D6 the lowest number for -inf", ADAPTIVE_MAX, with_outputs(lowest_for_infinity)),
    ("D9 always i32", ADAPTIVE_MAX, with_outputs(one_type("i4", 1))),
    ("D9 always i64", ADAPTIVE_MAX, with_outputs(one_type("i8", 1))),
    ("D11 +0 above -0", ADAPTIVE_MAX, signed_zeros),
    *(
        (
            f"D1 float32, ratio {ratio}, {op}",
            op,
            float_borders(
                lambda i, n, m, f=function: np.floor(f(i, n, m)),
                lambda i, n, m, f=function: np.ceil(f(i + 1, n, m)),
            ),
        )
        for op in ADAPTIVE
        for ratio, function in [
            ("size / out", lambda i, n, m: i * (n / m)),
            ("product / out", lambda i, n, m: (i * n) / m),
            ("reciprocal", lambda i, n, m: (i * n) * (np.float32(1) / m)),
        ]
    ),
]


def refused() -> list[tuple[str, str, str]]:
    """Each negative test of an operator with the condition that it breaks."""
    found = []
    for op, spec in SHIPPED.items():
        recorded = read_recorded_cases(recorded_cases_file(op)).recorded
        for case in {one.case.reject: one.case for one in recorded if one.case.reject}.values():
            (condition,) = broken_conditions(spec, case)
            found.append((op, str(case.reject), condition))
    return found


def noticed(op: str, run: Callable[..., Any], only: Sequence[str] = ()) -> bool:
    """Whether some vector is failed; none is asked after the first, and those of smoke come first.

    A negative test may be in core alone.
    """
    smoke = () if only else (tiers.smoke(),)
    return any(
        result.status in FAILED
        for suite in (*smoke, tiers.core())
        for result in verdicts(suite, run, ops=[op], only=only, level="should")
    )


@pytest.mark.parametrize(
    ("op", "replace"), [row[1:] for row in RULES], ids=[f"{row[0]}, {row[1]}" for row in RULES]
)
def test_a_broken_rule_is_noticed(op: str, replace: dict[str, str]) -> None:
    assert noticed(op, replacing(op, replace))


@pytest.mark.parametrize(
    ("op", "run"), [row[1:] for row in BACKENDS], ids=[row[0] for row in BACKENDS]
)
def test_a_broken_backend_is_noticed(op: str, run: Callable[..., Any]) -> None:
    assert noticed(op, run)


@pytest.mark.parametrize(
    ("op", "reject", "condition"), tiers.sample(refused(), lambda row: [row[2]])
)
def test_what_must_be_rejected_and_is_accepted_is_noticed(
    op: str, reject: str, condition: str
) -> None:
    only = [e.id for e in tiers.core().manifest.vectors if (e.op, e.reject) == (op, reject)]
    assert only
    assert noticed(op, accepting(condition), only)


@pytest.mark.parametrize("op", SHIPPED)
def test_an_honest_backend_is_not(op: str, exhaustive: bool) -> None:
    found = verdicts(tiers.suite(exhaustive), honest, ops=[op], level="should")
    assert not any(result.status in FAILED for result in found)


@pytest.mark.parametrize(
    ("label", "op", "reading", "replace"),
    [
        ("A4", AVG, "clip-divisor", {FINISH: CLIPPED}),
        ("A5", AVG, "full-kernel-divisor", {FINISH: WHOLE}),
        ("W5", AVG, "valid-is-floor", {"let.out": VALID_FLOOR}),
        ("W6", AVG, "same-ignores-rounding", {"let.out": SAME_FLOOR}),
        ("D8", ADAPTIVE_MAX, "any-maximum", {"define.indices.combine": "last_max"}),
    ],
)
def test_a_reading_passes_at_must_and_is_named(
    label: str, op: str, reading: str, replace: dict[str, str], exhaustive: bool
) -> None:
    run = conformance.check(tiers.suite(exhaustive), replacing(op, replace), ops=[op], level="must")
    assert run.passed, label
    assert {result.reading for result in run.results} == {None, reading}
