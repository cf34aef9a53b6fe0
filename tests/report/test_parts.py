"""What the page shows of a diagnosis, of elements, of edges and of how far off answers are."""

# ruff: noqa: RUF001 - mathematical signs are meant

from __future__ import annotations

import re
from dataclasses import replace

import diagnosed
import pytest
import sample_runs
from hypothesis import given
from hypothesis import strategies as st
from pages import Page, check_safe, check_structure
from runs import run

from conformance.errors import LogError
from conformance.log.causes import causes
from conformance.log.diagnosis import is_linkable, parse_diagnosis
from conformance.log.events import MAX_ELEMENTS
from conformance.log.reader import read
from conformance.model import Finding, Result, Status
from conformance.report.cause_view import CauseView, FindingView
from conformance.report.charts import (
    HEIGHT,
    MAX_HOT,
    MAX_TARGETS,
    SHADES,
    HeatCell,
    heat_maps,
    spreads,
)
from conformance.report.elements import MAX_SIDE, MAX_SLICES, output_planes, wrong_elements
from conformance.report.page import render
from conformance.report.view import run_view
from conformance.report.wording import short_count


@pytest.fixture(scope="module")
def page():
    text = render(diagnosed.sample())
    check_safe(text)
    return check_structure(text)


class TestDiagnosisOnThePage:
    @pytest.mark.parametrize(
        "part",
        [
            diagnosed.MATCHED["sentence"],
            diagnosed.FAULT["says"].rstrip("."),
            f"Where to look: {diagnosed.FAULT['look']}",
            "Equal on 41 of 41 failing vectors (38 bit for bit), consistent with 312 of 312",
            "It occurs only with dtype f16, bf16; rank 5.",
            "2 other explanations that these vectors do not rule out",
            "a with b : One thing. Another.",
            "ceil-overrun holds: the last window overruns the input",
            "batch does not hold",
            "True of 20 of 20 failing vectors, and of 3 of 312 passing.",
            "X (1×2×2×5): 6 elements read, 3 positions outside.",
            "B (7): 1 element read; 1 of 9 slices are shown.",
            "Y[0, 1, 0, 2] is made of X[0, 1, 0, 1] × W[1, 0, 1, 0] + "
            "X[0, 1, 0, 2] × W[1, 0, 1, 1] + 4 further terms.",
            "Got (2 wrong)",
            "17 wrong 8 0 wrong",
            "7.5555553 0x40f1c71c [7.555555, 7.555556] 17.0 0x41880000 9,876,543 ULP",
            "infinitely far",
        ],
    )
    def test_says(self, page, part):
        assert part in page.text

    def test_what_the_sentence_says_is_not_said_again(self):
        told = {**diagnosed.MATCHED, "sentence": diagnosed.FAULT["says"]}
        log = diagnosed.sample()
        once = replace(log, findings=(replace(log.findings[0], diagnosis=told),))
        article = render(once).partition('<details class="finding"')[2].partition("</section>")[0]
        assert article.count(diagnosed.FAULT["says"].rstrip(".")) == 1

    def test_only_addresses_of_the_web_are_links(self, page):
        links = [a for a in page.all("a") if a["href"].startswith("http")]
        assert {a["href"] for a in links} == set(diagnosed.FAULT["threads"][:2])
        assert "javascript:alert(1)" in page.text

    def test_the_first_cause_is_unfolded(self, page):
        found = [a for a in page.all("details") if a.get("class") == "finding"]
        assert len(found) >= 3
        assert ["open" in a for a in found] == [place < 1 for place in range(len(found))]

    def test_commands_can_be_copied(self, page):
        vector = "f32-1x1x1x1x1-impulse-ba59cc37"
        for verb in (f"show {vector}", f"repro {vector} --backend openvino"):
            assert f"conformance {verb}" in page.text
        assert f"--only {vector}" in page.text


class TestDiagnosis:
    @pytest.mark.parametrize(
        "address",
        [
            "javascript:alert(1)",
            "data:text/html,x",
            "//example.org",
            "https://",
            "https://u:p@example.org",
            "https://example.org/ x",
            "https://example.org/\u202e",
            "https://example.org/<b>",
            "http://[",
            "ftp://example.org",
            "",
        ],
    )
    def test_not_followed(self, address):
        assert not is_linkable(address)

    def test_followed(self):
        assert is_linkable("https://example.org/issues/1?a=b#c")

    @pytest.mark.parametrize("data", [None, {}, {"advice": "x", "scope": {"rank": [5]}, "new": 1}])
    def test_nothing_is_said(self, data):
        assert parse_diagnosis(data) is None

    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            ({"sentence": 3}, "sentence: Expected `str`, got `int`: 3"),
            ({"faults": [1]}, "faults[0]: Expected `object`, got `int`: 1"),
            ({"faults": [{"threads": [3]}]}, "faults[0].threads[0]: Expected `str`"),
            ({"agree": {"equal": -1}}, "agree.equal: Expected `int` >= 0: -1"),
            ({"agree": {"equal": 1}}, "agree: Object missing required field `failing`"),
            ({"conditions": [{"name": "a", "holds": 1}]}, "conditions[0].holds: Expected `bool`"),
            ({"scope": {"rank": [5], "dtype": "f16"}}, "scope.dtype: Expected `array`"),
            ({"place": {"where": "there"}}, "place: Object missing required field"),
        ],
    )
    def test_what_is_malformed_is_refused(self, tmp_path, change, problem):
        log = diagnosed.sample()
        finding = replace(log.findings[0], diagnosis=change)
        path = sample_runs.write(tmp_path / "run.jsonl", [log.header, finding])
        with pytest.raises(LogError, match=re.escape(f"run.jsonl:2: finding diagnosis.{problem}")):
            read(path)


def test_a_malformed_detail_is_refused(tmp_path):
    head, *_, finding, _ = sample_runs.failing()
    changed = replace(finding, detail={"after": ["a", 1]})
    path = sample_runs.write(tmp_path / "run.jsonl", [head, changed])
    with pytest.raises(LogError, match=re.escape("finding detail.after[1]: Expected `str`")):
        read(path)


class TestElements:
    def test_planes_of_each_number_of_axes(self):
        def plane(nested, wrong):
            return {"expected": nested, "got": nested, "wrong": wrong}

        (row,) = output_planes(plane(["1", "2"], [False, True]))
        assert [[place.got for place in line] for line in row.rows] == [["1", "2"]]
        assert row.wrong == 1
        volume = output_planes(plane([[["1"]], [["2"]]], [[[True]], [[False]]]))
        assert [one.caption for one in volume] == ["Slice 0", "Slice 1"]

    def test_large_planes_are_cut(self):
        nested = [["0"] * 40] * 50
        (found,) = output_planes({"expected": nested, "got": nested, "wrong": [[True] * 40] * 50})
        assert found.is_cut
        assert found.wrong == 2000
        assert len(found.rows) == len(found.rows[0]) == MAX_SIDE

    def test_slices_that_are_left_out_are_told(self):
        nested, wrong = [[["0"]]] * (MAX_SLICES + 1), [[[True]]] * (MAX_SLICES + 1)
        found = output_planes({"expected": nested, "got": nested, "wrong": wrong})
        assert [one.caption for one in found] == [f"Slice {n} of 5" for n in range(MAX_SLICES)]
        assert all(one.is_cut for one in found)

    @pytest.mark.parametrize(
        "data",
        [
            None,
            {},
            {"expected": ["1"], "got": ["1"], "wrong": []},
            {"expected": ["1"], "got": [["1"]], "wrong": [True]},
            {
                "expected": [["1"], ["1", "2"]],
                "got": [["1"], ["1", "2"]],
                "wrong": [[True], [1, 2]],
            },
            {"expected": [[[["1"]]]], "got": [[[["1"]]]], "wrong": [[[[True]]]]},
            {"expected": [{}], "got": [{}], "wrong": [{}]},
        ],
    )
    def test_other_planes_are_left_out(self, data):
        assert output_planes(data) == ()

    def test_numbers_are_in_the_fewest_digits_of_their_type(self):
        row = ["0.10000000149011612", "nan", "7"]
        (found,) = output_planes(
            {"expected": row, "got": row, "wrong": [True, False, False]}, "f32"
        )
        assert [place.got for place in found.rows[0]] == ["0.1", "nan", "7"]
        item = {"rounded": "0.100098", "lo": "0.0996094", "hi": "0.100586", "got": "-inf"}
        (one,) = wrong_elements([item], "bf16")
        assert (one.rounded, one.accepted, one.got) == ("0.1", "[0.0996, 0.1006]", "-inf")
        (one,) = wrong_elements([{"got": "2147483647", "lo": "16777217 or 3"}], "f32")  # places
        assert (one.got, one.accepted) == ("2147483647", "16777217 or 3")

    @pytest.mark.parametrize(
        ("exact", "got", "dtype", "said"),
        [
            # The number of f32 above 0.1 is 0.10000000894, of which 0.10000001 are the digits.
            ("0.1", "0.10000001", "f32", "3 ULP, 8.9e-08 relative"),
            ("-4.0", "4.0", "f16", "3 ULP, 2 relative"),
            ("0.0", "1.0", "f32", "3 ULP"),
            ("1e-60", "1.0", "f32", "3 ULP"),  # expected is 0 in f32
            ("1e40", "3e38", "f32", "3 ULP"),
            ("nan", "1.0", "f32", "3 ULP"),
            ("1.0", "inf", "f32", "3 ULP"),
            ("1e-320", "1e300", "f64", "3 ULP"),
            ("", "<b>", "f9", "3 ULP"),
        ],
    )
    def test_beside_the_distance_stands_the_relative_error(self, exact, got, dtype, said):
        (one,) = wrong_elements([{"exact": exact, "got": got, "ulp": 3}], dtype)
        assert one.error == said

    def test_elements_that_say_little(self):
        (found,) = wrong_elements(["x", {"index": [1, "2"], "ulp": -1, "got": 5}])
        assert (found.name, found.got, found.error, found.accepted) == ("[]", "", "", "")
        assert len(wrong_elements([{}] * 100)) == MAX_ELEMENTS

    @pytest.mark.parametrize("far", [float("inf"), "inf"], ids=["of a run", "of a log"])
    def test_a_run_and_its_log_say_the_same_of_what_is_infinitely_far(self, far):
        assert wrong_elements([{"ulp": far}])[0].error == "infinitely far"


def finding(show, spec="my.py:B", reproduce="conformance check"):
    plain = Finding("op", "value", "t", ("v",), (), "v", "", None, reproduce, {"show": show})
    return FindingView(plain, "f32", spec)


@pytest.mark.parametrize(
    ("kind", "tag"),
    [
        ("crashed", "crash"),
        ("hung", "hang"),
        ("abandoned", "not tested"),
        ("shape", "wrong shape"),
        ("dtype", "wrong type"),
        ("outputs", "no usable outputs"),
        ("value", "wrong values"),
        ("input-changed", "input written"),
        ("adapter", "exception"),
        ("raised", "exception"),
    ],
)
def test_a_tag_is_of_the_kind_of_failure(kind, tag):
    one = Finding("op", kind, "t", ("v",), (), "v", "", None, "", {})
    (cause,) = causes([one], [result((), kind=kind)])
    assert CauseView(cause, ()).tag == tag
    mild = replace(result((), kind=kind), level="should")
    (cause,) = causes([one], [mild])
    assert CauseView(cause, ()).tag == "should"


def test_what_was_not_asked_did_not_crash():
    kinds = ("crashed", "hung", "memory", "aborted", "abandoned", "abandoned")
    lost = [replace(result((), kind=kind), id=f"v{n}") for n, kind in enumerate(kinds)]
    view = run_view(replace(run(sample_runs.failing()), results=tuple(lost)))
    assert view.key_figures[2][:2] == ("3", "crashed or hung")


class TestRepro:
    def test_has_the_options_of_show(self):
        more = "v --backend 'a b.py:B' --env 'an env' --suite s --level should --precision exact"
        assert finding(f"conformance show {more}").repro_command == f"conformance repro {more}"

    @pytest.mark.parametrize(
        "found",
        [
            finding("conformance show v --backend my.py:B", spec=""),
            finding("conformance show v --backend my.py:B", reproduce=""),
            finding("conformance show v"),
            finding("conformance show other --backend my.py:B"),
            finding("rm -rf v --backend my.py:B"),
            finding("conformance show 'v --backend my.py:B"),
        ],
    )
    def test_none_where_nothing_names_it(self, found):
        assert found.repro_command == ""


def result(edges, dtype="f32", status=Status.FAIL, op="op", **more):
    return Result(id="v", op=op, status=status, edges=edges, dtype=dtype, **more)


class TestHeat:
    def heat(self, results):
        log = run(sample_runs.passing())
        return heat_maps(replace(log, results=tuple(results)))

    def test_counts_what_was_judged(self):
        (found,) = self.heat(
            [
                result(("a", "b")),
                result(("a",), "f16", Status.ERROR),
                result(("a",), "f16", Status.PASS),
                result(("c",), "f16", Status.PASS),
                result(("c", "d"), status=Status.UNSUPPORTED),
            ]
        )
        assert found.dtypes == ("f16", "f32")
        assert [
            (c.failed, c.graded) for c in (*found.all_vectors.cells, found.all_vectors.total)
        ] == [
            (1, 3),
            (1, 1),
            (2, 4),
        ]
        assert [row.target for row in found.hot] == ["a", "b"]
        assert [row.target for row in found.cold] == ["c"]
        assert found.hot[0].cells[0].link == "#op=op&edge=a&dtype=f16"

    @given(st.lists(st.tuples(st.sets(st.sampled_from("abcd")), st.sampled_from(list(Status)))))
    def test_every_edge_has_its_counts(self, drawn):
        results = [result(tuple(edges), status=status) for edges, status in drawn]
        judged = {Status.PASS, Status.FAIL, Status.ERROR}
        for found in self.heat(results):
            for row in (*found.hot, *found.warm, *found.cold):
                mine = [r for r in results if row.target in r.edges and r.status in judged]
                assert row.total.graded == len(mine)
                assert row.total.failed == sum(r.status is not Status.PASS for r in mine)
                assert (row.total.failed > 0) == (row not in found.cold)

    def test_many_edges_are_folded_and_cut(self):
        (found,) = self.heat([result(tuple(map(str, range(500))))])
        assert (len(found.hot), len(found.warm)) == (MAX_HOT, MAX_TARGETS - MAX_HOT)
        assert found.left_out == 500 - MAX_TARGETS

    @given(st.integers(0, 50), st.integers(1, 50))
    def test_shades(self, failed, more):
        shade = HeatCell(failed, failed + more, "").shade
        assert (shade == 0) == (failed == 0)
        assert shade < SHADES
        assert HeatCell(more, more, "").shade == SHADES


class TestSpread:
    def spread(self, *rows):
        log = run(sample_runs.passing())
        results = [diagnosed.measured(result((), dtype), within) for dtype, within in rows]
        return spreads(replace(log, results=tuple(results)))

    def test_sums_by_type(self):
        found = self.spread(
            ("f32", [5, 1, 0, 0, 0, 2]), ("f16", [1, 0, 0, 0, 0, 0]), ("f32", [5, 0, 0, 0, 0, 0])
        )
        assert [one.dtype for one in found] == ["f16", "f32"]
        assert [bar.count for bar in found[1].bars] == [10, 1, 0, 0, 0, 2]
        assert found[1].bars[0].height == HEIGHT
        assert found[1].sentence == (
            "f32: of 13 elements 10 exactly rounded, 1 up to 1/4, 2 beyond."
        )

    def test_results_without_counts_have_none(self):
        assert self.spread(("f32", None)) == ()

    def test_a_log_that_does_not_tell_has_no_such_part(self):
        assert "Numerical error</h2>" not in render(run(sample_runs.failing()))

    def test_numbers_stand_in_a_table(self, page):
        assert "Elements by the share of the accepted interval that they use" in page.text

    @pytest.mark.parametrize("within", [[5, 1, 0, 0, 0, 2], [5, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 3]])
    def test_what_is_beyond_has_a_colour_of_its_own(self, within):
        log = run(sample_runs.passing())
        measured = diagnosed.measured(result(()), within)
        page = Page(render(replace(log, results=(measured,))))
        kinds = [a["class"] for a in page.all("rect") if a.get("class", "").startswith("bin")]
        assert kinds.count("bin-beyond") == bool(within[-1])
        assert len(kinds) == sum(map(bool, within))


@pytest.mark.parametrize(
    ("count", "text"),
    [(7, "7"), (999, "999"), (1200, "1.2k"), (34_567, "34k"), (5 * 10**6, "5.0M")],
)
def test_short(count, text):
    assert short_count(count) == text
