"""Digest of a specification without its prose."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from conformance.spec.expressions import Expression
from conformance.spec.model import OpSpec
from conformance.spec.yaml_reader import KEPT

PROSE = frozenset(
    {"summary", "document", "errata", "observe", "why", "question", "answer", "adopted", "common"}
)
"""What people read: another wording promises nothing else."""

WAYS_THERE = frozenset({"draw", "aims", "aim", "profiles", "usual", "within"})
"""How cases are looked for, which decides nothing about those that there are."""

PLACES = frozenset({"file", "positions", "lineage", "source"})
"""Where it is written, which is another matter than what."""

OF_MUTANTS = frozenset({"roles", "equivalent"})
"""What the catalogue of mutants calls what is here, and what of it cannot show."""

LATER = frozenset({"half", "given_if", "like", "others"})
"""What was added later: where it says nothing, digests of before hold."""

LATER_RULES = {"index_axes": "own", "pooled": "own", "zero_divisor": "one"}
"""Rules that were added later, and what they say where a specification leaves them alone."""


@lru_cache(maxsize=KEPT)
def spec_digest(spec: OpSpec) -> str:
    """Hash an operator's types, quantities, rules, targets and conditions: SHA-256 in hexadecimal.

    It stays the same when prose, comments, the order of keys in a table or the files that a
    specification is spread over change.
    """
    text = json.dumps(_plain(spec), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, Expression):
        return value.text
    if dataclasses.is_dataclass(value):
        left_out = PROSE | WAYS_THERE | PLACES | OF_MUTANTS
        return {
            field.name: _plain(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if field.name not in left_out
            and (field.name not in LATER or getattr(value, field.name) not in (None, "", ()))
        }
    if isinstance(value, Mapping):
        return [
            [_plain(key), _plain(entry)]
            for key, entry in sorted(value.items(), key=_key)
            if key not in LATER_RULES or getattr(entry, "text", "") != LATER_RULES[key]
        ]
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    return value


def _key(entry: tuple[Any, Any]) -> str:
    return repr(entry[0])
