"""Operators as self-contained HTML pages: one per operator, and an index."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from urllib.parse import quote

from jinja2 import Environment
from markupsafe import Markup, escape

from conformance.docs import wording
from conformance.docs.formula import branches, readable
from conformance.docs.operator_facts import OperatorFacts
from conformance.log.run_log import RunLog
from conformance.report.picture import picture
from conformance.report.templating import environment, page
from conformance.safe_text import visible
from conformance.spec.expressions import Expression
from conformance.spec.model import OpSpec

STYLES = ("picture.css", "page.css", "docs.css")


def file_name(op: str) -> str:
    """The file of an operator's page, beside ``index.html``."""
    return f"{op}.html"


def operator_page(told: OperatorFacts) -> str:
    """The page of one operator, the same for the same specification, suite and runs."""
    spec = told.spec
    return page(
        "operator.html.j2",
        _templates(),
        STYLES,
        told=told,
        spec=spec,
        known=meanings(spec),
        family=spec.kin,
        pictures=_pictures(told),
    )


def index_page(
    accounts: Sequence[OperatorFacts], runs: Iterable[RunLog] = (), suite: str = ""
) -> str:
    """The page that leads to those of ``accounts``; ``suite`` names what the vectors are of."""
    return page(
        "index.html.j2",
        _templates(),
        STYLES,
        accounts=accounts,
        runs=tuple(runs),
        suite=suite,
    )


def meanings(spec: OpSpec) -> dict[str, str]:
    """What each name that expressions of ``spec`` may speak of means, in a few words.

    These are the names that have their place on the page.
    """
    found = {name: f"type: {', '.join(values)}" for name, values in spec.types.items()}
    found |= {key: wording.legal(quantity) for key, quantity in spec.quantities.items()}
    found |= wording.names(spec)
    found |= {name: spec.definitions[name].text for name in wording.abbreviations(spec)}
    rules = spec.kin.rules
    return found | {name: rules[name].about for name in rules if name in spec.definitions}


def formula(expression: Expression, known: Mapping[str, str]) -> Markup:
    """An expression as people write it, each name a link to what it means on the same page."""
    parts = [
        (_linked(one.value, expression, known), _linked(one.condition, expression, known))
        for one in branches(expression.text)
    ]
    if len(parts) == 1:
        return parts[0][0]
    items = [
        Markup("<li>{} {}{}</li>").format(value, "if " if condition else "otherwise", condition)
        for value, condition in parts
    ]
    return Markup('<ul class="cases">{}</ul>').format(Markup("").join(items))


def _linked(text: str, expression: Expression, known: Mapping[str, str]) -> Markup:
    if not text:
        return Markup("")
    parts = []
    # Split at words, every other part is one. A word that is no name is a member of an enum.
    for number, part in enumerate(re.split(r"([A-Za-z_][A-Za-z0-9_]*)", readable(text))):
        if number % 2 and part in expression.names and part in known:
            link = Markup('<a href="#name-{0}" title="{1}">{0}</a>')
            parts.append(link.format(part, visible(known[part])))
        else:
            parts.append(escape(part))
    return Markup("<code>{}</code>").format(Markup("").join(parts))


def _names(text: str) -> Markup:
    """Text with what stands between backticks as code."""
    shown = []
    for number, part in enumerate(text.split("`")):
        shown.append(Markup("<code>{}</code>").format(part) if number % 2 else escape(part))
    return Markup("").join(shown)


def link(url: str, text: str = "") -> Markup:
    """A link to a page elsewhere; mere text for an address that no browser should follow."""
    shown = text or wording.place(url)
    if not re.match(r"https?://[^\s/]", url):
        return escape(visible(f"{text} ({url})" if text else url))
    # What the templates escape elsewhere: this is markup already.
    address = quote(url, safe=":/?#[]@!$&'()*+,;=%~-._")
    return Markup('<a href="{}" rel="noreferrer">{}</a>').format(address, visible(shown))


@dataclass(frozen=True)
class Illustration:
    """The picture of an element of a vector that shows an edge, and a sentence that says it."""

    id: str
    element: str
    svg: Markup
    sentence: str


def _pictures(told: OperatorFacts) -> dict[str, Illustration]:
    """The illustration of each edge that has one."""
    found: dict[str, Illustration] = {}
    shows = told.spec.kin.picture
    for edge in told.spec.edges if shows else ():
        assert shows is not None
        shown = shows.telling(told.spec, edge, told.showing(edge.name))
        drawn = picture(shown.window) if shown else None
        if shown and drawn:
            element = ",".join(map(str, shown.index))
            found[edge.name] = Illustration(shown.vector.id, element, drawn.svg, drawn.sentence)
    return found


@cache
def _templates() -> Environment:
    made = environment("conformance.docs")
    made.filters.update(
        formula=formula,
        link=link,
        names=_names,
        sentence=lambda text: text[:1].upper() + text[1:],
        page=lambda op: quote(file_name(op)),
        legal=wording.legal,
        otherwise=wording.otherwise,
        called=wording.called,
        ways=wording.ways,
        rules=wording.rules,
        abbreviations=wording.abbreviations,
    )
    return made
