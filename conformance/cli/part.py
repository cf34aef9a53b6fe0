"""A part of a suite: what a backend, or one of some types and ranks, is asked of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from conformance.cli.options import together

if TYPE_CHECKING:
    from conformance.backends.capabilities import Capabilities
    from conformance.generate.narrow import Claim
    from conformance.model import Case
    from conformance.spec.model import OpSpec
    from conformance.suite.store import Suite

F = TypeVar("F", bound=Callable[..., Any])

part_options: Callable[[F], F] = together(
    click.option(
        "--backend",
        metavar="NAME|FILE",
        help="Only the vectors that this backend declares to support. It is loaded, not run.",
    ),
    click.option(
        "--dtypes",
        metavar="TYPES",
        help="Only vectors with data of these element types: f32, or f16,f32.",
    ),
    click.option("--ranks", metavar="RANKS", help="Only vectors with data of these ranks: 4."),
)


def claims(backend: str | None, dtypes: str | None, ranks: str | None) -> Capabilities | None:
    """What the options ask for; None without any of them.

    Raises UsageError for types and ranks that there are not, BackendError for a backend that
    cannot be loaded.
    """
    from conformance.backends.capabilities import Capabilities
    from conformance.backends.discovery import load
    from conformance.backends.protocol import capabilities_of
    from conformance.dtypes import DTYPES

    if backend is None and dtypes is None and ranks is None:
        return None
    named = None if dtypes is None else _listed(dtypes, list(DTYPES), "element type")
    numbers = None if ranks is None else _listed(ranks, list(map(str, range(1, 10))), "rank")
    declared = capabilities_of(load(backend)) if backend else None
    asked = declared or Capabilities()
    return replace(
        asked,
        dtypes=_both(asked.dtypes, named),
        ranks=_both(asked.ranks, numbers and tuple(map(int, numbers))),
    )


@dataclass(frozen=True)
class Claimed:
    """What a backend declares of some operators, by operator; those of which it declares nothing
    are left out."""

    declared: Capabilities
    claims: Mapping[str, Claim]

    def asks(self, spec: OpSpec, case: Case) -> bool:
        """Whether a case is claimed."""
        return self.declared.reason_against(spec, case) is None


def claimed(backend: str, specs: Mapping[str, OpSpec]) -> Claimed:
    """What a backend declares of some operators.

    Raises BackendError for one that cannot be loaded or does not fit, UsageError for one that
    declares none of the operators.
    """
    from conformance.errors import UsageError
    from conformance.generate.narrow import Claim

    declared = claims(backend, None, None)
    assert declared is not None
    found = {}
    for op, spec in specs.items():
        parts = [
            (dtype, rank)
            for dtype in spec.types[spec.data.type]
            for rank in spec.ranks
            if declared.declares(op, dtype, rank)
        ]
        if parts:
            dtypes, ranks = (tuple(dict.fromkeys(each)) for each in zip(*parts, strict=True))
            left_out = tuple(sorted(filter(None, declared.restrictions(op))))
            found[op] = Claim(dtypes, ranks, left_out)
    if not found:
        raise UsageError(
            f"{backend} declares none of these operators, types and ranks",
            hint="conformance backends shows what a backend declares",
        )
    return Claimed(declared, found)


def _listed(text: str, known: Sequence[str], what: str) -> tuple[str, ...]:
    from conformance.errors import UsageError

    named = tuple(one.strip() for one in text.split(","))
    for one in named:
        if one not in known:
            raise UsageError(f"there is no {what} {one[:40]!r}", hint=f"known: {', '.join(known)}")
    return named


def _both(declared: tuple[Any, ...] | None, asked: tuple[Any, ...] | None) -> Any:
    """What is declared and asked for; None where neither says anything."""
    if declared is None or asked is None:
        return declared if asked is None else asked
    return tuple(one for one in declared if one in asked)


def part(suite: Suite, ops: Sequence[str], asked: Capabilities) -> Suite:
    """The value vectors of some operators that such a backend is asked.

    Raises UsageError where there is none.
    """
    from conformance.errors import UsageError

    kept = tuple(
        entry
        for entry in suite.manifest.listed
        if entry.op in ops
        and entry.kind == "value"
        and asked.reason_against(suite.specs[entry.op], suite.read(entry).case) is None
    )
    if not kept:
        raise UsageError(
            "no vector of these operators has such data, and is claimed",
            hint="leave --dtypes, --ranks or --backend out",
        )
    return replace(suite, manifest=replace(suite.manifest, listed=kept))
