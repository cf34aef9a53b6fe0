"""An operator's interface and meaning: a program of tensors in index notation.

A tensor is defined over indices (``at``) by terms over further indices (``over``) that are
combined. What stands in one definition may be reordered by an honest implementation; a definition's
result is stored, and nothing is moved across it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import Any

from conformance.core.functions import of_type
from conformance.core.parser import parse
from conformance.core.tree import NO_NAMES, Kind, Node
from conformance.dtypes import DTYPES, FLOATS
from conformance.errors import ExpressionError

SKIP = "skip"
"""What ``outside`` says where terms that read outside of a tensor are left out."""

OF_ENDS = frozenset({"total", "terms"})
"""Names that only the end of a definition may use: what was combined, and how many terms."""

ROUNDINGS = ("nearest", "away", "toward_zero", "down")
"""Roundings to whole numbers; of two that are nearest the even one, or that farther from 0."""


@dataclass(frozen=True)
class Attribute:
    """An attribute; ``type`` is int, bool, word, or the format that its fractions are stored in.

    ``name`` is what expressions call it, ``spelling`` how the document and cases spell it.
    ``per`` is a group of axes, with an entry for each; a ``list`` has any number of entries. One
    without a ``default`` is required. ``words`` may be given instead of numbers, for which they
    stand; bounds are not theirs.
    """

    name: str
    spelling: str
    type: str = "int"
    per: str | None = None
    list: bool = False
    default: Any = None
    values: tuple[str, ...] = ()
    min: int | None = None
    max: int | None = None
    words: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_fraction(self) -> bool:
        return self.type in FLOATS

    @property
    def kind(self) -> Kind:
        type_ = "rational" if self.is_fraction else self.type
        if self.list:
            return Kind("list", holds=type_)
        return Kind(type_, self.per, words=frozenset(self.values))


@dataclass(frozen=True)
class Erratum:
    """A mistake or gap of the document: what it says, what holds, and why."""

    id: str
    text: str
    holds: str
    why: str


@dataclass(frozen=True)
class Dimension:
    """A name that shapes give a value: one, or one for each axis of the group ``per``.

    The dimensions of a group that is ``broadcast`` are those of all tensors, stretched. ``min`` is
    the least value.
    """

    name: str
    per: str | None = None
    broadcast: bool = False
    min: int = 0


@dataclass(frozen=True)
class Tensor:
    """An input. ``shapes`` are alternatives by rank, of which the first says how it is read.

    ``type`` names a type variable. One that is ``broadcast`` is read from its last dimension on, at
    0 where its extent is 1. ``absent`` is what an optional one reads as where it is not given.
    One with ``entries`` decides shapes: it is a number for each axis, or a list, and not read at
    indices. Whole numbers that are read in indices lie between two ``ends``, where there are some.
    ``patterns`` fill it in cases that are drawn, general ones if there are none. ``ranks`` are the
    least and the greatest number of dimensions, as far as the document says.
    """

    name: str
    type: str
    shapes: tuple[tuple[Node, ...], ...]
    broadcast: bool = False
    absent: Fraction | None = None
    entries: Attribute | None = None
    ranks: tuple[int, int] | None = None
    patterns: tuple[str, ...] = ()
    ends: tuple[Node, Node] | None = None


@dataclass(frozen=True)
class Definition:
    """A tensor: at each of the indices ``at``, the terms over ``over`` combined, and finished.

    ``abbreviations`` are names over the indices, ``keep`` says which terms count. ``outside`` is a
    value for reads outside of a tensor, :data:`SKIP` or None, where they are an error. Without
    ``term`` there is nothing to combine, and ``finish`` is the value. Any value passes where
    ``unspecified`` holds. ``rounding`` says how an output of integers is made of numbers that are
    not whole, of :data:`ROUNDINGS`; without it they have no value.
    """

    name: str
    at: Mapping[str, Node]
    over: Mapping[str, Node]
    abbreviations: Mapping[str, Node]
    finish: Node
    keep: Node | None = None
    outside: Node | str | None = None
    term: Node | None = None
    combine: str = ""
    unspecified: Node | None = None
    rounding: str = ""

    def trees(self) -> Iterator[Node]:
        """Yield all its expressions."""
        yield from (*self.at.values(), *self.over.values(), *self.abbreviations.values())
        trees = (self.keep, self.term, self.finish, self.unspecified)
        yield from (tree for tree in trees if tree is not None)
        if isinstance(self.outside, Node):
            yield self.outside

    @cached_property
    def terms_key(self) -> object:
        """What definitions with the same terms share."""
        names = (self.at, self.over, self.abbreviations)
        outside = self.outside.key if isinstance(self.outside, Node) else self.outside
        trees = (tree and tree.key for tree in (self.keep, self.term))
        return *(tuple((n, t.key) for n, t in some.items()) for some in names), outside, *trees

    @cached_property
    def names(self) -> frozenset[str]:
        """All names that it speaks of."""
        return NO_NAMES.union(*(tree.names for tree in self.trees()))


@dataclass(frozen=True)
class Output:
    """An output: a definition, in the shape that is stated, or without dimensions to ``omit``."""

    name: str
    type: str
    shape: tuple[Node, ...] = ()
    omit: tuple[Node, ...] = ()


@dataclass(frozen=True)
class Interpretation:
    """A reading of the document that is allowed beside the definition's.

    ``change`` is another text (:mod:`conformance.core.changes`), where ``where`` holds of a case on
    any axis, always if None. ``habit`` is one of a machine that computes the same text.
    ``question`` is what the document leaves open, ``adopted`` what the definition answers,
    ``answer`` what this does. ``level`` is that of what it departs from.
    """

    name: str
    question: str
    adopted: str
    answer: str
    why: str
    change: Mapping[str, str | Mapping[str, str]] = field(default_factory=dict)
    where: Node | None = None
    level: str = "should"
    habit: str = ""


@dataclass(frozen=True)
class Rejection:
    """What is said of a condition that negative tests break: their level, and why."""

    condition: str
    level: str
    why: str


@dataclass(frozen=True)
class Profile:
    """A restriction that real backends have: the text of a condition on cases, and why."""

    name: str
    when: str
    why: str


@dataclass(frozen=True)
class Names:
    """What expressions over a case may speak of: kinds by name, words, and shapes of tensors."""

    scope: Mapping[str, Kind]
    words: frozenset[str]
    shapes: Mapping[str, list[str | None]]


@dataclass(frozen=True, eq=False, repr=False)
class Operator:
    """An operator, complete; ``data`` is the document that it was read from."""

    op: str
    types: Mapping[str, tuple[str, ...]]
    attributes: Mapping[str, Attribute]
    dims: Mapping[str, Dimension]
    groups: Mapping[str, Node]
    inputs: tuple[Tensor, ...]
    let: Mapping[str, Node]
    require: Mapping[str, Node]
    define: Mapping[str, Definition]
    outputs: tuple[Output, ...]
    data: Mapping[str, Any]
    names: Names
    interpretations: tuple[Interpretation, ...] = ()
    reject: Mapping[str, Rejection] = field(default_factory=dict)
    errata: tuple[Erratum, ...] = ()
    profiles: tuple[Profile, ...] = ()
    file: str = ""

    def __repr__(self) -> str:
        return f"<Operator {self.op}>"

    @cached_property
    def searches(self) -> Mapping[str, str]:
        """Of definitions that are the best of some terms, another that chooses among the same."""
        choosing = {
            (d.combine.partition("_")[2], d.terms_key): d.name
            for d in self.define.values()
            if "_" in d.combine
        }
        return {
            d.name: choosing[d.combine, d.terms_key]
            for d in self.define.values()
            if (d.combine, d.terms_key) in choosing
        }

    @cached_property
    def has_coordinates(self) -> bool:
        """Whether a definition speaks of coordinates that machines round."""
        trees = chain(*(definition.trees() for definition in self.define.values()))
        return any(node.op == "computed" for tree in trees for node in tree.walk())

    @cached_property
    def axis_lists(self) -> Mapping[str, str]:
        """The groups of axes of the lists that are asked whether they have an axis, by name."""
        lists = {name for name, attribute in self.attributes.items() if attribute.list}
        lists |= {t.name for t in self.inputs if t.entries is not None and t.entries.list}
        nodes = chain(*(tree.walk() for tree in (*self.let.values(), *self.require.values())))
        return {
            str(node.args[1].value): str(node.args[0].value)
            for node in nodes
            if node.op == "among" and node.args[0].op == "name" and node.args[1].value in lists
        }

    @cached_property
    def list_lengths(self) -> frozenset[str]:
        """The dimensions that nothing but lists has: how many entries these have."""
        of_lists: set[str] = set()
        of_others: set[str] = set()
        for tensor in self.inputs:
            is_list = tensor.entries is not None and tensor.entries.list
            for item in chain(*tensor.shapes):
                (of_lists if is_list else of_others).update(item.names)
        return frozenset(self.dims.keys() & of_lists - of_others)

    @property
    def summary(self) -> str:
        """What it computes, in a sentence; perhaps empty."""
        return str(self.data.get("summary", ""))

    def condition(self, text: str) -> Node:
        """Parse a condition on what a case has of attributes and shapes.

        Raises :class:`~conformance.errors.ExpressionError` for what makes no sense here.
        """
        return self._condition(text, self.names)

    def condition_with_types(self, text: str) -> Node:
        """Parse a condition that may speak of element types, too, as in ``T == f64``.

        Raises :class:`~conformance.errors.ExpressionError` for what makes no sense here.
        """
        scope = {**kinds_of_types(self.types), **self.names.scope}
        words = self.names.words.union(*self.types.values())
        return self._condition(text, Names(scope, words, self.names.shapes))

    def element_condition(self, definition: Definition, text: str) -> Node:
        """Parse a condition on an element, which may name what a definition's end does.

        Raises :class:`~conformance.errors.ExpressionError` for what makes no sense here.
        """
        indices = {**definition.at, **definition.over}
        scope = {
            **kinds_of_types(self.types),
            **self.names.scope,
            **{name: Kind("int", n.kind.per, frozenset({name})) for name, n in indices.items()},
            **{name: tree.kind for name, tree in definition.abbreviations.items()},
        }
        words = self.names.words.union(*self.types.values())
        node = self._condition(
            text, Names(finishing_scope(scope, definition.at), words, self.names.shapes)
        )
        gone = sorted(node.kind.indices & definition.over.keys())
        if gone and "_" not in definition.combine:
            raise ExpressionError(f"'{gone[0]}' is combined away", lacks=gone[0])
        if node.kind.per:
            raise ExpressionError("this holds of each axis on its own", hint="say any() or all()")
        return node

    def _condition(self, text: str, names: Names) -> Node:
        return of_type(parse(text, names.scope, names.words, names.shapes), "bool")

    @cached_property
    def spelled(self) -> Mapping[str, Attribute]:
        """The attributes, as the document spells them."""
        return {attribute.spelling: attribute for attribute in self.attributes.values()}

    @cached_property
    def tensors(self) -> Mapping[str, Tensor]:
        """The inputs, by name."""
        return {tensor.name: tensor for tensor in self.inputs}


def finishing_scope(scope: Mapping[str, Kind], at: Mapping[str, Node]) -> dict[str, Kind]:
    """Return the names that the end of a definition may use."""
    rows = frozenset(at)
    return {**scope, "total": Kind("real", None, rows), "terms": Kind("int", None, rows)}


def kinds_of_types(types: Mapping[str, Sequence[str]]) -> dict[str, Kind]:
    """Return the kinds of type variables: words where a condition speaks of them."""
    return {name: Kind("word", words=frozenset(dtypes)) for name, dtypes in types.items()}


def fraction_of(raw: Any) -> Fraction | None:
    """Return the number that a constant says, with a sign or without; None otherwise."""
    text = str(raw).strip()
    negative = text.startswith("-")
    try:
        node = parse(text.removeprefix("-"), {})
    except ExpressionError:
        return None
    if node.op != "constant" or not node.kind.is_number:
        return None
    value = Fraction(node.value)  # type: ignore[arg-type]
    return -value if negative else value


def stored(value: Any, format_: str) -> Fraction:
    """Return a number as a float attribute stores it: rounded once to a format.

    Raises ValueError for what is no finite number.
    """
    number = (
        value
        if isinstance(value, Fraction)
        else fraction_of(value)
        if isinstance(value, str)
        else None
    )
    if number is None:
        number = Fraction(value)
    return Fraction(float(DTYPES[format_].numpy.type(float(number))))
