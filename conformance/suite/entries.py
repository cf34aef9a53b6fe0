"""What a manifest says of each vector.

Both forms of a suite list their vectors so: a folder in its manifest, a packed suite in the part of
its manifest that each container holds.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Annotated

from msgspec import Meta

from conformance.choices import SuiteName
from conformance.codec import Record
from conformance.model import Vector
from conformance.suite.recorded_cases import Level, RecordedCase
from conformance.suite.strict_json import Indices, Sha256, Whole, names_at
from conformance.suite.totals import PATH_PART, Count, OpName, Table, Totals

Names = Mapping[str, Sequence[str]]

SuiteText = Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9.-]{0,60}$")]

KINDS = ("value", "reject")


class Container(Record, frozen=True):
    """A file of a packed suite: vectors of one operator and kind, with their part of the manifest.

    ``file`` is its path in the suite's folder, with ``/``.
    """

    file: Annotated[str, Meta(pattern=rf"^{PATH_PART.pattern}/{PATH_PART.pattern}\.zip$")]
    op: OpName
    kind: Annotated[str, Meta(pattern=f"^({'|'.join(KINDS)})$")]
    count: Annotated[int, Meta(ge=1)]
    bytes: Whole
    sha256: Sha256


class EntryData(Record, frozen=True, omit_defaults=True):
    """:class:`Entry` in a file: targets and mutants are their indices in the operator's tables."""

    id: Annotated[str, Meta(pattern=f"^{PATH_PART.pattern}$")]
    op: OpName
    level: Level
    dtype: str
    reject: str | None
    suites: tuple[SuiteText, ...]
    edges: Indices
    kills: Indices
    bytes: Whole
    sha256: Sha256
    content: Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]
    excused: Indices = ()

    def __post_init__(self) -> None:
        """Raise ValueError for excused mutants that are not killed."""
        if not {*self.excused} <= {*self.kills}:
            raise ValueError("'excused' holds mutants that are not among 'kills'")


_SAME = ("id", "op", "level", "dtype", "reject", "suites", "bytes", "sha256", "content")
"""Fields that an entry has as its file has them."""


@dataclass(frozen=True)
class Entry:
    """One vector of a suite; ``dtype`` is the case's first type.

    ``kills`` are the mutants of the catalogue that it kills at level should, ``excused`` those
    among them that an allowed interpretation excuses at level must. Like ``edges`` they are sorted.
    ``content`` is a digest of what it tests and accepts
    (:func:`conformance.suite.vector_file.content_digest`). ``bytes`` and ``sha256`` are those of
    its file, ``inside`` the container that holds it, None where it is a file of its own. One of
    the shipped suite has no file, and is ``recorded``: evaluated when it is first needed.
    """

    id: str
    op: str
    level: str
    dtype: str
    reject: str | None
    suites: tuple[str, ...]
    edges: tuple[str, ...]
    kills: tuple[str, ...]
    bytes: int
    sha256: str
    content: str = ""
    excused: tuple[str, ...] = ()
    inside: Container | None = dataclasses.field(default=None, compare=False, repr=False)
    recorded: RecordedCase | None = dataclasses.field(default=None, compare=False, repr=False)

    @property
    def path(self) -> str:
        """The file, relative to the suite's folder, with ``/``."""
        return f"{self.op}/{self.id}.npz"

    @property
    def is_large(self) -> bool:
        """True if it is of the large cases, of which no kills are measured."""
        return SuiteName.LARGE in self.suites

    @property
    def elements(self) -> int:
        """The count of elements of its inputs.

        An id has the sizes of all tensors in a row: of several, their product bounds the count.
        """
        if self.recorded is not None:
            return sum(prod(shape) for shape in self.recorded.case.shapes.values())
        shape = self.id.partition("-")[2].partition("-")[0]
        return prod(int(size) for size in shape.split("x") if size.isdecimal())

    @property
    def kind(self) -> str:
        """``value``, or ``reject`` if the only right answer is a refusal."""
        return KINDS[self.reject is not None]


def entry_of(
    vector: Vector,
    content: bytes,
    suites: tuple[str, ...],
    kills: tuple[str, ...] = (),
    digest: str = "",
    excused: tuple[str, ...] = (),
) -> Entry:
    """Return the entry of a vector.

    ``content`` is its file, and ``digest`` that of what the file holds.
    """
    return Entry(
        id=vector.id,
        op=vector.case.op,
        level=vector.level,
        dtype=vector.case.dtype,
        reject=vector.case.reject,
        suites=suites,
        edges=tuple(sorted(vector.edges)),
        kills=tuple(sorted(kills)),
        bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        content=digest,
        excused=tuple(sorted(excused)),
    )


def entry_of_recorded(op: str, recorded: RecordedCase) -> Entry:
    """Return the entry of a recorded case."""
    return Entry(
        id=recorded.case.id,
        op=op,
        level=recorded.level,
        dtype=recorded.case.dtype,
        reject=recorded.case.reject,
        suites=recorded.suites,
        edges=recorded.edges,
        kills=recorded.kills,
        bytes=0,
        sha256="",
        content=recorded.digest,
        excused=recorded.excused,
        recorded=recorded,
    )


def entries_to_data(entries: Iterable[Entry], totals: Totals) -> tuple[EntryData, ...]:
    """Return what a file holds of entries; ``totals`` has its tables."""
    targets, mutants = (
        {op: name_indices(table) for op, table in tables.items()}
        for tables in (totals.edges, totals.faults)
    )
    return tuple(
        EntryData(
            **{key: getattr(entry, key) for key in _SAME},
            edges=tuple(targets[entry.op][name] for name in entry.edges),
            kills=tuple(mutants[entry.op][name] for name in entry.kills),
            excused=tuple(mutants[entry.op][name] for name in entry.excused),
        )
        for entry in entries
    )


def entries_from_data(
    data: Iterable[EntryData], stated: Totals, unkilled: Table
) -> tuple[Entry, ...]:
    """Return the entries in a file, which must add up to the stated totals.

    ``unkilled`` as in :meth:`Totals.with_unkilled`. Raises ValueError otherwise.
    """
    targets, mutants = (
        {op: sorted(table) for op, table in tables.items()}
        for tables in (stated.edges, stated.faults)
    )
    entries = tuple(_entry(item, targets, mutants) for item in data)
    ids = Counter(entry.id for entry in entries)
    if len(ids) != len(entries):
        raise ValueError(f"the id {ids.most_common(1)[0][0]!r} is listed more than once")
    counted = Totals.of(entries).with_unkilled(unkilled)
    for key in ("counts", "edges", "faults"):
        of_file, of_list = getattr(stated, key), getattr(counted, key)
        for op in {**of_file, **of_list}:
            if of_file.get(op) != of_list.get(op):
                shown = ""
                if key == "counts":
                    shown = f": {_counted(of_file.get(op))}, not {_counted(of_list.get(op))}"
                raise ValueError(
                    f"the {key} stated for {op[:80]} are not those of the list of vectors{shown}"
                )
    return entries


def _counted(count: Count | None) -> str:
    """A count of vectors, for a message."""
    if count is None:
        return "nothing"
    return f"{count.value} with values and {count.reject} to be rejected"


def matches_id(text: str, vector_id: str) -> bool:
    """Return whether a vector's id begins with a text, or ends in it."""
    return bool(text) and (vector_id.startswith(text) or vector_id.endswith(f"-{text}"))


def name_indices(table: Iterable[str]) -> dict[str, int]:
    """Return the index of each name in its table."""
    return {name: index for index, name in enumerate(table)}


def _entry(data: EntryData, targets: Names, mutants: Names) -> Entry:
    where = f"vector {data.id}"
    of_op = mutants.get(data.op, ())
    return Entry(
        **{key: getattr(data, key) for key in _SAME},
        edges=names_at(data.edges, targets.get(data.op, ()), f"{where}: 'edges'"),
        kills=names_at(data.kills, of_op, f"{where}: 'kills'"),
        excused=names_at(data.excused, of_op, f"{where}: 'excused'"),
    )
