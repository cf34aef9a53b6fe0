"""How strong the evidence of a run is: the pure function, and what it may never do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.backends.capabilities import Capabilities, Exclusion
from conformance.errors import BackendError
from conformance.model import Result, Status
from conformance.run.claim_text import UNTOLD, advice, completing, sentences
from conformance.run.partition_strength import FEWEST, measured
from conformance.strength import PartitionStrength, RunStrength, StrengthState
from conformance.suite.entries import Entry
from conformance.suite.manifest import Manifest
from conformance.suite.survivors import Partition, Survivors, SurvivorTable
from conformance.suite.unreachable import Unreachable

OP = "Pool-1"
MUTANTS = tuple(f"m{number:02}" for number in range(30))
CEIL = "rounding_type == ceil"
PASS, FAIL, UNSUPPORTED = Status.PASS, Status.FAIL, Status.UNSUPPORTED


def entry(name, kills=(), *, op=OP, dtype="f32", reject=None, excused=(), edges=()):
    return Entry(
        id=name,
        op=op,
        level="must",
        dtype=dtype,
        reject=reject,
        suites=("core",),
        edges=edges,
        kills=tuple(sorted(kills)),
        bytes=1,
        sha256="0" * 64,
        excused=tuple(sorted(excused)),
    )


def manifest(*entries, parts=None):
    strength = {} if parts is None else {OP: Unreachable(parts=parts)}
    return Manifest(name="core", seed=0, versions={}, listed=entries, strength=strength)


def result(name, status, *, op=OP, rank=4, **more):
    return Result(id=name, op=op, status=status, rank=rank, **more)


def strengths(results, suite, *, level="should", declared=None):
    return measured(results, suite, level=level, declared=declared)


def table(*, inert=(), stated=(), why="why", excused=(), profile=None, **others):
    """Parts with f32 of rank 4; each other by its name (``f16_4``) with nothing that survives."""
    found = {
        Partition("f32", 4): Survivors(
            inert=frozenset(inert),
            stated=dict.fromkeys(stated, why),
            excused=frozenset(excused),
        )
    }
    for name in others:
        dtype, rank = name.split("_")
        found[Partition(dtype, int(rank))] = Survivors()
    if profile is not None:
        found[Partition("f32", 4, "floor-only")] = Survivors(inert=frozenset(profile))
    return SurvivorTable(found, {"floor-only": (CEIL,)})


HALF, REST = MUTANTS[:15], MUTANTS[15:]


def counted(*found):
    return [(one.killed, one.mutants, one.state.value) for one in found]


class TestAPart:
    def test_is_as_strong_as_what_passed_there(self):
        suite = manifest(entry("a", HALF), entry("b", REST), parts=table())
        both = strengths([result("a", PASS), result("b", PASS)], suite)
        one = strengths([result("a", PASS), result("b", FAIL)], suite)
        assert counted(*both) == [(30, 30, "measured")]
        assert counted(*one) == [(15, 30, "measured")]
        assert (one[0].op, one[0].dtype, one[0].rank) == (OP, "f32", 4)

    def test_another_type_or_rank_kills_nothing_for_it(self):
        suite = manifest(
            *(entry("a", HALF), entry("b", REST, dtype="f16"), entry("c", REST)),
            parts=table(f16_4=1, f32_3=1),
        )
        results = [result("a", PASS), result("b", PASS), result("c", PASS, rank=3)]
        found = {(one.dtype, one.rank): one.killed for one in strengths(results, suite)}
        assert found == {("f16", 4): 15, ("f32", 3): 15, ("f32", 4): 15}

    def test_mutants_that_cannot_show_do_not_count(self):
        parts = table(inert=MUTANTS[:5], stated=MUTANTS[5:8])
        found = strengths([result("a", PASS)], manifest(entry("a", MUTANTS[4:]), parts=parts))
        assert counted(*found) == [(22, 22, "measured")]

    def test_mutants_that_no_case_was_seen_to_kill_do_not_count_and_are_stated(self):
        parts = table(stated=MUTANTS[:3], why="not seen to show in 825 cases")
        (found,) = strengths([result("a", PASS)], manifest(entry("a", MUTANTS[3:]), parts=parts))
        assert counted(found) == [(27, 27, "measured")]
        assert found.why == "3 mutants not seen to show in 825 cases"

    @pytest.mark.parametrize(("level", "of"), [("should", (30, 30)), ("must", (24, 26))])
    def test_depends_on_the_level(self, level, of):
        """Six kills are excused at must; two of these mutants might still be killed there."""
        suite = manifest(entry("a", MUTANTS, excused=MUTANTS[:6]), parts=table(excused=MUTANTS[:4]))
        ((killed, mutants, _),) = counted(*strengths([result("a", PASS)], suite, level=level))
        assert (killed, mutants) == of

    def test_a_negative_test_proves_nothing(self):
        suite = manifest(entry("a", HALF), entry("r", REST, reject="x"), parts=table())
        results = [result("a", PASS), result("r", PASS, reject="x")]
        assert counted(*strengths(results, suite)) == [(15, 30, "measured")]

    def test_of_too_few_mutants_is_judged_by_targets(self):
        few = MUTANTS[: FEWEST - 1]
        suite = manifest(
            entry("a", few, edges=("padded", "wide")),
            entry("b", edges=("ceil", "padded")),
            entry("c", edges=("nan",)),
            parts=table(),
        )
        results = [result("a", PASS), result("b", FAIL), result("c", UNSUPPORTED)]
        (found,) = strengths(results, suite)
        assert (found.state, found.counted) == (
            StrengthState.MEASURED,
            "2 of 3 coverage targets covered",
        )
        assert (found.killed, found.mutants, found.share) == (19, 19, "66.6 %")
        assert found.why.startswith("fewer than 20 mutants can show")
        suite = manifest(entry("a", MUTANTS[:FEWEST]), parts=table())
        assert strengths([result("a", PASS)], suite)[0].state is StrengthState.MEASURED

    def test_of_a_suite_of_today_is_unknown(self):
        (found,) = strengths([result("a", PASS)], manifest(entry("a", MUTANTS)))
        assert found.state is StrengthState.UNKNOWN
        assert found.why == "the suite does not say which mutants can show"
        assert RunStrength((found,)).short == ()

    def test_that_the_table_does_not_have_is_unknown(self):
        suite = manifest(entry("a", MUTANTS), parts=table(f16_3=1))
        (found,) = strengths([result("a", PASS, rank=5)], suite)
        assert (found.rank, found.state) == (5, StrengthState.UNKNOWN)


def test_a_type_that_nobody_knows_breaks_nothing():
    suite = manifest(entry("a", MUTANTS, dtype="f99"), entry("b", MUTANTS), parts=table())
    found = strengths([result("a", PASS), result("b", PASS)], suite)
    assert [(one.dtype, one.state.value) for one in found] == [
        ("f32", "measured"),
        ("f99", "unknown"),
    ]


class TestWhatIsClaimed:
    SUITE = manifest(
        *(entry("a", MUTANTS), entry("h", MUTANTS, dtype="f16"), entry("x", op="Other-1")),
        parts=table(f16_4=1, f64_3=1),
    )

    def of(self, *results, declared=None):
        found = strengths(results, self.SUITE, declared=declared)
        return {(one.dtype, one.rank): one.killed for one in found}

    def test_an_operator_of_which_nothing_was_graded_is_not(self):
        assert self.of(result("a", UNSUPPORTED), result("h", UNSUPPORTED)) == {}
        assert self.of(result("a", UNSUPPORTED), declared=Capabilities()) == {}

    def test_without_a_declaration_only_what_was_graded_is(self):
        results = [result("a", PASS), result("h", UNSUPPORTED)]
        assert self.of(*results) == {("f32", 4): 30}

    def test_what_was_declared_and_not_asked_is_claimed_and_proven_by_nothing(self):
        found = self.of(result("a", PASS), result("h", PASS), declared=Capabilities())
        assert found == {("f16", 4): 30, ("f32", 4): 30, ("f64", 3): 0}

    @pytest.mark.parametrize(
        "declared",
        [
            Capabilities(dtypes=("f32",)),
            Capabilities(operators=("Pool-*",), dtypes=("f32", "f16"), ranks=(4,)),
            Capabilities(excluding=(Exclusion("no", "T == f16"), Exclusion("no", "T == f64")),
                         ranks=(4,)),
        ],
    )  # fmt: skip
    def test_what_was_not_declared_is_not(self, declared):
        results = [result("a", PASS), result("h", UNSUPPORTED)]
        assert self.of(*results, declared=declared) == {("f32", 4): 30}


class TestARestriction:
    """A backend that leaves out cases by predicates: vectors b and c are of what it leaves out."""

    def of(self, declared, *, profile=None, status=UNSUPPORTED):
        suite = manifest(
            *(entry("a", MUTANTS[:22]), entry("b", MUTANTS[22:])), parts=table(profile=profile)
        )
        return strengths([result("a", PASS), result("b", status)], suite, declared=declared)

    def test_of_a_profile_is_measured_by_its_table(self):
        declared = Capabilities(excluding=(Exclusion("no ceil", f" {CEIL.replace(' ', '  ')}"),))
        (found,) = self.of(declared, profile=MUTANTS[22:])
        assert counted(found) == [(22, 22, "measured")]
        assert found.part == "f32 of rank 4, profile floor-only"

    def test_that_is_no_profile_is_a_lower_bound(self):
        declared = Capabilities(excluding=(Exclusion("no batch", "N > 1"),))
        (found,) = self.of(declared, profile=MUTANTS[22:])
        assert counted(found) == [(22, 30, "at least")]
        assert "within what the backend declares" in found.why
        assert RunStrength((found,)).short == ()
        assert RunStrength((found,)).unknown == (found,)
        assert RunStrength((found,), bar=70).weakest == found

    def test_without_a_table_of_the_profile_is_a_lower_bound(self):
        declared = Capabilities(excluding=(Exclusion("no ceil", CEIL),))
        assert counted(*self.of(declared)) == [(22, 30, "at least")]

    def test_that_left_out_no_vector_of_the_part_changes_nothing(self):
        declared = Capabilities(excluding=(Exclusion("no batch", "N > 1"),))
        assert counted(*self.of(declared, status=PASS)) == [(30, 30, "measured")]

    def test_of_another_operator_is_none(self):
        declared = Capabilities(excluding=(Exclusion("no batch", "N > 1", op="Other-*"),))
        assert counted(*self.of(declared)) == [(22, 30, "measured")]

    def test_that_nobody_declared_counts_against_the_backend(self):
        assert counted(*self.of(None)) == [(22, 30, "measured")]


statuses = st.sampled_from([Status.PASS, Status.FAIL, Status.ERROR, UNSUPPORTED, Status.SKIPPED])
kill_sets = st.sets(st.sampled_from(MUTANTS))
suites = st.lists(
    st.tuples(kill_sets, kill_sets, st.sampled_from(["f16", "f32"]), st.sampled_from([3, 4])),
    min_size=1,
    max_size=6,
)
tables = st.none() | st.builds(
    table, inert=st.sets(st.sampled_from(MUTANTS[:4])), excused=st.sets(st.sampled_from(REST))
)
declarations = st.sampled_from(
    [
        None,
        Capabilities(),
        Capabilities(dtypes=("f32",), ranks=(4,)),
        Capabilities(excluding=(Exclusion("no", CEIL),)),
        Capabilities(excluding=(Exclusion("no", "N > 1"),)),
    ]
)
levels = st.sampled_from(["must", "should"])


def drawn(rows, parts):
    entries = [
        entry(f"v{i}", kills, dtype=dtype, excused=kills & excused)
        for i, (kills, excused, dtype, _) in enumerate(rows)
    ]
    return manifest(*entries, parts=parts)


@given(st.data(), suites, tables, declarations, levels)
def test_a_pass_more_never_weakens_and_a_failure_more_never_strengthens(
    data, rows, parts, declared, level
):
    suite = drawn(rows, parts)
    before = [result(f"v{i}", data.draw(statuses), rank=rank) for i, (*_, rank) in enumerate(rows)]
    graded = [i for i, one in enumerate(before) if one.status in (FAIL, Status.ERROR)]
    turned = data.draw(st.sampled_from(graded)) if graded else None
    after = [
        result(one.id, PASS if i == turned else one.status, rank=one.rank)
        for i, one in enumerate(before)
    ]
    weak, strong = (strengths(r, suite, level=level, declared=declared) for r in (before, after))
    assert [(one.dtype, one.rank, one.mutants) for one in weak] == [
        (one.dtype, one.rank, one.mutants) for one in strong
    ]
    assert all(a.killed <= b.killed for a, b in zip(weak, strong, strict=True))
    without = [one for one in before if one.status is not FAIL]
    assert set(strengths(without, suite, level=level, declared=declared)) <= set(weak)


@given(st.data(), suites, tables, declarations, levels, st.floats(0, 100))
def test_only_what_is_measured_is_too_weak(data, rows, parts, declared, level, bar):
    results = [result(f"v{i}", data.draw(statuses), rank=rank) for i, (*_, rank) in enumerate(rows)]
    found = strengths(results, drawn(rows, parts), level=level, declared=declared)
    evidence = RunStrength(found, bar)
    assert all(one.state is StrengthState.MEASURED for one in evidence.short)
    assert set(evidence.known) | set(evidence.unknown) == set(found)
    assert all(one.killed <= one.mutants for one in found)
    assert all(one.why for one in evidence.unknown)
    if parts is None:
        assert evidence.known == ()
    assert tuple(map(PartitionStrength.from_json, evidence.to_json()["parts"])) == evidence.parts


@given(st.integers(20, 5000), st.integers(0, 5000), st.floats(0, 100))
def test_no_share_is_rounded_up_to_a_bar_that_it_misses(mutants, killed, bar):
    one = PartitionStrength(OP, "f32", 4, min(killed, mutants), mutants, StrengthState.MEASURED)
    shown = float(one.share.removesuffix(" %"))
    assert shown <= 100 * one.killed / one.mutants + 1e-9
    assert one.below(bar) is not one.reaches(bar)


class TestSentences:
    def said(self, *parts, precision="standard", bar=95.0):
        evidence = RunStrength(parts, bar)
        told = [*sentences(evidence, {"f32": precision}), advice(evidence, "this command")]
        return " ".join(filter(None, told))

    WEAK = PartitionStrength(OP, "f32", 4, 184, 241, StrengthState.MEASURED)
    STRONG = PartitionStrength(OP, "f32", 3, 240, 241, StrengthState.MEASURED)
    UNKNOWN = PartitionStrength(OP, "f16", 3, why=UNTOLD)

    def test_of_what_is_enough(self):
        assert self.said(self.STRONG) == (
            "Weakest evidence: Pool-1 in f32 of rank 3, 240 of 241 mutants killed (99.5 %)."
        )

    def test_of_what_is_too_little(self):
        assert self.said(self.STRONG, self.WEAK) == (
            "Weakest evidence: Pool-1 in f32 of rank 4, 184 of 241 mutants killed (76.3 %); "
            "95 % are required. To add the missing vectors:\nthis command"
        )
        assert "2 of 2 parts have too few" in self.said(self.WEAK, self.WEAK)

    def test_of_what_is_unknown(self):
        assert self.said(PartitionStrength(OP, "f16", 3, why=f"{UNTOLD} within it")) == (
            f"Strength unknown: {UNTOLD} within it. To add the missing vectors:\nthis command"
        )
        assert "Strength unknown in 1 of 2 parts: " in self.said(self.STRONG, self.UNKNOWN)

    def test_of_another_precision(self):
        assert "(99.5 %, measured at standard)" in self.said(self.STRONG, precision="native")

    def test_a_bar_of_0_asks_for_nothing(self):
        assert "asked" not in self.said(self.WEAK, bar=0)

    def test_the_command_that_asks_what_is_missing(self):
        words = "--complete --out its-report"
        assert completing((), ()) == f"conformance check --backend BACKEND {words}"
        command = ("conformance", "check", "--backend", "my lib.py:run", "--level", "should")
        assert completing(command, ("AvgPool-1", "onnx.*")) == (
            "conformance check --backend 'my lib.py:run' --level should --op AvgPool-1 "
            f"--op 'onnx.*' {words}"
        )


@pytest.mark.parametrize(
    "said",
    [
        {"operators": "AvgPool-1", "dtypes": None, "ranks": None, "excluding": []},
        {"operators": [5], "dtypes": None, "ranks": None, "excluding": []},
        {"operators": None, "dtypes": [None], "ranks": None, "excluding": []},
        {"operators": None, "dtypes": None, "ranks": ["4"], "excluding": []},
        {"operators": None, "dtypes": None, "ranks": 4, "excluding": []},
    ],
)
def test_a_declaration_that_a_log_bends_is_refused(said):
    with pytest.raises(BackendError, match="capabilities that cannot be read"):
        Capabilities.from_json(said)
