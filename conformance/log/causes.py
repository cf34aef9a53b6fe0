"""Groups the findings of all operators by cause, in the order in which reports list them.

A cause is told by its diagnosis: the mutants whose outputs the backend gives, what its exceptions
say, the place of the wrong elements, or the conditions under which it fails. Counts, ranks and
vectors are no part of what it is, so it has the same id in another run.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from conformance.exception_text import comparison_key, short_message
from conformance.failure_kind import FailureKind, Severity, facts_of
from conformance.log.diagnosis import NamedFault, ToldDiagnosis, diagnosis
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
    that has no other. ``common`` are edges, with the reason why they are common
    in real models, that all vectors of some finding show. ``known`` where every failure is known.
    """

    id: str
    title: str
    named: bool
    explained: bool
    kind: str
    severity: Severity
    findings: tuple[Finding, ...]
    common: Mapping[str, str]
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
        told = (diagnosis(finding.diagnosis) for finding in self.findings)
        pairs = (pair for one in told if one for fault in one.faults for pair in fault.fixed)
        return tuple(dict.fromkeys(f"{name} {version}" for name, version in pairs))


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
        self.findings.append(finding)
        self.failures += failures

    def join(self, finding: Finding, failures: Sequence[Result]) -> None:
        self.joint.append(finding)
        self.joint_failures += failures


def causes(findings: Iterable[Finding], results: Iterable[Result]) -> tuple[Cause, ...]:
    """The causes behind the findings of a run, the worst first, known ones after all new ones.

    Crashes come first, then wrong shapes, wrong values, exceptions, and what is wrongly accepted;
    within these what shows on edges that are common in real models, then what most vectors show.
    ``results`` are those of the run; a log may hold findings without them.
    """
    found = list(findings)
    named = {(finding.op, name) for finding in found for name in finding.ids}
    of = {(one.op, one.id): one for one in results if (one.op, one.id) in named}
    grouped: dict[tuple[str, bool], _Group] = {}
    several = []
    # The largest first, so that its words are those of the cause.
    for finding in sorted(found, key=lambda one: -len(one.ids)):
        failures = [of[at] for at in ((finding.op, id) for id in finding.ids) if at in of]
        known = bool(failures) and all(one.known is not None for one in failures)
        keys = _accepting(finding, failures) or _keys(finding)
        if len(keys) > 1:
            several.append((keys, finding, failures, known))
        else:
            grouped.setdefault((keys[0].text, known), _Group(keys[0])).take(finding, failures)
    for keys, finding, failures, known in several:
        # Mutants that act together on a few vectors are what they are on the others alone.
        there = [grouped[key.text, known] for key in keys if (key.text, known) in grouped]
        if there:
            max(there, key=lambda one: len(one.failures)).join(finding, failures)
        else:
            joint = _joint(keys)
            grouped.setdefault((joint.text, known), _Group(joint)).take(finding, failures)
    made = (_cause(group, known) for (_, known), group in grouped.items())
    return tuple(sorted(made, key=_order))


def _cause(group: _Group, known: bool) -> Cause:
    failures = group.failures
    kinds = {one.kind for one in failures} or {finding.kind for finding in group.findings}
    every = [*failures, *group.joint_failures]
    mild = bool(every) and all(one.level == "should" for one in every)
    severity, worst = min((facts_of(kind).severity, kind) for kind in kinds)
    common = {edge: why for finding in group.findings for edge, why in _common(finding)}
    rules = sorted({one.reject for one in failures if one.reject}) if group.key.lists else []
    return Cause(
        id=f"{'known-' * known}{slug(group.key.text)}",
        title=": ".join(filter(None, (group.key.title, _some(rules)))),
        named=group.key.named,
        explained=group.key.explained,
        kind=worst,
        severity=Severity.MILD if mild else severity,
        findings=tuple(sorted((*group.findings, *group.joint), key=lambda one: -len(one.ids))),
        common=common,
        known=known,
    )


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_CONDITIONS} more" if len(names) > MAX_CONDITIONS else ""
    return ", ".join(map(_spelled, names[:MAX_CONDITIONS])) + more


def _spelled(rule: str) -> str:
    """The name of a condition as words: ``negative stride``."""
    return rule.replace("-", " ")


def _order(cause: Cause) -> tuple[bool, Severity, bool, int, str]:
    return cause.known, cause.severity, not cause.common, -len(cause.vectors), cause.id


def _keys(finding: Finding) -> list[_Key]:
    """What a finding comes from: one key, or one for each of several mutants together."""
    told = diagnosis(finding.diagnosis)
    # A log may name mutants that say nothing of what they are.
    faults = [one for one in told.faults if one.id or one.cause or one.says] if told else []
    if faults:
        return list(dict.fromkeys(map(_of_fault, faults)))
    kind, where = finding.kind, _where(told)
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
        # Which types it should have been follows from what was asked.
        return [_Key(f"{kind} {returned[1]}", f"{what}: {returned[1]}")]
    if where:
        return [_Key(f"{kind} {where}", f"{what} {where}")]
    if kind == FailureKind.ACCEPTED:
        return [_Key(kind, what, lists=True)]
    return [_Key(f"{kind} unexplained", f"{what}, not explained", explained=False)]


def _accepting(finding: Finding, failures: Sequence[Result]) -> list[_Key]:
    """The key of negative tests of one rule that are accepted, whatever other cases share."""
    rules = {one.reject for one in failures}
    if finding.kind != FailureKind.ACCEPTED or len(rules) != 1 or None in rules:
        return []
    rule, title = str(rules.pop()), FailureKind.ACCEPTED.facts.title
    return [_Key(f"{finding.kind} with {rule}", f"{title}: {_spelled(rule)}")]


def _of_fault(fault: NamedFault) -> _Key:
    """The key of a mutant: what it shares with others of one origin, or its own id."""
    words = fault.cause or fault.says or fault.id
    title = words.rstrip(". ")
    return _Key(fault.cause or fault.id or fault.says, title, named=True)


def _joint(keys: Sequence[_Key]) -> _Key:
    """The key of mutants that are found only together."""
    title = "; ".join(key.title for key in keys)
    return _Key("+".join(sorted(key.text for key in keys)), title, named=True)


def _where(told: ToldDiagnosis | None) -> str:
    """The place of all wrong elements, or the conditions under which vectors fail, in words; empty
    where nothing, or nothing but chance, tells them apart.
    """
    if told is None:
        return ""
    if told.where or told.by_chance:
        return told.where
    held = [one.name for one in told.conditions if one.holds]
    lacking = [one.name for one in told.conditions if not one.holds]
    parts = [f"with {' and '.join(held[:MAX_CONDITIONS])}"] if held else []
    parts += [f"without {' or '.join(lacking[:MAX_CONDITIONS])}"] if lacking else []
    return " and ".join(parts)


def _common(finding: Finding) -> Iterator[tuple[str, str]]:
    told = finding.detail.get("common")
    for edge, why in told.items() if isinstance(told, Mapping) else ():
        if isinstance(edge, str) and isinstance(why, str):
            yield edge, why


def slug(text: str) -> str:
    """A name that may stand in any address, and differs for texts that differ."""
    letters = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    if letters == text and len(letters) <= MAX_SLUG:
        return letters
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return "-".join(filter(None, (letters[:MAX_SLUG].strip("-"), digest)))
