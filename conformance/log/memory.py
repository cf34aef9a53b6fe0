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


def on_memory(spec: str, kind: str, message: str) -> str:
    """What to do about a failure of the backend ``spec``; empty where it shows no such damage.

    Of a backend in Python nobody knows what would have to be built.
    """
    damaged = kind == FailureKind.UNSTEADY or SIGNALS.search(message)
    told = spec.startswith(PROGRAM) and damaged and not SANITIZED.search(message)
    return ADVICE if told else ""
