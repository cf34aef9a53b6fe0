"""Pages that need nothing but themselves: how templates become one, and the policy they carry."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from conformance.report.visible import visible


def environment(package: str, **filters: Callable[..., Any]) -> Environment:
    """The templates of a package, from its folder ``templates``, with ``filters``.

    They escape markup, and make what cannot be seen visible, wherever text enters. A value that
    is not given is an error.
    """
    made = Environment(
        loader=FunctionLoader(lambda name: resource(name, package)),
        autoescape=True,
        finalize=_finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(count=lambda number: f"{number:,}", **filters)
    return made


def page(templates: Environment, name: str, *, css: str, script: str = "", **values: Any) -> str:
    """The page of a template, with its style and script inline, and a policy that allows these.

    ``css`` and ``script`` are our own files, never text from outside. The template has ``css``,
    ``script`` and ``policy`` beside ``values``.
    """
    policy = f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src '{_digest(css)}'"
    return templates.get_template(name).render(
        css=Markup(css),  # noqa: S704 - our own files, whose digest the policy names
        script=Markup(script),  # noqa: S704
        policy=f"{policy}; script-src '{_digest(script)}'" if script else policy,
        **values,
    )


@cache
def resource(name: str, package: str = "conformance.report") -> str:
    """A file of a package's folder ``templates``: a template, a stylesheet, a script."""
    return files(package).joinpath("templates", name).read_text("utf-8")


def _finalize(value: Any) -> Any:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _digest(text: str) -> str:
    """How a content security policy names an inline style or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
