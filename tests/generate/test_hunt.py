"""The hunt: vectors for faults that the others miss, or cannot tell apart, and no more."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

import numpy as np
import pytest

from conformance.audit.kills import SLICE, MutantRunner
from conformance.audit.partitions import cases_within
from conformance.audit.score import MutationScore
from conformance.audit.trivial_implementations import trivially_passed
from conformance.generate import hunt as hunting
from conformance.generate.candidates import (
    Candidates,
    any_case,
    children,
    drawn_cases,
    known_cases,
)
from conformance.generate.hunt import hunt
from conformance.generate.pairs import Effort
from conformance.generate.plan import wanted
from conformance.model import Case, Vector
from conformance.reference.build import build
from conformance.spec.catalogue import Mutant
from conformance.spec.loader import find_spec
from conformance.spec.model import OpSpec
from conformance.spec.rule_change import make_rule_change
from conformance.spec.validity import violations
from conformance.suite.survivors import Partition

SPEC = find_spec("AdaptiveAvgPool-8")
FEW = Effort(base=80, aimed=1)


def fault(name: str, replace: dict[str, str], where: str | None = None) -> Mutant:
    return Mutant(
        name, "made", SPEC.op, make_rule_change(SPEC, name, replace, where=where), f"Has {name}."
    )


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


def score(faults: list[Mutant], *vectors: Vector) -> MutationScore:
    bank = MutantRunner(SPEC, faults)
    return MutationScore(
        SPEC.op, tuple(faults), {vector.id: bank.kills(vector) for vector in vectors}
    )


def sought(faults: list[Mutant], *vectors: Vector, root: int = 0) -> list[Vector]:
    """What is found for what some vectors miss, among cases of any rank."""
    missed = wanted(score(faults, *vectors), apart=True)
    return hunt(SPEC, faults, missed, any_case(SPEC, [], root=root, effort=FEW))


def test_nothing_is_sought_where_nothing_is_missed(even: Vector) -> None:
    assert score([UNDIVIDED], even).complete
    assert sought([UNDIVIDED], even) == []


def test_what_is_missed_is_found_by_few_vectors(even: Vector) -> None:
    faults = [UNDIVIDED, ROUNDED_UP, SECOND_IMAGE]
    assert [one.id for one in score(faults, even).missed] == ["rounded-up", "second-image"]
    found = sought(faults, even)
    assert 1 <= len(found) <= 2
    assert all(trivially_passed(SPEC, vector) == () for vector in found)
    whole = score(faults, even, *found)
    assert whole.complete
    for vector in found:
        assert not whole.without_vectors([vector.id]).complete


def test_few_cases_are_graded_and_others_where_those_show_nothing(
    even: Vector, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What outputs promise, a vector need not keep: here the first three are called vacuous."""
    graded: list[Vector] = []

    def vacuous_at_first(spec: OpSpec, vector: Vector) -> tuple[str, ...]:
        graded.append(vector)
        return ("zeros",) if len(graded) <= 3 else trivially_passed(spec, vector)

    monkeypatch.setattr(hunting, "trivially_passed", vacuous_at_first)
    faults = [UNDIVIDED, ROUNDED_UP, SECOND_IMAGE]
    found = sought(faults, even)
    assert score(faults, even, *found).complete
    assert not {vector.id for vector in graded[:3]} & {vector.id for vector in found}
    assert 4 <= len(graded) <= 6


def test_a_mutant_that_is_always_right_is_given_up(
    even: Vector, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its guard reads the data, so geometry does not rule it out; what others show is found."""
    monkeypatch.setattr(hunting, "BARREN", 20)
    never = fault("many-nan", {"divisor": "original + 1"}, where="nan_taps > 1000000")
    seen: list[Case] = []

    def watched() -> Iterator[Candidates]:
        for group in any_case(SPEC, [], root=0, effort=FEW):
            for some in group.slices(SLICE):
                seen.extend(some)
                yield some

    missed = wanted(score([never], even), apart=True)
    assert hunt(SPEC, [never], missed, watched()) == []
    assert 20 <= len(seen) <= SLICE
    assert score([ROUNDED_UP, never], *sought([ROUNDED_UP, never], even)).missed == (never,)


def test_mutants_that_are_always_alike_are_given_up(
    even: Vector, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are wrong, always in the same way; another that is only mostly so is told apart."""
    monkeypatch.setattr(hunting, "BARREN", 20)
    same = fault("undivided-too", {"divisor": "2 - 1"})
    other = fault("undivided-first", {"divisor": "1"}, where="n == 0")
    looked_at = 0

    def watched() -> Iterator[Candidates]:
        nonlocal looked_at
        for group in any_case(SPEC, [], root=0, effort=FEW):
            for some in group.slices(30):
                looked_at += len(some)
                yield some

    faults = [UNDIVIDED, same]
    assert hunt(SPEC, faults, wanted(score(faults, even), apart=True), watched()) == []
    assert 20 <= looked_at < 200
    faults = [UNDIVIDED, other]
    assert score(faults, even, *sought(faults, even)).indistinguishable == ()


def test_faults_that_look_alike_are_told_apart_if_a_case_can(even: Vector) -> None:
    """Both are right on one image and wrong on the second; a third image would tell them apart,
    which no drawn case has."""
    alike = [SECOND_IMAGE, LATER_IMAGES]
    found = sought(alike, even)
    assert len(found) == 1
    assert score(alike, *found).indistinguishable == (("second-image", "later-images"),)

    apart = [SECOND_IMAGE, fault("second-by-two", {"divisor": "original + 2 * n"})]
    assert score(apart, *sought(apart, even)).indistinguishable == ()


def test_what_no_drawn_case_shows_is_left(even: Vector) -> None:
    assert sought([NEVER], even) == []


def test_the_same_root_gives_the_same_vectors(even: Vector) -> None:
    first, again = (sought([ROUNDED_UP], even, root=5) for _ in range(2))
    assert [vector.id for vector in first] == [vector.id for vector in again] != []


class TestCasesOfAPart:
    """Where the hunt looks: known cases first, then drawn ones, then what takes after both."""

    PART = Partition("f16", 4, "")

    def known(self) -> list[Case]:
        return list(chain.from_iterable(any_case(SPEC, [], root=1, effort=FEW)))

    def test_known_cases_of_the_rank_come_in_its_type_too(self) -> None:
        known = self.known()
        of_rank = [case for case in known if SPEC.rank_of(case) == self.PART.rank]
        candidates = Candidates.of(SPEC, of_rank, self.PART.rank)
        found = list(chain.from_iterable(known_cases(self.PART, candidates)))
        own = [case for case in known if cases_within(SPEC, self.PART, [case])[0]]
        assert found[: len(own)] == own
        assert len(found) > len(own) > 0
        assert cases_within(SPEC, self.PART, found).all()

    @pytest.mark.parametrize("profile", ["output-divides", "one-window"])
    def test_drawn_cases_and_children_belong_to_the_profile(self, profile: str) -> None:
        part = Partition("f32", 4, profile)
        drawn = drawn_cases(SPEC, part, root=0, effort=FEW)
        taken = chain.from_iterable(children(part, [drawn], root=0))
        found = list(islice(taken, 200))
        assert len(drawn) > 20
        assert len(found) > 20
        for cases in (list(drawn), found):
            assert cases_within(SPEC, part, cases).all()
            assert not any(violations(SPEC, case) for case in cases[:40])

    def test_a_case_is_the_one_that_its_columns_tell(self) -> None:
        """Whatever was taken, retyped or left out on the way."""
        known = [case for case in self.known() if SPEC.rank_of(case) == 4]
        some = Candidates.of(SPEC, known, 4)
        odd = some.take(np.arange(len(some)) % 2 == 1)
        assert list(some.without(odd)) == known[::2]
        assert list(some.without(some)) == []
        retyped = odd.retyped("f16").sound()
        assert len(retyped) > 20
        made = list(retyped)
        assert {case.types["T"] for case in made} == {"f16"}
        assert Candidates.of(SPEC, made, 4).table.questions() == retyped.table.questions()
        assert [len(one) for one in odd.slices(7)][:-1] == [7] * ((len(odd) - 1) // 7)
