"""Merges the logs of all shards into the log of the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from conformance.backends.capabilities import Capabilities
from conformance.errors import BackendError, LogError
from conformance.grade.gate import merge_summaries as merged_gate
from conformance.log.headers import differences
from conformance.log.results import OutputLimit, Results
from conformance.log.run_log import RunLog
from conformance.model import Finding, Result
from conformance.run.partition_filter import PartitionFilter
from conformance.run.selection import Selection, declared_operators, select
from conformance.run.shard import Shard
from conformance.run.summarise import diagnosed_findings, in_suite_order, make_footer
from conformance.safe_text import number_of
from conformance.suite.store import Suite

Events = Iterator[Mapping[str, Any] | Result | Finding]

OWN = ("options.shard", "suite.vectors", "suite.by_op", "environment")
"""What the headers of shards may differ in; the merged one has the environment of each."""

MOST_NAMED = 3


@dataclass(frozen=True)
class ShardLog:
    """The log of one shard, and the file that it was read from."""

    path: Path
    run: RunLog

    @property
    def shard(self) -> Shard:
        """Which part it is."""
        text = self.run.header["options"].get("shard")
        if text is None:
            raise LogError(
                f"{self.path}: the log of a whole run, not of a shard",
                hint="merge the logs of `conformance check --shard 1/N` to N/N",
            )
        return Shard.parse(text)


def merged(
    parts: Sequence[ShardLog],
    suite: Suite,
    kept: Results,
    *,
    command: Sequence[str],
    show: Sequence[str],
) -> Events:
    """Yield the events of the run that shards share, as if it was never divided.

    Args:
        kept: takes the results.
        command: reproduces a finding, as ``show`` does; see
            :func:`conformance.grade.findings.group_failures`.

    Raises:
        LogError: a log that is not complete or not of a shard; a shard that is missing, there
            twice, of another run, or holds other vectors than its own; another suite.
    """
    parts = sorted(parts, key=lambda part: part.shard)
    _check_complete(parts)
    _check_together(parts)
    header = parts[0].run.header
    if header["suite"]["digest"] != suite.digest:
        raise LogError(
            f"the run is on another suite: {header['suite']['name'][:80]!a} of digest "
            f"{header['suite']['digest'][:12]!a}, not {suite.name} of {suite.digest[:12]}",
            hint="name the suite that the shards were checked on with --suite",
        )
    for part in parts:
        _check_vectors(part, _selection(part.run.header, suite, part.shard))
    selection = _selection(header, suite, None)
    if selection.whole:
        suite.manifest.confirm()
    yield _header(parts, selection)
    outputs = OutputLimit()
    for result in _in_order(parts, selection):
        kept.append(outputs.bounded(result))
        yield kept[-1]
    results = in_suite_order(kept, suite)
    level, precision = header["options"]["level"], header["options"]["precision"]
    yield from diagnosed_findings(
        results,
        suite,
        level=level,
        precision=precision,
        command=command,
        show=show,
        spec=header["backend"]["spec"],
        declared=_declared(parts[0]),
    )
    footers = [part.run.footer or {} for part in parts]
    yield {
        **make_footer(
            results,
            suite,
            selection,
            backend=f"{header['backend']['name']} {header['backend']['version']}",
            level=level,
            precision=precision,
            command=command,
            ops=header["options"]["ops"],
            declared=_declared(parts[0]),
            min_strength=header["options"].get("min_strength"),
            expected=merged_gate(footers, is_complete=True) | _endings(footers),
            strict=header["options"].get("strict", False),
        ),
        "finished": max(footer["finished"] for footer in footers),
        "seconds": sum(footer["seconds"] for footer in footers),
        "peak_memory_bytes": max(
            (end["peak_memory_bytes"] for end in footers if end["peak_memory_bytes"]), default=None
        ),
    }


def _endings(footers: Sequence[Mapping[str, Any]]) -> dict[str, list[dict[str, str]]]:
    """How processes ended that did not end as they should; empty if there were none."""
    endings = (ending for footer in footers for ending in footer.get("endings", ()))
    messages = dict.fromkeys(ending["message"] for ending in endings)
    return {"endings": [{"message": message} for message in messages]} if messages else {}


def _in_order(parts: Sequence[ShardLog], selection: Selection) -> Iterator[Result]:
    """The results of all parts in the order of the selection.

    Each part has its own in that order, so only the next of each is looked at. Where one has not,
    as a resumed run may, all that are left are kept at hand.
    """
    ahead: dict[tuple[str, str], tuple[Result, Iterator[Result]]] = {}

    def advance(part: Iterator[Result], most: int | None) -> None:
        for result in islice(part, most):
            ahead[result.op, result.id] = (result, part)

    left = [iter(part.run.results) for part in parts]
    for results in left:
        advance(results, 1)
    for entry in selection.entries:
        if (entry.op, entry.id) not in ahead:
            for results in left:
                advance(results, None)
        result, part = ahead.pop((entry.op, entry.id))
        advance(part, 1)
        yield result


def _declared(part: ShardLog) -> Capabilities | None:
    """What the backend declared before the run."""
    said = part.run.header["backend"]["capabilities"]
    try:
        return None if said is None else Capabilities.from_json(said)
    except BackendError as error:
        raise LogError(
            f"{part.path}: the header has {error.message}", hint="run the shards again"
        ) from error


def _check_complete(parts: Sequence[ShardLog]) -> None:
    for part in parts:
        if part.run.complete:
            continue
        if part.run.problems:
            reason, hint = f"contradicts itself: {part.run.problems[0]}", "run this shard again"
        else:
            reason = f"is not complete ({part.run.verdict})"
            hint = "resume it: run the command of this shard with --resume"
        raise LogError(f"{part.path}: the log of shard {part.shard} {reason}", hint=hint)


def _check_together(parts: Sequence[ShardLog]) -> None:
    """Refuse parts of different runs, and parts that are not each there once."""
    first = parts[0]
    for part in parts[1:]:
        apart = list(differences(first.run.header, part.run.header, apart_from=OWN))
        if part.shard.of != first.shard.of:
            apart.insert(0, f"options.shard: one of {first.shard.of}, not one of {part.shard.of}")
        if apart:
            named = "".join(f"\n  {line}" for line in apart[:MOST_NAMED])
            raise LogError(
                f"{part.path}: not of the run that {first.path} is of; they have{named}",
                hint="merge shards of one suite, backend and set of options",
            )
        if _entries(part) != _entries(first):
            raise LogError(
                f"{part.path}: its known failures or requirements are not those of {first.path}, "
                "or one of them expired meanwhile",
                hint="run the earlier shards again",
            )
    there = Counter(part.shard.number for part in parts)
    for number, times in there.items():
        if times > 1:
            paths = [str(part.path) for part in parts if part.shard.number == number]
            raise LogError(
                f"shard {number}/{first.shard.of} is there {times} times: {', '.join(paths[:4])}",
                hint="leave all but one of them out",
            )
    missing = [number for number in range(1, first.shard.of + 1) if number not in there]
    if missing:
        some = ", ".join(map(str, missing[:10])) + (", ..." if len(missing) > 10 else "")
        raise LogError(
            f"{len(missing)} of {first.shard.of} shards missing: {some}",
            hint=f"run them with --shard {missing[0]}/{first.shard.of} and so on, and merge all",
        )


def _entries(part: ShardLog) -> list[tuple[str, bool]]:
    """The entries of the gate, in the order of their files, and which of them excuse nothing."""
    said = part.run.footer or {}
    both = (*said.get("known_failures", ()), *said.get("required", ()))
    return [(entry["entry"], entry.get("expired", False)) for entry in both]


def _selection(header: Mapping[str, Any], suite: Suite, shard: Shard | None) -> Selection:
    options = header["options"]
    declared = header["backend"]["capabilities"]
    known = None if declared is None else Capabilities.from_json(declared)
    return select(
        suite,
        ops=options["ops"] or declared_operators(suite.manifest, known, options["only"]),
        only=options["only"],
        shard=shard,
        shuffle=options.get("shuffle"),
        partitions=PartitionFilter.of(options.get("dtypes") or (), options.get("ranks") or ()),
    )


def _check_vectors(part: ShardLog, selection: Selection) -> None:
    own = {(entry.op, entry.id) for entry in selection.entries}
    there = {(result.op, result.id) for result in part.run.results}
    if own != there or part.run.header["suite"]["by_op"] != selection.by_op:
        foreign = sorted(there - own)
        named = f", {foreign[0][1][:80]!a} first" if foreign else ""
        raise LogError(
            f"{part.path}: shard {part.shard} lacks {number_of(len(own - there), 'result')}, and "
            f"has {number_of(len(foreign), 'result')} of other vectors{named}",
            hint="the log is damaged; run this shard again",
        )


def _header(parts: Sequence[ShardLog], selection: Selection) -> dict[str, Any]:
    """The header of the whole run: it began with its first shard, and was made in all places."""
    headers = [part.run.header for part in parts]
    first = headers[0]
    return {
        **first,
        "started": min(header["started"] for header in headers),
        "suite": {
            **first["suite"],
            "vectors": len(selection.entries),
            "by_op": selection.by_op,
        },
        "options": _options([header["options"] for header in headers]),
        "environment": _environment([header["environment"] for header in headers]),
    }


def _options(all_of_them: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The options of the whole run; nothing of ``jobs`` where the shards had different numbers."""
    options = {**all_of_them[0], "shard": None}
    if len({shard.get("jobs") for shard in all_of_them}) > 1:
        options.pop("jobs", None)
    return options


def _environment(all_of_them: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the places have in common, then what each has of its own; the number of shards first."""
    shared = {
        name: value
        for name, value in all_of_them[0].items()
        if all(name in env and env[name] == value for env in all_of_them)
    }
    own = {
        f"shard {number}": {name: value for name, value in env.items() if name not in shared}
        for number, env in enumerate(all_of_them, 1)
    }
    return {"shards": len(all_of_them), **shared, **{name: env for name, env in own.items() if env}}
