"""Says where a program may have damaged its memory, and how to find out."""

from __future__ import annotations

import re

from conformance.failure_kind import FailureKind

ADVICE = (
    "Memory may be damaged, and other results too: build the program with "
    "-g -fsanitize=address,undefined (gcc, clang; others have the like) and check it again."
)

SIGNALS = re.compile(r"\bwas killed by SIG(SEGV|ABRT|BUS|ILL|TRAP)\b")
SANITIZED = re.compile(r"Sanitizer|: runtime error: ")
PROGRAM = "exec:"


def on_memory(backend: str, kind: str, message: str) -> str:
    """Return advice on a failure that may have damaged memory.

    Empty where it shows no such damage, and for a backend in Python, of which nobody knows what
    would have to be built. ``backend`` is the backend as it was named.
    """
    damaged = kind == FailureKind.UNSTEADY or SIGNALS.search(message)
    advised = backend.startswith(PROGRAM) and damaged and not SANITIZED.search(message)
    return ADVICE if advised else ""
