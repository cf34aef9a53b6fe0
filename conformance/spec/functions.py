"""The functions that expressions may call: arguments and kinds.

Their values are in ``closures.py`` (one case), ``batch_values.py`` (many cases) and, for proofs, in
``feasible/translate.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from conformance.errors import ExpressionError
from conformance.spec.kinds import Domain, Kind, elementwise
from conformance.spec.tree import Node, constant


@dataclass(frozen=True)
class Function:
    """A function of the language: signature, kind of its value, node of a call."""

    signature: str
    about: str
    build: Callable[[Sequence[Node], int], Node]
    least: int = 1
    most: int | None = 1


def of_type(node: Node, type_: str) -> Node:
    """Return ``node`` if its value is of this type."""
    if node.kind.type != type_:
        want = {"int": "a whole number", "bool": "a truth value", "enum": "an enum value"}[type_]
        hint = None
        if type_ == "int" and node.kind.type == "bool":
            hint = "where(condition, 1, 0) makes a number of a truth value; count adds them up"
        elif type_ == "bool" and node.kind.type == "int":
            hint = "compare the number with something, for example with > 0"
        elif type_ == "int" and node.kind.values:
            hint = f"{min(node.kind.values)} is a word here: compare it (== or in)"
        raise ExpressionError(f"this is {node.kind}", offset=node.offset, expected=want, hint=hint)
    return node


def made(op: str, kind: Kind, args: Sequence[Node], offset: int) -> Node:
    """Make a node above ``args``; refuse operations that no tap can have a value for."""
    if kind.domain is Domain.TAP and kind.joined:
        raise ExpressionError(
            "a tap's value cannot depend on other axes, or on the data",
            offset=offset,
            expected="per-axis values of the case and the window",
        )
    return Node(op, tuple(args), kind, offset)


def numeric(op: str, args: Sequence[Node], offset: int) -> Node:
    """Make an operation on numbers, entry by entry."""
    kinds = [of_type(arg, "int").kind for arg in args]
    return made(op, elementwise("int", kinds), args, offset)


def logical(op: str, a: Node, b: Node) -> Node:
    """Make ``a and b`` or ``a or b``."""
    kind = elementwise("bool", (of_type(a, "bool").kind, of_type(b, "bool").kind))
    return made(op, kind, (a, b), a.offset)


def negated(node: Node, offset: int | None = None) -> Node:
    """Make ``not``; ``offset`` is its position, if not that of its operand."""
    kind = elementwise("bool", (of_type(node, "bool").kind,))
    return made("not", kind, (node,), node.offset if offset is None else offset)


def repeated(node: Node) -> Node:
    """Repeat a single value for each axis; keep a per-axis value."""
    if node.kind.per_axis:
        return node
    kind = replace(node.kind, per_axis=True, joined=node.kind.entangled)
    return Node("repeat", (node,), kind, node.offset)


def _where(args: Sequence[Node], offset: int) -> Node:
    condition = of_type(args[0], "bool")
    a, b = args[1], of_type(args[2], args[1].kind.type)
    values = None
    if a.kind.type == "enum":
        values = (a.kind.values or frozenset()) | (b.kind.values or frozenset())
        if not condition.kind.is_case:
            raise ExpressionError(
                f"the condition is {condition.kind}",
                offset=condition.offset,
                expected="a condition on the case alone, since enums do not vary within one",
            )
    kind = elementwise(a.kind.type, (condition.kind, a.kind, b.kind), values)
    node = made("where", kind, (condition, a, b), offset)
    if node.decides and a.kind.per_axis != b.kind.per_axis:
        return made("where", kind, (condition, repeated(a), repeated(b)), offset)
    return node


def _numeric(op: str) -> Callable[[Sequence[Node], int], Node]:
    return lambda args, offset: numeric(op, args, offset)


def _extreme(name: str) -> Function:
    side = {"min": "smallest", "max": "largest"}[name]

    def build(args: Sequence[Node], offset: int) -> Node:
        if len(args) > 1:
            return reduce(lambda a, b: numeric(name, (a, b), offset), args)
        if not args[0].kind.per_axis:
            raise ExpressionError(
                f"{name} of a single value", offset=offset, expected="two values, or one per axis"
            )
        op = {"min": "least", "max": "greatest"}[name]
        return _over_axes(op, "int", "int")(args, offset)

    about = f"the {side} of several values, axis by axis; of one per-axis value, over the axes"
    return Function(f"{name}(a, b, ...) or {name}(a)", about, build, 1, None)


def _over_axes(op: str, takes: str, gives: str) -> Callable[[Sequence[Node], int], Node]:
    def build(args: Sequence[Node], offset: int) -> Node:
        node = of_type(args[0], takes)
        _per_axis(node)
        kind = replace(node.kind, type=gives, per_axis=False, joined=False)
        if kind.domain is Domain.TAP:
            raise ExpressionError(
                "the taps of different axes do not meet",
                offset=offset,
                expected="a value of the case or the window here",
            )
        return made(op, kind, args, offset)

    return build


def _per_axis(node: Node) -> None:
    if node.kind.per_axis:
        return
    hint = "it needs no function over the axes"
    if not node.kind.is_case and node.kind.type == "bool":
        hint = "somewhere(...) and everywhere(...) ask about all windows"
    raise ExpressionError(
        f"this is {node.kind}", offset=node.offset, expected="a value per axis", hint=hint
    )


def _of_the_case(node: Node, *, single: bool = False) -> None:
    if not node.kind.is_case or (single and node.kind.per_axis):
        raise ExpressionError(
            f"this is {node.kind}", offset=node.offset, expected="a value of the case alone"
        )


def _distinct(args: Sequence[Node], offset: int) -> Node:
    node = of_type(args[0], "int")
    _per_axis(node)
    _of_the_case(node)
    return made("distinct", Kind("bool"), args, offset)


def _reverse(args: Sequence[Node], offset: int) -> Node:
    _per_axis(args[0])
    _of_the_case(args[0])
    return made("reverse", args[0].kind, args, offset)


def _entry(args: Sequence[Node], offset: int) -> Node:
    node, number = args[0], of_type(args[1], "int")
    _per_axis(node)
    _of_the_case(node)
    _of_the_case(number, single=True)
    return made("entry", replace(node.kind, per_axis=False), args, offset)


def _flat(args: Sequence[Node], offset: int) -> Node:
    for node in args:
        _per_axis(of_type(node, "int"))
    kind = replace(elementwise("int", (n.kind for n in args)), per_axis=False, joined=False)
    if kind.domain is Domain.TAP:
        raise ExpressionError("the taps of different axes do not meet", offset=offset)
    return made("flat", kind, args, offset)


def _count(args: Sequence[Node], offset: int) -> Node:
    _per_axis(of_type(args[0], "bool"))
    ones = _where([args[0], constant(1, offset), constant(0, offset)], offset)
    return _over_axes("sum", "int", "int")([ones], offset)


def _somewhere(args: Sequence[Node], offset: int) -> Node:
    node = of_type(args[0], "bool")
    if node.kind.per_axis:
        raise ExpressionError(
            f"this is {node.kind}",
            offset=node.offset,
            expected="one truth value for each window",
            hint="any(...) or all(...) first settles it over the axes",
        )
    return made("somewhere", Kind("bool"), args, offset)


def _everywhere(args: Sequence[Node], offset: int) -> Node:
    return negated(_somewhere([negated(args[0])], offset))


FUNCTIONS: dict[str, Function] = {
    "min": _extreme("min"),
    "max": _extreme("max"),
    "abs": Function("abs(a)", "the magnitude", _numeric("abs")),
    "ceil_div": Function("ceil_div(a, b)", "a / b, rounded up", _numeric("ceil_div"), 2, 2),
    "rounded": Function(
        "rounded(a, bits)",
        "a with at most so many significant bits, to nearest, of two to even",
        _numeric("rounded"),
        2,
        2,
    ),
    "where": Function(
        "where(condition, a, b)", "a where the condition holds, else b", _where, 3, 3
    ),
    "any": Function("any(p)", "whether p holds on some axis", _over_axes("any", "bool", "bool")),
    "all": Function("all(p)", "whether p holds on every axis", _over_axes("all", "bool", "bool")),
    "count": Function("count(p)", "on how many axes p holds", _count),
    "sum": Function("sum(a)", "the sum over the axes", _over_axes("sum", "int", "int")),
    "prod": Function("prod(a)", "the product over the axes", _over_axes("prod", "int", "int")),
    "reverse": Function("reverse(a)", "the values of the axes in the opposite order", _reverse),
    "entry": Function("entry(a, k)", "the value on axis k, counted from 0", _entry, 2, 2),
    "distinct": Function("distinct(a)", "whether no two axes have the same value", _distinct),
    "flat": Function(
        "flat(position, size)", "the row-major index of a position in a box of a size", _flat, 2, 2
    ),
    "somewhere": Function("somewhere(p)", "whether p holds for some window", _somewhere),
    "everywhere": Function("everywhere(p)", "whether p holds for every window", _everywhere),
}
