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
from math import prod
from pathlib import Path

from conformance import parallel
from conformance.errors import EvaluationDefect, SuiteError
from conformance.model import Case
from conformance.reference.build import build
from conformance.spec.model import OpSpec
from conformance.suite import vector_cache
from conformance.suite.archive import write_zip
from conformance.suite.entries import Entry
from conformance.suite.recorded_cases import RecordedCase
from conformance.suite.specifications import Specifications
from conformance.suite.vector_cache import Cache, cache_folder
from conformance.suite.vector_file import content_digest, open_vector_file, vector_members

ATTEMPTS = 2
"""How often a case is evaluated whose digest is not the recorded one: memory may be faulty."""

CASE_SECONDS = 0.006
ELEMENT_SECONDS = 4e-6
"""What evaluating a case takes, about, and each element of its inputs."""

TASK_SECONDS = 0.4
"""The work of one task: enough to be worth sending, little enough to share it evenly."""

MIN_PARALLEL_SECONDS = 1.0
"""Seconds of work that are not worth starting processes for."""

_log = logging.getLogger("conformance")
_spare: list[Cache] = []
"""A folder for this process alone, where the user's cache cannot be written."""
_warned: set[str] = set()


def cached_content(spec: OpSpec, one: RecordedCase) -> bytes:
    """The file of a recorded case's vector, whose digest is the recorded one.

    Raises EvaluationDefect where evaluating it again and again gives another.
    """
    cache = _cache()
    key = spec.op, one.case.id, one.digest
    found = cache.get(*key)
    if found is not None:
        if _sound(found, one):
            return found
        _warn(f"{cache.path(*key)} was damaged: it is evaluated again")
    made = evaluate_case(spec, one)
    _keep(cache, key, made)
    return made


def evaluate_case(spec: OpSpec, one: RecordedCase) -> bytes:
    """Evaluate a recorded case's vector; raises as :func:`cached_content` does."""
    digest = ""
    for _ in range(ATTEMPTS):
        members = vector_members(build(spec, one.case, one.level))
        digest = content_digest(members)
        if digest == one.digest:
            return write_zip(list(members.items()))
    raise EvaluationDefect(
        f"{spec.op}: evaluating {one.case.id} gives a vector of digest {digest[:16]}, and "
        f"{one.digest[:16]} was recorded",
        hint="the processor, its memory or a library computes something else here; try another "
        "version of numpy or another machine, and please report it",
    )


def record_case(
    spec: OpSpec, case: Case, suites: tuple[str, ...], level: str = "must"
) -> RecordedCase:
    """A case as it is recorded, evaluated now; of what it kills nothing is said."""
    vector = build(spec, case, level)
    edges, digest = tuple(sorted(vector.edges)), content_digest(vector_members(vector))
    return RecordedCase(case, level, suites, edges=edges, digest=digest)


def evaluation_seconds(one: RecordedCase) -> float:
    """The seconds that evaluating a case takes, about."""
    if one.case.reject is not None:
        return CASE_SECONDS / 4
    return CASE_SECONDS + ELEMENT_SECONDS * sum(map(prod, one.case.shapes.values()))


@dataclass(frozen=True)
class Work:
    """How cases are evaluated: in how many processes, 1 being this one, and who hears of it.

    ``say`` is told beforehand what will be evaluated, how long it takes, about, and where it is
    kept.
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
    seconds = sum(evaluation_seconds(one) for found in missing.values() for one in found)
    count = sum(map(len, missing.values()))
    ops = list(missing)
    named = ops[0] if len(ops) == 1 else f"{len(ops)} operators"
    where = f"kept in {cache.folder}" if not _spare else "not kept"
    work.say(
        f"evaluating {count:,} case{'s' if count > 1 else ''} of {named} first: about "
        f"{_time(seconds / work.processes)}; {where}"
    )
    tasks = [task for op, found in missing.items() for task in _slices(specs[op], found, cache)]
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
    """Some recorded cases of one operator, to be evaluated into a cache."""

    spec: OpSpec
    recorded: Sequence[RecordedCase] = field(repr=False)
    cache: Cache

    @property
    def label(self) -> str:
        return self.spec.op

    def run(self) -> str:
        """Evaluates them; what is wrong with the cache, empty where nothing is."""
        problem = ""
        for one in self.recorded:
            made = evaluate_case(self.spec, one)
            if not problem:
                problem = _put(self.cache, (self.spec.op, one.case.id, one.digest), made)
        return problem


def _missing(entries: Iterable[Entry]) -> dict[str, list[RecordedCase]]:
    """By operator the recorded cases that the cache has no file of."""
    cache = _cache()
    there: dict[str, frozenset[str]] = {}
    found: dict[str, list[RecordedCase]] = {}
    for entry in entries:
        if entry.recorded is None:
            continue
        if entry.op not in there:
            there[entry.op] = cache.names(entry.op)
        if cache.path(entry.op, entry.id, entry.content).name not in there[entry.op]:
            found.setdefault(entry.op, []).append(entry.recorded)
    return found


def _slices(
    spec: OpSpec, recorded: Sequence[RecordedCase], cache: Cache
) -> Iterator[EvaluationTask]:
    some: list[RecordedCase] = []
    seconds = 0.0
    for one in recorded:
        some.append(one)
        seconds += evaluation_seconds(one)
        if seconds >= TASK_SECONDS:
            yield EvaluationTask(spec, tuple(some), cache)
            some, seconds = [], 0.0
    if some:
        yield EvaluationTask(spec, tuple(some), cache)


def _cache() -> Cache:
    return _spare[0] if _spare else Cache(cache_folder())


def _writable() -> Cache:
    """The user's cache, or a folder that ends with this process."""
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


def _sound(found: bytes, one: RecordedCase) -> bool:
    try:
        return content_digest(open_vector_file(found, one.case.id)) == one.digest
    except (SuiteError, KeyError):
        return False


def _keep(cache: Cache, key: tuple[str, str, str], made: bytes) -> None:
    if problem := _put(cache, key, made):
        _warn(f"the cache {cache.folder} cannot be written ({problem}): cases are evaluated again")


def _put(cache: Cache, key: tuple[str, str, str], made: bytes) -> str:
    """Keeps a file; what is wrong with the cache, empty where nothing is."""
    try:
        cache.put(*key, made)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _warn(text: str) -> None:
    """Says something once, on standard error where nobody set up logging."""
    if text not in _warned:
        _warned.add(text)
        _log.warning("%s", text)


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} minutes"
