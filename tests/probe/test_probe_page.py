"""The page of a probe in a real browser: no request, widths, light and dark, axe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from chromium import assert_accessible, assert_fits_every_width
from test_probe_cli import SMALL

from conformance.probe.page import render

pytestmark = pytest.mark.needs("dev", "chromium")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page(browser: Any, tmp_path: Path, scheme: str) -> None:
    hostile = SMALL | {"backend": SMALL["backend"] | {"name": "<script>alert(1)</script>" * 20}}
    path = tmp_path / "index.html"
    path.write_text(render(hostile), "utf-8")
    asked: list[str] = []
    said: list[str] = []
    context = browser.new_context()
    page = context.new_page()
    page.emulate_media(color_scheme=scheme)
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto(path.as_uri())
    assert asked == [path.as_uri()]
    assert_fits_every_width(page)
    assert_accessible(page)
    context.close()
    assert said == []
