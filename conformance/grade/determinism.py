"""Compares the outcomes of ``--repeat``: whether they are equal bit for bit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.grade.outcome import PROCESS_LOST, Ending, Outcome, describe_value


def merge_repeats(outcomes: Sequence[Outcome]) -> Outcome:
    """Merge calls on the same inputs into the first, marked if another one differs.

    A call that was lost, or not made, stands for all of them.
    """
    first, *repeats = outcomes
    if not repeats:
        return first
    for number, outcome in enumerate(outcomes, start=1):
        if outcome.ending is Ending.ABANDONED:
            return outcome
        if outcome.ending in PROCESS_LOST:
            message = f"{outcome.message}\nin call {number} of {len(outcomes)} on the same inputs"
            return replace(outcome, message=message)
    changed = tuple(sorted({position for outcome in outcomes for position in outcome.changed}))
    return replace(first, changed=changed, unsteady=_describe_differences(outcomes))


def _describe_differences(outcomes: Sequence[Outcome]) -> str:
    """In what the calls differ; empty if in nothing."""
    endings = Counter(outcome.ending for outcome in outcomes)
    if len(endings) > 1:
        differences = ", ".join(
            f"{count} {ending.value}" for ending, count in sorted(endings.items())
        )
        messages = [outcome.message for outcome in outcomes if outcome.message]
        return f"of {len(outcomes)} calls on the same inputs {differences}: {messages[0]}"
    output_lists = [_outputs(outcome) for outcome in outcomes]
    if len({len(outputs) for outputs in output_lists}) > 1:
        return f"{len(outcomes)} calls on the same inputs returned different numbers of outputs"
    differences = "; ".join(
        difference
        for position, versions in enumerate(zip(*output_lists, strict=True))
        if (difference := _difference(position, versions))
    )
    return differences and f"{len(outcomes)} calls on the same inputs: {differences}"


def _outputs(outcome: Outcome) -> list[Any]:
    returned = outcome.returned
    return list(returned) if isinstance(returned, list | tuple) else [returned]


def _difference(position: int, versions: Sequence[Any]) -> str:
    """In what the versions of one output differ; arrays are compared by their bits."""
    first = describe_value(versions[0])
    if any(describe_value(version) != first for version in versions):
        return f"output {position} differs in type or shape"
    if first.shape is None or not all(_is_numeric(version) for version in versions):
        return ""
    bits = [
        np.frombuffer(version.tobytes(), np.uint8).reshape(version.size, -1) for version in versions
    ]
    if not versions[0].size:
        return ""
    differing = np.zeros(versions[0].size, bool)
    for other in bits[1:]:
        differing |= (other != bits[0]).any(axis=1)
    count = int(np.count_nonzero(differing))
    return f"{count} of {differing.size} elements of output {position} differ" if count else ""


def _is_numeric(version: Any) -> bool:
    return isinstance(version, np.ndarray) and not version.dtype.hasobject
