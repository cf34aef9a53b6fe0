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
class MatrixBackend:
    """A backend with its label, also the name of a folder; ``env`` None for this environment."""

    label: str
    backend: str
    env: str | None


def parse_matrix_backends(texts: Sequence[str]) -> tuple[MatrixBackend, ...]:
    """Parse each ``[LABEL=]NAME[@VENV]``, in this order.

    Raises :class:`UsageError` for a malformed text, a missing environment, and a label that is
    given twice or cannot be the name of a folder.
    """
    by_label: dict[str, MatrixBackend] = {}
    for text in texts:
        backend = _parse_matrix_backend(text)
        label = backend.label.lower()  # some file systems ignore case
        if other := by_label.get(label):
            raise UsageError(
                f"--backend {text}: '{other.label}' is the label of another backend too",
                hint=f"give each a label of its own, as in other={text.partition('=')[2] or text}",
            )
        by_label[label] = backend
    return tuple(by_label.values())


def _parse_matrix_backend(text: str) -> MatrixBackend:
    from conformance.backends.backend_name import canonical, parse_backend_name
    from conformance.run.worker_python import python_of

    match = SYNTAX.fullmatch(text)
    if match is None:
        raise UsageError(
            f"--backend {text[:200]!a} names no backend", hint="write [LABEL=]NAME[@VENV]"
        )
    backend = canonical(match["backend"])
    default = OTHER.sub("-", backend) if parse_backend_name(backend).options else backend
    label = default if match["label"] is None else match["label"]
    if not LABEL.fullmatch(label) or label.lower() in FILES:
        raise UsageError(
            f"{label[:200]!a} cannot be a label, which names a folder of the matrix",
            hint="begin with a label of letters, digits and _.+-, as in "
            f"mine={text[:200].partition('=')[2] or text[:200]}",
        )
    if match["env"] is not None:
        python_of(match["env"])  # a misspelt environment is an error before anything runs
    return MatrixBackend(label, backend, match["env"])
