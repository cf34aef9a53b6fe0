"""Variants of a loaded specification, from the text of the rules that they replace."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.errors import UsageError
from conformance.spec.expressions import closest, compile_expression
from conformance.spec.families import FAMILIES
from conformance.spec.kinds import Domain, Kind
from conformance.spec.model import OpSpec, Variant
from conformance.spec.scope import scope_of


def variant(
    spec: OpSpec,
    name: str,
    replace: Mapping[str, str],
    *,
    where: str | None = None,
    level: str = "must",
    why: str = "",
) -> Variant:
    """The variant of ``spec`` with other expressions in place of some definitions.

    ``original`` in a replacement is the value of what it replaces; ``where`` says for which cases,
    windows or elements it does. Raises :class:`~conformance.errors.ExpressionError` for text that
    is not sound, and :class:`~conformance.errors.UsageError` for a definition that is not there.
    """
    scope = scope_of(spec)
    rules = FAMILIES[spec.family].rules
    replaced = {}
    for target, text in replace.items():
        if target not in spec.definitions:
            raise UsageError(
                f"{spec.op} has no rule '{target}' to replace",
                hint=closest(target, spec.definitions),
            )
        want = rules[target].kind if target in rules else spec.definitions[target].kind
        replaced[target] = compile_expression(
            text, {**scope, "original": want}, want=want, repeat=True
        )
    guard = None
    if where is not None:
        guard = compile_expression(where, scope, want=Kind("bool", domain=Domain.ELEMENT))
    return Variant(name, replaced, guard, level, why)
