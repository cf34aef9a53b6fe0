"""The pages in a real browser: filters, links, copying, themes, widths and accessibility."""

from __future__ import annotations

import re
from dataclasses import replace

import diagnosed
import numpy as np
import pytest
import sample_runs
from chromium import (
    assert_accessible,
    assert_fits_every_width,
    wait_until,
)
from runs import run

from conformance.grade.returned import pack_outputs
from conformance.log.reader import read
from conformance.report import comparison_page, scoreboard
from conformance.report.matrix import Column
from conformance.report.page import render

pytestmark = pytest.mark.needs("dev", "chromium")

LONG = 4005
SAMPLES = sorted(path.parent.name for path in diagnosed.SAMPLES.glob("*/run.jsonl.gz"))
EVERY = (
    *("openvino", "diagnosed", "passing", "gated", "cut short", "hostile", "long"),
    *("comparison", "scoreboard"),
)


def with_arrays():
    """A run with a failure of which an element is wrong, and another one not as expected."""
    log = run(sample_runs.failing())
    place = next(i for i, one in enumerate(log.results) if one.witness)
    right, got = (np.array([[[0.0, 2.0, x]]], "f4") for x in (3, 9))
    got[0, 0, 0] = -0.0
    result = replace(
        log.results[place], expected=pack_outputs([right]), returned=pack_outputs([got])
    )
    return replace(log, results=(*log.results[:place], result, *log.results[place + 1 :]))


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    """Pages of every kind, as files."""
    folder = tmp_path_factory.mktemp("pages")
    shown = {
        **{name: read(diagnosed.SAMPLES / name / "run.jsonl.gz") for name in SAMPLES},
        "diagnosed": diagnosed.sample(),
        "passing": run(sample_runs.passing()),
        "gated": run(sample_runs.gated()),
        "cut short": run(sample_runs.failing()[:-4]),
        "hostile": run(sample_runs.hostile()),
        "long": run(sample_runs.failing(LONG)),
        "arrays": with_arrays(),
    }
    found = {}
    for name, one in shown.items():
        (folder / f"{name}.html").write_text(render(one), "utf-8")
        found[name] = (folder / f"{name}.html").as_uri()
    logs = [read(diagnosed.SAMPLES / name / "run.jsonl.gz") for name in ("openvino", "torch")]
    (folder / "comparison.html").write_text(
        comparison_page.render([Column(one) for one in logs]), "utf-8"
    )
    found["comparison"] = (folder / "comparison.html").as_uri()
    board = scoreboard.render([Column(one) for one in logs])
    (folder / "scoreboard.html").write_text(board, "utf-8")
    found["scoreboard"] = (folder / "scoreboard.html").as_uri()
    return found


@pytest.fixture
def opened(browser, addresses):
    """Opens a page; at the end it must have asked for no other and complained of nothing."""
    contexts, asked, said = [], [], []

    def open_page(name, fragment="", width=1024, height=800, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(addresses[name] + fragment)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []
    assert {url.partition("#")[0] for url in asked} <= set(addresses.values())


def shown(page):
    """The ids of the rows of all pages of the table."""
    found = []
    while True:
        found += page.eval_on_selector_all(
            "#vector-table tbody th", "cells => cells.map(cell => cell.textContent)"
        )
        if page.is_disabled("#page-after"):
            return found
        page.click("#page-after")


def in_sight(page, selector):
    """Wait until an element begins on the screen."""
    top = f"document.querySelector('{selector}').getBoundingClientRect().top"
    wait_until(page, f"{top} > -5 && {top} < 800")


def read_causes(name):
    return read(diagnosed.SAMPLES / name / "run.jsonl.gz").causes


def count(page):
    """How many vectors a filter leaves, as it says itself."""
    return int(page.text_content("#filter-count").partition(" of ")[0].replace(",", ""))


class TestFilters:
    def test_narrow_the_table_and_stand_in_the_address(self, opened):
        page = opened("openvino")
        assert len(shown(page)) == count(page) == 5513
        page.select_option("#filter-status", "error")
        assert len(shown(page)) == count(page) == 746
        page.select_option("#filter-dtype", "f32")
        page.fill("#filter-text", "RAMP")
        ids = shown(page)
        assert ids
        assert all(name.startswith("f32") and "ramp" in name for name in ids)
        assert page.url.endswith("#text=RAMP&status=error&dtype=f32")
        assert page.text_content("#filter-count") == f"{len(ids)} of 5,513 shown"

    def test_come_back_with_the_address(self, opened):
        page = opened("openvino", "#edge=index-i64&op=AdaptiveMaxPool-8&sort=-vector")
        assert page.input_value("#filter-edge") == "index-i64"
        ids = shown(page)
        assert len(ids) == 50
        assert ids[0] > ids[-1]
        assert page.is_visible("#vector-table")
        page.click("text=Show all")
        wait_until(page, "!location.hash.includes('edge')")
        assert count(page) == 5513

    def test_a_value_that_no_vector_has_shows_none(self, opened):
        assert shown(opened("openvino", "#dtype=f8")) == []

    def test_an_order(self, opened):
        page = opened("openvino", "#status=fail")
        before = shown(page)
        page.click("#vector-table th >> text=Vector")
        ascending = shown(page)
        assert set(ascending) == set(before)
        assert page.get_attribute("#vector-table th", "aria-sort") == "ascending"
        page.click("#vector-table th >> text=Vector")
        assert shown(page) == ascending[::-1]
        assert page.url.endswith("#status=fail&sort=-vector")

    def test_an_order_by_time_is_one_of_numbers(self, opened):
        page = opened("openvino", "#sort=-time")
        times = page.locator("#vector-table tbody td:nth-child(5)").all_inner_texts()
        numbers = [float(text.removesuffix(" ms").replace(",", "")) for text in times]
        assert len(numbers) == 100
        assert numbers == sorted(numbers, reverse=True)
        assert f"{numbers[0]:g} ms" in page.inner_text("section[aria-labelledby=vectors]")

    def test_a_cell_of_the_map_leads_to_its_vectors(self, opened):
        page = opened("openvino")
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
        page.locator(".heat td a", has_text="6 of 6").first.click()
        wait_until(page, "document.getElementById('filter-edge').value")
        assert count(page) == 6
        assert page.is_visible("#vector-table")

    def test_work_by_keyboard(self, opened):
        page = opened("openvino")
        page.focus("#filter-text")
        page.keyboard.type("cancel")
        assert 0 < count(page) < 5513
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "filter-op"
        page.focus("#vector-table tbody a")
        page.keyboard.press("Enter")
        page.locator("#vector-detail").wait_for(state="visible")


class TestPages:
    def test_turn(self, opened):
        page = opened("openvino")
        assert page.text_content("#page-place") == "Page 1 of 56"
        assert page.is_disabled("#page-before")
        first = page.text_content("#vector-table tbody th")
        page.click("#page-after")
        assert page.text_content("#page-place") == "Page 2 of 56"
        assert page.text_content("#vector-table tbody th") != first
        page.click("#page-before")
        assert page.text_content("#vector-table tbody th") == first


class TestLinks:
    CAUSE = "f64-is-computed-in-f32-792babc6"
    NAME = "f64-1x1x1-cancel-b8cdec9b"

    def test_to_a_vector_and_its_detail(self, opened):
        page = opened("openvino", f"#vector={self.NAME}")
        detail = page.locator("#vector-detail")
        detail.wait_for(state="visible")
        in_sight(page, "#vector-detail")
        text = detail.inner_text()
        result = next(one for one in diagnosed.sample().results if one.id == self.NAME)
        for part in (self.NAME, result.op, "fail", "f64", *result.edges, f"show {self.NAME}"):
            assert part in text

    def test_what_is_not_the_expected_value_is_not_called_wrong(self, opened):
        name = next(one.id for one in with_arrays().results if one.returned)
        page = opened("arrays", f"#vector={name}")
        got = page.locator("#vector-detail table.plane").last
        assert got.locator("td.differs").all_inner_texts() == ["-0.0", "9.0"]
        assert got.locator("td.wrong").count() == 0
        assert "some may be within tolerance" in got.locator("caption").inner_text()
        expected = page.locator("#vector-detail table.plane").first
        assert expected.locator("caption").inner_text() == "Expected"

    def test_from_a_vector_to_its_cause(self, opened):
        page = opened("openvino", f"#vector={self.NAME}")
        page.locator("#vector-detail dd a").first.click()
        wait_until(page, "location.hash.startsWith('#cause=')")
        cause = page.url.partition("#cause=")[2]
        article = page.locator(f'details[data-cause="{cause}"]')
        assert article.get_attribute("open") is not None
        in_sight(page, f'details[data-cause="{cause}"]')

    def test_to_a_vector_from_a_cause(self, opened):
        page = opened("openvino", "#dtype=f16")
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
        page.locator(f'.finding a[href="#vector={self.NAME}"]').first.click()
        page.locator("#vector-detail").wait_for(state="visible")
        assert self.NAME in page.inner_text("#vector-detail")

    def test_to_the_vectors_of_an_edge(self, opened):
        page = opened("openvino", f"#vector={self.NAME}")
        page.locator("#vector-detail .edges a").first.click()
        wait_until(page, "document.getElementById('filter-edge').value")
        assert 0 < count(page) < 5513

    def test_to_no_vector(self, opened):
        page = opened("openvino", "#vector=nothing")
        assert page.text_content("#filter-count") == "no vector nothing here"

    def test_to_a_cause_are_the_same_in_every_run(self, opened):
        """They say what is wrong, not how bad it is among others."""
        for name in ("openvino", "openvino-onnx"):
            page = opened(name, f"#cause={self.CAUSE}")
            article = page.locator(f'details[data-cause="{self.CAUSE}"]')
            assert article.get_attribute("open") is not None
            in_sight(page, f'details[data-cause="{self.CAUSE}"]')

    def test_of_a_page_without_scripts(self, opened):
        page = opened("openvino", java_script_enabled=False)
        assert page.locator(".copy:visible, .filters:visible, #theme:visible").count() == 0
        assert "The table of vectors needs scripts" in page.inner_text("main")
        page.locator(".index a").last.click()
        cause = page.url.partition("#cause=")[2]
        place = page.locator(f'details[data-cause="{cause}"]').bounding_box()["y"]
        assert -5 < place < 800


@pytest.mark.parametrize("width", [375, 1024])
@pytest.mark.parametrize("name", ["openvino", "comparison"])
class TestContents:
    BAR = "document.querySelector('nav[aria-label=Contents]').getBoundingClientRect()"

    def test_stay_at_the_top_in_one_line(self, opened, name, width):
        page = opened(name, width=width)
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        wait_until(page, f"Math.abs({self.BAR}.top) < 1")
        assert page.evaluate(f"{self.BAR}.height") < 60

    def test_lead_by_keyboard_to_sections_that_they_do_not_cover(self, opened, name, width):
        page = opened(name, width=width)
        links = page.locator("nav[aria-label=Contents] a")
        links.first.focus()
        for _ in range(links.count() - 1):
            page.keyboard.press("Tab")
            right = page.evaluate("document.activeElement.getBoundingClientRect().right")
            assert right <= width
        for link in ("#operators", "#readings"):
            page.locator(f"nav a[href='{link}']").press("Enter")
            in_sight(page, link)
            top = f"document.querySelector('{link}').getBoundingClientRect().top"
            assert page.evaluate(f"{top} >= {self.BAR}.bottom")

    def test_cover_nothing_that_has_the_focus(self, opened, name, width):
        page = opened(name, width=width)
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
        page.locator("main [tabindex='0'], main summary").last.focus()
        for _ in range(15):
            page.keyboard.press("Shift+Tab")
            bottom = "document.activeElement.getBoundingClientRect().bottom"
            assert page.evaluate(f"{bottom} > {self.BAR}.bottom")


def test_contents_of_a_page_with_all_sections_fit_1200_pixels(opened):
    bar = opened("diagnosed", width=1200).locator("nav[aria-label=Contents]")
    assert bar.locator("a").count() == 9
    assert bar.evaluate("bar => bar.scrollWidth <= bar.clientWidth")


class TestCauses:
    def test_all_titles_stand_in_the_first_screen(self, opened):
        page = opened("openvino", width=1920, height=1080)
        titles = page.locator(".index a")
        assert titles.count() == len(read_causes("openvino"))
        for n in range(titles.count()):
            box = titles.nth(n).bounding_box()
            assert box["y"] + box["height"] <= 1080
            assert titles.nth(n).is_visible()

    def test_a_filter_narrows_index_and_articles(self, opened):
        page = opened("openvino")
        entries = page.locator(".index li:visible")
        every = entries.count()
        page.fill("#cause-text", "AvgPool-16 crash")
        assert entries.count() == page.locator("details[data-cause]:visible").count() == 1
        assert page.text_content("#cause-count") == f"1 of {every} causes shown"
        page.fill("#cause-text", "MaxPool-14")
        assert 1 < entries.count() < every
        page.fill("#cause-text", "no such thing")
        assert entries.count() == 0
        page.fill("#cause-text", "")
        assert entries.count() == every


class TestCopy:
    def test_puts_each_command_on_the_clipboard(self, opened):
        page = opened("openvino", permissions=["clipboard-read", "clipboard-write"])
        (lead,) = [one for one in read_causes("openvino") if "support i64" in one.title]
        page.evaluate(f"location.hash = 'cause={lead.id}'")
        found = page.locator(f'details[data-cause="{lead.id}"] .command')
        got = []
        for n in range(found.count()):
            found.nth(n).locator("button").click()
            wait_until(page, "document.getElementById('said').textContent === 'Copied'")
            got.append(page.evaluate("navigator.clipboard.readText()"))
        vector = "f32-1x1x1x1x1-impulse-ba59cc37"
        assert got == [
            f"conformance check --backend openvino --op AdaptiveMaxPool-8 --only {vector}",
            f"conformance show {vector} --backend openvino",
            f"conformance repro {vector} --backend openvino",
        ]

    def test_without_a_clipboard_the_text_is_selected(self, opened):
        page = opened("openvino")
        page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
        page.locator(".finding .command .copy").first.click()
        wait_until(page, "getSelection().toString().startsWith('conformance check')")


class TestThemes:
    def ground(self, page):
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)[:3]))

    def test_follow_the_reader_and_the_button(self, opened):
        light, dark = (self.ground(opened("passing", color_scheme=s)) for s in ("light", "dark"))
        assert dark < 150 < 600 < light
        page = opened("passing", color_scheme="dark")
        page.click("#theme")
        assert self.ground(page) == light
        page.click("#theme")
        assert self.ground(page) == dark


@pytest.mark.parametrize("name", [*EVERY, *(one for one in SAMPLES if one != "openvino")])
def test_no_page_is_wider_than_the_window(opened, name):
    page = opened(name)
    if name in SAMPLES:
        vectors = read(diagnosed.SAMPLES / name / "run.jsonl.gz").results
        failed = next(one.id for one in vectors if one.kind)
        page.evaluate(f"location.hash = 'vector={failed}'")
    assert_fits_every_width(page)


@pytest.mark.parametrize(
    ("name", "scheme", "width"),
    [
        ("openvino", "light", 1024),
        ("openvino", "dark", 360),
        *((name, "light", 1024) for name in EVERY[1:]),
        ("comparison", "dark", 1920),
    ],
)
def test_accessibility(opened, name, scheme, width):
    """No finding of axe-core that is serious or critical."""
    page = opened(name, color_scheme=scheme, width=width)
    # What is folded is looked at too, but for thousands of rows that are all alike.
    page.evaluate(
        "for (const table of document.querySelectorAll('table'))"
        " [...table.rows].slice(6).forEach((row) => row.cells[0].rowSpan === 1 && row.remove());"
        "document.querySelectorAll('.ids li:nth-child(n + 4)').forEach((item) => item.remove());"
    )
    assert_accessible(page)


def test_many_rows_are_filtered_at_once(opened):
    """Also where all of 2,000 rows change."""
    page = opened("long")
    took = page.evaluate(
        """() => {
            const field = document.getElementById('filter-text');
            const begin = performance.now();
            for (const text of ['zzz', '']) {
                field.value = text;
                field.dispatchEvent(new Event('input', { bubbles: true }));
                document.body.offsetHeight;
            }
            return performance.now() - begin;
        }"""
    )
    assert count(page) == LONG
    assert took < 1000
