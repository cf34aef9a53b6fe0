"""The pages in a real browser: filters, links, copying, themes, widths and accessibility."""

from __future__ import annotations

import re

import diagnosed
import pytest
import sample_runs
from chromium import (
    assert_accessible,
    assert_fits_every_width,
    wait_until,
)
from runs import run

from conformance.log.reader import read
from conformance.report import comparison_html
from conformance.report.html import pages
from conformance.report.matrix import Column
from conformance.report.vector_table import MAX_ROWS

pytestmark = pytest.mark.needs("dev", "chromium")

LONG = 2 * MAX_ROWS + 5
EVERY = ("openvino", "passing", "gated", "cut short", "hostile", "long", "sheet", "comparison")


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    """Pages of every kind, as files."""
    folder = tmp_path_factory.mktemp("pages")
    shown = {
        "openvino": diagnosed.sample(),
        "passing": run(sample_runs.passing()),
        "gated": run(sample_runs.gated()),
        "cut short": run(sample_runs.failing()[:-4]),
        "hostile": run(sample_runs.hostile()),
        "long": run(sample_runs.failing(LONG)),
    }
    found = {}
    for name, one in shown.items():
        for file, text in pages(one, f"{name}.html").items():
            (folder / file).write_text(text, "utf-8")
        found[name] = (folder / f"{name}.html").as_uri()
    found["sheet"] = (folder / "long-vectors-2.html").as_uri()
    logs = [read(diagnosed.SAMPLES / name / "run.jsonl") for name in ("openvino", "torch")]
    (folder / "comparison.html").write_text(
        comparison_html.render([Column(one) for one in logs]), "utf-8"
    )
    found["comparison"] = (folder / "comparison.html").as_uri()
    return found


@pytest.fixture
def opened(browser, addresses):
    """Opens a page; at the end it must have asked for no other and complained of nothing."""
    contexts, asked, said = [], [], []

    def open_page(name, fragment="", width=1024, **options):
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(5000)
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(addresses[name] + fragment)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []
    assert {url.partition("#")[0] for url in asked} <= set(addresses.values()) | {
        address.replace("long.html", f"long-vectors-{n}.html")
        for address in addresses.values()
        for n in (1, 2, 3)
    }


def shown(page):
    """The ids of the rows that are not hidden."""
    return page.eval_on_selector_all(
        "#vector-table tbody tr:not([hidden]) th", "cells => cells.map(cell => cell.textContent)"
    )


class TestFilters:
    def test_narrow_the_table_and_stand_in_the_address(self, opened):
        page = opened("openvino")
        page.locator("#every-vector > summary").click()
        assert len(shown(page)) == 1081
        page.select_option("#filter-status", "error")
        assert len(shown(page)) == 44
        page.select_option("#filter-dtype", "f32")
        page.fill("#filter-text", "TIES")
        ids = shown(page)
        assert ids
        assert all(name.startswith("f32") and "ties" in name for name in ids)
        assert page.url.endswith("#text=TIES&status=error&dtype=f32")
        assert page.text_content("#filter-count") == f"{len(ids)} of 1,081 shown"

    def test_come_back_with_the_address(self, opened):
        page = opened("openvino", "#edge=index-i64&op=AdaptiveMaxPool-8&sort=-vector")
        assert page.input_value("#filter-edge") == "index-i64"
        ids = shown(page)
        assert len(ids) == 44
        assert ids[0] > ids[-1]
        assert page.is_visible("#vector-table")
        page.click("text=Show all")
        wait_until(page, "!location.hash.includes('edge')")
        assert len(shown(page)) == 1081

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

    def test_a_cell_of_the_map_leads_to_its_vectors(self, opened):
        page = opened("openvino")
        page.locator(".heat td a", has_text="6 of 6").first.click()
        wait_until(page, "document.getElementById('filter-edge').value")
        assert len(shown(page)) == 6
        assert page.is_visible("#vector-table")

    def test_work_by_keyboard(self, opened):
        page = opened("openvino")
        page.focus("#every-vector > summary")
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.type("cancel")
        assert page.evaluate("document.activeElement.id") == "filter-text"
        assert 0 < len(shown(page)) < 1081


class TestLinks:
    def test_to_a_vector(self, opened):
        name = "f64-2x2x1x1x1-mixed-f989fbad"
        page = opened("openvino", f"#vector={name}")
        row = page.locator(f'[id="vector={name}"]')
        row.wait_for(state="visible")
        box = row.bounding_box()
        assert 0 <= box["y"] < 800

    def test_to_a_vector_that_a_filter_hides(self, opened):
        page = opened("openvino", "#dtype=f16")
        name = "f64-2x2x1x1x1-mixed-f989fbad"
        page.click(f'.finding a[href="#vector={name}"]')
        page.locator(f'[id="vector={name}"]').wait_for(state="visible")
        assert page.input_value("#filter-dtype") == ""

    def test_to_no_vector(self, opened):
        page = opened("openvino", "#vector=nothing")
        assert page.text_content("#filter-count") == "no vector nothing here"

    def test_to_a_vector_on_a_page_beside(self, opened):
        name = max(result.id for result in run(sample_runs.failing(LONG)).results)
        page = opened("long", f"#vector={name}")
        page.wait_for_url("**/long-vectors-3.html#vector=*")
        page.locator(f'[id="vector={name}"]').wait_for(state="visible")

    def test_of_a_page_without_scripts(self, opened):
        name = "f64-2x2x1x1x1-mixed-f989fbad"
        page = opened("openvino", java_script_enabled=False)
        assert page.locator(".copy:visible, .filters:visible, #theme:visible").count() == 0
        page.click(f'.finding a[href="#vector={name}"]')
        page.locator(f'[id="vector={name}"]').wait_for(state="visible")


class TestCopy:
    def test_puts_each_command_on_the_clipboard(self, opened):
        page = opened("openvino", permissions=["clipboard-read", "clipboard-write"])
        found = page.locator(".finding").first.locator(".command")
        got = []
        for n in range(found.count()):
            found.nth(n).locator("button").click()
            wait_until(page, "document.getElementById('said').textContent === 'Copied'")
            got.append(page.evaluate("navigator.clipboard.readText()"))
        vector = "f32-1x1x2-ties-6b9be694"
        assert got == [
            f"conformance check --backend openvino --op AdaptiveMaxPool-8 --only {vector}",
            f"conformance show {vector}",
            f"conformance repro {vector} --backend openvino",
        ]

    def test_without_a_clipboard_the_text_is_selected(self, opened):
        page = opened("openvino")
        page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
        page.locator(".finding .copy").first.click()
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


@pytest.mark.parametrize("name", EVERY)
def test_no_page_is_wider_than_the_window(opened, name):
    assert_fits_every_width(opened(name))


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
    page = opened("sheet")
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
    assert len(shown(page)) == MAX_ROWS
    assert took < 1000
