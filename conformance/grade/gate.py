"""The gate of a run: known failures and requirements.

A :class:`Gate` is what the user asked for; a :class:`GateRun` is the gate of one run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from conformance.core.operator import Operator
from conformance.errors import UsageError
from conformance.grade import ledger, required
from conformance.grade.known_failures import Gives, KnownFailures, parse_known_failures
from conformance.grade.ledger import Ledger
from conformance.grade.required import RequirementCheck, Requirements, parse_requirements
from conformance.grade.selector import CaseOf, VectorFacts
from conformance.json_schema import load_schema
from conformance.model import Result
from conformance.spec import schema_check
from conformance.spec.yaml_reader import parse_yaml, read_text
from conformance.spec.yaml_source import Source

Read = TypeVar("Read")


@dataclass(frozen=True)
class Gate:
    """What a run must satisfy besides being conformant; by default nothing.

    ``strict`` fails a run whose known failures are out of date. ``today`` decides what has
    expired; None means the day (UTC) on which the run begins. ``sha256`` is of the texts of the
    files: what one gate let pass is no answer to another, though the files have the same names.
    """

    known: KnownFailures | None = None
    required: Requirements | None = None
    strict: bool = False
    today: date | None = None
    sha256: str | None = None

    def options(self) -> dict[str, Any]:
        """Return the gate as the header of a log holds it."""
        return {
            "known_failures": None if self.known is None else Path(self.known.file).name,
            "require": None if self.required is None else Path(self.required.file).name,
            "strict": self.strict,
            "gate_sha256": self.sha256,
        }

    def start_run(
        self,
        vectors: Sequence[VectorFacts],
        selected: Sequence[VectorFacts],
        case_of: CaseOf,
        gives: Gives,
    ) -> GateRun:
        """Start the gate of one run.

        Args:
            vectors: all vectors of the suite.
            selected: those that the run tests.
            gives: tells whether the outputs of a failure are those of given mutants.

        Raises:
            SpecError: an entry would excuse all of an operator of the suite.
        """
        # Several entries ask for the case of the same vector one after the other.
        case_of = lru_cache(8)(case_of)
        run = GateRun(self)
        if self.known is not None:
            self.known.check(vectors, case_of)
            today = self.today or datetime.now(UTC).date()
            ids = {vector.id for vector in selected}
            run.ledger = Ledger(self.known, vectors, ids, case_of, today, gives)
        if self.required is not None:
            run.requirement_check = RequirementCheck(self.required, vectors, case_of)
        return run


@dataclass
class GateRun:
    """The gate of one run: it sees every result, once and in any order."""

    gate: Gate = field(default_factory=Gate)
    ledger: Ledger | None = None
    requirement_check: RequirementCheck | None = None

    def take(self, result: Result) -> Result:
        """Mark a result if it is a known failure; an earlier mark is dropped."""
        if result.known is not None:
            result = replace(result, known=None)
        if self.requirement_check is not None:
            self.requirement_check.take(result)
        return result if self.ledger is None else self.ledger.take(result)

    def summary(self, *, is_complete: bool) -> dict[str, Any]:
        """Return the gate's part of a log's footer; empty without files.

        Args:
            is_complete: True if the run reached its end and is no shard of a larger one.
        """
        summary: dict[str, Any] = {}
        if self.ledger is not None:
            summary["known_failures"] = self.ledger.summary(is_complete=is_complete)
        if self.requirement_check is not None:
            summary["required"] = self.requirement_check.summary(is_complete=is_complete)
        return summary


def merge_summaries(footers: Sequence[Mapping[str, Any]], *, is_complete: bool) -> dict[str, Any]:
    """Merge the gate's parts of the footers of shards, which had the same files.

    Args:
        is_complete: True if no shard is missing or interrupted.
    """
    summary: dict[str, Any] = {}
    for key, merge in (
        ("known_failures", ledger.merge_uses),
        ("required", required.merge_requirements),
    ):
        if all(key in footer for footer in footers):
            shares = zip(*(footer[key] for footer in footers), strict=True)
            summary[key] = [merge(entry, is_complete=is_complete) for entry in shares]
    return summary


def load_known(path: Path, specs: Mapping[str, Operator]) -> KnownFailures:
    """Load the known failures in a file.

    Args:
        specs: the specifications of operators that its entries may name.

    Raises:
        SpecError: with every problem of the file at once.
    """
    return _load(path, "known", parse_known_failures, specs)


def load_required(path: Path, specs: Mapping[str, Operator]) -> Requirements:
    """Load the requirements in a file.

    Args:
        specs: the specifications of operators that its entries may name.

    Raises:
        SpecError: with every problem of the file at once.
    """
    return _load(path, "require", parse_requirements, specs)


def load_gate(
    known_failures: Path | None = None,
    require: Path | None = None,
    *,
    specs: Mapping[str, Operator],
    strict: bool = False,
    today: date | None = None,
) -> Gate:
    """Load the gate from its files.

    Args:
        specs: the specifications of operators that entries may name.

    Raises:
        SpecError: a file cannot be used.
        UsageError: ``strict`` without known failures.
    """
    if strict and known_failures is None:
        raise UsageError(
            "strict is about known failures, and there are none",
            hint="give their file with --known-failures, or leave --strict out",
        )
    files = (known_failures, require)
    texts = [None if file is None else read_text(file) for file in files]
    return Gate(
        known=None if known_failures is None else load_known(known_failures, specs),
        required=None if require is None else load_required(require, specs),
        strict=strict,
        today=today,
        sha256=hashlib.sha256(json.dumps(texts).encode()).hexdigest() if any(files) else None,
    )


def _load(
    path: Path,
    name: str,
    read: Callable[[Source, str, Mapping[str, Operator]], Read],
    specs: Mapping[str, Operator],
) -> Read:
    source = parse_yaml(read_text(path), str(path), holds=f"a list '{name}'")
    schema = load_schema("grade/expectations.schema.json", name)
    loaded = read(source, path.name, specs) if schema_check.check(source, schema) else None
    source.check()
    assert loaded is not None
    return loaded
