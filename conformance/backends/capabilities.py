"""Capabilities that a backend declares; all else is unsupported, with a reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any

from conformance.backends.layouts import (
    AxisOrder,
    Orders,
    TensorOrders,
    axis_orders,
    layouts_by_tensor,
    tensor_orders,
)
from conformance.errors import BackendError, EvaluationError, ExpressionError, InvalidCase
from conformance.model import Case
from conformance.safe_text import one_line, shortened

if TYPE_CHECKING:  # where a backend runs, no specification is read
    from conformance.core.operator import Operator
    from conformance.specification import Condition

MAX_REASON = 80
"""Characters that a claim has of a reason."""

LAYOUTS = ("layout", "index_layout")
"""Members that have a name for each rank."""


@dataclass(frozen=True)
class Exclusion:
    """Cases that a backend does not claim to support.

    ``when`` is a predicate in the expression language of specifications, over the names of a
    case: ``auto_pad == explicit and any(pads_begin != pads_end)``, ``length(size) == 3``.
    Without it every case is meant. ``op`` limits the exclusion to one operator, or to those that a
    pattern like ``onnx.MaxPool-*`` names, which a predicate over an operator's own attributes
    needs. ``reason`` says why, to people.
    """

    reason: str
    when: str | None = None
    op: str | None = None

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise BackendError(
                "an exclusion has no reason", hint="say in a sentence why the case is not claimed"
            )


@dataclass(frozen=True)
class Capabilities:
    """What a backend supports: operators, element types and ranks of the data, less exclusions.

    ``operators`` are named as in ``AvgPool-1`` or by a pattern like ``onnx.*``, ``dtypes`` as in
    ``bf16``; None means all. ``layout`` names for each rank the layout in which data reach the
    backend and come back (``NHWC``), None that of the specification; or it has the layouts of each
    tensor by name, ``{"W": "OIHW->OHWI"}``. ``index_layout`` names the axes over which its indices
    count (``HWC``), None what the specification says. Where ``ranks`` are left out, they are those
    of the layouts.
    """

    operators: tuple[str, ...] | None = None
    dtypes: tuple[str, ...] | None = None
    ranks: tuple[int, ...] | None = None
    excluding: tuple[Exclusion, ...] = ()
    layout: tuple[str, ...] | Mapping[str, str | tuple[str, ...]] | None = None
    index_layout: tuple[str, ...] | None = None
    # By identity of the specification, which is kept alive so that it stays one.
    _compiled: dict[tuple[int, str], Condition] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        for name in ("operators", "dtypes", "ranks", "excluding", *LAYOUTS):
            value = getattr(self, name)
            if name == "layout" and isinstance(value, Mapping):
                object.__setattr__(self, name, layouts_by_tensor(value))
            elif value is not None and not isinstance(value, tuple):
                raise BackendError(
                    f"capabilities: '{name}' is a {type(value).__name__}",
                    hint="give a tuple, as in ('AvgPool-1',)",
                )
        for name in LAYOUTS:
            if isinstance(getattr(self, name), tuple):
                self._name_every_rank(name, self._orders_by_rank(name))
        _ = self.named_orders  # what is no layout is refused here

    def _name_every_rank(self, member: str, named_orders: Orders) -> None:
        """Take the ranks of a layout where none are declared; else it must name each of them."""
        if self.ranks is None:
            object.__setattr__(self, "ranks", tuple(sorted(named_orders)))
        unnamed = [str(rank) for rank in self.ranks or () if rank not in named_orders]
        if unnamed:
            raise BackendError(
                f"capabilities: '{member}' has no name for rank {' and '.join(unnamed)}",
                hint="name the layout of each rank that is declared, or declare fewer ranks",
            )

    @cached_property
    def named_orders(self) -> tuple[TensorOrders, ...]:
        """The orders of the axes of each named tensor; the first that fits one is its."""
        return tensor_orders(self.layout) if isinstance(self.layout, Mapping) else ()

    def orders(self, op: str, tensor: str, *, is_image: bool) -> Orders:
        """Return the orders of the axes of a tensor, by rank; empty if as specified.

        Args:
            is_image: layouts by rank alone are of this tensor, too.
        """
        if is_image and isinstance(self.layout, tuple):
            return self._orders_by_rank("layout")
        for named in self.named_orders:
            if named.tensor == tensor and fnmatchcase(op, named.operators):
                return named.orders
        return {}

    def counted(self, rank: int) -> AxisOrder | None:
        """Return the axes over which indices count, slowest first; None if as specified."""
        return self._orders_by_rank("index_layout").get(rank)

    def _orders_by_rank(self, member: str) -> Orders:
        return axis_orders(member, getattr(self, member) or (), all_axes=member == "layout")

    @property
    def layout_text(self) -> str:
        """The declared layouts as text; empty if there are none."""
        if isinstance(self.layout, Mapping):
            return ", ".join(f"{name} {' or '.join(t)}" for name, t in self.layout.items())
        return ", ".join(self.layout or ())

    @classmethod
    def from_json(cls, data: Any) -> Capabilities:
        """Read the declaration that :meth:`to_json` wrote; members that are None may be missing.

        Raises:
            BackendError: it is none, or has a member of another name: one that is misspelled would
                claim everything.
        """
        kinds: dict[str, type] = {"operators": str, "dtypes": str, "ranks": int}
        kinds |= dict.fromkeys(LAYOUTS, str)
        try:
            _check_names(data, (*kinds, "excluding"))
            values: dict[str, Any] = {
                name: data[name]
                if name == "layout" and isinstance(data.get(name), dict)
                else _list_of(data.get(name), kind)
                for name, kind in kinds.items()
            }
            exclusions = data.get("excluding", [])
            for exclusion in exclusions:
                _check_names(exclusion, ("reason", "when", "op"))
            excluding = tuple(
                Exclusion(
                    op=_text(exclusion.get("op")),
                    when=_text(exclusion.get("when")),
                    reason=str(exclusion["reason"]),
                )
                for exclusion in exclusions
            )
        except (KeyError, TypeError) as error:
            raise BackendError(
                f"capabilities that cannot be read: {type(error).__name__}: {error}",
                hint="operators, dtypes, ranks and layouts are lists, and exclusions are made of "
                "texts",
            ) from error
        return cls(excluding=excluding, **values)

    def reason_against(
        self, spec: Operator, case: Case, *, backend: str = "the backend"
    ) -> str | None:
        """Tell why a case is not claimed; None if it is.

        For a negative test a predicate without a value counts as not met, so that the backend
        itself decides.

        Raises:
            BackendError: naming ``backend``, if a predicate makes no sense for the operator.
        """
        dtype, rank = case.dtype, case.rank
        if not _is_any(spec.op, self.operators):
            return f"{spec.op} is not among the declared operators"
        if self.dtypes is not None and dtype not in self.dtypes:
            return f"{dtype} is not among the declared types"
        if self.ranks is not None and rank not in self.ranks:
            return f"rank {rank} is not among the declared ranks"
        for name, shape in case.shapes.items():
            orders = self.orders(spec.op, name, is_image=False)
            if orders and len(shape) not in orders:
                return f"rank {len(shape)} of {name} is not among the declared layouts"
        for exclusion in self._about(spec):
            if self._meets(spec, case, exclusion, backend):
                return exclusion.reason
        return None

    def _about(self, spec: Operator) -> Iterator[Exclusion]:
        """The exclusions that speak of an operator."""
        for exclusion in self.excluding:
            if _is_any(spec.op, None if exclusion.op is None else (exclusion.op,)):
                yield exclusion

    def declares(self, op: str, dtype: str, rank: int) -> bool:
        """Return whether cases of an operator with such data are claimed.

        Of exclusions only those without a predicate are considered.
        """
        return (
            _is_any(op, self.operators)
            and (self.dtypes is None or dtype in self.dtypes)
            and (self.ranks is None or rank in self.ranks)
            and None not in self.restrictions(op)
        )

    def names(self, op: str) -> bool:
        """Return whether an operator is among those declared."""
        return _is_any(op, self.operators)

    def narrows(self, op: str) -> bool:
        """Return whether less than all cases of an operator may be claimed."""
        return (
            self.dtypes is not None
            or self.ranks is not None
            or bool(self.restrictions(op))
            or any(fnmatchcase(op, named.operators) for named in self.named_orders)
        )

    def restrictions(self, op: str) -> frozenset[str | None]:
        """Return the predicates of an operator's cases that are not claimed; None excludes all."""
        return frozenset(
            exclusion.when and " ".join(exclusion.when.split())
            for exclusion in self.excluding
            if exclusion.op is None or fnmatchcase(op, exclusion.op)
        )

    def reasons(self, ops: Iterable[str]) -> tuple[str, ...]:
        """Return why cases of the operators are not claimed, each reason once."""
        names = tuple(ops)
        texts = (
            shortened(one_line(exclusion.reason), MAX_REASON)
            for exclusion in self.excluding
            if exclusion.op is None or any(fnmatchcase(op, exclusion.op) for op in names)
        )
        return tuple(dict.fromkeys(texts))

    def to_json(self) -> dict[str, Any]:
        """Return the declaration as JSON data, for a run log."""
        return {
            "operators": None if self.operators is None else list(self.operators),
            "dtypes": None if self.dtypes is None else list(self.dtypes),
            "ranks": None if self.ranks is None else list(self.ranks),
            "excluding": [
                {"op": exclusion.op, "when": exclusion.when, "reason": exclusion.reason}
                for exclusion in self.excluding
            ],
            **{
                name: {key: list(texts) for key, texts in value.items()}
                if isinstance(value, Mapping)
                else list(value)
                for name in LAYOUTS
                if (value := getattr(self, name)) is not None
            },
        }

    def _meets(self, spec: Operator, case: Case, exclusion: Exclusion, backend: str) -> bool:
        if exclusion.when is None:
            return True
        return bool(self._value(spec, case, exclusion, backend))

    def _value(self, spec: Operator, case: Case, exclusion: Exclusion, backend: str) -> bool | None:
        """Whether the predicate of an exclusion holds; None for a case that must be rejected and
        for which it has no value."""
        assert exclusion.when is not None
        key = (id(spec), exclusion.when)
        if key not in self._compiled:
            self._compiled[key] = _compile(exclusion, exclusion.when, spec, backend)
        predicate = self._compiled[key]
        try:
            return predicate.holds(case)
        except (EvaluationError, InvalidCase, ValueError) as error:
            if case.reject is not None:
                return None
            raise BackendError(
                f"{backend}: exclusion '{exclusion.when}' has no value for {spec.op} {case.id}: "
                f"{error}",
                hint="put a condition on the case before it: 'auto_pad == explicit and ...'",
            ) from error


def _is_any(op: str, patterns: tuple[str, ...] | None) -> bool:
    return patterns is None or any(fnmatchcase(op, pattern) for pattern in patterns)


def _check_names(data: Any, allowed: tuple[str, ...]) -> None:
    if not isinstance(data, dict):
        raise TypeError(f"{str(data)[:80]!r} is not an object")
    for name in data:
        if name not in allowed:
            raise TypeError(f"{str(name)[:80]!r} is none of {', '.join(allowed)}")


def _list_of(value: Any, kind: type) -> tuple[Any, ...] | None:
    if value is None:
        return None
    if isinstance(value, str) or not all(type(item) is kind for item in value):
        raise TypeError(f"{str(value)[:80]!r} is not a list of {kind.__name__}")
    return tuple(value)


def _text(value: Any) -> str | None:
    if not isinstance(value, str | None):
        raise TypeError(f"{value!r} is not a text")
    return value


def _compile(exclusion: Exclusion, when: str, spec: Operator, backend: str) -> Condition:
    from conformance.specification import condition_of

    try:
        return condition_of(spec, when)
    except ExpressionError as error:
        problem = f"{error.message}, expected {error.expected}" if error.expected else error.message
        advice = [error.hint] if error.hint else []
        if exclusion.op is None:
            advice.append(f"if {spec.op} is not meant, say which operator is with op='...'")
        raise BackendError(
            f"{backend}: exclusion '{when}' does not fit {spec.op}: {problem} "
            f"(at character {error.offset + 1})",
            hint="; ".join(advice) or None,
        ) from error
