"""Conditions on a case under which a mutant may give other outputs, for the solver."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from conformance.errors import ExpressionError
from conformance.spec.catalogue import Mutant
from conformance.spec.expressions import Expression, compile_expression
from conformance.spec.kinds import Domain, Kind
from conformance.spec.model import CoverageTarget, OpSpec
from conformance.spec.scope import scope_of

MARK = "altered_"
"""Before the name of what a mutant changes."""

TAPS = "taps of "
"""Before the name of a mutant that changes rules of taps alone: a predicate that holds where some
tap counts in the one and not in the other, or reads something else. It is for the solver alone."""

HOLDS_DATA = "some window holds data"
"""A predicate: where all windows lie in padding, an output of zeros proves nothing."""

_WORDS = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)")


def with_differences(
    spec: OpSpec, mutants: Sequence[Mutant]
) -> tuple[OpSpec, Mapping[str, tuple[str, ...]]]:
    """Add predicates for each mutant to a specification, and :data:`HOLDS_DATA`.

    Returns: the specification, and the names of the predicates by mutant.

    Each holds wherever the mutant may change an output: its guard holds somewhere, and something
    that it changes has another value. Whatever the change does, it does through what it replaces,
    and then through what depends on that, up to the rules of the family; so each of these steps has
    a predicate, and a mutant changes nothing where one of them never holds. A step that cannot be
    said in the language has none.
    """
    targets, definitions = list(spec.edges), dict(spec.definitions)
    names: dict[str, list[str]] = {}
    for number, mutant in enumerate(mutants):
        implementation = _Altered(spec, mutant, f"{MARK}{number}_")
        for step, changed in enumerate(implementation.steps()):
            try:
                when = implementation.differs(changed)
            except ExpressionError:
                continue
            name = f"mutant {mutant.id} {step}"
            targets.append(CoverageTarget(name, when, ""))
            names.setdefault(mutant.id, []).append(name)
        if (of_taps := implementation.of_taps()) is not None:
            targets.append(CoverageTarget(f"{TAPS}{mutant.id}", of_taps, ""))
        definitions |= implementation.made
    holds_data = compile_expression(spec.kin.telling, scope_of(spec), want=Kind("bool"))
    targets.append(CoverageTarget(HOLDS_DATA, holds_data, ""))
    extended_spec = replace(spec, edges=(*targets, *spec.profiles), definitions=definitions)
    return extended_spec, {mutant: tuple(predicates) for mutant, predicates in names.items()}


class _Altered:
    """The definitions that a mutant changes, each under another name."""

    def __init__(self, spec: OpSpec, mutant: Mutant, mark: str) -> None:
        self.spec, self.mark = spec, mark
        self.guard, self.replaced = mutant.rule_change.where, mutant.rule_change.replace
        self.scope = scope_of(spec)
        self.made: dict[str, Expression] = {}
        self._speaks_of = {
            name: definition.names for name, definition in spec.definitions.items()
        } | {
            name: definition.names
            for name, definition in self.replaced.items()
            if name in spec.definitions
        }
        self._ends = {*spec.kin.rules}
        self._ends |= {output.type.replace("-", "_") for output in spec.outputs}

    def steps(self) -> Iterator[tuple[str, ...]]:
        """What is replaced, then what depends on that, and so on: each lies on every way from what
        is replaced to the outputs."""
        step = set(self.replaced)
        while True:
            yield tuple(sorted(step))
            ends = step & self._ends
            onward = {name for name, on in self._speaks_of.items() if on & (step - ends)}
            if not step - ends or onward | ends == step:
                return
            step = onward | ends

    def differs(self, changed: Iterable[str]) -> Expression:
        """Where the guard holds and one of these has another value.

        Raises ExpressionError where that cannot be said.
        """
        parts = [f"({self.guard.text})"] if self.guard is not None else []
        # What taps do is not compared, and is taken to differ.
        if all(self.scope[name].domain is not Domain.TAP for name in changed):
            parts.append(f"({' or '.join(map(self._unequal, changed)) or 'false'})")
        text = " and ".join(parts) or "true"
        plain = compile_expression(text, self.scope, want=Kind("bool", domain=Domain.ELEMENT))
        if plain.kind.domain is Domain.CASE:
            return plain
        return compile_expression(f"somewhere({text})", self.scope, want=Kind("bool"))

    def of_taps(self) -> Expression | None:
        """Where something that is replaced has another value for some tap; None for a mutant that
        replaces rules that are not of taps, and where it cannot be said."""
        if not all(self.scope[name].domain is Domain.TAP for name in self.replaced):
            return None
        before = dict(self.scope)
        # To the solver a tap is a number that it chooses, as it chooses the window.
        self.scope |= {
            name: replace(kind, domain=Domain.ELEMENT)
            for name, kind in before.items()
            if kind.domain is Domain.TAP
        }
        parts = [f"({self.guard.text})"] if self.guard is not None else []
        parts.append(f"({' or '.join(map(self._unequal, sorted(self.replaced)))})")
        try:
            return compile_expression(
                f"somewhere({' and '.join(parts)})", self.scope, want=Kind("bool")
            )
        except ExpressionError:
            return None
        finally:
            self.scope = before

    def _unequal(self, name: str) -> str:
        """When a name has another value."""
        new, kind = self._name(name), self.scope[name]
        if kind.type == "bool":
            text = f"({new} and not {name} or not {new} and {name})"
        else:
            text = f"({new} != {name})"
        return f"any({text})" if kind.per_axis else text

    def _name(self, name: str) -> str:
        changed_name = f"{self.mark}{name}"
        if changed_name not in self.scope:
            kind = self.scope[name]
            text = (self.replaced.get(name) or self.spec.definitions[name]).text
            # What is misread speaks of everything as given.
            if name in self.spec.definitions:
                text = "".join(map(self._word, _WORDS.split(text)))
            text = re.sub(r"\boriginal\b", f"({name})", text)
            self.made[changed_name] = compile_expression(text, self.scope, want=kind, repeat=True)
            self.scope[changed_name] = kind
        return changed_name

    def _word(self, word: str) -> str:
        """A word, or the altered name where that is changed."""
        return self._name(word) if word in self._changed else word

    @cached_property
    def _changed(self) -> frozenset[str]:
        return frozenset().union(*self.steps())
