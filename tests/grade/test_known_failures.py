"""Known failures: what an entry names, what it never excuses, and when it is out of date."""

from __future__ import annotations

from dataclasses import replace

import pytest
from gate_files import TODAY, Watched, case, never, result, unasked, written

from conformance.errors import SpecError, UsageError
from conformance.failure_kind import FailureKind
from conformance.grade.findings import group_failures
from conformance.grade.gate import load_gate, load_known
from conformance.model import Status
from conformance.specification import shipped_specs

RESULTS = [
    result("a", "ceil", kind="value"),
    result("b", "ceil", "wide", kind="value", dtype="f16"),
    result("c", "wide", dtype="f16"),
    result("d", kind="raised"),
    result("e", dtype="f16"),
    result("r", kind="accepted", reject="zero-stride"),
    result("z", op="Other-1"),
    result("y", op="Other-1", dtype="f64"),
]


def watched(tmp_path, *entries, results=RESULTS, **more):
    text = "known:\n" + "".join(f"  - {{{entry}}}\n" for entry in entries)
    return Watched(results, known=written(tmp_path, text, "known.yaml"), **more)


def problems_of(tmp_path, text):
    with pytest.raises(SpecError) as caught:
        load_known(written(tmp_path, text), shipped_specs())
    return [(p.line, p.column, p.message, p.hint) for p in caught.value.problems]


class TestWhatAnEntryNames:
    @pytest.mark.parametrize(
        ("entry", "named"),
        [
            ("vectors: [a, d]", "ad"),
            ("vectors: [a, d], kind: raised", "d"),
            ("edges: [ceil]", "ab"),
            ("edges: [ceil], dtypes: [f32]", "a"),
            ("edges: [ceil, wide]", "b"),
            ("edges: [ceil], op: Other-1", ""),
            ("op: AvgPool-1, dtypes: [f16]", "b"),
            ("reject: zero-stride", "r"),
            ("op: AvgPool-1, finding: 'f32: vectors raised an exception'", "d"),
            ("op: AvgPool-1, finding: 'ceil: 2 of 2 vectors with wrong values in result'", "ab"),
            ("op: AvgPool-1, finding: 'zero-stride: 1 more of 1,000 negative tests "
             "accepted, though they must be rejected'", "r"),
        ],
    )  # fmt: skip
    def test_by_everything_it_gives(self, tmp_path, entry, named):
        marks = watched(tmp_path, f"{entry}, reason: why").marks
        assert marks == dict.fromkeys(named, "known.yaml:2")

    def test_a_known_failure_stays_a_failure(self, tmp_path):
        found = watched(tmp_path, "vectors: [a, d], reason: why").results
        for before, after in zip(RESULTS, found, strict=True):
            assert (before.status, before.kind) == (after.status, after.kind)

    def test_the_first_of_two_entries_counts_it(self, tmp_path):
        found = watched(tmp_path, "edges: [ceil], reason: x", "vectors: [b], reason: y")
        assert found.marks == {"a": "known.yaml:2", "b": "known.yaml:2"}
        assert [entry["failures"] for entry in found.known] == [2, 0]
        assert found.problems == []

    @pytest.mark.parametrize(
        "kind", [kind for kind in FailureKind if not kind.facts.excused_by_default]
    )
    def test_what_did_not_end_as_calls_do_is_named_by_its_kind_alone(self, tmp_path, kind):
        results = [result("a", kind=kind, status=Status.ERROR), result("b")]
        assert watched(tmp_path, "vectors: [a], reason: x", results=results).marks == {}
        kinds = f"vectors: [a], kind: {kind}, reason: x"
        assert watched(tmp_path, kinds, results=results).marks == {"a": "known.yaml:2"}

    def test_ranks_and_predicates_ask_for_the_case(self, tmp_path):
        cases = {"a": case(3, kernel=[2]), "b": case(4, kernel=[2, 2])}
        cases |= dict.fromkeys("cde", case(5, kernel=[1, 1, 1]))
        ranks = watched(
            tmp_path, "ranks: [4, 6], reason: x", case_of=lambda i: cases.get(i, case(3))
        )
        assert ranks.marks == {"b": "known.yaml:2"}
        when = "op: AvgPool-1, when: all(kernel == 2) and rank_of(data) == 3, reason: x"
        found = watched(tmp_path, when, case_of=lambda i: cases.get(i, case(4, kernel=[9, 9])))
        assert found.marks == {"a": "known.yaml:2"}

    def test_an_earlier_mark_counts_for_nothing(self, tmp_path):
        once = watched(tmp_path, "vectors: [a], reason: x").results
        assert watched(tmp_path, "vectors: [d], reason: x", results=once).marks == {
            "d": "known.yaml:2"
        }

    def test_every_finding_of_a_run_can_be_named_by_its_title(self, tmp_path):
        for finding in group_failures(RESULTS, command=()):
            if ": " in finding.title:
                entry = f"op: {finding.op}, finding: '{finding.title}', reason: x"
                assert set(finding.ids) <= watched(tmp_path, entry).marks.keys()


class TestOutOfDate:
    def test_all_in_order(self, tmp_path):
        assert watched(tmp_path, "edges: [ceil], reason: x").problems == []

    def test_an_unexpected_pass(self, tmp_path):
        found = watched(tmp_path, "edges: [wide], reason: x")
        assert found.marks == {"b": "known.yaml:2"}
        assert found.known[0]["passes"] == ["c"]
        assert found.problems == ["1 vector passes unexpectedly: c"]

    def test_of_a_finding_passes_are_expected(self, tmp_path):
        entry = "op: AvgPool-1, finding: 'wide: vectors with wrong values in result', reason: x"
        assert watched(tmp_path, entry).problems == []

    def test_the_last_day_still_counts(self, tmp_path):
        entry = f"vectors: [a], reason: x, expires: {TODAY.isoformat()}"
        assert watched(tmp_path, entry).marks == {"a": "known.yaml:2"}

    def test_an_expired_entry_excuses_nothing(self, tmp_path):
        found = watched(tmp_path, "vectors: [a], reason: x, expires: 2026-06-14")
        assert found.marks == {}
        assert found.known[0]["expired"] is True
        assert found.problems == ["expired on 2026-06-14, so it excuses nothing"]

    @pytest.mark.parametrize(
        ("entry", "problem"),
        [
            ("edges: [cell]", "the suite has no edge cell (did you mean 'ceil'?)"),
            ("op: AvgPol-1, edges: [ceil]",
             "the suite has no operator AvgPol-1 (did you mean 'AvgPool-1'?)"),
            ("vectors: [a, gone]", "the suite has no vector gone"),
            ("dtypes: [bf16]", "the suite has no type bf16"),
            ("edges: [ceil], op: Other-1", "the suite has no such vector"),
            ("reject: zero-kernel", "the suite has no negative test for zero-kernel"),
            ("vectors: [d], kind: value", "no vector that it names failed in this way"),
            ("op: AvgPool-1, finding: 'ceil: vectors raised an exception'",
             "no vector that it names failed in this way"),
        ],
    )  # fmt: skip
    def test_an_entry_that_matches_nothing(self, tmp_path, entry, problem):
        found = watched(tmp_path, f"{entry}, reason: x")
        (said,) = found.problems
        assert said.startswith("matches nothing: ")
        assert problem in said

    def test_what_a_run_leaves_out_is_not_called_out_of_date(self, tmp_path):
        known = written(tmp_path, "known:\n  - {vectors: [a, d], reason: x}\n")
        found = Watched([RESULTS[4]], known=known, suite=RESULTS)
        assert found.problems == []

    def test_an_interrupted_run_cannot_tell(self, tmp_path):
        known = written(tmp_path, "known:\n  - {vectors: [c], kind: value, reason: x}\n")
        watch = load_gate(known, specs=shipped_specs(), today=TODAY).start_run(
            RESULTS, RESULTS, unasked, never
        )
        assert watch.summary(is_complete=False)["known_failures"][0]["problems"] == []
        assert watch.summary(is_complete=True)["known_failures"][0]["problems"] != []


class TestNeverAWholeOperator:
    @pytest.mark.parametrize(
        "entry", ["op: AvgPool-1", "kind: value", "op: AvgPool-1, kind: value"]
    )
    def test_without_narrowing(self, tmp_path, entry):
        text = f"known:\n  - {{{entry}, reason: x}}\n"
        ((line, column, message, _),) = problems_of(tmp_path, text)
        assert (line, column) == (2, 5)
        assert message.startswith("this excuses all of ")

    @pytest.mark.parametrize(
        "entry",
        [
            "op: AvgPool-1, dtypes: [f16, f32]",
            "dtypes: [f64, f32]",
            "op: Other-1, dtypes: [f64, f32]",
            "ranks: [3]",
            "op: AvgPool-1, when: rank_of(data) == 3",
        ],
    )
    def test_with_a_narrowing_that_leaves_nothing_out(self, tmp_path, entry):
        with pytest.raises(SpecError, match="would excuse every vector of ") as caught:
            watched(tmp_path, f"{entry}, reason: x", case_of=lambda _: case(3))
        assert "known.yaml:2:5" in str(caught.value)
        assert caught.value.problems[0].hint

    def test_a_must_reject_vector_left_out_is_no_excuse(self, tmp_path):
        with pytest.raises(SpecError, match="every vector of AvgPool-1"):
            watched(tmp_path, "op: AvgPool-1, dtypes: [f16, f32], reason: x", results=RESULTS[:6])

    def test_all_ids_one_by_one_are_no_silence(self, tmp_path):
        assert watched(tmp_path, "vectors: [z, y], reason: x").marks == {}

    @pytest.mark.parametrize("more", ["", ", kind: raised", ", dtypes: [f64, f32]"])
    def test_what_a_backend_says_is_no_whole_operator(self, tmp_path, more):
        results = [
            replace(result(name, kind="raised"), message=message)
            for name, message in (("a", "E: no kernel for 7 rows"), ("b", "E: out of luck"))
        ]
        entry = f"op: AvgPool-1, message: 'no kernel for # rows'{more}, reason: x"
        assert watched(tmp_path, entry, results=results).marks == {"a": "known.yaml:2"}

    def test_a_finding_that_only_its_kind_tells_apart(self, tmp_path):
        text = "known:\n  - {op: A, finding: 3 of 9 vectors raised an exception, reason: x}\n"
        ((*_, message, hint),) = problems_of(tmp_path, text)
        assert "could be the whole operator" in message
        assert "list its vectors" in hint


class TestTheFile:
    def test_nothing_known(self, tmp_path):
        assert load_known(written(tmp_path, "known: []"), shipped_specs()).entries == ()

    def test_every_problem_at_its_place(self, tmp_path):
        text = """\
known:
  - vectors: [a]
  - edge: [ceil]
    reason: no such key
  - {op: A-1, edges: [x], reason: " ", kind: valeu, expires: 2026-02-30}
  - {edges: [x], reason: r, when: rank == 3}
  - {op: AvgPool-1, reason: r, when: rnk == 3}
  - {dtypes: [f23], edges: [x, x], reason: r, finding: "x: y"}
"""
        found = problems_of(tmp_path, text)
        places = [(line, column) for line, column, *_ in found]
        assert places == sorted(places)
        said = {(line, message): hint for line, _, message, hint in found}
        assert (2, "'reason' is missing") in said
        assert said[3, "'edge' is not known here"] == "did you mean 'edges'?"
        assert (8, "an entry is given twice") in said

    def test_every_problem_beyond_the_schema_at_once(self, tmp_path):
        text = """\
known:
  - {op: A-1, edges: [x], reason: " ", kind: valeu, expires: 2026-02-30}
  - {edges: [x], reason: r, when: rank == 3}
  - {op: AvgPool-1, reason: r, when: rnk == 3}
  - {dtypes: [f23], reason: r, finding: "x: y"}
"""
        said = {(line, message): hint for line, _, message, hint in problems_of(tmp_path, text)}
        assert said[2, "there is no kind of failure 'valeu'"] == "did you mean 'value'?"
        assert (2, "there is no reason") in said
        assert (2, "'2026-02-30' is not a date") in said
        assert said[3, "'when' speaks of one operator"] == "say which with 'op'"
        assert any(line == 4 and "rnk" in message for line, message in said)
        assert (5, "there is no type 'f23'") in said
        assert (5, "a finding is one operator's") in said

    @pytest.mark.parametrize(
        "text",
        ["", "known:\n", "known: {a: 1}", "- a\n", "known: [a]", "known: &x []", "known: []\n--- a",
         "known: [{vectors: [], reason: x}]", "format: 2\nknown: []", "known: [{expires: 5}]", "[",
         "known: [" * 30, "known: []\nknwon: []"],
    )  # fmt: skip
    def test_no_such_file_is_a_position_and_no_traceback(self, tmp_path, text):
        assert problems_of(tmp_path, text)

    def test_what_cannot_be_read(self, tmp_path):
        for name, why in (("none.yaml", "no such file"), (".", "cannot be read: Is a directory")):
            file = tmp_path / name
            with pytest.raises(SpecError) as caught:
                load_known(file, shipped_specs())
            assert str(caught.value) == f"{file}: {why}"
        (tmp_path / "large").write_bytes(b" " * 2_000_000)
        with pytest.raises(SpecError, match="too large"):
            load_known(tmp_path / "large", shipped_specs())

    def test_strict_about_nothing_is_an_error(self):
        with pytest.raises(UsageError, match="strict"):
            load_gate(specs=shipped_specs(), strict=True)
