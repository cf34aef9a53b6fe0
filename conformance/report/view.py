"""What every format shows of a run, worked out once from its log."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

import numpy as np

from conformance.dtypes import DTYPES
from conformance.log.run_log import RunLog
from conformance.log.tally import Tally
from conformance.model import GRADED, Finding, Result, Status, Witness

HEADLINES = {
    "conformant": "Conformant",
    "not conformant": "Not conformant",
    "nothing graded": "Nothing graded",
    "interrupted": "Interrupted",
    "cut short": "Cut short",
    "inconsistent": "Not to be trusted",
}

NO_CLAIM = "No claim can be made from this run."


@dataclass(frozen=True)
class OperatorRow:
    """The counts of one operator, or of all; ``missing`` vectors were selected, never reached."""

    op: str
    selected: int
    tally: Tally

    @property
    def missing(self) -> int:
        return max(0, self.selected - self.tally.total)


@dataclass(frozen=True)
class FindingView:
    """A finding with what the results say about its smallest vector.

    ``known`` where every failure in it is a known one.
    """

    number: int
    finding: Finding
    dtype: str
    known: bool = False

    @property
    def bits(self) -> Mapping[str, str]:
        """The codes of ``rounded`` and ``got``, where they are floating-point numbers."""
        witness = self.finding.witness
        row = DTYPES.get(self.dtype)
        if witness is None or witness.ulp is None or row is None or not row.is_float:
            return {}
        found = {}
        for name in ("rounded", "got"):
            try:
                value = np.array(float(getattr(witness, name)))
            except ValueError:
                continue
            with np.errstate(over="ignore"):
                code = int(value.astype(row.numpy).view(row.code))
            found[name] = f"0x{code:0{2 * row.numpy.itemsize}x}"
        return found

    @property
    def show(self) -> str:
        """The command that shows the smallest vector; empty where the log has none."""
        command = self.finding.detail.get("show", "")
        return command if isinstance(command, str) else ""


@dataclass(frozen=True)
class AnswerRow:
    """One answer of the backend to a question: how many vectors show it, of which types.

    ``other`` where the specification adopts another answer; to an open question none is adopted.
    """

    answer: str
    other: bool
    vectors: int
    dtypes: str
    example: str


@dataclass(frozen=True)
class Question:
    """A question that the document leaves open, with every answer that vectors show."""

    text: str
    answers: tuple[AnswerRow, ...]

    @property
    def mixed(self) -> bool:
        """Whether different vectors show different answers."""
        return len(self.answers) > 1


@dataclass(frozen=True)
class Unsupported:
    """Vectors of one operator that the backend does not support, for one reason."""

    op: str
    reason: str
    dtypes: tuple[str, ...]
    count: int


@dataclass(frozen=True)
class View:
    """A run, ready to be shown.

    ``good`` only where the run is conformant and its gate, if it has one, is met; ``tone`` is
    ``good``, ``known`` (no failure but known ones, and the gate is met) or ``bad``. ``sentence``
    says what ``headline`` does not. Findings stay in the order of the log, which is worst first,
    known ones after the new. ``readings`` has the questions of each operator, ``known`` and
    ``required`` the entries of the gate's files as the footer has them.
    """

    run: RunLog
    verdict: str
    tone: str
    headline: str
    sentence: str
    claim: str
    rows: tuple[OperatorRow, ...]
    total: OperatorRow
    findings: tuple[FindingView, ...]
    readings: Mapping[str, tuple[Question, ...]]
    unsupported: tuple[Unsupported, ...]
    known: tuple[Mapping[str, Any], ...]
    required: tuple[Mapping[str, Any], ...]

    @property
    def good(self) -> bool:
        """Whether the run may be shown in green."""
        return self.tone == "good"

    @property
    def new(self) -> tuple[FindingView, ...]:
        """Findings with failures that are not known ones."""
        return tuple(found for found in self.findings if not found.known)


def view(run: RunLog) -> View:
    """What is shown of a run; the same log gives the same view."""
    verdict = run.verdict
    rows = tuple(OperatorRow(op, run.selected(op), tally) for op, tally in run.tallies.items())
    total = OperatorRow("all", sum(row.selected for row in rows), _sum(run.tallies))
    dtypes = {result.id: result.dtype for result in run.results}
    known = {(result.op, result.id) for result in run.results if result.known is not None}
    tone, headline = _tone(run)
    told = run.footer or {}
    return View(
        run=run,
        verdict=verdict,
        tone=tone,
        headline=headline,
        sentence=_sentence(run, total),
        claim=_claim(run),
        rows=rows,
        total=total,
        findings=tuple(
            FindingView(
                number=number,
                finding=finding,
                dtype=dtypes.get(finding.smallest, ""),
                known=all((finding.op, vector) in known for vector in finding.ids),
            )
            for number, finding in enumerate(run.findings, 1)
        ),
        readings=_readings(run),
        unsupported=_unsupported(run),
        known=tuple(told.get("known_failures", ())),
        required=tuple(told.get("required", ())),
    )


def _tone(run: RunLog) -> tuple[str, str]:
    """The colour and the headline of a run, which answer to its gate as well as its verdict."""
    if not run.gate_met:
        return "bad", "Gate not met" if run.verdict == "conformant" else HEADLINES[run.verdict]
    if run.verdict == "conformant":
        return "good", HEADLINES[run.verdict]
    return "known", "No new failures"


def element(witness: Witness) -> str:
    """Which element a witness is about: ``result[0, 0, 3]``."""
    return f"{witness.output}[{', '.join(str(i) for i in witness.index)}]"


def accepted(witness: Witness) -> str:
    """The interval that is accepted; a single value, a choice or nothing stands as it is."""
    if not witness.hi or witness.lo == witness.hi:
        return witness.lo
    return f"[{witness.lo}, {witness.hi}]"


def distance(witness: Witness) -> str:
    """The distance in ULP, as text; empty where it has no meaning."""
    return "" if witness.ulp is None else ulps(witness.ulp)


def ulps(steps: float) -> str:
    """A number of steps between representable values, as text."""
    if math.isinf(steps):
        return "infinitely far"
    return f"{steps:.3g} ULP" if steps >= 1e12 else f"{steps:,.0f} ULP"


def evidence(witness: Witness | None) -> list[tuple[str, str]]:
    """What was wrong with the worst element, as labels and texts; nothing where there is none."""
    if witness is None:
        return []
    off = distance(witness)
    return [
        ("worst", element(witness)),
        ("exact", witness.exact),
        ("accepted", f"{accepted(witness)}, rounded {witness.rounded}"),
        ("got", f"{witness.got} ({off})" if off else witness.got),
    ]


def precision(asked: Mapping[str, str]) -> str:
    """The precision that was asked for, by element type where it differs."""
    if len(set(asked.values())) == 1:
        return next(iter(asked.values()))
    return ", ".join(f"{dtype} {name}" for dtype, name in asked.items()) or "standard"


def why(entry: Mapping[str, Any]) -> str:
    """Why an entry of known failures is tolerated, where to read on, and until when."""
    until = f"until {entry['expires']}" if entry.get("expires") else None
    return "; ".join(filter(None, (entry.get("reason"), entry.get("link"), until)))


def options(command: str) -> list[str]:
    """A command up to its first option, then each option with its values: where lines may break.

    A command that a shell would not understand stays whole.
    """
    try:
        words = shlex.split(command)
    except ValueError:
        return [command]
    groups: list[list[str]] = [[]]
    for word in words:
        if word.startswith("--"):
            groups.append([])
        groups[-1].append(word)
    return [shlex.join(group) for group in groups if group]


def when(timestamp: str) -> str:
    """An ISO 8601 time of UTC without its fraction of a second; other text as it is."""
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return timestamp
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")


def duration(seconds: float) -> str:
    """Seconds as a person would say them."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _sum(tallies: Mapping[str, Tally]) -> Tally:
    counts = {
        field.name: sum(getattr(tally, field.name) for tally in tallies.values())
        for field in fields(Tally)
    }
    return Tally(**counts)


def _sentence(run: RunLog, total: OperatorRow) -> str:
    if run.verdict == "cut short":
        return (
            f"The log ends after {total.tally.total:,} of {total.selected:,} vectors, without a "
            "verdict: the run was killed, or part of its log is missing."
        )
    if run.verdict == "inconsistent":
        return "The log contradicts itself, so its verdict does not count: " + run.problems[0]
    sentence: str = _footer(run)["sentence"]
    if _tone(run)[1] != HEADLINES[run.verdict]:
        return sentence
    rest = sentence.removeprefix(f"{HEADLINES[run.verdict]}: ")
    return rest[:1].upper() + rest[1:]


def _claim(run: RunLog) -> str:
    if run.verdict in ("cut short", "inconsistent"):
        return NO_CLAIM
    return _footer(run)["claim"] or NO_CLAIM


def _footer(run: RunLog) -> Mapping[str, Any]:
    assert run.footer is not None
    return run.footer


def _readings(run: RunLog) -> Mapping[str, tuple[Question, ...]]:
    """The questions of each operator, in the order of the log."""
    run_on: dict[str, set[str]] = {}
    for result in run.results:
        if result.status in GRADED and result.reject is None:
            run_on.setdefault(result.op, set()).add(result.dtype)
    questions: dict[str, list[Question]] = {}
    for reading in run.readings:
        answers = tuple(
            AnswerRow(
                answer=answer["answer"],
                other=reading["level"] != "open" and not answer["adopted"],
                vectors=answer["vectors"],
                dtypes=_dtypes(answer["dtypes"], run_on.get(reading["op"], set())),
                example=answer["example"],
            )
            for answer in reading["answers"]
        )
        question = Question(reading["question"], answers)
        questions.setdefault(reading["op"], []).append(question)
    return {op: tuple(asked) for op, asked in questions.items()}


def _dtypes(dtypes: Sequence[str], run_on: set[str]) -> str:
    """Element types by name; ``all`` for those that the operator was run on, if several."""
    return "all" if len(run_on) > 1 and set(dtypes) == run_on else " ".join(dtypes)


def _unsupported(run: RunLog) -> tuple[Unsupported, ...]:
    grouped: dict[tuple[str, str], list[Result]] = {}
    for result in run.results:
        if result.status is Status.UNSUPPORTED:
            grouped.setdefault((result.op, result.message), []).append(result)
    groups = [
        Unsupported(op, reason, tuple(sorted({r.dtype for r in results if r.dtype})), len(results))
        for (op, reason), results in grouped.items()
    ]
    return tuple(sorted(groups, key=lambda g: (-g.count, g.op, g.reason)))
