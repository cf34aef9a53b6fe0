"""The matrix of several backends, in Markdown, in a terminal and on the page."""

from __future__ import annotations

import diagnosed
import pytest
import sample_runs
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from pages import Page, check_safe, check_structure
from runs import FEW, hostile_runs, run

from conformance.log.reader import read
from conformance.model import Status
from conformance.report import comparison_page, scoreboard
from conformance.report.matrix import Column, grade_column, matrix_markdown, matrix_text

ABSENT = Column(None, "absent", "in venvs/a|b: no *numpy*")


@pytest.fixture(scope="module")
def columns():
    names = ("openvino", "torch")
    return [*(Column(read(diagnosed.SAMPLES / n / "run.jsonl.gz"), n) for n in names), ABSENT]


def cells(markdown):
    """The rows of the one table as GitHub would show it, each a list of texts."""
    rows = []
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(markdown)
    for i, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append([])
        if token.type in ("th_open", "td_open"):
            inline = tokens[i + 1]
            assert {c.type for c in inline.children or ()} <= {
                *("text", "text_special", "strong_open", "strong_close", "html_inline"),
            }
            rows[-1].append(
                "".join("; " if c.type == "html_inline" else c.content for c in inline.children)
            )
    assert sum(token.type == "table_open" for token in tokens) == 1
    return rows


class TestMarkdown:
    def test_a_row_an_operator_and_a_column_a_backend(self, columns):
        rows = cells(matrix_markdown(columns))
        assert rows[0] == ["operator", "openvino 2026.4.1", "torch 2.13.0+cpu", "absent"]
        assert rows[4] == [
            "AdaptiveAvgPool-8",
            "❌ 539/608; f64 is computed in f32; "
            "Borders of adaptive windows are quotients in float32",
            "❌ 593/606; f16 and bf16 are added in f16 and bf16, so large windows stall, overflow "
            "or lose digits; unsupported: 2",
            "not run",
        ]
        assert rows[5][2] == "✅ 670/670; unsupported: 4"
        said = "Accepts invalid input: kernel above padded input, strides short"
        assert said in rows[1][2]
        assert rows[2][2] == "not tested"
        assert rows[-1] == ["verdict", "❌ Not conformant", "❌ Not conformant", "❌ Not run"]

    def test_says_what_was_asked_and_why_one_is_absent(self, columns):
        shown = MarkdownIt().render(matrix_markdown(columns))
        assert "level must, precision standard" in shown
        assert "<strong>absent was not run:</strong> in venvs/a|b: no *numpy*" in shown

    def test_none_that_ran(self):
        assert cells(matrix_markdown([ABSENT])) == [
            ["operator", "absent"],
            ["verdict", "❌ Not run"],
        ]

    @FEW
    @given(hostile_runs(), st.text(max_size=40), st.text())
    def test_hostile_text_stays_in_its_cell(self, one, label, why):
        rows = cells(matrix_markdown([Column(one, label), Column(None, label, why)]))
        assert {len(row) for row in rows} == {3}
        assert len(rows) == 2 + len(grade_column(Column(one)).cells)


class TestCells:
    def cell(self, log, op="AvgPool-1"):
        return grade_column(Column(log)).cells[op]

    def test_all_passed(self):
        shown = self.cell(run(sample_runs.passing()))
        assert (shown.tone, shown.notes) == ("good", ("unsupported: 7",))

    def test_a_log_that_is_cut_short_is_never_good(self):
        column = grade_column(Column(run(sample_runs.passing()[:-3])))
        assert column.verdict == "Cut short"
        assert column.tone == "bad"
        assert "bad" in {one.tone for one in column.cells.values()}
        assert any(
            note.startswith("without a result: ") for c in column.cells.values() for note in c.notes
        )

    def test_a_log_that_contradicts_itself_has_no_good_cell(self):
        log = run(sample_runs.passing())
        log.footer["counts"]["AvgPool-1"]["passed"] += 1
        log = run([log.header, *log.results, log.footer])
        column = grade_column(Column(log))
        assert column.verdict == "Inconsistent log"
        assert {one.tone for one in column.cells.values()} == {"bad"}

    def test_known_failures_are_not_good(self):
        tones = {c.tone for c in grade_column(Column(run(sample_runs.gated()))).cells.values()}
        assert "known" in tones or "bad" in tones

    @FEW
    @given(hostile_runs())
    def test_only_what_passed_is_good(self, log):
        shown = grade_column(Column(log))
        for op, cell in shown.cells.items():
            tally = log.tallies[op]
            if cell.tone == "good":
                assert tally.graded
                assert tally.clean
                assert tally.total == log.selected(op) or tally.total > log.selected(op)
                assert log.verdict != "inconsistent"


class TestScoreboard:
    def test_a_row_an_operator_and_a_cell_a_backend(self, columns):
        page = Page(scoreboard.render(columns))
        cells = page.all("td")
        operators = len(page.all("tr")) - 1
        assert len(cells) == 3 * operators
        assert {cell["data-backend"] for cell in cells} == {
            *("openvino 2026.4.1", "torch 2.13.0+cpu", "absent"),
        }
        assert sum(cell.get("class") == "good" for cell in cells) == 2
        assert "AdaptiveAvgPool-8 wrong 539/608 2 notes f64 is computed in f32" in page.text
        assert "right 670/670 1 note unsupported: 4" in page.text
        assert "torch 2.13.0+cpu Not conformant 2 of 6 operators are right" in page.text
        assert "absent Not run in venvs/a|b: no *numpy*" in page.text
        links = [link["href"] for link in page.all("a") if "index.html" in link["href"]]
        assert links == ["./openvino/index.html", "./torch/index.html"]

    def test_is_safe_and_of_sound_structure(self, columns):
        text = scoreboard.render(columns)
        check_safe(text)
        check_structure(text)

    @FEW
    @given(hostile_runs(), st.text(max_size=40), st.text())
    def test_hostile_text_stays_in_its_cell(self, one, label, why):
        text = scoreboard.render([Column(one, label), Column(None, label, why)])
        check_safe(text)
        assert len(Page(text).all("td")) == 2 * len(grade_column(Column(one)).cells)


class TestTerminal:
    def test_what_has_no_notes_is_shown(self):
        results = [r for r in sample_runs.passes(30) if r.status is Status.PASS]
        head = sample_runs.header(sample_runs.by_op(results))
        log = run([head, *results, sample_runs.footer(results, head)])
        lines = matrix_text([Column(log)]).splitlines()
        assert lines[0] == "example 2.4.1: CONFORMANT, STRENGTH 99.5 %"
        assert [line.split()[0] for line in lines[1:]] == list(log.tallies)

    def test_a_block_a_backend(self, columns):
        blocks = matrix_text(columns).split("\n\n")
        assert blocks[0].startswith(
            "openvino 2026.4.1: NOT CONFORMANT\n  AvgPool-1          899/972  "
        )
        assert blocks[2] == "absent: NOT RUN\n  in venvs/a|b: no *numpy*"

    @pytest.mark.parametrize("width", [60, 80, 120])
    def test_no_line_is_wider(self, columns, width):
        assert max(map(len, matrix_text(columns, width=width).splitlines())) <= width

    @FEW
    @given(hostile_runs(), st.text())
    def test_hostile_text_reaches_no_terminal(self, one, text):
        shown = matrix_text([Column(one, text), Column(None, text, text)], width=60)
        assert all(line.isprintable() and len(line) <= 60 for line in shown.split("\n"))


@pytest.fixture(scope="module")
def page(columns):
    two = [Column(columns[0].run, "new"), Column(columns[0].run, "old"), ABSENT]
    text = comparison_page.render(two)
    check_safe(text)
    return check_structure(text)


class TestPage:
    @pytest.mark.parametrize(
        "part",
        [
            "2 runs compared",
            "1 backend was not run, see the verdicts.",
            "1. new: openvino 2026.4.1 2. old: openvino 2026.4.1 3. absent",
            "absent Not run in venvs/a|b: no *numpy*",
            "quotients in float32 not run",
        ],
    )
    def test_says(self, page, part):
        assert part in page.text

    def test_each_run_leads_to_its_own_page(self, page):
        links = [a["href"] for a in page.all("a") if a["href"].startswith("./")]
        assert links == ["./new/index.html", "./old/index.html"]

    def test_one_run_alone(self, columns):
        text = comparison_page.render([columns[0], ABSENT])
        assert "1 run compared" in check_structure(text).text

    @FEW
    @given(hostile_runs(), st.text(), st.text())
    def test_hostile_text_stays_text(self, one, label, why):
        check_safe(comparison_page.render([Column(one), Column(None, label, why)]))
