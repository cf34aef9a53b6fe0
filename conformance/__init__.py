"""Conformance tests for neural-network operators: vectors, an exact oracle, verdicts.

The public names below are loaded when they are first used, so that ``import conformance`` costs
nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
DISTRIBUTION = "opconform"
TOOL = f"{DISTRIBUTION} {__version__}"

__all__ = [
    "Backend",
    "Run",
    "Unsupported",
    "__version__",
    "check",
    "grade_kernel",
    "load_suite",
    "merge",
    "reference",
]

LIGHT = {"Backend": "conformance.backends.protocol", "Unsupported": "conformance.errors"}
"""What a backend needs, from where nothing is imported that its environment may not have."""

PLACES = {**LIGHT, "grade_kernel": "conformance.kernels"}
"""Where the public names are that the module ``api`` has not."""

if TYPE_CHECKING:
    from conformance.api import Backend as Backend
    from conformance.api import Run as Run
    from conformance.api import Unsupported as Unsupported
    from conformance.api import check as check
    from conformance.api import load_suite as load_suite
    from conformance.api import merge as merge
    from conformance.api import reference as reference
    from conformance.kernels import grade_kernel as grade_kernel


def __getattr__(name: str) -> Any:
    if name.startswith("_") or name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(PLACES.get(name, "conformance.api")), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
