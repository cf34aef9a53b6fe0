"""JSON Schemas of this package: loads them, and says what is wrong with a document.

jsonschema says best what is wrong and where, and interprets the schema anew for each document. What
is sound, which is nearly everything, is left to a compiled validator, and jsonschema is not even
imported.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from itertools import islice
from typing import TYPE_CHECKING, Any

from conformance.dtypes import DTYPES, FLOATS

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

MAX_PATH, MAX_MESSAGE = 80, 300
"""Characters of a problem that are shown, of its path and of its words."""

LISTS = {"element-types": list(DTYPES), "floating-point-types": list(FLOATS)}
"""Values that a schema lists by name, in a ``$comment`` beside what any reader may know of them."""


@dataclass(frozen=True, eq=False)
class JsonSchema:
    """A schema; ``rules`` is its JSON data."""

    rules: Mapping[str, Any]

    @cached_property
    def _validator(self) -> Draft202012Validator:
        from jsonschema_rs import Draft202012Validator

        return Draft202012Validator(dict(self.rules))

    def accepts(self, document: Any) -> bool:
        """Return whether jsonschema certainly finds nothing wrong."""
        try:
            return self._validator.is_valid(document)
        except ValueError:  # nothing that JSON can hold: a key that is no text, a date
            return False

    def errors(self, document: Any) -> Iterator[Any]:
        """Yield each error as jsonschema has it."""
        if self.accepts(document):
            return
        from jsonschema import Draft202012Validator

        yield from Draft202012Validator(self.rules).iter_errors(document)

    def problems(self, document: Any) -> tuple[str, ...]:
        """Return each problem as ``path: what``, in the order of the document."""
        errors = sorted(self.errors(document), key=lambda error: list(map(str, error.path)))
        return tuple(map(_text, errors))

    def first_problem(self, document: Any) -> str | None:
        """Return the first problem as ``path: what``; None if the document is sound.

        A document may be large, and wrong in millions of places: none but the first is looked for.
        """
        return next(map(_text, islice(self.errors(document), 1)), None)


def _text(error: Any) -> str:
    from jsonschema.exceptions import best_match

    nearest = best_match([error])
    path = nearest.json_path.removeprefix("$").removeprefix(".")[:MAX_PATH]
    return ": ".join(filter(None, (path, nearest.message[:MAX_MESSAGE])))


def _filled(rules: dict[str, Any]) -> dict[str, Any]:
    listed = LISTS.get(rules.get("$comment", ""))
    return {"enum": listed} if listed else rules


@cache
def load_schema(path: str, definition: str = "") -> JsonSchema:
    """Load a schema, or one ``definition`` of it.

    ``path`` is below the folder of this module.
    """
    text = files("conformance").joinpath(path).read_text("utf-8")
    rules = json.loads(text, object_hook=_filled)
    if definition:
        rules = {"$ref": f"#/$defs/{definition}", "$defs": rules["$defs"]}
    return JsonSchema(rules)
