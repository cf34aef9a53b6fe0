"""Mutants by construction: small changes that any text of a definition can have.

A mutant's id is its place and its change, so that it stays while that text does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from conformance.core.changes import replaced
from conformance.core.functions import FUNCTIONS, PER_AXIS_FORMS
from conformance.core.mutant_changes import TextChange
from conformance.core.operator import SKIP, Attribute, Definition, Operator
from conformance.core.parser import parse
from conformance.core.tree import NO_NAMES, NUMERIC, Kind, Node
from conformance.errors import ExpressionError
from conformance.spec.syntax import parse_expression

PAIRS = (("begin", "end"), ("before", "after"), ("low", "high"), ("first", "last"))
"""Parts of names that stand for two ends of one thing."""

COMBINES = {
    "sum": ("max",),
    "product": ("sum",),
    "max": ("min", "sum"),
    "min": ("max", "sum"),
    "first_max": ("last_max", "first_min"),
    "last_max": ("first_max", "last_min"),
    "first_min": ("last_min", "first_max"),
    "last_min": ("first_min", "last_max"),
}
"""What a definition may combine by instead."""

SUMS = ("+", "-", "negative")
UNIT: tuple[object, ...] = ("unit", None)
COMMUTE = ("*", "and", "or", "min", "max", "==", "!=")


@dataclass(frozen=True)
class Text:
    """One expression of an operator: where it stands, what it may speak of, and its words.

    ``about`` names it in a sentence, ``rows`` are the indices of its definition's result.
    """

    location: str
    text: str
    tree: Node
    scope: Mapping[str, Kind]
    about: str
    rows: frozenset[str] = NO_NAMES


@dataclass(frozen=True)
class Variation:
    """A text with ``old`` replaced by ``new``; ``number`` counts equal parts of it from 1.

    ``says`` is what the kernel does, as the rest of a sentence on the place.
    """

    text: str
    old: str
    new: str
    number: int
    says: str


@dataclass(frozen=True)
class TextMutant:
    """A change of a text, and a sentence on it; ``look`` is where it is computed."""

    change: TextChange
    says: str
    look: str


def text_mutants(operator: Operator) -> Iterator[TextMutant]:
    """Yield the mutants of each text of an operator, and of each attribute, without repetition."""
    seen: set[object] = set()
    grammar = _Grammar(operator)
    for text in grammar.texts():
        seen.add((text.location, _meaning(text.tree)))
        for variation in _variations(text, grammar):
            node = grammar.parsed(text, variation.text)
            if node is None or (text.location, _meaning(node)) in seen:
                continue
            seen.add((text.location, _meaning(node)))
            yield _of_variation(text, variation)
    yield from _of_definitions(operator)
    yield from _of_attributes(operator, grammar)


def _of_variation(text: Text, variation: Variation) -> TextMutant:
    count = _count(text.text, variation.old)
    numbered = f" ({variation.number})" if count > 1 else ""
    name = f"{text.location}: {variation.old}{numbered} => {variation.new}"
    edit = (text.location, "", variation.text)
    if count == 1:
        edit = (text.location, variation.old, variation.new)
    says = f"{text.about[0].upper()}{text.about[1:]} {variation.says}."
    return TextMutant(TextChange(name, (edit,)), says, f"where {text.about} is computed")


def _count(text: str, part: str) -> int:
    """How often a text has a part."""
    wanted = ast.dump(parse_expression(part))
    return sum(ast.dump(node) == wanted for node in ast.walk(parse_expression(text)))


class _Grammar:
    """The texts of an operator, and the names that each may speak of."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.words = NO_NAMES.union(*(a.values for a in operator.attributes.values()))
        self.shapes = {
            tensor.name: [item.kind.per for item in tensor.shapes[0]] for tensor in operator.inputs
        }
        self.shapes |= {
            name: [extent.kind.per for extent in definition.at.values()]
            for name, definition in operator.define.items()
        }

    @cached_property
    def of_case(self) -> dict[str, Kind]:
        """The names of a case."""
        operator = self.operator
        scope = {name: attribute.kind for name, attribute in operator.attributes.items()}
        scope |= {name: Kind("int", dim.per) for name, dim in operator.dims.items()}
        groups = sorted({kind.per for kind in scope.values() if kind.per})
        scope |= {group: Kind("int", group) for group in groups}
        return scope

    def tensors(self) -> dict[str, Kind]:
        """The tensors, those of whole numbers as such where a read of them is."""
        kinds = {tensor.name: "real" for tensor in self.operator.inputs}
        for definition in self.operator.define.values():
            for tree in definition.trees():
                kinds |= {str(n.value): n.kind.type for n in tree.walk() if n.op == "read"}
        for name, definition in self.operator.define.items():
            kind = definition.finish.kind.type
            kinds[name] = kind if kind in ("int", "bool") else "real"
        return {name: Kind("tensor", holds=holds) for name, holds in kinds.items()}

    def texts(self) -> Iterator[Text]:
        """Yield every text of the meaning, in its order."""
        scope = {**self.of_case, **self.tensors()}
        data = self.operator.data
        for name, tree in self.operator.let.items():
            about = f"the value {name}"
            yield Text(f"let.{name}", _text(data["let"][name]), tree, dict(scope), about)
            scope[name] = tree.kind
        for name, definition in self.operator.define.items():
            yield from self._of_definition(definition, data["define"][name], scope)

    def _of_definition(
        self, definition: Definition, raw: Mapping[str, object], of_case: Mapping[str, Kind]
    ) -> Iterator[Text]:
        location, name = f"define.{definition.name}", definition.name
        scope, rows = dict(of_case), frozenset(definition.at)
        shaped = any(o.name == name and o.shape for o in self.operator.outputs)
        for section, trees in (("at", definition.at), ("over", definition.over)):
            for key, tree in trees.items():
                # Of another extent than its output is stated to have, a result fits nowhere.
                if section == "over" or not shaped:
                    about = f"the extent of {key} in {name}"
                    text = _text(raw[section][key])  # type: ignore[index]
                    yield Text(f"{location}.{section}.{key}", text, tree, dict(of_case), about)
                scope[key] = Kind("int", tree.kind.per, frozenset({key}))
        for key, tree in definition.abbreviations.items():
            text = _text(raw["with"][key])  # type: ignore[index]
            yield Text(f"{location}.with.{key}", text, tree, dict(scope), f"{key} of {name}", rows)
            scope[key] = tree.kind
        ending = {**scope, "total": Kind("real", None, rows), "terms": Kind("int", None, rows)}
        every = rows | frozenset(definition.over)
        end = every if "_" in definition.combine else rows
        parts = (
            ("keep", definition.keep, scope, f"what {name} keeps", every),
            ("term", definition.term, scope, f"the term of {name}", every),
            ("value", definition.finish, scope, f"the value of {name}", rows),
            ("finish", definition.finish, ending, f"the end of {name}", end),
        )
        for key, part, names, about, indices in parts:
            if key in raw and isinstance(part, Node):
                yield Text(f"{location}.{key}", _text(raw[key]), part, dict(names), about, indices)

    def parsed(self, text: Text, other: str) -> Node | None:
        """Parse what may stand in the place of a text; None if it has no such value."""
        node = self.parsed_in(text, other)
        if node is None:
            return None
        a, b = node.kind, text.tree.kind
        narrower = a.type in NUMERIC and b.type in NUMERIC and a.type != "real"
        fits = a.type == b.type or (narrower and (b.type == "real" or a.type == "int"))
        # What knows only the indices of the result may be used where the others are gone.
        result = b.indices <= text.rows
        return node if fits and a.per == b.per and not (result and a.indices - text.rows) else None

    def parsed_in(self, text: Text, other: str) -> Node | None:
        """Parse what speaks of the names that a text may; None if it makes no sense."""
        try:
            return parse(other, text.scope, self.words, self.shapes)
        except ExpressionError:
            return None


def _text(raw: object) -> str:
    return str(raw).lower() if isinstance(raw, bool) else str(raw)


def _meaning(node: Node) -> tuple[object, ...]:
    """What trees share that compute the same by simple laws."""
    if node.op in SUMS or (node.op == "constant" and type(node.value) is int):
        counts: dict[tuple[object, ...], int] = {}
        _add_up(node, 1, counts)
        terms = [(key, count) for key, count in counts.items() if count]
        if len(terms) == 1 and terms[0][1] == 1 and terms[0][0][-1] == node.kind.per:
            return terms[0][0]
        return ("sum", *sorted(terms, key=repr), node.kind.per)
    args = [_meaning(arg) for arg in node.args]
    if node.op in COMMUTE:
        args.sort(key=repr)
    if node.op == "*" and any(arg[:-1] == ("sum",) for arg in args):
        return ("sum", node.kind.per)
    if node.op == "*" and UNIT in args:
        other = args[1 - args.index(UNIT)]
        if other[-1] == node.kind.per:
            return other
    if node.op in ("//", "/", "ceil_div", "**") and args[1] == UNIT:
        return args[0]
    return (node.op, type(node.value), node.value, *args, node.kind.per)


def _add_up(node: Node, sign: int, counts: dict[tuple[object, ...], int]) -> None:
    """Add the terms of a sum, each as often as it counts."""
    if node.op in SUMS:
        signs = (sign, sign if node.op == "+" else -sign) if len(node.args) > 1 else (-sign,)
        for arg, other in zip(node.args, signs, strict=True):
            _add_up(arg, other, counts)
        return
    if node.op == "constant" and type(node.value) is int:
        key, count = UNIT, sign * node.value
    else:
        key, count = _meaning(node), sign
    if key[:-1] != ("sum",):
        counts[key] = counts.get(key, 0) + count


# -- one change of one expression


def _variations(text: Text, grammar: _Grammar) -> Iterator[Variation]:
    """Yield a text with each of its parts changed, and all of it off by one."""
    root = parse_expression(text.text)
    for syntax in _parts(root):
        for new, says in _changes(syntax, text, grammar):
            yield _varied(text.text, syntax, root, new, says)
    if text.tree.kind.type == "int":
        full_text = ast.unparse(root)
        for new, says in (
            (f"{full_text} + 1", "is 1 too large"),
            (f"{full_text} - 1", "is 1 too small"),
        ):
            yield Variation(new, full_text, new, 1, says)


def _parts(syntax: ast.AST) -> Iterator[ast.expr]:
    """Yield an expression and its parts, but for those of a product with 0."""
    if isinstance(syntax, ast.expr):
        yield syntax
    is_nothing = isinstance(syntax, ast.BinOp) and _is_constant(syntax.left, 0)
    for part in () if is_nothing else ast.iter_child_nodes(syntax):
        yield from _parts(part)


def _is_constant(syntax: ast.AST, *values: int) -> bool:
    return isinstance(syntax, ast.Constant) and (not values or syntax.value in values)


def _plain(text: str) -> str:
    return ast.unparse(parse_expression(text))


def _varied(text: str, syntax: ast.expr, root: ast.expr, new: str, says: str) -> Variation:
    assert syntax.end_col_offset is not None
    begin, end = syntax.col_offset, syntax.end_col_offset
    old = ast.unparse(syntax)
    equal = [
        node.col_offset
        for node in ast.walk(root)
        if isinstance(node, ast.expr) and ast.dump(node) == ast.dump(syntax)
    ]
    number = sorted(equal).index(begin) + 1
    other = _plain(f"{text[:begin]}({new}){text[end:]}")
    return Variation(other, old, _plain(new), number, says)


def _changes(syntax: ast.expr, text: Text, grammar: _Grammar) -> Iterator[tuple[str, str]]:
    if isinstance(syntax, ast.Name):
        yield from _of_name(syntax.id, text, grammar)
    elif isinstance(syntax, ast.BinOp):
        yield from _of_operation(syntax)
    elif isinstance(syntax, ast.Compare) and len(syntax.ops) == 1:
        yield from _of_comparison(syntax)
    elif isinstance(syntax, ast.BoolOp):
        yield from _of_truths(syntax)
    elif isinstance(syntax, ast.Call) and isinstance(syntax.func, ast.Name):
        yield from _of_call(syntax.func.id, syntax.args)
    elif isinstance(syntax, ast.Subscript):
        yield from _of_read(syntax, text, grammar)


def _of_name(name: str, text: Text, grammar: _Grammar) -> Iterator[tuple[str, str]]:
    kind = text.scope.get(name)
    if kind is None or kind.type not in (*NUMERIC, "word"):
        return
    other = _neighbour(name, kind, text, grammar)
    if other:
        yield other, f"is computed with {other} instead of {name}"
    if kind.type in ("int", "rational"):
        attribute = grammar.operator.attributes.get(name)
        neutral = 1 if attribute and (attribute.min == 1 or attribute.default == 1) else 0
        if name in grammar.operator.dims:
            neutral = 1
        constant = str(neutral) if not kind.per else f"0 * {name} + {neutral}"
        yield constant, f"is computed as if {name} were {neutral}"
        if kind.per and name != kind.per:
            yield f"reverse({name})", f"takes {name} of the axes in the opposite order"


def _neighbour(name: str, kind: Kind, text: Text, grammar: _Grammar) -> str:
    """The other end of what a name is one end of, or the next name of the kind; empty if none."""
    for a, b in PAIRS:
        for old, new in ((a, b), (b, a)):
            other = name.replace(old, new)
            if other != name and text.scope.get(other) == kind:
                return other
    section = _section(name, grammar)
    alike = [
        other
        for other, k in text.scope.items()
        if (k.type, k.per) == (kind.type, kind.per) and _section(other, grammar) == section
    ]
    at = alike.index(name)
    return alike[(at + 1) % len(alike)] if len(alike) > 1 else ""


def _section(name: str, grammar: _Grammar) -> str:
    operator = grammar.operator
    for section in ("attributes", "dims", "let", "tensors"):
        if name in getattr(operator, section):
            return section
    return "axes" if name in grammar.of_case else "definition"


def _of_operation(syntax: ast.BinOp) -> Iterator[tuple[str, str]]:
    if _is_constant(syntax.left, 0):
        return
    left, right = ast.unparse(syntax.left), ast.unparse(syntax.right)
    both = ast.unparse(syntax)
    yield left, f"leaves out {right} of {both}"
    if not _is_constant(syntax.right):
        if isinstance(syntax.op, ast.Sub):
            yield f"{left} + ({right})", f"adds where it must subtract, in {both}"
        else:
            yield right, f"leaves out {left} of {both}"
        if isinstance(syntax.op, ast.Add):
            yield f"{left} - ({right})", f"subtracts where it must add, in {both}"
    if isinstance(syntax.op, ast.FloorDiv):
        yield f"ceil_div({left}, {right})", f"rounds {both} up where it must round down"


def _of_comparison(syntax: ast.Compare) -> Iterator[tuple[str, str]]:
    left, right = ast.unparse(syntax.left), ast.unparse(syntax.comparators[0])
    others = {"Lt": "<=", "LtE": "<", "Gt": ">=", "GtE": ">", "Eq": "!=", "NotEq": "=="}
    other = others.get(type(syntax.ops[0]).__name__)
    if other:
        new = f"{left} {other} {right}"
        yield new, f"tests {new} instead of {ast.unparse(syntax)}"


def _of_truths(syntax: ast.BoolOp) -> Iterator[tuple[str, str]]:
    values = [f"({ast.unparse(value)})" for value in syntax.values]
    sign, other = ("and", "or") if isinstance(syntax.op, ast.And) else ("or", "and")
    for number, value in enumerate(values):
        rest = values[:number] + values[number + 1 :]
        yield f" {sign} ".join(rest), f"leaves out the condition {value[1:-1]}"
    yield f" {other} ".join(values), f"takes '{other}' for '{sign}' in {ast.unparse(syntax)}"


def _of_call(name: str, args: list[ast.expr]) -> Iterator[tuple[str, str]]:
    texts = [ast.unparse(arg) for arg in args]
    full_text = f"{name}({', '.join(texts)})"
    if name == "where" and len(args) == 3:
        condition, first, second = texts
        yield first, f"always takes {first}, also where {condition} does not hold"
        yield second, f"always takes {second}, also where {condition} holds"
    elif name in (*PER_AXIS_FORMS, "pow", "bit_and", "bit_or", "bit_xor") and len(args) == 2:
        for kept, gone in ((texts[0], texts[1]), (texts[1], texts[0])):
            yield kept, f"leaves out {gone} of {full_text}"
    elif name == "ceil_div":
        yield f"({texts[0]}) // ({texts[1]})", f"rounds {full_text} down where it must round up"
        yield texts[0], f"leaves out the divisor {texts[1]}"
    elif name in ("floor", "ceil"):
        other = "ceil" if name == "floor" else "floor"
        yield f"{other}({texts[0]})", f"takes {other} for {name} of {texts[0]}"
    elif name == "clamp":
        yield texts[0], f"does not clamp {texts[0]}"
    elif name in ("all", "any"):
        other = "any" if name == "all" else "all"
        yield f"{other}({texts[0]})", f"tests whether {texts[0]} on {other} axes, not on {name}"
        yield f"entry({texts[0]}, 0)", f"tests {texts[0]} on the first axis alone"
    elif name == "reverse":
        yield texts[0], f"does not reverse {texts[0]}"
    elif len(args) == 1 and (name in ("abs", "step", "round") or _is_of_reals(name)):
        yield texts[0], f"leaves out {name} of {texts[0]}"


def _is_of_reals(name: str) -> bool:
    return name in FUNCTIONS and FUNCTIONS[name].real is not None


def _of_read(syntax: ast.Subscript, text: Text, grammar: _Grammar) -> Iterator[tuple[str, str]]:
    """Yield a read with an index forgotten, shifted, or counted from the end."""
    tensor = ast.unparse(syntax.value)
    parts = syntax.slice.elts if isinstance(syntax.slice, ast.Tuple) else [syntax.slice]
    indices = [ast.unparse(part) for part in parts]
    extents = _extents(tensor, grammar)
    for number, index in enumerate(indices):
        extent = extents[number] if number < len(extents) else ""
        others = [
            (f"0 * ({index})", f"reads {tensor} at 0 of dimension {number}, not at {index}"),
            (f"{index} + 1", f"reads {tensor} one further than {index}"),
        ]
        if extent:
            from_the_end = f"{extent} - 1 - ({index})"
            others.append((from_the_end, f"reads {tensor} from the end, not at {index}"))
        if extent and _may_leave(index, text, grammar):
            border = f"clamp({index}, 0, {extent} - 1)"
            says = f"reads the border of {tensor} where {index} is outside"
            others.append((border, says))
        if grammar.shapes.get(tensor, [None] * len(indices))[number]:
            others.append((f"reverse({index})", f"reads {tensor} with axes exchanged in {index}"))
        for new, says in others:
            changed = [*indices[:number], _plain(new), *indices[number + 1 :]]
            yield f"{tensor}[{', '.join(changed)}]", says
    for number in range(len(indices) - 1):
        a, b = indices[number], indices[number + 1]
        swapped = [*indices[:number], b, a, *indices[number + 2 :]]
        yield f"{tensor}[{', '.join(swapped)}]", f"reads {tensor} with {a} and {b} exchanged"


def _may_leave(index: str, text: Text, grammar: _Grammar) -> bool:
    """Whether an index may be outside of a tensor, where its definition says what then is."""
    definition = grammar.operator.define[text.location.split(".")[1]]
    if definition.outside is None:
        return False
    node = grammar.parsed_in(text, index)
    nodes = [] if node is None else list(node.walk())
    for part in nodes:
        if part.op == "name" and part.value in definition.abbreviations:
            nodes += definition.abbreviations[str(part.value)].walk()
    return any(part.op == "-" for part in nodes)


def _extents(tensor: str, grammar: _Grammar) -> list[str]:
    """The texts of a tensor's dimensions that names of the case say."""
    operator = grammar.operator
    for number, given in enumerate(operator.inputs):
        if given.name == tensor:
            raw = operator.data["inputs"][number]
            stretched = given.broadcast or any(
                operator.dims[str(item.value)].broadcast
                for item in given.shapes[0]
                if item.op == "name" and str(item.value) in operator.dims
            )
            return [] if stretched and len(given.shapes[0]) == 1 else list(map(_text, raw["shape"]))
    if tensor in operator.define:
        return [_text(extent) for extent in operator.data["define"][tensor]["at"].values()]
    return []


# -- changes of a definition that are none of an expression


def _of_definitions(operator: Operator) -> Iterator[TextMutant]:
    for name, definition in operator.define.items():
        for other in COMBINES.get(definition.combine, ()):
            change = _edit(f"define.{name}.combine", definition.combine, other)
            says = f"{name} combines its terms by {other} instead of {definition.combine}."
            yield TextMutant(change, says, f"where the terms of {name} are combined")
        if definition.outside is not None:
            raw = operator.data["define"][name]["outside"]
            zero = definition.combine == "sum" and definition.outside == SKIP
            for other in ("1",) if zero else ("0", "1"):
                if other != _text(raw):
                    change = _edit(f"define.{name}.outside", _text(raw), other)
                    says = f"{name} reads {other} outside of a tensor."
                    yield TextMutant(change, says, f"where {name} reads outside of a tensor")


def _edit(location: str, old: str, new: str) -> TextChange:
    return TextChange(f"{location}: {old} => {new}", ((location, "", new),))


# -- attributes


def _of_attributes(operator: Operator, grammar: _Grammar) -> Iterator[TextMutant]:
    for name, attribute in operator.attributes.items():
        used = [t for t in grammar.texts() if name in t.tree.names]
        look = f"where the attribute {name} is read"
        for new, label, says in _misread(attribute):
            edits = tuple((text.location, name, new) for text in used)
            if edits and all(_fits_all(text, name, new, grammar) for text in used):
                change = TextChange(f"attributes.{name}: {label}", edits)
                yield TextMutant(change, f"The attribute {name} {says}.", look)
        other = _other_default(attribute)
        if other:
            location = f"attributes.{attribute.spelling}.default"
            change = _edit(location, _text(attribute.default), other)
            says = f"The attribute {name} is {other} where it is left out."
            yield TextMutant(change, says, f"where the default of {name} is")


def _fits_all(text: Text, name: str, new: str, grammar: _Grammar) -> bool:
    try:
        return grammar.parsed(text, replaced(text.text, name, new)) is not None
    except ExpressionError:
        return False


def _misread(attribute: Attribute) -> Iterator[tuple[str, str, str]]:
    """Yield how else an attribute is read: what stands for it, a label, and words."""
    name = attribute.name
    if attribute.default is not None and not attribute.list:
        default = _text(attribute.default)
        if attribute.per and attribute.type != "word":
            default = f"0 * {name} + {default}"
        yield default, "ignored", "is ignored"
    if attribute.per and attribute.type == "int":
        every = "its first entry is taken for every axis"
        yield f"entry({name}, 0 * {name})", "first axis for all", f"is misread: {every}"
        yield f"reverse({name})", "axes reversed", "is read with its axes in the opposite order"


def _other_default(attribute: Attribute) -> str:
    default = attribute.default
    if default is None or attribute.list:
        return ""
    if attribute.type == "word":
        at = attribute.values.index(default)
        return attribute.values[(at + 1) % len(attribute.values)]
    if attribute.type == "bool":
        return _text(not default)
    if attribute.type != "int" or type(default) is not int:
        return "0" if default else "1"
    low = default + 1 if attribute.max is None or default < attribute.max else default - 1
    return str(low)
