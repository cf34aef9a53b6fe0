"""What becomes of mutants in a part of an operator, and that what is called inert is inert."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress, product

import pytest
from tiers import first

from conformance.audit.difference_conditions import with_differences
from conformance.audit.kills import Kill, MutantRunner
from conformance.audit.mutant_states import classify_mutants, mutant_states
from conformance.audit.partitions import base_type, cases_within, partitions_of_rank
from conformance.generate.disprover import Disprover, settled
from conformance.reference.values import data_of
from conformance.spec.catalogue import Mutant, StatedEquivalence
from conformance.spec.loader import shipped_operators
from conformance.spec.model import OpSpec
from conformance.spec.rule_change import make_rule_change
from conformance.specification import find_spec, mutants_of
from conformance.suite.recorded_cases import (
    RecordedCase,
    current_cases,
    current_value_cases,
    read_recorded_cases,
    recorded_cases_file,
)
from conformance.suite.survivors import Partition

Inert = Callable[[OpSpec, Partition, Sequence[Mutant]], frozenset[str]]
SPEC = find_spec("AvgPool-1")
F32 = Partition("f32", 4)


def fault(name: str, replace: dict[str, str], where: str | None = None, **more: object) -> Mutant:
    made = make_rule_change(SPEC, name, replace, where=where)
    return Mutant(name, "made", SPEC.op, made, f"Has {name}.", **more)  # type: ignore[arg-type]


def recorded() -> list[RecordedCase]:
    """The recorded cases that have outputs, each with what it kills."""
    known = current_cases(SPEC)
    assert known is not None
    return [one for one in known.recorded if one.case.reject is None]


class TestParts:
    def test_each_type_of_a_rank_and_each_profile_in_the_base_type(self) -> None:
        found = list(partitions_of_rank(SPEC, 4))
        assert [one.dtype for one in found if not one.profile] == ["f32", "f16", "bf16", "f64"]
        assert {one.profile for one in found} - {""} == {one.name for one in SPEC.profiles}
        assert {one.dtype for one in found if one.profile} == {base_type(SPEC)}

    def test_a_case_is_in_the_parts_that_it_meets(self) -> None:
        known = current_value_cases(SPEC)
        for part in partitions_of_rank(SPEC, 4):
            inside = cases_within(SPEC, part, known)
            assert 0 < inside.sum() < len(known)
            for case in compress(known, inside):
                assert case.types["T"] == part.dtype
                assert len(case.shapes["data"]) == 4
                if part.profile == "same-or-valid":
                    assert case.attributes.get("auto_pad", "explicit") != "explicit"


class TestInert:
    @pytest.mark.parametrize("op", first(shipped_operators()))
    def test_no_recorded_case_shows_what_is_inert(self, op: str, inert: Inert) -> None:
        """Told from the geometry of each case, which is more than a difference in outputs."""
        spec = find_spec(op)
        recorded = read_recorded_cases(recorded_cases_file(op)).recorded
        # Windows of large cases are too many to be looked at: anything may differ there.
        known = [one.case for one in recorded if one.case.reject is None and not one.is_large]
        catalogue = mutants_of(spec)
        may = MutantRunner(spec, catalogue).may_differ(known)
        for rank in spec.ranks:
            for part in partitions_of_rank(spec, rank):
                reached = may[cases_within(spec, part, known)].any(axis=0)
                shown = {one.id for one in compress(catalogue, reached)}
                assert not inert(spec, part, catalogue) & shown - _of_integers(catalogue, part)

    def test_another_type_another_rank_and_a_profile(self, inert: Inert) -> None:
        catalogue = mutants_of(SPEC)
        assert {"f16-read-as-bf16", "out-first-two-axes-swapped"} <= inert(SPEC, F32, catalogue)
        assert "first-tap-missing-on-middle-axis" in inert(SPEC, F32, catalogue)
        assert "first-tap-missing-on-middle-axis" not in inert(SPEC, Partition("f32", 5), catalogue)
        floor = inert(SPEC, Partition("f32", 4, "explicit-floor"), catalogue)
        assert {"same-not-padded", "ceil-always-adds-a-window"} & floor
        assert "divisor-one-more" not in floor


def _of_integers(catalogue: tuple[Mutant, ...], part: Partition) -> set[str]:
    """Mutants of rules that integers never come to; a geometry cannot tell."""
    if part.dtype.startswith(("f", "bf")):
        return set()
    rules = {"nan", "infinities", "subnormals", "conversion"}
    return {one.id for one in catalogue if one.change.replace.keys() <= rules}


class TestProofs:
    @pytest.mark.parametrize(
        ("rank", "profile"),
        first(product((3, 4), ("equal-pads", "one-number"))),
    )
    def test_no_recorded_case_shows_what_is_proven(
        self, rank: int, profile: str, exhaustive: bool
    ) -> None:
        """By its recorded kills, which are found again elsewhere; or by all of its outputs."""
        part = Partition("f32", rank, profile)
        catalogue = mutants_of(SPEC)
        every = recorded()
        inside = cases_within(SPEC, part, [one.case for one in every])
        known = list(compress(every, inside))
        shown = {name for one in known for name in one.kills}
        if exhaustive:
            bank = MutantRunner(SPEC, catalogue)
            outputs = (bank.fingerprints(one.case, data_of(SPEC, one.case)) for one in known)
            shown.update(*outputs)
        # The solver is fast about what is so, and takes seconds about what is not.
        not_so = sorted(shown)[:: 16 if exhaustive else 64]
        others = sorted({one.id for one in catalogue} - shown)[:: 1 if exhaustive else 4]
        asked = {*others, *not_so}
        proven = Disprover(SPEC, rank, catalogue).proven(part, asked)
        assert len(known) > 2
        assert len(shown) > 30
        assert len(proven) > (20 if exhaustive else 5)
        assert not proven & shown

    def test_padding_that_is_the_same_at_both_ends(self) -> None:
        asked = Disprover(SPEC, 3, mutants_of(SPEC))
        names = {"pads-begin-and-end-swapped", "same-upper-like-lower", "divisor-one-more"}
        equal = asked.proven(Partition("f32", 3, "equal-pads"), names)
        assert equal == {"pads-begin-and-end-swapped", "same-upper-like-lower"}
        assert asked.proven(Partition("f32", 3), names) == set()

    def test_what_is_replaced_by_itself_changes_nothing(self) -> None:
        same = fault("same", {"pad_begin": "original", "strides": "strides + 0"})
        other = fault("other", {"pad_begin": "original + 1"})
        assert Disprover(SPEC, 3, [same, other]).proven(Partition("f32", 3), ["same", "other"]) == {
            "same"
        }

    def test_a_step_on_the_way_is_enough(self) -> None:
        """The numbers of windows cannot be compared by the solver; what they are made of can."""
        _, names_of = with_differences(SPEC, [fault("steps", {"kernel": "reverse(kernel)"})])
        assert len(names_of["steps"]) > 2


class TestStanding:
    KILLED = Kill("killed", True, b"")
    ALLOWED = Kill("allowed", False, b"")

    def catalogue(self) -> list[Mutant]:
        ordinary = {"divisor": "original + 1"}
        return [
            fault("killed", ordinary),
            fault("allowed", ordinary, excused_by="clip-divisor"),
            fault("alive", ordinary),
            fault("elsewhere", ordinary, where="axes == 1"),
            fault(
                "stated",
                ordinary,
                stated_equivalences=(StatedEquivalence("A reason.", types=("f32",)),),
            ),
            fault("nowhere", ordinary, equivalent="Nothing shows it."),
        ]

    def test_each_mutant_has_one_state(self) -> None:
        found = classify_mutants(
            F32, self.catalogue(), [[self.KILLED], [self.ALLOWED]], {"elsewhere"}
        )
        assert found.killed == {"killed", "allowed"}
        assert found.survivors.inert == {"elsewhere"}
        assert found.survivors.stated == {"stated": "A reason."}
        assert found.survivors.excused == {"allowed"}
        assert found.survivors.undetermined == {"alive"}
        assert (found.counted, found.complete) == (3, False)
        known = found.with_inert({"alive"})
        assert known.complete
        assert known.counted == 2
        assert not known.missing

    def test_a_kill_refutes_what_is_stated_or_proven(self) -> None:
        kills = [[Kill(name, True, b"")] for name in ("killed", "allowed", "alive", "stated")]
        found = classify_mutants(F32, self.catalogue(), kills, {"alive", "elsewhere"})
        assert found.refuted == {"stated", "alive", "allowed"}
        assert not found.complete

    def test_what_nothing_shows_anywhere_is_left_out_even_if_it_is_killed(self) -> None:
        """The score of the whole suite says that the catalogue is wrong there."""
        found = classify_mutants(F32, self.catalogue(), [[Kill("nowhere", True, b"")]])
        assert not found.refuted
        assert "nowhere" not in found.survivors.mutants

    def test_a_kill_at_should_alone_is_owed_at_must(self) -> None:
        found = classify_mutants(F32, self.catalogue(), [[Kill("alive", False, b""), self.KILLED]])
        assert "alive" in found.survivors.undetermined

    def test_the_shipped_vectors_of_f32_images(self) -> None:
        """A backend of f32 images is asked all that can show: the rest is inert or stated."""
        at = {one.case.id: one for one in recorded()}
        kills = {
            name: [Kill(k, k not in one.excused, b"") for k in one.kills]
            for name, one in at.items()
        }
        asked = {name: one.case for name, one in at.items()}
        found = mutant_states(SPEC, mutants_of(SPEC), asked, kills, {})
        (images,) = [one for one in found if one.partition == F32]
        assert len(images.killed) > 200
        assert images.survivors.undetermined == frozenset()
        (one_number,) = [one for one in found if one.partition == Partition("f32", 4, "one-number")]
        left = one_number.survivors.undetermined
        assert left
        (told,) = settled(SPEC, mutants_of(SPEC), [one_number])
        assert told.survivors.undetermined == frozenset()
        assert told.survivors.inert >= left
