"""The SMT solver z3 (an optional dependency), and propositions that fold constants."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

from conformance.errors import missing_extra

Truth = Any
"""A proposition: ``True``, ``False``, or a z3 expression of sort Bool."""


def load() -> Any:
    """The module z3. Raises UsageError with what to install if it is missing."""
    try:
        return importlib.import_module("z3")
    except ImportError:
        message = "z3 is not installed; it decides which coverage targets can hold together"
        raise missing_extra(message, "generate") from None


class Logic:
    """Connectives over one z3 context, with what is known left out."""

    def __init__(self) -> None:
        self.z3 = load()
        self.context = self.z3.Context()
        self._fresh = 0

    def number(self, name: str) -> Any:
        """A new whole number."""
        self._fresh += 1
        return self.z3.Int(f"{name}!{self._fresh}", self.context)

    def truth(self, name: str) -> Any:
        """A new truth value."""
        self._fresh += 1
        return self.z3.Bool(f"{name}!{self._fresh}", self.context)

    def negate(self, p: Truth) -> Truth:
        if isinstance(p, bool):
            return not p
        return p.arg(0) if self.z3.is_not(p) else self.z3.Not(p)

    def both(self, *truths: Truth) -> Truth:
        return self.all(truths)

    def either(self, *truths: Truth) -> Truth:
        return self.any(truths)

    def all(self, truths: Iterable[Truth]) -> Truth:
        open_ = []
        for p in truths:
            if p is False:
                return False
            if p is not True:
                open_.append(p)
        if len(open_) < 2:
            return open_[0] if open_ else True
        return self.z3.And(open_)

    def any(self, truths: Iterable[Truth]) -> Truth:
        open_ = []
        for p in truths:
            if p is True:
                return True
            if p is not False:
                open_.append(p)
        if len(open_) < 2:
            return open_[0] if open_ else False
        return self.z3.Or(open_)

    def implies(self, p: Truth, q: Truth) -> Truth:
        return self.either(self.negate(p), q)

    def same(self, p: Truth, q: Truth) -> Truth:
        if isinstance(p, bool):
            return q if p else self.negate(q)
        if isinstance(q, bool):
            return p if q else self.negate(p)
        return p == q
