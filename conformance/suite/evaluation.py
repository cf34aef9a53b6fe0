"""Vectors of recorded cases: from the cache, or evaluated when they are first needed.

No verdict rests on an evaluation that was not compared with what was recorded: the digest of each
vector, cached or new, has to be that of its case. A check evaluates what the cache lacks before its
first vector is tested. A command does so in processes of its own; few cases, and those of a call
from Python, are evaluated in the calling process, where the digest tells what a backend disturbs.
"""

from __future__ import annotations

import atexit
import logging
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import prod
from pathlib import Path

from conformance import parallel
from conformance.core.operator import Operator
from conformance.errors import EvaluationDefect, SuiteError
from conformance.specification import build
from conformance.suite import strict_json, vector_cache
from conformance.suite.archive import write_zip
from conformance.suite.entries import Entry
from conformance.suite.members import CASE_MEMBER
from conformance.suite.recorded_cases import RecordedCase
from conformance.suite.specifications import Specifications
from conformance.suite.vector_cache import Cache, cache_folder
from conformance.suite.vector_file import content_digest, open_vector_file, vector_members

ATTEMPTS = 2
"""How often a case is evaluated whose digest is not the recorded one: memory may be faulty."""

CASE_SECONDS = 0.011
ELEMENT_SECONDS = 7e-6
"""What evaluating a case takes, about, and each element of its inputs."""

TASK_SECONDS = 0.4
"""The work of one task: enough to be worth sending, little enough to share it evenly."""

MIN_PARALLEL_SECONDS = 1.0
"""Seconds of work that are not worth starting processes for."""

_log = logging.getLogger("conformance")
_spare: list[Cache] = []
"""A folder for this process alone, where the user's cache cannot be written."""
_warned: set[str] = set()


def cached_content(spec: Operator, entry: RecordedCase) -> bytes:
    """Return the file of a recorded case's vector, whose digest is the recorded one.

    Raises EvaluationDefect where evaluating it again and again gives another.
    """
    cache = _cache()
    key = spec.op, entry.case.id, entry.digest
    cached = cache.get(*key)
    if cached is not None:
        if not _sound(cached, entry):
            _warn(f"{cache.path(*key)} was damaged: it is evaluated again")
        elif _has_targets(cached, entry):
            return cached
    content = evaluate_case(spec, entry)
    _keep(cache, key, content)
    return content


def evaluate_case(spec: Operator, entry: RecordedCase) -> bytes:
    """Evaluate a recorded case's vector; raises as :func:`cached_content` does."""
    digest = ""
    for _ in range(ATTEMPTS):
        members = vector_members(build(spec, entry.case, entry.level))
        digest = content_digest(members)
        if digest == entry.digest:
            return write_zip(list(members.items()))
    raise EvaluationDefect(
        f"{spec.op}: evaluating {entry.case.id} gives a vector of digest {digest[:16]}, and "
        f"{entry.digest[:16]} was recorded",
        hint="the processor, its memory or a library computes something else here; try another "
        "version of numpy or another machine, and please report it",
    )


def evaluation_seconds(entry: RecordedCase) -> float:
    """Estimate the seconds that evaluating a case takes."""
    if entry.case.reject is not None:
        return CASE_SECONDS / 8
    return CASE_SECONDS + ELEMENT_SECONDS * sum(map(prod, entry.case.shapes.values()))


@dataclass(frozen=True)
class Work:
    """How cases are evaluated: in how many processes, 1 being this one, and who is informed.

    ``say`` gets a sentence beforehand: what will be evaluated, about how long it takes, and where
    it is kept.
    """

    processes: int = 1
    say: Callable[[str], None] = lambda _text: None
    progress: parallel.Progress = lambda _what, _done, _total: None


IN_PROCESS = Work()


def ensure_evaluated(
    specs: Specifications, entries: Iterable[Entry], work: Work = IN_PROCESS
) -> None:
    """Evaluate the recorded cases among the entries that the cache lacks, and keep them there.

    Where the user's cache cannot be written, that is a folder that ends with this process. Raises
    EvaluationDefect as :func:`cached_content` does.
    """
    missing = _missing(entries)
    if not missing:
        return
    cache = _writable()
    seconds = sum(evaluation_seconds(entry) for entry in chain(*missing.values()))
    count = sum(map(len, missing.values()))
    ops = list(missing)
    what = ops[0] if len(ops) == 1 else f"{len(ops)} operators"
    where = f"kept in {cache.folder}" if not _spare else "not kept"
    work.say(
        f"evaluating {count:,} case{'s' if count > 1 else ''} of {what} first: about "
        f"{_time(seconds / work.processes)}; {where}"
    )
    tasks = [
        task for op, recorded in missing.items() for task in _slices(specs[op], recorded, cache)
    ]
    problems = parallel.run(
        tasks,
        processes=work.processes if seconds > MIN_PARALLEL_SECONDS else 1,
        progress=work.progress,
        total=len(tasks),
        ahead=2 * work.processes,
    )
    for problem in filter(None, problems):
        _warn(f"the cache {cache.folder} cannot be written ({problem}): cases are evaluated again")
    work.progress("", len(tasks), len(tasks))
    cache.trim()


@dataclass(frozen=True)
class EvaluationTask:
    """Recorded cases of one operator, to be evaluated into a cache."""

    spec: Operator
    recorded: Sequence[RecordedCase] = field(repr=False)
    cache: Cache

    @property
    def label(self) -> str:
        return self.spec.op

    def run(self) -> str:
        """Evaluate the cases; return what is wrong with the cache, or an empty text."""
        problem = ""
        for entry in self.recorded:
            content = evaluate_case(self.spec, entry)
            if not problem:
                problem = _put(self.cache, (self.spec.op, entry.case.id, entry.digest), content)
        return problem


def _missing(entries: Iterable[Entry]) -> dict[str, list[RecordedCase]]:
    """Return by operator the recorded cases that the cache has no file of."""
    cache = _cache()
    cached_names: dict[str, frozenset[str]] = {}
    missing: dict[str, list[RecordedCase]] = {}
    for entry in entries:
        if entry.recorded is None:
            continue
        if entry.op not in cached_names:
            cached_names[entry.op] = cache.names(entry.op)
        if cache.path(entry.op, entry.id, entry.content).name not in cached_names[entry.op]:
            missing.setdefault(entry.op, []).append(entry.recorded)
    return missing


def _slices(
    spec: Operator, recorded: Sequence[RecordedCase], cache: Cache
) -> Iterator[EvaluationTask]:
    batch: list[RecordedCase] = []
    seconds = 0.0
    for entry in recorded:
        batch.append(entry)
        seconds += evaluation_seconds(entry)
        if seconds >= TASK_SECONDS:
            yield EvaluationTask(spec, tuple(batch), cache)
            batch, seconds = [], 0.0
    if batch:
        yield EvaluationTask(spec, tuple(batch), cache)


def _cache() -> Cache:
    return _spare[0] if _spare else Cache(cache_folder())


def _writable() -> Cache:
    """Return the user's cache, or a folder that ends with this process."""
    cache = _cache()
    try:
        cache.check()
    except OSError as error:
        _warn(
            f"the cache {cache.folder} cannot be written ({error.strerror or error}): what is "
            f"evaluated now is not kept; {vector_cache.VARIABLE} names another folder"
        )
        folder = tempfile.mkdtemp(prefix="conformance-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        _spare[:] = [Cache(Path(folder))]
    return _cache()


def _sound(content: bytes, entry: RecordedCase) -> bool:
    try:
        return content_digest(open_vector_file(content, entry.case.id)) == entry.digest
    except (SuiteError, KeyError):
        return False


def _has_targets(content: bytes, entry: RecordedCase) -> bool:
    """Return whether a vector names the coverage targets of its case as this version does.

    They are not part of its digest.
    """
    text = open_vector_file(content, entry.case.id)[CASE_MEMBER]
    return sorted(strict_json.loads(text, CASE_MEMBER)["edges"]) == sorted(entry.edges)


def _keep(cache: Cache, key: tuple[str, str, str], content: bytes) -> None:
    if problem := _put(cache, key, content):
        _warn(f"the cache {cache.folder} cannot be written ({problem}): cases are evaluated again")


def _put(cache: Cache, key: tuple[str, str, str], content: bytes) -> str:
    """Keep a file; return what is wrong with the cache, or an empty text."""
    try:
        cache.put(*key, content)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _warn(text: str) -> None:
    """Log a warning once; it goes to standard error unless logging is set up."""
    if text not in _warned:
        _warned.add(text)
        _log.warning("%s", text)


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} minutes"
