"""Fast JSON Schema validation: a quick yes, or jsonschema explains the errors.

jsonschema says best what is wrong and where, and interprets the schema anew for each document. What
is sound, which is nearly everything, is left to a compiled validator, and jsonschema is not even
imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Check = Callable[[Any], bool]


def accepts(schema: Mapping[str, Any]) -> Check:
    """A function that is true only of data in which jsonschema finds nothing wrong."""
    from jsonschema_rs import Draft202012Validator

    validator = Draft202012Validator(dict(schema))

    def sound(data: Any) -> bool:
        try:
            return validator.is_valid(data)
        except ValueError:  # nothing that JSON can hold: a key that is no text, a date
            return False

    return sound
