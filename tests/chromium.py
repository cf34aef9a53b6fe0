"""Pages in Debian's Chromium: patient waits, and what every page must hold."""

from __future__ import annotations

import time
from typing import Any

WIDTHS = (360, 375, 1024, 1920)


def wait_until(page: Any, expression: str, seconds: float = 15) -> None:
    """Wait until a JavaScript expression holds on the page, or fail.

    Playwright's own wait evaluates text within the page, which the policy of our pages forbids.
    """
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"never so: {expression}"
        page.wait_for_timeout(10)


def assert_fits_every_width(page: Any) -> None:
    """With everything unfolded no page is wider than the window."""
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def assert_accessible(page: Any) -> None:
    """No finding of axe-core that is serious or critical, what is folded included."""
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"resultTypes": ["violations"]})
    serious = [
        (one["id"], one["nodes"][0]["html"][:200])
        for one in found.response["violations"]
        if one["impact"] in ("serious", "critical")
    ]
    assert serious == []
