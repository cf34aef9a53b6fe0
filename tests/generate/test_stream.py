"""The stream of the full suite: as many different vectors as are asked for, or a clear end."""

from __future__ import annotations

import pytest

from conformance.errors import UsageError
from conformance.generate import stream
from conformance.model import Vector
from conformance.spec.loader import find


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
