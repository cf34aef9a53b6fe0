"""One probe of a backend: what is asked, in which processes, and what it shows."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isqrt

from conformance.backends.capabilities import Capabilities
from conformance.backends.claims import claimed
from conformance.dtypes import DTYPES
from conformance.errors import UsageError
from conformance.generate.narrow import Claim
from conformance.model import Vector
from conformance.probe import steady
from conformance.probe.asking import Answered, ask, call_of, reduce_of
from conformance.probe.forms import FEWER_SIZES, ROW, SIZES, WHOLE, Form, case_of, forms
from conformance.probe.statements import Fit, Statement, conclude
from conformance.run.executor import Executor, Identity
from conformance.run.pipeline import Pipeline
from conformance.spec.model import OpSpec

Factory = Callable[[Mapping[str, str]], Executor]
"""Makes an executor whose processes get these variables of the environment, besides all others."""

Progress = Callable[[str, int, int], None]

PROBES = 3
"""Calls with results that are kept, to tell a backend that is lost from one that fails often."""

REDUCES = ("mean", "max")
"""The values of the rule ``reduce`` of operators that are asked."""


@dataclass(frozen=True)
class ProbeRequest:
    """What is asked: element types and sizes (all, if empty), and the seed of the inputs.

    Of several versions of an operator only the ``newest`` is asked, or each.
    """

    dtypes: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    seed: int = 0
    newest: bool = False


@dataclass
class Probed:
    """What was asked of a backend and what it shows; ``skipped`` says what was not asked, and why.

    ``processes`` are the further processes that were asked, with what was set in each.
    """

    identity: Identity
    seed: int
    seen: list[Answered] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    fits: list[Fit] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    processes: list[steady.Process] = field(default_factory=list)


def probe(
    factory: Factory,
    specs: Mapping[str, OpSpec],
    question: ProbeRequest,
    *,
    elsewhere: bool = True,
    progress: Progress = lambda *_: None,
) -> Probed:
    """Ask a backend, and say what its results show.

    ``elsewhere`` asks again in other processes, which only a backend that has a name allows.
    Raises UsageError where it declares none of the operators, and what an executor raises.
    """
    with factory({}) as first:
        pipeline = Pipeline(first, specs)
        found = Probed(first.identity, question.seed)
        plan = list(_plan(first, specs, question, found))
        if not plan:
            raise UsageError(
                f"{first.identity.name} declares no mean and no maximum that can be asked",
                hint="conformance backends shows what a backend declares; see docs/probe.md",
            )
        # Inputs are designed one size after the other, while the backend works.
        calls = (call_of(*one, question.seed) for one in plan)
        # Where some calls are lost, others tell whether the backend is.
        right: deque[Vector] = deque(maxlen=PROBES)
        pipeline.probe_with(lambda: tuple(right))
        for number, seen in enumerate(ask(pipeline, calls), start=1):
            progress(seen.call.id, number, len(plan))
            found.seen.append(seen)
            if seen.results is not None:
                right.append(seen.call.vector)
        answered = [one for one in found.seen if one.results is not None]
        again = steady.chosen(answered)
        reports = [steady.same_process(pipeline, again, progress)]
    if elsewhere and again:
        for process in steady.processes():
            progress(f"another process ({process.about})", 0, 1)
            with factory(process.variables) as other:
                reports.append(steady.elsewhere(Pipeline(other, specs), again, process))
            found.processes.append(process)
    for seens in _grouped(answered):
        said, fits = conclude(seens)
        found.statements += said
        found.fits += fits
    found.statements += [one for report in reports for one in report]
    return found


Planned = tuple[OpSpec, str, Form]
"""An operator, an element type, and the form of the windows."""


def _plan(
    executor: Executor, specs: Mapping[str, OpSpec], question: ProbeRequest, found: Probed
) -> Iterator[Planned]:
    """What is asked; what is not is told in ``found``."""
    declared = executor.identity.capabilities or Capabilities()
    claims = claimed(declared, specs)
    for op, claim in claims.items():
        spec = specs[op]
        if question.newest and op != _newest(op, claims):
            found.skipped.append((op, f"only the newest version is asked, {_newest(op, claims)}"))
            continue
        if reduce_of(spec) not in REDUCES:
            found.skipped.append((op, "it is neither a mean nor a maximum"))
            continue
        yield from _of_operator(spec, claim, declared, question, found)


def _of_operator(
    spec: OpSpec, claim: Claim, declared: Capabilities, question: ProbeRequest, found: Probed
) -> Iterator[Planned]:
    sizes = SIZES if reduce_of(spec) == "mean" else FEWER_SIZES
    dtypes = [one for one in claim.dtypes if not question.dtypes or one in question.dtypes]
    for window in SIZES:
        form = forms(spec, window, claim.ranks)
        if form is None:
            if window == WHOLE:
                continue
            found.skipped.append((spec.op, f"no valid case has a {window} as each window"))
            continue
        for dtype in dtypes:
            if reduce_of(spec) == "max" and not DTYPES[dtype].is_float:
                continue  # a maximum of whole numbers is never rounded
            reasons = set()
            for size in question.sizes or sizes[window]:
                if window != ROW and isqrt(size) ** 2 != size:
                    continue
                one = Form(window, size, *form)
                case = case_of(spec, one, 1, dtype)
                if case is None:
                    reasons.add("no valid case has windows of some of these sizes")
                    continue
                against = declared.reason_against(spec, case)
                if against is None:
                    yield spec, dtype, one
                else:
                    reasons.add(against)
            found.skipped += [(f"{spec.op} {dtype} {window}", why) for why in sorted(reasons)]


def _newest(op: str, claims: Iterable[str]) -> str:
    """The newest declared version of an operator, whose name ends with the number."""
    name = op.rpartition("-")[0]
    same = [one for one in claims if one.rpartition("-")[0] == name and name]
    return max(same or [op], key=lambda one: (len(one), one))


def _grouped(seen: Sequence[Answered]) -> list[list[Answered]]:
    """By operator, element type and shape of windows."""
    found: dict[tuple[str, str, str], list[Answered]] = {}
    for one in seen:
        call = one.call
        found.setdefault((call.spec.op, call.dtype, call.form.window), []).append(one)
    return list(found.values())
