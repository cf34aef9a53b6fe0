"""Variants of a specification with replaced rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from conformance.errors import UsageError, closest
from conformance.spec.expressions import Expression, compile_expression, reach
from conformance.spec.kinds import Domain, Kind
from conformance.spec.model import OpSpec, RuleChange
from conformance.spec.scope import scope_of


def make_rule_change(
    spec: OpSpec,
    name: str,
    replace: Mapping[str, str],
    *,
    where: str | None = None,
    level: str = "must",
    why: str = "",
) -> RuleChange:
    """Compile a rule change: other expressions in place of some definitions.

    Attributes and integer inputs may be replaced too: they are then misread, and the replacement
    speaks of all of them as given. ``original`` is the value of what is replaced; ``where`` says
    for which cases, windows or elements it does.

    Raises :class:`~conformance.errors.ExpressionError` for text that is not sound, and
    :class:`~conformance.errors.UsageError` for a definition that is not there.
    """
    scope = scope_of(spec)
    replaceable = {key for key in spec.quantities if key not in spec.dims}
    rules = spec.kin.rules
    replaced = {}
    for target, text in replace.items():
        if target in rules and target in spec.definitions:
            want = rules[target].kind
        elif target in spec.definitions or target in replaceable:
            want = scope[target]
        else:
            raise UsageError(
                f"{spec.op} has no rule '{target}' to replace",
                hint=closest(target, {*spec.definitions, *replaceable}),
                lacks=target,
            )
        replaced[target] = compile_expression(
            text, {**scope, "original": want}, want=want, repeat=True
        )
    for target in find_cycle(spec, replaced):
        raise UsageError(
            f"'{target}' is replaced by what depends on '{target}'",
            hint="'original' is the value that is replaced",
        )
    guard = None
    if where is not None:
        guard = compile_expression(where, scope, want=Kind("bool", domain=Domain.ELEMENT))
    return RuleChange(name, replaced, guard, level, why)


def find_cycle(spec: OpSpec, *replacing: Mapping[str, Expression]) -> Iterator[str]:
    """Yield the names that would depend on themselves if all of these were replaced."""
    names = {name: expression.names for name, expression in spec.definitions.items()}
    for target, expression in chain.from_iterable(rules.items() for rules in replacing):
        # What is misread speaks of all attributes and operands as given.
        misread = target not in spec.definitions
        dependencies = expression.names - spec.quantities.keys() if misread else expression.names
        names[target] = dependencies | (
            names.get(target, frozenset()) if "original" in dependencies else frozenset()
        )
    for target in dict.fromkeys(chain.from_iterable(replacing)):
        if target in reach(names[target], names):
            yield target


def implied_changes(changes: Sequence[RuleChange]) -> Mapping[str, frozenset[str]]:
    """Find, for each change by name, the others whose replacements it includes."""
    return {
        change.name: frozenset(
            other.name
            for other in changes
            if other.replace.items() < change.replace.items()
            and other.where in (None, change.where)
        )
        for change in changes
    }
