"""Operators as self-contained HTML pages: one per operator, and an index."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from urllib.parse import quote

from jinja2 import Environment
from markupsafe import Markup, escape

from conformance.core.formula import Formula
from conformance.core.formula import formula as formula_of
from conformance.docs import wording
from conformance.docs.definition_facts import DefinitionFacts
from conformance.docs.formula import branches, readable
from conformance.docs.operator_facts import OperatorFacts
from conformance.log.run_log import RunLog
from conformance.report.picture import window_picture
from conformance.report.templating import render_page, template_environment
from conformance.safe_text import visible
from conformance.spec.expressions import Expression
from conformance.spec.model import OpSpec

STYLES = ("picture.css", "page.css", "docs.css")


def file_name(op: str) -> str:
    """Return the file name of an operator's page, beside ``index.html``."""
    return f"{op}.html"


def operator_page(facts: OperatorFacts) -> str:
    """Render the page of one operator.

    The page is the same for the same specification, suite and runs.
    """
    spec = facts.spec
    return render_page(
        "operator.html.j2",
        _templates(),
        STYLES,
        facts=facts,
        spec=spec,
        meanings=meanings(spec),
        family=spec.kin,
        pictures=_pictures(facts),
    )


def definition_page(facts: DefinitionFacts) -> str:
    """Render the page of an operator that is a definition.

    The page is the same for the same file.
    """
    return render_page(
        "definition.html.j2", _templates(), STYLES, facts=facts, operator=facts.operator
    )


def index_page(
    operators: Sequence[OperatorFacts],
    runs: Iterable[RunLog] = (),
    suite: str = "",
    definitions: Sequence[DefinitionFacts] = (),
) -> str:
    """Render the page that leads to operators' pages; ``suite`` names the vectors' suite."""
    return render_page(
        "index.html.j2",
        _templates(),
        STYLES,
        operators=operators,
        definitions=definitions,
        runs=tuple(runs),
        suite=suite,
    )


def meanings(spec: OpSpec) -> dict[str, str]:
    """Return the meaning of each name that expressions may use and the page explains."""
    texts = {name: f"type: {', '.join(values)}" for name, values in spec.types.items()}
    texts |= {key: wording.allowed_values(quantity) for key, quantity in spec.quantities.items()}
    texts |= wording.name_meanings(spec)
    texts |= {name: spec.definitions[name].text for name in wording.abbreviations(spec)}
    rules = spec.kin.rules
    return texts | {name: rules[name].about for name in rules if name in spec.definitions}


def formula(expression: Expression, meanings: Mapping[str, str]) -> Markup:
    """Render an expression as a formula, its names linked to their meanings."""
    parts = [
        (
            _link_names(branch.value, expression, meanings),
            _link_names(branch.condition, expression, meanings),
        )
        for branch in branches(expression.text)
    ]
    if len(parts) == 1:
        return parts[0][0]
    items = [
        Markup("<li>{} {}{}</li>").format(value, "if " if condition else "otherwise", condition)
        for value, condition in parts
    ]
    return Markup('<ul class="cases">{}</ul>').format(Markup("").join(items))


def _link_names(text: str, expression: Expression, meanings: Mapping[str, str]) -> Markup:
    if not text:
        return Markup("")
    parts = []
    # Split at words, every other part is one. A word that is no name is a member of an enum.
    for number, part in enumerate(re.split(r"([A-Za-z_][A-Za-z0-9_]*)", readable(text))):
        if number % 2 and part in expression.names and part in meanings:
            link = Markup('<a href="#name-{0}" title="{1}">{0}</a>')
            parts.append(link.format(part, visible(meanings[part])))
        else:
            parts.append(escape(part))
    return Markup("<code>{}</code>").format(Markup("").join(parts))


def _code_between_backticks(text: str) -> Markup:
    """Mark text between backticks as code."""
    parts = []
    for number, part in enumerate(text.split("`")):
        parts.append(Markup("<code>{}</code>").format(part) if number % 2 else escape(part))
    return Markup("").join(parts)


def link(url: str, text: str = "") -> Markup:
    """Render a link to another site; only text if the address is unsafe."""
    label = text or wording.link_text(url)
    if not re.match(r"https?://[^\s/]", url):
        return escape(visible(f"{text} ({url})" if text else url))
    # What the templates escape elsewhere: this is markup already.
    address = quote(url, safe=":/?#[]@!$&'()*+,;=%~-._")
    return Markup('<a href="{}" rel="noreferrer">{}</a>').format(address, visible(label))


@dataclass(frozen=True)
class Illustration:
    """The picture of an element of a vector that covers a target, and its sentence."""

    id: str
    element: str
    svg: Markup
    sentence: str


def _pictures(facts: OperatorFacts) -> dict[str, Illustration]:
    """Draw the illustration of each target that has one."""
    illustrations: dict[str, Illustration] = {}
    family_picture = facts.spec.kin.picture
    for target in facts.spec.edges if family_picture else ():
        assert family_picture is not None
        element = family_picture.telling(facts.spec, target, facts.covering(target.name))
        drawing = window_picture(element.window) if element else None
        if element and drawing:
            index = ",".join(map(str, element.index))
            illustrations[target.name] = Illustration(
                element.vector.id, index, drawing.svg, drawing.sentence
            )
    return illustrations


def _math(formula: Formula) -> Markup:
    """Render a formula; all names in it are escaped already."""
    return Markup(formula.page())  # noqa: S704


@cache
def _templates() -> Environment:
    templates = template_environment("conformance.docs")
    templates.filters.update(
        formula=formula,
        math=_math,
        expression=formula_of,
        link=link,
        names=_code_between_backticks,
        sentence=lambda text: text[:1].upper() + text[1:],
        page=lambda op: quote(file_name(op)),
        allowed_values=wording.allowed_values,
        default_text=wording.default_text,
        expression_name=wording.expression_name,
        differences_from_valid=wording.differences_from_valid,
        rules=wording.rules,
        abbreviations=wording.abbreviations,
    )
    return templates
