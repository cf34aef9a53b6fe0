"""The documents as a site, built as docs/site says: whole, with a search, and without network."""

from __future__ import annotations

import functools
import subprocess
import sys
import threading
from contextlib import suppress
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from chromium import wait_until

from conformance.core.loader import load_operator, shipped_names

pytestmark = [pytest.mark.needs("dev", "chromium"), pytest.mark.exhaustive]

CONFIG = Path(__file__).parents[2] / "docs" / "site" / "mkdocs.yml"
WIDTH = 375
LONGEST = 80_000
"""Characters of a short page: half of them are its frame and contents."""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site's folder, and its address on the loopback. Warnings (a link that leads nowhere, a
    document that is not in the contents) end the build."""
    folder = tmp_path_factory.mktemp("site")
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "-f", CONFIG, "-d", folder],
        check=True,
        timeout=600,
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture
def opened(browser, site):
    """Opens pages; they ask for nothing elsewhere and complain of nothing."""
    asked, said = [], []
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))

    def open_page(name):
        page.goto(f"{site[1]}/{name}")
        return page

    yield open_page
    context.close()
    assert [url for url in asked if not url.startswith(site[1])] == []
    assert said == []


def test_each_document_and_operator_has_a_page(site):
    documents = {path.stem for path in (CONFIG.parents[1]).glob("*.md")}
    assert documents <= {path.stem for path in site[0].glob("*.html")}
    operators = {path.stem for path in (site[0] / "operators").glob("*.html")}
    assert operators == {*shipped_names(), *(f"{op}-whole" for op in shipped_names())}


def test_short_pages_of_operators_are_short_and_name_all_attributes(site):
    for op in shipped_names():
        text = (site[0] / "operators" / f"{op}.html").read_text("utf-8")
        assert all(f"<code>{name}</code>" in text for name in load_operator(op).spelled)
        assert len(text) < LONGEST


def typed(page: Any, words: str) -> None:
    """Open the search and type until there are results: it does not see what came before it was
    ready, neither the focus nor the words.
    """
    box = page.locator(".md-search__input")
    for _ in range(8):
        box.blur()
        box.click()
        box.fill(words)
        with suppress(AssertionError):
            wait_until(page, "document.querySelectorAll('.md-search-result__item').length > 2", 20)
            return
        box.fill("")
    pytest.fail("the search finds nothing")


def test_search_finds_an_attribute_in_the_operators(opened):
    page = opened("index.html")
    typed(page, "index_element_type")
    found = page.locator(".md-search-result__link").evaluate_all("all => all.map(a => a.href)")
    assert any("operators/AdaptiveMaxPool-8.html" in one for one in found)


def test_a_link_between_documents_and_a_picture_lead_somewhere(opened):
    page = opened("index.html")
    assert page.locator("img[alt^='The report']").evaluate("one => one.naturalWidth") > 0
    page.locator("article a[href='backends.html']").first.click()
    wait_until(page, "document.querySelector('h1') !== null")
    assert page.url.endswith("/backends.html")


def test_pages_follow_the_system_into_the_dark(opened):
    page = opened("semantics.html")
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    page.emulate_media(color_scheme="dark")
    page.reload()
    assert page.evaluate(colour) != light


def test_no_page_scrolls_sideways_on_a_phone(opened, site):
    for path in sorted(site[0].glob("*.html")):
        page = opened(path.name)
        page.set_viewport_size({"width": WIDTH, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH, path.name
