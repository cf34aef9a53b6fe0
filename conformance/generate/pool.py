"""Draws many cases from a strategy, reproducibly for a seed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import cycle

from hypothesis import HealthCheck, Phase, given, seed, settings

from conformance.generate.chance import Chance
from conformance.generate.strategies import Aim, Integer, cases, one_case
from conformance.model import Case
from conformance.spec.model import OpSpec
from conformance.spec.strata import strata_of


def draw(spec: OpSpec, rank: int, count: int, *, root: int, aim: Aim | None = None) -> list[Case]:
    """At most ``count`` distinct cases; ``root`` and the arguments decide which.

    An aim may ask for more than a case can have (padding beside a kernel of 1, say), or a rank
    that the operator has not; such a case is drawn all the same, and is not valid.
    """
    label = f"{root}/{spec.op}/{rank}/{text_of(aim or {})}"
    derived = int.from_bytes(hashlib.sha256(label.encode()).digest()[:8], "big")
    found: dict[str, Case] = {}

    @seed(derived)
    @settings(
        max_examples=count,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(cases(spec, rank, aim))
    def collect(case: Case) -> None:
        found.setdefault(case.id, case)

    collect()
    return list(found.values())


def draw_at_edges(
    spec: OpSpec, rank: int, base: int, aimed: int, *, root: int, within: Sequence[Aim] = ({},)
) -> list[Case]:
    """At most ``base`` cases at large, and ``aimed`` for each aim of an edge and in each stratum,
    beside another remainder for another ``root``; see :func:`draw`.

    All are drawn ``within`` these aims in turn: what one narrows is narrowed besides.
    """
    found = []
    for inner in within:
        found += draw(spec, rank, -(-base // len(within)), root=root, aim=inner)
    aims = zip((*spec.aims, *strata_of(spec).aims(root)), cycle(within), strict=False)
    return found + draw_aimed(
        spec, rank, aimed, [{**aim, **inner} for aim, inner in aims], root=root
    )


def draw_aimed(
    spec: OpSpec, rank: int, count: int, aims: Sequence[Aim], *, root: int
) -> list[Case]:
    """At most ``count`` distinct cases for each aim.

    Evenly, without the engine that :func:`draw` has: in a tenth of the time, and where few are
    drawn with each aim better, since that engine begins with the smallest case each time.
    """
    found: dict[str, Case] = {}
    for number, aim in enumerate(aims):
        integer = _integers(f"{root}/{spec.op}/{rank}/{number}/{text_of(aim)}")
        for _ in range(count):
            case = one_case(spec, rank, aim, integer)
            found.setdefault(case.id, case)
    return list(found.values())


def draw_fast(
    spec: OpSpec, rank: int, count: int, *, root: int, within: Sequence[Aim] = ({},)
) -> list[Case]:
    """As :func:`draw_at_edges`, ``count`` cases at most, every second with the aim of some edge or
    stratum; all evenly, as :func:`draw_aimed`."""
    integer = _integers(f"{root}/{spec.op}/{rank}/{';'.join(map(text_of, within))}")
    aims = [*spec.aims, *strata_of(spec).aims(root)] or [{}]
    found: dict[str, Case] = {}
    for number in range(count):
        aim = aims[integer(0, len(aims) - 1)] if number % 2 else {}
        case = one_case(spec, rank, {**aim, **within[number // 2 % len(within)]}, integer)
        found.setdefault(case.id, case)
    return list(found.values())


def _integers(label: str) -> Integer:
    """Whole numbers that a label decides, evenly between two, both included."""
    chance = Chance(label)
    return lambda low, high: low + int(chance.below(high - low + 1, 1)[0])


def text_of(aim: Aim) -> str:
    """An aim in words that stay the same from one process to the next."""
    parts = []
    for name, narrowed in sorted(aim.items()):
        low = narrowed.min.text if narrowed.min else ""
        high = narrowed.max.text if narrowed.max else ""
        parts.append(f"{name}={low}:{high}:{','.join(map(str, narrowed.values))}")
    return ";".join(parts)
