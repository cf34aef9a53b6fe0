"""What becomes of mutants in a part of an operator."""

from __future__ import annotations

from handmade import fault

from conformance.audit.kills import Kill
from conformance.audit.mutant_states import classify_mutants, mutant_states, survivors_of_tries
from conformance.model import Case
from conformance.spec.catalogue import Mutant, StatedEquivalence
from conformance.suite.survivors import Partition, Survivors

F32 = Partition("f32", 4)
ORDINARY = {"define.result.finish": "1 + original"}
KILLED = Kill("killed", True, b"")
ALLOWED = Kill("allowed", False, b"")
ALIVE = Kill("alive", False, b"")


def catalogue() -> list[Mutant]:
    in_f32 = StatedEquivalence("A reason.", types=("f32",))
    return [
        fault("killed", ORDINARY),
        fault("allowed", ORDINARY, excused_by="clip-divisor"),
        fault("alive", ORDINARY),
        fault("stated", ORDINARY, stated_equivalences=(in_f32,)),
        fault("nowhere", ORDINARY, equivalent="Nothing shows it."),
    ]


class TestOneState:
    def test_each_mutant_has_one(self) -> None:
        found = classify_mutants(F32, catalogue(), [[KILLED], [ALLOWED]])
        assert found.killed == {"killed", "allowed"}
        assert found.survivors.stated == {"stated": "A reason."}
        assert found.survivors.excused == {"allowed"}
        assert found.survivors.undetermined == {"alive"}
        assert (found.counted, found.complete) == (3, False)
        assert ("should", "alive") in found.missing

    def test_where_all_else_is_killed_the_part_is_complete(self) -> None:
        kills = [[KILLED, ALLOWED], [Kill("alive", True, b"")]]
        found = classify_mutants(F32, catalogue(), kills)
        assert found.complete
        assert found.counted == 3
        assert not found.missing

    def test_a_statement_holds_in_its_types_alone(self) -> None:
        found = classify_mutants(Partition("f16", 4), catalogue(), [[KILLED]])
        assert not found.survivors.stated
        assert "stated" in found.survivors.undetermined

    def test_a_kill_refutes_what_is_stated(self) -> None:
        kills = [[Kill(name, True, b"")] for name in ("killed", "allowed", "alive", "stated")]
        found = classify_mutants(F32, catalogue(), kills)
        assert found.refuted == {"stated", "allowed"}
        assert not found.complete

    def test_what_nothing_shows_anywhere_is_left_out_even_if_it_is_killed(self) -> None:
        """The score of the whole suite says that the catalogue is wrong there."""
        found = classify_mutants(F32, catalogue(), [[Kill("nowhere", True, b"")]])
        assert not found.refuted
        assert "nowhere" not in found.survivors.mutants

    def test_a_kill_at_should_alone_is_owed_at_must(self) -> None:
        found = classify_mutants(F32, catalogue(), [[ALIVE, KILLED]])
        assert "alive" in found.survivors.undetermined
        assert ("must", "alive") in found.missing
        assert ("should", "alive") not in found.missing


class TestAfterTries:
    def test_what_no_case_kills_is_stated_so(self) -> None:
        found = survivors_of_tries(F32, catalogue(), [[KILLED]], 7)
        assert found.unseen.keys() == {"allowed", "alive"}
        assert found.stated["alive"].endswith("7 cases")
        assert found.stated["stated"] == "A reason."
        assert not found.undetermined

    def test_what_is_killed_at_should_alone_is_excused_or_open(self) -> None:
        found = survivors_of_tries(F32, catalogue(), [[KILLED, ALLOWED, ALIVE]], 7)
        assert found.excused == {"allowed"}
        assert found.undetermined == {"alive"}
        assert not found.unseen


def test_each_case_counts_in_its_part_and_what_the_suite_states_holds() -> None:
    shapes = {"one": (1, 1, 4, 4), "two": (1, 1, 4)}
    cases = {
        name: Case("AvgPool-1", {"T": "f32"}, {"data": shape}, {}) for name, shape in shapes.items()
    }
    line = Partition("f32", 3)
    known = {line: Survivors(stated={"alive": "Not seen.", "killed": "Not seen."})}
    found = mutant_states(
        catalogue(), [F32, line], cases, {"one": [KILLED], "two": [KILLED, ALLOWED]}, known
    )
    first, images = found
    assert (first.partition, images.partition) == (line, F32)
    assert images.killed == {"killed"}
    assert images.survivors.undetermined == {"allowed", "alive"}
    assert first.killed == {"killed", "allowed"}
    assert first.survivors.stated == {"stated": "A reason.", "alive": "Not seen."}
    assert first.survivors.undetermined == frozenset()
