"""Draws many cases from a strategy, reproducibly for a seed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import cycle

from hypothesis import HealthCheck, Phase, given, seed, settings

from conformance.generate.strategies import Aim, cases
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
    for aim, inner in zip((*spec.aims, *strata_of(spec).aims(root)), cycle(within), strict=False):
        found += draw(spec, rank, aimed, root=root, aim={**aim, **inner})
    return found


def text_of(aim: Aim) -> str:
    """An aim in words that stay the same from one process to the next."""
    parts = []
    for name, narrowed in sorted(aim.items()):
        low = narrowed.min.text if narrowed.min else ""
        high = narrowed.max.text if narrowed.max else ""
        parts.append(f"{name}={low}:{high}:{','.join(map(str, narrowed.values))}")
    return ";".join(parts)
