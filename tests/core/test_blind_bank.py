"""Both banks of bugs are sound: right kernels pass, a bug shows in a case and hides in others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import tiers
from blind_bank import BUGS, Bug, Evaluated, accepts, evaluate, is_accepted, refused
from blind_kernels import HONEST, Gemm, Kernel
from hypothesis import HealthCheck, Phase, given, seed, settings
from second_blind_bank import BUGS as SECOND_BUGS

from conformance import Unsupported
from conformance.backends.discovery import load_backend
from conformance.core.evaluate import Interval
from conformance.core.loader import load_operator
from conformance.generate.cases import case_strategy
from conformance.model import Case

DRAWN = 60
KERNELS = [
    pytest.param(op, kernel, id=f"{op} {name}")
    for op, kernels in HONEST.items()
    for name, kernel in kernels.items()
]
BOTH_BANKS = [*BUGS.values(), *SECOND_BUGS.values()]
EVERY_BUG = [pytest.param(bug, id=bug.name) for bug in BOTH_BANKS]


@cache
def drawn(op: str) -> tuple[Case, ...]:
    """Distinct cases of an operator in f32, of the ranks that its kernels claim."""
    cases: dict[str, Case] = {}
    ranks = HONEST[op]["plain"].capabilities.ranks or ()

    @seed(45)
    @settings(
        max_examples=5 * DRAWN,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case_strategy(load_operator(op), ["f32"], ranks))
    def collect(case: Case) -> None:
        cases.setdefault(case.id, case)

    collect()
    return tuple(cases.values())[:DRAWN]


_evaluated: dict[str, Evaluated] = {}


def evaluated(case: Case) -> Evaluated:
    if case.id not in _evaluated:
        _evaluated[case.id] = evaluate(case)
    return _evaluated[case.id]


@pytest.mark.parametrize("bank", [BUGS, SECOND_BUGS])
def test_a_bank_has_forty_bugs(bank: dict[str, Bug]) -> None:
    assert Counter(bug.op for bug in bank.values()) == {
        "onnx.Conv-22": 18,
        "onnx.ConvTranspose-22": 8,
        "onnx.MatMul-13": 8,
        "onnx.Gemm-13": 6,
    }


def style(op: str, kernel: type[Kernel]) -> Iterator[Hashable]:
    """An operator, and a style of kernel: each occurs in the sample."""
    yield op
    yield next(name for name, one in HONEST[op].items() if one is kernel)


@pytest.mark.parametrize(("op", "kernel"), tiers.sweep(KERNELS, style))
def test_right_kernels_pass(op: str, kernel: type[Kernel]) -> None:
    written = [case for bug in BOTH_BANKS if bug.op == op for case in bug.cases]
    # Orders that keep every product in memory leave out the largest cases.
    small = [case for case in written if max(map(np.prod, case.shapes.values())) < 1 << 16]
    assert len(drawn(op)) == DRAWN
    refusing = [case for case in (*drawn(op), *small) if not accepts(kernel(), case, evaluated)]
    assert refusing == []


@pytest.mark.parametrize("bug", EVERY_BUG)
def test_a_bug_shows_in_the_last_of_its_cases_only(bug: Bug) -> None:
    assert refused(bug, bug.cases, evaluated) == [bug.cases[-1]]
    assert accepts(HONEST[bug.op]["plain"](), bug.cases[-1], evaluated)


@pytest.mark.parametrize("bug", tiers.sweep(EVERY_BUG, lambda bug: [bug.op]))
def test_a_bug_needs_its_condition(bug: Bug) -> None:
    assert len(refused(bug, drawn(bug.op), evaluated)) <= DRAWN // 4


def test_cases_that_a_kernel_does_not_claim_are_passed_over() -> None:
    bug = BUGS["gemm-alpha-scales-bias"]
    (case,) = bug.cases
    unclaimed = [
        BUGS["gemm-odd-depth-of-pairs"].cases[0],  # claimed, and right
        BUGS["matmul-batch-modulo"].cases[0],
        replace(case, types={"T": "f16"}),
        replace(case, reject="alpha.type"),
    ]
    assert refused(bug, [*unclaimed, case], evaluated) == [case]


def test_a_kernel_of_another_operator_or_type_is_unsupported() -> None:
    ones = np.ones((2, 2), np.float32)
    for op, dtype in (("onnx.MatMul-13", np.float32), ("onnx.Gemm-13", np.float16)):
        with pytest.raises(Unsupported, match=r"right has onnx\.Gemm-13 in f32"):
            Gemm().run(op, [ones, ones.astype(dtype)], {})


def test_outputs_are_accepted_in_their_intervals() -> None:
    nan, inf = np.nan, np.inf
    lo, hi = np.array([1, nan, -inf, 5]), np.array([2, nan, -inf, 5])
    interval = Interval(lo, hi, np.array([False, False, False, True]))
    outputs = {
        (1.5, nan, -inf, 7): True,
        (2.5, nan, -inf, 7): False,
        (nan, nan, -inf, 7): False,
        (1.5, 0, -inf, 7): False,
        (1.5, nan, inf, 7): False,
        (1.5, nan, -inf, nan): True,
    }
    assert {output: is_accepted(np.array(output), interval) for output in outputs} == outputs
    assert not is_accepted(np.array([[1.5, nan, -inf, 7]]), interval)


def test_a_bug_is_a_backend_by_the_path_of_its_file() -> None:
    path = Path(__file__).with_name("blind_bank.py")
    assert load_backend(f"{path}:SkipsZeros").name == "matmul-skips-zeros"
