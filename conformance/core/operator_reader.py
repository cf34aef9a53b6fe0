"""Reads an operator from YAML, and notes every problem with its place."""

from __future__ import annotations

import ast
import copyreg
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from conformance.core.functions import FUNCTIONS, of_type
from conformance.core.operator import (
    OF_ENDS,
    SKIP,
    Attribute,
    Definition,
    Dimension,
    Erratum,
    Interpretation,
    Names,
    Operator,
    Output,
    Profile,
    Rejection,
    Tensor,
    finishing_scope,
    fraction_of,
    kinds_of_types,
)
from conformance.core.parser import names_in, parse
from conformance.core.patterns import PATTERNS
from conformance.core.tree import NO_NAMES, NUMERIC, OF_TENSORS, Kind, Node
from conformance.dtypes import DTYPES
from conformance.errors import ExpressionError, closest
from conformance.json_schema import load_schema
from conformance.spec import schema_check
from conformance.spec.syntax import parse_expression
from conformance.spec.yaml_reader import parse_yaml
from conformance.spec.yaml_source import Path, Source


@lru_cache(maxsize=64)
def _restored(file: str, data: str) -> Operator:
    """The operator that was sent to a process, the same object each time."""
    return operator_of(Source(file, json.loads(data)))


def _reduced(operator: Operator) -> tuple[Callable[[str, str], Operator], tuple[str, str]]:
    return _restored, (operator.file, json.dumps(operator.data))


copyreg.pickle(Operator, _reduced)


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
        per = {kind.per for kind in self.scope.values() if kind.per}
        for group in sorted(per.union(dict(self.items("groups")))):
            self.bind(("dims",), Kind("int", group), group)
        inputs = tuple(self.tensor(number, raw) for number, raw in enumerate(data["inputs"]))
        groups = {
            name: self.parse(("groups", name), raw, "int") for name, raw in self.items("groups")
        }
        let = {}
        for name, raw in self.let_in_order():
            let[name] = self.parse(("let", name), raw)
            self.bind(("let", name), let[name].kind)
        inputs = tuple(map(self.with_ends, range(len(inputs)), inputs, data["inputs"]))
        require = {
            name: self.condition(("require", name), raw) for name, raw in self.items("require")
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
        speaks_of = {name: names_in(str(raw)) - {name} for name, raw in waiting.items()}
        while waiting:
            ready = (name for name in waiting if waiting.keys().isdisjoint(speaks_of[name]))
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
        if self.source.broken & names_in(text):
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
            where = self.condition((*path, "where"), raw["where"])
        return Interpretation(name, **{**raw, "where": where})

    def condition(self, path: Path, raw: Any) -> Node:
        """Parse a condition, which may speak of element types."""
        types = self.data["types"]
        scope, words = {**kinds_of_types(types), **self.scope}, self.words.union(*types.values())
        return self.parse(path, raw, "bool", scope=scope, words=words)

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
        if attribute.is_fraction:
            return all(fraction_of(entry) is not None for entry in entries)
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
        absent = fraction_of(raw["absent"]) if "absent" in raw else None
        if "absent" in raw and absent is None:
            self.source.problem((*path, "absent"), "this is no number")
        holds = self._holds((*path, "type"), raw["type"])
        if "between" in raw:  # they are read in indices
            holds = "int"
        self.shapes[name] = [item.kind.per for item in shapes[0]]
        entries = self._entries(path, raw) if "per" in raw or "list" in raw else None
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
        """A tensor of numbers that are values of the case, as those of an attribute are."""
        type_ = "int" if self._is_whole(raw["type"]) else raw["type"]
        if type_ not in ("int", "f32", "f64"):
            message = "a tensor that decides shapes is of whole numbers, of f32 or of f64"
            self.source.problem((*path, "type"), message)
            type_ = "int"
        per, is_list = raw.get("per"), "list" in raw
        if per is not None and is_list:
            self.source.problem((*path, "list"), "it has a number per axis, or is a list", key=True)
        if per is not None and per not in self.scope:
            self.source.unknown((*path, "per"), f"'{per}' is no group of axes", per, self.scope)
        least = raw.get("min")
        return Attribute(raw["name"], raw["name"], type_, per=per, list=is_list, min=least)

    def with_ends(self, number: int, tensor: Tensor, raw: Mapping[str, Any]) -> Tensor:
        """A tensor with what its numbers lie between, which may speak of all of a case."""
        if "between" not in raw:
            return tensor
        path: Path = ("inputs", number, "between")
        if not self._is_whole(raw["type"]):
            self.source.problem(path, "a tensor whose numbers lie between two is of whole numbers")
        low, high = (self.parse((*path, k), text, "int") for k, text in enumerate(raw["between"]))
        has_row = bool(tensor.shapes[0]) and not tensor.shapes[0][-1].kind.per
        if (low.kind.per or high.kind.per) and not has_row:
            self.source.problem(path, "ends per axis are of a last dimension, which is single")
        return replace(tensor, ends=(low, high))

    def _holds(self, path: Path, variable: str) -> str:
        """The type of a tensor's elements as expressions see it: truth values are plain, too."""
        types = self.data["types"]
        if variable not in types and variable not in DTYPES:
            self.source.unknown(path, f"'{variable}' is not a type of this file", variable, types)
        if types.get(variable, [variable]) == ["bool"]:
            return "bool"
        # A type variable that is integers alone holds what may be an index, or be computed with.
        return "int" if variable in DTYPES and not DTYPES[variable].is_float else "real"

    def _is_whole(self, variable: str) -> bool:
        """Whether all that a type can be are whole numbers."""
        dtypes = self.data["types"].get(variable, [variable])
        kinds = {DTYPES[dtype].kind for dtype in dtypes if dtype in DTYPES}
        return kinds.isdisjoint(("float", "bool"))

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
            inner = finishing_scope(scope, at) if combine else scope
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
        holds = finish.kind.type if finish.kind.type in ("int", "bool") else "real"
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
            return self.parse((*path, "value"), raw["value"], *NUMERIC, "bool", scope=scope)
        inner = finishing_scope(scope, at)
        node = self.parse(
            (*path, "finish"), raw.get("finish", "total"), *NUMERIC, "bool", scope=inner
        )
        gone = sorted(node.kind.indices & over.keys())
        if gone and "_" not in combine:
            message = f"'{gone[0]}' is combined away"
            self.source.problem(
                (*path, "finish"), message, hint="first_max and the like choose one"
            )
        return node

    def check_roles(self, define: Mapping[str, Definition]) -> None:
        """Note what the roles name that there is not."""
        names = {*self.scope, *self.words, *FUNCTIONS, *OF_TENSORS, *OF_ENDS}
        names |= {*self.data.get("let", {})}
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
