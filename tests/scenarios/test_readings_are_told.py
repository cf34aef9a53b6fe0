"""A check of the shipped suite tells how a backend reads the document, whatever it is.

The names of questions are those of ``specs/*.yaml``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tiers
from broken import honest, replacing, with_outputs

import conformance
from conformance.dtypes import DTYPES, name_of
from conformance.specification import find_spec

AVG, ADAPTIVE_AVG, ADAPTIVE_MAX = "AvgPool-1", "AdaptiveAvgPool-8", "AdaptiveMaxPool-8"
OPS = (AVG, ADAPTIVE_AVG, ADAPTIVE_MAX)

Answers = dict[str, list[tuple[str, bool]]]


@pytest.fixture(scope="module")
def suite(exhaustive: bool) -> Any:
    """Core, or smoke with some of the vectors of core that have windows without data."""
    core, chosen = tiers.core(), {entry.id for entry in tiers.smoke().manifest.vectors}
    entries = core.manifest.vectors
    empty = [one for one in entries if any("of no term" in edge for edge in one.edges)]
    for op in OPS:
        chosen |= {one.id for one in [one for one in empty if one.op == op][:40]}
    listed = tuple(one for one in core.manifest.vectors if one.id in chosen)
    few = replace(core.manifest.subset("smoke"), listed=listed)
    return core if exhaustive else replace(core, manifest=few)


def asked(suite: Any, op: str, run: Callable[..., Any], level: str = "must") -> Answers:
    """Each question's answers, with whether each is the expected one (adopted)."""
    log = conformance.check(suite, run, ops=[op], level=level).log
    assert log.problems == ()
    return {
        reading.point: [(a.answer, a.adopted) for a in reading.answers] for reading in log.readings
    }


def flushing(op: str, inputs: list[Any], attributes: dict[str, Any]) -> list[Any]:
    """The reference, with subnormal inputs and results replaced by zero."""
    outputs = honest(op, [_flushed(inputs[0]), *inputs[1:]], attributes)
    return [_flushed(outputs[0]), *outputs[1:]]


def _flushed(array: Any) -> Any:
    row = DTYPES[name_of(array.dtype)]
    subnormal = np.abs(row.ordinals(array)) < 1 << (row.digits - 1)
    return np.where(subnormal, row.numpy.type(0), array)


@pytest.mark.parametrize("level", ["must", "should"])
@pytest.mark.parametrize("op", OPS)
def test_the_reference_answers_as_adopted(suite: Any, op: str, level: str) -> None:
    found = asked(suite, op, honest, level)
    assert all(len(answers) == 1 for answers in found.values()), found
    spec = find_spec(op)
    adopted = {v.name: [(v.adopted, True)] for v in spec.interpretations}
    assert {name: found[name] for name in adopted} == adopted


LAST = replacing(ADAPTIVE_MAX, {"define.indices.combine": "last_max"})

FOLLOWERS: list[tuple[str, str, Callable[..., Any]]] = [
    (
        "clip-divisor",
        AVG,
        replacing(
            AVG,
            {
                "define.result.finish": "total / where(counts_pads, "
                "prod(max(0, min(taps, padded_end - start))), terms)"
            },
        ),
    ),
    (
        "full-kernel-divisor",
        AVG,
        replacing(AVG, {"define.result.finish": "total / where(exclude_pad, terms, prod(taps))"}),
    ),
    (
        "valid-is-floor",
        AVG,
        replacing(AVG, {"let.out": "where(auto_pad == valid, span // strides + 1, original)"}),
    ),
    (
        "same-ignores-rounding",
        AVG,
        replacing(AVG, {"let.out": "where(same, ceil_div(size, strides), original)"}),
    ),
    ("any-maximum", ADAPTIVE_MAX, LAST),
    *(("flushes-subnormals", op, flushing) for op in OPS),
]


@pytest.mark.parametrize(
    ("name", "op", "run"), FOLLOWERS, ids=[f"{row[0]}, {row[1]}" for row in FOLLOWERS]
)
def test_who_follows_an_interpretation_is_told_so_and_only_that(
    suite: Any, name: str, op: str, run: Callable[..., Any]
) -> None:
    found = asked(suite, op, run)
    for variant in find_spec(op).interpretations:
        if variant.name == name:
            # Some ties are such that both searches name the same element.
            assert (variant.answer, False) in found[name]
        else:  # where it drops windows, no vector may be left that asks the other question
            # (an index among equals may also be one among elements that a flush makes equal)
            answers = found[variant.name]
            assert not answers or (variant.adopted, True) in answers, variant.name


def test_who_writes_something_where_padding_ends_is_told_so(suite: Any) -> None:
    """A window of counted padding alone that overruns it: NaN, where the reference writes 0."""
    (variant,) = [
        v for v in find_spec(AVG).interpretations if v.name == "empty-overrun-unspecified"
    ]
    overrun = "counts_pads and terms == 0 and any(start + extent > padded_end)"
    marked = replacing(AVG, {"define.result.finish": f"where({overrun}, 1, 0)"})

    def run(op: str, inputs: list[Any], attributes: dict[str, Any]) -> list[Any]:
        (result,), (mask,) = (made(op, inputs, attributes) for made in (honest, marked))
        return [np.where(mask == 1, result.dtype.type(np.nan), result)]

    assert asked(suite, AVG, run)[variant.name] == [(variant.answer, False)]


def test_a_backend_of_two_minds_is_reported_and_not_failed() -> None:
    """The last of equal elements where values are f32, else the first."""

    def run(op: str, inputs: list[Any], attributes: dict[str, Any]) -> list[Any]:
        chosen = LAST if inputs[0].dtype == np.float32 else honest
        return chosen(op, inputs, attributes)

    core = tiers.core()  # smoke has no ties of f32 that show it
    found = conformance.check(core, run, ops=[ADAPTIVE_MAX])
    assert found.passed
    (ties,) = [r for r in found.log.readings if r.point == "any-maximum"]
    answers = {a.answer: a.dtypes for a in ties.answers}
    # In f32 too some ties are such that both searches name the same one.
    assert set(answers["the first"]) >= {"f16", "bf16", "f64"}
    assert answers["another of them"] == ("f32",)


COUNTED = replacing(AVG, {"define.result.finish": "terms", "define.result.unspecified": "false"})
"""How many elements each window holds."""


@pytest.mark.parametrize("value", [np.nan, -0.0, np.inf, 7.0])
def test_a_window_without_data_may_hold_anything_where_padding_is_not_counted(
    suite: Any, value: float
) -> None:
    written = []

    def run(op: str, inputs: list[Any], attributes: dict[str, Any]) -> list[Any]:
        (result,), (terms,) = (made(op, inputs, attributes) for made in (honest, COUNTED))
        empty = (terms == 0) & attributes["exclude-pad"]
        written.append(empty.sum())
        return [np.where(empty, result.dtype.type(value), result)]

    assert conformance.check(suite, run, ops=[AVG]).passed
    assert sum(written) > 0


@pytest.mark.parametrize("op", OPS)
def test_the_sign_of_zero_is_free(suite: Any, op: str) -> None:
    run = with_outputs(
        lambda outputs: [
            np.where(outputs[0] == 0, outputs[0].dtype.type(-0.0), outputs[0]),
            *outputs[1:],
        ]
    )
    assert conformance.check(suite, run, ops=[op]).passed


def test_wrong_answers_say_nothing(suite: Any) -> None:
    """Of a backend that is wrong wherever it can be, no vector says how it reads the document."""

    def run(op: str, inputs: list[Any], attributes: dict[str, Any]) -> list[Any]:
        return [np.full_like(output, 77) for output in honest(op, inputs, attributes)]

    found = asked(suite, AVG, run)
    assert found
    assert not any(answers for answers in found.values())
