"""A search in this process, as tests ask for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from conformance.fuzz.session import FuzzSession, SearchRequest, SearchResult
from conformance.grade.precision import parse_precision
from conformance.model import Case
from conformance.run.executor import Executor
from conformance.run.inline import Inline
from conformance.specification import find_spec


def question(**more: Any) -> SearchRequest:
    asked = {"seed": 1, "level": "must", "precision": parse_precision("standard"), "timeout": 10.0}
    return SearchRequest(**{**asked, **more})


def search(
    backend: Any,
    *ops: str,
    known: Mapping[str, Sequence[Case]] | None = None,
    progress: Callable[[SearchResult], None] = lambda _now: None,
    **more: Any,
) -> SearchResult:
    asking = backend if isinstance(backend, Executor) else Inline(backend)
    with asking as executor:
        specs = {op: find_spec(op) for op in ops}
        return FuzzSession(executor, specs, question(**more), known or {}).run(progress)


def until_found(now: SearchResult) -> None:
    """As somebody who has seen enough."""
    if now.discoveries:
        raise KeyboardInterrupt
