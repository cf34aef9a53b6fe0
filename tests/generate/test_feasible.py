"""What the prover calls impossible never happens, and what it calls possible mostly does."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from math import prod
from random import Random

import pytest
import tiers

from conformance.errors import UsageError
from conformance.feasible import CaseLimits, Feasible, Infeasible, Prover
from conformance.generate.pool import draw
from conformance.model import Case
from conformance.reference.build import edges_of
from conformance.reference.values import data_of
from conformance.spec.case_environment import Environment
from conformance.spec.expressions import compile_expression
from conformance.spec.kinds import Domain, Kind
from conformance.spec.loader import find_spec
from conformance.spec.model import CoverageTarget, DrawBounds, OpSpec
from conformance.spec.scope import scope_of
from conformance.spec.validity import violations

AVG, ADAPTIVE, MAX = "AvgPool-1", "AdaptiveAvgPool-8", "AdaptiveMaxPool-8"

IMPOSSIBLE = [
    # op, rank, edges, some of what the proof uses
    (AVG, 3, ["differs-on-every-axis"], ["edge differs-on-every-axis"]),
    (AVG, 3, ["same-upper-odd", "valid-ignores-pads"], ["domain auto_pad"]),
    (AVG, 4, ["floor-remainder", "ceil-remainder"], ["domain rounding_type"]),
    (AVG, 4, ["ceil-exact", "ceil-overrun"], []),
    (AVG, 5, ["stride-1", "ceil-overrun"], []),
    (AVG, 5, ["global-window", "overrun-without-pads"], []),
    (AVG, 4, ["kernel-1", "kernel-above-input", "valid-with-ceil"], []),
    (AVG, 5, ["output-1", "one-hot"], []),
    (AVG, 4, ["same-even", "starts-in-end-pad"], []),
    (AVG, 3, ["exclude-border", "empty-counted"], []),
    (AVG, 3, ["nan", "many-taps"], ["data nan_taps"]),
    (AVG, 3, ["infinity-beside-pads", "many-taps-not-global"], []),
    (ADAPTIVE, 4, ["divisible", "coprime"], []),
    (ADAPTIVE, 5, ["out-equals-in", "overlap"], []),
    (ADAPTIVE, 3, ["float-border-3-7", "float-border-6-7"], []),
    (ADAPTIVE, 5, ["out-equals-in", "opposite-infinities"], ["data kinds"]),
    (ADAPTIVE, 4, ["float-quotient-4098", "divisible"], []),
    (ADAPTIVE, 3, ["input-all-1", "many-taps"], []),
    (MAX, 5, ["no-tie", "tie-all-equal"], []),
    (MAX, 4, ["tie-in-row", "out-equals-in"], []),
    (MAX, 3, ["tie-across-rows"], ["edge tie-across-rows"]),
    (MAX, 4, ["no-tie", "nan-unspecified"], []),
    (MAX, 3, ["minus-infinity-only", "float-quotient-4098"], []),
    (MAX, 3, ["index-i32", "index-i64"], ["domain index_element_type"]),
]

POSSIBLE = [
    (AVG, 3, ["global-window", "batch"]),
    (AVG, 3, ["ceil-overrun", "pads-end-only"]),
    (AVG, 4, ["same-with-ceil", "same-lower-odd"]),
    (AVG, 4, ["starts-beyond", "empty-unspecified"]),
    (AVG, 4, ["overrun-beside-pads", "channels"]),
    (AVG, 5, ["differs-on-every-axis", "pads-differ-on-every-axis"]),
    (AVG, 5, ["many-taps", "kernel-above-input"]),
    (AVG, 5, ["nan-beside-numbers", "stride-above-kernel"]),
    (ADAPTIVE, 3, ["out-above-in", "coprime"]),
    (ADAPTIVE, 4, ["not-divisible-on-one-axis", "opposite-infinities"]),
    (ADAPTIVE, 5, ["many-taps", "batch"]),
    (ADAPTIVE, 3, ["float-quotient-4098"]),
    (MAX, 4, ["tie-across-rows", "batch"]),
    (MAX, 4, ["no-tie", "overlap"]),
    (MAX, 5, ["minus-infinity-only", "divisible"]),
]


@cache
def prover(op: str, rank: int) -> Prover:
    return Prover(find_spec(op), rank, timeout_ms=1000)


def shown(spec: OpSpec, case: Case) -> set[str]:
    return set(edges_of(spec, case, data_of(spec, case)))


def shows(spec: OpSpec, case: Case, edges: Iterable[str]) -> bool:
    """Whether one of a few seeds makes the case show the edges."""
    wanted = set(edges)
    return any(wanted <= shown(spec, replace(case, seed=seed)) for seed in range(4))


def asking(op: str, **texts: str) -> OpSpec:
    """The operator with other edges, each a condition."""
    spec = find_spec(op)
    scope = scope_of(spec)
    want = Kind("bool", domain=Domain.CASE)
    edges = (
        CoverageTarget(n, compile_expression(t, scope, want=want), "") for n, t in texts.items()
    )
    return replace(spec, edges=tuple(edges))


@pytest.mark.parametrize(("op", "rank", "edges", "uses"), IMPOSSIBLE)
def test_contradictions_are_found(op: str, rank: int, edges: list[str], uses: list[str]) -> None:
    answer = prover(op, rank).ask(edges)
    assert isinstance(answer, Infeasible)
    named = [use.removeprefix("edge ") for use in answer.uses if use.startswith("edge ")]
    assert named == sorted(set(named) & set(edges))
    assert set(uses) <= set(answer.uses)
    assert answer.uses == tuple(sorted(answer.uses))


@pytest.mark.parametrize(
    ("op", "rank", "edges"), tiers.sweep(POSSIBLE, lambda op, rank, _: [op, rank])
)
def test_a_case_of_what_is_possible_is_given(op: str, rank: int, edges: list[str]) -> None:
    answer = prover(op, rank).ask(edges)
    assert isinstance(answer, Feasible)
    assert violations(find_spec(op), answer.case) == ()


@pytest.mark.exhaustive
def test_most_of_the_cases_that_are_given_show_it_with_a_few_seeds() -> None:
    cases = [(find_spec(op), prover(op, rank).ask(edges), edges) for op, rank, edges in POSSIBLE]
    shown = [isinstance(one, Feasible) and shows(spec, one.case, e) for spec, one, e in cases]
    assert sum(shown) >= 0.8 * len(POSSIBLE)


@pytest.mark.parametrize(
    ("op", "rank", "edges"),
    tiers.sweep([(op, rank, edges) for op, rank, edges, _ in IMPOSSIBLE[::2]], lambda op, *_: [op]),
)
def test_each_edge_of_a_proof_is_needed(op: str, rank: int, edges: list[str]) -> None:
    answer = prover(op, rank).ask(edges)
    assert isinstance(answer, Infeasible)
    named = [use.removeprefix("edge ") for use in answer.uses if use.startswith("edge ")]
    for edge in named:
        rest = [other for other in named if other != edge]
        assert isinstance(prover(op, rank).ask(rest), Feasible), (edge, rest)


def _one_axis() -> Iterator[Case]:
    """Cases of AvgPool-1 on one axis, all of a small box."""
    enums = product(("explicit", "same_upper", "same_lower", "valid"), ("floor", "ceil"))
    numbers = product(range(1, 4), range(1, 4), range(-1, 4), range(4), range(7))
    for (auto_pad, rounding), excluded, (kernel, stride, begin, end, size) in product(
        list(enums), (False, True), list(numbers)
    ):
        yield Case(
            op=AVG,
            types={"T": "f32"},
            shapes={"data": (1, 2, size)},
            attributes={
                "auto_pad": auto_pad,
                "rounding_type": rounding,
                "exclude-pad": excluded,
                "kernel": [kernel],
                "strides": [stride],
                "pads_begin": [begin],
                "pads_end": [end],
            },
        )


def _adaptive_axis(op: str) -> Iterator[Case]:
    for size, out, batch in product(range(10), range(1, 12), range(3)):
        yield Case(
            op=op,
            types={"T": "f32", "T_SHAPE": "i32"},
            shapes={"data": (batch, 1, size)},
            attributes={} if op == ADAPTIVE else {"index_element_type": "i32"},
            operands={"output_size": (out,)},
        )


def _empty(spec: OpSpec, case: Case) -> bool:
    env = Environment(spec, case)
    return not prod(case.shapes["data"]) or not prod(env.per_axis("out"))


def not_refuted(spec: OpSpec, rank: int, cases: Iterable[Case]) -> int:
    """Asks whether some edges that a valid case shows are possible, and says how often.

    That three edges can hold together says so of each pair of them.
    """
    asked, random, count = prover(spec.op, rank), Random(1), 0
    for case in cases:
        if violations(spec, case) or _empty(spec, case):
            continue
        holding = sorted(shown(spec, case))
        edges = random.sample(holding, min(3, len(holding)))
        count += 1
        answer = asked.ask(edges)
        assert not isinstance(answer, Infeasible), (case, edges, answer)
    return count


@pytest.mark.parametrize("op", [AVG, ADAPTIVE, MAX])
def test_nothing_in_a_box_of_one_axis_is_refuted(op: str, exhaustive: bool) -> None:
    box = list(_one_axis() if op == AVG else _adaptive_axis(op))
    count = 80 if exhaustive else 15
    assert not_refuted(find_spec(op), 3, Random(5).sample(box, count)) > count / 4


@pytest.mark.parametrize(
    ("op", "rank"),
    tiers.sweep(
        [(AVG, 3), (ADAPTIVE, 4), (AVG, 4), (AVG, 5), (ADAPTIVE, 3), (MAX, 3), (MAX, 4)],
        lambda *_: [""],
    ),
)
def test_nothing_that_is_drawn_is_refuted(op: str, rank: int) -> None:
    spec = find_spec(op)
    cases = draw(spec, rank, 8, root=77)
    for edge in spec.edges[rank::9]:
        cases += draw(spec, rank, 1, root=78, aim=next(iter(edge.aims), None))
    assert not_refuted(spec, rank, cases) > 10


@pytest.mark.parametrize(("op", "rank"), [("MaxPool-8", 3), ("AvgPool-14", 4)])
@pytest.mark.parametrize("dtype", tiers.first(["i8", "u8", "i32"]))
def test_what_an_integer_shows_is_neither_refuted_nor_excluded(
    op: str, rank: int, dtype: str
) -> None:
    spec = find_spec(op)
    cases = draw(spec, rank, 6, root=79, aim={"T": DrawBounds(values=(dtype,))})
    for edge in spec.edges[rank::9]:
        aim = dict(next(iter(edge.aims), {}))
        cases += draw(spec, rank, 1, root=80, aim={**aim, "T": DrawBounds(values=(dtype,))})
    cases = [case for case in cases if not violations(spec, case) and not _empty(spec, case)]
    assert not_refuted(spec, rank, cases) > 6
    seen = sorted(set().union(*(shown(spec, case) for case in cases)))
    for edge in Random(2).sample(seen, 6):
        assert prover(op, rank).excludes(edge, dtype) is None


@pytest.mark.parametrize(
    ("op", "edge", "dtype", "excluded"),
    [
        ("MaxPool-8", "subnormal", "i8", True),
        ("MaxPool-8", "subnormal", "bf16", False),
        ("MaxPool-8", "infinity", "i64", True),
        ("MaxPool-8", "negative", "u8", True),
        ("MaxPool-8", "negative", "i8", False),
        ("MaxPool-8", "minus-infinity-only", "u8", False),  # its lowest number, zero
        ("MaxPool-8", "topmost-bit", "f32", True),
        ("AvgPool-14", "opposite-infinities", "i32", True),
        ("AvgPool-14", "many-taps", "i8", False),
        ("AvgPool-14", "integer-halfway", "f16", True),
    ],
)
def test_an_edge_is_excluded_from_a_type_that_cannot_hold_it(
    op: str, edge: str, dtype: str, excluded: bool
) -> None:
    against = prover(op, 4).excludes(edge, dtype)
    assert (against is not None) == excluded
    assert not excluded or f"edge {edge}" in (against or ())


@pytest.mark.exhaustive
def test_answers_are_the_same_again() -> None:
    pairs = [edges for op, rank, edges, _ in IMPOSSIBLE if (op, rank) == (AVG, 4)]
    pairs += [edges for op, rank, edges in POSSIBLE if (op, rank) == (AVG, 4)]
    first, second = Prover(find_spec(AVG), 4), Prover(find_spec(AVG), 4)
    assert [first.ask(pair) for pair in pairs] == [second.ask(pair) for pair in pairs]


@pytest.mark.exhaustive
def test_limits_are_kept_and_named() -> None:
    answer = Prover(find_spec(ADAPTIVE), 4, CaseLimits(elements=2000)).ask(["many-taps"])
    assert isinstance(answer, Infeasible)
    assert {"edge many-taps", "limit elements"} <= set(answer.uses)
    answer = Prover(find_spec(ADAPTIVE), 3, CaseLimits(elements=100)).ask(["many-taps"])
    assert isinstance(answer, Infeasible)
    assert {use for use in answer.uses if use.startswith("limit ")}


def test_windows_are_spoken_of_under_not_and_everywhere() -> None:
    spec = asking(
        AVG,
        lone="not somewhere(any(i > 0))",
        several="any(out > 1)",
        inside="everywhere(all(on_data == taps))",
        beside="somewhere(any(on_data < taps))",
        either="(somewhere(any(i > 1)) or N > 2) and N < 3",
        same="somewhere(any(i > 0)) == (N == 1)",
        differs="somewhere(any(i > 0)) != (N == 1)",
    )
    asked = Prover(spec, 4)
    assert isinstance(asked.ask(["lone", "several"]), Infeasible)
    assert isinstance(asked.ask(["inside", "beside"]), Infeasible)
    assert isinstance(asked.ask(["either", "lone"]), Infeasible)
    assert isinstance(asked.ask(["same", "differs"]), Infeasible)
    for edges in (["lone", "beside"], ["several", "inside"], ["either"], ["same"], ["differs"]):
        answer = asked.ask(edges)
        assert isinstance(answer, Feasible)
        assert shows(spec, answer.case, edges)


@pytest.mark.parametrize(
    "text",
    [
        "all(ceil_div(C * size, N) == C) and N > 1 and all(size == 1)",
        "all(ceil_div(size * C, output_size) == C) and all(output_size > 1) and all(size == 1)",
        "all(C * size // N == C - 1) and C > 0 and N > C and all(size == N - 1)",
    ],
)
def test_what_rounding_makes_of_a_product_is_not_refuted(text: str) -> None:
    """Rounded up, x * y / b reaches x for a y below b; rounded down, x - 1."""
    asked = Prover(asking(ADAPTIVE, edge=text), 3, timeout_ms=1000)
    assert not isinstance(asked.ask(["edge"]), Infeasible)


def test_what_has_no_value_does_not_hold() -> None:
    spec = asking(
        ADAPTIVE,
        rest="any(size % (output_size - 1) == 0)",
        one="any(output_size == 1)",
        guarded="N > 0 or any(size % (output_size - 1) == 0)",
    )
    asked = Prover(spec, 3)
    assert isinstance(asked.ask(["rest", "one"]), Infeasible)
    assert isinstance(asked.ask(["guarded", "one"]), Feasible)
    assert isinstance(asked.ask(["rest"]), Feasible)


def test_nothing_empty_is_within_the_limits() -> None:
    spec = asking(ADAPTIVE, batch="N == 0", out="any(out == 0)", data="any(size == 0)")
    asked = Prover(spec, 4)
    for edge in ("batch", "out", "data"):
        assert asked.ask([edge]) == Infeasible((f"edge {edge}", "limit elements"))


def test_numbers_that_a_type_runs_out_of_may_tie() -> None:
    texts = {"tie": "pattern == ramp and somewhere(maxima > 1)", "wide": "T == f32"}
    spec = asking(MAX, **texts, narrow="T == bf16", small="N == 1 and C == 1 and all(size <= 256)")
    asked = Prover(spec, 3)
    assert isinstance(asked.ask(["tie", "wide"]), Infeasible)
    assert isinstance(asked.ask(["tie", "narrow", "small"]), Infeasible)
    assert isinstance(asked.ask(["tie", "narrow"]), Feasible)


def test_an_edge_that_there_is_not_is_refused() -> None:
    with pytest.raises(UsageError, match="no-such-edge"):
        prover(AVG, 3).ask(["no-such-edge"])


def test_without_z3_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module

    def missing(name: str, *rest: object) -> object:
        if name == "z3":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(UsageError, match=r"opconform\[generate\]"):
        Prover(find_spec(AVG), 3)
