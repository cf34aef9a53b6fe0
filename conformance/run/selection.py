"""Selects the vectors of a run; a filter that matches nothing is an error."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from conformance.errors import SuiteError, UsageError
from conformance.grade.precision import matching
from conformance.run.shard import Shard, shuffled
from conformance.suite.manifest import Entry, Manifest
from conformance.suite.vector_ids import means


@dataclass(frozen=True)
class Selection:
    """The chosen vectors of a suite in the order in which they are asked, counted.

    ``by_op`` counts those with values and those that must be rejected, of each operator that has
    any; ``in_suite`` all value vectors that the suite has of the operators asked. ``whole`` says
    that neither ``only`` nor a shard narrowed them. ``shard`` is the part that the choice was
    narrowed to at last, if it was.
    """

    entries: tuple[Entry, ...]
    by_op: dict[str, dict[str, int]]
    in_suite: int
    whole: bool
    shard: Shard | None = None


def select(
    manifest: Manifest,
    *,
    ops: Sequence[str] | None,
    only: Sequence[str],
    shard: Shard | None = None,
    shuffle: int | None = None,
) -> Selection:
    """The vectors of the operators ``ops`` (None: all) that ``only`` names (empty: all).

    An operator is named, or some are by a pattern like ``onnx.*``. A text names the vectors whose
    id (or id of before) begins with it, or ends in the digest that it is. Of these,
    ``shard`` takes its part, and the seed ``shuffle`` draws an order other than the manifest's.

    Raises:
        UsageError: an operator that the suite does not have, a text that names no vector, or more
            shards than there are vectors.
        SuiteError: the suite is empty.
    """
    if not manifest.vectors:
        raise SuiteError("the suite has no vectors", hint="Generate it again, or choose another.")
    ops = matching(ops or (), manifest.ops, "operator of this suite")
    of_ops = [entry for entry in manifest.vectors if not ops or entry.op in ops]
    for text in only:
        if not any(means(text, entry.id) for entry in of_ops):
            raise _no_match(text, [entry.id for entry in of_ops])
    chosen = [entry for entry in of_ops if not only or any(means(t, entry.id) for t in only)]
    if shard is not None:
        chosen = list(shard.part(chosen))
    by_op = {op: {"value": 0, "reject": 0} for op in dict.fromkeys(e.op for e in chosen)}
    for entry in chosen:
        by_op[entry.op][entry.kind] += 1
    in_suite = sum(entry.kind == "value" for entry in of_ops)
    entries = tuple(chosen) if shuffle is None else shuffled(chosen, shuffle)
    whole = shard is None and not only
    return Selection(entries, by_op, in_suite, whole, shard)


def _no_match(text: str, ids: Sequence[str]) -> UsageError:
    close = difflib.get_close_matches(text, ids, n=1, cutoff=0.8)
    hint = f"Did you mean {close[0]}?" if close else f"An id looks like {ids[0]}."
    return UsageError(f"no selected vector has an id that begins with {text!r}", hint=hint)
