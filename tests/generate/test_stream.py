"""The stream of the full suite: as many different vectors as are asked for, or a clear end."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest

from conformance.audit.coverage import conditions
from conformance.errors import UsageError
from conformance.generate import stream
from conformance.generate.stream import Piece
from conformance.model import Vector
from conformance.spec.loader import find
from conformance.spec.strata import REMAINDER, STRATUM, Strata, strata_of


def silent(_what: str, _number: int, _total: int) -> None:
    pass


def test_it_gives_what_is_asked_and_nothing_twice() -> None:
    known: set[str] = set()
    spec = find("AdaptiveAvgPool-8")
    found = list(stream.stream(spec, 30, known, root=0, processes=1, progress=silent))
    assert len(found) == len({vector.id for vector in found}) == 30
    assert known == {vector.id for vector in found}


def test_an_operator_with_too_few_cases_is_an_error_and_no_endless_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nothing(_piece: stream.Piece) -> list[Vector]:
        return []

    monkeypatch.setattr(stream.Piece, "run", nothing)
    with pytest.raises(UsageError, match="only 0 different ones"):
        list(stream.stream(find("AvgPool-1"), 5, set(), root=0, processes=1, progress=silent))


def test_it_meets_remainders_in_strata_and_others_in_each_piece(
    monkeypatch: pytest.MonkeyPatch, exhaustive: bool
) -> None:
    """Of a piece on rank 4: more than where nothing is drawn in strata."""
    spec = find("AvgPool-1")
    of_images = [number for number in range(9) if spec.ranks[number % len(spec.ranks)] == 4]
    one, *others = (
        _met(Piece(spec, number, 0).run()) for number in of_images[: 2 if exhaustive else 1]
    )
    monkeypatch.setattr(Strata, "aims", lambda *_: [])
    without = _met(Piece(spec, of_images[0], 0).run())
    assert len(one) > 1.2 * len(without)
    for another in others:
        assert one - another
        assert another - one


def _met(vectors: list[Vector]) -> set[tuple[str, str]]:
    """The pairs of stratum and remainder that some vectors of rank 4 meet."""
    strata = strata_of(find(vectors[0].case.op))
    of_strata = replace(strata.whole, edges=strata.all)
    return {
        pair
        for names in conditions(of_strata, 4, vectors)
        for pair in combinations(sorted(names), 2)
        if pair[0].startswith(REMAINDER) and pair[1].startswith(STRATUM)
    }
