"""The data model of a specification. Built by :mod:`conformance.spec.loader`."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any

from conformance.model import Case
from conformance.spec.expressions import Expression, reach
from conformance.spec.family import Family, Layout
from conformance.spec.family_index import family_of

Bound = Expression | None
Position = tuple[str, int, int]
"""File, line and column; the latter from 1."""


@dataclass(frozen=True)
class Document:
    """The publication of an operator's document."""

    title: str
    url: str


@dataclass(frozen=True)
class Erratum:
    """A mistake or gap of the document: what it says, what holds, and why."""

    id: str
    text: str
    holds: str
    why: str


@dataclass(frozen=True)
class DrawBounds:
    """Bounds, inclusive, within which a value is drawn for vectors; narrower than what is legal."""

    min: Bound = None
    max: Bound = None
    values: tuple[str | bool | int, ...] = ()


@dataclass(frozen=True)
class Quantity:
    """A named value of a case: an attribute, a dimension or an integer input.

    ``type`` is ``int``, ``bool`` or ``enum``. ``name`` is spelled as the document spells it,
    ``key`` as expressions do (``alias``, or ``name`` with ``_`` for ``-``). ``min`` and ``max``
    bound what is legal; a value outside breaks the condition ``<key>.min`` or ``<key>.max`` at
    ``level``. Every vector with another value than ``twin`` is made with it, too. The ``default``
    of one per axis is that of each axis; with ``like`` it is the value of the attribute of that
    name. ``written`` says, for each value of an enum or a bool, how the document writes it, which
    is what cases hold. Two quantities of one ``name`` are the halves of one list of the document:
    ``half`` 0 is the first, 1 the second. Cases that are made give a default only where
    ``given_if`` holds, a condition on the attributes by key.
    """

    name: str
    type: str
    per_axis: bool = False
    required: bool = False
    default: int | bool | str | None = None
    values: tuple[str, ...] = ()
    min: Bound = None
    max: Bound = None
    level: str = "must"
    draw: DrawBounds = field(default_factory=DrawBounds)
    twin: str | bool | None = None
    why: str = ""
    alias: str = ""
    written: Mapping[str | bool, str | int | bool] = field(default_factory=dict)
    half: int | None = None
    given_if: Expression | None = None
    like: str = ""

    @property
    def key(self) -> str:
        return self.alias or self.name.replace("-", "_")

    @property
    def whole(self) -> str:
        """Name that conditions on the list use: of a half the list's, else the ``key``."""
        return self.key if self.half is None else self.name.replace("-", "_")

    def of(self, attributes: Mapping[str, Any], axes: int) -> Any:
        """Return the value among attributes: as given, or the default; None without either."""
        value = attributes.get(self.name)
        if value is None and self.like:
            value = attributes.get(self.like)
        if value is not None or self.default is None:
            return self.read(value)
        return [self.default] * axes if self.per_axis else self.default

    def put(self, attributes: Mapping[str, Any], value: Any) -> dict[str, Any]:
        """Write this value into attributes by name."""
        if not self.per_axis:
            return {**attributes, self.name: self.write(value)}
        if self.half is None:
            return {**attributes, self.name: list(value)}
        entries = attributes.get(self.name)
        if entries is None:
            entries = [self.default or 0] * (2 * len(value))
        halves = [entries[: len(entries) // 2], entries[len(entries) // 2 :]]
        halves[self.half] = value
        return {**attributes, self.name: [*halves[0], *halves[1]]}

    def is_default(self, value: Any, other_attributes: Mapping[str, Any]) -> bool:
        """Return whether a value is the attribute's default beside the ``other_attributes``."""
        if not self.per_axis:
            return bool(self.of(other_attributes, 0) == value)
        default = self.of(other_attributes, len(value))
        return default is not None and list(default) == list(value)

    def may_be_given(self, values: Mapping[str, Any]) -> bool:
        """Return whether cases state a default beside these values of the attributes, by key."""
        if self.given_if is None:
            return True
        env = {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}
        return bool(self.given_if.evaluate(env))

    def write(self, value: Any) -> Any:
        """Spell a single value as the document does."""
        return self.written.get(value, value) if self.written else value

    def read(self, value: Any) -> Any:
        """Parse a value spelled as in the document; an unknown word is no value.

        Of a list of two halves it is this one's half; of an odd list the second is the longer one.
        """
        if self.half is not None and isinstance(value, list | tuple):
            middle = len(value) // 2
            return value[middle:] if self.half else value[:middle]
        if not self.written or value is None:
            return value
        for word, code in self.written.items():
            if type(code) is type(value) and code == value:
                return word
        return repr(value)


@dataclass(frozen=True)
class TensorInput:
    """An input filled with data: ``shape`` lists dimension names; a per-axis one expands.

    ``rank`` and ``patterns`` are those of the first, from which those of others follow. ``level``
    says how binding it is that there are no other ranks.
    """

    name: str
    type: str
    shape: tuple[str, ...]
    rank: tuple[int, int]
    patterns: tuple[str, ...]
    level: str = "must"


@dataclass(frozen=True)
class OperandInput:
    """An integer input given outright, one value an axis (``output_size``)."""

    name: str
    type: str
    quantity: Quantity


@dataclass(frozen=True)
class OutputSpec:
    """An output: name, type, shape, and which of its family's values it ``holds``.

    ``type`` names a type variable, or the attribute that says the type.
    """

    name: str
    type: str
    holds: str
    shape: tuple[str, ...]


@dataclass(frozen=True)
class Requirement:
    """A condition on the whole case, for every axis; a negative test breaks its ``name``."""

    name: str
    that: Expression
    level: str
    why: str


@dataclass(frozen=True)
class RuleChange:
    """The oracle's rules with some replaced, where ``where`` holds (always, if None).

    An interpretation is one with a ``question`` that the document leaves open; ``adopted`` is what
    the reference answers, ``answer`` what the variant does.
    """

    name: str
    replace: Mapping[str, Expression]
    where: Expression | None
    level: str
    why: str
    question: str = ""
    adopted: str = ""
    answer: str = ""


@dataclass(frozen=True)
class Observation:
    """An open question; answers are reported and never judged.

    Output elements where ``where`` holds show it, of those that are open or expected to be zero.
    ``expected`` says in words what the vector's expected value would mean there, if anything.
    """

    name: str
    where: Expression
    question: str
    expected: str = ""


@dataclass(frozen=True)
class CoverageTarget:
    """A named predicate over cases, with constraints ``aims`` to draw cases that meet it.

    A coverage target, or a profile: a restriction that real backends have.

    ``vacuous`` names trivial implementations (:mod:`conformance.audit.trivial_implementations`)
    that may pass a vector which shows the edge, each with the reason why. A profile that most
    backends have is ``usual`` for some cases: of these, those outside it are worth less, and few.
    ``common`` says why cases with the edge are common in real models; empty where nobody says that
    they are.
    """

    name: str
    when: Expression
    why: str
    aims: tuple[Mapping[str, DrawBounds], ...] = ()
    vacuous: Mapping[str, str] = field(default_factory=dict)
    usual: Expression | None = None
    common: str = ""


@dataclass(frozen=True)
class NegativeTest:
    """A change that makes a valid case invalid, breaking exactly the condition ``breaks``.

    ``set`` gives a quantity another value (an expression, or text for an enum) on one axis;
    ``length`` gives a per-axis quantity another number of entries; ``rank`` the data another
    rank. ``aim`` narrows the valid case it starts from, which meets ``within``; ``ranks`` are those
    it is made for.
    """

    name: str
    breaks: str
    level: str
    why: str
    set: Mapping[str, Expression | str] = field(default_factory=dict)
    length: Mapping[str, Expression] = field(default_factory=dict)
    rank: int | None = None
    ranks: tuple[int, ...] = ()
    aim: Mapping[str, DrawBounds] = field(default_factory=dict)
    within: Expression | None = None


@dataclass(frozen=True, repr=False)
class OpSpec:
    """One operator, complete."""

    op: str
    family: str
    summary: str
    document: Document
    types: Mapping[str, tuple[str, ...]]
    dims: Mapping[str, Quantity]
    data: TensorInput
    operands: tuple[OperandInput, ...]
    attributes: tuple[Quantity, ...]
    definitions: Mapping[str, Expression]
    require: tuple[Requirement, ...]
    outputs: tuple[OutputSpec, ...]
    interpretations: tuple[RuleChange, ...]
    observe: tuple[Observation, ...]
    edges: tuple[CoverageTarget, ...]
    profiles: tuple[CoverageTarget, ...]
    reject: tuple[NegativeTest, ...]
    errata: tuple[Erratum, ...]
    file: str = ""
    positions: Mapping[tuple[str | int, ...], Position] = field(
        default_factory=dict, repr=False, compare=False
    )
    """Where each key is, by its path: ``("edges", "batch")``."""
    lineage: tuple[str, ...] = ()
    """The operator, the one that its file extends, the one which that extends, and so on."""
    roles: Mapping[str, str] = field(default_factory=dict)
    """Words of the catalogue, and what they are called here."""
    equivalent: Mapping[str, str] = field(default_factory=dict)
    """By fault, why nothing can show it."""
    source: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """What the file says together with those that it extends, as the plain data of one file."""
    others: tuple[TensorInput, ...] = ()
    """Tensors beside ``data``, which is the first."""

    def __repr__(self) -> str:
        return f"<OpSpec {self.op}>"

    def __hash__(self) -> int:
        # What is worked out for a specification can be kept; tables of values have no hash.
        # Files of one operator differ here already: to compare all that they say takes long.
        return hash((self.op, self.file))

    def __reduce__(self) -> tuple[Callable[[bytes], OpSpec], tuple[bytes]]:
        return _unpacked, (self._packed,)

    @cached_property
    def _packed(self) -> bytes:
        """What is sent to other processes, with every task of theirs."""
        return pickle.dumps({field.name: getattr(self, field.name) for field in fields(self)})

    def reach(self, expressions: Iterable[Expression]) -> frozenset[str]:
        """Collect all names that expressions use, directly or through definitions."""
        names = (name for expression in expressions for name in expression.names)
        return reach(names, self._speaks_of)

    @cached_property
    def _speaks_of(self) -> Mapping[str, frozenset[str]]:
        return {name: expression.names for name, expression in self.definitions.items()}

    @property
    def kin(self) -> Family:
        """The family itself."""
        return family_of(self.family)

    @cached_property
    def layout(self) -> Layout:
        """Dimensions of its tensors."""
        return self.kin.layout

    @property
    def tensors(self) -> tuple[TensorInput, ...]:
        """All inputs that are filled with data."""
        return (self.data, *self.others)

    @property
    def selected(self) -> frozenset[str]:
        """Possible values of the family's selector, which decides which rules matter."""
        selector = self.definitions.get(self.kin.selector)
        return (selector.kind.values if selector else None) or frozenset()

    def rank_of(self, case: Case) -> int:
        """Return the rank of a case's data, as partitions count it."""
        return len(case.shapes[self.data.name])

    def axes_of(self, case: Case) -> int:
        """Return a case's number of axes."""
        return self.layout.axes(self.rank_of(case))

    def fills(self, pattern: str, dtype: str) -> bool:
        """Return whether a pattern can fill data of an element type."""
        return self.kin.fills(pattern, dtype)

    @property
    def aims(self) -> tuple[Mapping[str, DrawBounds], ...]:
        """Generation constraints of all targets."""
        return tuple(aim for target in self.edges for aim in target.aims)

    @cached_property
    def patterns(self) -> tuple[str, ...]:
        """Patterns that fill data: those of drawn cases, and those that constraints request."""
        aimed = (map(str, aim["pattern"].values) for aim in self.aims if "pattern" in aim)
        return tuple(dict.fromkeys(chain(self.data.patterns, *aimed)))

    @cached_property
    def ranks(self) -> range:
        return range(self.data.rank[0], self.data.rank[1] + 1)

    @cached_property
    def quantities(self) -> Mapping[str, Quantity]:
        """Every quantity by its key: attributes, dimensions, operands (drawing order)."""
        quantities = {q.key: q for q in self.attributes}
        quantities.update({q.key: q for q in self.dims.values()})
        quantities.update({o.quantity.key: o.quantity for o in self.operands})
        return quantities


@lru_cache(maxsize=64)
def _unpacked(packed: bytes) -> OpSpec:
    """What :attr:`OpSpec._packed` packed, and the same object each time: what is kept for a
    specification is found again.
    """
    return OpSpec(**pickle.loads(packed))  # noqa: S301 - sent by a process of ours
