"""Parses the backends of a matrix: ``[LABEL=]NAME[@VENV]``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from conformance.errors import UsageError

SYNTAX = re.compile(r"(?:(?P<label>[^=@/:?]*)=)?(?P<backend>[^@]+)(?:@(?P<env>.+))?")
LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,59}")
OTHER = re.compile(r"[^A-Za-z0-9_.+-]+")
FILES = ("comparison.html", "matrix.md")


@dataclass(frozen=True)
class Entrant:
    """A backend under a label, which is the name of a folder too; ``env`` None for this one."""

    label: str
    backend: str
    env: str | None


def entrants(words: Sequence[str]) -> tuple[Entrant, ...]:
    """What each ``[LABEL=]NAME[@VENV]`` names, in this order.

    Raises :class:`UsageError` for one that is none, an environment that is not there, and a label
    that is given twice or cannot be the name of a folder.
    """
    found: dict[str, Entrant] = {}
    for word in words:
        one = _entrant(word)
        if other := found.get(one.label.lower()):  # some file systems do not tell case apart
            raise UsageError(
                f"--backend {word}: '{other.label}' is the label of another backend too",
                hint=f"give each a label of its own, as in other={word.partition('=')[2] or word}",
            )
        found[one.label.lower()] = one
    return tuple(found.values())


def _entrant(word: str) -> Entrant:
    from conformance.backends.backend_name import canonical, parse_backend_name
    from conformance.run.worker_python import python_of

    match = SYNTAX.fullmatch(word)
    if match is None:
        raise UsageError(
            f"--backend {word[:200]!a} names no backend", hint="write [LABEL=]NAME[@VENV]"
        )
    backend = canonical(match["backend"])
    usual = OTHER.sub("-", backend) if parse_backend_name(backend).options else backend
    label = usual if match["label"] is None else match["label"]
    if not LABEL.fullmatch(label) or label.lower() in FILES:
        raise UsageError(
            f"{label[:200]!a} cannot be a label, which names a folder of the matrix",
            hint="begin with a label of letters, digits and _.+-, as in "
            f"mine={word[:200].partition('=')[2] or word[:200]}",
        )
    if match["env"] is not None:
        python_of(match["env"])  # what is only misspelt is told before anything runs
    return Entrant(label, backend, match["env"])
