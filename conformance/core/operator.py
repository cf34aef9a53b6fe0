"""An operator's interface and meaning, read from YAML: a program of tensors in index notation.

A tensor is defined over indices (``at``) by terms over further indices (``over``) that are
combined. What stands in one definition may be reordered by an honest implementation; a definition's
result is stored, and nothing is moved across it.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from conformance.core.functions import FUNCTIONS, of_type
from conformance.core.parser import parse
from conformance.core.patterns import PATTERNS
from conformance.core.tree import NO_NAMES, NUMERIC, Kind, Node
from conformance.dtypes import DTYPES
from conformance.errors import ExpressionError, closest
from conformance.json_schema import load_schema
from conformance.spec import schema_check
from conformance.spec.model import Erratum
from conformance.spec.syntax import parse_expression
from conformance.spec.yaml_reader import parse_yaml
from conformance.spec.yaml_source import Path, Source

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
    def kind(self) -> Kind:
        type_ = "rational" if self.type in DTYPES else self.type
        if self.list:
            return Kind("list", holds=type_)
        return Kind(type_, self.per, words=frozenset(self.values))


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
    One with ``entries`` decides shapes: it is a number for each axis, and not read at indices.
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

    def __reduce__(self) -> tuple[Callable[[str, str], Operator], tuple[str, str]]:
        return _restored, (self.file, json.dumps(self.data))

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
        scope = {**_kinds_of_types(self.types), **self.names.scope}
        words = self.names.words.union(*self.types.values())
        return self._condition(text, Names(scope, words, self.names.shapes))

    def element_condition(self, definition: Definition, text: str) -> Node:
        """Parse a condition on an element of a definition, whose end it speaks of as it does.

        Raises :class:`~conformance.errors.ExpressionError` for what makes no sense here.
        """
        indices = {**definition.at, **definition.over}
        scope = {
            **_kinds_of_types(self.types),
            **self.names.scope,
            **{name: Kind("int", n.kind.per, frozenset({name})) for name, n in indices.items()},
            **{name: tree.kind for name, tree in definition.abbreviations.items()},
        }
        words = self.names.words.union(*self.types.values())
        node = self._condition(
            text, Names(_finishing(scope, definition.at), words, self.names.shapes)
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


def _kinds_of_types(types: Mapping[str, Sequence[str]]) -> dict[str, Kind]:
    """The kinds of type variables, which are words where a condition speaks of them."""
    return {name: Kind("word", words=frozenset(dtypes)) for name, dtypes in types.items()}


@lru_cache(maxsize=64)
def _restored(file: str, data: str) -> Operator:
    """The operator that was sent to a process, the same object each time."""
    return operator_of(Source(file, json.loads(data)))


def read_operator(text: str, file: str = "<text>") -> Operator:
    """Parse an operator's YAML.

    Raises :class:`~conformance.errors.SpecError` with every problem of the text at once.
    """
    return operator_of(parse_yaml(text, file))


def operator_of(source: Source) -> Operator:
    """Build the operator that ``source`` holds; raise SpecError with all its problems."""
    operator = None
    if schema_check.check(source, load_schema("core/operator.schema.json")):
        operator = _Reader(source).operator()
    source.check()
    assert operator is not None
    return operator


_ANY = Kind("int")
"""The kind of what has a problem of its own, so that what speaks of it can be read."""


class _Reader:
    """Reads the sections of one file in turn; problems are noted in ``source``."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.data: dict[str, Any] = source.data
        self.scope: dict[str, Kind] = {}
        self.shapes: dict[str, list[str | None]] = {}
        self.words: frozenset[str] = NO_NAMES

    def operator(self) -> Operator:
        data = self.data
        listed = [self.attribute(name, raw) for name, raw in self.items("attributes")]
        dims = {name: Dimension(name, **raw) for name, raw in self.items("dims")}
        self.words = frozenset(word for a in listed for word in a.values)
        for attribute in listed:
            self.bind(("attributes", attribute.spelling), attribute.kind, attribute.name)
        for dim in dims.values():
            self.bind(("dims", dim.name), Kind("int", dim.per))
        for group in sorted({kind.per for kind in self.scope.values() if kind.per}):
            self.bind(("dims",), Kind("int", group), group)
        groups = {
            name: self.parse(("groups", name), raw, "int") for name, raw in self.items("groups")
        }
        inputs = tuple(self.tensor(number, raw) for number, raw in enumerate(data["inputs"]))
        let = {}
        for name, raw in self.let_in_order():
            let[name] = self.parse(("let", name), raw)
            self.bind(("let", name), let[name].kind)
        require = {
            name: self.parse(("require", name), raw, "bool") for name, raw in self.items("require")
        }
        define = {name: self.definition(name, raw) for name, raw in self.items("define")}
        outputs = tuple(
            self.output(number, raw, define) for number, raw in enumerate(data["outputs"])
        )
        self.check_roles(define)
        types = {name: tuple(dtypes) for name, dtypes in data["types"].items()}
        return Operator(
            op=data["op"],
            types=types,
            attributes={attribute.name: attribute for attribute in listed},
            dims=dims,
            groups=groups,
            inputs=inputs,
            let=let,
            require=require,
            define=define,
            outputs=outputs,
            data=data,
            names=Names(self.scope, self.words, self.shapes),
            file=self.source.file,
            interpretations=tuple(
                self.interpretation(name, raw) for name, raw in self.items("interpretations")
            ),
            reject={name: Rejection(name, **raw) for name, raw in self.items("reject")},
            errata=tuple(Erratum(name, **raw) for name, raw in self.items("errata")),
            profiles=tuple(self.profile(name, **raw) for name, raw in self.items("profiles")),
        )

    def items(self, section: str) -> list[tuple[str, Any]]:
        return list((self.data.get(section) or {}).items())

    def let_in_order(self) -> Iterator[tuple[str, Any]]:
        """Yield names and expressions of ``let``, each after those that it speaks of."""
        waiting = dict(self.items("let"))
        while waiting:
            used = {
                name: set(re.findall(r"\w+", str(raw))) - {name} for name, raw in waiting.items()
            }
            ready = (name for name in waiting if used[name].isdisjoint(waiting))
            name = next(ready, next(iter(waiting)))
            yield name, waiting.pop(name)

    def bind(self, path: Path, kind: Kind, name: str = "") -> None:
        """Give a name its kind; names are unique over all sections."""
        name = name or str(path[-1])
        if name in self.scope:
            self.source.problem(path, f"there are two of the name '{name}'", key=True)
        self.scope[name] = kind

    def parse(
        self,
        path: Path,
        raw: Any,
        *types: str,
        scope: Mapping[str, Kind] | None = None,
        words: frozenset[str] = NO_NAMES,
    ) -> Node:
        """The tree of the expression at ``path``, which is of one of ``types``, if any is named.

        What speaks of something that has a problem of its own is not judged.
        """
        text = str(raw).lower() if isinstance(raw, bool) else str(raw)
        broken = Node("constant", (), _ANY, 0, 0)
        if self.source.broken & set(re.findall(r"\w+", text)):
            self.source.broken.add(str(path[-1]))
            return broken
        try:
            scope = self.scope if scope is None else scope
            node = parse(text, scope, words or self.words, self.shapes)
            return of_type(node, *types) if types else node
        except ExpressionError as error:
            self.source.problem(
                path, error.message, expected=error.expected, hint=error.hint, offset=error.offset
            )
            self.source.broken.add(str(path[-1]))
            return broken

    def interpretation(self, name: str, raw: Mapping[str, Any]) -> Interpretation:
        path: Path = ("interpretations", name)
        if ("change" in raw) == ("habit" in raw):
            self.source.problem(path, "an interpretation has 'change' or 'habit'", key=True)
        where = None
        if "where" in raw:
            types = self.data["types"]
            scope = {**_kinds_of_types(types), **self.scope}
            words = self.words.union(*types.values())
            where = self.parse((*path, "where"), raw["where"], "bool", scope=scope, words=words)
        return Interpretation(name, **{**raw, "where": where})

    def profile(self, name: str, when: Any, why: str) -> Profile:
        path: Path = ("profiles", name, "when")
        if self.parse(path, when, "bool").kind.per:
            hint = "say whether all(...) or any(...) of them"
            self.source.problem(path, "this holds of each axis on its own", hint=hint)
        return Profile(name, str(when), why)

    def attribute(self, spelling: str, raw: Mapping[str, Any]) -> Attribute:
        path: Path = ("attributes", spelling)
        values = tuple(raw.get("values", ()))
        entries = {key: value for key, value in raw.items() if key != "as"}
        name = raw.get("as", spelling)
        attribute = Attribute(name, spelling, **{**entries, "values": values})
        if "-" in name:
            message = f"no expression can speak of '{name}'"
            hint = f"say what they call it: as: {name.replace('-', '_')}"
            self.source.problem(path, message, hint=hint, key=True)
        if (attribute.type == "word") != bool(values):
            self.source.problem(path, "a word has 'values', nothing else has", key=True)
        if attribute.words and (attribute.type != "int" or attribute.list):
            self.source.problem((*path, "words"), "words stand for whole numbers", key=True)
        default = raw.get("default")
        if default is not None and not self._fits(attribute, default):
            self.source.problem(
                (*path, "default"), f"'{default}' is no such value", expected=attribute.type
            )
        return attribute

    @staticmethod
    def _fits(attribute: Attribute, default: Any) -> bool:
        entries = default if isinstance(default, list) else [default]
        if attribute.type == "word":
            return all(entry in attribute.values for entry in entries)
        if attribute.type in DTYPES:
            return all(_fraction(entry) is not None for entry in entries)
        return all(type(entry).__name__ == attribute.type for entry in entries)

    def tensor(self, number: int, raw: Mapping[str, Any]) -> Tensor:
        path: Path = ("inputs", number)
        shapes = tuple(
            tuple(self.parse((*at, k), item, "int") for k, item in enumerate(shape))
            for at, shape in [
                ((*path, "shape"), raw["shape"]),
                *(((*path, "or", k), shape) for k, shape in enumerate(raw.get("or", ()))),
            ]
        )
        name = raw["name"]
        absent = _fraction(raw["absent"]) if "absent" in raw else None
        if "absent" in raw and absent is None:
            self.source.problem((*path, "absent"), "this is no number")
        holds = self._holds((*path, "type"), raw["type"])
        self.shapes[name] = [item.kind.per for item in shapes[0]]
        entries = self._entries(path, raw) if "per" in raw else None
        kind = Kind("tensor", holds=holds) if entries is None else entries.kind
        self.bind((*path, "name"), kind, name)
        for number, pattern in enumerate(raw.get("patterns", ())):
            if pattern not in PATTERNS:
                message = f"'{pattern}' is no pattern of data"
                self.source.unknown((*path, "patterns", number), message, pattern, PATTERNS)
        ranks = tuple(raw["rank"]) if "rank" in raw else None
        if ranks is not None and ranks[0] > ranks[1]:
            self.source.problem((*path, "rank"), "the least rank is larger than the greatest")
        broadcast, patterns = raw.get("broadcast", False), tuple(raw.get("patterns", ()))
        return Tensor(name, raw["type"], shapes, broadcast, absent, entries, ranks, patterns)

    def _entries(self, path: Path, raw: Mapping[str, Any]) -> Attribute:
        """A tensor of whole numbers that are values of the case, as those of an attribute are."""
        dtypes = self.data["types"].get(raw["type"], [raw["type"]])
        if any(dtype in DTYPES and DTYPES[dtype].is_float for dtype in dtypes):
            self.source.problem((*path, "type"), "a tensor with 'per' is of whole numbers")
        if raw["per"] not in self.scope:
            self.source.unknown(
                (*path, "per"), f"'{raw['per']}' is no group of axes", raw["per"], self.scope
            )
        return Attribute(raw["name"], raw["name"], per=raw["per"], min=raw.get("min"))

    def _holds(self, path: Path, variable: str) -> str:
        """The type of a tensor's elements as expressions see it: whole numbers only are plain."""
        types = self.data["types"]
        if variable not in types and variable not in DTYPES:
            self.source.unknown(path, f"'{variable}' is not a type of this file", variable, types)
        # A type variable that is integers alone holds what may be an index, or be computed with.
        return "int" if variable in DTYPES and not DTYPES[variable].is_float else "real"

    def definition(self, name: str, raw: Mapping[str, Any]) -> Definition:
        path: Path = ("define", name)
        at = {key: self.parse((*path, "at", key), text, "int") for key, text in raw["at"].items()}
        over = {
            key: self.parse((*path, "over", key), text, "int")
            for key, text in raw.get("over", {}).items()
        }
        scope = dict(self.scope)
        for key, extent in {**at, **over}.items():
            if key in scope:
                self.source.problem(
                    path, f"the index '{key}' has the name of something else", key=True
                )
            scope[key] = Kind("int", extent.kind.per, frozenset({key}))
        abbreviations = {}
        for key, text in raw.get("with", {}).items():
            abbreviations[key] = self.parse((*path, "with", key), text, scope=scope)
            scope[key] = abbreviations[key].kind
        combine = raw.get("combine", "")
        if ("term" in raw) != bool(combine) or ("value" in raw) == ("term" in raw):
            message = "a definition has 'value', or 'term' and 'combine'"
            self.source.problem(path, message, key=True)
        if "value" in raw:
            for key in sorted(raw.keys() & {"over", "keep", "finish"}):
                self.source.problem((*path, key), f"'{key}' needs 'term' and 'combine'", key=True)
        term = (
            self.parse((*path, "term"), raw["term"], *NUMERIC, scope=scope)
            if "term" in raw
            else None
        )
        keep = (
            self.parse((*path, "keep"), raw["keep"], "bool", scope=scope) if "keep" in raw else None
        )
        outside: Node | str | None = None
        if "outside" in raw:
            outside = SKIP
            if raw["outside"] != SKIP:
                outside = self.parse((*path, "outside"), raw["outside"], *NUMERIC, scope=scope)
        finish = self.finish(path, raw, scope, at, over, combine)
        unspecified = None
        if "unspecified" in raw:
            inner = _finishing(scope, at) if combine else scope
            where = (*path, "unspecified")
            unspecified = self.parse(where, raw["unspecified"], "bool", scope=inner)
        definition = Definition(
            name,
            at,
            over,
            abbreviations,
            finish,
            keep,
            outside,
            term,
            combine,
            unspecified,
            raw.get("rounding", ""),
        )
        holds = "int" if finish.kind.type == "int" else "real"
        self.bind(path, Kind("tensor", holds=holds), name)
        self.shapes[name] = [extent.kind.per for extent in at.values()]
        return definition

    def finish(
        self,
        path: Path,
        raw: Mapping[str, Any],
        scope: dict[str, Kind],
        at: Mapping[str, Node],
        over: Mapping[str, Node],
        combine: str,
    ) -> Node:
        """The value of each element, over what is not combined away, or was chosen."""
        if "value" in raw:
            return self.parse((*path, "value"), raw["value"], *NUMERIC, scope=scope)
        inner = _finishing(scope, at)
        node = self.parse((*path, "finish"), raw.get("finish", "total"), *NUMERIC, scope=inner)
        gone = sorted(node.kind.indices & over.keys())
        if gone and "_" not in combine:
            message = f"'{gone[0]}' is combined away"
            self.source.problem(
                (*path, "finish"), message, hint="first_max and the like choose one"
            )
        return node

    def check_roles(self, define: Mapping[str, Definition]) -> None:
        """Note what the roles name that there is not."""
        names = {*self.scope, *self.words, *FUNCTIONS, *OF_ENDS, *self.data.get("let", {})}
        for definition in define.values():
            names |= {*definition.at, *definition.over, *definition.abbreviations}
        for role, raw in self.items("roles"):
            path: Path = ("roles", role)
            try:
                tree = parse_expression(str(raw))
            except ExpressionError as error:
                self.source.problem(path, error.message, hint=error.hint, offset=error.offset)
                continue
            for syntax in ast.walk(tree):
                if isinstance(syntax, ast.Name) and syntax.id not in names:
                    hint, offset = closest(syntax.id, names), syntax.col_offset
                    message = f"unknown name '{syntax.id}'"
                    self.source.problem(path, message, hint=hint, offset=offset)

    def output(
        self, number: int, raw: Mapping[str, Any], define: Mapping[str, Definition]
    ) -> Output:
        path: Path = ("outputs", number)
        name = raw["name"]
        if name not in define:
            self.source.unknown((*path, "name"), f"'{name}' is not defined", name, define)
        if not self._names_types(raw["type"]):
            self._holds((*path, "type"), raw["type"])
        shape, omit = (
            tuple(
                self.parse((*path, key, k), item, type_) for k, item in enumerate(raw.get(key, ()))
            )
            for key, type_ in (("shape", "int"), ("omit", "bool"))
        )
        return Output(name, raw["type"], shape, omit)

    def _names_types(self, attribute: str) -> bool:
        """Whether an attribute's words are element types."""
        raw = (self.data.get("attributes") or {}).get(attribute) or {}
        return bool(raw.get("values")) and DTYPES.keys() >= set(raw["values"])


def _finishing(scope: Mapping[str, Kind], at: Mapping[str, Node]) -> dict[str, Kind]:
    """The names that the end of a definition may use: what was combined, and how many terms."""
    rows = frozenset(at)
    return {**scope, "total": Kind("real", None, rows), "terms": Kind("int", None, rows)}


def _fraction(raw: Any) -> Fraction | None:
    """The number that a constant of the language says, perhaps with a sign; None if it is none."""
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
        else _fraction(value)
        if isinstance(value, str)
        else None
    )
    if number is None:
        number = Fraction(value)
    return Fraction(float(DTYPES[format_].numpy.type(float(number))))
