"""Current ids of vectors that had another id before.

An id follows from the case, so a case whose attributes are spelled otherwise has another.
Baselines, requirements and logs of before name old ones; ``specs/cases/renamed.json`` maps them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from conformance.data import directory
from conformance.suite import strict_json
from conformance.suite.strict_json import JsonObject

FORMAT = 1
FILE_NAME = "renamed.json"


def current(vector_id: str) -> str:
    """The id that a vector has now: of one of before the new one, else the same."""
    return _table().get(vector_id, vector_id)


def means(text: str, vector_id: str) -> bool:
    """Whether a text names a vector: its id, or one of before, begins with it or ends in it.

    What it ends in is the digest, all of it.
    """
    ids = (vector_id, *_former().get(vector_id, ()))
    return bool(text) and any(i.startswith(text) or i.endswith(f"-{text}") for i in ids)


@cache
def _former() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for old, new in _table().items():
        found[new] = (*found.get(new, ()), old)
    return found


@cache
def _table() -> Mapping[str, str]:
    """The new id of each old one. Raises SuiteError for a file that is damaged."""
    file = directory("specs") / "cases" / FILE_NAME
    where = str(file)
    document = strict_json.loads(strict_json.content(file), where)
    strict_json.check_format(document, where, FORMAT, "conformance")
    return JsonObject(document, where, ("format", "renamed")).texts_by_name("renamed")
