"""Two tiers: a plain run takes a sample of each long sweep, ``pytest --exhaustive`` all of it.

``pytest --beyond`` runs of the latter only what a plain run did not, in another environment. With
``--within SECONDS`` what has not begun by then is skipped, and told of: CI ends on any machine.

- A sweep over the shipped vectors takes ``tiers.suite(exhaustive)``: core or, without the option,
  smoke, which has each operator, element type, rank and negative test of core. A sweep over smoke
  takes a ``part`` of it.
- A sweep over parameters goes through ``tiers.sweep``.
- A test that has no smaller form, and a quicker test beside it, is ``@pytest.mark.exhaustive``.

What is in a sample depends on nothing but what is sampled.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

import pytest

from conformance.suite.entries import Entry
from conformance.suite.store import Suite, open_suite

LATE = "no time was left"
_exhaustive = False
_varied: set[str] = set()
"""Modules in which Hypothesis tries more examples with ``--exhaustive``."""

Item = TypeVar("Item")
Features = Callable[..., Iterable[Hashable]]


def sample(items: Iterable[Item], features: Callable[[Item], Iterable[Hashable]]) -> list[Item]:
    """The items, in order, that have a feature which none before them has."""
    seen: set[Hashable] = set()
    kept = []
    for item in items:
        if new := set(features(item)) - seen:
            seen |= new
            kept.append(item)
    return kept


def sweep(params: Iterable[Any], features: Features) -> list[Any]:
    """Parameters of a test, of which those beyond a sample run with ``--exhaustive`` only.

    A parameter is a value, a tuple of several, or a ``pytest.param``; ``features`` is called with
    its values. A plain run does not collect the others, of which there are twice as many.
    """
    every = [one if hasattr(one, "marks") else _param(one) for one in params]
    sampled = sample(every, lambda one: features(*one.values))
    if not _exhaustive:
        return sampled
    kept = {id(one) for one in sampled}
    beyond = pytest.mark.exhaustive
    return [
        one if id(one) in kept else pytest.param(*one.values, id=one.id, marks=[*one.marks, beyond])
        for one in every
    ]


def first(params: Iterable[Any]) -> list[Any]:
    """Parameters that show the same in different places: the first is the sample."""
    return sweep(params, lambda *_: [""])


def _param(one: Any) -> Any:
    return pytest.param(*one) if isinstance(one, tuple) else pytest.param(one)


def examples(every: int, few: int) -> int:
    """How many examples Hypothesis tries."""
    _varied.add(sys._getframe(1).f_globals["__name__"])
    return every if _exhaustive else few


NEWEST = (
    *("AvgPool-1", "AvgPool-16", "MaxPool-14", "AdaptiveAvgPool-8", "AdaptiveMaxPool-8"),
    *("torch.avg_pool-2", "torch.max_pool-2"),
)
"""Operators that sweeps are over: the newest pools, and one that has much the newest has not."""


@cache
def of(*ops: str) -> Suite:
    """The small cases of some operators: to read those of all takes long."""
    whole = open_suite()
    small = tuple(entry for entry in whole.manifest.of(ops) if not entry.is_large)
    return replace(whole, manifest=replace(whole.manifest, listed=small))


def core() -> Suite:
    """The small cases of the newest pools."""
    return of(*NEWEST)


@cache
def smoke() -> Suite:
    return Suite(core().path, core().manifest.subset("smoke"))


def suite(exhaustive: bool) -> Suite:
    """The small cases of the newest pools, or smoke as a sample of them."""
    return core() if exhaustive else smoke()


def part(whole: Suite) -> Suite:
    """A few vectors of a suite: each operator with each of its types, ranks and negative tests."""
    listed = tuple(sample(whole.manifest.vectors, _kinds))
    return replace(whole, manifest=replace(whole.manifest, listed=listed))


def _kinds(entry: Entry) -> Iterator[Hashable]:
    yield entry.op, entry.kind, entry.dtype
    yield entry.op, entry.kind, rank(entry)
    yield entry.op, entry.reject


def rank(entry: Entry) -> int:
    """The rank of a vector's data, which its id tells."""
    return entry.id.split("-")[1].count("x") + 1


@pytest.fixture(scope="session")
def exhaustive() -> bool:
    """Whether everything is asked for."""
    return _exhaustive


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--exhaustive", action="store_true", help="run all of each sweep, not a sample"
    )
    parser.addoption(
        "--beyond",
        action="store_true",
        help="of what --exhaustive runs, only what a plain run without extras has not",
    )
    parser.addoption(
        "--within",
        type=float,
        metavar="SECONDS",
        help="skip what has not begun after so long, and say how much that was",
    )


def pytest_configure(config: pytest.Config) -> None:
    global _exhaustive
    _exhaustive = bool(config.getoption("exhaustive") or config.getoption("beyond"))
    config.addinivalue_line("markers", "exhaustive: run with --exhaustive only")
    if (seconds := config.getoption("within")) is not None:
        config.pluginmanager.register(_Within(seconds))


class _Within:
    """Skips tests that begin too late."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds

    def pytest_runtest_setup(self) -> None:
        if time.monotonic() > self.end:
            pytest.skip(LATE)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        skipped = terminalreporter.stats.get("skipped", [])
        if late := sum(LATE in one.longrepr[2] for one in skipped):
            terminalreporter.write_line(f"{late} tests were not run: the machine is too slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("beyond"):
        kept = [item for item in items if _is_beyond(item)]
    elif _exhaustive:
        return
    else:
        kept = [item for item in items if not item.get_closest_marker("exhaustive")]
    chosen = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = kept


def _is_beyond(item: pytest.Item) -> bool:
    """Whether a plain run leaves a test out, skips it for want of an extra, or asks less of it."""
    if any(True for name in ("exhaustive", "needs") for _ in item.iter_markers(name)):
        return True
    more = item.module.__name__ in _varied and hasattr(item.function, "hypothesis")
    return more or "exhaustive" in item.fixturenames
