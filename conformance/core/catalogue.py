"""The catalogue of known bugs of definitions, in words by role.

A file of ``specs/faults/core/`` holds the mutants of one kind. What its texts name is a role: the
name that an operator gives it, or what the operator's ``roles`` map it to. An operator has a mutant
if it has all of its roles. The format: docs/fault-format.md.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path as FilePath
from typing import Any

from conformance.core.changes import ORIGINAL, condition, texts_of
from conformance.core.functions import FUNCTIONS
from conformance.core.implementation import Implementation
from conformance.core.loader import load_operator, shipped_names
from conformance.core.machine import Style
from conformance.core.mutant_changes import DefinitionChange, HabitChange, PathChange, TextChange
from conformance.core.operator import Operator
from conformance.core.tree import OF_TENSORS
from conformance.dtypes import DTYPES
from conformance.errors import ConformanceError, ExpressionError, closest
from conformance.json_schema import load_schema
from conformance.resources import directory
from conformance.spec import schema_check
from conformance.spec.catalogue import Idle, LeftOut, Mutant, Why, stated
from conformance.spec.each_entries import each_choices, fill_template
from conformance.spec.inapplicable import ADVICE, counted
from conformance.spec.loader import read_text
from conformance.spec.syntax import parse_expression
from conformance.spec.yaml_reader import parse_yaml
from conformance.spec.yaml_source import Path, Source

BUILT_IN = frozenset({ORIGINAL, "total", "terms", "true", "false", "skip", *OF_TENSORS})
"""Names that any text may use."""

RESULT = "result"
"""The role of the definition that an operator gives."""

Edit = tuple[str, str, str]
"""A place, a part of its text or nothing, and the text that is there instead."""

OUTPUTS = "outputs"
"""What a place calls the definitions of all outputs."""

FOLDER = "core"
"""The folder of the files in ``specs/faults``."""


def catalogue_mutants(operator: Operator, folder: str = FOLDER) -> tuple[Mutant, ...]:
    """Return an operator's mutants of the catalogue, in the order of their files.

    ``folder`` is that of the files in ``specs/faults``.
    """
    return _read(operator, folder)[0]


def left_out(operator: Operator, folder: str = FOLDER) -> tuple[LeftOut, ...]:
    """Return the mutants of the catalogue that an operator lacks, each with the reason."""
    return _read(operator, folder)[1]


MAX_ROLES = 8
"""Roles that are named which an operator lacks."""


def inapplicable_lines(operator: Operator) -> Iterator[str]:
    """Yield how many mutants of the catalogue do not apply, then each reason."""
    excluded = left_out(operator)
    every = len(catalogue_mutants(operator)) + len(excluded)
    yield f"{len(excluded)} of {every} mutants of the catalogue do not apply:"
    for why, reason, advice in (
        (Why.LACKS, "missing role", ADVICE),
        (Why.IDLE, "no difference", ""),
    ):
        mutants = [mutant for mutant in excluded if mutant.why is why]
        if mutants:
            yield f"{reason}: {len(mutants)}{counted(mutants, MAX_ROLES)}{advice}"


@lru_cache(maxsize=64)
def _read(operator: Operator, folder: str) -> tuple[tuple[Mutant, ...], tuple[LeftOut, ...]]:
    excluded: list[LeftOut] = []
    mutants = [m for source in _files(folder) for m in _mutants(source, (operator,), excluded)]
    return tuple(mutants), tuple(excluded)


@cache
def _files(folder: str) -> tuple[Source, ...]:
    paths = sorted((directory("specs") / "faults" / folder).glob("*.yaml"))
    return tuple(_sound(parse_yaml(read_text(path), str(path))) for path in paths)


def load_catalogue_text(
    text: str, file: str = "<text>", operators: Iterable[Operator] | None = None
) -> tuple[Mutant, ...]:
    """Parse a catalogue file into mutants, one for each operator that can have it.

    ``operators`` are the shipped ones by default. Raises
    :class:`~conformance.errors.SpecError` with every problem of the file at once, among them
    entries that no operator can have.
    """
    source = _sound(parse_yaml(text, file))
    excluded: list[LeftOut] = []
    if operators is None:
        operators = map(load_operator, shipped_names())
    mutants = tuple(_mutants(source, operators, excluded))
    ids = {mutant.id for mutant in mutants}
    lacking = {reason.entry: reason for reason in reversed(excluded)}
    for name, raw in source.data["faults"].items():
        if ids.isdisjoint(fill_template(name, keys) for keys, _ in each_choices(_each(raw))):
            error = lacking[name].error
            message = "no shipped operator can have this mutant"
            if error is not None:
                message = f"{message}: for {lacking[name].op}, {error.message}"
            hint = "" if error is None else error.hint
            source.problem(("faults", name), message, hint=hint, key=True)
    source.check()
    return mutants


def load_catalogue(path: FilePath) -> tuple[Mutant, ...]:
    """Load the mutants in a file; raises :class:`~conformance.errors.SpecError`."""
    return load_catalogue_text(read_text(path), str(path))


def _sound(source: Source) -> Source:
    """A file whose form is right, and whose texts are expressions; raise SpecError if not."""
    if schema_check.check(source, load_schema("core/faults.schema.json")):
        for name, raw in source.data["faults"].items():
            _check(source, ("faults", name), raw)
    source.check()
    return source


def _each(raw: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    return raw.get("each", {})


def _check(source: Source, path: Path, raw: Mapping[str, Any]) -> None:
    """Note texts that are no expressions, names that 'each' lacks, and formats that are none."""
    kinds = [key for key in ("change", "path", "machine") if key in raw]
    if len(kinds) != 1:
        message = f"an entry has 'change', 'path' or 'machine', here are {len(kinds)} of them"
        source.problem(path, message, key=True)
    for key in sorted({"elements", "also"} & raw.keys()):
        if "change" not in raw:
            source.problem((*path, key), f"'{key}' needs 'change'", key=True)
    for values in (values for values in _each(raw).values() if "path" in raw):
        for key, value in values.items():
            if type(value) is not int or value < 1:
                at = (*path, "each")
                source.problem(at, f"the block {key} is {value}", expected="a whole number from 1")
    filled_texts = [
        *(fill_template(str(path[1]), keys) for keys, _ in each_choices(_each(raw))),
        *(
            fill_template(text, values)
            for _, values in each_choices(_each(raw))
            for text in (
                *raw.get("change", ()),
                *raw.get("also", ()),
                str(raw.get("path", {}).get("block", "")),
            )
        ),
    ]
    if any("{" in text for text in filled_texts):
        source.problem(path, "'each' does not give every {name} that is used", key=True)
    for at, text in _texts(raw):
        for _, values in each_choices(_each(raw)):
            filled = fill_template(text, values)
            try:
                parse_expression(filled)
            except ExpressionError as error:
                # Another choice may have other columns.
                offset = error.offset if filled == text else None
                source.problem((*path, *at), error.message, hint=error.hint, offset=offset)
                break
    for key in ("computes", "sums", "converts"):
        format_ = raw.get("machine", {}).get(key, "f32")
        if format_ not in DTYPES:
            at = (*path, "machine", key)
            source.unknown(at, f"there is no element type '{format_}'", format_, DTYPES)


def _texts(raw: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """All expressions of an entry, and where they are."""
    for key in ("where", "elements"):
        if key in raw:
            yield (key,), _text(raw[key])
    for key in ("change", "also"):
        for location, new in raw.get(key, {}).items():
            if isinstance(new, dict):
                for part, other in new.items():
                    yield (key, location, part), str(part)
                    yield (key, location, part), _text(other)
            else:
                yield (key, location), _text(new)


def _text(raw: Any) -> str:
    return str(raw).lower() if isinstance(raw, bool) else str(raw)


# -- one entry for an operator


def _mutants(
    source: Source, operators: Iterable[Operator], excluded: list[LeftOut]
) -> Iterator[Mutant]:
    """What a sound file says of operators; ``excluded`` takes what they do not have."""
    for operator in operators:
        roles = _Roles.of(operator)
        for name, raw in source.data["faults"].items():
            for keys, values in each_choices(_each(raw)):
                id_ = fill_template(name, keys)
                try:
                    change = _change(roles, id_, raw, values)
                except ConformanceError as error:
                    why = Why.IDLE if isinstance(error, Idle) else Why.LACKS
                    excluded.append(LeftOut(operator.op, name, id_, why, error.lacks, error))
                    continue
                spelled = (id_, operator.op, operator.op.rpartition("-")[0])
                equivalent = raw.get("equivalent", {})
                yield Mutant(
                    id=id_,
                    kind=source.data["kind"],
                    op=operator.op,
                    change=change,
                    description=fill_template(raw["says"], keys),
                    where_to_look=source.data["look"],
                    threads=tuple(raw.get("threads", ())),
                    equivalent=next((equivalent[n] for n in spelled if n in equivalent), ""),
                    stated_equivalences=tuple(stated(raw.get("stated", ()), spelled)),
                    cause=fill_template(raw.get("cause", ""), keys),
                    fixed=raw.get("fixed", {}),
                )


def _change(
    roles: _Roles, id_: str, raw: Mapping[str, Any], values: Mapping[str, str]
) -> DefinitionChange:
    """The change of an entry in an operator's words; raises what the operator lacks of it."""
    operator = roles.operator
    roles.check(raw)
    where = roles.spoken(fill_template(_text(raw["where"]), values)) if "where" in raw else ""
    if where:
        condition(operator, where)
    if "machine" in raw:
        return HabitChange(id_, Style(**raw["machine"]), where)
    if "path" in raw:
        return _path(roles, id_, raw["path"], values, where)
    elements = fill_template(_text(raw.get("elements", "")), values)
    edits = list(_edits(roles, raw["change"], elements, values))
    for location, new in raw.get("also", {}).items():
        for text in [{part: new[part]} for part in new] if isinstance(new, dict) else [new]:
            edits += _possible(roles, {location: text}, elements, values)
    change = TextChange(id_, tuple(edits), where)
    changed = Implementation(operator, change).under([change])
    trees = (
        [*o.let.items(), *((n, d.trees()) for n, d in o.define.items())]
        for o in (operator, changed)
    )
    before, after = ([_keys(entry) for entry in entries] for entries in trees)
    if before == after and _words(operator) == _words(changed):
        raise Idle(f"{operator.op} computes the same with {id_}")
    return change


def _keys(entry: tuple[str, Any]) -> Any:
    name, trees = entry
    return name, trees.key if hasattr(trees, "key") else [tree.key for tree in trees]


def _words(operator: Operator) -> list[Any]:
    """What an operator says beside its expressions."""
    defaults = [attribute.default for attribute in operator.attributes.values()]
    return defaults + [(d.combine, str(d.outside)) for d in operator.define.values()]


def _possible(
    roles: _Roles, change: Mapping[str, Any], elements: str, values: Mapping[str, str]
) -> list[Edit]:
    """The edits of a change, none where the operator lacks what it speaks of."""
    try:
        edits = list(_edits(roles, change, elements, values))
        texts_of(roles.operator, *TextChange("", tuple(edits)).changes)
    except ExpressionError:
        return []
    return edits


def _edits(
    roles: _Roles, change: Mapping[str, Any], elements: str, values: Mapping[str, str]
) -> Iterator[Edit]:
    """The edits of a change, which leave what ``elements`` does not hold for as it is."""
    for raw_place, new in change.items():
        for location in roles.locations(fill_template(raw_place, values)):
            parts = new if isinstance(new, dict) else {"": new}
            for part, other in parts.items():
                old, text = (fill_template(_text(text), values) for text in (part, other))
                text = f"where({elements}, {text}, {old or ORIGINAL})" if elements else text
                yield location, old and roles.spoken(old), roles.spoken(text)


def _path(
    roles: _Roles, id_: str, raw: Mapping[str, Any], values: Mapping[str, str], where: str
) -> PathChange:
    definition = roles.name(raw.get("of", RESULT))
    index = roles.name(raw["index"])
    block = int(fill_template(str(raw["block"]), values))
    stated = roles.operator.define.get(definition)
    combined = raw["gives"] in ("left_out", "twice")
    if stated is None or index not in {**stated.at, **stated.over}:
        raise ExpressionError(
            f"{roles.operator.op} has no index '{raw['index']}'", lacks=raw["index"]
        )
    if combined and index not in stated.over:
        raise ExpressionError(f"'{index}' is not combined away", lacks=raw["index"])
    tree = {**stated.at, **stated.over}[index]
    axis = raw.get("axis", "last") if tree.kind.per else ""
    return PathChange(id_, definition, index, block, raw["gives"], axis, where)


@dataclass(frozen=True)
class _Roles:
    """The names that an operator has for roles, and all that its texts may name."""

    operator: Operator
    texts: Mapping[str, str]
    names: frozenset[str]

    @classmethod
    def of(cls, operator: Operator) -> _Roles:
        names = set(BUILT_IN) | FUNCTIONS.keys()
        sections = (operator.attributes, operator.dims, operator.let, operator.tensors)
        for section in (*sections, operator.define, operator.groups, operator.types):
            names |= section.keys()
        names.update(*operator.types.values())
        for attribute in operator.attributes.values():
            names |= {*attribute.values} | ({attribute.per} if attribute.per else set())
        names |= {dim.per for dim in operator.dims.values() if dim.per}
        for definition in operator.define.values():
            names |= {*definition.at, *definition.over, *definition.abbreviations}
        texts = {role: _text(raw) for role, raw in operator.data.get("roles", {}).items()}
        texts.setdefault(RESULT, operator.outputs[0].name)
        return cls(operator, texts, frozenset(names))

    def spoken(self, text: str) -> str:
        """A text in the words of the operator; raise ExpressionError for a role that it lacks."""
        tree = _Spoken(self).visit(copy.deepcopy(parse_expression(text)))
        return ast.unparse(tree)

    def name(self, role: str) -> str:
        """The name that the operator has for a role."""
        return self.texts.get(role, role)

    def check(self, raw: Mapping[str, Any]) -> None:
        """Raise ExpressionError if an entry is not for operators with such roles."""
        for role in raw.get("has", ()):
            if self.name(role) == role and role not in self.names:
                raise ExpressionError(f"{self.operator.op} has no '{role}'", lacks=role)
        for role in raw.get("lacks", ()):
            if self.name(role) != role or role in self.names:
                raise ExpressionError(f"{self.operator.op} has '{role}'", lacks=f"no {role}")
        combines = self.operator.define[self.name(RESULT)].combine
        if combines not in raw.get("combines", (combines,)):
            message = f"{self.operator.op} combines by {combines or 'nothing'}"
            raise ExpressionError(message, lacks=" or ".join(raw["combines"]))

    def locations(self, text: str) -> list[str]:
        """A place in the words of the operator, in each output's definition if it says so."""
        first, _, rest = text.removeprefix("define.").partition(".")
        if not text.startswith("define.") or first != OUTPUTS:
            return [self.location(text)]
        names = [output.name for output in self.operator.outputs]
        return [self.location(f"define.{name}.{rest}") for name in names]

    def location(self, text: str) -> str:
        """A place in the words of the operator, which must be there."""
        parts = [self.name(part) for part in text.split(".")]
        section: Any = self.operator.data
        for part in parts[:-1]:
            section = section.get(part) if isinstance(section, dict) else None
        optional = parts[0] == "define" and parts[-1] in ("keep", "finish", "outside")
        if not isinstance(section, dict) or not (optional or parts[-1] in section):
            raise ExpressionError(f"{self.operator.op} has no '{text}'", lacks=text)
        return ".".join(parts)


class _Spoken(ast.NodeTransformer):
    """Puts an operator's words in the place of roles."""

    def __init__(self, roles: _Roles) -> None:
        self.roles = roles

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.roles.texts:
            return parse_expression(self.roles.texts[node.id])
        if node.id not in self.roles.names:
            hint = closest(node.id, self.roles.names)
            message = f"{self.roles.operator.op} has no '{node.id}'"
            raise ExpressionError(message, hint=hint, lacks=node.id)
        return node
