"""Expressions and definitions as mathematics: in Unicode for a terminal, in MathML for a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from html import escape

from conformance.core.functions import FUNCTIONS
from conformance.core.operator import SKIP, Definition
from conformance.core.tree import Node

OR, AND, NOT, COMPARE, SUM, PRODUCT, SIGN, POWER, ATOM = range(1, 10)
"""How tightly an operation binds; what stands in a tighter one is put in brackets."""

MINUS, TIMES, TOTAL = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}", "\N{N-ARY SUMMATION}"


@dataclass(frozen=True)
class Formula:
    """A formula as text and as the inside of a ``math`` element, and how tightly it binds."""

    text: str
    mathml: str
    binding: int = ATOM

    def within(self, binding: int) -> Formula:
        """Return it in brackets where it binds less tightly."""
        return self if self.binding >= binding else _row("(", self, ")")

    def page(self) -> str:
        """Return the ``math`` element."""
        return f'<math displaystyle="true">{self.mathml}</math>'


@dataclass(frozen=True)
class Line:
    """A line about a definition: words, and the formula that they introduce."""

    words: str
    formula: Formula

    @property
    def text(self) -> str:
        return f"{self.words} {self.formula.text}".strip()


def formula(node: Node, meanings: Mapping[str, Formula] | None = None) -> Formula:
    """Return an expression as a formula; ``meanings`` are written for names."""
    return _Writer(meanings or {}).write(node)


def definition_lines(definition: Definition) -> Iterator[Line]:
    """Yield a definition: first what its elements are, then names, extents and conditions."""
    at = _list(map(_name, definition.at))
    left = _row(_name(definition.name), "[", at, "]") if definition.at else _name(definition.name)
    meanings = {"terms": _words("number of terms")}
    if definition.term is not None:
        over = _list(map(_name, definition.over))
        combined = _combined(definition.combine, over, formula(definition.term))
        if "_" in definition.combine:
            yield Line("", _row(over, " = ", combined))
        meanings["total"] = combined
    yield Line("", _row(left, " = ", formula(definition.finish, meanings)))
    for name, tree in definition.abbreviations.items():
        yield Line("with", _row(_name(name), " = ", formula(tree)))
    for indices in (definition.at, definition.over):
        if indices:
            yield Line("for", _list(_range(name, tree) for name, tree in indices.items()))
    if definition.keep is not None:
        yield Line("over", _row(_words("the terms where "), formula(definition.keep)))
    if definition.outside == SKIP:
        yield Line("without", _words("the terms that read outside of a tensor"))
    elif isinstance(definition.outside, Node):
        read = _words("a read outside of a tensor gives ")
        yield Line("where", _row(read, formula(definition.outside)))
    if definition.unspecified is not None:
        where = formula(definition.unspecified, meanings)
        yield Line("with", _row(_words("any value where "), where))


def _range(name: str, extent: Node) -> Formula:
    """The values that an index takes."""
    value = formula(extent).within(SUM)
    each = f" per {extent.kind.per}" if extent.kind.per else ""
    return _row(_number(0), " \u2264 ", _name(name), " < ", value, _words(each), binding=COMPARE)


def _combined(combine: str, over: Formula, term: Formula) -> Formula:
    if combine == "sum":
        return _over(TOTAL, over, term.within(PRODUCT))
    if combine == "product":
        return _over("\N{N-ARY PRODUCT}", over, term.within(PRODUCT))
    first, _, kind = combine.rpartition("_")
    sign = f"{first} arg {kind}" if first else kind
    return _over(sign, over, term.within(PRODUCT))


def _over(sign: str, under: Formula, body: Formula) -> Formula:
    return Formula(
        f"{sign}({under.text}) {body.text}" if under.text else f"{sign} {body.text}",
        f"<mrow><munder><mo>{sign}</mo>{under.mathml}</munder>{body.mathml}</mrow>",
        SUM,
    )


# -- parts


def _row(*parts: Formula | str, binding: int = ATOM) -> Formula:
    """Formulas and signs after each other."""
    text = "".join(part if isinstance(part, str) else part.text for part in parts)
    mathml = "".join(
        f"<mo>{escape(part.strip())}</mo>" if isinstance(part, str) else part.mathml
        for part in parts
    )
    return Formula(text, f"<mrow>{mathml}</mrow>", binding)


def _list(parts: Iterator[Formula] | Sequence[Formula]) -> Formula:
    separated: list[Formula | str] = []
    for part in parts:
        separated += [", ", part] if separated else [part]
    return _row(*separated)


def _name(name: str) -> Formula:
    return Formula(name, f"<mi>{escape(name)}</mi>")


def _words(text: str) -> Formula:
    # A page drops spaces at the ends.
    inner = escape(text).replace(" ", "&#160;")
    return Formula(text, f"<mtext>{inner}</mtext>" if text else "")


def _number(value: int | Fraction) -> Formula:
    text = str(value)
    if isinstance(value, Fraction):  # it was a decimal number
        text = format(Decimal(value.numerator) / Decimal(value.denominator), "f")
    return Formula(text, f"<mn>{text}</mn>")


class _Writer:
    """A visitor that writes formulas."""

    def __init__(self, meanings: Mapping[str, Formula]) -> None:
        self.meanings = meanings

    def write(self, node: Node) -> Formula:
        """Return an expression as a formula."""
        if node.op == "constant":
            return self._constant(node)
        if node.op == "name":
            name = str(node.value)
            return self.meanings.get(name) or _name(name)
        if node.op == "has":
            return _row(_name(str(node.value)), _words(" is given"), binding=COMPARE)
        if node.op == "rank_of":
            return _row(_words("rank of "), _name(str(node.value)), binding=SIGN)
        if node.op in ("lowest", "bottom"):
            words = {"lowest": "lowest number of ", "bottom": "smallest value of "}[node.op]
            return _row(_words(words), _name(str(node.value)), binding=SIGN)
        if node.op == "read":
            return _subscripted(_name(str(node.value)), _list([*map(self.write, node.args)]))
        if node.op == "where":
            return self._cases(node)
        write = FORMS.get(node.op)
        if write is not None:
            return write(*map(self.write, node.args))
        name = FUNCTIONS[node.op].signature.partition("(")[0]
        return _row(_name(name), "(", _list([*map(self.write, node.args)]), ")")

    @staticmethod
    def _constant(node: Node) -> Formula:
        value = node.value
        if isinstance(value, bool):
            return _words(str(value).lower())
        return _number(value) if isinstance(value, int | Fraction) else _words(str(value))

    def _cases(self, node: Node) -> Formula:
        rows = []
        while node.op == "where":
            condition, value, other = node.args
            rows.append((self.write(value), self.write(condition)))
            node = other
        last = self.write(node)
        text = "; ".join(f"{value.text} if {condition.text}" for value, condition in rows)
        cells = "".join(
            f"<mtr><mtd>{value.mathml}</mtd><mtd><mtext>if&#160;</mtext>{condition.mathml}</mtd></mtr>"
            for value, condition in rows
        )
        cells += f"<mtr><mtd>{last.mathml}</mtd><mtd><mtext>otherwise</mtext></mtd></mtr>"
        table = f"<mrow><mo>{{</mo><mtable>{cells}</mtable></mrow>"
        return Formula(f"({text}; else {last.text})", table)


def _subscripted(tensor: Formula, indices: Formula) -> Formula:
    return _row(tensor, "[", indices, "]") if indices.text else tensor


def _infix(sign: str, binding: int) -> Callable[..., Formula]:
    """The form of operations that go from left to right."""

    def write(first: Formula, *others: Formula) -> Formula:
        parts: list[Formula | str] = [first.within(binding)]
        for other in others:
            parts += [f" {sign} ", other.within(binding + 1)]
        return _row(*parts, binding=binding)

    return write


def _compared(sign: str) -> Callable[..., Formula]:
    return lambda a, b: _row(a.within(SUM), f" {sign} ", b.within(SUM), binding=COMPARE)


def _quotient(a: Formula, b: Formula) -> Formula:
    text = f"{a.within(PRODUCT).text} / {b.within(POWER).text}"
    return Formula(text, f"<mfrac>{a.mathml}{b.mathml}</mfrac>", PRODUCT)


def _enclosed(left: str, right: str) -> Callable[..., Formula]:
    return lambda a: _row(left, a, right)


def _power(a: Formula, b: Formula) -> Formula:
    base, exponent = a.within(ATOM), b.within(ATOM)
    mathml = f"<msup>{base.mathml}{b.mathml}</msup>"
    return Formula(f"{base.text}^{exponent.text}", mathml, POWER)


def _root(a: Formula, degree: Formula) -> Formula:
    return Formula(
        f"root({a.text}, {degree.text})", f"<mroot><mrow>{a.mathml}</mrow>{degree.mathml}</mroot>"
    )


FORMS: dict[str, Callable[..., Formula]] = {
    "+": _infix("+", SUM),
    "-": _infix(MINUS, SUM),
    "*": _infix(TIMES, PRODUCT),
    "/": _quotient,
    "//": lambda a, b: _row("\u230a", _quotient(a, b), "\u230b"),
    "%": _infix("mod", PRODUCT),
    "**": _power,
    "pow": _power,
    "negative": lambda a: _row(MINUS, a.within(PRODUCT), binding=SIGN),
    "==": _compared("="),
    "!=": _compared("\u2260"),
    "<": _compared("<"),
    "<=": _compared("\u2264"),
    "and": _infix("and", AND),
    "or": _infix("or", OR),
    "not": lambda a: _row("not ", a.within(NOT), binding=NOT),
    "among": _compared("\u2208"),
    "abs": _enclosed("|", "|"),
    "floor": _enclosed("\u230a", "\u230b"),
    "ceil": _enclosed("\u2308", "\u2309"),
    "ceil_div": lambda a, b: _row("\u2308", _quotient(a, b), "\u2309"),
    "sqrt": lambda a: Formula(
        f"\u221a{a.text}" if a.binding == ATOM and len(a.text) == 1 else f"\u221a({a.text})",
        f"<msqrt>{a.mathml}</msqrt>",
    ),
    "root": _root,
    "entry": _subscripted,
}
"""How operations are written that are not written as calls."""
