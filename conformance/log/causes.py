"""Groups the findings of all operators by cause, in the order in which reports list them.

A cause is recognised by its diagnosis: the mutants whose outputs the backend gives, what its
exceptions say, the region of the wrong elements, or the conditions under which it fails. Counts,
ranks and vectors are no part of what it is, so it has the same id in another run.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from conformance.exception_text import comparison_key, short_message
from conformance.failure_kind import FailureKind, Severity, facts_of
from conformance.log.diagnosis import LoggedDiagnosis, LoggedMutant, parse_diagnosis
from conformance.model import Finding, Result

MAX_SLUG = 48
"""Letters of an id before its digest."""

MAX_CONDITIONS = 3
"""Conditions in a title."""

RETURNED_DTYPE = re.compile(r"\bdtype (\w+) instead of")


@dataclass(frozen=True)
class Cause:
    """One cause with the findings that it has, the largest first.

    ``id`` is the same in every run, ``title`` says what is wrong, without counts. ``named`` where
    it is a mutant of the catalogue, ``explained`` where at least it is known under which conditions
    it fails, or what its exceptions say. ``kind`` is the worst kind of failure that it leads to,
    and ``severity`` how bad that is; findings of several mutants together count only for a cause
    that has no other. ``known`` where every failure is known.
    """

    id: str
    title: str
    named: bool
    explained: bool
    kind: str
    severity: Severity
    findings: tuple[Finding, ...]
    known: bool

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators that have it."""
        return tuple(dict.fromkeys(finding.op for finding in self.findings))

    @cached_property
    def vectors(self) -> frozenset[tuple[str, str]]:
        """The vectors that show it, by operator and id."""
        return frozenset((finding.op, name) for finding in self.findings for name in finding.ids)

    @property
    def size(self) -> str:
        """``9 operators, 143 vectors``; the operator's name where it is one."""
        ops, count = self.operators, len(self.vectors)
        where = ops[0] if len(ops) == 1 else f"{len(ops)} operators"
        return f"{where}, {count:,} vector{'s' * (count != 1)}"

    @property
    def headline(self) -> str:
        """The title with its size: ``f64 is computed in f32: 9 operators, 143 vectors``."""
        return f"{self.title}: {self.size}"

    @property
    def fixed(self) -> tuple[str, ...]:
        """``runtime 1.2``, for each version in which a runtime fixed it."""
        diagnoses = filter(None, (parse_diagnosis(f.diagnosis) for f in self.findings))
        tables = (mutant.fixed for diagnosis in diagnoses for mutant in diagnosis.faults)
        names = (f"{name} {version}" for table in tables for name, version in table.items())
        return tuple(dict.fromkeys(names))


@dataclass(frozen=True)
class _Key:
    """What findings of one cause share, and the words for it.

    ``lists`` where the words end with the conditions that should have been rejected.
    """

    text: str
    title: str
    named: bool = False
    explained: bool = True
    lists: bool = False


class _Group:
    """The findings of one cause, and their results.

    ``joint`` are findings of several mutants together: what the others of them lead to is no
    effect of this cause.
    """

    def __init__(self, key: _Key) -> None:
        self.key = key
        self.findings: list[Finding] = []
        self.joint: list[Finding] = []
        self.failures: list[Result] = []
        self.joint_failures: list[Result] = []

    def take(self, finding: Finding, failures: Sequence[Result]) -> None:
        """Add a finding of this cause alone."""
        self.findings.append(finding)
        self.failures += failures

    def join(self, finding: Finding, failures: Sequence[Result]) -> None:
        """Add a finding of several mutants."""
        self.joint.append(finding)
        self.joint_failures += failures


def causes(findings: Iterable[Finding], results: Iterable[Result]) -> tuple[Cause, ...]:
    """Group the findings of a run by cause, the worst first, known ones last.

    Crashes come first, then wrong shapes, wrong values, exceptions, and what is wrongly accepted;
    within these what most vectors show.
    ``results`` are those of the run; a log may hold findings without them.
    """
    findings = list(findings)
    named = {(finding.op, name) for finding in findings for name in finding.ids}
    of = {(result.op, result.id): result for result in results if (result.op, result.id) in named}
    grouped: dict[tuple[str, bool], _Group] = {}
    several = []
    # The largest first, so that its words are those of the cause.
    for finding in sorted(findings, key=lambda finding: -len(finding.ids)):
        failures = [of[at] for at in ((finding.op, id) for id in finding.ids) if at in of]
        known = bool(failures) and all(result.known is not None for result in failures)
        keys = _accepting(finding, failures) or _keys(finding)
        if len(keys) > 1:
            several.append((keys, finding, failures, known))
        else:
            grouped.setdefault((keys[0].text, known), _Group(keys[0])).take(finding, failures)
    for keys, finding, failures, known in several:
        # Mutants that act together on a few vectors are what they are on the others alone.
        alone = [grouped[key.text, known] for key in keys if (key.text, known) in grouped]
        if alone:
            max(alone, key=lambda group: len(group.failures)).join(finding, failures)
        else:
            joint = _joint(keys)
            grouped.setdefault((joint.text, known), _Group(joint)).take(finding, failures)
    made = (_cause(group, known) for (_, known), group in grouped.items())
    return tuple(sorted(made, key=_order))


def _cause(group: _Group, known: bool) -> Cause:
    failures = group.failures
    kinds = {result.kind for result in failures} or {finding.kind for finding in group.findings}
    every = [*failures, *group.joint_failures]
    mild = bool(every) and all(result.level == "should" for result in every)
    severity, worst = min((facts_of(kind).severity, kind) for kind in kinds)
    rules = (
        sorted({result.reject for result in failures if result.reject}) if group.key.lists else []
    )
    return Cause(
        id=f"{'known-' * known}{slug(group.key.text)}",
        title=": ".join(filter(None, (group.key.title, _first_few(rules)))),
        named=group.key.named,
        explained=group.key.explained,
        kind=worst,
        severity=Severity.MILD if mild else severity,
        findings=tuple(sorted((*group.findings, *group.joint), key=lambda f: -len(f.ids))),
        known=known,
    )


def _first_few(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_CONDITIONS} more" if len(names) > MAX_CONDITIONS else ""
    return ", ".join(map(_spelled, names[:MAX_CONDITIONS])) + more


def _spelled(rule: str) -> str:
    """Return the name of a condition as words: ``negative stride``."""
    return rule.replace("-", " ")


def _order(cause: Cause) -> tuple[bool, Severity, int, str]:
    return cause.known, cause.severity, -len(cause.vectors), cause.id


def _keys(finding: Finding) -> list[_Key]:
    """Return the key of a finding, or a key for each of several mutants together."""
    diagnosis = parse_diagnosis(finding.diagnosis) or LoggedDiagnosis()
    # A log may name mutants that say nothing of what they are.
    mutants = [mutant for mutant in diagnosis.faults if mutant.id or mutant.cause or mutant.says]
    if mutants:
        return list(dict.fromkeys(map(_of_mutant, mutants)))
    kind, where = finding.kind, _where(diagnosis)
    what = facts_of(kind).title
    if kind in (FailureKind.RAISED, FailureKind.ADAPTER):
        # An exception without a text has nothing but its type.
        text = short_message(finding.message) or finding.message.partition("\n")[0].strip()
        title = f"Raises “{text}”" if kind == FailureKind.RAISED else f"{what}: “{text}”"
        if not text:
            title = " ".join(filter(None, (what, where)))
        return [_Key(f"{kind} {comparison_key(finding.message, finding.op) or text}", title)]
    if facts_of(kind).severity is Severity.LOST:
        line = finding.message.partition("\n")[0].strip()
        title = " ".join(filter(None, (what, where)))
        return [_Key(f"{kind} {where}", ": ".join(filter(None, (title, line))))]
    if kind == FailureKind.DTYPE and (returned := RETURNED_DTYPE.search(finding.message)):
        # Which types it should have been follows from the request.
        return [_Key(f"{kind} {returned[1]}", f"{what}: {returned[1]}")]
    if where:
        return [_Key(f"{kind} {where}", f"{what} {where}")]
    if kind == FailureKind.ACCEPTED:
        return [_Key(kind, what, lists=True)]
    return [_Key(f"{kind} unexplained", f"{what}, not explained", explained=False)]


def _accepting(finding: Finding, failures: Sequence[Result]) -> list[_Key]:
    """Return the key of negative tests of one rule that are accepted, whatever others share."""
    rules = {result.reject for result in failures}
    if finding.kind != FailureKind.ACCEPTED or len(rules) != 1 or None in rules:
        return []
    rule, title = str(rules.pop()), FailureKind.ACCEPTED.facts.title
    return [_Key(f"{finding.kind} with {rule}", f"{title}: {_spelled(rule)}")]


def _of_mutant(mutant: LoggedMutant) -> _Key:
    """Return the key of a mutant: what it shares with others of one origin, or its own id."""
    words = mutant.cause or mutant.says or mutant.id
    return _Key(mutant.cause or mutant.id or mutant.says, words.rstrip(". "), named=True)


def _joint(keys: Sequence[_Key]) -> _Key:
    """Return the key of mutants that occur only together."""
    title = "; ".join(key.title for key in keys)
    return _Key("+".join(sorted(key.text for key in keys)), title, named=True)


def _where(diagnosis: LoggedDiagnosis) -> str:
    """Return the region of wrong elements, or the conditions under which vectors fail, in words.

    Empty where nothing, or nothing but chance, tells them apart.
    """
    if diagnosis.where or diagnosis.by_chance:
        return diagnosis.where
    held = [condition.name for condition in diagnosis.conditions if condition.holds]
    lacking = [condition.name for condition in diagnosis.conditions if not condition.holds]
    parts = [f"with {' and '.join(held[:MAX_CONDITIONS])}"] if held else []
    parts += [f"without {' or '.join(lacking[:MAX_CONDITIONS])}"] if lacking else []
    return " and ".join(parts)


def slug(text: str) -> str:
    """Make a name that may stand in any address, and differs for texts that differ."""
    letters = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    if letters == text and len(letters) <= MAX_SLUG:
        return letters
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return "-".join(filter(None, (letters[:MAX_SLUG].strip("-"), digest)))
