"""Operators as self-contained HTML pages: one per operator, and an index."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from urllib.parse import quote

from jinja2 import Environment
from markupsafe import Markup, escape

from conformance.core.formula import Formula
from conformance.core.formula import formula as formula_of
from conformance.docs.operator_facts import OperatorFacts
from conformance.report.templating import render_page, template_environment
from conformance.safe_text import visible

STYLES = ("page.css", "docs.css")


def file_name(op: str) -> str:
    """Return the file name of an operator's page, beside ``index.html``."""
    return f"{op}.html"


def operator_page(facts: OperatorFacts) -> str:
    """Render the page of one operator.

    The page is the same for the same definition.
    """
    return render_page(
        "operator.html.j2", _templates(), STYLES, facts=facts, operator=facts.operator
    )


def index_page(operators: Sequence[OperatorFacts]) -> str:
    """Render the page that leads to operators' pages."""
    return render_page("index.html.j2", _templates(), STYLES, operators=operators)


def link(url: str, text: str) -> Markup:
    """Render a link to another site; only text if the address is unsafe."""
    if not re.match(r"https?://[^\s/]", url):
        return escape(visible(f"{text} ({url})"))
    # What the templates escape elsewhere: this is markup already.
    address = quote(url, safe=":/?#[]@!$&'()*+,;=%~-._")
    return Markup('<a href="{}" rel="noreferrer">{}</a>').format(address, visible(text))


def _math(formula: Formula) -> Markup:
    """Render a formula; all names in it are escaped already."""
    return Markup(formula.page())  # noqa: S704


@cache
def _templates() -> Environment:
    templates = template_environment("conformance.docs")
    templates.filters.update(
        math=_math,
        expression=formula_of,
        link=link,
        sentence=lambda text: text[:1].upper() + text[1:],
        page=lambda op: quote(file_name(op)),
    )
    return templates
