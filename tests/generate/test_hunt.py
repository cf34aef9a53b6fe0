"""The hunt: vectors for faults that the others miss, or cannot tell apart, and no more."""

from __future__ import annotations

import pytest

from conformance.audit.kills import Bank
from conformance.audit.score import Score
from conformance.audit.vacuity import vacuous
from conformance.generate.build import build
from conformance.generate.hunt import hunt
from conformance.generate.pairs import Effort
from conformance.model import Case, Vector
from conformance.spec.catalogue import Fault
from conformance.spec.loader import find
from conformance.spec.variation import variant

SPEC = find("AdaptiveAvgPool-8")
FEW = Effort(base=80, aimed=1)


def fault(name: str, replace: dict[str, str], where: str | None = None) -> Fault:
    return Fault(name, "made", SPEC.op, variant(SPEC, name, replace, where=where), f"Has {name}.")


UNDIVIDED = fault("undivided", {"divisor": "1"})
ROUNDED_UP = fault("rounded-up", {"start": "ceil_div(i * size, out)"})
SECOND_IMAGE = fault("second-image", {"divisor": "original + 1"}, where="n > 0")
LATER_IMAGES = fault("later-images", {"divisor": "original + n"})
NEVER = fault("never", {"divisor": "original + 1"}, where="n > 90")


@pytest.fixture(scope="module")
def even() -> Vector:
    """Windows that divide the data, in one image: a start that is rounded up is right."""
    case = Case(
        op=SPEC.op,
        types={"T": "f32", "T_SHAPE": "i64"},
        shapes={"data": (1, 1, 4)},
        attributes={},
        operands={"output_size": (2,)},
    )
    return build(SPEC, case)


def score(faults: list[Fault], *vectors: Vector) -> Score:
    bank = Bank(SPEC, faults)
    return Score(SPEC.op, tuple(faults), {vector.id: bank.kills(vector) for vector in vectors})


def test_nothing_is_sought_where_nothing_is_missed(even: Vector) -> None:
    assert score([UNDIVIDED], even).complete
    assert hunt(SPEC, score([UNDIVIDED], even), root=0, effort=FEW) == []


def test_what_is_missed_is_found_by_few_vectors(even: Vector) -> None:
    faults = [UNDIVIDED, ROUNDED_UP, SECOND_IMAGE]
    assert [one.id for one in score(faults, even).missed] == ["rounded-up", "second-image"]
    found = hunt(SPEC, score(faults, even), root=0, effort=FEW)
    assert 1 <= len(found) <= 2
    assert all(vacuous(SPEC, vector) == () for vector in found)
    whole = score(faults, even, *found)
    assert whole.complete
    for vector in found:
        assert not whole.without([vector.id]).complete


def test_faults_that_look_alike_are_told_apart_if_a_case_can(even: Vector) -> None:
    """Both are right on one image and wrong on the second; a third image would tell them apart,
    which no drawn case has."""
    alike = [SECOND_IMAGE, LATER_IMAGES]
    found = hunt(SPEC, score(alike, even), root=0, effort=FEW)
    assert len(found) == 1
    assert score(alike, *found).indistinguishable == (("second-image", "later-images"),)

    apart = [SECOND_IMAGE, fault("second-by-two", {"divisor": "original + 2 * n"})]
    assert score(apart, *hunt(SPEC, score(apart, even), root=0, effort=FEW)).indistinguishable == ()


def test_what_no_drawn_case_shows_is_left(even: Vector) -> None:
    assert hunt(SPEC, score([NEVER], even), root=0, effort=FEW) == []


def test_the_same_root_gives_the_same_vectors(even: Vector) -> None:
    first, again = (hunt(SPEC, score([ROUNDED_UP], even), root=5, effort=FEW) for _ in range(2))
    assert [vector.id for vector in first] == [vector.id for vector in again] != []
