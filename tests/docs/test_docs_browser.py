"""The pages of operators in a real browser: no request, widths, links into folded parts, axe."""

from __future__ import annotations

import pytest
from chromium import (
    assert_accessible,
    assert_fits_every_width,
    wait_until,
)
from test_operator_pages import hostile_account

from conformance.core.loader import load_operator
from conformance.docs.definition_facts import DefinitionFacts
from conformance.docs.html import definition_page, file_name, operator_page
from conformance.spec.loader import shipped_specs

pytestmark = pytest.mark.needs("dev", "chromium")

DEFINITIONS = ("onnx.Conv-22", "MatMul-1")
EVERY = (*shipped_specs(), *DEFINITIONS, "index", "hostile")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, pages):
    folder = tmp_path_factory.mktemp("pages")
    for op in shipped_specs():
        (folder / file_name(op)).write_text(pages[op], "utf-8")
    for op in DEFINITIONS:
        facts = DefinitionFacts(load_operator(op))
        (folder / file_name(op)).write_text(definition_page(facts), "utf-8")
    (folder / "index.html").write_text(pages["index"], "utf-8")
    told, _ = hostile_account(folder)
    (folder / "hostile.html").write_text(operator_page(told), "utf-8")
    return folder


@pytest.fixture
def opened(browser, folder):
    """Opens a page; it must ask for no other and complain of nothing."""
    asked, said = [], []
    context = browser.new_context()

    def open_page(name, fragment="", scheme="light", width=1024):
        page = context.new_page()
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        page.on("request", lambda request: asked.append(request.url.partition("#")[0]))
        page.on("console", lambda message: said.append(message.text))
        address = (folder / f"{name}.html").as_uri()
        page.goto(address + fragment)
        assert set(asked) == {address}
        return page

    yield open_page
    context.close()
    assert said == []


@pytest.mark.parametrize("name", EVERY)
def test_no_page_is_wider_than_the_window(opened, name):
    assert_fits_every_width(opened(name))


@pytest.mark.parametrize(
    ("name", "scheme", "width"),
    [
        ("AvgPool-1", "light", 1024),
        ("AvgPool-1", "dark", 360),
        ("index", "dark", 1920),
        ("hostile", "light", 360),
    ],
)
def test_accessibility(opened, name, scheme, width):
    """No finding of axe-core that is serious or critical."""
    page = opened(name, scheme=scheme, width=width)
    page.evaluate(
        "document.querySelectorAll('.cards article:nth-child(n + 8)').forEach(one => one.remove());"
        "document.querySelectorAll('.faults tr:nth-child(n + 8)').forEach(one => one.remove());"
    )
    assert_accessible(page)


def test_a_name_that_is_folded_away_is_shown_when_its_link_is_followed(opened):
    page = opened("AvgPool-1")
    assert not page.is_visible("#name-on_data")
    page.click("#name-divisor a[href='#name-on_data']")
    wait_until(page, "document.querySelector('details').open")
    assert page.is_visible("#name-on_data")


def test_the_first_key_skips_to_the_content(opened):
    page = opened("AvgPool-1")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    wait_until(page, "location.hash === '#main'")
