"""The events of a run log as typed records, and results and findings made of them.

``run-log.schema.json`` states the same for other readers. A reader ignores members that it does
not know.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta, field
from msgspec.structs import asdict, astuple

from conformance.codec import Count, OpenRecord, convert, to_json
from conformance.log.detail import parse_detail
from conformance.log.diagnosis import parse_diagnosis
from conformance.model import Finding, Result, Returned, Status, Witness
from conformance.strength import StrengthState

FORMAT = 1
"""The format of the run log that this version writes."""

ARRAYS = ("inputs", "expected", "returned")
"""The arrays that are kept of a failure."""

MAX_ELEMENTS = 20
"""Wrong elements of a finding that are listed, and shown, at most."""

PIECE = 4000
"""Characters of one piece of a long text that may not be cut."""

Level = Literal["must", "should"]
Precision = Literal["exact", "standard", "native", "tiled"]
Seconds = Annotated[float, Meta(ge=0, le=1e9)]
Texts = Annotated[tuple[str, ...], Meta(max_length=500_000)]
Few = Meta(max_length=10_000)
CountsByName = Annotated[dict[str, Count], Few]
Rank = Annotated[int, Meta(ge=0, le=1000)]
Distance = Annotated[float, Meta(ge=0, le=1e30)]
OfRuns = Literal[
    "conformant", "not conformant", "inconclusive", "no failures", "nothing graded", "interrupted"
]


class Event(OpenRecord, frozen=True, tag_field="event", omit_defaults=True):
    """A line of a run log."""


class Tool(OpenRecord, frozen=True):
    """The program that made the run."""

    name: str
    version: str


class SelectedVectors(OpenRecord, frozen=True):
    """How many vectors of an operator were selected, with values and negative tests."""

    value: Count
    reject: Count


class SuiteFacts(OpenRecord, frozen=True):
    """The suite, and what was selected from it."""

    name: str
    digest: str
    format: int
    vectors: Count
    by_op: Annotated[dict[str, SelectedVectors], Few]


class BackendFacts(OpenRecord, frozen=True):
    """The backend; ``capabilities`` is what it declared."""

    name: str
    version: str
    spec: str
    capabilities: Any
    sha256: str | None = None


class Options(OpenRecord, frozen=True):
    """What was tested, and how."""

    ops: Texts | None
    only: Texts
    level: Level
    precision: dict[str, Precision]
    dtypes: Texts | None = None
    ranks: Annotated[tuple[Annotated[int, Meta(ge=0)], ...], Meta(max_length=100)] | None = None
    known_failures: str | None = None
    require: str | None = None
    strict: bool = False
    min_strength: Annotated[float, Meta(ge=0, le=100)] | None = None
    gate_sha256: str | None = None
    executor: str = ""
    jobs: Count | None = None
    timeout: Seconds | None = None
    memory: Count | None = None
    env: str | None = None
    repeat: Count = 1
    shuffle: int | None = None
    shard: str | None = None


class Header(Event, frozen=True, tag="header"):
    """What is tested, with what, and where."""

    format: Literal[1]
    tool: Tool
    started: str
    suite: SuiteFacts
    backend: BackendFacts
    options: Options
    environment: dict[str, Any]


class WorstElement(OpenRecord, frozen=True):
    """The worst element of an output; an infinite distance is text, which JSON has not."""

    output: str
    index: Annotated[tuple[int, ...], Meta(max_length=1000)]
    exact: str
    rounded: str
    lo: str
    hi: str
    got: str
    ulp: Distance | Literal["inf"] | None
    wrong: Count
    total: Count


class ArrayData(OpenRecord, frozen=True):
    """An array: its elements compressed, in Base64, in pieces."""

    dtype: str
    shape: Annotated[tuple[Count, ...], Meta(max_length=64)]
    zlib: Annotated[tuple[str, ...], Meta(max_length=1000)]


Arrays = Annotated[tuple[ArrayData, ...], Meta(max_length=64)]


class ResultEvent(Event, frozen=True, tag="result"):
    """The result of a vector; keys are the fields of :class:`conformance.model.Result`."""

    id: str
    op: str
    status: Status
    kind: str
    level: Level
    dtype: str
    edges: Annotated[tuple[str, ...], Few]
    message: str
    reading: str | None
    precision: Precision | None
    size: Count
    reject: str | None
    seconds: Seconds
    witness: WorstElement | None
    shows: Annotated[
        dict[str, Annotated[tuple[str, ...], Meta(min_length=1, max_length=10_000)]], Few
    ]
    known: str | None
    rank: Rank
    within: Annotated[tuple[Count, ...], Meta(min_length=6, max_length=6)] | None = None
    left_out: Annotated[tuple[str, ...], Meta(max_length=1000)] = ()
    wrong: str = ""
    request: dict[str, Any] | None = field(name="asked", default=None)
    inputs: Arrays | None = None
    expected: Arrays | None = None
    returned: Arrays | None = None


class FindingEvent(Event, frozen=True, tag="finding"):
    """A distinct failure; keys are the fields of :class:`conformance.model.Finding`."""

    op: str
    kind: str
    title: str
    ids: Texts
    edges: Texts
    smallest: str
    message: str
    witness: WorstElement | None
    reproduce: str
    diagnosis: dict[str, Any] | None
    detail: dict[str, Any]


class VectorCounts(OpenRecord, frozen=True):
    """The counts of an operator."""

    selected: Count
    graded: Count
    passed: Count
    by_reading: Count
    failed: Count
    errors: Count
    unsupported: Count
    skipped: Count
    known: Count = 0


class PartStrength(OpenRecord, frozen=True):
    """The strength of one operator in one element type and rank."""

    op: str
    dtype: str
    rank: Rank
    killed: Count
    mutants: Count
    state: StrengthState
    profile: str
    why: str
    covered: Count = 0
    targets: Count = 0


class Strength(OpenRecord, frozen=True):
    """How strong the evidence is."""

    bar: Annotated[float, Meta(ge=0, le=100)]
    parts: Annotated[tuple[PartStrength, ...], Meta(max_length=100_000)]


class Answer(OpenRecord, frozen=True):
    """An answer of the backend to an open question."""

    answer: str
    adopted: bool
    vectors: Count
    dtypes: Texts
    example: str


class Question(OpenRecord, frozen=True):
    """A question that the document leaves open, and what the backend does."""

    op: str
    point: str
    level: Literal["must", "should", "open"]
    question: str
    answers: tuple[Answer, ...]


class KnownFailureUse(OpenRecord, frozen=True):
    """An entry of the known failures, with what it matched."""

    entry: str
    about: str
    reason: str
    link: str | None
    expires: str | None
    expired: bool
    failures: Count
    shared: Count
    passes: Texts
    vectors: Count
    tested: Count = field(name="asked")
    missing: str
    problems: Texts


class RequirementUse(OpenRecord, frozen=True):
    """An entry of what must be supported, with what it matched."""

    entry: str
    about: str
    tested: Count = field(name="asked")
    unsupported: Texts
    reasons: CountsByName
    absent: Texts
    missing: str
    problems: Texts


GateEntry = KnownFailureUse | RequirementUse


class Ending(OpenRecord, frozen=True):
    """How a process of the backend ended that did not end as it should."""

    message: str


class Footer(Event, frozen=True, tag="footer"):
    """What the run came to."""

    finished: str
    seconds: Seconds
    interrupted: bool
    counts: Annotated[dict[str, VectorCounts], Few]
    by_reading: CountsByName
    precision_reached: dict[str, Precision | None]
    verdict: OfRuns
    strength: Strength
    sentence: str
    claim: str
    exit_code: int
    readings: Annotated[tuple[Question, ...], Meta(max_length=100_000)]
    peak_memory_bytes: Count | None
    endings: Annotated[tuple[Ending, ...], Few] = ()
    known_failures: tuple[KnownFailureUse, ...] = ()
    required: tuple[RequirementUse, ...] = ()


KINDS: Mapping[object, type[Event]] = {
    "header": Header, "result": ResultEvent, "finding": FindingEvent, "footer": Footer,
}  # fmt: skip
"""The record of each kind of event."""


def parse_event(document: Mapping[str, Any]) -> Event:
    """Convert one line, as JSON data, to its record.

    Raises ValueError with the event, the path and what is wrong.
    """
    name = document.get("event")
    if not isinstance(name, str) or name not in KINDS:
        raise ValueError(f"unknown event {str(name)[:40]!r}")
    try:
        return convert(document, KINDS[name])
    except ValueError as error:
        raise ValueError(f"{name} {error}") from None


def as_event(item: Mapping[str, Any] | Result | Finding) -> Mapping[str, Any]:
    """Return what a run yields as JSON data; a header or footer is that already."""
    if isinstance(item, Result):
        return result_event(item)
    return finding_event(item) if isinstance(item, Finding) else item


def result_event(result: Result) -> dict[str, Any]:
    """Return the line of a result as JSON data."""
    arrays = {name: _array_data(getattr(result, name)) for name in ARRAYS}
    return _event(ResultEvent, result, shows=dict(result.shows), **arrays)


def finding_event(finding: Finding) -> dict[str, Any]:
    """Return the line of a finding as JSON data."""
    return _event(FindingEvent, finding)


def _event(kind: type[Event], item: Result | Finding, **changes: Any) -> dict[str, Any]:
    """Return the record that has the fields of a result or finding, as JSON data."""
    names = zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True)
    fields = {name: getattr(item, key) for name, key in names}
    data: dict[str, Any] = to_json(kind(**fields | changes))
    return data


def _members(event: Event) -> dict[str, Any]:
    """Return the values of a record by their keys."""
    return dict(zip(event.__struct_encode_fields__, astuple(event), strict=True))


def to_result(event: ResultEvent) -> Result:
    """Make the result of a line."""
    arrays = {name: _arrays(getattr(event, name)) for name in ARRAYS}
    return Result(**_members(event) | arrays | {"witness": _witness(event.witness)})


def to_finding(event: FindingEvent) -> Finding:
    """Make the finding of a line.

    Raises ValueError for a diagnosis or a detail that is malformed.
    """
    for name, parse in (("diagnosis", parse_diagnosis), ("detail", parse_detail)):
        try:
            parse(getattr(event, name))
        except ValueError as error:
            raise ValueError(f"finding {name}.{error}") from None
    return Finding(**_members(event) | {"witness": _witness(event.witness)})


def _witness(element: WorstElement | None) -> Witness | None:
    if element is None:
        return None
    ulp = None if element.ulp is None else float(element.ulp)
    return Witness(**asdict(element) | {"ulp": ulp})


def _array_data(arrays: tuple[Returned, ...] | None) -> tuple[ArrayData, ...] | None:
    return None if arrays is None else tuple(map(_packed_data, arrays))


def _packed_data(array: Returned) -> ArrayData:
    text = base64.b64encode(array.packed).decode("ascii")
    pieces = tuple(text[i : i + PIECE] for i in range(0, len(text), PIECE))
    return ArrayData(array.dtype, array.shape, pieces)


def _arrays(arrays: tuple[ArrayData, ...] | None) -> tuple[Returned, ...] | None:
    """Unpack arrays; None where they are not what this version writes."""
    if arrays is None:
        return None
    try:
        packed = [base64.b64decode("".join(array.zlib), validate=True) for array in arrays]
    except binascii.Error:
        return None
    pairs = zip(arrays, packed, strict=True)
    return tuple(Returned(array.dtype, array.shape, data) for array, data in pairs)
