"""One probe of a backend: the calls, the processes that make them, and their statements."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isqrt

from conformance.backends.capabilities import Capabilities
from conformance.backends.supported_subsets import supported_subsets
from conformance.core.operator import Operator
from conformance.dtypes import DTYPES
from conformance.errors import UsageError
from conformance.generate.claim import Claim
from conformance.model import Vector
from conformance.probe import repeatability
from conformance.probe.designed_cases import (
    FEWER_SIZES,
    ROW,
    SIZES,
    WHOLE,
    WindowForm,
    case_of_form,
    rank_and_windows,
)
from conformance.probe.probe_calls import ProbeResponse, make_call, reduce_of, run_calls
from conformance.probe.repeatability import Progress
from conformance.probe.statements import Fit, Statement, conclude
from conformance.run.executor import Executor, Identity
from conformance.run.pipeline import Pipeline

Factory = Callable[[Mapping[str, str]], Executor]
"""Makes an executor whose processes get these further variables of the environment."""

PROBES = 3
"""Calls with results that are kept, to distinguish a lost backend from one that fails often."""

REDUCES = ("mean", "max")
"""What operators that are probed make of elements, see :func:`reduce_of`."""


@dataclass(frozen=True)
class ProbeRequest:
    """Element types and sizes to probe (all if empty), and the seed of the inputs.

    Attributes:
        newest: probe only the newest of several versions of an operator.
    """

    dtypes: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    seed: int = 0
    newest: bool = False


@dataclass
class ProbeResult:
    """The responses of a backend and the statements that follow from them.

    Attributes:
        skipped: what was not probed, each with a reason.
        processes: the other processes that repeated calls.
    """

    identity: Identity
    seed: int
    responses: list[ProbeResponse] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    fits: list[Fit] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    processes: list[repeatability.OtherProcess] = field(default_factory=list)


def probe(
    factory: Factory,
    specs: Mapping[str, Operator],
    request: ProbeRequest,
    *,
    elsewhere: bool = True,
    progress: Progress = lambda *_: None,
) -> ProbeResult:
    """Probe a backend and state what its results show.

    Args:
        elsewhere: repeat calls in other processes, which needs a backend that has a name.

    Raises:
        UsageError: the backend declares none of the operators.
        Exception: whatever an executor raises.
    """
    with factory({}) as first:
        pipeline = Pipeline(first, specs)
        result = ProbeResult(first.identity, request.seed)
        plan = list(_plan(first, specs, request, result))
        if not plan:
            raise UsageError(
                f"{first.identity.name} declares no mean and no maximum that can be asked",
                hint="conformance backends shows what a backend declares; see docs/probe.md",
            )
        # Inputs are designed one size after the other, while the backend works.
        calls = (make_call(*planned, request.seed) for planned in plan)
        # Where some calls are lost, vectors with results show whether the backend still works.
        answered: deque[Vector] = deque(maxlen=PROBES)
        pipeline.probe_with(lambda: tuple(answered))
        for number, response in enumerate(run_calls(pipeline, calls), start=1):
            progress(response.call.id, number, len(plan))
            result.responses.append(response)
            if response.results is not None:
                answered.append(response.call.vector)
        usable = [response for response in result.responses if response.results is not None]
        repeated = repeatability.calls_to_repeat(usable)
        on_repeats = repeatability.repeat_here(pipeline, repeated, progress)
    if elsewhere and repeated:
        for process in repeatability.processes():
            progress(f"another process ({process.about})", 0, 1)
            with factory(process.variables) as other:
                on_repeats += repeatability.repeat_elsewhere(
                    Pipeline(other, specs), repeated, process
                )
            result.processes.append(process)
    for group in repeatability.by_key(usable).values():
        statements, fits = conclude(group)
        result.statements += statements
        result.fits += fits
    result.statements += on_repeats
    return result


PlannedCall = tuple[Operator, str, WindowForm]
"""An operator, an element type, and the form of the windows."""


def _plan(
    executor: Executor,
    specs: Mapping[str, Operator],
    request: ProbeRequest,
    result: ProbeResult,
) -> Iterator[PlannedCall]:
    """Yield what to call; note in ``result`` what is skipped."""
    declared = executor.identity.capabilities or Capabilities()
    subsets = supported_subsets(declared, specs)
    for op, subset in subsets.items():
        spec = specs[op]
        newest = _newest(op, subsets) if request.newest else op
        if op != newest:
            result.skipped.append((op, f"only the newest version is asked, {newest}"))
        elif reduce_of(spec) not in REDUCES:
            result.skipped.append((op, "it is neither a mean nor a maximum"))
        else:
            yield from _plan_operator(spec, subset, declared, request, result)


def _plan_operator(
    spec: Operator,
    subset: Claim,
    declared: Capabilities,
    request: ProbeRequest,
    result: ProbeResult,
) -> Iterator[PlannedCall]:
    is_mean = reduce_of(spec) == "mean"
    for window, default_sizes in (SIZES if is_mean else FEWER_SIZES).items():
        layout = rank_and_windows(spec, window, subset.ranks)
        if layout is None:
            if window != WHOLE:
                result.skipped.append((spec.op, f"no valid case has a {window} as each window"))
            continue
        for dtype in subset.dtypes:
            if request.dtypes and dtype not in request.dtypes:
                continue
            if not is_mean and not DTYPES[dtype].is_float:
                continue  # a maximum of whole numbers is never rounded
            reasons = set()
            for size in request.sizes or default_sizes:
                if window != ROW and isqrt(size) ** 2 != size:
                    continue
                form = WindowForm(window, size, *layout)
                case = case_of_form(spec, form, 1, dtype)
                if case is None:
                    reasons.add("no valid case has windows of some of these sizes")
                elif (reason := declared.reason_against(spec, case)) is not None:
                    reasons.add(reason)
                else:
                    yield spec, dtype, form
            result.skipped += [(f"{spec.op} {dtype} {window}", why) for why in sorted(reasons)]


def _newest(op: str, declared_ops: Iterable[str]) -> str:
    """Return the newest declared version of an operator, whose name ends with the number."""
    base = op.rpartition("-")[0]
    versions = [name for name in declared_ops if base and name.rpartition("-")[0] == base]
    return max(versions or [op], key=lambda name: (len(name), name))
