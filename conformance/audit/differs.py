"""When a mutant may give other outputs, as a condition on the case that a solver can be asked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from conformance.errors import ExpressionError
from conformance.spec.catalogue import Fault
from conformance.spec.expressions import Expression, compile_expression
from conformance.spec.families import FAMILIES
from conformance.spec.kinds import Domain, Kind
from conformance.spec.model import Edge, OpSpec
from conformance.spec.scope import scope_of

MARK = "altered_"
"""Before the name of what a mutant changes."""

_WORDS = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)")


def with_differences(spec: OpSpec, faults: Sequence[Fault]) -> tuple[OpSpec, Mapping[str, str]]:
    """The specification with a predicate more for each mutant, and their names by mutant.

    A predicate holds wherever the mutant may change an output: its guard holds somewhere, and a
    rule has another value. Where no rule has, what the rules are asked of is the same too, and so
    is the output. A mutant for which that cannot be said in the language has none.
    """
    edges, definitions = list(spec.edges), dict(spec.definitions)
    for number, fault in enumerate(faults):
        try:
            made, when = _difference(spec, fault, f"{MARK}{number}_")
        except ExpressionError:
            continue
        definitions |= made
        edges.append(Edge(f"mutant {fault.id}", when, ""))
    names = {edge.name.removeprefix("mutant "): edge.name for edge in edges[len(spec.edges) :]}
    return replace(spec, edges=(*edges, *spec.profiles), definitions=definitions), names


def _difference(spec: OpSpec, fault: Fault, mark: str) -> tuple[dict[str, Expression], Expression]:
    """The altered definitions under names of their own, and where a rule differs.

    Raises ExpressionError where that cannot be said.
    """
    scope = scope_of(spec)
    guard = fault.variant.where
    parts = [f"({guard.text})"] if guard is not None else []
    altered = _Altered(spec, fault, mark, scope)
    rules = [name for name in FAMILIES[spec.family].rules if altered.reaches(name)]
    # What taps do is not compared, and is taken to differ.
    if rules and all(scope[name].domain is not Domain.TAP for name in rules):
        parts.append(f"({' or '.join(altered.unequal(name) for name in rules)})")
    if not parts:
        raise ExpressionError("this mutant has no guard", offset=0)
    return altered.made, _somewhere(" and ".join(parts), altered.scope)


class _Altered:
    """The definitions that a mutant changes, each under another name."""

    def __init__(self, spec: OpSpec, fault: Fault, mark: str, scope: Mapping[str, Kind]) -> None:
        self.spec, self.mark = spec, mark
        self.replaced = fault.variant.replace
        self.scope = dict(scope)
        self.made: dict[str, Expression] = {}
        speaks_of = {name: one.names for name, one in spec.definitions.items()}
        speaks_of |= {
            name: speaks_of.get(name, frozenset()) | one.names
            for name, one in self.replaced.items()
            if name in spec.definitions
        }
        self._changed = set(self.replaced)
        while more := {n for n, on in speaks_of.items() if on & self._changed} - self._changed:
            self._changed |= more

    def reaches(self, rule: str) -> bool:
        """Whether a rule may have another value."""
        return rule in self._changed and rule in self.spec.definitions

    def unequal(self, rule: str) -> str:
        """When a rule has another value."""
        new, kind = self._name(rule), self.scope[rule]
        if kind.type == "bool":
            return f"({new} and not {rule} or not {new} and {rule})"
        return f"any({new} != {rule})" if kind.per_axis else f"{new} != {rule}"

    def _name(self, name: str) -> str:
        own = f"{self.mark}{name}"
        if own in self.scope:
            return own
        kind = self.scope[name]
        expression = self.replaced.get(name) or self.spec.definitions[name]
        # What is misread speaks of everything as given, and of itself as 'original'.
        given = name not in self.spec.definitions
        text = expression.text if given else "".join(map(self._word, _WORDS.split(expression.text)))
        text = re.sub(r"\boriginal\b", f"({name})", text)
        made = compile_expression(text, self.scope, want=kind, repeat=True)
        self.made[own] = made
        self.scope[own] = kind
        return own

    def _word(self, word: str) -> str:
        """A word, or the altered name where that is changed."""
        return self._name(word) if word in self._changed else word


def _somewhere(text: str, scope: Mapping[str, Kind]) -> Expression:
    """A condition on the case that holds where another one does for some window."""
    plain = compile_expression(text, scope, want=Kind("bool", domain=Domain.ELEMENT))
    if plain.kind.domain is Domain.CASE:
        return plain
    return compile_expression(f"somewhere({text})", scope, want=Kind("bool"))
