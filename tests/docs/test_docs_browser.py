"""The pages of operators in a real browser: no request, widths, links within a page, axe."""

from __future__ import annotations

import pytest
from chromium import assert_accessible, assert_fits_every_width, wait_until
from test_operator_pages import hostile

from conformance.core.loader import load_operator, shipped_names
from conformance.docs.html import file_name, index_page, operator_page
from conformance.docs.operator_facts import OperatorFacts

pytestmark = pytest.mark.needs("dev", "chromium")

SHOWN = ("AvgPool-1", "onnx.MaxPool-22", "onnx.Conv-22", "MatMul-1", "index", "hostile")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    facts = [OperatorFacts(load_operator(op)) for op in shipped_names()]
    for operator in facts:
        if operator.op in SHOWN:
            (folder / file_name(operator.op)).write_text(operator_page(operator), "utf-8")
    (folder / "index.html").write_text(index_page(facts), "utf-8")
    (folder / "hostile.html").write_text(operator_page(hostile()), "utf-8")
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


@pytest.mark.parametrize("name", SHOWN)
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
    assert_accessible(opened(name, scheme=scheme, width=width))


def test_a_link_of_the_contents_leads_to_its_section(opened):
    page = opened("AvgPool-1")
    page.click("nav a[href='#errata']")
    wait_until(page, "location.hash === '#errata'")
    assert page.is_visible("#errata")


def test_the_first_key_skips_to_the_content(opened):
    page = opened("AvgPool-1")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    wait_until(page, "location.hash === '#main'")
