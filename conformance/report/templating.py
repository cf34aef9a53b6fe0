"""HTML templates that escape all text, and the content security policy of a page."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from conformance.log.encoding import MAX_TEXT
from conformance.safe_text import visible


def template_environment(package: str = __package__) -> Environment:
    """Return the environment of a package's templates, and of those here, for all pages.

    All text is escaped, invisible characters are made visible, and text that is longer than a run
    log keeps is cut.
    """
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader(__package__)]),
        autoescape=True,
        finalize=_finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["count"] = lambda number: f"{number:,}"
    return environment


def render_page(
    template: str,
    environment: Environment,
    css: Sequence[str],
    scripts: Sequence[str] = (),
    **values: Any,
) -> str:
    """Render a self-contained page from a template, with styles and scripts beside it.

    The template has ``css``, ``script`` and ``policy``, the content of the page's
    Content-Security-Policy: nothing is loaded, and no other style or script is applied.
    """
    style = "".join(_source(environment, name) for name in css)
    code = "".join(_source(environment, name) for name in scripts)
    policy = (
        f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src '{_digest(style)}'"
    )
    return environment.get_template(template).render(
        css=Markup(style),  # noqa: S704 - our own files, whose digest the page's policy names
        script=Markup(code),  # noqa: S704
        policy=f"{policy}; script-src '{_digest(code)}'" if code else policy,
        **values,
    )


def _source(environment: Environment, name: str) -> str:
    """Return a file beside the templates, as it is."""
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def cut_text(text: str, limit: int) -> str:
    """Return the text, cut to ``limit`` characters and a note if it is longer."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]} ... [cut: {len(text):,} characters in all]"


def _finalize(value: Any) -> Any:
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return visible(cut_text(value, MAX_TEXT))


def _digest(text: str) -> str:
    """Return the name of an inline style or script in a content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
