"""Lint of specifications by drawn cases: targets that no case meets, and defaults that decide.

What :mod:`conformance.spec.lint` finds needs no case.
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from conformance.dtypes import DTYPES
from conformance.errors import EvaluationError, Problem
from conformance.feasible import Feasible, Infeasible, Prover
from conformance.generate.looking import Sight
from conformance.generate.pairs import LIMITS
from conformance.generate.pool import draw_fast
from conformance.generate.reject import unbroken
from conformance.generate.settle import SEEDS, witnesses
from conformance.model import Case
from conformance.spec.case_table import table_of
from conformance.spec.expressions import compile_expression
from conformance.spec.model import CoverageTarget, OpSpec
from conformance.spec.scope import scope_of
from conformance.spec.validity import violations

DRAWN = 128
"""Cases that are drawn of a rank at a time."""

ROUNDS = 8
"""How often more are drawn of each rank, as long as something was not met."""

SOON = 1
"""The round after which no more are drawn for defaults alone, which hardly any case depends on
where these do not."""

LOOKED_AT = 24
"""In how many cases of a round the data are evaluated for conditions that depend on them."""

HINT = (
    "correct 'when' or what contradicts it, or remove the target; give an 'aim' if such cases are "
    "only rare"
)

ASSUMED = "rule "
"""What the name of a condition under which the default of a rule decides begins with."""


def lint(spec: OpSpec) -> tuple[Problem, ...]:
    """What drawn cases show of a specification that loads, in file order.

    Coverage targets that no case was found for: with z3 it is proven of most that there is none;
    of the others it is said how many valid cases did not meet them. A target whose ``when`` is
    inherited is left out: what extends an operator may exclude some of its cases. Negative tests
    that do not break the condition that they name, or others too, inherited ones among them. And
    rules that are left out though their default decides a result of some case. Where no drawn case
    is valid, only that.
    """
    try:
        return _linted(spec)
    except EvaluationError as error:
        message = f"cases cannot be drawn: {error}"
        hint = "correct what 'draw' and 'aim' give, so that every bound has a value"
        return (Problem(spec.file, 1, 1, message, hint=hint),)


def _linted(spec: OpSpec) -> tuple[Problem, ...]:
    assumed = {edge.name: edge for edge in _assumptions(spec)}
    own = [edge for edge in spec.edges if _written_here(spec, edge)]
    asked = replace(spec, edges=(*own, *assumed.values()))
    open_, tried = _not_met(spec, asked)
    if not tried:
        problem = no_valid_case(spec, root=0)
        return () if problem is None else (problem,)
    problems = [_assumed(spec, edge) for name, edge in assumed.items() if name not in open_]
    for edge in own:
        if edge.name in open_ and (message := _unmet(spec, edge.name, tried)):
            place = spec.positions.get(("edges", edge.name), (spec.file, 1, 1))
            problems.append(Problem(*place, message, hint=HINT))
    problems += unbroken(spec, root=0)
    return tuple(sorted(problems, key=lambda one: (one.line, one.column)))


def no_valid_case(spec: OpSpec, root: int) -> Problem | None:
    """What most cases break that are drawn with a seed, where none is valid; None where one is."""
    drawn = [case for rank in spec.ranks for case in draw_fast(spec, rank, DRAWN, root=root)]
    each = [{one.condition for one in violations(spec, case)} for case in drawn]
    if not all(each):
        return None
    ((name, count),) = Counter(name for names in each for name in names).most_common(1)
    return Problem(
        *spec.positions.get(("require", name), (spec.file, 1, 1)),
        f"no valid case of {spec.op} was found: '{name}' is broken by {count} of {len(drawn)} "
        "that were drawn",
        hint="correct the condition, or let 'draw' and 'aim' give what meets it",
    )


def _written_here(spec: OpSpec, edge: CoverageTarget) -> bool:
    return spec.positions.get(("edges", edge.name, "when"), (spec.file,))[0] == spec.file


def _assumptions(spec: OpSpec) -> Iterator[CoverageTarget]:
    """For each rule that is not written, the cases in which its default decides a result."""
    types = spec.types[spec.data.type]
    floating = [name for name in types if DTYPES[name].kind == "float"]
    for name, rule in spec.kin.rules.items():
        if not rule.decides or ("rules", name) in spec.positions:
            continue
        if rule.reduces and rule.reduces.isdisjoint(spec.selected):
            continue
        members = floating if rule.floating else types
        if members:
            text = f"{spec.data.type} in [{', '.join(members)}] and ({rule.decides})"
            yield CoverageTarget(
                f"{ASSUMED}{name}", compile_expression(text, scope_of(spec)), rule.about
            )


def _assumed(spec: OpSpec, edge: CoverageTarget) -> Problem:
    """At the first written rule that the condition names."""
    name = edge.name.removeprefix(ASSUMED)
    rule = spec.kin.rules[name]
    known = " or ".join(sorted(rule.kind.values or ())) or rule.default
    written = [("rules", one) for one in spec.kin.rules if one in edge.when.names]
    places = [spec.positions[one] for one in (*written, ("rules",)) if one in spec.positions]
    return Problem(
        *(places or [(spec.file, 1, 1)])[0],
        f"there are cases with {rule.decides}, and '{name}: {rule.default}' is assumed for them",
        hint=f"write '{name}' under 'rules', {known}: {rule.about}",
    )


def _not_met(spec: OpSpec, asked: OpSpec) -> tuple[set[str], int]:
    """The targets of ``asked`` that no case of ``spec`` meets, of those that were drawn and are
    known; and how many valid ones there were."""
    open_, tried = {edge.name for edge in asked.edges}, 0
    for number in range(ROUNDS):
        for rank in spec.ranks:
            cases = draw_fast(spec, rank, DRAWN, root=number)
            cases += witnesses(spec, rank) if number == 1 else []
            met, valid = _met(asked, rank, cases, open_)
            open_ -= met
            tried += valid
            if not open_:
                return open_, tried
        if number >= SOON and all(name.startswith(ASSUMED) for name in open_):
            break
    return open_, tried


def _met(spec: OpSpec, rank: int, cases: list[Case], open_: set[str]) -> tuple[set[str], int]:
    asked = replace(spec, edges=tuple(edge for edge in spec.edges if edge.name in open_))
    sight = Sight(asked, rank)
    seen = sight.look(table_of(asked, cases, rank), patiently=True)
    unsure = seen.may & ~seen.shows & ~seen.shows.any(axis=0)
    rows = np.flatnonzero(unsure[:, : len(sight.edges)].any(axis=1))[:LOOKED_AT]
    settled = sight.settle(seen, rows)
    counts = seen.shows.sum(axis=0) + settled.shows.sum(axis=0)
    return {name for name, count in zip(sight.edges, counts, strict=False) if count}, len(seen)


def _unmet(spec: OpSpec, name: str, tried: int) -> str:
    """What is said of a target that no case met; nothing where the solver finds one."""
    against: set[str] = set()
    proven = importlib.util.find_spec("z3") is not None
    for rank in spec.ranks if proven else ():
        answer = Prover(spec, rank, LIMITS).ask((name,))
        if isinstance(answer, Feasible):
            filled = [replace(answer.case, seed=seed) for seed in range(sum(SEEDS))]
            if _met(spec, rank, filled, {name})[0]:
                return ""
        proven &= isinstance(answer, Infeasible)
        if isinstance(answer, Infeasible):
            against.update(use for use in answer.uses if use != f"edge {name}")
    if proven:
        reason = f": it contradicts {', '.join(sorted(against))}" if against else ""
        return f"no case meets '{name}'{reason}"
    return f"no case that meets '{name}' was found, in {tried} tries; it is not proven impossible"
