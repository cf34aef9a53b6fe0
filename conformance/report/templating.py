"""HTML templates that escape all text, and the page's content security policy."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from conformance.log.encoding import MAX_TEXT
from conformance.safe_text import visible


def environment(package: str = __package__) -> Environment:
    """Templates of a package's folder ``templates``, and those here, which all pages may use.

    Markup is escaped, what cannot be seen made visible and what is longer than a run log keeps cut,
    wherever text enters.
    """
    made = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader(__package__)]),
        autoescape=True,
        finalize=_finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["count"] = lambda number: f"{number:,}"
    return made


def page(
    template: str, made: Environment, css: Sequence[str], scripts: Sequence[str] = (), **values: Any
) -> str:
    """A page that needs nothing but itself, from a template and styles and scripts beside it.

    The template has ``css``, ``script`` and ``policy``, the content of the page's
    Content-Security-Policy: nothing is loaded, and no other style or script is applied.
    """
    style = "".join(_text(made, name) for name in css)
    code = "".join(_text(made, name) for name in scripts)
    policy = (
        f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src '{_digest(style)}'"
    )
    return made.get_template(template).render(
        css=Markup(style),  # noqa: S704 - our own files, whose digest the page's policy names
        script=Markup(code),  # noqa: S704
        policy=f"{policy}; script-src '{_digest(code)}'" if code else policy,
        **values,
    )


def _text(made: Environment, name: str) -> str:
    """A file that stands beside the templates, as it is."""
    assert made.loader is not None
    return made.loader.get_source(made, name)[0]


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
