"""Selects the vectors of a run; a filter that matches nothing is an error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import islice

from conformance.backends.capabilities import Capabilities
from conformance.errors import SuiteError, UsageError, closest
from conformance.grade.precision import match_patterns
from conformance.replacement import unused
from conformance.run.partition_filter import ALL_PARTITIONS, PartitionFilter
from conformance.run.shard import Shard, shuffled
from conformance.specification import shipped_operators
from conformance.suite.entries import Entry, matches_id
from conformance.suite.listing import Listing
from conformance.suite.manifest import Manifest
from conformance.suite.recordings import Recordings
from conformance.suite.shipped_suite import CORE
from conformance.suite.store import NEAR, Suite


@dataclass(frozen=True)
class Selection:
    """The chosen vectors of a suite in the order in which they are asked, counted.

    ``by_op`` counts those with values and those that must be rejected, of each operator that has
    any; ``in_suite`` all value vectors that the suite has of the operators asked. ``whole`` says
    that neither ``only`` nor a shard narrowed them. ``shard`` is the part that the choice was
    narrowed to at last, if it was. ``partitions`` are the element types and ranks that a run is
    about; ``in_suite`` and ``whole`` are about these.
    """

    entries: Sequence[Entry]
    by_op: dict[str, dict[str, int]]
    in_suite: int
    whole: bool
    shard: Shard | None = None
    partitions: PartitionFilter = ALL_PARTITIONS


def select(
    suite: Suite,
    *,
    ops: Sequence[str] | None,
    only: Sequence[str],
    shard: Shard | None = None,
    shuffle: int | None = None,
    partitions: PartitionFilter = ALL_PARTITIONS,
) -> Selection:
    """Select the vectors of the operators ``ops`` (None: all) that ``only`` names (empty: all).

    An operator is named, or several are by a pattern like ``onnx.*``. ``partitions`` narrows to
    element types and ranks. A text names the vectors whose id begins with it, or ends in the
    digest that it is. Of these, ``shard`` takes its share, and the seed ``shuffle`` draws an order
    other than the manifest's.

    Raises:
        UsageError: an operator, element type or rank that the suite does not have, a text that
            names no vector, or more shards than there are vectors.
        SuiteError: the suite is empty.
    """
    manifest = suite.manifest
    if not manifest.vectors:
        raise SuiteError("the suite has no vectors", hint="Generate it again, or choose another.")
    for op in ops or ():
        if op in shipped_operators() and op not in manifest.ops:
            out = unused("mine")
            raise UsageError(
                f"the suite has no vectors of {op}",
                hint=f"make them: conformance generate --op {op} --out {out}; then --suite {out}",
            )
    ops = match_patterns(ops or (), manifest.ops, "operator of this suite")
    of_ops = partitions.among(manifest.of(ops or None), suite)
    chosen = _named(of_ops, only) if only else of_ops
    if shard is not None:
        chosen = shard.part(chosen)
    counts = counted(chosen)
    entries = chosen if shuffle is None else shuffled(chosen, shuffle)
    in_suite = sum(of["value"] for of in counted(of_ops).values())
    return Selection(entries, counts, in_suite, shard is None and not only, shard, partitions)


def declared_operators(
    manifest: Manifest, declared: Capabilities | None, only: Sequence[str] = ()
) -> tuple[str, ...] | None:
    """Return the operators of the shipped suite that a backend declares.

    The shipped suite has every operator, so without this most of its vectors would be unsupported.
    Users who name vectors, or bring a suite, mean all that is in it.

    Returns:
        None if the declaration does not narrow the selection.
    """
    if declared is None or declared.operators is None or only or manifest.name != CORE:
        return None
    if not isinstance(manifest.listed, Recordings):
        return None
    return tuple(op for op in manifest.ops if declared.names(op)) or None


def untested(
    declared: Sequence[str] | None, ops: Sequence[str] | None, manifest: Manifest
) -> list[str]:
    """Return the requested operators that are declared by name and not in the suite.

    Args:
        declared: names and patterns, which mean no operator in particular; None means all.
        ops: the requested operators; None means all.

    Returns:
        Operators of which there is a specification.
    """
    specified = shipped_operators()
    return [
        op
        for op in dict.fromkeys(declared or ())
        if op in specified
        and op not in manifest.ops
        and (not ops or any(fnmatch(op, pattern) for pattern in ops))
    ]


def _named(entries: Sequence[Entry], only: Sequence[str]) -> tuple[Entry, ...]:
    """The entries that the texts name; each names some."""
    chosen, unmet = [], set(only)
    for entry in entries:
        naming = [text for text in only if matches_id(text, entry.id)]
        unmet.difference_update(naming)
        if naming:
            chosen.append(entry)
    for text in (text for text in only if text in unmet):
        raise _no_match(text, [entry.id for entry in islice(entries, NEAR)])
    return tuple(chosen)


def counted(entries: Sequence[Entry]) -> dict[str, dict[str, int]]:
    """Count the entries of each kind by operator, as files state it where they do."""
    if isinstance(entries, Listing | Recordings):
        return entries.kind_counts()
    counts: dict[str, dict[str, int]] = {}
    for entry in entries:
        counts.setdefault(entry.op, {"value": 0, "reject": 0})[entry.kind] += 1
    return counts


def _no_match(text: str, ids: Sequence[str]) -> UsageError:
    hint = closest(text, ids, cutoff=0.8) or f"an id looks like {ids[0]}"
    return UsageError(f"no selected vector has an id that begins with {text!r}", hint=hint)
