"""How pages are made: templates that escape all text, and a policy that allows nothing but them."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from conformance.log.encoding import MAX_TEXT
from conformance.report.visible import visible


def environment(package: str = __package__) -> Environment:
    """Templates of a package's folder ``templates``.

    Markup is escaped, what cannot be seen made visible and what is longer than a run log keeps cut,
    wherever text enters.
    """

    def load(name: str) -> str:
        return resource(name, package)

    made = Environment(
        loader=FunctionLoader(load),
        autoescape=True,
        finalize=_finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["count"] = lambda number: f"{number:,}"
    return made


def page(
    template: str, made: Environment, css: Sequence[str], scripts: Sequence[str], **values: Any
) -> str:
    """A page that needs nothing but itself, from a template and this package's styles and scripts.

    The template has ``css``, ``script`` and ``policy``, the content of the page's
    Content-Security-Policy: nothing is loaded, and no other style or script is applied.
    """
    style = "".join(resource(name) for name in css)
    code = "".join(resource(name) for name in scripts)
    return made.get_template(template).render(
        css=Markup(style),  # noqa: S704 - our own files, whose digest the page's policy names
        script=Markup(code),  # noqa: S704
        policy=(
            "default-src 'none'; base-uri 'none'; form-action 'none'; "
            f"style-src '{_digest(style)}'; script-src '{_digest(code)}'"
        ),
        **values,
    )


@cache
def resource(name: str, package: str = __package__) -> str:
    """The text of a file in a package's folder ``templates``."""
    return files(package).joinpath("templates", name).read_text("utf-8")


def bounded(text: str, most: int) -> str:
    """The text, or as much of it as is shown with a note that says so."""
    if len(text) <= most:
        return text
    return f"{text[:most]} ... [cut: {len(text):,} characters in all]"


def _finalize(value: Any) -> Any:
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return visible(bounded(value, MAX_TEXT))


def _digest(text: str) -> str:
    """How a content security policy names an inline style or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
