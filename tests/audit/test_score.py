"""Scores: what counts as noticed, missed, excused, and told apart."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from handmade import fault
from hypothesis import given
from hypothesis import strategies as st

from conformance.audit.kills import Kill
from conformance.audit.score import MutationScore, kill_levels, kinds
from conformance.spec.catalogue import Mutant

FINISH = "define.result.finish"

A = fault("a", {FINISH: "1"}, kind="divisor")
B = fault("b", {FINISH: "2"}, kind="divisor")
C = fault("c", {"let.moves": "1"}, kind="window")
EXCUSED = fault("excused", {FINISH: "3"}, kind="divisor", excused_by="clip-divisor")
EQUIVALENT = fault("same", {FINISH: "4"}, kind="window", equivalent="It is the same.")
ALL = (A, C, EXCUSED, B, EQUIVALENT)


def kill(name: str, *, must: bool = True, mark: bytes = b"") -> Kill:
    return Kill(name, must, mark or name.encode())


def score(**kills: tuple[Kill, ...]) -> MutationScore:
    return MutationScore("AvgPool-1", ALL, kills)


def ids(faults: Iterable[Mutant]) -> set[str]:
    return {one.id for one in faults}


WHOLE = score(
    one=(kill("a"), kill("excused", must=False)),
    two=(kill("a"), kill("b", must=False)),
    three=(kill("b"), kill("c")),
    four=(),
)


class TestScore:
    def test_everything_is_noticed(self) -> None:
        assert WHOLE.kill_counts == {"a": 2, "b": 2, "c": 1, "excused": 1}
        assert WHOLE.kill_counts_at_must == {"a": 2, "b": 1, "c": 1}
        assert WHOLE.counted == (A, C, EXCUSED, B)
        assert WHOLE.equivalent == (EQUIVALENT,)
        assert WHOLE.excused == (EXCUSED,)
        assert WHOLE.missed == WHOLE.missed_at_must == ()
        assert WHOLE.complete

    @pytest.mark.parametrize(
        ("gone", "missed", "missed_at_must"),
        [
            ("four", (), ()),
            ("one", (EXCUSED,), ()),
            ("two", (), ()),
            ("three", (C,), (C, B)),
        ],
    )
    def test_without_a_vector_what_it_alone_notices_is_missed(
        self, gone: str, missed: tuple[Mutant, ...], missed_at_must: tuple[Mutant, ...]
    ) -> None:
        rest = WHOLE.without_vectors([gone])
        assert rest.missed == missed
        assert rest.missed_at_must == missed_at_must
        assert rest.complete is not bool(missed)
        assert gone in WHOLE.kills

    def test_nothing_notices_anything(self) -> None:
        empty = score()
        assert empty.missed == empty.counted
        assert empty.missed_at_must == (A, C, B)
        assert empty.indistinguishable == ()
        assert not empty.complete

    @pytest.mark.parametrize(
        ("vector", "names", "attribute"),
        [
            ((kill("same", must=False),), (EQUIVALENT,), "wrongly_equivalent"),
            ((kill("excused"),), (EXCUSED,), "wrongly_excused"),
        ],
    )
    def test_a_claim_of_the_catalogue_that_does_not_hold(
        self, vector: tuple[Kill, ...], names: tuple[Mutant, ...], attribute: str
    ) -> None:
        assert getattr(WHOLE, attribute) == ()
        found = score(**{**WHOLE.kills, "more": vector})
        assert getattr(found, attribute) == names
        assert found.missed == found.missed_at_must == ()
        assert not found.complete


class TestIndistinguishable:
    def test_the_same_outputs_on_every_vector(self) -> None:
        alike = (kill("a", mark=b"1"), kill("b", mark=b"1"), kill("c", mark=b"2"))
        assert score(one=alike).indistinguishable == (("a", "b"),)

    def test_one_vector_with_other_outputs_tells_them_apart(self) -> None:
        alike = (kill("a", mark=b"1"), kill("b", mark=b"1"))
        apart = (kill("a", mark=b"1"), kill("b", mark=b"2"))
        assert score(one=alike, two=apart).indistinguishable == ()

    def test_one_vector_that_notices_one_alone_tells_them_apart(self) -> None:
        alike = (kill("a", mark=b"1"), kill("b", mark=b"1"))
        assert score(one=alike, two=(kill("b"),)).indistinguishable == ()

    def test_faults_that_nobody_notices_are_no_group(self) -> None:
        assert score(one=(kill("a"),)).indistinguishable == ()

    def test_an_equivalent_fault_is_in_no_group(self) -> None:
        alike = (kill("a", mark=b"1"), kill("same", mark=b"1"))
        assert score(one=alike).indistinguishable == ()


def test_achievements_are_faults_at_each_level() -> None:
    found = list(kill_levels([kill("a"), kill("b", must=False)]))
    assert found == [("should", "a"), ("must", "a"), ("should", "b")]


def test_kinds_keep_their_order() -> None:
    assert kinds(ALL) == ("divisor", "window")
    assert kinds([C, A]) == ("window", "divisor")


NAMES = st.sampled_from([one.id for one in ALL])
KILLS = st.dictionaries(
    st.text("uvwxyz", min_size=1, max_size=2),
    st.dictionaries(NAMES, st.booleans(), max_size=5).map(
        lambda found: tuple(kill(name, must=must) for name, must in found.items())
    ),
    max_size=6,
)


@given(KILLS, st.data())
def test_deleting_a_vector_never_raises_a_score(
    kills: dict[str, tuple[Kill, ...]], data: st.DataObject
) -> None:
    whole = MutationScore("AvgPool-1", ALL, kills)
    gone = data.draw(st.sets(st.sampled_from(sorted(kills)))) if kills else set()
    rest = whole.without_vectors(gone)
    assert ids(whole.missed) <= ids(rest.missed)
    assert ids(whole.missed_at_must) <= ids(rest.missed_at_must)
    for one in ALL:
        lost = sum(k.mutant == one.id for i in gone for k in kills[i])
        assert rest.kill_counts[one.id] == whole.kill_counts[one.id] - lost
        assert rest.kill_counts_at_must[one.id] <= rest.kill_counts[one.id]
    assert rest.without_vectors([]) == rest
