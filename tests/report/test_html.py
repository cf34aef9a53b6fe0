"""The page: whole, safe, reachable, the same every time, and never green without reason."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest
import sample_runs
from pages import Page, check_safe, check_structure, vectors

from conformance.log.reader import read
from conformance.model import Result
from conformance.report.charts import BAR_WIDTH, stacked_bar
from conformance.report.page import flat_facts, render
from conformance.report.view import OperatorRow
from conformance.verdict import Tally

KINDS = ("passing", "failing", "interrupted", "nothing_graded", "gated", "hostile")


def run_of(tmp_path, events):
    return read(sample_runs.write(tmp_path / "run.jsonl", events))


@pytest.fixture(params=KINDS)
def page(request, tmp_path):
    return render(run_of(tmp_path, getattr(sample_runs, request.param)()))


class TestEveryPage:
    def test_makes_no_request(self, page):
        check_safe(page)

    def test_structure(self, page):
        names = [a["aria-label"] for a in check_structure(page).all("nav")]
        assert names[:1] == ["Contents"]
        assert set(names[1:]) <= {"Pages of vectors"}

    def test_contents_name_the_sections(self, page):
        short = {"details": "Details", "strength": "Strength"}
        nav = page.partition('<nav aria-label="Contents">')[2].partition("</nav>")[0]
        links = re.findall(r'<a href="#(\w+)">([^<]*?) *(?:<span[^>]*>[^<]*</span>)?</a>', nav)
        sections = dict(re.findall(r'<h2 id="(\w+)">([^<]*)</h2>', page))
        assert len(links) >= 7
        assert links == list((sections | {id: short[id] for id in short if id in sections}).items())


class TestVerdict:
    @pytest.mark.parametrize(
        ("kind", "headline", "tone"),
        [
            ("passing", "Conformant", "good"),
            ("failing", "Not conformant", "bad"),
            ("interrupted", "Interrupted", "bad"),
            ("nothing_graded", "No values graded", "bad"),
        ],
    )
    def test_headline_and_tone(self, tmp_path, kind, headline, tone):
        page = render(run_of(tmp_path, getattr(sample_runs, kind)()))
        assert f'<section class="verdict {tone}"' in page
        assert f">{headline}</h1>" in page

    @pytest.mark.parametrize("kind", ["passing", "failing"])
    def test_cut_short_is_as_loud_as_a_failure(self, tmp_path, kind):
        path = sample_runs.write(tmp_path / "run.jsonl", getattr(sample_runs, kind)(400))
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 3])
        page = render(read(path))
        assert '<section class="verdict bad"' in page
        assert ">Cut short</h1>" in page
        assert "No claim can be made from this run." in page
        assert re.search(r"The log ends after \d+ of 400 vectors", page)
        assert 'class="missing"' in page

    @pytest.mark.parametrize("events", [sample_runs.nothing_graded(), sample_runs.passing()[:1]])
    def test_no_failure_is_no_comfort_where_nothing_was_judged(self, tmp_path, events):
        page = render(run_of(tmp_path, events))
        assert '<p class="loud">No vector failed, but no vector with values was graded' in page
        assert "No vector failed.<" not in page

    def test_contradictions_are_listed(self, tmp_path):
        events = sample_runs.passing()
        del events[7]
        page = Page(render(run_of(tmp_path, events)))
        assert "Inconsistent log" in page.text
        assert "the footer counts" in page.text


class TestContent:
    @pytest.fixture
    def failing(self, tmp_path):
        events = sample_runs.failing()
        return events, Page(render(run_of(tmp_path, events)))

    def test_what_was_run_on_what(self, failing):
        events, page = failing
        for part in (
            "example 2.4.1",
            "core-1, 400 vectors",
            events[0]["suite"]["digest"],
            "2026-03-01 12:00:05 UTC",
            "3 min 12 s",
            "CPython 3.11.2",
            "Example CPU @ 2.0 GHz",
            "INFERENCE_PRECISION_HINT f32",
            "118 MiB",
            events[-1]["claim"],
        ):
            assert part in page.text, part

    def test_a_finding_in_full(self, failing):
        events, page = failing
        finding = next(e for e in events if getattr(e, "reproduce", None))
        for part in (
            finding.title,
            finding.smallest,
            "Exact 12.666666666666666",
            "Rounded 12.666667 0x414aaaab",
            "Accepted [12.666666, 12.666668]",
            "Got 8.444445 0x41071c72",
            "4,427,423 ULP, 0.33 relative",
            "data (1×2×4×5): 2 elements read, 7 positions outside.",  # noqa: RUF001
            finding.reproduce,
            finding.detail["show"],
            *finding.ids,
        ):
            assert " ".join(part.split()) in page.text, part

    def test_what_nothing_explains_is_counted_apart(self, failing):
        assert 'Causes <span class="tag">2, 1 unexplained</span>' in failing[1].whole

    def test_every_vector_has_its_row(self, failing):
        events, page = failing
        told = {row["v"] for row in vectors(page.whole)["rows"]}
        for result in events:
            if isinstance(result, Result):
                assert result.id in told

    def test_reasons_for_unsupported(self, failing):
        _, page = failing
        assert "padding must be symmetric" in page.text
        assert "bf16 is not built" in page.text

    def test_readings(self, failing):
        _, page = failing
        start = page.text.index("AvgPool-1: questions that")
        shown = page.text[start : page.text.index("Unsupported Vectors", start)]
        for part in (
            "divisor of a window that overruns counted padding (mixed) the whole kernel 93 all "
            "f16-1x2x3x2-normal-00000000",
            "taps within the padded input not the expected answer 10 all f64-1x2x3x4-ramp-0000001b",
            "ceil with auto_pad valid not observed",
        ):
            assert part in shown

    def test_a_log_cut_short_has_no_readings(self, tmp_path):
        page = Page(render(run_of(tmp_path, sample_runs.passing()[:-1])))
        assert "what the backend does. The log has no data on this." in page.text

    def test_bar_has_words(self, failing):
        _, page = failing
        labels = [a["aria-label"] for a in page.all("svg") if a.get("class") == "bar"]
        assert len(labels) == 4
        assert labels[-1] == (
            "311 passed as specified, 28 passed by an allowed interpretation, 18 failed, "
            "5 ended in an error or a wrong shape or type, 38 unsupported"
        )

    def test_markup_stays_text(self, tmp_path):
        page = render(run_of(tmp_path, sample_runs.hostile()))
        assert page.count("<script") == 2
        assert "<img" not in page
        assert "{{ 7 * 7 }}" in page
        assert "49" not in Page(page).text
        assert r"\x1b[31mred\x1b]0;title\x07 \u202eevil\u2066 \x00 \ud800 \u200b" in page

    def test_a_megabyte_of_message_is_cut(self, tmp_path):
        page = render(run_of(tmp_path, sample_runs.hostile("<" * 1_000_000)))
        assert len(page) < 2_000_000
        assert "1,000,000 characters in all" in page


class TestBar:
    def test_one_failure_among_many_shows(self):
        parts = stacked_bar(
            OperatorRow("op", 100_000, Tally(graded=99_999, passed=99_999, failed=1))
        )
        assert [part.kind for part in parts] == ["pass", "fail"]
        assert parts[-1].width > 5
        assert parts[-1].x + parts[-1].width == pytest.approx(BAR_WIDTH, abs=0.1)

    def test_nothing_selected(self):
        assert stacked_bar(OperatorRow("op", 0, Tally())) == ()


def test_facts():
    data = {"a": {"b": ["x", "y"], "c": {}}, "d": None, "e": [1, 2], "f": True, "g_h": []}
    assert list(flat_facts(data)) == [
        ("a, b", "x, y"),
        ("a, c", "none"),
        ("d", "not known"),
        ("e", "[1, 2]"),
        ("f", "true"),
        ("g_h", "none"),
    ]


def luminance(colour):
    def linear(channel):
        value = channel / 255
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(int(colour[i : i + 2], 16)) for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("ink", "ground"),
    [
        *((ink, "paper") for ink in ("ink", "soft", "link", "loud")),
        *((ink, "raised") for ink in ("ink", "soft")),
        *(("ink", f"heat-{shade}") for shade in range(1, 6)),
        *(("#ffffff", ground) for ground in ("good", "known", "bad")),
        ("picture-ink", "picture-tap"),
        ("picture-soft", "picture-ground"),
        ("picture-soft", "paper"),
    ],
)
def test_contrast(theme, ink, ground):
    """WCAG 2.2, 1.4.3 (AA): at least 4.5 to 1 for text."""
    templates = files("conformance.report").joinpath("templates")
    css = "".join(
        templates.joinpath(name).read_text("utf-8") for name in ("picture.css", "page.css")
    )
    colours = {
        name: (light, dark)[theme]
        for name, light, dark in re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", css)
    }
    a, b = sorted(luminance(colours.get(name, name)) for name in (ink, ground))
    assert (b + 0.05) / (a + 0.05) >= 4.5
