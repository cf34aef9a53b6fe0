"""The catalogue of known bugs, in words by role.

A file of ``specs/faults/`` holds the mutants of one kind. What its texts name is a role: the
name that an operator gives it, or what the operator's ``roles`` map it to. An operator has a mutant
if it has all of its roles. The format: docs/fault-format.md.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from conformance.core.changes import LEFT_OUT, ORIGINAL, condition, texts_of
from conformance.core.functions import FUNCTIONS
from conformance.core.implementation import implementation_of
from conformance.core.loader import load_operator, shipped_names
from conformance.core.machine import EXACT, OWN, Style
from conformance.core.mutant_changes import DefinitionChange, HabitChange, PathChange, TextChange
from conformance.core.operator import OF_ENDS, Operator
from conformance.core.text_difference import text_difference
from conformance.core.tree import OF_TENSORS
from conformance.dtypes import DTYPES
from conformance.errors import ConformanceError, ExpressionError, closest
from conformance.json_schema import load_schema
from conformance.resources import directory
from conformance.spec import schema_check
from conformance.spec.catalogue import Idle, LeftOut, Mutant, Why, stated
from conformance.spec.each_entries import each_choices, fill_template
from conformance.spec.syntax import parse_expression
from conformance.spec.yaml_reader import parse_yaml, read_text
from conformance.spec.yaml_source import Path, Source

BUILT_IN = frozenset({ORIGINAL, *OF_ENDS, "true", "false", "skip", *OF_TENSORS})
"""Names that any text may use."""

GIVEN = "given."
"""Before a name that is misread: what speaks of it has another value."""

PERHAPS = "~"
"""After a place that an operator may lack."""

EVERY = "*"
"""Each definition."""

RESULT = "result"
"""The role of the definition that an operator gives."""


def catalogue_mutants(operator: Operator) -> tuple[Mutant, ...]:
    """Return an operator's mutants of the catalogue, in the order of their files."""
    return _read(operator)[0]


def left_out(operator: Operator) -> tuple[LeftOut, ...]:
    """Return the mutants of the catalogue that an operator lacks, each with the reason."""
    return _read(operator)[1]


MAX_ROLES = 8
"""Roles that are named which an operator lacks."""


def inapplicable_lines(operator: Operator) -> Iterator[str]:
    """Yield how many mutants of the catalogue do not apply, then each reason."""
    excluded = left_out(operator)
    every = len(catalogue_mutants(operator)) + len(excluded)
    yield f"{len(excluded)} of {every} mutants of the catalogue do not apply:"
    for why, reason, advice in (
        (Why.LACKS, "missing role", "; where the operator has such a thing, name it under 'roles'"),
        (Why.IDLE, "no difference", ""),
    ):
        mutants = [mutant for mutant in excluded if mutant.why is why]
        if mutants:
            yield f"{reason}: {len(mutants)}{_lacked(mutants)}{advice}"


def _lacked(mutants: Sequence[LeftOut]) -> str:
    """How many lack which name, most frequent first; empty without names."""
    counts = Counter(mutant.of for mutant in mutants if mutant.of).most_common()
    names = [f"{name} {count}" for name, count in counts[:MAX_ROLES]]
    if len(counts) > MAX_ROLES:
        names.append(f"and {len(counts) - MAX_ROLES} more")
    return f" ({', '.join(names)})" if names else ""


@lru_cache(maxsize=64)
def _read(operator: Operator) -> tuple[tuple[Mutant, ...], tuple[LeftOut, ...]]:
    excluded: list[LeftOut] = []
    mutants = [m for source in _files() for m in _mutants(source, (operator,), excluded)]
    return tuple(mutants), tuple(excluded)


@cache
def _files() -> tuple[Source, ...]:
    paths = sorted((directory("specs") / "faults").glob("*.yaml"))
    return tuple(_sound(parse_yaml(read_text(path), str(path))) for path in paths)


def load_catalogue_text(
    text: str, file: str = "<text>", operators: Iterable[Operator] | None = None
) -> tuple[Mutant, ...]:
    """Parse a catalogue file into mutants, one for each operator that can have it.

    ``operators`` are all that there are files of if they are not given. Raises
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
            reason = lacking.get(name)
            error = None if reason is None else reason.error
            message = "no shipped operator can have this mutant"
            if reason is not None and error is not None:
                message = f"{message}: for {reason.op}, {error.message}"
            hint = "" if error is None else error.hint
            source.problem(("faults", name), message, hint=hint, key=True)
    source.check()
    return mutants


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
    if "elements" in raw and "change" not in raw:
        source.problem((*path, "elements"), "'elements' needs 'change'", key=True)
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
            for text in (*raw.get("change", ()), str(raw.get("path", {}).get("block", "")))
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
    for key in ("computes", "sums", "divides", "converts"):
        for _, values in each_choices(_each(raw)):
            format_ = _filled(raw.get("machine", {}), values).get(key, "f32")
            if format_ not in DTYPES and format_ not in (OWN, EXACT):
                at = (*path, "machine", key)
                source.unknown(at, f"there is no element type '{format_}'", format_, DTYPES)
                break


def _filled(habits: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
    """The habits of an entry for a choice of what ``each`` gives."""
    return {
        key: fill_template(habit, values) if isinstance(habit, str) else habit
        for key, habit in habits.items()
    }


def _texts(raw: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """All expressions of an entry, and where they are."""
    for key in ("where", "elements"):
        if key in raw:
            yield (key,), _text(raw[key])
    for location, new in raw.get("change", {}).items():
        if isinstance(new, dict):
            for part, other in new.items():
                yield ("change", location, part), str(part)
                yield ("change", location, part), _text(other)
        else:
            yield ("change", location), _text(new)


def _text(raw: Any) -> str:
    return str(raw).lower() if isinstance(raw, bool) else str(raw)


# -- one entry for an operator


def _mutants(
    source: Source, operators: Iterable[Operator], excluded: list[LeftOut]
) -> Iterator[Mutant]:
    """What a sound file says of operators; ``excluded`` takes what they do not have."""
    for operator in operators:
        roles = _Roles.of(operator)
        if roles.misfit(source.data.get("only", {})):
            continue  # the file is about others
        for name, raw in source.data["faults"].items():
            for keys, values in each_choices(_each(raw)):
                id_ = fill_template(name, keys)
                spelled = (id_, operator.op, operator.op.rpartition("-")[0])
                if "operators" in raw and {*raw["operators"]}.isdisjoint(spelled):
                    excluded.append(LeftOut(operator.op, name, id_, Why.NAMED))
                    continue
                if misfit := roles.misfit(raw.get("only", {})):
                    excluded.append(LeftOut(operator.op, name, id_, Why.KIND, misfit.lacks, misfit))
                    continue
                try:
                    change = _change(roles, id_, raw, values)
                except ConformanceError as error:
                    why = Why.IDLE if isinstance(error, Idle) else Why.LACKS
                    excluded.append(LeftOut(operator.op, name, id_, why, error.lacks, error))
                    continue
                yield Mutant(
                    id=id_,
                    kind=source.data["kind"],
                    op=operator.op,
                    change=change,
                    description=fill_template(raw["says"], keys),
                    where_to_look=source.data["look"],
                    threads=tuple(raw.get("threads", ())),
                    excused_by=_reading(operator, raw.get("reading", ""), spelled),
                    equivalent=_by_name(raw.get("equivalent", {}), spelled),
                    stated_equivalences=tuple(stated(raw.get("stated", ()), spelled)),
                    cause=fill_template(raw.get("cause", ""), keys),
                    fixed=raw.get("fixed", {}),
                )


def _change(
    roles: _Roles, id_: str, raw: Mapping[str, Any], values: Mapping[str, str]
) -> DefinitionChange:
    """The change of an entry in an operator's words; raises what the operator lacks of it."""
    operator = roles.operator
    where = roles.spoken(fill_template(_text(raw["where"]), values)) if "where" in raw else ""
    if where:
        condition(operator, where)
    if "machine" in raw:
        return HabitChange(id_, Style(**_filled(raw["machine"], values)), where)
    if "path" in raw:
        return _path(roles, id_, raw["path"], values, where)
    elements = roles.spoken(fill_template(_text(raw.get("elements", "true")), values))
    for output in operator.outputs:
        operator.element_condition(operator.define[output.name], elements)
    edits = tuple(_edits(roles, raw["change"], values))
    change = TextChange(id_, edits, where, elements if "elements" in raw else "")
    changed = implementation_of(operator, change).under([change])
    if text_difference(operator, changed).is_empty:
        raise Idle(f"{operator.op} computes the same with {id_}")
    return change


def _by_name(texts: Mapping[str, str], spelled: Iterable[str]) -> str:
    """The text of a mutant or an operator, which has one by its name."""
    return next((texts[name] for name in spelled if name in texts), "")


def _reading(operator: Operator, raw: str | Mapping[str, str], spelled: Iterable[str]) -> str:
    """The interpretation that excuses a mutant, if the operator has it."""
    name = raw if isinstance(raw, str) else _by_name(raw, spelled)
    return name if any(name == entry.name for entry in operator.interpretations) else ""


def _edits(
    roles: _Roles, change: Mapping[str, Any], values: Mapping[str, str]
) -> Iterator[tuple[str, str, str]]:
    for raw_place, new in change.items():
        place = fill_template(raw_place, values)
        if place.startswith(GIVEN):
            text = roles.spoken(fill_template(_text(new), values))
            yield from roles.misread(place.removeprefix(GIVEN), text)
            continue
        for location in roles.locations(place):
            parts = new if isinstance(new, dict) else {"": new}
            for part, other in parts.items():
                old, text = (fill_template(_text(text), values) for text in (part, other))
                try:
                    edit = roles.edit(location, old, text)
                except ExpressionError:
                    if not place.endswith(PERHAPS):
                        raise
                else:
                    yield edit


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
        for section in (*sections, operator.define, operator.groups):
            names |= section.keys()
        names |= operator.types.keys() | DTYPES.keys()
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

    def locations(self, text: str) -> Iterator[str]:
        """Places in the words of the operator, which must be there, or may be missing: ``at?``.

        A ``*`` stands for each definition that has the rest.
        """
        first, *rest = text.removesuffix(PERHAPS).split(".")
        many = first == "define" and rest[0] == EVERY
        heads = [*self.operator.define] if many else [self.name(rest[0])]
        paths = [[first, head, *map(self.name, rest[1:])] for head in heads]
        paths = [path for path in paths if self._is_there(path)]
        if not paths and not text.endswith(PERHAPS):
            raise ExpressionError(f"{self.operator.op} has no '{text}'", lacks=text)
        yield from map(".".join, paths)

    def _is_there(self, path: Sequence[str]) -> bool:
        section: Any = self.operator.data
        for part in path[:-1]:
            if isinstance(section, list):
                section = next((entry for entry in section if entry["name"] == part), None)
            else:
                section = section.get(part) if isinstance(section, dict) else None
        optional = path[0] == "define" and path[-1] in (*LEFT_OUT, "outside")
        optional |= path[0] == "outputs" and path[-1] == "shape"
        return isinstance(section, dict) and (optional or path[-1] in section)

    def misfit(self, only: Mapping[str, Any]) -> ExpressionError | None:
        """Why an entry is not for the operator, if it is for others only."""
        op, names = self.operator.op, self.names | self.texts.keys()
        combine = self.operator.define[self.operator.outputs[0].name].combine
        if only.get("combine", combine) != combine:
            message = f"{op} combines by {combine or 'nothing'}"
            return ExpressionError(message, lacks=f"combine {only['combine']}")
        for role in only.get("roles", ()):
            if role not in names:
                return ExpressionError(f"{op} has no '{role}'", lacks=f"role {role}")
        for role in only.get("lacks", ()):
            if role in names:
                return ExpressionError(f"{op} has '{role}'", lacks=f"no {role}")
        return None

    def edit(self, location: str, part: str, text: str) -> tuple[str, str, str]:
        """An edit in the words of the operator; raise ExpressionError for what it lacks of it."""
        if location.endswith((".combine", ".rounding", ".type")):
            return location, "", text
        if part:
            part = self.spoken(part)
            texts_of(self.operator, {location: {part: part}})
        return location, part, self.spoken(text)

    def misread(self, role: str, text: str) -> Iterator[tuple[str, str, str]]:
        """Another value of a name in all that speaks of it, as edits."""
        name = self.name(role)
        if name not in self.operator.let and name not in self.operator.names.scope:
            raise ExpressionError(f"{self.operator.op} has no '{role}'", lacks=role)
        for location, old in _texts_of(self.operator):
            tree = parse_expression(old)
            names = (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
            if location != f"let.{name}" and name in names:
                yield location, name, text


def _texts_of(operator: Operator) -> Iterator[tuple[str, str]]:
    """The texts that an operator computes with, by place."""
    for name, raw in operator.data.get("let", {}).items():
        yield f"let.{name}", _text(raw)
    for name, sections in operator.data["define"].items():
        for key, raw in sections.items():
            if isinstance(raw, dict):
                yield from ((f"define.{name}.{key}.{at}", _text(text)) for at, text in raw.items())
            elif key not in ("combine", "rounding"):
                yield f"define.{name}.{key}", _text(raw)


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
