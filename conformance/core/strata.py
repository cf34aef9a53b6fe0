"""Strata of definitions: shapes for which implementations have code of their own, by roles.

A family of operators is known by its roles: words as ``window`` or ``depth``, for which a
specification has a name or an expression. ``specs/strata.yaml`` speaks of roles alone, so a
stratum applies to every operator that has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

from conformance.core.binding import Binding
from conformance.core.functions import of_type
from conformance.core.operator import Attribute, Operator
from conformance.core.parser import parse
from conformance.core.plain import PlainVisitor
from conformance.core.tree import Kind, Node, word
from conformance.errors import ConformanceError, ExpressionError
from conformance.json_schema import load_schema
from conformance.resources import directory
from conformance.spec import schema_check
from conformance.spec.yaml_reader import parse_yaml, read_text

Roles = Mapping[str, Node]


@dataclass(frozen=True)
class Stratum:
    """A stratum of an operator; ``draws`` are values of names that make it likely.

    The value of a name is one of several expressions over roles.
    """

    name: str
    why: str
    sources: tuple[str, ...]
    roles: Roles
    condition: Node
    draws: Mapping[str, tuple[Node, ...]]

    def holds(self, visitor: PlainVisitor) -> bool:
        """Return whether a case is in the stratum; not, if a value is missing."""
        try:
            return bool(visitor.visit(self.condition))
        except ConformanceError:
            return False


def role_visitor(lookup: Any, roles: Roles, binding: Binding | None = None) -> PlainVisitor:
    """Return a visitor of expressions over roles.

    ``lookup`` gives the values of the operator's names.
    """
    ranks = {} if binding is None else binding.visitor.ranks
    plain = PlainVisitor(lookup, ranks)
    values: dict[str, Any] = {}

    def value(name: str) -> Any:
        if name not in roles:
            return lookup(name)
        if name not in values:
            values[name] = plain.visit(roles[name])
        return values[name]

    return PlainVisitor(value, ranks)


@lru_cache(maxsize=64)
def strata_of(operator: Operator, file: Path | None = None) -> tuple[Stratum, ...]:
    """Return the strata that apply to an operator.

    Raises :class:`~conformance.errors.SpecError` for a file that is no strata of definitions.
    """
    entries = _applied(operator, _families(file or _shipped()))
    return tuple(entry for _, entry in entries if isinstance(entry, Stratum))


def strata_with(strata: Sequence[Stratum], binding: Binding) -> list[Stratum]:
    """Return those of some strata of one operator that a case is in."""
    visitors: dict[int, PlainVisitor] = {}  # by family
    for stratum in strata:
        key = id(stratum.roles)
        if key not in visitors:
            visitors[key] = role_visitor(binding.value, stratum.roles, binding)
    return [stratum for stratum in strata if stratum.holds(visitors[id(stratum.roles)])]


def inapplicable_strata(operator: Operator, file: Path | None = None) -> Mapping[str, str]:
    """Return, for each stratum that does not apply to an operator, the reason."""
    entries = _applied(operator, _families(file or _shipped()))
    return {name: entry for name, entry in entries if isinstance(entry, str)}


def _shipped() -> Path:
    return directory("specs") / "strata.yaml"


@lru_cache(maxsize=8)
def _families(file: Path) -> Mapping[str, Any]:
    source = parse_yaml(read_text(file), str(file), holds="strata")
    schema_check.check(source, load_schema("core/strata.schema.json"))
    source.check()
    families: Mapping[str, Any] = source.data["families"]
    return families


def _applied(
    operator: Operator, families: Mapping[str, Any]
) -> Iterator[tuple[str, Stratum | str]]:
    """Yield each stratum by name, or the reason why it does not apply."""
    for family in families.values():
        roles, lacking = _roles(operator, family["roles"])
        for template, raw in family["strata"].items():
            for name, entry in _each(template, raw):
                if lacking:
                    yield name, f"the operator has no {lacking}"
                    continue
                try:
                    yield name, _stratum(operator, roles, name, entry)
                except ExpressionError as error:
                    yield name, error.message


def _roles(operator: Operator, raw: Mapping[str, Any]) -> tuple[Roles, str]:
    """The roles that an operator has, and the first that it lacks."""
    scope, stated = _scope(operator), operator.data.get("roles", {})
    roles: dict[str, Node] = {}
    for role, expressions in raw.items():
        for text in expressions:
            try:
                # The name of a role that the operator states stands for its text.
                roles[role] = parse(_text(stated.get(text, text)), scope)
            except ExpressionError:
                continue
            break
        else:
            return roles, f"{role} ({', '.join(expressions)})"
    return roles, ""


def _text(raw: Any) -> str:
    return str(raw).lower() if isinstance(raw, bool) else str(raw)


def _scope(operator: Operator) -> dict[str, Kind]:
    deciding = {n: t.entries for n, t in operator.tensors.items() if t.entries is not None}
    return {
        **{name: entries.kind for name, entries in deciding.items()},
        **{name: attribute.kind for name, attribute in operator.attributes.items()},
        **{name: Kind("int", dim.per) for name, dim in operator.dims.items()},
        **{name: tree.kind for name, tree in operator.let.items()},
    }


def _each(name: str, raw: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The strata that a template stands for."""
    choices = raw.get("each", {})
    for values in product(*choices.values()):
        filling = dict(zip(choices, values, strict=True))

        def filled(text: Any, filling: Mapping[str, int] = filling) -> str:
            text = str(text)
            for key, value in filling.items():
                text = text.replace(f"{{{key}}}", str(value))
            return text

        draws = {key: [filled(text) for text in texts] for key, texts in raw["draw"].items()}
        yield filled(name), {**raw, "when": filled(raw["when"]), "draw": draws}


def _stratum(operator: Operator, roles: Roles, name: str, raw: Mapping[str, Any]) -> Stratum:
    scope = {role: node.kind for role, node in roles.items()}
    draws: dict[str, tuple[Node, ...]] = {}
    for key, texts in raw["draw"].items():
        attribute = operator.attributes.get(key)
        if attribute is not None and attribute.type == "word":
            draws[key] = _words(attribute, texts)
        elif key in roles:
            draws |= _settable(roles[key], tuple(parse(text, scope) for text in texts))
        elif attribute is not None:
            draws[key] = tuple(parse(text, scope) for text in texts)
    condition = of_type(parse(raw["when"], scope), "bool")
    sources = tuple(raw["sources"])
    return Stratum(name, raw["why"], sources, roles, condition, draws)


def _words(attribute: Attribute, texts: list[str]) -> tuple[Node, ...]:
    """The words of an attribute among some, whatever their case."""
    wanted = {text.lower() for text in texts}
    return tuple(word(value) for value in attribute.values if value.lower() in wanted)


def _settable(role: Node, values: tuple[Node, ...]) -> Mapping[str, tuple[Node, ...]]:
    """The name whose value gives a role one of some values."""
    if role.op == "name":
        return {str(role.value): values}
    if role.op == "//" and role.args[0].op == "name":
        kind, divisor = Kind("int"), role.args[1]
        multiples = tuple(Node("*", (value, divisor), kind) for value in values)
        return {str(role.args[0].value): multiples}
    return {}
